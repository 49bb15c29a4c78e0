"""Holds, does not hold, cannot be told: one rule for chance, and who stands behind a gap."""

import numpy as np
import pytest

from fairfl_core.evaluation.evaluation import evaluate, evaluate_answers
from fairfl_core.evaluation.finding import Finding, PeopleBehind
from fairfl_core.evaluation.study import run_study
from fairfl_core.evaluation.verdict import verdict_of
from fairfl_core.fairness.intervals import gap_interval
from fairfl_core.fairness.notions import Notion, Rate
from fairfl_core.people.counts import ClientCounts
from fairfl_core.predictors.load import predictor_of
from fairfl_core.solving.answer_program import FairnessProgram
from fairfl_core.solving.guarantee import Guarantee
from tests.helpers.strategies import synthetic


def judged(rates, people, label_people=50):
    """An evaluation of the model's own answers: (clients, groups) true-positive rates of l1."""
    rates, people = np.asarray(rates, float), np.asarray(people, int)
    table = np.zeros((*rates.shape, 2, 2), int)
    table[..., 1, 1] = np.rint(rates * people)
    table[..., 1, 0] = people - table[..., 1, 1]
    table[..., 0, 0] = label_people
    return of_table(table)


def of_table(table):
    clients = tuple(f"c{i}" for i in range(len(table)))
    counts = ClientCounts(table, clients, ("women", "men"), ("l0", "l1"))
    notion = Notion.of("eop", counts.labels, "l1")
    keep = np.broadcast_to(np.eye(2), table.shape)
    return evaluate_answers(counts.under_lottery(keep), counts, notion)


def test_a_gap_beyond_chance_is_broken_and_its_people_are_named():
    one = judged([[0.5, 0.5], [0.3, 0.7]], [[400, 500], [310, 620]])
    found = verdict_of([one], 1.0, np.array([0.1, 0.1]))
    assert found.word == "does not hold" and [f.client for f in found.above] == ["c1"]
    worst = found.above[0]
    assert worst.gap == pytest.approx(0.4, abs=2e-3) and worst.n == 310 + 620 + 100
    assert str(worst.behind) == "310 women and 620 men with “l1”"
    low, high = gap_interval(one.rates, one.people, 0.95)
    assert (worst.low, worst.high) == pytest.approx((low[1], high[1]))
    joint, _ = gap_interval(one.rates, one.people, 0.975)  # two limits asked
    assert worst.floor == pytest.approx(joint[1]) and joint[1] < low[1]
    said = found.sentence()
    assert said.startswith("c1: gap 0.400 on unseen people where 0.1 was asked")
    assert (
        f"({low[1]:.3f} to {high[1]:.3f}; 310 women and 620 men with “l1” stand behind it)" in said
    )


def test_few_people_cannot_tell_and_the_number_needed_would():
    one = judged([[0.4, 0.6]], [[12, 20]])
    found = verdict_of([one], 1.0, np.array([0.1]))
    assert found.word == "cannot be told" and "12 women and 20 men" in found.sentence()
    needed = found.findings[0].needed
    assert f"about {needed:,} of the smaller group" in found.sentence()
    more = judged([[0.4, 0.6]], [[needed, round(needed * 20 / 12)]])
    low, high = gap_interval(more.rates, more.people, 0.95)
    assert (high[0] - low[0]) / 2 == pytest.approx(0.1, rel=0.12)
    assert verdict_of([more], 1.0, np.array([0.1])).findings[0].width == pytest.approx(
        0.1, rel=0.12
    )


def test_one_person_has_a_rate_and_may_be_enough():
    found = verdict_of([judged([[1.0, 0.5]], [[1, 2]])], 1.0, np.array([0.99])).findings[0]
    behind = found.behind
    assert found.gap == 0.5
    assert (behind.lower_group, behind.lower_rate, behind.lower_n) == ("men", 0.5, 2)
    assert (behind.higher_group, behind.higher_rate, behind.higher_n) == ("women", 1.0, 1)
    assert found.width < 0.99 and found.needed == 1


def test_compatible_and_told_holds():
    one = judged([[0.5, 0.52], [0.6, 0.6]], [[4000, 5000], [3000, 3000]])
    found = verdict_of([one], 1.0, np.array([0.05, 0.05]))
    assert found.word == "holds" and not found.untold
    assert found.sentence() == "Unseen people are compatible with every limit asked."
    small = judged([[0.5, 0.52], [0.6, 0.5]], [[4000, 5000], [9, 9]], label_people=10)
    also = verdict_of([small], 1.0, np.array([0.05, 0.05]))
    assert also.word == "holds" and [f.client for f in also.untold] == ["c1"]
    assert "For 1 of 2 limits" in also.sentence() and "9 men and 9 women" in also.sentence()


