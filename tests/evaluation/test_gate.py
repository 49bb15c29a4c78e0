"""A gate says what the page says: the same verdict, as an exit code, JUnit and annotations."""

from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import settings

from fairfl_core.data.columns import Grouping
from fairfl_core.data.counts import ClientCounts
from fairfl_core.errors import InputError
from fairfl_core.evaluation.evaluation import evaluate
from fairfl_core.evaluation.study import run_study, summarise
from fairfl_core.evaluation.verdict import FAILED, PASSED, UNSURE, Gate
from fairfl_core.lp.guarantee import Guarantee
from fairfl_core.lp.policy import Floor, GroupingLimit, Policy, Precision
from fairfl_core.lp.policy_file import PolicyFile
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.predictors.kinds import predictor_from_json, predictor_of
from tests.helpers.strategies import synthetic

CODES = {"met": PASSED, "not met": FAILED, "met but harmful": FAILED, "not sure yet": UNSURE}


def _case(seed):
    """A solved program and unseen people, large and small, alike and other than the fitted ones."""
    rng = np.random.default_rng(seed)
    clients, groups, labels = (int(rng.integers(*span)) for span in ((1, 4), (2, 4), (2, 4)))
    rows = int(rng.choice([60, 600, 6000, 60_000]))
    counts = synthetic(clients, groups, labels, rows=rows, seed=seed)
    other = synthetic(clients, groups, labels, rows=rows, seed=seed + int(rng.integers(2)))
    share = counts.table / counts.n if rng.random() < 0.5 else other.table / other.n
    table = rng.multinomial(int(rng.choice([300, 6000, 200_000])), share.ravel())
    table = table.reshape(counts.table.shape)
    table[table.sum(axis=(1, 2, 3)) == 0, 0, 0, 0] = 1
    eps = [float(rng.choice([0.01, 0.05, 0.1, 0.2, 1.0])) for _ in range(2)]
    guarantee = Guarantee(0.9) if rng.random() < 0.02 else None
    more = [{}, {"ratio_local": 0.8}, {"capacity_global": 0.5}, {"ratio_global": 0.9}]
    policy = Policy(**more[0 if guarantee is not None else int(rng.integers(4))])
    asked = PolicyFile(
        notion=str(rng.choice(["sp", "eop", "eo"])),
        eps_global=eps[0],
        eps_local=eps[1] if max(eps) < 1 or eps[0] < 1 else 0.1,
        eps_local_client=((counts.clients[0], 0.3),) if rng.random() < 0.3 else (),
        guarantee=guarantee,
        policy=policy,
    )
    return counts, replace(counts, table=table), asked


def test_gate_and_page_agree_on_random_cases():
    seen = set()
    for seed in range(4 * settings.default.max_examples):
        counts, unseen, asked = _case(seed)
        how = {"guarantee": asked.guarantee, "policy": asked.policy}
        program = FairnessProgram(counts, asked.notion, **how)
        limits = asked.limits(counts.clients)
        study = run_study([(0, program)], [unseen], **limits)
        page = summarise(study).verdict
        # What a build server has: files.
        fair = predictor_from_json(study.first.predictor.to_json())
        read = PolicyFile.from_toml(asked.to_toml().encode())
        assert read == asked
        verdict = evaluate(fair, unseen, read if seed % 2 else None).verdict
        gate = Gate.of(verdict, asked.notion)
        assert (verdict.word, verdict.why) == (page.word, page.why), seed
        assert gate.code == CODES[page.word]
        assert replace(gate, allow_unsure=True).code == CODES[page.word] % UNSURE
        seen.add(page.word)
    assert len(seen) >= 3  # the cases are of many kinds


def _met_and_broken():
    table = np.array([[[[800, 200], [200, 800]], [[800, 200], [200, 800]]]] * 2) * 50
    names = (("north", "so<u>th"), ("f", "m"), ("no", "yes"))
    counts = ClientCounts(table, *names)
    fair = predictor_of(FairnessProgram(counts, "eop").solve(1.0, 0.1))
    moved = table.copy()
    moved[1, 0, 1] = [30_000, 20_000]
    return fair, replace(counts, table=moved)


