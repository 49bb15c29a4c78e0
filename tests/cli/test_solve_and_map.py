"""The contracts of `solve` and `map`: keys, precision, prices."""

import json

import numpy as np
import pytest

from tests.cli.running import each_for_people, is_number, run


def check_solution(found, clients):
    """The keys of the contract; others may stand beside them."""
    assert set(found) >= {
        "format",
        "status",
        "notion",
        "region",
        "epsilon",
        "n",
        "accuracy",
        "model_accuracy",
        "gap",
        "price",
        "binding",
        "not_assessable",
    }
    assert (found["format"], found["status"]) == ("fairfl-solution/1", "optimal")
    assert set(found["epsilon"]) == {"global", "local"}
    assert set(found["gap"]) >= {"global", "local", "local_mean", "local_worst"}
    assert set(found["price"]) == {"global", "local"}
    for part in ("epsilon", "gap", "price"):
        assert set(found[part]["local"]) == set(clients)
    for number in (
        found["accuracy"],
        found["model_accuracy"],
        found["epsilon"]["global"],
        found["price"]["global"],
        *found["epsilon"]["local"].values(),
        *found["price"]["local"].values(),
    ):
        assert is_number(number) and number >= 0
    for gap in (
        found["gap"]["global"],
        found["gap"]["local_mean"],
        *found["gap"]["local"].values(),
    ):
        assert gap is None or (is_number(gap) and 0 <= gap <= 1)
    assert all(isinstance(name, str) for name in found["binding"])
    for cell in found["not_assessable"]:
        assert set(cell) == {"client", "group", "label", "n"}
        assert isinstance(cell["client"], str) and isinstance(cell["group"], str)
        assert cell["label"] is None or isinstance(cell["label"], str)
        assert cell["n"] == 0


@pytest.mark.parametrize(
    ("notion", "region"),
    [(notion, region) for notion in ("sp", "eop", "eo") for region in ("simplex", "kernel")]
    + [("eo-full", "kernel")],
)
def test_solve_prints_the_contract(files, notion, region):
    found = run(
        "solve",
        files.counts,
        "--notion",
        notion,
        "--region",
        region,
        "--eps-global",
        "0.01",
        "--eps-local",
        "0.02",
        "--eps-local-client",
        "east=0.05",
        "--json",
    ).json
    check_solution(found, ["north", "south", "east"])
    assert (found["notion"], found["region"]) == (notion, region)
    asked = {"north": 0.02, "south": 0.02, "east": 0.05}
    assert found["epsilon"] == {"global": 0.01, "local": asked}
    assert found["gap"]["global"] <= 0.01 + 1e-7
    local = found["gap"]["local"]
    assert all(local[name] <= asked[name] + 1e-7 for name in asked)
    assert found["gap"]["local_mean"] == pytest.approx(np.mean(list(local.values())))
    worst = found["gap"]["local_worst"]
    assert set(worst) == {"client", "gap"}
    assert local[worst["client"]] == worst["gap"] == max(local.values())
    assert found["not_assessable"] == []
    for scope, price in (
        ("global", found["price"]["global"]),
        ("local east", found["price"]["local"]["east"]),
    ):
        assert any(name.startswith(f"{scope}:") for name in found["binding"]) == (price > 1e-9)


def test_solve_names_what_cannot_be_assessed(files):
    value = json.loads(files.counts.read_text("utf-8"))
    east, north, south = value["clients"]
    east["counts"][0] = [[0, 0], [0, 0]]  # no women at all
    south["counts"][1][1] = [0, 0]  # no man with the label "yes"
    (files / "holes.json").write_text(json.dumps(value), "utf-8")
    found = run("solve", files / "holes.json", "--eps-local", "0.01", "--json").json
    check_solution(found, ["east", "north", "south"])
    assert {tuple(cell.values()) for cell in found["not_assessable"]} == {
        ("east", "f", "no", 0),
        ("east", "f", "yes", 0),
        ("south", "m", "yes", 0),
    }
    assert found["gap"]["local"]["east"] is None
    assert found["gap"]["local"]["south"] is not None
    assert found["gap"]["local_worst"]["client"] != "east"
    for _, ended in each_for_people(files, files / "holes.json"):
        assert ended.went_well, ended


def test_solve_writes_a_predictor_that_does_what_it_said(files):
    out = files / "fair.json"
    asked = ("--notion", "eo", "--eps-global", "0.01", "--eps-local", "0.03", "--out", out)
    solved = run("solve", files.counts, *asked, "--json").json
    value = json.loads(out.read_text("utf-8"))
    assert value["format"] == "fairfl-predictor/1"
    assert value["reached"]["accuracy"] == solved["accuracy"]
    lottery = np.array([client["lottery"] for client in value["clients"]])
    assert lottery.shape == (3, 2, 2, 2)
    assert lottery.min() >= 0
    np.testing.assert_allclose(lottery.sum(axis=3), 1, atol=1e-12)
    judged = run("evaluate", out, files.counts, "--json").json
    assert judged["accuracy"] == pytest.approx(solved["accuracy"], abs=1e-9)
    assert judged["model_accuracy"] == pytest.approx(solved["model_accuracy"], abs=1e-12)
    assert judged["gap"]["global"] == pytest.approx(solved["gap"]["global"], abs=1e-9)
    assert judged["gap"]["local"] == pytest.approx(solved["gap"]["local"], abs=1e-9)


# -------------------------------------------------------------------- map


@pytest.mark.parametrize(
    ("notion", "region"),
    [("eo", "simplex"), ("eop", "simplex"), ("sp", "kernel"), ("eo-full", "kernel")],
)
def test_map_has_a_row_for_eps_local_and_a_column_for_eps_global(files, notion, region):
    chosen = ("--notion", notion, "--region", region)
    found = run("map", files.counts, *chosen, "--epsilons", "0,0.03,0.1", "--json").json
    assert set(found) == {"epsilons", "accuracy", "guarantee", "policy"}
    assert found["guarantee"] is None and found["policy"] is None
    assert found["epsilons"] == [0.0, 0.03, 0.1]
    accuracy = np.array(found["accuracy"])
    assert accuracy.shape == (3, 3)
    assert abs(accuracy - accuracy.T).max() > 1e-4  # else rows and columns could be exchanged
    for i, local in enumerate(found["epsilons"]):
        for j, overall in enumerate(found["epsilons"]):
            asked = ("--eps-local", local, "--eps-global", overall, "--json")
            solved = run("solve", files.counts, *chosen, *asked).json
            assert accuracy[i, j] == pytest.approx(solved["accuracy"], abs=1e-8)


def test_a_table_without_its_columns_is_not_taken_for_a_histogram(files):
    ended = run("solve", files.rows, "--region", "exact")
    assert ended.code == 2
    assert "(missing: --client, --group, --label, --scores)" in " ".join(ended.err.split())
