"""The Methods page: every number is the core's, told in neutral words."""

import json
import re
from functools import cache

import numpy as np
import pytest

from fairfl_core.data import experiments
from fairfl_core.evaluation.methods import (
    GRID,
    MethodRow,
    difference,
    frontier_of,
    rows_of,
)
from fairfl_core.evaluation.methods import method_rows as rows_anew
from fairfl_core.lp.program import FairnessProgram
from pages.methods import charts, text
from pages.methods.results import (
    compared,
    families_of,
)
from tests.pages.conftest import TOP, healthy
from tests.pages.reading import tables, values

method_rows = cache(rows_anew)  # seconds of work, asked for by every test
UNWANTED = re.compile(r"\brival|\bbeat|never g[eo]t|\bours\b", re.IGNORECASE)  # words are neutral
EXPERIMENT, NOTION = "adult", "sp"


def drawn(app, key):
    """A chart of the page, as Plotly's browser library gets it."""
    (found,) = [x for x in app.get("plotly_chart") if x.proto.id.endswith(f"-{key}")]
    return json.loads(found.proto.spec)


def html_tables(app):
    return [rows for one in app.get("html") for rows in tables(one.proto.body)[0]]


def words(app):
    bodies = [
        tables(one.proto.body)[1] for one in app.get("html") if "<style" not in one.proto.body
    ]
    return " ".join([*(x.value for x in [*app.markdown, *app.caption]), *bodies])


def test_the_ranking_is_the_cores(opened):
    experiment, notion = EXPERIMENT, NOTION
    app = opened("methods", of=experiment, by=notion, gap="gap_global", at=0.05, tab="compared")
    assert not UNWANTED.search(words(app))
    app.session_state["methods-ranking-table-open"] = True
    ranked = healthy(app.run()).dataframe[0].value
    rows = method_rows(experiment)
    by_title = {text.title(row.title): row.method for row in rows if row.notion == notion}
    shown = {by_title[title]: cells for title, *cells in ranked.to_numpy()}
    assert set(shown) == {row.method for row in rows if row.notion == notion}
    found = {m: frontier_of(rows_of(rows, m, notion), "gap_global") for m in shown}
    at = {method: one.at(0.05) for method, one in found.items()}
    best = max(
        (m for m in shown if m.startswith("ours") and at[m] is not None),
        key=lambda m: at[m].mean(),
    )
    verdicts = {"better": "less accurate", "worse": "more accurate", "alike": "as accurate"}
    counted = dict.fromkeys([*verdicts.values(), "does not reach this gap"], 0)
    less = {}
    for method, (accuracy, _, points, error, verdict) in shown.items():
        if at[method] is None:
            assert np.isnan(accuracy) and verdict == "does not reach this gap"
        else:
            assert accuracy == round(at[method].mean(), 4)
        if method.startswith("ours"):
            continue
        counted[verdict] += 1
        if at[method] is not None:
            apart = difference(found[best], found[method], 0.05)
            less[method] = -100 * apart.mean
            assert points == round(-100 * apart.mean, 2)
            assert error == round(100 * apart.standard_error, 2)
            assert verdict == verdicts[apart.verdict]
    reached = [cells[0] for cells in shown.values() if not np.isnan(cells[0])]
    assert reached == sorted(reached, reverse=True) and len(set(reached)) > 3
    assert f"{counted['as accurate']} of {sum(counted.values())} other methods" in words(app)
    assert f"{counted['less accurate']} less accurate" in words(app)
    spec = drawn(app, "methods-ranking")
    order = [m for m in shown if not m.startswith("ours") or m == best]
    axis = spec["layout"]["yaxis"]
    assert [by_title.get(name, best) for name in axis["ticktext"]][0] in (order[0], best)
    low = spec["layout"]["xaxis"]["range"][0]
    for method, x in zip(order, values(spec["data"][1], "x"), strict=True):
        expected = 0.0 if method == best else less.get(method, np.nan)
        assert np.isnan(x) == np.isnan(expected)
        assert np.isnan(x) or x == pytest.approx(expected) or expected < low + 0.1


