"""The Methods page: every number is the core's, and a rival that wins is said to win."""

import json
from functools import cache

import numpy as np
import pytest

from fairfl_core._io import numbers as format
from fairfl_core.evaluation.methods import (
    MethodRow,
    difference,
    frontier_of,
    method_experiments,
    rows_of,
)
from fairfl_core.evaluation.methods import method_rows as rows_anew
from fairfl_core.paper.printed import TABLE_1, TABLE_2
from pages.components.methods import text
from pages.components.methods.results import PRINTED, beside_the_paper, compared
from tests.cli.running import run

method_rows = cache(rows_anew)  # seconds of work, asked for by every test


@pytest.mark.parametrize(("experiment", "notion"), [("adult", "sp"), ("public_coverage", "eop")])
def test_the_ranking_is_the_cores(opened, experiment, notion):
    app = opened("methods", of=experiment, by=notion, gap="gap_global", at=0.05)
    rows = method_rows(experiment)
    ranked = next(one.value for one in app.table if "accuracy there" in one.value.columns)
    by_title = {row.title: row.method for row in rows if row.notion == notion}
    shown = {by_title[title.replace("\\", "")]: cells for title, *cells in ranked.to_numpy()}
    assert set(shown) == {row.method for row in rows if row.notion == notion}
    found = {m: frontier_of(rows_of(rows, m, notion), "gap_global") for m in shown}
    at = {method: one.at(0.05) for method, one in found.items()}
    ours = [m for m in shown if m.startswith("ours") and at[m] is not None]
    best = max(ours, key=lambda m: at[m].mean())
    for method, (accuracy, _, apart, verdict) in shown.items():
        if at[method] is None:
            assert accuracy == text.NEVER and not verdict
            continue
        assert accuracy == format.percent(at[method].mean())
        if not method.startswith("ours"):
            less = difference(found[best], found[method], 0.05)
            assert apart.startswith(format.signed_points(less.mean, 2))
            assert less.verdict in verdict or (less.verdict, verdict) == (
                "alike",
                "cannot be told",
            )
    accuracies = [float(cell.split()[0]) for cell in ranked["accuracy there"] if "%" in cell]
    assert accuracies == sorted(accuracies, reverse=True) and len(set(accuracies)) > 3


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


def test_a_rival_that_wins_is_said_to_win():
    rows = [row("ours_exact", 0.80, 0.02), row("rival", 0.85, 0.02, jitter=0.002)]
    rows += [row("weaker", 0.70, 0.02, jitter=0.002), row("late", 0.9, 0.3)]
    found = compared(rows, "sp", "gap_global", 0.05)
    said = text.headline(found, "gap_global", range(4))
    assert "**Ours is beaten by rival**" in said and "It beats weaker" in said
    assert "late never got there" in said
    assert "none of our settings gets there" in text.headline(
        compared(rows, "sp", "gap_global", 0.01), "gap_global", range(4)
    )


def test_it_is_said_how_methods_fare_that_know_nothing_of_clients(opened):
    rows = [row("ours_exact", 0.80, 0.02), row("alike", 0.80, 0.02, pooled=True)]
    rows += [row("ahead", 0.85, 0.02, jitter=0.002, pooled=True), row("late", 0.9, 0.3)]
    said = text.pooled_reading(compared(rows, "sp", "gap_global", 0.05))
    assert "“alike” are as accurate as the best of ours" in said
    assert "“ahead” are **more accurate than the best of ours**" in said and "late" not in said
    assert not text.pooled_reading(compared(rows[:1], "sp", "gap_global", 0.05))
    app = opened("methods", of="adult", by="sp", gap="gap_global", at=0.02)
    here = text.pooled_reading(compared(method_rows("adult"), "sp", "gap_global", 0.02))
    assert here and any(one.value == here for one in app.markdown)


def test_the_papers_numbers_stand_beside_ours_and_table_1_is_whole(opened):
    app = opened("methods", of="adult", by="sp")
    table = next(one.value for one in app.table if "sent a client" in one.value.columns)
    rows = beside_the_paper(method_rows("adult"), "adult", "sp").to_dict("records")
    assert len(rows) == len(TABLE_2["adult"]) - 2  # ours with one limit alone is no method
    for cells, one in zip(table.to_numpy(), rows, strict=True):
        assert tuple(cells) == text.cost_cells(one)
        printed = TABLE_2["adult"][next(p for p in PRINTED.values() if _same(p, one["method"]))]
        assert cells[2] == format.percent(printed.accuracy.mean)
        assert cells[4] == format.gap(printed.overall.mean)
    abilities = next(one.value for one in app.table if "run here" in one.value.columns)
    assert list(abilities["method"]) == list(TABLE_1)
    assert (abilities["run here"] != "–").all()


def _same(printed, title):
    bare = [name.lower().replace("-", "").replace(", simplex", "") for name in (printed, title)]
    return bare[0] == bare[1]


def test_the_command_tells_the_same(opened):
    assert set(method_experiments()) >= {"adult", "public_coverage"}
    told = json.loads(run("methods", "--experiment", "adult", "--json").out)
    rows = {(one.method, one.setting): one for one in method_rows("adult")}
    assert len(told) == len(rows)
    for one in told:
        assert one["accuracy"] == rows[one["method"], one["setting"]].accuracy.mean()
