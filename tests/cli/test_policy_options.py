"""The options that ask for more than two epsilons, and how a collision ends."""

import json

import numpy as np
import pytest

from fairfl_core.data.counts import ClientCounts
from fairfl_core.lp.guarantee import Guarantee
from fairfl_core.lp.policy import Floor, Policy
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.lp.utility import BALANCED
from tests.cli.running import run
from tests.helpers.strategies import synthetic


@pytest.fixture
def counts_file(tmp_path):
    return str(synthetic(3, 2, 2, rows=900, seed=5).write(tmp_path / "counts.json"))


def test_floors_ratios_and_utilities_are_asked_for_by_options(counts_file, tmp_path):
    """Each option reaches the program: the same numbers as from Python."""
    counts = ClientCounts.read(counts_file)
    label = counts.labels[0]
    gain = {"labels": list(counts.labels), "gain": (3 * np.eye(len(counts.labels))).tolist()}
    (tmp_path / "gains.json").write_text(json.dumps(gain))
    asked = (
        (["--floor", f"{label}=0.5"], Policy(floors=(Floor(label, 0.5),))),
        (["--keep", f"{label}=0.02"], Policy(floors=(Floor(label, keeps=0.02),))),
        (["--ratio-local", "0.9"], Policy(ratio_local=0.9)),
        (["--ratio-global", "0.95"], Policy(ratio_global=0.95)),
        (["--utility", "balanced"], Policy(utility=BALANCED)),
        (["--utility", str(tmp_path / "gains.json")], None),
    )
    for options, policy in asked:
        ours = run("solve", counts_file, "--eps-local", "0.1", *options, "--json").json
        if policy is None:
            assert ours["utility"]["value"] == pytest.approx(3 * ours["accuracy"])
            continue
        expected = FairnessProgram(counts, policy=policy).solve(1.0, 0.1)
        assert ours["accuracy"] == pytest.approx(expected.accuracy, abs=1e-12)
        assert ours["utility"] == expected.utility.to_json()
        assert ours["policy"] == policy.to_json()


def test_a_collision_ends_with_three_and_what_would_do(counts_file):
    counts = ClientCounts.read(counts_file)
    floors = [part for label in counts.labels for part in ("--keep", f"{label}=0")]
    limits = ["--notion", "eo", "--eps-local", "0", "--eps-global", "0"]
    ended = run("solve", counts_file, *limits, *floors, "--json")
    said = json.loads(ended.out)
    assert ended.code == 3
    assert said["status"] == "collision" and said["collides"]
    assert set(said["least_eps"]) == {"global", "local"}
    wider = ["--eps-local", str(said["least_eps"]["local"])]
    wider += ["--eps-global", str(said["least_eps"]["global"])]
    assert run("solve", counts_file, "--notion", "eo", *wider, *floors, "--json").went_well
    lower = [
        part
        for label, loss in said["highest_keep"].items()
        for part in ("--keep", f"{label}={loss}")
    ]
    assert run("solve", counts_file, *limits, *lower, "--json").went_well
    ended = run("solve", counts_file, *limits, *floors)
    assert ended.code == 3 and "collide" in ended.err
    grid = run("map", counts_file, "--epsilons", "0,1", *floors, "--json").json
    assert grid["accuracy"][0][0] is None and grid["accuracy"][1][1] is not None


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--floor", "nobody=0.5"], "no label"),
        (["--floor", "l0=1.5"], "between 0 and 1"),
        (["--keep", "l0"], "LABEL=NUMBER"),
        (["--ratio-local", "0"], "above 0"),
        (["--utility", "profit"], "no utility"),
        (["--limit", "race:local"], "GROUPING:SCOPE:EPS"),
        (["--limit", "race:local:0.1"], "race"),
        (["--precision", "l0:0.5"], "LABEL:SCOPE:RATE"),
        (["--precision", "l0:here:0.5"], "choose local"),
        (["--precision", "l0:local:2"], "between 0 and 1"),
        (["--precision", "nobody:local:0.5"], "no label"),
        (["--precision", "l0:local:0.5", "--precision", "l0:local:0.6"], "twice"),
        (["--capacity-global", "-1"], "between 0 and 1"),
    ],
)
def test_a_policy_that_cannot_be_is_one_sentence(counts_file, options, sentence):
    ended = run("solve", counts_file, *options)
    assert ended.code == 2
    assert sentence in ended.err and len(ended.err.strip().splitlines()) == 1


def test_evaluate_tells_the_utility_and_impact_ratios(counts_file, tmp_path):
    counts = ClientCounts.read(counts_file)
    out = str(tmp_path / "fair.json")
    solved = run(
        "solve",
        counts_file,
        "--utility",
        "balanced",
        "--ratio-global",
        "0.9",
        "--notion",
        "sp",
        "--out",
        out,
        "--json",
    ).json
    judged = run("evaluate", out, counts_file, "--json").json
    assert judged["policy"] == {"ratio_global": 0.9, "utility": "balanced"}
    assert judged["utility"]["value"] == pytest.approx(solved["utility"]["value"])
    assert judged["utility"]["model_value"] == pytest.approx(
        np.mean(np.einsum("cayy->y", counts.table) / counts.table.sum(axis=(0, 1, 3)))
    )
    overall = [row for row in judged["impact_ratios"]["groups"] if row["client"] is None]
    assert min(row["impact_ratio"] for row in overall) >= 0.9 - 1e-9
    assert run("evaluate", out, counts_file, "--leave-out", "2").code == 2
    assert "Impact ratios" in run("evaluate", out, counts_file).out


@pytest.mark.parametrize(
    ("options", "guarantee", "words"),
    [
        (
            ("0.9",),
            Guarantee(0.9, "all"),
            "with 90 % confidence no client's gap exceeds 0.3 (all limits at once, by measured",
        ),
        (
            ("0.8", "--confidence-scope", "each"),
            Guarantee(0.8, "each"),
            "kept with 80 % confidence (by measured margins): of 3 clients one or more may be",
        ),
        (
            ("0.8", "--confidence-proof", "proved"),
            Guarantee(0.8, proof="proved"),
            "no client's gap exceeds 0.3 (all limits at once, proved)",
        ),
    ],
)
def test_a_confidence_asked_for_by_options_is_that_of_the_program(
    files, options, guarantee, words
):
    counts = files.counts
    asked = ("--notion", "eop", "--eps-local", "0.3", "--confidence", *options)
    found = run("solve", counts, *asked, "--json").json
    expected = FairnessProgram(ClientCounts.read(counts), "eop", guarantee=guarantee).solve(
        1.0, 0.3
    )
    without = run("solve", counts, *asked[:4], "--json").json
    assert found["accuracy"] == pytest.approx(expected.accuracy, abs=1e-12)
    assert found["accuracy"] < without["accuracy"] - 1e-4
    assert found["guarantee"] == guarantee.to_json() and without["guarantee"] is None
    assert words in " ".join(run("solve", counts, *asked).out.split())
    grid = run("map", counts, "--notion", "eop", "--epsilons", "0.3,1", *asked[4:], "--json").json
    assert grid["accuracy"][0][1] == pytest.approx(expected.accuracy, abs=1e-9)
