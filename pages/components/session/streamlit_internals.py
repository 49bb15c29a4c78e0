"""Every private name of Streamlit and Starlette that the pages use, and every patched global.

Nothing else in the app may reach behind a library's public names. `tests/pages` has a test for
each of them that fails with a sentence when a new version moves it.
"""

import gc
import logging
import os
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartParser
from streamlit import net_util, runtime
from streamlit.errors import FragmentHandledException
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.runtime import Runtime, RuntimeState
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.uploaded_file_manager import UploadedFileRec

__all__ = [
    "HELD",
    "HELD_BY_ALL",
    "IN_MEMORY",
    "LEFT",
    "ask_no_other_host",
    "end_in_time",
    "end_left_sessions",
    "forget_uploaded_files",
    "give_way",
    "has_left",
    "hold_so_much",
    "in_fragment_run",
    "keep_uploads_in_memory",
    "leave_pages_folder",
    "pages_running",
    "session_of_this_run",
    "steers_the_script",
    "take_short_turns",
]

SECONDS_TO_END = 3
TURN = 0.0001  # seconds
SCRIPT_THREAD = "ScriptRunner.scriptThread"  # what Streamlit calls a thread that runs a page
LEFT = 4.0  # seconds without a page after which a session has ended: no mere break in the line
_end_watch, _left_watch = threading.Lock(), threading.Lock()
IN_MEMORY = 256 * 2**20  # bytes: more than the server takes (`maxUploadSize`)
HELD, HELD_BY_ALL = 400 * 2**20, 1_000 * 2**20  # bytes of files of a session, of a server
_take_file = MemoryUploadedFileManager.add_file
log = logging.getLogger(__name__)


def leave_pages_folder() -> bool:
    """Tell Streamlit that `pages/` is not its own; whether it had thought so.

    Seeing a folder called pages, Streamlit runs the first page ever asked of a server by itself,
    as it did before `st.navigation` was; from the second on it goes through app.py.
    """
    thought_so = bool(PagesManager.uses_pages_directory)
    PagesManager.uses_pages_directory = False
    return thought_so


def keep_uploads_in_memory() -> None:
    """Uploads stay in memory: unless told, Starlette spools what is above 1 MB to a file."""
    MultiPartParser.spool_max_size = IN_MEMORY


def hold_so_much() -> None:
    """Hold no more files than there is room for: a session may send as many as it likes."""
    MemoryUploadedFileManager.add_file = _add_file  # type: ignore[method-assign]


def _add_file(self: MemoryUploadedFileManager, session_id: str, file: UploadedFileRec) -> None:
    others = dict(self.file_storage.get(session_id, {}))
    others.pop(file.file_id, None)
    mine = sum(len(one.data) for one in others.values()) + len(file.data)
    if mine > HELD or self._total_bytes + len(file.data) > HELD_BY_ALL:
        held = mine - len(file.data), self._total_bytes
        log.warning(
            "upload refused: %d bytes beside %d of this visitor and %d of all",
            len(file.data),
            *held,
        )
        raise HTTPException(413, "Too many files are held; remove some, or try again later.")
    _take_file(self, session_id, file)


def ask_no_other_host() -> None:
    """Let a server not look up its own address elsewhere.

    Streamlit does where a connection names a foreign origin, each time, and answers nobody
    meanwhile; it would be let in only if the origin were that address.
    """
    net_util.get_external_ip = lambda: None


def take_short_turns() -> None:
    """Let visitors' threads take turns fifty times as often as Python does unless told.

    Beside somebody's long computation a page waits for a turn each time it has sent something.
    """
    sys.setswitchinterval(TURN)


def end_in_time() -> None:
    """From now on a server told to end does so in time, whatever its visitors compute.

    Python waits for the threads of pages before it ends; a solve may take a minute.
    """
    server = _server()
    if server is not None and _end_watch.acquire(blocking=False):  # once for a server
        threading.Thread(target=_end, args=(server,), daemon=True).start()


def _server() -> Runtime | None:
    """The server that runs this; None in a shell, and in tests of pages, which bring a stand-in."""
    found = runtime.get_instance() if runtime.exists() else None
    return found if type(found) is Runtime else None  # a stand-in says it is an instance


def _end(server: Runtime) -> None:
    while server.state not in (RuntimeState.STOPPING, RuntimeState.STOPPED):
        time.sleep(0.5)
    time.sleep(SECONDS_TO_END)
    os._exit(0)


def forget_uploaded_files() -> None:
    """Free this session's uploaded files: the server would keep them until the session ends."""
    context = get_script_run_ctx()
    if context is not None and runtime.exists():
        runtime.get_instance().uploaded_file_mgr.remove_session_files(context.session_id)


def has_left() -> Callable[[], bool]:
    """A function that tells whether this session's visitor has closed the page."""
    context = get_script_run_ctx(suppress_warning=True)
    server = _server()
    if context is None or server is None:
        return lambda: False
    session = context.session_id
    return lambda: not server.is_active_session(session)


def session_of_this_run() -> str | None:
    """The session whose page is being run by a real server; None everywhere else."""
    context = get_script_run_ctx(suppress_warning=True)
    return None if context is None or _server() is None else str(context.session_id)


def give_way(by: int = 19) -> None:
    """Let others have the processor before this thread, by so much as `nice` counts; for good.

    A thread can be told so on Linux; elsewhere it would be the whole process.
    """
    thread = threading.get_native_id()
    if sys.platform == "linux" and os.getpriority(os.PRIO_PROCESS, thread) < by:
        os.setpriority(os.PRIO_PROCESS, thread, by)


def pages_running() -> bool:
    """Whether this server runs some visitor's page at this moment: each run has a thread."""
    return any(one.name == SCRIPT_THREAD for one in threading.enumerate())


def end_left_sessions() -> None:
    """From now on end sessions whose page was closed, with their files and all they hold.

    Streamlit keeps them for two minutes and then until some other visitor leaves.
    """
    server = _server()
    if server is not None and _left_watch.acquire(blocking=False):  # once for a server
        threading.Thread(
            target=_end_left_sessions, args=(server,), name="left-sessions", daemon=True
        ).start()


def _end_left_sessions(server: Runtime) -> None:
    sessions: Any = server._session_mgr
    stored, loop = sessions._session_storage, server._get_async_objs().eventloop
    since: dict[str, float] = {}
    while not loop.is_closed():
        time.sleep(1)
        now = time.monotonic()
        since = {one.session.id: since.get(one.session.id, now) for one in stored.list()}
        left = [name for name, left_at in since.items() if now - left_at >= LEFT]
        for name in left:
            loop.call_soon_threadsafe(server.close_session, name)
        if left:
            time.sleep(0.2)
            gc.collect()  # a session stands in circles, and may hold a visitor's set


def in_fragment_run() -> bool:
    """Whether only a fragment is being re-run, not the page."""
    context = get_script_run_ctx(suppress_warning=True)
    return bool(context and context.fragment_ids_this_run)


def steers_the_script(error: Exception) -> bool:
    """Whether an exception only tells that a fragment has shown its own error: it must pass.

    What stops or re-runs a script is no `Exception` and passes anyway.
    """
    return isinstance(error, FragmentHandledException)
