"""Two hundred solves of small networks, kept as numbers: the inside may change, these may not.

Each line of solves.json is a question and its answer to six digits. `APPROVE=1 pytest
tests/golden/test_solves.py` writes the answers anew; git shows which ones a change moved. Whether
they are right is what oracles and properties say.
"""

import itertools
import json
import os
from pathlib import Path

import numpy as np
import pytest

from fairfl_core.errors import InfeasibleError
from fairfl_core.evaluation.evaluation import evaluate
from fairfl_core.lp.guarantee import Guarantee
from fairfl_core.lp.policy import Policy
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.predictors.kinds import predictor_of
from tests.helpers.small import people

FILE = Path(__file__).with_name("solves.json")
LIMITS = ((0.013, 0.047), (0.11, 0.023), (1.0, 0.083), (0.037, 1.0))


def questions():
    """What is asked: every region and notion, then everything that can be asked beside limits."""
    made = []

    def ask(limits=LIMITS, **question):
        made.extend(question | {"eps_global": g, "eps_local": c} for g, c in limits)

    for region, notion in itertools.product(("simplex", "kernel"), ("sp", "eop", "eo")):
        for labels, groups in ((2, 2), (3, 2), (2, 4)):
            ask(region=region, notion=notion, labels=labels, groups=groups)
    for labels in (2, 3):
        ask(region="kernel", notion="eo-full", labels=labels, groups=2)
    for notion, labels in itertools.product(("sp", "eop", "eo"), (2, 3)):
        ask(region="exact", notion=notion, labels=labels, groups=2, limits=LIMITS[: 5 - labels])
    for notion in ("sp", "eop"):
        ask(region="exact", notion=notion, labels=2, groups=4)
    for rates in ("scores", "shrunk"):
        ask(region="simplex", notion="eo", labels=2, groups=2, rates=rates, limits=LIMITS[:2])
    floor = {"floor": {"ill": 0.45}}
    keep = {"keep": {"ill": 0.08}}
    ratios = {"ratio_global": 0.8, "ratio_local": 0.7}
    wrong = {"name": "costs", "labels": ["well", "ill"], "gain": [[1, -2], [-5, 3]]}
    crossed = {"limits": ["sex:local:0.06"]}
    policies = (floor, keep, ratios, {"utility": wrong}, {"without_group": True})
    for policy, region in itertools.product(policies, ("simplex", "kernel", "exact")):
        ask(region=region, notion="eop", labels=2, groups=2, policy=policy)
    ask(region="simplex", notion="eo", labels=2, groups=4, policy=crossed)
    ask(region="kernel", notion="sp", labels=2, groups=4, policy=crossed)
    impossible = {"floor": {"ill": 0.9, "well": 0.9}}
    ask(region="simplex", notion="eo", labels=2, groups=2, policy=impossible, limits=LIMITS[:2])
    for scope, proof in itertools.product(("each", "all"), ("measured", "proved")):
        sure = {"confidence": 0.9, "scope": scope, "proof": proof}
        for region in ("simplex", "kernel", "exact"):
            ask(
                region=region,
                notion="eop",
                labels=2,
                groups=2,
                rows=4000,
                guarantee=sure,
                limits=((0.113, 0.21), (1.0, 0.17)),
            )
    return made


def answer(question):
    """What the core says: status, accuracy, gaps and prices, on the people it was fitted on."""
    who = people(question["labels"], question["groups"], rows=question.get("rows", 900))
    sure = question.get("guarantee")
    program = FairnessProgram(
        who if question["region"] == "exact" or "rates" in question else who.counts,
        question["notion"],
        question["region"],
        rates=question.get("rates", "labels"),
        guarantee=Guarantee(**sure) if sure else None,
        policy=Policy.from_json(question.get("policy", {})),
    )
    try:
        solution = program.solve(question["eps_global"], question["eps_local"])
    except InfeasibleError as error:
        return {"status": "collision", "least_local": _digits(error.infeasible.least_local)}
    found = evaluate(predictor_of(solution), program.people)
    return {
        "status": "optimal",
        "accuracy": _digits(found.accuracy),
        "gap_global": _digits(found.gaps.overall),
        "gaps_local": [_digits(gap) for gap in found.gaps.local],
        "price_global": _digits(solution.price_global),
        "prices_local": [_digits(price) for price in solution.price_local],
    }


def _digits(value):
    return None if value is None or np.isnan(value) else round(float(value), 6) + 0.0


def _name(question):
    words = [question["region"], question["notion"], question["labels"], question["groups"]]
    words += [key for key in ("rates", "policy", "guarantee") if key in question]
    return "-".join(map(str, [*words, question["eps_global"], question["eps_local"]]))


if os.environ.get("APPROVE"):
    lines = [json.dumps({"question": one, "answer": answer(one)}) for one in questions()]
    FILE.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")
KEPT = json.loads(FILE.read_text(encoding="utf-8"))


@pytest.mark.parametrize("kept", KEPT, ids=[_name(kept["question"]) for kept in KEPT])
def test_a_solve_is_as_it_was(kept):
    found, expected = answer(kept["question"]), kept["answer"]
    assert found.keys() == expected.keys() and found["status"] == expected["status"]
    for name, value in expected.items():
        if name != "status":
            now = [np.nan if one is None else one for one in np.atleast_1d(found[name])]
            kept_as = [np.nan if one is None else one for one in np.atleast_1d(value)]
            np.testing.assert_allclose(now, kept_as, atol=2e-6, err_msg=name)


def test_two_hundred_questions_are_kept():
    assert [kept["question"] for kept in KEPT] == questions()
    assert len(KEPT) >= 200