def test_junit_has_a_case_for_every_limit():
    fair, counts = _met_and_broken()
    gate = Gate.of(evaluate(fair, counts).verdict, "eop")
    suite = ElementTree.fromstring(gate.to_junit())
    assert gate.code == FAILED
    cases = {case.get("name"): [part.tag for part in case] for case in suite}
    assert cases["verdict"] == ["failure"] and cases["limit in so<u>th"] == ["failure"]
    assert cases["limit in north"] == ["system-out"]
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("3", "2", "0")


def test_annotations_are_one_line_each():
    fair, counts = _met_and_broken()
    text = Gate.of(evaluate(fair, counts).verdict, "eop").to_github("models/fair,1.json")
    lines = text.splitlines()
    assert [line.split(" ")[0] for line in lines] == ["::error", "::error"]
    assert all("file=models/fair%2C1.json,title=fairfl%3A" in line for line in lines)
    assert all("100 %" not in line.split("::")[2] for line in lines)


def test_a_predictor_solved_for_less_has_no_confidence_in_a_stricter_policy():
    counts = synthetic(2, 2, 2, rows=4000)
    fair = predictor_of(FairnessProgram(counts, "eop", guarantee=Guarantee(0.9)).solve(1.0, 0.3))
    for eps, kept in ((0.3, True), (0.4, True), (0.2, False)):
        verdict = evaluate(fair, counts, PolicyFile("eop", eps_local=eps)).verdict
        assert (verdict.guarantee is not None) is kept
    sure = PolicyFile("eop", eps_local=0.3, guarantee=Guarantee(0.95))
    assert evaluate(fair, counts, sure).verdict.guarantee is None
    other = PolicyFile("sp", eps_local=0.3)
    assert evaluate(fair, counts, other).verdict.guarantee is None


def test_of_noised_counts_nothing_can_be_told():
    """No interval contains the noise: a gap that looks broken is no failure of a build."""
    fair, counts = _met_and_broken()
    noised = replace(counts, table=counts.table + 0.5, noisy=True)
    gate = Gate.of(evaluate(fair, noised).verdict, "eop")
    suite = ElementTree.fromstring(gate.to_junit())
    assert gate.code == UNSURE and not gate.verdict.broken
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("3", "0", "3")
    assert {line.split(" ")[0] for line in gate.to_github().splitlines()} == {"::warning"}
    asked = PolicyFile("eop", policy=Policy(capacity_global=0.01, ratio_local=0.01))
    besides = evaluate(fair, noised, asked).verdict.besides
    assert {one.state for one in besides} == {"cannot be told"} and len(besides) == 3


def test_nothing_asked_is_nothing_to_require():
    with pytest.raises(InputError, match="nothing that could be met"):
        Gate.of(None, "eo")
    fair, counts = _met_and_broken()
    with pytest.raises(InputError, match="--require"):
        Gate.of(evaluate(fair, counts).verdict, "eop", "perfect")


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        (Policy(floors=(Floor("maybe", 0.5),)), 'no label "maybe" to set a floor for'),
        (Policy(precision=(Precision("maybe", "local", 0.5),)), '"maybe" to ask a precision of'),
        (Policy(limits=(GroupingLimit("race", "local", 0.5),)), "race"),
    ],
)
def test_a_policy_of_other_labels_or_columns_is_a_sentence(asked, says):
    fair, counts = _met_and_broken()
    with pytest.raises(InputError, match=says):
        evaluate(fair, counts, PolicyFile("eop", policy=asked))


# ------------------------------------------------------------------- what is asked beyond gaps

PEOPLE = [[[8000, 2000], [2000, 8000]], [[8000, 2000], [1000, 9000]]]  # of women fewer are found
ASKED = {
    "floor": (Policy(floors=(Floor("yes", 0.78),)), Policy(floors=(Floor("yes", 0.85),))),
    "keep": (Policy(floors=(Floor("yes", keeps=0.0),)), None),
    "ratio": (Policy(ratio_local=0.85), Policy(ratio_local=0.95)),
    "precision": (
        Policy(precision=(Precision("yes", "global", 0.8),)),
        Policy(precision=(Precision("yes", "local", 0.9),)),
    ),
    "capacity": (Policy(capacity_global=0.6), Policy(capacity_local=0.5)),
}