def test_a_guarantee_settles_what_unseen_people_do_not_contradict():
    one = judged([[0.5, 0.6]], [[15, 15]])
    found = verdict_of([one], 1.0, np.array([0.1]), Guarantee(0.9, "all"))
    assert found.word == "holds"
    assert found.sentence().startswith(
        "With 90 % confidence no client's gap exceeds 0.1 (all at once)"
    )
    broken = judged([[0.1, 0.9]], [[200, 200]])
    assert verdict_of([broken], 1.0, np.array([0.1]), Guarantee()).word == "does not hold"


def test_what_was_not_asked_is_not_judged_and_worse_than_before_is_said():
    one = judged([[0.1, 0.9]], [[300, 300]])
    assert verdict_of([one], 1.0, np.array([1.0])).findings == ()
    counts = one.counts
    lottery = np.broadcast_to(np.eye(2), counts.table.shape).copy()
    lottery[0, 1] = [[0, 1], [0, 1]]  # every man gets l1
    lottery[0, 0] = [[1, 0], [1, 0]]
    worse = evaluate_answers(counts.under_lottery(lottery), counts, one.notion)
    found = verdict_of([worse], 1.0, np.array([0.1]))
    assert found.above[0].worse and "worse than before (0.800)" in found.sentence()


def test_fitted_people_settle_nothing():
    one = judged([[0.5, 0.5]], [[4000, 4000]])
    found = verdict_of([one], 0.05, np.array([0.05]), unseen=False)
    assert found.word == "cannot be told" and "no unseen people" in found.sentence()


def test_runs_are_averaged_and_the_overall_limit_is_judged_too():
    fit = [synthetic(3, 2, 2, rows=900, seed=s) for s in (0, 1)]
    test = [synthetic(3, 2, 2, rows=900, seed=s + 5) for s in (0, 1)]
    programs = [(s, FairnessProgram(counts, "eop")) for s, counts in enumerate(fit)]
    study = run_study(programs, test, 0.02, 0.05)
    found = verdict_of(study.evaluations(unseen=True), 0.02, study.first.solution.eps_local)
    by_client = {finding.client: finding for finding in found.findings}
    assert set(by_client) == {None, "c0", "c1", "c2"}
    gaps = study.client_mean(lambda e: e.gaps.local, unseen=True)
    assert [by_client[f"c{c}"].gap for c in range(3)] == pytest.approx(gaps)
    overall = study.over(lambda e: e.gaps.overall, unseen=True).mean
    assert by_client[None].gap == pytest.approx(overall)
    before = study.client_mean(lambda e: e.before.gaps.local, unseen=True)
    assert by_client["c1"].before == pytest.approx(before[1])
    assert len(found.to_json()["above"]) == len(found.above)


def test_three_labels_name_the_label_behind_the_gap():
    table = np.zeros((1, 2, 3, 3), int)
    table[0, :, 0] = [[50, 0, 0], [60, 0, 0]]
    table[0, :, 1] = [[0, 40, 10], [0, 45, 5]]
    table[0, :, 2] = [[3, 0, 0], [0, 0, 6]]  # three women and six men with a rare label
    counts = ClientCounts(table, ("65 and over",), ("women", "men"), ("mole", "cancer", "vessel"))
    fair = predictor_of(FairnessProgram(counts, "eo").solve(1.0, 1.0))
    one = evaluate(fair, counts)
    found = verdict_of([one], 1.0, np.array([0.05]))
    assert "3 women and 6 men with “vessel”" in found.sentence()


def finding(**changed):
    """A finding that holds by a hair, so that one change at a time can break it."""
    behind = PeopleBehind(Rate("l1", "l1"), "women", 40, 0.3, "men", 90, 0.6)
    figures = {"gap": 0.3, "before": 0.3, "low": 0.1, "high": 0.5, "floor": 0.1}
    counted = {"eps": 0.1, "width": 0.1, "n": 200, "needed": 30}
    return Finding(**({"client": "c0", "behind": behind} | figures | counted | changed))


def test_what_three_decimals_do_not_show_is_no_difference():
    assert not finding(floor=0.1004).above and finding(floor=0.1006).above
    assert not finding(gap=0.3004).worse and finding(gap=0.3006).worse
    assert not finding(gap=0.2996).worse
    assert finding(width=0.1).told and not finding(width=0.1001).told
    assert finding(width=0.0004, eps=0.0).told and not finding(width=0.0006, eps=0.0).told


def test_a_finding_in_a_file_says_who_stands_behind_it():
    value = finding(client=None, before=float("nan")).to_json()
    assert value["client"] is None and value["gap_before"] is None
    assert value["interval"] == [0.1, 0.5] and value["behind"] == {"women": 40, "men": 90}
    assert (value["answer"], value["label"], value["worse_than_before"]) == ("l1", "l1", False)


