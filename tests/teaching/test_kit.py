"""The teaching kit and the demo's log: the app's and the paper's arithmetic, the protocol's words."""

import json
import re
from fractions import Fraction
from pathlib import Path

import pandas as pd
import pytest

from fairfl_core.data.counts import ClientCounts
from fairfl_core.evaluation.all_rates import all_rates_of, impact_ratios_of
from fairfl_core.evaluation.evaluation import evaluate
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.predictors.kinds import predictor_of
from fairfl_core.teaching.hospitals import demo_log

KIT = Path(__file__).resolve().parents[2] / "docs" / "teaching"
RATES = ("selection rate", "true-positive rate", "false-positive rate", "precision")


@pytest.fixture(scope="module")
def counts():
    return ClientCounts.read(KIT / "two-clinics.json")


def table_of(name, first):
    """The first table of a page, without its heading, as lists of cells."""
    lines = (KIT / name).read_text("utf-8").splitlines()
    start = next(place for place, line in enumerate(lines) if line.startswith(first)) + 2
    rows = []
    for line in lines[start:]:
        if not line.startswith("|"):
            return rows
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return rows


def test_rows_and_counts_are_the_worksheets_patients(counts):
    rows = pd.read_csv(KIT / "two-clinics.csv")
    columns = {
        "client": "clinic",
        "group": "sex",
        "label": "diagnosis",
        "prediction": "prediction",
    }
    again = ClientCounts.from_table(rows, **columns, labels=["well", "ill"], favourable="ill")
    assert again.to_json() == counts.to_json()
    for where, *cells in table_of("worksheet.md", "| clinic, group"):
        clinic, group = where.split(", ")
        mine = rows[
            (rows["clinic"] == clinic) & (rows["sex"] == {"women": "woman", "men": "man"}[group])
        ]
        pairs = [("ill", "ill"), ("ill", "well"), ("well", "ill"), ("well", "well")]
        found = [((mine["diagnosis"] == y) & (mine["prediction"] == j)).sum() for y, j in pairs]
        assert [int(cell) for cell in cells] == found


def test_the_answers_are_the_apps_numbers(counts):
    judged = evaluate(predictor_of(FairnessProgram(counts, "eop").solve()), counts)
    table = all_rates_of([judged]).table()
    for where, *cells in table_of("answers.md", "| | selection rate"):
        clinic, group = where.split(", ") if "," in where else (None, where.removeprefix("all "))
        sex = {"women": "woman", "men": "man"}[group]
        for rate, cell in zip(RATES, cells, strict=True):
            share, decimal = cell.split(" = ")
            row = table[(table["rate"] == rate) & (table["group"] == sex)]
            row = row[row["client"].isna() if clinic is None else row["client"] == clinic]
            assert float(Fraction(share)) == pytest.approx(row["before"].item(), abs=1e-12)
            assert float(decimal) == pytest.approx(float(Fraction(share)), abs=5e-4)


def test_the_numbers_in_the_sentences(counts):
    said = re.sub(r"\s+", " ", (KIT / "answers.md").read_text("utf-8"))
    program = FairnessProgram(counts, "eop")
    judged = evaluate(predictor_of(program.solve()), counts)
    ratios = impact_ratios_of([judged]).groups.ratio(after=False).min(axis=1)
    overall, north, south = (f"**.{1000 * value:03.0f}**" for value in ratios)
    assert (
        f"north .300/.500 = {north}, south .220/.340 = {south}, overall .260/.420 = {overall}"
        in said
    )
    gaps = judged.before.gaps
    parts = [f"**.{1000 * value:03.0f}**" for value in (*gaps.local, gaps.overall)]
    assert "north {}, south {}, overall {}".format(*parts) in said
    right = counts.model_accuracy * counts.n
    assert f"**{right:.0f}** of 200, **{right / 2:.1f}** %" in said
    fair = program.solve(1.0, 0.0)
    assert f"81.5 % before, **{100 * fair.accuracy:.1f}** % after" in said


def test_the_notebook_runs_in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cells = json.loads((KIT / "lesson.ipynb").read_text("utf-8"))["cells"]
    space: dict = {}
    for cell in cells:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), space)
    assert space["fair"].accuracy == pytest.approx(0.7963, abs=5e-5)
    columns = list(space["rows"])
    given = pd.read_csv(KIT / "two-clinics.csv")[columns].sort_values(columns, ignore_index=True)
    assert space["rows"].sort_values(columns, ignore_index=True).equals(given)
    assert space["rates"].loc[("north", "woman"), "precision"] == pytest.approx(0.8)


def test_every_file_named_is_there():
    for page in KIT.glob("*.md"):
        for name in re.findall(r"\]\(([^)#]+)\)", page.read_text("utf-8")):
            assert (KIT / name).exists(), (page.name, name)


def test_the_lesson_shows_a_whole_run_in_the_words_of_the_protocol():
    pytest.importorskip("flwr")
    from fairfl_core.federation.wire import KINDS

    log = demo_log()
    kinds = [one["kind"] for one in log.messages]
    assert kinds[0] == "moments" and kinds[-1] == "predictor"
    assert kinds.count("train") == kinds.count("evaluate") == 2 * log.rounds
    for place, one in enumerate(log.messages):
        asked = place % 2 == 0
        assert one["way"] == ("received" if asked else "sent")
        assert one["purpose"] == (KINDS[one["kind"]].asks if asked else KINDS[one["kind"]].replies)


def test_what_was_sent_is_far_smaller_than_the_people():
    log = demo_log()
    assert 0 < log.sent < log.rows  # less than a byte a person
    assert all(log.rows not in sum(one["arrays"].values(), []) for one in log.messages)
