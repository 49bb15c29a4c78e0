"""The private names the pages use are where they were: else say which one moved."""

import ast
import inspect
import logging
import os
import sys
import threading

import pytest
from pages.components.session import streamlit_internals as internals
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartParser
from streamlit import net_util
from streamlit.errors import FragmentHandledException
from streamlit.runtime.memory_session_storage import MemorySessionStorage
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.runtime import Runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_run_context import ScriptRunContext
from streamlit.runtime.uploaded_file_manager import UploadedFileManager, UploadedFileRec
from streamlit.runtime.websocket_session_manager import WebsocketSessionManager
from streamlit.testing.v1 import AppTest
from streamlit.web.server import server_util

from tests.pages.conftest import TOP

PAGES = sorted((TOP / "pages").rglob("*.py"))
SEE = "see pages/components/session/streamlit_internals.py"


def test_streamlit_still_asks_whether_pages_is_its_folder():
    assert "uses_pages_directory" in vars(PagesManager), (
        f"Streamlit moved PagesManager.uses_pages_directory ({SEE}: leave_pages_folder)."
    )
    PagesManager.uses_pages_directory = True
    assert internals.leave_pages_folder() and not internals.leave_pages_folder()


def test_starlette_still_asks_how_much_of_an_upload_stays_in_memory():
    default = inspect.getsource(MultiPartParser)
    assert "spool_max_size" in default and "SpooledTemporaryFile(max_size=" in default, (
        f"Starlette no longer reads MultiPartParser.spool_max_size ({SEE}: "
        "keep_uploads_in_memory), so uploads may be written to disk against our promise."
    )
    assert MultiPartParser.spool_max_size == internals.IN_MEMORY >= 200 * 2**20


def test_no_visitor_can_fill_the_memory_with_files(monkeypatch, caplog):
    caplog.set_level(logging.WARNING, logger="pages")
    monkeypatch.setattr(internals, "HELD", 300)
    monkeypatch.setattr(internals, "HELD_BY_ALL", 500)
    held = MemoryUploadedFileManager("/upload")

    def upload(session, name, size=100):
        held.add_file(session, UploadedFileRec(name, "secret.csv", "text/csv", b"x" * size))

    for name in ("a", "b", "c", "c"):  # the last one in the place of another
        upload("first", name)
    with pytest.raises(HTTPException, match="Too many files"):
        upload("first", "d")
    upload("second", "a", 200)
    with pytest.raises(HTTPException, match="Too many files"):
        upload("third", "a")
    held.remove_session_files("first")
    upload("third", "a")
    said = [line for line in caplog.messages if line.startswith("upload refused")]
    assert len(said) == 2 and "secret" not in caplog.text, (
        f"Streamlit changed MemoryUploadedFileManager ({SEE}: hold_so_much)."
    )


def test_a_foreign_origin_makes_the_server_ask_nobody(monkeypatch):
    def ask(*_, **__):
        raise AssertionError("asked another host")

    monkeypatch.setattr(net_util, "_make_blocking_http_get", ask)
    monkeypatch.setattr(net_util, "_external_ip", None)
    assert "net_util.get_external_ip" in inspect.getsource(server_util), (
        f"Streamlit looks up its address in another way ({SEE}: ask_no_other_host)."
    )
    assert not server_util.is_url_from_allowed_origins("http://evil.example.org")


def test_uploaded_files_can_still_be_forgotten():
    assert isinstance(inspect.getattr_static(Runtime, "uploaded_file_mgr"), property), (
        f"Streamlit moved Runtime.uploaded_file_mgr ({SEE}: forget_uploaded_files)."
    )
    assert (
        "session_id" in inspect.signature(UploadedFileManager.remove_session_files).parameters
    ), (
        f"Streamlit changed UploadedFileManager.remove_session_files ({SEE}: "
        "forget_uploaded_files)."
    )
    assert "session_id" in ScriptRunContext.__annotations__, (
        f"Streamlit moved ScriptRunContext.session_id ({SEE}: forget_uploaded_files)."
    )


