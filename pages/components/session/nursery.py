"""Where workers of `fairfl serve` come from: computed once, then shared by all of them.

    python -m pages.components.session.nursery [warm]

opens every page once, as a visitor without a browser would, so that all that visitors share of the
bundled experiments is in memory; then a worker is a fork of this process. It finds those results
made, in memory that the system holds once for all, and so does one that takes a dead one's place.

A line of JSON on standard input asks for a worker: `[port, settings...]`; its process number is
the answer. Once standard input ends all workers are told to end.
"""

import gc
import json
import logging
import os
import runpy
import signal
import sys
import time
from collections.abc import Iterator

from streamlit.testing.v1 import AppTest

from fairfl_core._io.places import TOP
from fairfl_core.people.experiments import list_experiments

__all__ = ["main", "open_page", "warm"]

_GRACE = 4.0  # seconds to end by themselves
_MINUTES = 10  # for one page, on whatever machine


def open_page(page: str, **link: str) -> AppTest:
    """Open a page as a visitor does who came by a link."""
    app = AppTest.from_file(str(TOP / "app.py"), default_timeout=60 * _MINUTES)
    app.query_params.update(link)
    app.switch_page(f"pages/{page}.py")
    return app.run()


def warm() -> None:
    """Open every page once, and the first with every bundled experiment."""
    logging.disable(logging.WARNING)  # Streamlit's, that there is no browser
    for name in list_experiments():
        open_page("explore", experiment=name)
    for page in sorted((TOP / "pages").glob("[a-z]*.py")):
        open_page(page.stem)
    logging.disable(logging.NOTSET)


def main() -> None:
    """Fork workers as they are asked for, until nobody can ask any more."""
    if "warm" in sys.argv[1:]:
        warm()
    gc.collect()
    gc.freeze()  # a search for garbage would write on, and so copy, what workers share
    workers: set[int] = set()
    signal.signal(signal.SIGCHLD, lambda *_: workers.difference_update(_ended()))
    for line in sys.stdin:
        port, *settings = json.loads(line)
        sys.stdout.flush()
        pid = os.fork()
        if not pid:
            _become_worker(port, settings)
        workers.add(pid)
        print(pid, flush=True)
    _end(workers)


def _end(workers: set[int]) -> None:
    """End them: asked first, then made to, as one that is just starting may not hear."""
    for number, seconds in ((signal.SIGTERM, _GRACE), (signal.SIGKILL, 0.0)):
        for pid in list(workers):
            os.kill(pid, number)
        until = time.monotonic() + seconds
        while workers and time.monotonic() < until:
            time.sleep(0.05)


def _ended() -> Iterator[int]:
    """Those of the workers that have ended since it was last asked."""
    try:
        while True:
            pid, _ = os.waitpid(-1, os.WNOHANG)
            if not pid:
                return
            yield pid
    except ChildProcessError:
        return


def _become_worker(port: int, settings: list[str]) -> None:
    """Run Streamlit, as a process that has nothing more to do with this one."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1):
        os.dup2(nothing, stream)
    given = ["--server.address=127.0.0.1", f"--server.port={port}", "--server.headless=true"]
    given.append("--logger.hideWelcomeMessage=true")
    sys.argv = ["streamlit", "run", str(TOP / "app.py"), *given, *settings]
    try:
        runpy.run_module("streamlit", run_name="__main__")
    finally:
        os._exit(0)


if __name__ == "__main__":
    main()