def test_chance_is_shared_between_the_limits_that_were_asked_only():
    one = judged([[0.4, 0.6], [0.3, 0.7]], [[400, 500], [310, 620]])

    def floors(overall, local):
        findings = verdict_of([one], overall, np.array(local)).findings
        return {finding.client: finding.floor for finding in findings}

    for asked, level in (((1.0, [1.0, 0.1]), 0.95), ((0.1, [1.0, 0.1]), 0.975)):
        low, _ = gap_interval(one.rates, one.people, level)
        assert floors(*asked)["c1"] == pytest.approx(low[1]) and "c0" not in floors(*asked)
    overall, _ = gap_interval(*pooled(one), 0.95)
    assert floors(0.1, [1.0, 1.0]) == {None: pytest.approx(float(overall))}


def pooled(one):
    """Rates and people of everyone, added up over clients."""
    people = one.people.sum(axis=0)
    return one.answered.sum(axis=0) / people, people


def test_a_verdict_needs_half_of_the_people_inside_clients_and_everyone_overall():
    # 1,000 people can tell a gap to +- .05 in the first client, 30 cannot in the second.
    rates, sizes = [[0.5, 0.5], [0.5, 0.5]], [[5000, 5000], [15, 15]]
    for others, word in ((50, "holds"), (10_000, "cannot be told")):
        table = judged(rates, sizes, label_people=50).counts.table.copy()
        table[1, :, 0, 0] = others  # people of the second client who are not behind the gap
        found = verdict_of([of_table(table)], 1.0, np.array([0.05, 0.05]))
        assert found.word == word and [one.client for one in found.untold] == ["c1"]
    enough, few = judged([[0.5, 0.5]], [[5000, 5000]]), judged([[0.5, 0.5]], [[40, 40]])
    assert verdict_of([enough], 0.05, np.array([1.0])).word == "holds"
    assert verdict_of([few], 0.05, np.array([1.0])).word == "cannot be told"
    assert verdict_of([few], 1.0, np.array([1.0])).word == "holds"  # nothing was asked


def test_the_width_is_that_of_two_shares_around_wilsons_middles():
    one = judged([[0.25, 0.8]], [[40, 95]])
    (found,) = verdict_of([one], 1.0, np.array([0.3])).findings
    z2 = 1.959964**2
    middles = (10 + z2 / 2) / (40 + z2), (76 + z2 / 2) / (95 + z2)
    variance = sum(m * (1 - m) / (n + z2) for m, n in zip(middles, (40, 95), strict=True))
    assert found.width == pytest.approx(1.959964 * np.sqrt(variance), abs=1e-6)
    assert found.needed == np.ceil(40 * (found.width / 0.3) ** 2)
    (strict,) = verdict_of([one], 1.0, np.array([0.0])).findings
    assert strict.needed == np.ceil(40 * (found.width / 0.01) ** 2)  # a limit of zero has no end


def test_the_sentence_names_the_worst_first_and_counts_the_others():
    rates = [[0.1, 0.9], [0.2, 0.9], [0.5, 0.5], [0.3, 0.9], [0.35, 0.9], [0.4, 0.9]]
    one = judged(rates, [[500, 500]] * 6)
    found = verdict_of([one], 1.0, np.full(6, 0.1))
    assert found.sentence().startswith("c0: gap 0.800")
    assert found.sentence().endswith("So do 4 more: c1, c3, c4 ....")
    assert [one.client for one in found.above] == ["c0", "c1", "c3", "c4", "c5"]
    few = verdict_of([judged(rates[:2], [[500, 500]] * 2)], 0.1, np.full(2, 0.1))
    assert few.sentence().endswith("So do 2 more: the overall gap, c1.")


def test_the_promise_of_a_guarantee_is_said_where_nobody_can_judge_it():
    one = judged([[0.5, 0.5], [0.5, 0.5]], [[40, 40]] * 2)
    for guarantee, says in (
        (Guarantee(0.9, "all"), "with 90 % confidence all limits at once are kept (at most 0.2; "),
        (Guarantee(0.8, "each"), "with 80 % confidence each limit is kept (at most 0.2; "),
    ):
        found = verdict_of([one], 1.0, np.array([0.2, 0.1]), guarantee, unseen=False)
        assert found.word == "cannot be told" and says in found.sentence()
        holds = verdict_of([one], 1.0, np.array([0.2, 0.1]), guarantee)
        scope = "all at once" if guarantee.scope == "all" else "each on its own"
        assert f"no client's gap exceeds 0.2 ({scope})" in holds.sentence()
    assert "confidence" not in verdict_of([one], 1.0, np.array([0.1, 0.1])).sentence()
