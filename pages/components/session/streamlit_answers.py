"""How the answer to a move travels to the browser: together, and only what has changed.

Streamlit hands every element on by itself, for which the page's thread and the server's take turns
each time, and sends every 10 ms what there is; a browser then goes through the whole page for each
piece, and again because a run has begun, runs, has ended and runs no more. Here what a run shows is
handed on when it has ended, or every `AT_ONCE`. Of a fragment that ran before only what differs
from then is handed on, and nothing in the place of what has gone: the browser need not look for
what is left over, nor hear of the run but that it has ended. Whatever is unusual travels as
Streamlit has it.

Private names of Streamlit, like those of `streamlit_internals`; `tests/pages` has tests that fail
with a sentence when a new version moves them.
"""

from asyncio import TimerHandle
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any
from weakref import ReferenceType, WeakKeyDictionary, ref

from streamlit import runtime
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.runtime import Runtime
from streamlit.runtime.scriptrunner import ScriptRunner, ScriptRunnerEvent
from streamlit.runtime.session_manager import SessionClientDisconnectedError

__all__ = ["AT_ONCE", "answer_at_once"]

AT_ONCE = 0.05  # seconds for which what a run shows is held back
BEGINS = ScriptRunnerEvent.SCRIPT_STARTED
SHOWS = ScriptRunnerEvent.ENQUEUE_FORWARD_MSG
ENDS = ScriptRunnerEvent.FRAGMENT_STOPPED_WITH_SUCCESS
LARGE = 10_000  # bytes: a chart
PARTS = 2  # main and sidebar: what pops up elsewhere does so once, however often it is the same

Path = tuple[int, ...]
Shown = dict[Path, tuple[str, str]]  # what stands where: its kind, and its hash
GONE = "element", ""  # nothing is left there
HOLDS = "with"  # a kind of things that each hold what a visitor has set
BOXES = ("flex_container", "column", "transparent")  # blocks that hold nothing, named or not


@dataclass(frozen=True)
class _Event:
    """Something that a run tells its session."""

    sender: ScriptRunner | None
    kind: ScriptRunnerEvent
    told: dict[str, Any]

    @property
    def message(self) -> ForwardMsg:
        """What it shows, if it shows something."""
        message: ForwardMsg = self.told["forward_msg"]
        return message


@dataclass
class _Line:
    """What is on its way to one browser, and what it shows of the fragment that ran last."""

    held: deque[_Event] = field(default_factory=deque)
    run: list[_Event] = field(default_factory=list)  # the run that goes on, or was the last
    shown: Shown | None = None  # None: not known, or something else ran since
    fragment: tuple[str, ...] = ()
    browser: "ReferenceType[Any] | None" = None  # that shows it: another one knows nothing
    later: TimerHandle | None = None  # hands on what is held, whether the run has ended or not


_lines: WeakKeyDictionary[AppSession, _Line] = WeakKeyDictionary()
_hand_on_each = AppSession._on_scriptrunner_event  # kept: runs that have begun hold it weakly


def answer_at_once() -> None:
    """Let the answer to a move reach the browser whole, and nothing that it has already."""
    AppSession._on_scriptrunner_event = _hold_back  # type: ignore[method-assign,assignment]


def _hold_back(
    self: AppSession, sender: ScriptRunner | None, event: ScriptRunnerEvent, **told: Any
) -> None:
    held = _lines.setdefault(self, _Line()).held
    held.append(_Event(sender, event, told))
    if event is not SHOWS and not (event is BEGINS and told.get("fragment_ids_this_run")):
        self._call_soon_on_event_loop(lambda: _hand_on(self))
    elif len(held) == 1:  # the first since something was handed on
        self._call_soon_on_event_loop(lambda: _hand_on_later(self))


def _hand_on_later(session: AppSession) -> None:
    line = _lines[session]
    if line.held:  # else the run has ended since
        line.later = session._event_loop.call_later(AT_ONCE, _hand_on, session)


def _hand_on(session: AppSession) -> None:
    """Hand on what is held, in its order; called by the session's event loop."""
    line = _lines[session]
    if line.later is not None:
        line.later.cancel()
        line.later = None
    events = [line.held.popleft() for _ in range(len(line.held))]
    changes = _changes(session, line, events)
    if changes is None:
        _note(session, line, events)
    else:
        events, line.shown = changes
    for event in events:
        session._handle_scriptrunner_event_on_event_loop(event.sender, event.kind, **event.told)
    if changes is not None:
        _send(session)


def _send(session: AppSession) -> None:
    """Send what is to be sent in one go: a browser goes through the page for each piece it gets."""
    server, there = runtime.get_instance() if runtime.exists() else None, _there(session)
    if server is None or there is None:
        return
    try:
        for message in session.flush_browser_queue():
            server._send_message(there, message)
    except SessionClientDisconnectedError:  # the next browser is told everything
        server.disconnect_session(session.id, client=there.client)


def _note(session: AppSession, line: _Line, events: Iterable[_Event]) -> None:
    """Remember what a browser shows once it has heard all of these."""
    for event in events:
        if event.sender is not session._scriptrunner:
            line.shown, line.fragment = None, ()
        elif event.kind is BEGINS:
            line.run, line.shown, line.fragment = [], None, _fragment(event)
        elif event.kind is SHOWS:
            line.run += [event] if line.fragment else []
        elif event.kind is ENDS:
            browser = _browser(session)
            line.shown, line.run = _shown(line.run), []
            line.browser = None if browser is None else ref(browser)
        elif event.kind is not ScriptRunnerEvent.SHUTDOWN:
            line.shown = None


