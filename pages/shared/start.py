"""What `fairfl app` does in the server's process before Streamlit serves."""

import logging
from pathlib import Path

from fairfl_core.data.experiments import list_experiments
from fairfl_core.errors import FairflError

SECONDS = 600  # to open one experiment, on a machine that is busy


def leave_pages_folder() -> None:
    """Tell Streamlit that `st.navigation` names the pages, not the folder pages/.

    Otherwise the first visitor of a server who comes by a link to a page sees "Page not found".
    """
    try:
        from streamlit.runtime.pages_manager import PagesManager

        PagesManager.uses_pages_directory = False
    except ImportError:  # a private name: another version may do without it
        return


def open_every_experiment(app: Path) -> int:
    """Open the first page of the script `app` with every bundled experiment; returns how many.

    What pages compute of bundled experiments is cached for all visitors of this process.
    """
    from streamlit.testing.v1 import AppTest

    names = list_experiments()
    logging.disable(logging.WARNING)  # Streamlit warns that no server runs yet
    for name in names:
        opened = AppTest.from_file(str(app), default_timeout=SECONDS)
        opened.query_params["experiment"] = name
        opened.run()
        if opened.exception:
            raise FairflError(
                f'the experiment "{name}" cannot be opened ({opened.exception[0].message}); '
                "start without --warm to see the page itself."
            )
    logging.disable(logging.NOTSET)
    return len(names)
