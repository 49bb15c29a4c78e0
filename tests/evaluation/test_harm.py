"""Who is worse off: recognition, alarms, how gaps were closed, and the word for it."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from fairfl_core._io.frames import to_frame
from fairfl_core.data import experiments
from fairfl_core.data.counts import ClientCounts
from fairfl_core.evaluation.evaluation import evaluate, evaluate_answers
from fairfl_core.evaluation.harm import BlindLottery, LostLabel, harm_of
from fairfl_core.evaluation.study import effect_of, run_study
from fairfl_core.fairness.intervals import sign_test
from fairfl_core.fairness.notions import Notion
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.predictors.kinds import predictor_of
from tests.helpers.strategies import count_tables, synthetic


def under(counts, lottery, notion="eo"):
    """An evaluation of any lottery, without a predictor."""
    rates = Notion.of(notion, counts.labels, counts.favourable)
    return evaluate_answers(counts.under_lottery(lottery), counts, rates)


@st.composite
def judged(draw):
    """Counts, and a lottery of any kind on them."""
    counts = draw(count_tables())
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    labels = len(counts.labels)
    lottery = rng.dirichlet(np.full(labels, 0.5), counts.table.shape[:3])
    return under(counts, lottery, draw(st.sampled_from(["sp", "eop", "eo", "eo-full"])))


def recognised(evaluation, client, group, label, after):
    """Pr(answer y | label y) person by person, one cell at a time; overall where client is None."""
    counts = evaluation.counts
    confusion = evaluation.confusion if after else evaluation.own.confusion
    a, y = counts.groups.index(group), counts.labels.index(label)
    chosen = [c for c, name in enumerate(counts.clients) if client in (None, name)]
    right = sum(confusion[c, a, y, y] for c in chosen)
    people = sum(counts.table[c, a, y].sum() for c in chosen)
    return (right / people if people else float("nan")), people


@given(judged())
def test_every_label_is_told_and_alarms_follow_the_rule(evaluation):
    harm = harm_of([evaluation])
    table = to_frame(harm.recognition_columns())
    counts = evaluation.counts
    assert len(table) == (len(counts.clients) + 1) * len(counts.groups) * len(counts.labels)
    alarmed = {(one.client, one.group, one.label) for one in harm.lost}
    alike = {(one.client, one.group): one for one in harm.alarms if isinstance(one, BlindLottery)}
    assert len(alarmed) + len(alike) == len(harm.alarms)
    for c, client in enumerate(counts.clients):
        for a, group in enumerate(counts.groups):
            shares = [
                part.confusion[c, a].sum(axis=0).max() / max(part.confusion[c, a].sum(), 1e-9)
                for part in (evaluation.own, evaluation.answers)
            ]
            if min(abs(share - 0.95) for share in shares) > 1e-9:
                assert ((client, group) in alike) == (0 < shares[0] <= 0.95 < shares[1])
    for row in table.itertuples():
        before, n = recognised(evaluation, row.client, row.group, row.label, after=False)
        after, _ = recognised(evaluation, row.client, row.group, row.label, after=True)
        assert row.n == n
        assert (row.before, row.after) == pytest.approx((before, after), abs=1e-12, nan_ok=True)
        if n:
            assert row.after_low - 1e-12 <= row.after <= row.after_high + 1e-12
        fall = before - after
        if abs(fall - 0.05) > 1e-7 and abs(after - before / 2) > 1e-7 and abs(fall - 5e-4) > 1e-7:
            wrong = n > 0 and fall > 5e-4 and (fall > 0.05 or after < before / 2)
            assert ((row.client, row.group, row.label) in alarmed) == bool(wrong) == row.alarm


@given(judged())
def test_what_was_closed_is_what_was_raised_and_lowered(evaluation):
    closed = harm_of([evaluation]).closed
    found = {(gap.client, gap.rate) for gap in closed}
    counts = evaluation.counts
    for client in (None, *counts.clients):
        for r, rate in enumerate(evaluation.notion.rates):
            before, after = (spread(part, client, r) for part in (evaluation.before, evaluation))
            if before is None or abs(before[0] - after[0] - 5e-4) < 1e-7:
                continue
            assert ((client, rate) in found) == (before[0] - after[0] > 5e-4)
    for gap in closed:
        r = evaluation.notion.rates.index(gap.rate)
        assert gap.before == pytest.approx(spread(evaluation.before, gap.client, r)[0], abs=1e-12)
        assert gap.after == pytest.approx(spread(evaluation, gap.client, r)[0], abs=1e-12)
        assert gap.raised + gap.lowered == pytest.approx(gap.closed, abs=1e-12)
        assert 0 <= gap.share_lowered <= 1
        assert gap.lower.before <= gap.higher.before
        if gap.crossed or len(counts.groups) > 2:
            continue
        # Two groups that keep their places: what each of them does is all there is.
        assert gap.raised == pytest.approx(gap.lower.after - gap.lower.before, abs=6e-4)
        assert gap.lowered == pytest.approx(gap.higher.before - gap.higher.after, abs=6e-4)


def spread(evaluation, client, r):
    """Largest less smallest rate of the groups that have people, and whether there are two."""
    rates = []
    for a in range(len(evaluation.counts.groups)):
        chosen = [c for c, name in enumerate(evaluation.counts.clients) if client in (None, name)]
        people = sum(evaluation.people[c, a, r] for c in chosen)
        if people > 0:
            rates.append(sum(evaluation.answered[c, a, r] for c in chosen) / people)
    return (max(rates) - min(rates), rates) if len(rates) > 1 else None


def two_groups(right, people=100):
    """One client; so many of each group's people with l1 are recognised by the model."""
    table = np.zeros((1, len(right), 2, 2), int)
    for a, n in enumerate(right):
        table[0, a, 1] = people - n, n
        table[0, a, 0, 0] = 50
    groups = ("women", "men", "others")[: len(right)]
    return ClientCounts(table, ("clinic",), groups, ("l0", "l1"))


