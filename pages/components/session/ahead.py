"""What a visitor may ask for next is made while they look at what they asked for last.

One thread a server works only while no page runs, and drops what it is making as soon as one does:
nobody waits for a guess. What it makes goes where every result goes, for whoever asks.
"""

import logging
import os
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from fairfl_core.errors import Abandoned, FairflError
from pages.components.session import own_data, streamlit_internals
from pages.components.session.cache import while_wanted
from pages.components.view import View

__all__ = ["prepare"]

log = logging.getLogger(__name__)
OFF = "FAIRFL_NO_GUESSES"  # set in the environment, nothing is made that nobody asked for
DEAR = 0.5  # seconds: what takes longer is not guessed at
PAUSE = 0.02  # seconds between two looks at whether a page runs
REST = 0.3  # seconds after a visit's last answer: a browser on this machine is still drawing it
MOST = 100  # visitors whose next steps are kept


@dataclass(frozen=True)
class _Wish:
    """What one visitor may ask for, nearest first, and whether they have gone."""

    views: deque[View]
    make: Callable[[View], object]
    left: Callable[[], bool]


class _Ahead:
    """Wishes by session, and the thread that fulfils them, the latest first."""

    def __init__(self) -> None:
        self._wishes: OrderedDict[str, _Wish] = OrderedDict()
        self._new = threading.Condition()
        self._thread: threading.Thread | None = None
        self._told = 0.0  # when somebody was last told something

    def wish(self, session: str, wish: _Wish) -> None:
        """Take a visitor's wish in the place of the one before."""
        with self._new:
            self._wishes[session] = wish
            self._wishes.move_to_end(session)
            self._told = time.monotonic()
            while len(self._wishes) > MOST:
                self._wishes.popitem(last=False)
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="ahead", daemon=True)
                self._thread.start()
            self._new.notify()

    def _work(self) -> None:
        streamlit_internals.give_way()
        while True:
            with self._new:
                while not self._wishes:
                    self._new.wait()
                session = next(reversed(self._wishes))
                wish = self._wishes[session]
            while streamlit_internals.pages_running() or time.monotonic() < self._told + REST:
                time.sleep(PAUSE)
            if not self._fulfilled(wish):
                with self._new:
                    if self._wishes.get(session) is wish:
                        del self._wishes[session]

    def _fulfilled(self, wish: _Wish) -> bool:
        """Make the next of a wish; whether there may be more of it to make."""
        if wish.left() or not wish.views:
            return False
        begun = time.monotonic()
        try:
            with while_wanted(streamlit_internals.pages_running):
                wish.make(wish.views[0])
            wish.views.popleft()
        except Abandoned:
            pass  # a page runs, and comes first: begun again after it
        except FairflError:  # whoever asks for it will be told why
            wish.views.popleft()
        except Exception:  # of ours: the page that asks for it will say so, and guesses go on
            log.exception("what was to be made ahead failed")
            wish.views.clear()
        return time.monotonic() - begun < DEAR


_ahead = _Ahead()


def prepare(views: Iterable[View], make: Callable[[View], object]) -> None:
    """Have `make` called with these views, one after the other, while nobody else needs the server.

    Only of bundled experiments: a visitor's own set stays with its session.
    """
    session = streamlit_internals.session_of_this_run()
    views = [view for view in views if not own_data.is_own(view.experiment)]
    if session is not None and views and not os.environ.get(OFF):
        _ahead.wish(session, _Wish(deque(views), make, streamlit_internals.has_left()))
