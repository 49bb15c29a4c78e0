"""The example that clients copy gives every person the answer that the package gives."""

import ast
import json
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fairfl_core.data import experiments
from fairfl_core.data.scored import ScoredData
from fairfl_core.lp.policy import Policy
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.predictors.kinds import predictor_of
from fairfl_core.predictors.without_chance import without_chance
from tests.cli.running import run
from tests.helpers.scored import scored_network

TOP = Path(__file__).resolve().parents[2]
EXAMPLE = TOP / "docs" / "apply_predictor.py"


@pytest.fixture(scope="module")
def answer():
    space = {}
    exec(compile(EXAMPLE.read_text(), str(EXAMPLE), "exec"), space)
    return space["answer"]


def test_it_is_short_and_without_a_package():
    tree = ast.parse(EXAMPLE.read_text())
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    own = ["from hashlib import blake2b", "from math import exp"]  # Python's own
    assert [ast.unparse(node) for node in imports] == own
    texts = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.Module)]
    code = [line for line in EXAMPLE.read_text().splitlines() if line.strip()]
    assert len(code) - len(texts) <= 100  # with some lines of docstrings


@pytest.mark.parametrize("notion", ["sp", "eo", "eo-full"])
@pytest.mark.parametrize("name", ["adult", "ham10000"])
def test_the_exact_regions_answers_are_the_packages_too(answer, name, notion):
    scored = ScoredData.from_experiment(experiments.open(name), 0, "validation")
    fair = predictor_of(FairnessProgram(scored, notion, "exact").solve(0.02, 0.03))
    predictor = json.loads(json.dumps(fair.to_json()))
    tested = ScoredData.from_experiment(experiments.open(name), 0, "test")
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


def test_a_threshold_that_is_somebodys_score_answers_as_the_package(answer):
    """Without chance a threshold lies on a recalibrated score, which many people share."""
    people = scored_network(2, 2, 2, rows=400)
    program = FairnessProgram(people, "eop", "exact")
    fair = without_chance(predictor_of(program.solve(0.05, 0.1)), people).predictor
    predictor = json.loads(json.dumps(fair.to_json()))
    clients = np.array(people.clients, object)[people.client]
    groups = np.array(people.groups, object)[people.group]
    rows = np.arange(len(people))
    wanted = fair.decide(clients, groups, people.scores, row_id=rows)
    seen = zip(clients, groups, people.scores.tolist(), rows.tolist(), strict=True)
    assert [answer(predictor, *one) for one in seen] == list(wanted)


NUMBERED = {"9": 9.0, "10": 10.0}  # clients that a table holds as numbers
KINDS = [
    (region, notion, labels, blind)
    for region, notion, labels, blind in product(
        ("simplex", "kernel", "exact"), ("sp", "eo-full"), (2, 3), (False, True)
    )
    if (region, notion) != ("simplex", "eo-full")
    and not (region == "exact" and blind and labels > 2)
]
SALT = "f3c1d0b2-a secret text"
IDS = {
    "int": lambda n: np.arange(n) * 7,
    "float": lambda n: np.arange(n) / 2,
    "str": lambda n: [("p%d", "%d.0", "0%d", "%d é", "-%d.00")[k % 5] % k for k in range(n)],
}