@pytest.mark.parametrize("kind", ASKED)
def test_whatever_a_policy_asks_is_judged(kind):
    """The model's own answers: .8 and .9 found, precision .8 to .82, .525 answered yes."""
    counts = ClientCounts(np.array([PEOPLE] * 2), ("north", "south"), ("f", "m"), ("no", "yes"))
    fair = predictor_of(FairnessProgram(counts, "eop", "simplex").solve(1.0, 1.0))
    few = replace(counts, table=counts.table // 1000)
    kept, broken = ASKED[kind]
    for policy, people, word in (
        (kept, counts, "met"),
        (kept, few, "not sure yet"),
        (broken, counts, "not met"),
    ):
        if policy is None:
            continue
        verdict = evaluate(fair, people, PolicyFile("eop", policy=policy)).verdict
        assert verdict.word == word, (kind, word, verdict.why)
        gate = Gate.of(verdict, "eop")
        cases = ElementTree.fromstring(gate.to_junit())
        assert len(cases) == 1 + len(verdict.besides) > 1
        assert gate.code == CODES[word]
        one = verdict.besides[0]
        assert one.state == {"met": "kept", "not met": "broken"}.get(word, "cannot be told")
        assert one.low <= one.value <= one.high
        if word != "met":
            assert one.what in gate.to_github() and one.what in verdict.why


def test_a_label_that_is_found_less_often_than_kept_fails():
    counts = ClientCounts(np.array([PEOPLE] * 2), ("north", "south"), ("f", "m"), ("no", "yes"))
    fair = predictor_of(FairnessProgram(counts, "eop", "simplex").solve(1.0, 0.0))  # levels down
    asked = PolicyFile("eop", eps_local=0.0, policy=Policy(floors=(Floor("yes", keeps=0.02),)))
    verdict = evaluate(fair, counts, asked).verdict
    (north, south) = verdict.broken_besides
    assert (north.group, south.group, round(north.value, 2)) == ("m", "m", -0.1)
    assert not verdict.broken and verdict.word == "not met"


def test_other_groupings_are_judged():
    names = tuple(f"{sex} · {race}" for sex in "fm" for race in "ab")
    table = np.array([[PEOPLE[0], PEOPLE[0], PEOPLE[1], PEOPLE[1]]])
    counts = ClientCounts(
        table, ("all",), names, ("no", "yes"), grouping=Grouping.of_names(("sex", "race"), names)
    )
    fair = predictor_of(FairnessProgram(counts, "eop", "simplex").solve(1.0, 1.0))
    for grouping, gap, word in (("race", 0.0, "met"), ("sex", 0.1, "not met")):
        asked = Policy(limits=(GroupingLimit(grouping, "local", 0.02),))
        verdict = evaluate(fair, counts, PolicyFile("eop", policy=asked)).verdict
        (one,) = verdict.besides
        assert (verdict.word, round(one.value, 9), one.client) == (word, gap, "all")


def test_a_confidence_stands_for_floors_that_were_solved_for():
    counts = synthetic(2, 2, 2, rows=4000)
    policy = Policy(floors=(Floor("l1", 0.3),))
    program = FairnessProgram(counts, "eop", guarantee=Guarantee(0.9), policy=policy)
    fair = predictor_of(program.solve(1.0, 0.3))
    for rate, kept in ((0.3, True), (0.2, True), (0.4, False)):
        asked = PolicyFile("eop", eps_local=0.3, policy=Policy(floors=(Floor("l1", rate),)))
        assert (evaluate(fair, counts, asked).verdict.guarantee is not None) is kept


def test_floors_that_rest_on_a_confidence_are_not_said_to_be_seen_kept():
    counts = synthetic(3, 2, 2, rows=600)
    policy = Policy(floors=(Floor("l1", 0.3),))
    program = FairnessProgram(counts, "eop", guarantee=Guarantee(), policy=policy)
    verdict = evaluate(predictor_of(program.solve(1.0, 1.0)), counts).verdict
    undecided = [one for one in verdict.besides if not one.is_kept]
    assert verdict.word == "met" and undecided
    output = len(verdict.besides) - len(undecided)
    assert "is kept" not in verdict.why
    assert verdict.why.startswith(
        "The floors were solved for with 95 % confidence; new people do not contradict them (for "
        f"{output} of {len(verdict.besides)} they are enough to tell on their own; "
    )
