"""Every private name of Streamlit and Starlette that the pages use, and every patched global.

Nothing else in the app may reach behind a library's public names. `tests/pages` has a test for
each of them that fails with a sentence when a new version moves it.
"""

from starlette.formparsers import MultiPartParser
from streamlit import runtime
from streamlit.errors import FragmentHandledException
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.scriptrunner import get_script_run_ctx

__all__ = [
    "IN_MEMORY",
    "forget_uploaded_files",
    "in_fragment_run",
    "keep_uploads_in_memory",
    "leave_pages_folder",
    "steers_the_script",
]

IN_MEMORY = 256 * 2**20  # bytes: more than the server takes (`maxUploadSize`)


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


def forget_uploaded_files() -> None:
    """Free this session's uploaded files: the server would keep them until the session ends."""
    context = get_script_run_ctx()
    if context is not None and runtime.exists():
        runtime.get_instance().uploaded_file_mgr.remove_session_files(context.session_id)


def in_fragment_run() -> bool:
    """Whether only a fragment is being re-run, not the page."""
    context = get_script_run_ctx(suppress_warning=True)
    return bool(context and context.fragment_ids_this_run)


def steers_the_script(error: Exception) -> bool:
    """Whether an exception only tells that a fragment has shown its own error: it must pass.

    What stops or re-runs a script is no `Exception` and passes anyway.
    """
    return isinstance(error, FragmentHandledException)