def test_sessions_that_were_left_can_still_be_ended():
    assert "session_id" in inspect.signature(Runtime.close_session).parameters, (
        f"Streamlit changed Runtime.close_session ({SEE}: end_left_sessions)."
    )
    made = inspect.getsource(Runtime.__init__) + inspect.getsource(WebsocketSessionManager)
    assert "self._session_mgr =" in made and "self._session_storage =" in made, (
        f"Streamlit moved where it keeps sessions ({SEE}: end_left_sessions)."
    )
    assert callable(MemorySessionStorage.list) and callable(Runtime._get_async_objs)


def test_visitors_take_short_turns_once_a_page_is_opened(opened):
    before = sys.getswitchinterval()
    sys.setswitchinterval(0.005)
    opened("learn")
    assert sys.getswitchinterval() == pytest.approx(internals.TURN) and internals.TURN < 0.001
    sys.setswitchinterval(before)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a thread has no rank of its own")
def test_what_nobody_asked_for_gives_way_and_nothing_else_does():
    ranks = []

    def work():
        internals.give_way()
        ranks.append(os.getpriority(os.PRIO_PROCESS, threading.get_native_id()))

    before = os.getpriority(os.PRIO_PROCESS, 0)
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert ranks == [19] and os.getpriority(os.PRIO_PROCESS, 0) == before


def test_a_page_that_runs_can_still_be_seen():
    def script():
        import streamlit as st
        from pages.components.session import streamlit_internals

        st.session_state["seen"] = streamlit_internals.pages_running()

    assert not internals.pages_running()
    app = AppTest.from_function(script).run()
    assert app.session_state["seen"], (
        f"Streamlit calls the threads of pages otherwise ({SEE}: pages_running)."
    )
    assert internals.session_of_this_run() is None


def test_a_fragments_own_run_can_still_be_told_from_a_pages():
    assert "suppress_warning" in inspect.signature(get_script_run_ctx).parameters, (
        f"Streamlit changed get_script_run_ctx ({SEE}: in_fragment_run)."
    )
    assert "fragment_ids_this_run" in ScriptRunContext.__annotations__, (
        f"Streamlit moved ScriptRunContext.fragment_ids_this_run ({SEE}: in_fragment_run)."
    )
    assert internals.in_fragment_run() is False


@pytest.mark.parametrize("act", ["stop", "rerun"])
def test_a_guarded_part_lets_streamlit_stop_and_rerun(act):
    def script(act):
        import streamlit as st

        from pages.shared.charts import part

        with part("A part"):
            st.session_state["runs"] = st.session_state.get("runs", 0) + 1
            if st.session_state["runs"] == 1:
                getattr(st, act)()
        st.write("the end")

    app = AppTest.from_function(script, args=(act,)).run()
    assert not app.warning, (
        f"st.{act} is stopped by a part of the page ({SEE}: steers_the_script)."
    )
    reached = [line.value for line in app.markdown]
    assert (app.session_state["runs"], reached) == ((1, []) if act == "stop" else (2, ["the end"]))
    assert issubclass(FragmentHandledException, Exception), (
        f"Streamlit changed FragmentHandledException ({SEE}: steers_the_script)."
    )


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(TOP)))
def test_no_other_file_reaches_behind_a_librarys_public_names(path):
    if path.name in ("streamlit_internals.py", "streamlit_answers.py"):
        return
    public = {
        "streamlit",
        "streamlit.components",
        "streamlit.delta_generator",
        "streamlit.testing.v1",
    }
    for node in ast.walk(ast.parse(path.read_text())):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        for name in names:
            behind = name.startswith(("streamlit", "starlette", "tornado")) and name not in public
            assert not behind, f"{path}: {name} is for streamlit_internals.py alone"
