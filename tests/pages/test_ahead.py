"""What is made before it is asked for: the nearest first, only while no page runs."""

import asyncio
import threading
import time
from collections import deque
from contextlib import contextmanager

from pages.components.session import ahead, streamlit_internals, tolerances

from fairfl_core.budget import look, within
from fairfl_core.errors import InputError
from pages.shared.caching import budget
from pages.shared.results import LEVELS
from tests.helpers.protocol import INSIDE, Visitor
from tests.helpers.serving import Server
from tests.pages.conftest import view_of

PATIENCE = 60  # seconds


@contextmanager
def a_page_runs():
    """As Streamlit does it: each run has a thread of its own."""
    over = threading.Event()
    page = threading.Thread(target=over.wait, name=streamlit_internals.SCRIPT_THREAD)
    page.start()
    try:
        yield
    finally:
        over.set()
        page.join()


class Made(list):
    """What was made, in its order; whoever waits for it is told."""

    def wait(self, many):
        end = time.monotonic() + PATIENCE
        while len(self) < many:
            assert time.monotonic() < end, self
            time.sleep(0.005)
        return self


def wish(views, make, left=lambda: False):
    return ahead._Wish(deque(views), make, left)


def test_one_move_leads_to_every_stop_of_either_slider_the_nearest_first():
    view = view_of("adult", eps_global=0.01, eps_local=0.0)
    views = tolerances.one_move_from(view)
    assert len(views) == len(set(views)) == 2 * (len(LEVELS) - 1) and view not in views
    moved = [(one.eps_global != 0.01, one.eps_local != 0.0) for one in views]
    assert all(sum(both) == 1 for both in moved)
    stands = (LEVELS.index(0.01), LEVELS.index(0.0))
    far = [
        abs(LEVELS.index(one.eps_global) - stands[0])
        + abs(LEVELS.index(one.eps_local) - stands[1])
        for one in views
    ]
    assert far == sorted(far)
    # Between two stops a slider shows the nearer one, from which moves are counted.
    assert len(tolerances.one_move_from(view_of("adult", eps_local=0.0201))) == len(views)


def test_everything_is_made_in_its_order_the_latest_visitor_first():
    made, gate = Made(), threading.Event()
    thread = ahead._Ahead()

    def make(view):
        gate.wait(PATIENCE)
        made.append(view)

    thread.wish("early", wish(["a", "b"], make))
    thread.wish("late", wish(["c", "d"], make))
    gate.set()
    assert sorted(made.wait(4)) == ["a", "b", "c", "d"]
    assert made[-1] == "b" and made.index("c") < made.index("d")


def test_a_page_comes_first_and_what_was_dropped_for_it_is_begun_again():
    begun, made = Made(), Made()
    thread = ahead._Ahead()

    def make(view):
        with within(budget()):  # as every result is
            begun.append(view)
            while len(begun) == 1:
                look()
            made.append(view)

    thread.wish("visitor", wish(["a", "b"], make))
    begun.wait(1)
    with a_page_runs():
        time.sleep(0.2)
        assert begun == ["a"] and not made
    made.wait(2)
    assert begun == ["a", "a", "b"] and made == ["a", "b"]


def test_nothing_is_made_for_those_who_left_and_a_refusal_stops_nobody(monkeypatch, caplog):
    made = Made()
    thread = ahead._Ahead()
    thread.wish("gone", wish(["a"], made.append, left=lambda: True))

    def refuse(view):
        made.append(view)
        raise InputError("no.")

    thread.wish("here", wish(["b", "c"], refuse))
    made.wait(2)
    thread.wish("last", wish(["d"], made.append))
    assert made.wait(3) == ["b", "c", "d"]
    thread.wish("broken", wish(["x", "y"], lambda view: made.append(view) or 1 / 0))
    end = time.monotonic() + PATIENCE
    while thread._wishes and time.monotonic() < end:
        time.sleep(0.005)
    assert "failed" in caplog.text and made.pop() == "x"
    monkeypatch.setattr(ahead, "DEAR", 0.0)  # whatever is made next is too dear to guess at
    thread.wish("dear", wish(["e", "f"], made.append))
    made.wait(4)
    monkeypatch.undo()
    thread.wish("last", wish(["g"], made.append))
    assert made.wait(5) == ["b", "c", "d", "e", "g"]


def test_a_page_without_a_server_makes_nothing_unasked(opened, monkeypatch):
    monkeypatch.delenv(ahead.OFF)
    opened(experiment="adult", seed=0)
    assert ahead._ahead._thread is None


def test_a_server_makes_what_moves_would_ask_for_and_says_the_same(monkeypatch):
    """Two servers, one of which guesses: the same headline at every stop, made once."""

    async def headlines(address):
        visitor = await Visitor(address).open(experiment="adult", seed="0", region="simplex")
        said = {}
        for step in visitor.sliders[INSIDE].steps[:4]:
            await visitor.move(INSIDE, step)
            said[step] = visitor.headline
        await visitor.close()
        return said

    with Server() as plain:
        expected = asyncio.run(headlines(plain.address))
    monkeypatch.delenv(ahead.OFF)
    with Server() as server:
        assert asyncio.run(headlines(server.address)) == expected
        assert "Traceback" not in server.log
    assert len(set(expected.values())) > 1
