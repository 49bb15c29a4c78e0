"""Every rate in view: against counts person by person, fairlearn, and by hand."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairfl_core.data.columns import Grouping
from fairfl_core.data.counts import ClientCounts
from fairfl_core.evaluation.all_rates import all_rates_of, impact_ratios_of
from fairfl_core.evaluation.evaluation import evaluate, evaluate_answers
from fairfl_core.fairness.intervals import wilson
from fairfl_core.fairness.notions import Notion, notion_names
from fairfl_core.lp.policy import Policy
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.predictors.kinds import predictor_of
from tests.evaluation.test_harm import judged
from tests.helpers.strategies import count_tables


def expected(table, name, y):
    """A rate of label y from a table [label][answer], by its definition; NaN for nobody."""
    labels = range(len(table))
    everyone = sum(table[a][b] for a in labels for b in labels)
    answered = sum(table[a][y] for a in labels)
    have = sum(table[y][b] for b in labels)
    part, whole = {
        "selection rate": (answered, everyone),
        "true-positive rate": (table[y][y], have),
        "false-positive rate": (answered - table[y][y], everyone - have),
        "precision": (table[y][y], answered),
        "F1": (table[y][y], (answered + have) / 2),
        "accuracy": (sum(table[a][a] for a in labels), everyone),
    }[name]
    return (part / whole if whole > 0 else float("nan")), whole


@given(judged())
def test_rates_are_those_of_their_definitions(evaluation):
    counts = evaluation.counts
    rates = all_rates_of([evaluation])
    table = rates.table()
    labels = [measure.label for measure in rates.measures]
    assert labels[0] == counts.favourable and labels[-1] is None
    several = len(counts.labels) if len(counts.labels) > 2 else 1
    assert len(rates.measures) == 5 * several + 1
    for row in table.itertuples():
        chosen = [c for c, name in enumerate(counts.clients) if row.client in (None, name)]
        a = counts.groups.index(row.group)
        y = counts.labels.index(row.label) if row.label else 0
        for share, people, low, high, confusion in (
            (row.before, row.n_before, row.before_low, row.before_high, evaluation.own.confusion),
            (row.after, row.n, row.after_low, row.after_high, evaluation.confusion),
        ):
            rate, n = expected(sum(confusion[c, a] for c in chosen), row.rate, y)
            if row.rate == "precision" and n < 0.5:
                rate, n = float("nan"), 0  # hardly anybody is so answered
            assert share == pytest.approx(rate, abs=1e-7, nan_ok=True)
            assert people == pytest.approx(np.round(n), abs=1)
            if n:
                ends = wilson(np.array(rate).clip(0, 1), np.array(n), 1.959964)
                assert (low, high) == pytest.approx([float(end) for end in ends], abs=1e-5)
            else:
                assert np.isnan(low) and np.isnan(high)


@given(judged())
def test_every_notion_is_told_with_its_own_gap_and_interval(evaluation):
    rates = all_rates_of([evaluation])
    counts = evaluation.counts
    assert {one.notion for one in rates.notions} == set(notion_names())
    for name in notion_names():
        notion = Notion.of(name, counts.labels, counts.favourable)
        after = evaluate_answers(evaluation.answers, counts, notion)
        for one in (gap for gap in rates.notions if gap.notion == name):
            sides = []
            for part in (after.before, after):
                overall = (part.gaps.overall, *part.global_interval)
                c = None if one.client is None else counts.clients.index(one.client)
                inside = (part.gaps.local, *part.local_interval)
                sides.append(overall if c is None else tuple(x[c] for x in inside))
            assert (one.before, *one.before_limits) == pytest.approx(sides[0], nan_ok=True)
            assert (one.after, *one.limits) == pytest.approx(sides[1], nan_ok=True)


def network(rows):
    """Groups with very different base rates; the model is decent in both alike."""
    table = np.array(
        [[[[45, 5], [10, 40]], [[81, 9], [2, 8]]], [[[40, 10], [10, 40]], [[72, 18], [2, 8]]]]
    )
    return ClientCounts(table * rows, ("north", "south"), ("women", "men"), ("no", "yes"))


def test_a_setting_breaks_what_it_was_not_asked_for():
    counts = network(100)
    fair = predictor_of(FairnessProgram(counts, "sp").solve(0.0, 0.0))
    words = {one.notion: one.word for one in all_rates_of([evaluate(fair, counts)]).notions_of()}
    assert words["sp"] == "mends" and words["eo"] == "breaks" and words["eop"] == "breaks"
    few = ClientCounts(counts.table // 500, *names(counts))  # alike, and too few to tell
    said = {one.notion: one.word for one in all_rates_of([evaluate(fair, few)]).notions_of()}
    assert said["eop"] == "not sure yet"
    assert {one.word for one in all_rates_of([of(counts)]).notions} == {"unchanged"}


def test_why_not_all_can_be_equal_is_said_with_these_peoples_numbers():
    counts = network(10)
    base = all_rates_of([of(counts)]).base
    assert base.sentence().startswith(
        "Not all of these can be equal: 90.0 % of men (n = 2,000) and 50.0 % of women (n = 2,000) "
        "truly are “no”."
    )
    assert base.sentence("north").startswith("Not all of these can be equal in north: 90.0 % of")
    alike = ClientCounts(counts.table[:, [0, 0]], *names(counts))
    assert "could be nearly equal at once" in all_rates_of([of(alike)]).base.sentence()
    table = counts.table.copy()
    table[0, 0] = 0
    alone = all_rates_of([of(ClientCounts(table, *names(counts)))]).base
    assert alone.sentence("north") == (
        "There are no two groups in north whose rates could be compared."
    )
    share = pd.DataFrame(alone.columns()).set_index(["client", "group", "label"])
    assert share.loc[("south", "men", "no"), "share"] == pytest.approx(0.9)
    assert share.loc[("south", "men", "no"), "n"] == 1000


def names(counts):
    return counts.clients, counts.groups, counts.labels


def of(counts):
    """The model's own answers, as they are."""
    keep = np.broadcast_to(np.eye(len(counts.labels)), counts.table.shape)
    notion = Notion.of("eo", counts.labels, counts.favourable)
    return evaluate_answers(counts.under_lottery(keep), counts, notion)