@pytest.mark.parametrize("folds", [1, 3])
@pytest.mark.parametrize(("region", "notion", "labels", "blind"), KINDS)
def test_every_kind_of_predictor_answers_as_predict_does(
    answer, tmp_path, region, notion, labels, blind, folds
):
    models = [
        replace(scored_network(2, 2, labels, rows=60, seed=seed), clients=tuple(NUMBERED))
        for seed in range(folds)
    ]
    people = replace(models[0], folds=folds)
    policy = Policy(without_group=True) if blind else Policy()
    fair = predictor_of(FairnessProgram(people, notion, region, policy=policy).solve(0.02, 0.05))
    (tmp_path / "salt").write_text(SALT + "\n")
    clients = [NUMBERED[people.clients[c]] for c in people.client]
    groups = np.array(people.groups, object)[people.group]
    rows = pd.DataFrame({"site": clients, "sex": groups})
    for j, model in enumerate(models):
        rows[f"said{j}"] = np.array(people.labels, object)[model.predicted]
        for y, label in enumerate(people.labels):
            rows[f"{label}_{j}"] = model.scores[:, y]
    each = [f"{label}_{j}" for j in range(folds) for label in people.labels]
    looks = (
        ("--scores", each)
        if fair.needs_scores
        else ("--prediction", list(rows.filter(like="said")))
    )
    for kind, ids in IDS.items():
        rows["id"] = ids(len(rows))
        salt = SALT if kind == "str" else None
        mine_is = fair if salt is None else fair.with_salt(salt)
        mine_is.write(tmp_path / "fair.json")
        predictor = json.loads((tmp_path / "fair.json").read_text())
        rows.to_parquet(tmp_path / "rows.parquet")
        columns = (
            "--client",
            "site",
            *(() if blind else ("--group", "sex")),
            looks[0],
            ",".join(looks[1]),
        )
        files = (tmp_path / "fair.json", tmp_path / "rows.parquet")
        out = tmp_path / "out.parquet"
        secret = () if salt is None else ("--salt-file", tmp_path / "salt")
        output = run("predict", *files, *columns, "--row-id", "id", "--out", out, *secret)
        assert output.code == 0, output.err
        mine = []
        for row in rows.to_dict("records"):
            seen = [row[name] for name in looks[1]]
            if fair.needs_scores:
                seen = [seen[j * labels : (j + 1) * labels] for j in range(folds)]
            seen = seen if folds > 1 else seen[0]
            group = None if blind else row["sex"]
            mine.append(answer(predictor, row["site"], group, seen, row["id"], salt))
            if folds == 1:
                who = row["site"], group, seen
                assert mine_is.decide_one(*who, row_id=row["id"], salt=salt) == mine[-1]
        assert mine == pd.read_parquet(out)["answer"].tolist(), kind


def test_what_it_cannot_answer_is_a_sentence(answer):
    people = scored_network(2, 2, 2, rows=60)
    exact, simplex = (
        json.loads(
            json.dumps(predictor_of(FairnessProgram(one, "sp", region).solve(0.1, 0.1)).to_json())
        )
        for one, region in ((people, "exact"), (replace(people, folds=2), "simplex"))
    )
    client, group, label = people.clients[0], people.groups[0], people.labels[0]
    secret = exact | {"draw": {"salt_check": "0" * 16}}
    for given, says in (
        ((exact, "nowhere", group, [0.5, 0.5], 1), 'client "nowhere"'),
        ((exact, client, "nobody", [0.5, 0.5], 1), 'group "nobody"'),
        ((exact, client, group, [5, 7], 1), "not probabilities"),
        ((exact, client, group, [0.2, 0.2], 1), "not probabilities"),
        ((exact, client, group, [float("nan"), 1.0], 1), "not probabilities"),
        ((exact, client, group, [1.0], 1), "not probabilities"),
        ((secret, client, group, [0.5, 0.5], 1), "give the salt"),
        ((exact, client, group, label, 1), "not probabilities"),
        ((exact, client, group, [0.5, 0.5], None), "no row id"),
        ((exact, client, group, [0.5, 0.5], float("nan")), "no row id"),
        ((exact, client, group, [0.5, 0.5], "x" * 1001), "bytes long"),
        ((simplex, client, group, label, 1), "2 fold models"),
        ((simplex, client, group, [label, "perhaps"], 1), 'prediction "perhaps"'),
        ((simplex, client, group, ["perhaps", label], 2), 'prediction "perhaps"'),
    ):
        with pytest.raises(ValueError, match=says):
            for row in range(20) if given[0] is simplex else [given[-1]]:
                answer(*given[:-1], row)
