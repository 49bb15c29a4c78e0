"""A lecture hall: one idea a screen, a code to the same setting, and every term explained."""

import re
from urllib.parse import unquote

import pytest
from pages.components.learn.glossary_text import WORDS
from pages.components.session.glossary import brand
from pages.components.session.text import NOT_REACHABLE, NOTHING_TO_SCAN, TERMS

from fairfl_core.intake import example_table
from pages.shared.present import code_of
from tests.pages.conftest import healthy, linked
from tests.pages.reading import specs
from tests.pages.test_your_data import go, with_table

PAPERS = {"experiment": "adult", "seed": 0}
SIDEBAR = {"experiment", "notion", "region", "rates", "seeds"}


def html(app):
    return " ".join(each.proto.body for each in app.get("html"))


@pytest.mark.parametrize(
    "page", ["", "clients", "review", "scenarios", "privacy", "your_data", "learn"]
)
def test_name_and_terms_stand_on_every_page(opened, page):
    app = opened(page, **PAPERS, draws=20)
    told = html(app)
    assert "what local and global fairness cost a federated model" in told
    for word in (
        "client",
        "gap",
        "region",
        "rates",
        "seed",
        "lottery",
        "simplex",
        "the larger half",
    ):
        assert re.search(rf'tabindex="0">{word}<span role="tooltip">[^<]{{20,}}</span>', told), (
            word
        )


def test_every_term_is_in_the_glossary():
    assert set(TERMS.values()) <= {word for word, _ in WORDS}
    assert brand().count('role="tooltip"') == len(TERMS)


def test_the_lesson_has_no_settings_that_do_not_matter(opened):
    app = opened("learn", step=3)
    assert not app.sidebar.selectbox and not app.sidebar.get("download_button")
    app = opened("learn", step=8, **PAPERS)
    assert [box.key for box in app.main.selectbox] == ["widget_experiment"]
    app.selectbox(key="widget_experiment").set_value("ham10000").run()
    assert linked(healthy(app), "experiment") == "ham10000"


def test_a_screen_has_headline_limits_and_one_picture(opened):
    app = opened(**PAPERS, present=True)
    for screen in (1, 2, 3):
        assert len(specs(app)) == 1
        assert len([line for line in app.markdown if line.value.startswith("#### ")]) == 1
        assert not app.metric and any(f"{screen} of 4" in line.value for line in app.caption)
        app.button(key="onward").click().run()
        assert linked(healthy(app), "screen") == str(screen + 1)
    app.button(key="backward").click().run()
    assert linked(app, "screen") == "3"
    assert any("nothing to scan" in line.value for line in app.caption)  # a server of this machine
    app.button(key="leave").click().run()
    assert linked(app, "present") is None and healthy(app).metric


def test_people_who_were_uploaded_cannot_be_scanned(opened):
    """The set lives in one session: a code would lead students to other data."""
    app = go(with_table(opened, example_table()), "explore")
    app.toggle(key="widget_present").set_value(True).run()
    said = [line.value for line in healthy(app).caption]
    assert NOTHING_TO_SCAN in said and NOT_REACHABLE not in said
    assert '<img class="fairfl-code' not in html(app)


def test_the_lesson_goes_step_by_step(opened):
    app = opened("learn", step=2, present=True)
    app.button(key="onward").click().run()
    assert linked(healthy(app), "step") == "3"
    app.button(key="backward").click().run()
    app.button(key="backward").click().run()
    app.button(key="backward").click().run()
    assert linked(app, "step") is None


def test_the_code_is_an_image_of_the_link_alone():
    first, second = (code_of(f"https://example.org/?eps_local={eps}") for eps in (0.1, 0.2))
    assert (
        first.startswith("data:image/svg+xml")
        and first != second
        and first == code_of("https://example.org/?eps_local=0.1")
    )
    assert "http" not in re.sub(r"xmlns='[^']*'", "", unquote(first))
