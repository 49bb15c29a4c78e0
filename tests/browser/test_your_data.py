"""Your data, by hand: from a file to a fair predictor and a report, and nothing left behind."""

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fairfl_core.evaluation.evaluation import evaluate
from fairfl_core.intake import example_counts
from fairfl_core.people.counts import ClientCounts
from fairfl_core.predictors.answer_predictor import FairPredictor
from tests.browser.driving import INSIDE, PATIENCE, Visitor
from tests.cli.running import run
from tests.helpers.compas import predictions
from tests.pages.test_your_data import hostile_table, many_clients

PAGES = ("Explore", "Clients", "Scenarios", "Privacy", "Learn", "Your data")
OURS = "720 people, in 6 clients"  # the hostile table
ASKED = {"notion": "eo", "region": "kernel", "eps_global": 0.02, "eps_local": 0.06}


def bring(visitor: Visitor, *files: Path, counts: bool = False) -> Visitor:
    """Upload files and take them in."""
    if counts:
        visitor.page.get_by_text("Counts only", exact=True).click()
        visitor.settle()
    visitor.page.get_by_test_id("stFileUploaderDropzoneInput").set_input_files(list(files))
    button = visitor.page.get_by_role("button", name="Take it in and check it")
    button.wait_for()
    visitor.settle()
    visitor.changes(button.click)
    return visitor


def no_script_ran(visitor: Visitor) -> bool:
    return visitor.page.evaluate("window.hit === undefined")


@pytest.fixture
def visitor(regular) -> Visitor:
    return regular


def test_from_nothing_to_a_predictor(visitor, tmp_path):
    page = visitor.open("your_data").page
    page.get_by_role("button", name="Try it with the example").click()
    page.get_by_role("button", name="Take it in and check it").wait_for()
    visitor.settle()
    visitor.changes(page.get_by_role("button", name="Take it in and check it").click)
    said = visitor.changes(lambda: visitor.press(INSIDE))
    fair = FairPredictor.read(visitor.download("Fair predictor (JSON)", tmp_path))
    assert fair.clients == ("East", "Harbour", "North", "South", "West")
    card = visitor.download("Model card (HTML)", tmp_path).read_text()
    assert "held out (test)" in card and "2,100 rows read" in card
    assert said.split(":")[0] in visitor.download("Full report (HTML)", tmp_path).read_text()


def test_on_every_page_names_are_text_and_only_here(visitor, tab, browser, tmp_path):
    (tmp_path / "h.csv").write_text(hostile_table(), encoding="utf-8")
    bring(visitor.open("your_data"), tmp_path / "h.csv")
    for title in PAGES:
        visitor.go(title)
        assert not visitor.trouble(), title
        assert no_script_ran(visitor), title
        assert visitor.link.get("experiment", "yours") == "yours"  # no name that others could open
        if title != "Learn":  # which has no settings
            assert OURS in visitor.page.get_by_test_id("stSidebar").inner_text(), title
    visitor.page.get_by_text("People by client and group").click()
    visitor.page.get_by_test_id("stDataFrame").last.hover()
    # Streamlit's own CSV leaves formulas as they are: only ours is offered.
    assert not visitor.page.get_by_label("Download as CSV").first.is_visible()
    for name in ("Model card (HTML)", "Full report (HTML)"):
        made = visitor.download(name, tmp_path)
        context = browser.new_context(offline=True)
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        page.goto(made.as_uri())
        if "report" in made.name:
            page.wait_for_function(
                "document.querySelectorAll('.js-plotly-plot .main-svg').length >= 2"
            )
        assert page.evaluate("window.hit === undefined"), name
        assert "<script>window.hit=1</script>" in page.locator("body").inner_text()
        context.close()
    other = tab().open("your_data")
    visitor.page.reload()
    for each in (other, visitor.settle()):
        assert OURS not in each.page.locator("body").inner_text()


def test_counts_of_several_clients(visitor, tmp_path):
    files = []
    for name, counts in example_counts().items():
        files.append(counts.write(tmp_path / name))
    bring(visitor.open("your_data"), *files, counts=True)
    visitor.go("Explore")
    assert not visitor.trouble()
    shown = visitor.page.get_by_test_id("stMain").inner_text().lower()
    assert "no held-out check possible" in shown  # `tests/pages` asks the other pages