# -------------------------------------------------------------------- only what has changed


def _changes(
    session: AppSession, line: _Line, events: list[_Event]
) -> tuple[list[_Event], Shown] | None:
    """What of a fragment's run the browser has to hear, and what it shows then; None: all of it."""
    after = [event for event in events[-1:] if event.kind is ScriptRunnerEvent.SHUTDOWN]
    run = events[: len(events) - len(after)]
    if [event.kind for event in run] != [BEGINS, *[SHOWS] * (len(run) - 2), ENDS]:
        return None
    begins, *shows, ends = run
    known, shown = line.shown, _shown(shows)
    if (
        not known
        or not shown
        or begins.sender is not session._scriptrunner  # nobody hears one that was replaced
        or line.fragment != _fragment(begins)
        or line.browser is None
        or line.browser() is not _browser(session)
        or not session._browser_queue.is_empty()  # it may yet be thrown away
    ):
        return None
    for path in known.keys() & shown.keys():
        if known[path][1] == shown[path][1]:  # it may only be reminded of what it shows
            shown[path] = known[path]
    ended = {path for path, (kind, _) in known.items() if kind != shown.get(path, GONE)[0]}
    left = {path: told for path, told in known.items() if not _inside(path, ended)}
    if any(_holds(kind) for path, (kind, _) in known.items() if path in ended or path not in left):
        return None  # the browser is to forget what was set there
    known = left
    gone = [path for path in known if path not in shown]
    leave = [_nothing(path, shows[0]) for path in gone if known[path] != GONE]
    new = [event for event in shows if _is_new(event.message, known)]
    new.sort(key=lambda event: event.message.ByteSize() > LARGE)  # charts after sentences
    for event in new:
        event.message.metadata.cacheable = False  # what is kept is let go by runs that end
    over = _Event(ends.sender, ENDS, ends.told | {"run_descriptor": None})
    return [_knock(begins), *leave, *new, over, *after], dict.fromkeys(gone, GONE) | shown


def _knock(begins: _Event) -> _Event:
    """An event that tells a browser nothing: what comes after it finds it awake, and is taken together.

    The end of a run that nobody has heard of, for the sake of another.
    """
    message = ForwardMsg(script_finished=ForwardMsg.FINISHED_EARLY_FOR_RERUN)
    return _Event(begins.sender, SHOWS, {"forward_msg": message})


def _inside(path: Path, others: set[Path]) -> bool:
    """Whether something stands in one of the others."""
    return any(path[:depth] in others for depth in range(1, len(path)))


def _is_new(message: ForwardMsg, known: Shown) -> bool:
    """Whether a browser has to be told this; a value that is to be set may have been moved there."""
    path = tuple(message.metadata.delta_path)
    if not path or known.get(path) != _told(message):
        return True
    element = message.delta.new_element
    content = getattr(element, element.WhichOneof("type") or "empty")
    return bool(getattr(content, "set_value", False))


def _nothing(path: Path, like: _Event) -> _Event:
    """An event that lets nothing stand at a place, told by the same run as another."""
    message = ForwardMsg()
    message.metadata.active_script_hash = like.message.metadata.active_script_hash
    message.metadata.delta_path.extend(path)
    message.delta.fragment_id = like.message.delta.fragment_id
    message.delta.new_element.empty.SetInParent()
    return _Event(like.sender, SHOWS, like.told | {"forward_msg": message})


def _shown(shows: Iterable[_Event]) -> Shown | None:
    """What stands where after a run; None where that cannot be told by its messages alone."""
    shown: Shown = {}
    for message in (event.message for event in shows):
        path = tuple(message.metadata.delta_path)
        if not path:
            if message.WhichOneof("type") != "page_info_changed":
                return None
        elif (
            path in shown
            or path[0] >= PARTS
            or message.delta.WhichOneof("type") == "new_transient"
        ):
            return None
        else:
            shown[path] = _told(message)
    return shown


def _told(message: ForwardMsg) -> tuple[str, str]:
    """The kind of what a message shows, and its hash; a browser may have kept a large one."""
    if message.HasField("ref_hash"):
        return f"{HOLDS} ref_hash", message.ref_hash
    if message.delta.HasField("add_block"):
        kind, name = (
            message.delta.add_block.WhichOneof("type") or "block",
            message.delta.add_block.id,
        )
        return (f"{HOLDS} {name}" if name and kind not in BOXES else kind), message.hash
    element = message.delta.new_element
    name = getattr(getattr(element, element.WhichOneof("type") or "empty"), "id", "")
    return (f"{HOLDS} {name}" if name else GONE[0]), message.hash


def _holds(kind: str) -> bool:
    """Whether a visitor may have set something there."""
    return kind.startswith(HOLDS)


def _fragment(begins: _Event) -> tuple[str, ...]:
    return tuple(begins.told.get("fragment_ids_this_run") or ())


def _browser(session: AppSession) -> Any:
    """The line to the browser that a session has at this moment; None without one."""
    there = _there(session)
    return None if there is None else there.client


def _there(session: AppSession) -> Any:
    """What the server knows of a session with a browser; None of others."""
    server = runtime.get_instance() if runtime.exists() else None
    if type(server) is not Runtime:  # a stand-in says it is an instance
        return None
    return server._session_mgr.get_active_session_info(session.id)