def keeping(counts, shares):
    """A lottery under which so many of each group's people with l1 are recognised."""
    lottery = np.broadcast_to(np.eye(2), counts.table.shape).copy()
    for a, share in enumerate(shares):
        had = counts.table[0, a, 1, 1] / counts.table[0, a, 1].sum()
        if share <= had:
            lottery[0, a, 1] = [1 - share / had, share / had]
        else:
            more = (share - had) / (1 - had)
            lottery[0, a, 0] = [1 - more, more]
    return under(counts, lottery, "eop")


@pytest.mark.parametrize(
    ("before", "after", "raised", "lowered", "share", "says"),
    [
        ([60, 20], [0.5, 0.4], 0.2, 0.1, 1 / 3, "a third of that by recognising fewer women"),
        ([60, 20], [0.5, 0.5], 0.3, 0.1, 1 / 4, "three quarters of that by recognising more men"),
        ([60, 20], [0.2, 0.2], 0.0, 0.4, 1.0, "all of that by recognising fewer women"),
        ([60, 20], [0.1, 0.1], -0.1, 0.5, 1.0, "and fewer men (20.0 % → 10.0 %, n = 100) too"),
        ([60, 20], [0.6, 0.5], 0.3, 0.0, 0.0, "all of that by recognising more men"),
        ([60, 20], [0.9, 0.8], 0.6, -0.3, 0.0, "and more women (60.0 % → 90.0 %, n = 100) too"),
        ([60, 20], [0.4, 0.5], 0.2, 0.1, 1 / 3, "fewer women"),  # they change places
        ([60, 20, 40], [0.5, 0.4, 0.45], 0.2, 0.1, 1 / 3, "(60.0 % → 50.0 %, n = 100)"),
        ([60, 20, 40], [0.5, 0.5, 0.3], 0.1, 0.1, 0.5, "half of that"),  # others are now lowest
        ([60, 20], [0.59, 0.2], 0.0, 0.01, 1.0, "all of that by recognising fewer women"),
        ([60, 20], [0.58, 0.35], 0.15, 0.02, 0.02 / 0.17, "a little of that by recognising fewer"),
    ],
)
def test_closing_by_hand(before, after, raised, lowered, share, says):
    (gap,) = [one for one in harm_of([keeping(two_groups(before), after)]).closed if one.client]
    assert (gap.raised, gap.lowered) == pytest.approx((raised, lowered), abs=1e-9)
    assert gap.share_lowered == pytest.approx(share, abs=1e-9)
    assert gap.crossed == (after[1] > after[0])
    assert says in gap.sentence()


@given(st.integers(0, 40), st.integers(0, 40))
def test_the_sign_test_is_the_binomials(losing, gaining):
    both = losing + gaining
    expected = binomtest(losing, both).pvalue if both else 1.0
    found = sign_test(np.array([float(losing)]), np.array([float(gaining)]))
    assert found == pytest.approx(expected, abs=1e-9)


def test_few_people_are_shown_as_few_and_many_as_beyond_chance():
    for people, sure in ((4, False), (400, True)):
        table = np.array([[[[0, 0], [0, people]], [[5, 0], [0, people]]]])
        counts = ClientCounts(table, ("clinic",), ("women", "men"), ("l0", "l1"))
        lottery = np.broadcast_to(np.eye(2), table.shape).copy()
        lottery[0, 0, 1] = [0.75, 0.25]
        harm = harm_of([under(counts, lottery)])
        (alarm,) = harm.by_client["clinic"].alarms
        assert (alarm.n, alarm.beyond_chance, harm.title.split()[1] == "is") == (
            people,
            sure,
            sure,
        )
        word = "beyond chance" if sure else "that it fell by more than 5 points may be chance"
        assert f"n = {people}, 95 % between" in alarm.sentence() and word in alarm.sentence()
        # Three of four lose: a coin does as much in one of four times.
        assert alarm.p_value == pytest.approx(0.25 if not sure else 2 * 0.5**300, rel=1e-6)