def test_a_few_lines_are_named_and_all_are_drawn():
    experiment, notion = EXPERIMENT, NOTION
    rows, families = method_rows(experiment), families_of(experiment)
    found = compared(rows, notion, "gap_global", 0.02, families)
    named = [line.method for line in found.labelled]
    assert 4 <= len(named) <= 7 and "fedavg" in named
    assert sum(name.startswith("ours") for name in named) == 1
    for family in set(families.values()):  # the most accurate of its kind is among them
        mine = [x for x in found.others if families[x.method] == family and x.at is not None]
        assert not mine or max(mine, key=lambda line: line.mean).method in named
    spec = charts.frontiers(found, "overall").to_dict()
    assert len(spec["data"]) == len(found.lines)
    for trace in spec["data"]:
        line = next(x for x in found.lines if text.title(x.title) == trace["name"])
        np.testing.assert_allclose(values(trace, "y"), 100 * line.frontier.accuracy.mean(axis=1))
        np.testing.assert_allclose(values(trace, "x"), line.frontier.gaps)
    written = " ".join(one.get("text", "") for one in spec["layout"]["annotations"])
    assert all(text.short_title(line) in written for line in found.labelled)


def row(method, accuracy, gap, seeds=4, jitter=0.001, pooled=False):
    wobble = jitter * np.arange(seeds)
    many = np.full(seeds, gap)
    return MethodRow(
        "toy",
        method,
        method,
        f"{method} {gap}",
        "sp",
        "swept",
        tuple(range(seeds)),
        accuracy + wobble,
        many,
        many,
        many,
        np.full((seeds, 2), gap),
        1,
        1,
        1,
        pooled,
    )


def test_a_method_that_is_more_accurate_is_said_to_be():
    rows = [row("ours_exact", 0.80, 0.02), row("other", 0.85, 0.02, jitter=0.002)]
    rows += [row("weaker", 0.70, 0.02, jitter=0.002), row("late", 0.9, 0.3)]
    rows += [row("twin", 0.80, 0.02)]
    found = compared(rows, "sp", "gap_global", 0.05)
    assert text.sentence(found) == (
        "At this gap **other is more accurate**, **1 of 4 other methods is as accurate as fairfl**, "
        "1 less accurate and 1 does not reach it."
    )
    nowhere = compared(rows, "sp", "gap_global", 0.01)
    assert "fairfl does not reach this gap" in text.sentence(nowhere)
    assert len(text.how_compared(nowhere)) == 2
    charts.frontiers(nowhere, "overall"), charts.ranking(nowhere)  # both can still be drawn


def test_the_variant_of_fairfl_is_said_to_be_chosen_on_these_people():
    rows = [row("ours_exact", 0.80, 0.02), row("ours_simplex", 0.86, 0.02)]
    rows += [row("other", 0.84, 0.02, jitter=0.002)]
    output = text.how_compared(compared(rows, "sp", "gap_global", 0.02))[2]
    assert "the most accurate of its 2 variants on these very people" in output


def test_figure_1_is_the_papers_grid_solved(opened):
    app = opened("methods", tab="figure1")
    assert not UNWANTED.search(words(app))
    for name in ("adult", "public_coverage", "ham10000"):
        (heat,) = drawn(app, f"figure1-{name}")["data"]
        opened_ = experiments.open(name)
        for up, across in ((0, 0), (2, 4), (5, 0)):
            solved = [
                FairnessProgram(opened_.counts(seed, "validation"), opened_.notion)
                .solve(eps_global=GRID[across], eps_local=GRID[up])
                .accuracy
                for seed in opened_.seeds
            ]
            assert values(heat, "z")[up][across] == pytest.approx(100 * np.mean(solved), abs=1e-6)
        assert heat["x"] == [f"{limit:.2f}" for limit in GRID]
        assert heat["texttemplate"] == "%{z:.1f}"


@pytest.mark.parametrize(
    ("tab", "columns", "row"),
    [
        ("table1", 8, "Fair-FATE"),
        ("table2", 7, "FCFL"),
        ("table3", 9, "FCFL"),
        ("table4", 7, "no noise"),
    ],
)
def test_the_papers_tables_are_the_reproductions(opened, tab, columns, row):
    """Whose numbers tests/research compares with the shipped answers and the paper's."""
    app = opened("methods", of="adult", by="sp", tab=tab)
    assert not UNWANTED.search(words(app))
    (table,) = [one.value for one in app.markdown if "| --- |" in one.value]
    rows = [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("| ")]
    assert len(rows[0]) == columns and row in [cells[0] for cells in rows]
    document = (TOP / "docs/reproduction.md").read_text()
    lines = [line for line in table.splitlines() if "fairfl" not in line]
    assert all(line in document for line in lines)


def test_where_the_paper_has_no_such_table_that_is_said(opened):
    app = opened("methods", of="adult", by="eop", tab="table2")
    assert text.NO_TABLE in [one.value for one in app.markdown]
