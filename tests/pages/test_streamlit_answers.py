"""What a browser shows after runs whose answers travel together, and only where they differ."""

import asyncio
import inspect
import sys
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pages.components.session import streamlit_answers as answers
from pages.components.session.streamlit_answers import BEGINS, ENDS, SHOWS
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.app_session import AppSession, AppSessionState
from streamlit.runtime.forward_msg_cache import populate_hash_if_needed
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue
from streamlit.runtime.runtime import Runtime
from streamlit.runtime.scriptrunner import ScriptRunnerEvent
from streamlit.runtime.websocket_session_manager import WebsocketSessionManager

SEE = "see pages/components/session/streamlit_answers.py"
SHUTDOWN = ScriptRunnerEvent.SHUTDOWN
KNOCK = ForwardMsg(script_finished=ForwardMsg.FINISHED_EARLY_FOR_RERUN)
WHOLE_ENDS = ScriptRunnerEvent.SCRIPT_STOPPED_WITH_SUCCESS


def test_streamlit_still_tells_of_runs_in_this_way(opened):
    opened("learn")
    source = inspect.getsource(sys.modules[AppSession.__module__])
    assert AppSession._on_scriptrunner_event is answers._hold_back
    assert "on_event.connect(self._on_scriptrunner_event)" in source
    told = inspect.signature(AppSession._handle_scriptrunner_event_on_event_loop).parameters
    names = {"sender", "event", "forward_msg", "fragment_ids_this_run", "run_descriptor"}
    assert names <= {*told} and callable(ForwardMsgQueue.is_empty), (
        f"Streamlit hands on what a run shows in another way ({SEE})."
    )
    assert all(
        f"self.{name} =" in source for name in ("_browser_queue", "_event_loop", "_scriptrunner")
    ), f"Streamlit moved what a session holds ({SEE})."
    assert callable(WebsocketSessionManager.get_active_session_info)
    assert callable(Runtime._send_message) and callable(Runtime.disconnect_session)
    assert "self._session_mgr =" in inspect.getsource(Runtime.__init__)


# -------------------------------------------------------------------- a browser


@dataclass
class Browser:
    """What Streamlit's page does with what it hears: a tree of what stands where."""

    tree: dict = field(default_factory=dict)  # path: (kind, text, run, fragment)
    run: int = 0
    heard: list = field(default_factory=list)

    def hear(self, event, told):
        self.heard.append((event, told))
        if event is BEGINS:
            self.run += 1
        elif event is SHOWS:
            self._take(told["forward_msg"])
        elif event is ENDS and told["run_descriptor"] is not None:
            self._clear(lambda fragment: fragment == "f")
        elif event is WHOLE_ENDS:
            self._clear(lambda fragment: True)

    def _take(self, message):
        if message.HasField("script_finished"):
            return  # of no run it knows
        path = tuple(message.metadata.delta_path)
        if not path:
            return
        delta = message.delta
        if delta.HasField("add_block"):
            kind, text = delta.add_block.WhichOneof("type"), ""
        else:
            kind, text = "element", delta.new_element.markdown.body
        before = self.tree.get(path)
        if kind == "element" or (before and before[0] != kind):
            self._drop(lambda other: other[: len(path)] == path and other != path)
        assert len(path) == 2 or path[:-1] in self.tree, "there is nothing it could stand in"
        last = (*path[:-1], path[-1] - 1)
        assert path[-1] == 0 or last in self.tree, "there is a hole before it"
        self.tree[path] = (kind, text, self.run, delta.fragment_id)

    def _clear(self, of):
        old = {path for path, one in self.tree.items() if one[2] != self.run and of(one[3])}
        self._drop(lambda path: any(path[:depth] in old for depth in range(1, len(path) + 1)))

    def _drop(self, which):
        self.tree = {path: one for path, one in self.tree.items() if not which(path)}

    @property
    def shows(self):
        """Everything but empty places."""
        return {
            path: one[:2]
            for path, one in self.tree.items()
            if one[0] != "element" or one[1] or one[3] == ""
        }

    @property
    def messages(self):
        return [told["forward_msg"] for event, told in self.heard if event is SHOWS]


def block(path, kind, name=""):
    message = ForwardMsg()
    message.metadata.delta_path.extend(path)
    getattr(message.delta.add_block, kind).SetInParent()
    message.delta.add_block.allow_empty, message.delta.add_block.id = True, name
    message.delta.fragment_id = "f"
    populate_hash_if_needed(message)
    return message


def text(path, said, *, fragment="f"):
    message = ForwardMsg()
    message.metadata.delta_path.extend(path)
    message.delta.new_element.markdown.body = said
    message.delta.fragment_id = fragment
    populate_hash_if_needed(message)
    return message