def test_a_blind_lottery_is_told_by_solution_predictor_and_alarm():
    counts = synthetic(3, 2, 3, rows=300, seed=4)
    for region in ("simplex", "kernel"):
        solution = FairnessProgram(counts, "eo", region).solve(1.0, {"c0": 0.0, "c1": 1, "c2": 1})
        fair = predictor_of(solution)
        assert fair.attention == pytest.approx(solution.attention)
        turned = ClientCounts(
            counts.table[::-1, ::-1], counts.clients[::-1], counts.groups[::-1], counts.labels
        )
        evaluation = evaluate(fair, turned)
        assert evaluation.attention == pytest.approx(solution.attention[::-1, ::-1])
        blind = [one for one in harm_of([evaluation]).alarms if isinstance(one, BlindLottery)]
        hardly = {
            (counts.clients[c], counts.groups[a]) for c, a in np.argwhere(solution.attention < 0.1)
        }
        assert {(one.client, one.group) for one in blind} == hardly
        assert {client for client, _ in hardly} == set(solution.blind)


@pytest.mark.parametrize(("looks", "alarm"), [(0.09, True), (0.099, True), (0.11, False)])
def test_fewer_than_one_in_ten_is_hardly(looks, alarm):
    counts = two_groups([60, 60])
    same = predictor_of(FairnessProgram(counts, "eop").solve(1.0, 0.9))
    lottery = np.broadcast_to(np.eye(2), counts.table.shape).copy()
    lottery[0, 1] = looks * np.eye(2) + (1 - looks) * np.array([0.25, 0.75])
    fair = replace(same, lottery=lottery)
    assert fair.attention == pytest.approx(np.array([[1.0, looks]]))
    blind = [a for a in harm_of([evaluate(fair, counts)]).alarms if isinstance(a, BlindLottery)]
    assert [one.group for one in blind] == ["men"] * alarm
    for one in blind:
        share = (0.75 * (1 - looks) * 150 + looks * 60) / 150  # of 150 men, 60 are told l1
        assert (one.answer, one.n) == ("l1", 150) and one.share == pytest.approx(share)
        assert one.sentence() == (
            f"clinic: almost whatever the model says, {100 * one.share:.1f} % of men (n = 150) are "
            f"answered “l1”: its answer counts for {100 * looks:.2g} in 100."
        )


def test_the_exact_region_tells_it_too():
    people = experiments_people("ham10000", 0)
    solution = FairnessProgram(people, "eo", "exact", rates="labels").solve(1.0, 0.02)
    fair = predictor_of(solution)
    assert fair.attention == pytest.approx(solution.attention)
    assert evaluate(fair, people).attention == pytest.approx(solution.attention)


def experiments_people(name, seed, split="validation"):
    from fairfl_core.data.scored import ScoredData

    return ScoredData.from_experiment(experiments.open(name), seed, split)


def test_runs_are_averaged_over_those_that_have_people():
    tables = [two_groups([60, 20]).table.copy(), two_groups([40, 30]).table.copy()]
    tables[1][0, 0, 1] = 0  # no women with l1 in the second run
    runs = []
    for table in tables:
        counts = ClientCounts(table, ("clinic",), ("women", "men"), ("l0", "l1"))
        lottery = np.broadcast_to(np.eye(2), table.shape).copy()
        lottery[0, 0, 1] = [0.5, 0.5]
        runs.append(under(counts, lottery, "eop"))
    harm = harm_of(runs)
    table = to_frame(harm.recognition_columns())
    row = table[(table["client"] == "clinic") & (table["group"] == "women")].iloc[1]
    assert (row.n, row.before, row.after) == pytest.approx((100, 0.6, 0.3))
    men = table[(table["client"] == "clinic") & (table["group"] == "men")].iloc[1]
    assert (men.before, men.after) == pytest.approx((0.25, 0.25))
    (gap,) = [one for one in harm.closed if one.client]
    assert (gap.before, gap.after) == pytest.approx((0.4, 0.1))  # of the only run that has one


def test_a_blind_lottery_is_no_alarm_where_the_model_was_blind_before():
    counts = two_groups([0, 0])  # everybody is told l0
    fair = predictor_of(FairnessProgram(counts, "eop").solve(1.0, 0.5))
    lottery = np.zeros(counts.table.shape)
    lottery[..., 0] = 1.0
    assert evaluate(replace(fair, lottery=lottery), counts).alarms == ()


