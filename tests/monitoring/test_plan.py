"""Which people next: the plan settles what was open, and nobody settles it with fewer."""

import json
from itertools import product

import numpy as np
import pytest

from fairfl_core.data.counts import ClientCounts
from fairfl_core.errors import InputError
from fairfl_core.evaluation.evaluation import evaluate
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.monitoring.plan import plan_people, unsettled_scopes
from fairfl_core.predictors.kinds import predictor_of
from tests.cli.running import run


def counts_of(rng, n, clients=3, groups=2):
    """A model that recognises groups alike, on so many people a cell; the first group is small."""
    table = np.zeros((clients, groups, 2, 2), int)
    for c, a in product(range(clients), range(groups)):
        people = n // 4 if a == 0 else n
        sick = rng.binomial(people, 0.4)
        found, false = rng.binomial(sick, 0.8), rng.binomial(people - sick, 0.15)
        table[c, a] = [[people - sick - false, false], [sick - found, found]]
    names = tuple(f"c{i}" for i in range(clients)), tuple(f"g{i}" for i in range(groups))
    return ClientCounts(table, *names, ("well", "ill"))


def judged(notion="eop", groups=2, n=800, eps_global=1.0, seed=0):
    rng = np.random.default_rng(seed)
    fitted = counts_of(rng, 20_000, groups=groups)
    fair = predictor_of(FairnessProgram(fitted, notion, "simplex").solve(eps_global, 0.05))
    return fair, evaluate(fair, counts_of(rng, n, groups=groups))


@pytest.mark.parametrize(("notion", "groups"), [("eop", 2), ("eo", 2), ("sp", 2), ("eop", 3)])
def test_with_the_people_planned_every_limit_can_be_told(notion, groups):
    _, evaluation = judged(notion, groups, n=600, eps_global=0.05)
    scopes = unsettled_scopes(evaluation)
    plan = plan_people(evaluation)
    assert scopes and len(plan.cost) == len(scopes)
    assert plan.total == sum(cell.more for cell in plan.cells) == plan.curve[-1][0]
    assert plan.curve[-1][1] == len(scopes)
    rates, names = evaluation.notion.rates, evaluation.counts.groups
    for scope in scopes:
        people = scope.people.copy()
        for cell in plan.cells:
            if scope.limit.client not in (None, cell.client):
                continue
            for r, rate in enumerate(rates):
                if rate.label == cell.label:
                    people[names.index(cell.group), r] += cell.more
        assert not scope.is_settled(scope.people)
        assert scope.is_settled(people)


def test_no_other_split_of_fewer_people_settles_a_limit():
    """Against every split, in tens: at most one in fifty fewer than the plan (it rounds up)."""
    _, evaluation = judged(n=900)
    scope = unsettled_scopes(evaluation)[0]
    planned = int((scope.least(False) - scope.people).sum())
    fewer = int(planned * 0.97) // 10 * 10
    for first in range(0, fewer + 1, 10):
        people = scope.people + np.array([[first], [fewer - first]])
        assert not scope.is_settled(people)


def test_the_command_says_what_the_core_says(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    fair, evaluation = judged()
    fair.write("p.json")
    evaluation.counts.write("c.json")
    value = json.loads(run("plan", "p.json", "c.json", "--fitted", "c.json", "--json").out)
    plan = plan_people(evaluation)
    assert value["total"] == plan.total
    assert [cell["more"] for cell in value["cells"]] == [cell.more for cell in plan.cells]
    assert value["certainty"]["then"] >= value["certainty"]["now"] - 1e-9
    ended = run("plan", "p.json", "c.json")
    assert ended.code == 0 and f"{plan.total:,} more people" in " ".join(ended.out.split())


def test_nothing_is_planned_where_nothing_was_asked():
    counts = counts_of(np.random.default_rng(0), 500)
    fair = predictor_of(FairnessProgram(counts, "eop", "simplex").solve(1.0, 1.0))
    with pytest.raises(InputError, match="no limit was asked"):
        plan_people(evaluate(fair, counts))


def test_nothing_is_planned_on_noised_counts():
    fair, evaluation = judged()
    noised = ClientCounts(
        evaluation.counts.table + 0.5,
        *(evaluation.counts.clients, evaluation.counts.groups, evaluation.counts.labels),
        noisy=True,
    )
    with pytest.raises(InputError, match="carry noise, which more people do not settle"):
        plan_people(evaluate(fair, noised))