@given(count_tables(decent=True), st.integers(0, 3))
def test_runs_are_averaged(counts, seed):
    other = ClientCounts(
        np.random.default_rng(seed).permuted(counts.table, axis=2),
        *names(counts),
        counts.favourable,
    )
    one, two = of(counts), of(other)
    both = all_rates_of([one, two])
    alone = [all_rates_of([run]) for run in (one, two)]
    for part in ("share", "n", "low", "high"):
        values = [getattr(rates.rates.before, part) for rates in alone]
        there = [rates.rates.before.n > 0 for rates in alone]
        mean = np.ma.mean(np.ma.array(values, mask=~np.array(there)), axis=0)
        empty = 0.0 if part == "n" else np.nan
        found = getattr(both.rates.before, part)
        np.testing.assert_allclose(found, mean.filled(empty), atol=1e-12)
    gaps = [nanmean([r.notions[i].after for r in alone]) for i in range(len(both.notions))]
    assert [gap.after for gap in both.notions] == pytest.approx(gaps, nan_ok=True)


def nanmean(values):
    """The mean of those that are numbers."""
    there = [value for value in values if value == value]
    return sum(there) / len(there) if there else float("nan")


def test_of_weighted_people_a_gap_has_one_interval():
    rng = np.random.default_rng(1)
    names = {"client": ["north", "south"], "group": ["f", "m"], "label": ["no", "yes"]}
    rows = pd.DataFrame({name: rng.choice(values, 900) for name, values in names.items()})
    rows = rows.assign(said=rng.choice(names["label"], 900), weight=rng.exponential(size=900))
    counts = ClientCounts.from_table(
        rows, **{name: name for name in names}, prediction="said", weight="weight"
    )
    one = of(counts)
    output = all_rates_of([one]).notions
    (overall,) = (gap for gap in output if gap.notion == "eo" and gap.client is None)
    assert overall.limits == pytest.approx(one.global_interval)
    inside = [gap.limits for gap in output if gap.notion == "eo" and gap.client]
    np.testing.assert_allclose(np.transpose(inside), one.local_interval)


def judged(counts, **asked):
    solution = FairnessProgram(counts, "sp", policy=Policy(**asked)).solve()
    return evaluate(predictor_of(solution), counts)


