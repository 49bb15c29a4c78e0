"""Open a page of a folder: AppTest knows the pages of `st.navigation` only after a first run."""

import pytest
from streamlit.testing.v1 import AppTest

from tests.pages.conftest import TOP, as_before, healthy


@pytest.fixture(scope="session")
def opened():
    """Open a page with settings from a link; fails on any exception or error box."""

    def open_page(page="", **settings):
        app = AppTest.from_file(str(TOP / "app.py"), default_timeout=120)
        for name, value in as_before(settings).items():
            app.query_params[name] = str(value)
        app.run()
        if page:
            app.switch_page(f"pages/{page}/page.py").run()
        return healthy(app)

    return open_page
