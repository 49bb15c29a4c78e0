"""What `fairfl app` does in the server's process before Streamlit serves."""

import logging
from contextlib import suppress
from pathlib import Path

from fairfl_core.data.experiments import list_experiments
from fairfl_core.errors import FairflError


def leave_pages_folder() -> None:
    """Tell Streamlit that `st.navigation` names the pages, not the folder pages/.

    Otherwise the first visitor of a server who comes by a link to a page sees "Page not found".
    """
    with suppress(ImportError):  # a private name: another version may do without it
        from streamlit.runtime.pages_manager import PagesManager

        PagesManager.uses_pages_directory = False


def open_every_experiment(app: Path) -> None:
    """Open the first page of the script `app` with every bundled experiment.

    What pages compute of bundled experiments is cached for all visitors of this process.
    """
    from streamlit.testing.v1 import AppTest

    logging.disable(logging.WARNING)  # Streamlit warns that no server runs yet
    for name in list_experiments():
        opened = AppTest.from_file(str(app), default_timeout=600)
        opened.query_params["experiment"] = name
        opened.run()
        if opened.exception:
            raise FairflError(
                f'the experiment "{name}" cannot be opened ({opened.exception[0].message}); '
                "start without --warm to see the page itself."
            )
    logging.disable(logging.NOTSET)
