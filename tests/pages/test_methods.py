"""The Methods page: every number is the core's, and a rival that wins is said to win."""

import json
from functools import cache

import numpy as np
import pytest
from pages.components.methods import text
from pages.components.methods.figures import frontiers
from pages.components.methods.results import LEVELS, Beaten, abilities, beaten, compared, table_2
from pages.components.shared.chart_key import _SHAPES

from fairfl_core._io import numbers as format
from fairfl_core.evaluation.methods import (
    MethodRow,
    difference,
    frontier_of,
    method_experiments,
    rows_of,
)
from fairfl_core.evaluation.methods import method_rows as rows_anew
from fairfl_core.paper.method_tables import FRAMEWORKS
from fairfl_core.paper.printed import FEDAVG, TABLE_1, TABLE_2, TABLE_3
from fairfl_core.people.method_answers import open_method
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
            assert apart == f"{100 * less.mean:+.2f} ± {100 * less.standard_error:.2f}"
            assert verdict == text.VERDICTS[less.verdict]
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
    assert "right for 80.2 %, the mean of 4 runs: **rival is more accurate**" in said
    told = text.reading(found, "gap_global", [], (0.02, 0.05))
    assert "**Ours is beaten by rival**, beyond two standard errors." in told
    assert "It beats weaker beyond two standard errors." in told
    assert "late never got there." in told
    nowhere = compared(rows, "sp", "gap_global", 0.01)
    assert "none of our settings gets there" in text.headline(nowhere, "gap_global", range(4))
    assert text.reading(nowhere, "gap_global", [], (0.02, 0.05)) == []


def test_where_nobody_wins_nobody_is_said_to():
    rows = [row("ours_exact", 0.80, 0.02), row("weaker", 0.70, 0.02, jitter=0.002)]
    said = text.headline(compared(rows, "sp", "gap_global", 0.05), "gap_global", range(4))
    assert "nobody is more accurate beyond chance" in said
    alone = compared(rows[:1], "sp", "gap_global", 0.05)
    assert "no rival gets there" in text.headline(alone, "gap_global", range(4))


def test_gaps_at_which_ours_is_beaten_are_named_whatever_gap_is_looked_at():
    rows = [row("ours_exact", 0.80, 0.02), row("ours_simplex", 0.88, 0.2)]
    rows += [row("rival", 0.84, 0.05, jitter=0.002)]
    (found,) = beaten(rows, "sp", "gap_global", (0.02, 0.05, 0.1, 0.2))
    assert (found.title, found.gaps) == ("rival", (0.05, 0.1))
    assert found.most == pytest.approx(0.04 + 0.0015)
    looked_at = compared(rows, "sp", "gap_global", 0.02)
    last = text.reading(looked_at, "gap_global", [found], (0.02, 0.05, 0.1, 0.2))[-1]
    assert "from 0.02 to 0.2" in last and "rival at 0.05 and 0.1 (by 4.1 points at most)" in last
    always = Beaten("rival", (0.05, 0.1, 0.2), 0.01)
    last = text.reading(looked_at, "gap_global", [always], (0.02, 0.05, 0.1, 0.2))[-1]
    assert "rival at 0.05 to 0.2 (by 1.0 points at most)" in last
    none = text.reading(looked_at, "gap_global", [], (0.02, 0.2))[-1]
    assert "no rival beats the best of ours" in none


def test_the_best_of_ours_is_said_to_be_chosen_on_these_people():
    rows = [row("ours_exact", 0.80, 0.02), row("ours_simplex", 0.86, 0.02)]
    rows += [row("rival", 0.84, 0.02, jitter=0.002)]
    first = text.reading(compared(rows, "sp", "gap_global", 0.02), "gap_global", [], (0.02,))[0]
    assert "the best of 2 on these very people" in first
    assert "ours\\_exact" in first and "is right for 80.2 % and is beaten by rival" in first


