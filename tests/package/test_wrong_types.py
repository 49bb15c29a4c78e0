"""Values of a wrong type end in our sentence, from Python as on the command line."""

import numpy as np
import pandas as pd
import pytest

import fairfl_core as fairfl
from fairfl_core.data.counts import ClientCounts
from fairfl_core.data.scored import ScoredData
from fairfl_core.errors import InputError
from fairfl_core.lp.guarantee import Guarantee
from fairfl_core.lp.policy import Floor, Policy
from fairfl_core.lp.policy_file import PolicyFile
from fairfl_core.lp.program import FairnessProgram
from tests.helpers.strategies import synthetic

COUNTS = synthetic(2, 2, 2)
ROWS = pd.DataFrame({"c": list("xxyy"), "g": list("abab"), "y": list("0101"), "p": list("0110")})
NAMED = {"client": "c", "group": "g", "label": "y", "prediction": "p"}
PROGRAM = FairnessProgram(COUNTS, "eo")
WRONG = {
    "arrays scalar": lambda: ClientCounts.from_arrays(5, 5, 5, 5),
    "arrays none": lambda: ClientCounts.from_arrays(None, None, None, None),
    "table None": lambda: ClientCounts.from_table(None, **NAMED),
    "table list": lambda: ClientCounts.from_table([1, 2], **NAMED),
    "table str": lambda: ClientCounts.from_table("rows.csv", **NAMED),
    "client int": lambda: ClientCounts.from_table(ROWS, **{**NAMED, "client": 3}),
    "group None": lambda: ClientCounts.from_table(ROWS, **{**NAMED, "group": None}),
    "group empty": lambda: ClientCounts.from_table(ROWS, **{**NAMED, "group": []}),
    "label list": lambda: ClientCounts.from_table(ROWS, **{**NAMED, "label": ["y"]}),
    "groups int": lambda: ClientCounts.from_table(ROWS, **NAMED, groups=3),
    "labels str": lambda: ClientCounts.from_table(ROWS, **NAMED, labels="01"),
    "scores str": lambda: ClientCounts.from_table(
        ROWS, client="c", group="g", label="y", scores="p"
    ),
    "weight int": lambda: ClientCounts.from_table(ROWS, **NAMED, weight=3),
    "threshold str": lambda: ClientCounts.from_table(
        ROWS.assign(q=[0.1, 0.2, 0.7, 0.9]),
        client="c",
        group="g",
        label="y",
        probability="q",
        threshold="x",
    ),
    "counts table str": lambda: ClientCounts("abc", ("a",), ("b", "c"), ("0", "1")),
    "counts clients int": lambda: ClientCounts(np.ones((1, 2, 2, 2)), 1, ("b", "c"), ("0", "1")),
    "counts names None": lambda: ClientCounts(np.ones((1, 2, 2, 2)), None, ("b", "c"), ("0", "1")),
    "eps str": lambda: PROGRAM.solve("x", 1),
    "eps None": lambda: PROGRAM.solve(None, None),
    "eps list": lambda: PROGRAM.solve([1], 1),
    "eps_local str": lambda: PROGRAM.solve(1, "x"),
    "eps_local nested": lambda: PROGRAM.solve(1, [[1], [2]]),
    "eps_local dict str": lambda: PROGRAM.solve(1, {"c0": "x", "c1": 1}),
    "notion int": lambda: FairnessProgram(COUNTS, 3),
    "notion list": lambda: FairnessProgram(COUNTS, ["eo"]),
    "counts ROWS": lambda: FairnessProgram(ROWS, "eo"),
    "counts None": lambda: FairnessProgram(None, "eo"),
    "policy dict": lambda: FairnessProgram(COUNTS, "eo", policy={}),
    "policy None": lambda: FairnessProgram(COUNTS, "eo", policy=None),
    "guarantee float": lambda: FairnessProgram(COUNTS, "eo", guarantee=0.9),
    "floors str": lambda: Policy(floors="x"),
    "floors one": lambda: Policy(floors=Floor("l1", 0.5)),
    "floor label int": lambda: FairnessProgram(
        COUNTS, "eo", policy=Policy(floors=(Floor(1, 0.5),))
    ),
    "ratio str": lambda: Policy(ratio_local="x"),
    "leave out None": lambda: Policy(ratio_leave_out=None),
    "utility str": lambda: FairnessProgram(COUNTS, "eo", policy=Policy(utility="accuracy")),
    "limits str": lambda: Policy(limits="race:local:.1"),
    "precision str": lambda: Policy(precision="x"),
    "capacity str": lambda: Policy(capacity_global="x"),
    "guarantee conf": lambda: Guarantee("x"),
    "guarantee scope": lambda: Guarantee(0.9, scope=3),
    "policyfile notion": lambda: PolicyFile(3),
    "policyfile eps": lambda: PolicyFile("eo", eps_global="x"),
    "policyfile policy": lambda: PolicyFile("eo", policy={}),
    "scored str": lambda: ScoredData.from_table(
        ROWS, client="c", group="g", label="y", scores=["p", "p"]
    ),
    "read int": lambda: ClientCounts.read(5),
    "read None": lambda: ClientCounts.read(None),
    "evaluate": lambda: fairfl.evaluate(5, COUNTS),
    "evaluate people": lambda: fairfl.evaluate(
        fairfl.Predictor.from_solution(PROGRAM.solve()), ROWS
    ),
    "frontier": lambda: fairfl.frontier(PROGRAM, eps_local="x", eps_global=[1]),
}


@pytest.mark.parametrize("given", WRONG.values(), ids=WRONG)
def test_a_wrong_type_ends_in_a_sentence(given):
    with pytest.raises(InputError) as refused:
        given()
    assert str(refused.value).endswith(".")
    assert "object has no attribute" not in str(refused.value)


def test_three_thousand_labels_end_in_a_sentence():
    many = [str(place) for place in range(3000)]
    rows = {"c": ["x"] * 3000, "g": ["a", "b"] * 1500, "y": many, "p": many}
    with pytest.raises(InputError, match="3,000 labels; at most 200"):
        ClientCounts.from_table(rows, **NAMED)
    with pytest.raises(InputError, match="3,000 labels"):
        ClientCounts(np.zeros((1, 2, 1, 1)), ("x",), ("a", "b"), tuple(many))
