"""What no verdict, alarm or cost may do, whatever people are answered."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, norm

from fairfl_core._io.frames import to_frame
from fairfl_core.data.counts import ClientCounts
from fairfl_core.evaluation.evaluation import evaluate, evaluate_answers
from fairfl_core.evaluation.harm import harm_of
from fairfl_core.evaluation.study import run_study, summarise
from fairfl_core.evaluation.verdict import verdict_of
from fairfl_core.fairness.notions import Notion
from fairfl_core.lp.guarantee import Guarantee
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.predictors.kinds import predictor_of
from fairfl_core.report.board import recommended
from fairfl_core.report.review import Result
from tests.helpers.strategies import count_tables, epsilons


@st.composite
def evaluations(draw):
    """Few or many people of a good or a bad model, answered by any lottery."""
    sizes = {"decent": draw(st.booleans()), "most": draw(st.sampled_from([1, 3, 30]))}
    counts = draw(count_tables(groups=(2, 3), labels=(2, 3), **sizes))
    table = counts.table * draw(st.sampled_from([1, 10, 1000]))
    counts = ClientCounts(table, counts.clients, counts.groups, counts.labels, counts.favourable)
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    labels = len(counts.labels)
    answers = rng.dirichlet(np.full(labels, 0.5), counts.table.shape[:3])
    alike = np.broadcast_to(np.eye(labels)[rng.integers(labels)], answers.shape)
    drawn = draw(st.sampled_from([answers, alike]))
    # In some clients, and of as little as a hundredth: most people keep the model's answer.
    touched = rng.random(len(counts.clients)) < draw(st.sampled_from([0.0, 0.3, 1.0]))
    share = draw(st.sampled_from([0.01, 0.1, 0.5, 1.0])) * touched[:, None, None, None]
    lottery = (1 - share) * np.eye(labels) + share * drawn
    notion = Notion.of(
        draw(st.sampled_from(["sp", "eop", "eo", "eo-full"])), counts.labels, counts.favourable
    )
    return evaluate_answers(counts.under_lottery(lottery), counts, notion)


@st.composite
def verdicts(draw):
    """An evaluation and its verdict, with or without a confidence."""
    one = draw(evaluations())
    guarantee = draw(st.sampled_from([None, Guarantee()]))
    limit = draw(st.sampled_from([0.05, 0.3, 0.7]))
    overall = draw(st.sampled_from([1.0, limit]))
    local = np.full(len(one.counts.clients), limit)
    return one, verdict_of([one], overall, local, guarantee)


def cells(one):
    return np.ndindex(one.counts.table.shape[:2])


def is_answered_alike(one):
    """Whether a cell to which the model spoke gets one answer in more than 95 of 100."""
    for cell in cells(one):
        people = one.counts.table[cell].sum()
        before, after = (
            part.confusion[cell].sum(axis=0).max() / max(people, 1)
            for part in (one.own, one.answers)
        )
        if people and before < 0.95 - 1e-6 and after > 0.95 + 1e-6:
            return True
    return False


def loses_a_label(one):
    """Whether some recognition falls by more than is allowed, by Bonferroni over all cells."""
    clients, groups, labels = one.counts.table.shape[:3]
    tests = (clients + 1) * groups * labels + clients * groups
    scopes = [slice(c, c + 1) for c in range(clients)] + [slice(None)] * (clients > 1)
    for scope in scopes:
        for a in range(groups):
            for y in range(labels):
                n = one.counts.table[scope, a, y].sum()
                if not n:
                    continue
                both = one.answers.both_right[scope, a, y].sum()
                was = one.own.confusion[scope, a, y, y].sum()
                losing, gaining = was - both, one.confusion[scope, a, y, y].sum() - both
                before, fall = was / n, (losing - gaining) / n
                sign = binomtest(int(losing), int(losing) + int(np.ceil(gaining)) or 1).pvalue
                error = np.sqrt(max((losing + gaining) / n - fall**2, 1e-12) / n)
                beyond = norm.cdf((min(0.05, before / 2) - fall) / error)
                if fall > 0 and max(sign, beyond) * tests < 0.05 and n >= 2:
                    return True
    return False


def is_no_smaller(one, verdict):
    """Whether the worst gap that was above its limit is now as large or larger."""
    for gap, before, eps in (
        (one.gaps.local, one.before.gaps.local, [c.eps for c in verdict.limits if c.client]),
        (
            one.gaps.overall,
            one.before.gaps.overall,
            [c.eps for c in verdict.limits if not c.client],
        ),
    ):
        if eps and np.nanmax(before) > eps[0] + 1e-3 and np.nanmax(gap) > np.nanmax(before):
            return True
    return False


@given(verdicts())
@settings(max_examples=60)
def test_never_met_over_a_constant_a_lost_label_or_a_gap_that_grew(found):
    one, verdict = found
    wrong = {
        "constant": is_answered_alike(one),
        "lost": loses_a_label(one),
        "grown": is_no_smaller(one, verdict),
    }
    if any(wrong.values()):
        assert verdict.word != "met", wrong
    if verdict.word == "met":
        assert all(check.low <= check.eps + 1e-3 for check in verdict.limits)
        assert verdict.is_recommendable
    if wrong["lost"] or wrong["grown"]:
        assert not verdict.is_recommendable
    assert verdict.is_recommendable <= (verdict.shape != "✕")


@given(
    count_tables(groups=(2, 3), labels=(2, 3), most=3),
    st.sampled_from(["sp", "eop", "eo"]),
    st.sampled_from([None, Guarantee()]),
)
def test_never_met_where_everybody_is_answered_alike_however_few(counts, notion, guarantee):
    lottery = np.zeros(counts.table.shape)
    lottery[..., 0] = 1.0
    rates = Notion.of(notion, counts.labels, counts.favourable)
    one = evaluate_answers(counts.under_lottery(lottery), counts, rates)
    verdict = verdict_of([one], 1.0, np.full(len(counts.clients), 0.05), guarantee)
    assert not verdict.broken  # all gaps are none
    if is_answered_alike(one):
        assert verdict.word != "met"
        assert (verdict.word == "met but harmful") <= verdict.is_evident


def test_met_is_said_of_random_people_where_there_is_evidence():
    """The property above is not empty: the model's own fair answers to many people are met."""
    table = np.full((2, 2, 2, 2), 3000) + 30_000 * np.eye(2, dtype=int)
    counts = ClientCounts(table, ("c0", "c1"), ("g0", "g1"), ("l0", "l1"))
    lottery = np.broadcast_to(0.99 * np.eye(2) + 0.005, table.shape)
    notion = Notion.of("eo", counts.labels, counts.favourable)
    one = evaluate_answers(counts.under_lottery(lottery), counts, notion)
    assert verdict_of([one], 0.05, np.full(2, 0.05)).word == "met"
    assert not (is_answered_alike(one) or loses_a_label(one))