@pytest.mark.parametrize("gap", ["gap_global", "gap_local_mean"])
@pytest.mark.parametrize(("experiment", "notion"), [("adult", "sp"), ("public_coverage", "eop")])
def test_the_page_says_where_ours_is_beaten_over_all_gaps(opened, experiment, notion, gap):
    """Counted here from the answers of every person, by no function of the page."""
    rows = [one for one in method_rows(experiment) if one.notion == notion]
    points = {}
    for one in rows:
        points.setdefault(one.method, []).append((np.nanmean(getattr(one, gap)), one.accuracy))
    wins = {}
    for level in LEVELS:
        at = {}
        for method, own in points.items():
            reached = [(g, a) for g, a in own if g <= level]
            if not reached:
                continue
            chosen = max(reached, key=lambda pair: pair[1].mean())[1]
            for low, first in reached:  # two settings drawn by chance, mixed to the gap allowed
                for high, second in own:
                    if high > level:
                        share = (level - low) / (high - low)
                        mixed = (1 - share) * first + share * second
                        if mixed.mean() > chosen.mean() and _neighbours(own, low, high):
                            chosen = mixed
            at[method] = chosen
        best = max((m for m in at if m.startswith("ours")), key=lambda m: at[m].mean(), default="")
        for method in at if best else ():
            apart = at[best] - at[method]
            error = apart.std(ddof=1) / np.sqrt(len(apart))
            if not method.startswith("ours") and apart.mean() < -2 * error:
                wins.setdefault(method, []).append(level)
    titles = {one.method: one.title for one in rows}
    expected = {titles[method]: tuple(levels) for method, levels in wins.items()}
    assert {one.title: one.gaps for one in beaten(rows, notion, gap, LEVELS)} == expected
    app = opened("methods", of=experiment, by=notion, gap=gap, at=0.05)
    (told,) = (one.value for one in app.markdown if "Over gaps (" in one.value)
    last = told.splitlines()[-1].replace("\\", "")
    assert all(title in last for title in expected)
    assert bool(expected) == ("is beaten" in last)


def _neighbours(own, low, high):
    """Whether no setting that its method keeps lies between two gaps."""
    kept, best = [], -1.0
    for gap, accuracy in sorted(own, key=lambda pair: (pair[0], -pair[1].mean())):
        if accuracy.mean() > best:
            kept.append(gap)
            best = accuracy.mean()
    return low in kept and high in kept and kept.index(high) == kept.index(low) + 1


def test_the_front_is_what_no_method_beats_and_signs_are_told_apart():
    found = compared(method_rows("adult"), "sp", "gap_global", 0.02)
    gaps, best = found.front
    for line in found.lines:
        at = [line.frontier.at(gap) for gap in gaps]
        assert all(
            one is None or one.mean() <= top + 1e-12 for one, top in zip(at, best, strict=True)
        )
    assert (np.diff(best) >= -1e-12).all()
    drawn = frontiers(found, "gap_global", 0.2).to_dict()
    front, *methods = drawn["data"]
    assert (front["mode"], front["name"]) == ("lines", text.FRONT)
    low, high = drawn["layout"]["yaxis"]["range"]
    assert 0 < 100 * best.min() - low < 2 and 0 < high - 100 * best.max() < 2
    looks = [(one["line"]["color"], one["marker"]["symbol"]) for one in methods]
    assert len(set(looks)) == len(looks) == len(found.lines)
    assert {sign for _, sign in looks} <= set(_SHAPES)  # the key draws them as the chart does


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


def _shown(app, column):
    """A table by one of its columns; headings that repeat are told apart by word joiners."""
    return next(
        one.value
        for one in app.table
        if any(column == name.strip("\u2060") for name in one.value.columns)
    )


