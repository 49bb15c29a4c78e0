"""Rows whose group is missing: dropped, a group of their own, or the worst of what they may be."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairfl_core.data.counts import ClientCounts
from fairfl_core.data.weighting import NO_GROUP
from fairfl_core.errors import InputError
from fairfl_core.evaluation.evaluation import evaluate
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.predictors.kinds import predictor_of
from tests.cli.running import run

COLUMNS = {"client": "site", "group": "sex", "label": "truth", "prediction": "said"}


def people(n=300, seed=0, missing=12):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            name: rng.choice(list(of), n)
            for name, of in zip(("site", "sex", "truth"), ("xy", "fm", "01"), strict=True)
        }
    )
    wrong = rng.random(n) < np.where(frame["sex"] == "f", 0.3, 0.1)
    frame["said"] = np.where(wrong, np.where(frame["truth"] == "1", "0", "1"), frame["truth"])
    frame["sex"] = frame["sex"].astype(object)
    frame.loc[rng.choice(n, missing, replace=False), "sex"] = None
    return frame


def test_dropped_rows_are_as_if_they_were_not_there():
    frame = people()
    counts = ClientCounts.from_table(frame, **COLUMNS, missing_group="drop")
    without = ClientCounts.from_table(frame.dropna(), **COLUMNS)
    np.testing.assert_array_equal(counts.table, without.table)
    assert counts.missing.rows == 12 and "12 rows have no group" in counts.remarks()[0]
    with pytest.raises(InputError, match="--missing-group drop, own or bound"):
        ClientCounts.from_table(frame, **COLUMNS)
    with pytest.raises(InputError, match='not "guess"'):
        ClientCounts.from_table(frame, **COLUMNS, missing_group="guess")


def test_their_own_group_is_one_more():
    frame = people()
    counts = ClientCounts.from_table(frame, **COLUMNS, missing_group="own")
    named = ClientCounts.from_table(frame.fillna({"sex": NO_GROUP}), **COLUMNS)
    assert counts.groups == named.groups == ("f", "m", NO_GROUP)
    np.testing.assert_array_equal(counts.table, named.table)
    crossed = frame.assign(age=["old", "young", None] * 100)
    found = ClientCounts.from_table(
        crossed, **COLUMNS | {"group": ["sex", "age"]}, missing_group="own"
    )
    assert found.grouping.columns == ("sex", "age") and found.n == len(frame)
    assert f"f · {NO_GROUP}" in found.groups


@given(seed=st.integers(0, 10_000), notion=st.sampled_from(["sp", "eop", "eo"]))
def test_the_worst_gap_is_that_of_some_assignment(seed, notion):
    """Two groups and the model's own answers: every assignment of the rows is tried."""
    frame = people(60, seed, missing=3)
    if frame.dropna().groupby(["site", "sex", "truth"]).size().size < 8:
        return
    counts = ClientCounts.from_table(frame, **COLUMNS, missing_group="bound")
    own = predictor_of(FairnessProgram(counts, notion).solve())
    judged = evaluate(own, counts).before
    low, high = judged.unknown
    places = frame.index[frame["sex"].isna()]
    found = []
    for sexes in product("fm", repeat=len(places)):
        filled = frame.copy()
        filled.loc[places, "sex"] = list(sexes)
        gaps = evaluate(own, ClientCounts.from_table(filled, **COLUMNS)).before.gaps
        found.append([gaps.overall, *gaps.local])
    largest = np.max(found, axis=0)
    np.testing.assert_allclose(high, largest, atol=1e-12)
    assert (low <= np.min(found, axis=0) + 1e-12).all()


def test_a_verdict_counts_with_the_worst():
    frame = people(4000, missing=0)
    frame = pd.concat([frame, frame[frame["truth"] == "1"].head(300).assign(sex=None)])
    counts = ClientCounts.from_table(frame, **COLUMNS, missing_group="bound")
    fair = predictor_of(FairnessProgram(counts, "eop").solve(1.0, 0.05))
    surely = evaluate(fair, ClientCounts.from_table(frame.dropna(), **COLUMNS)).verdict
    unsurely = evaluate(fair, counts).verdict
    assert max(one.high for one in unsurely.limits) > max(one.high for one in surely.limits)


def test_check_and_count_agree(tmp_path):
    frame = people(400, missing=30)
    frame.to_csv(tmp_path / "rows.csv", index=False)
    named = [part for name, column in COLUMNS.items() for part in (f"--{name}", column)]
    rows = (tmp_path / "rows.csv", *named)
    assert run("count", *rows).code == 2
    refused = run("check", *rows, "--json").json["checks"][0]
    assert refused["look"] and "`fairfl count` refuses unless" in refused["sentence"]
    for rule in ("drop", "own", "bound"):
        out = tmp_path / f"{rule}.json"
        counted = run("count", *rows, "--missing-group", rule, "--out", out)
        output = run("check", *rows, "--missing-group", rule, "--json").json
        sentence = ClientCounts.read(out).remarks()[0]
        assert output["checks"][0]["sentence"] == sentence
        assert " ".join(sentence.split()) in " ".join(counted.out.split())
        assert output["groups"] == list(ClientCounts.read(out).groups)
    fair = tmp_path / "fair.json"
    solved = run("solve", tmp_path / "bound.json", "--eps-local", "0.2", "--out", fair, "--json")
    assert solved.went_well
    judged = run("evaluate", fair, tmp_path / "bound.json", "--json").json
    assert judged["missing_group"]["rows"] == 30
    low, high = judged["missing_group"]["gap_global"]
    assert low <= judged["gap"]["global"] <= high
    said = " ".join(run("evaluate", fair, tmp_path / "bound.json").out.split())
    assert "Whatever groups the rows without one have" in said
    assert run("check", *rows, "--missing-group", "guess").code == 2
