"""Your data, by hand: from a file to Explore and a fair predictor, and names are only text."""

from pathlib import Path

import pytest

from fairfl_core.predictors.kinds import FairPredictor
from tests.browser.driving import Visitor
from tests.pages.test_your_data import hostile_table

ON_FIRST_SCREEN = """() => [...document.querySelectorAll('[data-testid=stMain] [data-testid=stElementContainer]')]
    .every(each => each.getBoundingClientRect().bottom <= innerHeight)"""


def check(visitor: Visitor) -> Visitor:
    """Press Check and wait for what it found."""
    visitor.page.get_by_role("button", name="Check", exact=True).click()
    visitor.page.get_by_role("button", name="Open in Explore").wait_for()
    return visitor.settle()


def bring(visitor: Visitor, file: Path) -> Visitor:
    """Upload a file and have it checked."""
    visitor.page.get_by_test_id("stFileUploaderDropzoneInput").set_input_files(file)
    visitor.page.get_by_role("button", name="Check", exact=True).wait_for()
    return check(visitor.settle())


def explore(visitor: Visitor) -> None:
    """Go on to Explore, and wait for its numbers."""
    visitor.page.get_by_role("button", name="Open in Explore").click()
    visitor.page.locator(".fairfl-numbers").wait_for()
    visitor.page.wait_for_url("**experiment=yours**")


def no_script_ran(visitor: Visitor) -> bool:
    return visitor.page.evaluate("window.hit === undefined")


@pytest.fixture
def visitor(regular) -> Visitor:
    return regular


def test_from_nothing_to_a_predictor_to_explore_and_back(visitor, tmp_path):
    page = visitor.open("your_data").page
    page.get_by_role("button", name="Try the example").click()
    page.get_by_role("button", name="Check", exact=True).wait_for()
    check(visitor.settle())
    page.get_by_text("Apply the fair predictor at a client").click()
    page.get_by_role("button", name="Fair predictor (JSON)").wait_for()
    fair = FairPredictor.read(visitor.download("Fair predictor (JSON)", tmp_path))
    assert fair.clients == ("East", "Harbour", "North", "South", "West")
    explore(visitor)
    assert visitor.link["experiment"] == "yours"
    page.go_back()
    page.get_by_role("button", name="Open in Explore").wait_for()


def test_all_of_it_is_on_the_first_screen(visitor):
    page = visitor.open("your_data").resize(1280, 720).page
    page.get_by_role("button", name="Try the example").click()
    page.get_by_role("button", name="Check", exact=True).wait_for()
    check(visitor.settle())
    for theme in ("dark", "light"):
        page.emulate_media(color_scheme=theme)
        assert page.evaluate(ON_FIRST_SCREEN) and visitor.first_screen()["words"] <= 110
        assert not visitor.misfits()
    assert visitor.resize(390, 844).page.evaluate("document.documentElement.scrollWidth <= 390")
    visitor.resize(1280, 720)


def test_names_are_text_and_only_here(visitor, tab, tmp_path):
    (tmp_path / "h.csv").write_text(hostile_table(), encoding="utf-8")
    bring(visitor.open("your_data"), tmp_path / "h.csv")
    assert not visitor.trouble() and no_script_ran(visitor)
    page = visitor.page
    page.get_by_test_id("stDataFrame").first.hover()
    # Streamlit's own CSV leaves formulas as they are: only ours is offered.
    assert not page.get_by_label("Download as CSV").first.is_visible()
    explore(visitor)
    assert not visitor.trouble() and no_script_ran(visitor)
    assert visitor.link["experiment"] == "yours"  # no name that others could open
    other = tab().open("your_data")
    assert "Here now" not in other.page.locator("body").inner_text()
    page.reload()
    page.get_by_text("Your data is gone").first.wait_for()
