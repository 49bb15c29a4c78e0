"""The best rules without chance, against every choice of thresholds."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from fairfl_core.data.counts import ClientCounts
from fairfl_core.errors import InfeasibleError, InputError
from fairfl_core.evaluation.evaluation import evaluate
from fairfl_core.lp.guarantee import Guarantee
from fairfl_core.lp.policy import Floor, Policy
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.predictors.kinds import predictor_from_json, predictor_of
from fairfl_core.predictors.without_chance import without_chance
from tests.cli.running import run
from tests.helpers.scored import scored_network
from tests.helpers.strategies import synthetic


def _rates(answered, label, group, notion, favourable):
    wanted = label == favourable if notion == "eop" else np.ones(len(label), bool)
    return [(answered[wanted & (group == a)] == favourable).mean() for a in (0, 1)]


def _best(people, notion, eps, score):
    """Every pair of thresholds of one client with two groups."""
    cuts = [np.append(-1.0, np.unique(score[people.group == a])) for a in (0, 1)]
    favourable, best = people.labels.index(people.favourable), -1.0
    for pair in product(*cuts):
        answered = (score > np.array(pair)[people.group]).astype(int)
        low, high = sorted(_rates(answered, people.label, people.group, notion, favourable))
        if high - low <= eps + 1e-9:
            best = max(best, float((answered == people.label).mean()))
    return best


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("notion", "eps"), [("sp", 0.05), ("eop", 0.02), ("eop", 0.2)])
def test_thresholds_of_one_client_are_the_best_of_all(seed, notion, eps):
    people = scored_network(1, 2, 2, rows=60, seed=seed)
    solution = FairnessProgram(people, notion, "exact", rates="labels").solve(1.0, eps)
    lottery = predictor_of(solution)
    found = without_chance(lottery, people)
    score = people.scores_by(lottery.calibration)[:, 1]
    assert found.predictor.reached.accuracy == pytest.approx(_best(people, notion, eps, score))
    judged = evaluate(predictor_from_json(found.predictor.to_json()), people)
    assert judged.accuracy == pytest.approx(found.predictor.reached.accuracy)
    assert set(np.unique(judged.squares - judged.confusion)) <= {0.0}  # nobody draws
    assert judged.gaps.local_worst <= eps + 1e-9
    assert found.price >= -1e-6


@pytest.mark.parametrize("region", ["simplex", "kernel"])
def test_rules_of_answers_are_the_best_of_all(region):
    counts = synthetic(2, 2, 2, rows=300, seed=4)
    table = counts.table
    maps = [(0, 1), (0, 0), (1, 1), *([(1, 0)] if region == "kernel" else [])]
    for eps in ((0.05, 0.1), (1.0, 0.3), (0.2, 1.0)):
        solution = FairnessProgram(counts, "eop", region).solve(*eps)
        found = without_chance(predictor_of(solution), counts)
        best = 0.0
        for chosen in product(maps, repeat=4):
            lottery = np.eye(2)[np.array(chosen)].reshape(2, 2, 2, 2)
            judged = evaluate(replace(found.lottery, lottery=lottery), counts)
            within = judged.gaps.overall <= eps[0] and judged.gaps.local_worst <= eps[1]
            best = max(best, judged.accuracy * within)
        assert found.predictor.reached.accuracy == pytest.approx(best)
        assert table.sum() == found.predictor.reached.n


def test_floors_hold_without_chance_or_collide():
    counts = synthetic(2, 2, 2, rows=300, seed=2)
    policy = Policy(floors=(Floor("l1", 0.5),))
    fair = predictor_of(FairnessProgram(counts, "eop", policy=policy).solve(1.0, 0.3))
    found = without_chance(fair, counts)
    confusion = evaluate(found.predictor, counts).confusion
    assert (confusion[:, :, 1, 1] >= 0.5 * counts.n_label[:, :, 1] - 1e-9).all()
    high = max(counts.table[..., 1, 1].sum(axis=(0, 1)) / counts.n_label[..., 1].sum(), 0.0)
    tight = Policy(floors=(Floor("l1", float(high)), Floor("l0", 0.6)))
    with pytest.raises(InfeasibleError):
        without_chance(
            predictor_of(FairnessProgram(counts, "eop", policy=tight).solve(1.0, 0.9)), counts
        )


def test_what_it_is_not_found_for_is_said(tmp_path):
    many = synthetic(2, 2, 3)
    with pytest.raises(InputError, match="two labels"):
        without_chance(predictor_of(FairnessProgram(many, "eo").solve()), many)
    sure = FairnessProgram(synthetic(2, 2, 2), "eop", guarantee=Guarantee(0.9)).solve(1.0, 0.5)
    with pytest.raises(InputError, match="confidence"):
        without_chance(predictor_of(sure), sure.counts)
    path = synthetic(2, 2, 2, rows=900).write(tmp_path / "counts.json")
    asked = ("--notion", "eop", "--eps-local", "0.1", "--deterministic")
    output = run("solve", path, *asked, "--out", tmp_path / "fair.json", "--json").json
    assert output["deterministic"]["accuracy"] <= output["accuracy"] + 1e-9
    assert output["deterministic"]["price"] == pytest.approx(
        output["accuracy"] - output["deterministic"]["accuracy"]
    )
    judged = run("evaluate", tmp_path / "fair.json", path, "--json").json
    assert judged["accuracy"] == pytest.approx(output["deterministic"]["accuracy"])
    said = " ".join(run("solve", path, *asked).out.split())
    assert "Without chance: accuracy" in said and "With the lottery:" in said


def test_a_file_without_chance_claims_no_optimum(tmp_path):
    """A better lottery there is: a certificate would be one that `verify` refuses."""
    path = synthetic(2, 2, 2, rows=900).write(tmp_path / "counts.json")
    asked = ("--notion", "eop", "--eps-local", "0.05", "--deterministic")
    run("solve", path, *asked, "--out", tmp_path / "fair.json")
    refused = run("verify", tmp_path / "fair.json", path)
    assert refused.code == 1
    assert "has no certificate: none is made for rules without chance" in " ".join(
        refused.out.split()
    )


def test_who_is_worse_off_is_said_of_the_lottery_and_of_the_rules_apart(tmp_path):
    """Keeping the answers breaks the limit, so that without chance everybody is told alike."""
    table = [[[[800, 200], [200, 800]], [[800, 200], [400, 600]]]]
    counts = ClientCounts(np.array(table), ("all",), ("f", "m"), ("no", "yes"))
    path = counts.write(tmp_path / "counts.json")
    asked = ("--notion", "eop", "--eps-local", "0.15", "--deterministic")
    said = " ".join(run("solve", path, *asked).out.split())
    lottery, rules = said.split("Without chance:")
    assert "recognised in 0.0 %" not in lottery
    assert "recognised in 0.0 % of m, was 80.0 %" in rules