@given(evaluations())
def test_alarms_rank_by_people_hurt_beyond_chance_and_few_never_lead(one):
    harm = harm_of([one])
    ranks = [(a.n < 10, not a.beyond_chance, -a.people) for a in harm.alarms]
    assert ranks == sorted(ranks)
    assert not any(a.beyond_chance for a in harm.alarms if a.n == 1)
    if harm.alarms and harm.alarms[0].n < 10:  # all of them are on few people: only counted
        assert "recognised in" not in harm.sentence() and "answered" not in harm.sentence()
        assert "on fewer than 10 people" in harm.sentence()
    for own in harm.by_client.values():
        assert [a.n < 10 for a in own.alarms] == sorted(a.n < 10 for a in own.alarms)
    output = to_frame(harm.recognition_columns())
    rows = output[output["alarm"]].set_index(["client", "group", "label"])["beyond_chance"]
    assert len(rows) == len(harm.lost)
    for alarm in harm.lost:
        row = output[(output["group"] == alarm.group) & (output["label"] == alarm.label)]
        own = row[row["client"].isna() if alarm.client is None else row["client"] == alarm.client]
        assert own["beyond_chance"].tolist() == [alarm.beyond_chance]


@given(count_tables(), st.sampled_from(["sp", "eop", "eo"]))
def test_no_limit_raises_no_alarm_and_has_no_verdict(counts, notion):
    """A bad model's answers are turned for accuracy alone; that is nobody's option."""
    nothing = evaluate(predictor_of(FairnessProgram(counts, notion).solve(1.0, 1.0)), counts)
    assert nothing.alarms == () and nothing.verdict is None


def _worst(evaluation):
    """The worst gap inside a client; the overall one where no client has two groups."""
    local = evaluation.gaps.local
    return evaluation.gaps.overall if np.isnan(local).all() else np.nanmax(local)


@given(
    count_tables(decent=True, most=100),
    count_tables(clients=(4, 4), groups=(4, 4), labels=(4, 4), most=100),
    st.lists(st.tuples(epsilons, epsilons), min_size=1, max_size=4),
)
def test_a_recommendation_is_never_a_cross_and_may_be_none(counts, others, limits):
    k, a, y = counts.table.shape[:3]
    test = ClientCounts(
        np.maximum(others.table[:k, :a, :y, :y], 1),
        *(counts.clients, counts.groups, counts.labels, counts.favourable),
    )
    program = FairnessProgram(counts, "eo")
    studies = [run_study([(0, program)], [test], *limit) for limit in limits]
    options = [Result(None, study, summarise(study), None) for study in studies]
    chosen = recommended(options)
    fit = [
        one
        for one, study in zip(options, studies, strict=True)
        if one.summary.verdict
        and one.summary.verdict.is_recommendable
        and _worst(study.first.held_out) < _worst(study.first.held_out.before) - 0.0005
    ]
    assert chosen is None or chosen in fit
    if chosen is None:  # or what is told of at least 10 people says otherwise
        assert not fit or (test.n_label < 10).any()
    if chosen is not None:
        verdict = chosen.summary.verdict
        assert verdict.shape != "✕" and not verdict.hurt and not verdict.grown


@given(count_tables(decent=True), st.tuples(epsilons, epsilons))
def test_costs_are_told_against_the_model_as_it_is(counts, limits):
    study = run_study([(0, FairnessProgram(counts, "eop"))], [counts], *limits)
    summary, one = summarise(study), study.first.held_out
    cost = one.before.accuracy - one.accuracy
    assert summary.judged.cost == pytest.approx(cost, abs=1e-12)
    for payer, before, after in zip(
        summary.payers, one.before.client_accuracy, one.client_accuracy, strict=True
    ):
        assert (payer.before, payer.change) == pytest.approx((before, after - before), abs=1e-12)
    assert summary.loses_most.change == min(payer.change for payer in summary.payers)
