"""The contract of `evaluate`: all that it promises to print."""

import json
from dataclasses import replace

import numpy as np
import pytest

from fairfl_core.data import experiments
from fairfl_core.data.counts import ClientCounts
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.predictors.kinds import FairPredictor
from tests.cli.running import run
from tests.helpers.strategies import synthetic


def test_evaluate_prints_one_object_with_all_it_promises(files):
    found = run("evaluate", files.predictor, files.counts, "--json").json
    assert set(found) >= {
        "format",
        "notion",
        "region",
        "epsilon",
        "reached",
        "n",
        "noisy",
        "level",
        "accuracy",
        "accuracy_interval",
        "model_accuracy",
        "gap",
        "model_gap",
        "clients",
        "groups",
        "rates",
        "not_assessable",
        "verdict",
        "harm",
        "alarms",
        "all_rates",
    }
    assert found["format"] == "fairfl-evaluation/1"
    assert found["n"] == 600
    low, high = found["accuracy_interval"]
    assert 0 <= low < found["accuracy"] < high <= 1
    gap = found["gap"]
    assert gap["global_interval"][0] <= gap["global"] <= gap["global_interval"][1]
    assert gap["global_one_draw"] >= gap["global"] - 1e-9
    assert {row["client"] for row in found["clients"]} == set(gap["local"])
    for row in found["clients"]:
        assert row["gap_low"] <= row["gap"] <= row["gap_high"]
        assert row["gap_one_draw"] >= row["gap"] - 1e-9
        assert row["noise_floor"] > 0
    changed = {row["group"]: row["changed"] for row in found["groups"]}
    assert set(changed) == {"f", "m"} and all(0 <= share <= 1 for share in changed.values())
    assert len(found["rates"]) == 3 * 2 * 2


@pytest.fixture(scope="module")
def disaster(tmp_path_factory):
    """HAM10000 in the paper's split and region, eo, .05 in each client and no overall limit."""
    folder = tmp_path_factory.mktemp("harm")
    experiment = experiments.open("ham10000")
    for split in ("validation", "test"):
        experiment.counts(0, split).write(folder / f"{split}.json")
    limits = ("--notion", "eo", "--eps-local", "0.05", "--out", folder / "fair.json")
    run("solve", folder / "validation.json", *limits)
    return folder / "fair.json", folder / "test.json"


def test_the_disaster_comes_first_in_text_and_file(disaster):
    found = run("evaluate", *disaster, "--json").json
    many = [alarm["n"] >= 10 for alarm in found["alarms"]]
    assert many == sorted(many, reverse=True)  # on fewer people they never lead
    sure = [alarm["people"] for alarm in found["alarms"] if alarm["beyond_chance"]]
    assert sure and sure == sorted(sure, reverse=True)
    first = next(
        a for a in found["alarms"] if (a["kind"], a["client"]) == ("attention", "under 35")
    )
    assert (first["kind"], first["client"], first["answer"]) == ("attention", "under 35", "mole")
    assert first["attention"] < 0.1 and first["answer_share"] > 0.99
    lost = {
        (alarm["client"], alarm["group"], alarm["label"]): alarm
        for alarm in found["alarms"]
        if alarm["kind"] == "recognition"
    }
    cancer = lost["under 35", "women", "cancer or pre-cancer"]
    assert (cancer["before"], cancer["after"], cancer["n"]) == (0.25, 0.0, 8)
    assert cancer["collapse"] and not cancer["beyond_chance"]  # eight women are eight women
    recognition = {
        (row["client"], row["group"], row["label"]): row for row in found["harm"]["recognition"]
    }
    for place, alarm in lost.items():
        assert recognition[place]["after"] == alarm["after"] and recognition[place]["alarm"]
    text = " ".join(run("evaluate", *disaster).out.split())
    assert text.startswith(f"SOMEONE IS WORSE OFF. {' '.join(found['harm']['sentence'].split())}")
    assert " gains " not in text
    word, why = found["verdict"]["word"], found["verdict"]["why"]
    assert word in ("met but harmful", "not met") and "eople are hurt in " in why
    assert f"{word.upper()}. {' '.join(why.split())}" in text


def test_nobody_gains_where_cancer_is_no_longer_recognised(tmp_path):
    young = experiments.open("ham10000").counts(0, "validation").select_clients(("under 35",))
    young.write(tmp_path / "young.json")
    fair = tmp_path / "fair.json"
    limits = ("--notion", "eo", "--eps-local", "0.05", "--out", fair)
    solved = " ".join(run("solve", tmp_path / "young.json", *limits).out.split())
    judged = " ".join(run("evaluate", fair, tmp_path / "young.json").out.split())
    for text in (solved, judged):
        assert text.startswith("SOMEONE IS WORSE OFF. under 35: almost whatever the model says, ")
        assert "gains on average" in text and ", but in under 35 " in text
        assert "gains on average" not in text.replace("gains on average", "", 1)


def test_nothing_is_alarming_where_nothing_is_asked(files, tmp_path):
    counts = json.loads(files.counts.read_text("utf-8"))
    value = FairnessProgram(ClientCounts.from_json(counts), "eo").solve(1.0, 1.0)
    same = FairPredictor.from_solution(value)
    keep = np.broadcast_to(np.eye(2), same.lottery.shape)
    replace(same, lottery=keep).write(tmp_path / "same.json")
    found = run("evaluate", tmp_path / "same.json", files.counts, "--json").json
    assert found["alarms"] == [] and found["harm"]["closed_gaps"] == []
    assert found["harm"]["sentence"] == ""
    assert "WORSE OFF" not in run("evaluate", tmp_path / "same.json", files.counts).out


def test_noised_counts_settle_nothing_and_are_never_called_people(tmp_path):
    true, noisy, fair = (tmp_path / name for name in ("true.json", "noisy.json", "fair.json"))
    synthetic(5, 2, 2, rows=400, seed=1).write(true)
    limits = ("--eps-local", "0.05", "--eps-global", "0.05")
    run("solve", true, *limits, "--out", fair)
    for seed in range(5):
        run("privatize", true, "--epsilon", "0.1", "--seed", seed, "--out", noisy)
        found = run("evaluate", fair, noisy, "--json").json
        assert found["noisy"] and found["verdict"]["word"] == "not sure yet"
        assert "carry noise" in found["verdict"]["why"]
        assert not any(alarm["beyond_chance"] for alarm in found["alarms"])
        words = {row["word"] for row in found["all_rates"]["notions"]}
        assert words <= {"not sure yet", "unchanged"}
    for command in (("evaluate", fair, noisy), ("solve", noisy, *limits), ("check", noisy)):
        said = " ".join(run(*command).out.split())
        assert "NOT SURE YET" in said or command[0] == "check"
        assert "people" not in said.replace("hold no people to set aside", "")


def test_where_no_client_has_a_gap_none_is_shown(files):
    """Men only in one clinic, women only in another: each is alone, so nothing is compared."""
    value = json.loads(files.counts.read_text("utf-8"))
    value["clients"] = value["clients"][:2]
    for absent, client in enumerate(value["clients"]):
        client["counts"][absent] = np.zeros((2, 2), int).tolist()
    (files / "alone.json").write_text(json.dumps(value), "utf-8")
    found = run("evaluate", files.predictor, files / "alone.json", "--json").json
    assert found["gap"]["local_worst"] is None and found["gap"]["global"] > 0
    assert "none to none" in run("evaluate", files.predictor, files / "alone.json").out