def test_a_refusal_is_a_sentence_and_the_page_goes_on(visitor, tmp_path):
    (tmp_path / "bad.parquet").write_bytes(b"MZ\x90\x00" * 1000)
    page = visitor.open("your_data").page
    page.get_by_test_id("stFileUploaderDropzoneInput").set_input_files(tmp_path / "bad.parquet")
    page.get_by_text("is not a Parquet file").wait_for()
    assert not visitor.trouble()


def test_two_thousand_clients(visitor, tmp_path):
    (tmp_path / "many.csv").write_text(many_clients())
    bring(visitor.open("your_data"), tmp_path / "many.csv")
    visitor.go("Explore")
    assert not visitor.trouble()
    shown = visitor.page.get_by_test_id("stMain")
    assert "Clients shown, of 2,000" in shown.inner_text()
    visitor.page.get_by_text("by name", exact=True).click()
    visitor.settle()
    visitor.page.get_by_label("Name contains").fill("clinic 1999")
    visitor.page.keyboard.press("Enter")
    visitor.page.get_by_text("1 of 2,000 clients have it in their name").wait_for()
    assert not visitor.trouble()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Reads /proc, so only on Linux.")
def test_an_upload_is_not_written_to_disk(visitor, server, tmp_path):
    """A file larger than what a server would spool: none is open, none was left."""
    (tmp_path / "big.csv").write_text(many_clients(200, 1200))
    assert (tmp_path / "big.csv").stat().st_size > 2_000_000
    written = _written(server.process.pid)
    bring(visitor.open("your_data"), tmp_path / "big.csv")
    assert _written(server.process.pid) - written < 1_000_000


def _written(process: int) -> int:
    """Bytes a process has handed to files and sockets other than this session's answers."""
    lines = Path(f"/proc/{process}/io").read_text().split()
    return int(lines[lines.index("write_bytes:") + 1])


# -------------------------------------------------------------------- real people


@pytest.fixture(scope="module")
def compas(tmp_path_factory) -> Iterator[pd.DataFrame]:
    yield predictions(tmp_path_factory.mktemp("compas"))


def shell(*arguments: object) -> dict:
    return run(*arguments, "--json").json


def test_compas_by_the_page_and_by_the_shell(visitor, compas, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    compas.to_csv(tmp_path / "compas.csv", index=False)
    visitor.open("your_data", **{name: ASKED[name] for name in ("eps_global", "eps_local")})
    bring(visitor, tmp_path / "compas.csv")
    visitor.page.get_by_test_id("stSidebar").get_by_role("combobox").nth(2).click()
    visitor.page.get_by_role("option", name="kernel").click()
    visitor.settle()
    mine = FairPredictor.read(visitor.download("Fair predictor (JSON)", tmp_path))
    columns = (
        "--client",
        "client",
        "--group",
        "race",
        "--label",
        "outcome",
        "--prediction",
        "prediction",
    )
    for split in ("validation", "test"):
        compas[compas.split == split].to_csv(tmp_path / f"{split}.csv", index=False)
        shell("count", f"{split}.csv", *columns, "--out", f"{split}.json")
    shell(
        "solve",
        "validation.json",
        "--notion",
        ASKED["notion"],
        "--region",
        ASKED["region"],
        "--eps-global",
        ASKED["eps_global"],
        "--eps-local",
        ASKED["eps_local"],
        "--out",
        "shell.json",
    )
    theirs = FairPredictor.read(tmp_path / "shell.json")
    assert (mine.clients, mine.groups, mine.labels) == (
        theirs.clients,
        theirs.groups,
        theirs.labels,
    )
    assert len(mine.groups) == 4 and len(mine.clients) == 6
    np.testing.assert_allclose(mine.lottery, theirs.lottery, atol=1e-9)
    found = shell("evaluate", "shell.json", "test.json")
    on_test = evaluate(mine, ClientCounts.read(tmp_path / "test.json"))
    assert found["accuracy"] == pytest.approx(on_test.accuracy, abs=1e-9)
    said = visitor.headline
    for value in (
        f"{100 * found['accuracy']:.1f} %",
        f"{100 * found['model_accuracy']:.1f} %",
        f"overall gap {found['gap']['global']:.3f}",
        f"gap {found['gap']['local_worst']['gap']:.3f}",
    ):
        assert value in said, said
    assert found["gap"]["local_worst"]["client"] in said
