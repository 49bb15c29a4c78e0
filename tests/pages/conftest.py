"""The app under Streamlit's AppTest: real pages, real experiments, no browser."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from fairfl_core.data.experiments import cross_fitted_of, list_experiments
from pages.shared.catalogue import catalogue
from pages.shared.view import read_view
from tests.pages.core_numbers import CoreNumbers

TOP = Path(__file__).resolve().parents[2]

# Where neighbours differ, so that the wrong client's, run's or region's number is another number.
LINKS = {
    "all runs, own limit": {
        "experiment": "adult",
        "notion": "eo",
        "eps_global": 0.04,
        "eps_local": 0.06,
        "own": "doctorate=0.02",
    },
    "50 clients": {"experiment": "public_coverage", "seed": 3, "eps_local": 0.02},
    "scores": {"experiment": "adult", "region": "exact", "seed": 2, "eps_local": 0.03},
    "three labels": {"experiment": "ham10000", "region": "kernel", "rates": "shrunk", "seed": 1},
}


@pytest.fixture(scope="session")
def opened():
    """Open a page with settings from a link; fails on any exception or error box."""

    def raw(page="", **settings):
        """As it is opened, whatever it shows."""
        app = AppTest.from_file(str(TOP / "app.py"), default_timeout=120)
        for name, value in settings.items():
            app.query_params[name] = str(value)
        app.run()  # AppTest knows the pages of `st.navigation` only after a first run
        return app.switch_page(f"pages/{page}/page.py").run() if page else app

    def open_page(page="", **settings):
        return healthy(raw(page, **as_before(settings)))

    open_page.raw = raw
    return open_page


@pytest.fixture(scope="module", params=LINKS, ids=list(LINKS))
def link(request):
    return LINKS[request.param]


@pytest.fixture(scope="module")
def core(link):
    """The core's own numbers of a link."""
    return CoreNumbers.of(view_of(**link))


def as_before(settings):
    """The paper's split and region unless told: light enough for many tests.

    What a page starts with when nothing is told is tested in test_view.
    """
    if settings.pop("as_it_starts", False):
        return settings
    name = settings.get("experiment", "adult")
    usual = {"region": "simplex" if settings.get("notion") != "eo-full" else "kernel"}
    if name in list_experiments() and cross_fitted_of(name):
        usual["split"] = "paper"
    return usual | settings


def view_of(experiment="adult", **settings):
    """A view as a link would give it: everything that is not told is at its start."""
    settings = as_before({"experiment": experiment} | settings)
    link = {name: str(value) for name, value in settings.items()}
    view, ignored = read_view(link, catalogue())
    assert not ignored, ignored
    return view


def healthy(app):
    assert not app.exception, app.exception
    assert not app.error, [box.value for box in app.error]
    assert not app.warning, [box.value for box in app.warning]
    return app


def opened_all(app, prefix):
    """The page with every popover or expander open whose key begins so: closed, nothing is made."""
    for key in [key for key in _openable(app) if key.startswith(prefix)]:
        app.session_state[key] = True
    return healthy(app.run())


def _openable(app):
    blocks = [*app.expander, *app.get("popover")]
    return [key for key in map(_key, blocks) if key]


def _key(block):
    return str(getattr(block.proto, "id", "")).rsplit("-None-", 1)[-1].split("-", 2)[-1]


def linked(app, name):
    """The text of a query parameter; None where there is none."""
    value = app.query_params.get(name)
    return value[0] if isinstance(value, list) else value
