"""The contract of `evaluate`: all that it promises to print."""

import json

import numpy as np
import pytest

from tests.cli.running import is_number, run


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


def test_evaluate_does_not_care_for_the_order_of_names(files):
    value = json.loads(files.counts.read_text("utf-8"))
    for client in value["clients"]:
        client["counts"] = np.array(client["counts"])[::-1, ::-1, ::-1].tolist()
    for key in ("clients", "groups", "labels"):
        value[key] = value[key][::-1]
    (files / "turned.json").write_text(json.dumps(value), "utf-8")
    asis = run("evaluate", files.predictor, files.counts, "--json").json
    turned = run("evaluate", files.predictor, files / "turned.json", "--json").json
    assert turned["accuracy"] == pytest.approx(asis["accuracy"], abs=1e-12)
    assert turned["gap"]["global"] == pytest.approx(asis["gap"]["global"], abs=1e-12)
    assert turned["gap"]["local"] == pytest.approx(asis["gap"]["local"], abs=1e-12)


def test_evaluate_takes_some_of_the_clients_and_empty_cells(files):
    value = json.loads(files.counts.read_text("utf-8"))
    del value["clients"][0]
    value["clients"][0]["counts"][0] = [[0, 0], [0, 0]]
    (files / "some.json").write_text(json.dumps(value), "utf-8")
    found = run("evaluate", files.predictor, files / "some.json", "--json").json
    assert found["gap"]["local"]["north"] is None
    assert is_number(found["gap"]["local"]["south"])
    assert len(found["not_assessable"]) == 2
