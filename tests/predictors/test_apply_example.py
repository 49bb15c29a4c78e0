"""The example that clients copy gives every person the answer that the package gives."""

import ast
import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from fairfl_core.intake import example_table, experiment_from_table, guess_roles, open_table
from fairfl_core.people import experiments
from fairfl_core.people.scored import ScoredPeople
from fairfl_core.predictors.answer_predictor import FairPredictor
from fairfl_core.predictors.load import predictor_of
from fairfl_core.solving.answer_program import FairnessProgram
from fairfl_core.solving.build import build_program
from fairfl_core.solving.policy import NOTHING_MORE, Policy

TOP = Path(__file__).resolve().parents[2]
EXAMPLE = TOP / "docs" / "apply_predictor.py"


@pytest.fixture(scope="module")
def answer():
    space = {}
    exec(compile(EXAMPLE.read_text(), str(EXAMPLE), "exec"), space)
    return space["answer"]


@pytest.fixture(scope="module")
def people():
    return list(csv.DictReader(io.StringIO(example_table())))


def fitted(region, policy=NOTHING_MORE):
    upload = open_table("e.csv", example_table().encode())
    counts = experiment_from_table(upload, guess_roles(upload)).experiment.counts(0, "validation")
    program = FairnessProgram(counts, "eo", region, policy=policy)
    return FairPredictor.from_solution(program.solve(0.01, 0.03))


def test_it_is_fifty_lines_without_a_package():
    tree = ast.parse(EXAMPLE.read_text())
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    texts = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.Module)]
    code = [line for line in EXAMPLE.read_text().splitlines() if line.strip()]
    assert len(code) - len(texts) <= 57  # with some lines of docstrings


@pytest.mark.parametrize("notion", ["sp", "eo", "eo-full"])
@pytest.mark.parametrize("name", ["adult", "ham10000"])
def test_the_exact_regions_answers_are_the_packages_too(answer, name, notion):
    scored = ScoredPeople.from_experiment(experiments.open(name), 0, "validation")
    fair = predictor_of(build_program(scored, notion, "exact").solve(0.02, 0.03))
    predictor = json.loads(json.dumps(fair.to_json()))
    tested = ScoredPeople.from_experiment(experiments.open(name), 0, "test")
    rows = np.random.default_rng(0).choice(len(tested), 300, replace=False)
    clients = np.array(tested.clients, object)[tested.client[rows]]
    groups = np.array(tested.groups, object)[tested.group[rows]]
    wanted = fair.decide(clients, groups, tested.scores[rows], row_id=rows)
    mine = [
        answer(predictor, client, group, list(scores), row)
        for client, group, scores, row in zip(
            clients, groups, tested.scores[rows].tolist(), rows, strict=True
        )
    ]
    assert (np.array(mine, object) == wanted).all()
    own = np.array(tested.labels, object)[tested.scores[rows].argmax(axis=1)]
    assert (wanted != own).any()


@pytest.mark.parametrize("region", ["simplex", "kernel"])
def test_same_answers_as_the_package(answer, people, region):
    fair = fitted(region)
    predictor = json.loads(json.dumps(fair.to_json()))
    columns = {name: [row[name] for row in people] for name in people[0]}
    wanted = fair.decide(
        columns["hospital"], columns["sex"], columns["prediction"], row_id=columns["patient"]
    )
    mine = [
        answer(predictor, row["hospital"], row["sex"], row["prediction"], row["patient"])
        for row in people
    ]
    assert (np.array(mine, object) == wanted).all()
    assert (np.array(mine, object) != np.array(columns["prediction"], object)).any()


def test_any_group_does_where_the_group_is_not_asked_for(answer, people):
    """What its docstring says of a predictor made with --without-group."""
    fair = fitted("kernel", Policy(without_group=True))
    predictor = json.loads(json.dumps(fair.to_json()))
    columns = {name: [row[name] for row in people] for name in people[0]}
    wanted = fair.decide(
        columns["hospital"], None, columns["prediction"], row_id=columns["patient"]
    )
    for group in predictor["groups"]:
        mine = [
            answer(predictor, row["hospital"], group, row["prediction"], row["patient"])
            for row in people
        ]
        assert (np.array(mine, object) == wanted).all()


def test_same_answers_as_the_command(answer, people, tmp_path):
    fair = fitted("kernel")
    fair.write(tmp_path / "predictor.json")
    (tmp_path / "rows.csv").write_text(example_table())
    columns = ("--client", "hospital", "--group", "sex", "--prediction", "prediction")
    files = ("predictor.json", "rows.csv", "--out", "fair.csv")
    subprocess.run(
        [sys.executable, "-m", "fairfl_core", "predict", *files, *columns, "--row-id", "patient"],
        cwd=tmp_path,
        check=True,
        env=os.environ | {"PYTHONPATH": str(TOP)},
        capture_output=True,
    )
    rows = list(csv.DictReader(io.StringIO((tmp_path / "fair.csv").read_text())))
    predictor = json.loads((tmp_path / "predictor.json").read_text())
    for row in rows:
        args = (row["hospital"], row["sex"], row["prediction"], row["patient"])
        assert answer(predictor, *args) == row["answer"]
