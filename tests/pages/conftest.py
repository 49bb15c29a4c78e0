"""The app under Streamlit's AppTest: real pages, real experiments, no browser."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from pages.components.session.catalogue import catalogue
from pages.components.view import read_view

TOP = Path(__file__).resolve().parents[2]


@pytest.fixture
def opened():
    """Open a page with settings from a link; fails on any exception or error box."""

    def open_page(page="", **settings):
        app = AppTest.from_file(str(TOP / "app.py"), default_timeout=60)
        for name, value in settings.items():
            app.query_params[name] = str(value)
        app.run()
        if page:
            app.switch_page(f"pages/{page}.py").run()
        return healthy(app)

    return open_page


def view_of(experiment="adult", **settings):
    """A view as a link would give it: everything that is not told is at its start."""
    link = {name: str(value) for name, value in settings.items()}
    view, ignored = read_view({"experiment": experiment} | link, catalogue())
    assert not ignored, ignored
    return view


def healthy(app):
    assert not app.exception, app.exception
    assert not app.error, [box.value for box in app.error]
    assert not app.warning, [box.value for box in app.warning]
    return app


def linked(app, name):
    """The text of a query parameter; None where there is none."""
    value = app.query_params.get(name)
    return value[0] if isinstance(value, list) else value
