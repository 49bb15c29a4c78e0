"""Your data, by hand: from a file to Explore and a fair predictor, and names are only text."""

import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fairfl_core.intake import example_counts, example_table
from fairfl_core.predictors.kinds import FairPredictor
from tests.browser.driving import Visitor
from tests.cli.running import run
from tests.pages.test_your_data import hostile_table

ASKED = {"notion": "eo", "region": "kernel", "eps_global": 0.02, "eps_local": 0.06}
ON_FIRST_SCREEN = """() => [...document.querySelectorAll('[data-testid=stMain] [data-testid=stElementContainer]')]
    .every(each => each.getBoundingClientRect().bottom <= innerHeight)"""


def check(visitor: Visitor) -> Visitor:
    """Press Check and wait for what it found."""
    visitor.page.get_by_role("button", name="Check", exact=True).click()
    visitor.page.get_by_role("button", name="Open in Explore").wait_for()
    return visitor.settle()


def bring(visitor: Visitor, *files: Path, counts: bool = False) -> Visitor:
    """Upload files and have them checked."""
    if counts:
        visitor.page.get_by_text("Counts only", exact=True).click()
        visitor.settle()
    visitor.page.get_by_test_id("stFileUploaderDropzoneInput").set_input_files(list(files))
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


def test_counts_of_several_clients(visitor, tmp_path):
    files = [counts.write(tmp_path / name) for name, counts in example_counts().items()]
    bring(visitor.open("your_data"), *files, counts=True)
    assert "No held-out check possible" in visitor.page.get_by_test_id("stMain").inner_text()
    explore(visitor)
    assert not visitor.trouble()


def test_the_page_and_the_shell_make_the_same_predictor(visitor, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    people = pd.read_csv(io.StringIO(example_table()))
    people["split"] = np.resize(["validation", "test"], len(people))
    people.to_csv(tmp_path / "people.csv", index=False)
    visitor.open("your_data", **{name: ASKED[name] for name in ("eps_global", "eps_local")})
    bring(visitor, tmp_path / "people.csv")
    visitor.page.get_by_text("Apply the fair predictor at a client").click()
    visitor.page.get_by_role("button", name="Fair predictor (JSON)").wait_for()
    mine = FairPredictor.read(visitor.download("Fair predictor (JSON)", tmp_path))
    assert visitor.link["region"] == ASKED["region"]
    columns = {
        "client": "hospital",
        "group": "sex",
        "label": "diagnosis",
        "prediction": "prediction",
    }
    options = [word for name, column in columns.items() for word in (f"--{name}", column)]
    people[people.split == "validation"].to_csv(tmp_path / "fit.csv", index=False)
    run("count", "fit.csv", *options, "--out", "fit.json")
    limits = [word for name, value in ASKED.items() for word in (_option(name), value)]
    run("solve", "fit.json", *limits, "--out", "shell.json")
    theirs = FairPredictor.read(tmp_path / "shell.json")
    assert (mine.clients, mine.groups, mine.labels) == (
        theirs.clients,
        theirs.groups,
        theirs.labels,
    )
    np.testing.assert_allclose(mine.lottery, theirs.lottery, atol=1e-9)


def _option(name: str) -> str:
    return "--" + name.replace("_", "-")