def slider(path, value, *, is_set=False, name="s"):
    message = ForwardMsg()
    message.metadata.delta_path.extend(path)
    shown = message.delta.new_element.slider
    shown.id = name
    shown.value.append(value)
    shown.set_value = is_set
    message.delta.fragment_id = "f"
    populate_hash_if_needed(message)
    return message


def address():
    message = ForwardMsg()
    message.page_info_changed.query_string = "eps=1"
    return message


def laid_out(tree, path=(0,)):
    """The messages of a run that shows this: a text, or a block of some kind and what is in it."""
    for place, (what, inside) in enumerate(tree):
        here = (*path, place)
        if inside is None:
            yield text(here, what)
        else:
            yield block(here, what)
            yield from laid_out(inside, here)


def seen(tree, path=(0,)):
    """The same as a browser shows it."""
    found = {}
    for place, (what, inside) in enumerate(tree):
        here = (*path, place)
        found[here] = ("element", what) if inside is None else (what, "")
        found |= seen(inside or [], here)
    return found


class Session:
    """A session with one browser at a time, and the runs that are told to it."""

    def __init__(self, monkeypatch):
        self.browser, self.client = Browser(), Client()
        self.session = AppSession.__new__(AppSession)
        self.session._state = AppSessionState.SHUTDOWN_REQUESTED  # nothing to end
        self.session._scriptrunner = None
        self.session._browser_queue = ForwardMsgQueue()
        self.session._handle_scriptrunner_event_on_event_loop = lambda sender, event, **told: (
            self.browser.hear(event, told)
        )
        monkeypatch.setattr(answers, "_browser", lambda session: self.client)

    def tell(self, *events):
        """Events, or "pause": until all that is held has been handed on."""

        async def told():
            self.session._event_loop = asyncio.get_running_loop()
            for event in (*events, "pause"):
                if event == "pause":
                    while answers._lines[self.session].held:
                        await asyncio.sleep(0)
                    await asyncio.sleep(0)
                else:
                    kind, more = event
                    answers._hold_back(self.session, None, kind, **more)

        self.browser.heard = []
        asyncio.run(told())
        if self.browser.heard and self.browser.heard[0] == (SHOWS, {"forward_msg": KNOCK}):
            assert BEGINS not in dict(self.browser.heard)
            del self.browser.heard[0]
        return [event for event, _ in self.browser.heard]

    def runs(self, *messages, pause=(), ends=ENDS, fragment=("f",)):
        """A run of the fragment, or of the whole page."""
        shows = [(SHOWS, {"forward_msg": message}) for message in messages]
        return self.tell(
            (BEGINS, {"fragment_ids_this_run": list(fragment)}),
            *pause,
            *shows,
            (ends, {"run_descriptor": "run"}),
            (SHUTDOWN, {}),
        )


class Client:
    """A line to a browser."""


@pytest.fixture
def session(monkeypatch):
    return Session(monkeypatch)


# -------------------------------------------------------------------- what it shows


def test_an_answer_reaches_the_browser_whole(session, monkeypatch):
    said = [text((0, 0), "a"), text((0, 1), "b")]
    pieces = []
    handle = session.session._handle_scriptrunner_event_on_event_loop
    hand_on = answers._hand_on

    def one_piece(of):
        pieces.append([])
        hand_on(of)

    def heard(sender, event, **told):
        pieces[-1].append(event)
        handle(sender, event, **told)

    monkeypatch.setattr(answers, "_hand_on", one_piece)
    session.session._handle_scriptrunner_event_on_event_loop = heard
    session.runs(*said)
    assert [BEGINS, SHOWS, SHOWS, ENDS, SHUTDOWN] in pieces
    # A run of the page is told of as soon as it begins.
    pieces.clear()
    session.runs(*said, fragment=(), ends=WHOLE_ENDS, pause=("pause",))
    assert [piece for piece in pieces if piece][0] == [BEGINS]
    # A run that goes on is not kept from anybody.
    pieces.clear()
    monkeypatch.setattr(answers, "AT_ONCE", 0)
    session.runs(*said, pause=("pause",))
    assert [piece for piece in pieces if piece][0] == [BEGINS]


def test_what_does_not_change_is_not_sent_again(session):
    def run(changing, value=3.0, *, is_set=False):
        return session.runs(
            block((0, 0), "flex_container"),
            text((0, 0, 0), "the same"),
            text((0, 0, 1), changing),
            slider((0, 1), value, is_set=is_set),
            address(),
        )

    assert run("a") == [BEGINS, *[SHOWS] * 5, ENDS, SHUTDOWN]
    assert run("b") == [SHOWS, SHOWS, ENDS, SHUTDOWN]
    sent = session.browser.messages
    assert sent[0].delta.new_element.markdown.body == "b"
    assert sent[1].page_info_changed == address().page_info_changed
    assert dict(session.browser.heard)[ENDS]["run_descriptor"] is None
    assert run("b") == [SHOWS, ENDS, SHUTDOWN]  # the address
    # Somebody may have moved there what the page sets to the value it had.
    run("b", is_set=True)
    assert run("b", is_set=True) == [SHOWS, SHOWS, ENDS, SHUTDOWN]