# -------------------------------------------------------------------- the disaster


def disaster(name="ham10000"):
    """The paper's split and simplex, eo, no overall limit, .05 in each client: as it was met."""
    experiment = experiments.open(name)
    seeds = experiment.seeds[:5]
    programs = [
        (seed, FairnessProgram(experiment.counts(seed, "validation"), "eo")) for seed in seeds
    ]
    test = [experiment.counts(seed, "test") for seed in seeds]
    return run_study(programs, test, 1.0, 0.05)


def test_under_35_nobodys_cancer_is_recognised_and_that_is_told():
    study = disaster()
    harm = harm_of(study.evaluations(unseen=True))
    assert "under 35" in harm.clients and harm.title == "Someone is worse off"
    own = harm.by_client["under 35"]
    blind = {one.group: one for one in own.alarms if isinstance(one, BlindLottery)}
    assert set(blind) == {"women", "men"}
    assert all(one.answer == "mole" and one.share > 0.99 for one in blind.values())
    worst = own.lost[0]
    assert isinstance(worst, LostLabel) and worst.label == "cancer or pre-cancer"
    assert worst.group == "women" and worst.after < 0.005 < 0.1 < worst.before and worst.n == 11
    said = own.sentence(4)
    assert said.startswith("under 35: almost whatever the model says, ")
    assert "“cancer or pre-cancer” is recognised in 0.1 % of women, was 11.6 %" in said
    assert harm.sentence().startswith("Overall: ")  # most people
    rows = study.client_table(unseen=True).set_index("client")
    change = rows.loc["under 35", "accuracy"] - rows.loc["under 35", "accuracy_before"]
    assert round(100 * change, 2) == 2.59  # what was shown in green
    effect = effect_of(change, harm, "under 35")
    assert effect.word == "gains on average" and effect.colour == "mixed"
    assert effect.describe("2.59 points") == (
        "gains on average 2.59 points, but “cancer or pre-cancer” is recognised in 0.1 % of women, "
        "was 11.6 % (n = 11: that it fell by more than 5 points may be chance)"
    )
    closed = [one for one in harm.closed if one.client == "under 35"]
    by_label = {one.rate.label: one for one in closed}
    assert by_label["cancer or pre-cancer"].share_lowered == 1.0


def test_the_word_for_a_change_of_accuracy():
    lost = harm_of([keeping(two_groups([60, 60]), [0.3, 0.3])])
    kept = harm_of([keeping(two_groups([60, 60]), [0.6, 0.6])])
    assert effect_of(0.01, kept).word == "gains" and effect_of(0.01, kept).colour == "better"
    assert effect_of(0.01, kept, "clinic").but == ""
    for client in (None, "clinic"):
        effect = effect_of(0.01, lost, client)
        assert (effect.word, effect.colour) == ("gains on average", "mixed")
        assert (
            "“l1” is recognised in 30.0 % of women, was 60.0 % (n = 100: beyond chance)"
            in effect.but
        )
    for change in (0.0, -0.01, float("nan")):
        assert effect_of(change, kept).word == "costs"
        assert effect_of(change, lost, "clinic") == effect_of(change, kept)


@given(st.floats(-1, 1), judged())
def test_nobody_gains_where_someone_is_worse_off(change, evaluation):
    harm = harm_of([evaluation])
    for client in (None, *evaluation.counts.clients):
        own = harm.alarms if client is None else harm.by_client.get(client)
        effect = effect_of(change, harm, client)
        assert (effect.word == "gains") == (change > 0 and not own)
        assert (effect.colour == "better") == (effect.word == "gains")
        assert bool(effect.but) == (change > 0 and bool(own))


def test_files_carry_all_of_it():
    harm = harm_of(disaster().evaluations(unseen=True))
    value = harm.to_json()
    assert value["sentence"] == harm.sentence()
    assert len(value["recognition"]) == 6 * 2 * 4
    assert value["recognition"][0]["client"] is None
    gap = value["closed_gaps"][0]
    assert gap["share_raised"] + gap["share_lowered"] == 1 and gap["client"] is None
    first = next(one for one in harm.alarms if isinstance(one, BlindLottery)).to_json()
    assert first["people"] > 0 and first["answer_share"] > first["answer_share_before"]
    assert (first["kind"], first["label"], first["beyond_chance"]) == ("attention", None, True)
    lost = harm.lost[0].to_json()
    assert lost["fall"] == pytest.approx(lost["before"] - lost["after"])
    assert lost["interval"][0] <= lost["after"] <= lost["interval"][1]