def test_four_fifths_by_hand():
    table = np.zeros((2, 3, 2, 2), int)
    table[0, 0, 0] = [60, 40]  # 40 % selected
    table[0, 1, 0] = [80, 20]
    table[1, 0, 0] = [10, 90]
    table[1, 1, 1] = [50, 50]
    table[1, 2, 1] = [1, 2]
    counts = ClientCounts(table, ("a", "b"), ("x", "y", "z"), ("no", "yes"))
    found = impact_ratios_of([judged(counts)], leave_out=0.02)
    assert found.left_out == ("z",)
    before = found.groups.ratio(after=False)
    np.testing.assert_allclose(before[0], [1.0, (70 / 200) / (130 / 200), np.nan])
    np.testing.assert_allclose(before[1], [1.0, 0.5, np.nan])
    np.testing.assert_allclose(before[2], [1.0, 0.5 / 0.9, np.nan])
    np.testing.assert_allclose(
        impact_ratios_of([judged(counts)]).groups.ratio(after=False)[2],
        [1, 0.5 / 0.9, 0.6 / 0.9 / 0.9],
    )
    assert found.groups.rates.after.n[0].tolist() == [200, 200, 3]
    rows = found.to_json()["groups"]
    assert rows[0]["client"] is None and rows[0]["n"] == 200
    assert rows[3]["client"] == "a" and rows[3]["group"] == "x"
    assert rows[2]["impact_ratio"] is None


@given(count_tables(groups=(2, 3)), st.sampled_from([0.5, 0.8, 1.0]))
def test_what_the_program_is_asked_for_the_table_shows(counts, rho):
    found = impact_ratios_of([judged(counts, ratio_global=rho, ratio_local=rho)]).groups
    assert np.nanmin(found.ratio()) >= rho - 1e-6
    assert np.nanmax(found.ratio()) <= 1 + 1e-12


def test_nobody_selected_is_no_ratio_below_one():
    counts = ClientCounts(
        np.array([[[[5, 0], [5, 0]], [[9, 0], [1, 0]]]]), ("a",), ("x", "y"), ("n", "p")
    )
    ratio = impact_ratios_of([judged(counts)]).groups.ratio(after=False)
    assert ratio == pytest.approx(np.ones((2, 2)))


def crossed():
    """Two sexes and two races; ten women of race B in the second client."""
    table = np.zeros((2, 4, 2, 2), int)
    table[0, :, 0] = [[60, 40], [45, 5], [20, 80], [30, 20]]
    table[1, :, 1] = [[50, 50], [4, 6], [10, 90], [15, 25]]
    groups = tuple((sex, race) for sex in ("f", "m") for race in ("A", "B"))
    names = tuple(" · ".join(values) for values in groups)
    grouping = Grouping(("sex", "race"), groups)
    return ClientCounts(table, ("a", "b"), names, ("no", "yes"), grouping=grouping)


def test_each_column_of_a_crossing_is_compared_on_its_own():
    found = impact_ratios_of([judged(crossed())])
    assert [one.grouping for one in found.comparisons] == ["sex*race", "sex", "race"]
    _, sex, race = found.comparisons
    assert sex.groups == ("f", "m") and race.groups == ("A", "B")
    assert sex.rates.after.n[0].tolist() == [260, 290]
    np.testing.assert_allclose(sex.rates.before.share[0], [101 / 260, 215 / 290])
    np.testing.assert_allclose(sex.ratio(after=False)[0], [(101 / 260) / (215 / 290), 1])
    np.testing.assert_allclose(race.ratio(after=False)[1], [1, (25 / 100) / (120 / 200)])
    rows = found.to_json()["groups"]
    assert [row["grouping"] for row in rows] == ["sex*race"] * 12 + ["sex"] * 6 + ["race"] * 6


def test_a_crossed_group_under_thirty_people_is_not_assessable():
    found = impact_ratios_of([judged(crossed())])
    assert found.groups.assessable.tolist() == [[True] * 4, [True] * 4, [True, False, True, True]]
    assert np.isnan(found.groups.ratio()[2, 1]) and not np.isnan(found.groups.ratio()[0]).any()
    row = next(row for row in found.to_json()["groups"] if not row["assessable"])
    assert (row["client"], row["group"], row["n"]) == ("b", "f · B", 10)
    rates = all_rates_of([judged(crossed())])
    assert rates.assessable.tolist() == found.groups.assessable.tolist()
    table = rates.table()
    few = table[~table["assessable"]]
    assert set(few["client"]) == {"b"} and set(few["group"]) == {"f · B"}