def test_a_hand_that_comes_late_finds_nothing(session):
    said = [text((0, 0), "a")]
    session.runs(*said)
    session.browser.heard = []
    answers._hand_on(session.session)
    assert not session.browser.heard and session.runs(*said) == [ENDS, SHUTDOWN]


def test_a_browser_forgets_what_was_set_in_what_has_gone(session):
    everything = [BEGINS, SHOWS, SHOWS, ENDS, SHUTDOWN]
    said = text((0, 0), "a")
    assert session.runs(said, slider((0, 1), 3.0)) == everything
    assert session.runs(said, slider((0, 1), 4.0)) == [SHOWS, ENDS, SHUTDOWN]
    assert session.runs(said, slider((0, 1), 4.0, name="another")) == everything
    assert session.runs(said, text((0, 1), "a")) == everything
    box = [block((0, 0), "expandable", "fold"), text((0, 0, 0), "a")]
    assert session.runs(*box) == [SHOWS, SHOWS, SHOWS, ENDS, SHUTDOWN]
    assert session.runs(*box) == [ENDS, SHUTDOWN]
    assert session.runs(said) == [BEGINS, SHOWS, ENDS, SHUTDOWN]
    kept = ForwardMsg(ref_hash=said.hash, metadata={"delta_path": [0, 0]})
    assert session.runs(kept) == [SHOWS, ENDS, SHUTDOWN]  # it is shown already
    kept.ref_hash = "another"
    assert session.runs(kept) == [SHOWS, ENDS, SHUTDOWN]
    assert session.runs(said) == [BEGINS, SHOWS, ENDS, SHUTDOWN]  # who knows what it was


def test_sentences_are_sent_before_charts(session):
    def run(said):
        session.runs(text((0, 0), said + "x" * answers.LARGE), text((0, 1), said))
        return [len(one.delta.new_element.markdown.body) for one in session.browser.messages]

    assert run("a") == [answers.LARGE + 1, 1]
    assert run("b") == [1, answers.LARGE + 1]
    assert not any(one.metadata.cacheable for one in session.browser.messages)


@pytest.mark.parametrize("what", ["another line", "another fragment", "the page", "on its way"])
def test_who_may_show_something_else_is_told_everything(session, what):
    said = [text((0, 0), "a"), text((0, 1), "b")]
    everything = [BEGINS, SHOWS, SHOWS, ENDS, SHUTDOWN]
    assert session.runs(*said) == everything
    assert session.runs(*said) == [ENDS, SHUTDOWN]
    if what == "another line":
        session.client = Client()
    elif what == "another fragment":
        session.runs(text((0, 5), "c"), fragment=("g",))
    elif what == "the page":
        session.runs(*said, fragment=(), ends=WHOLE_ENDS)
    else:
        session.session._browser_queue.enqueue(text((0, 0), "a"))
    assert session.runs(*said) == everything


@pytest.mark.parametrize(
    "odd",
    [
        [text((2, 0), "a toast")],
        [text((0, 1), "first"), text((0, 1), "then")],
        [ForwardMsg(session_event={"script_changed_on_disk": True})],
    ],
    ids=["it pops up", "one place twice", "no element"],
)
def test_what_is_unusual_travels_as_ever(session, odd):
    for _ in range(3):
        told = session.runs(text((0, 0), "a"), *odd)
        assert told == [BEGINS, *[SHOWS] * (1 + len(odd)), ENDS, SHUTDOWN]


KINDS = st.sampled_from(["flex_container", "expandable", "column"])
SAID = st.sampled_from(["a", "b", "c"])
TREES = st.recursive(
    st.lists(st.tuples(SAID, st.none()), max_size=3),
    lambda inner: st.lists(
        st.one_of(st.tuples(SAID, st.none()), st.tuples(KINDS, inner)), max_size=4
    ),
    max_leaves=8,
)
PACES = st.sampled_from(["at once", "in pieces", "whole page"])


@given(st.lists(st.tuples(TREES, PACES), min_size=1, max_size=6))
def test_a_browser_shows_what_the_last_run_showed(runs):
    with pytest.MonkeyPatch.context() as patch:
        session = Session(patch)
        for tree, pace in runs:
            patch.setattr(answers, "AT_ONCE", 0 if pace == "in pieces" else 0.05)
            whole = {"fragment": (), "ends": WHOLE_ENDS} if pace == "whole page" else {}
            session.runs(*laid_out(tree), pause=("pause",) if pace == "in pieces" else (), **whole)
            assert session.browser.shows == seen(tree)