@pytest.mark.parametrize(("experiment", "notion"), [("adult", "sp"), ("public_coverage", "eop")])
def test_the_papers_numbers_stand_beside_ours(opened, experiment, notion):
    app = opened("methods", of=experiment, by=notion)
    rows = method_rows(experiment)
    table = _shown(app, "accuracy (%)").to_numpy()
    table = [[cell.replace("\N{NO-BREAK SPACE}", " ") for cell in cells] for cells in table]
    beside = table_2(rows, experiment, notion)
    assert [one.framework for one in beside] == [cells[0] for cells in table]
    assert set(TABLE_2[experiment]) == {one.framework for one in beside}  # all of the paper's rows
    for cells, one in zip(table, beside, strict=True):
        printed, row = TABLE_2[experiment][one.framework], one.row
        assert (row.method, row.notion) == (FRAMEWORKS[one.framework], notion)
        assert cells[2].startswith(f"{100 * np.mean(row.accuracy):.1f} ± ")
        assert cells[3].startswith(f"{100 * printed.accuracy.mean:.1f} ± ")
        assert cells[4].startswith(f"{np.mean(row.gap_global):.3f} ± ")
        assert cells[5].startswith(f"{printed.overall.mean:.3f} ± ")
        assert cells[6].startswith(f"{np.mean(row.gap_local_mean):.3f} ± ")
        assert cells[7].startswith(f"{printed.local.mean:.3f} ± ")
    # Where the paper names no setting the tuned one stands there, and is called so.
    table = [[cell.replace("\\", "") for cell in cells] for cells in table]
    fcfl = [cells for cells in table if cells[0] == "FCFL"]
    tuned = open_method(experiment, "fcfl").manifest["tuning"][notion]["chosen"]["epsilon"]
    assert [cells[1] for cells in fcfl] == [f"epsilon={tuned:g}, tuned"]
    assert {cells[1] for cells in table if cells[0] == "FairFed"} >= {"paper"}


@pytest.mark.parametrize(("experiment", "notion"), [("adult", "sp"), ("public_coverage", "eop")])
def test_rounds_and_seconds_are_those_of_the_stated_rule(opened, experiment, notion):
    app = opened("methods", of=experiment, by=notion)
    table = _shown(app, "a client sends and receives").to_numpy()
    assert [cells[0] for cells in table] == [FEDAVG, *TABLE_1]
    for name, setting, rounds, paper, seconds, printed, sent in table:
        told = open_method(experiment, FRAMEWORKS[name]).settings
        bare = setting.replace("\\", "").removesuffix(", tuned").replace("as trained", "")
        one = told[f"{notion} {bare}".strip()]
        assert rounds == f"{one['rounds_to_converge']:.0f}"
        assert seconds == f"{one['seconds_to_converge']:.1f}"
        size, unit = sent.split()
        share = one["bytes_per_client"] / {"MB": 1e6, "KB": 1e3}[unit]
        assert float(size) == pytest.approx(share, abs=0.51 if unit == "KB" else 0.051)
        cost = TABLE_3[experiment].get(name)
        assert (paper, printed) == (
            ("–", "–") if cost is None else (cost.rounds_printed, f"{cost.seconds:,.1f}")
        )
    assert table[1][3] == "over 1,000"  # FCFL's, as printed


def test_the_papers_figures_stand_beside_no_other_notion(opened):
    app = opened("methods", of="adult", by="eop")
    assert not any("paper" in one.value.columns for one in app.table)


def test_every_tick_of_table_1_is_what_the_manifest_says(opened):
    app = opened("methods", of="adult", by="sp")
    shown = _shown(app, "more than two labels")
    able = abilities(method_rows("adult"), "adult")
    assert [one.name for one in able[: len(TABLE_1)]] == list(TABLE_1)
    assert {"LoGoFair", "Post-FFL"} < {one.name for one in able}
    for cells, one in zip(shown.to_numpy(), able, strict=True):
        ticks = ["✓" in cell.split(" (")[0] for cell in cells[2:6]]
        assert ticks == [one.multi_class, *(name in one.notions for name in ("sp", "eop", "eo"))]
    fate = shown.to_numpy()[list(TABLE_1).index("Fair-FATE")]
    assert fate[2] == "✓ (paper: –)"


def test_the_command_tells_the_same(opened):
    assert set(method_experiments()) >= {"adult", "public_coverage"}
    told = json.loads(run("methods", "--experiment", "adult", "--json").out)
    rows = {(one.method, one.setting): one for one in method_rows("adult")}
    assert len(told) == len(rows)
    for one in told:
        assert one["accuracy"] == rows[one["method"], one["setting"]].accuracy.mean()
