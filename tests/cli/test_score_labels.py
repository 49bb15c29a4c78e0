"""Scores meet the right labels in every command, and the mapping is said."""

import json

import numpy as np
import pandas as pd
import pytest

from tests.cli.running import run
from tests.data.test_score_columns import people

WHO = ("--client", "clinic", "--group", "sex", "--label", "diagnosis")
NO_YES = ("--scores", "no,yes")
RIGHT = (*NO_YES, "--labels", "well,ill")
SAID = 'Scores: column "no" is the score of "well", "yes" of "ill".'


@pytest.fixture
def rows(tmp_path):
    path = tmp_path / "rows.csv"
    people().assign(patient=np.arange(400)).to_csv(path, index=False)
    return path


COMMANDS = {
    "count": ("count", "--out", "o.json"),
    "solve": ("solve", "--region", "exact"),
    "solve simplex": ("solve", "--region", "simplex"),
    "map": ("map", "--region", "exact", "--epsilons", "0.1,1"),
    "histogram": ("histogram", "--out", "o.json"),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_the_readmes_form_is_refused_and_with_labels_said(command, rows, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name, *more = COMMANDS[command]
    given = (name, rows, *WHO, *more)
    refused = run(*given, *NO_YES)
    assert refused.code == 2 and "such as --labels well,ill" in " ".join(refused.err.split())
    wrong = run(*given, *NO_YES, "--labels", "ill,well")
    assert wrong.code == 2
    assert "--scores no,yes --labels well,ill" in " ".join(wrong.err.split())
    output = run(*given, *RIGHT)
    assert output.code == 0 and SAID in " ".join(output.out.split())
    assert run(*given, *RIGHT, "--json").json["score_columns"] == {"well": "no", "ill": "yes"}


def solved(rows, tmp_path, region="exact"):
    fair = tmp_path / "fair.json"
    limits = ("--region", region, "--eps-local", "0.05", "--out", fair)
    found = run("solve", rows, *WHO, *RIGHT, *limits, "--json").json
    assert found["model_accuracy"] > 0.85
    return fair


@pytest.mark.parametrize("region", ["exact", "simplex"])
def test_a_predictor_keeps_the_names_and_evaluate_and_predict_ask_them(region, rows, tmp_path):
    fair = solved(rows, tmp_path, region)
    assert json.loads(fair.read_text())["score_columns"] == {"well": "no", "ill": "yes"}
    frame = pd.read_csv(rows)
    judged, drawn = [], []
    for scores, labels in (("no,yes", ()), ("yes,no", ()), ("yes,no", ("--labels", "ill,well"))):
        judge = ("evaluate", fair, rows, *WHO, "--scores", scores, *labels)
        judged.append(run(*judge, "--json").json["accuracy"])
        assert '"yes" is the score of "ill", "no" of "well"' in " ".join(
            run(*judge).out.split()
        ) or (SAID in run(*judge).out)
        who = ("--client", "clinic", "--group", "sex", "--row-id", "patient")
        out = tmp_path / "answers.csv"
        asked = ("predict", fair, rows, *who, "--scores", scores, *labels, "--out", out)
        assert run(*asked, "--json").json["score_columns"] == {"well": "no", "ill": "yes"}
        drawn.append(pd.read_csv(out)["answer"].tolist())
    assert judged[0] == judged[1] == judged[2] and drawn[0] == drawn[1] == drawn[2]
    assert (pd.Series(drawn[0]) == frame["diagnosis"]).mean() > 0.8
    other = tmp_path / "other.csv"
    frame.rename(columns={"no": "a", "yes": "b"}).to_csv(other, index=False)
    for asked in (
        ("evaluate", fair, other, *WHO),
        ("predict", fair, other, *who, "--out", tmp_path / "x.csv"),
    ):
        refused = run(*asked, "--scores", "a,b")
        assert refused.code == 2
        assert 'fitted where column "no" is the score of' in " ".join(refused.err.split())
        assert run(*asked, "--scores", "a,b", "--labels", "well,ill").code == 0
    named = tmp_path / "named.csv"
    frame.rename(columns={"no": "p_well", "yes": "p_ill"}).to_csv(named, index=False)
    output = run("evaluate", fair, named, *WHO, "--scores", "p_ill,p_well", "--json").json
    assert output["accuracy"] == judged[0]


def test_a_file_without_the_names_opens_and_asks_for_them(rows, tmp_path):
    fair = solved(rows, tmp_path)
    value = json.loads(fair.read_text())
    del value["score_columns"]
    fair.write_text(json.dumps(value))
    judge = ("evaluate", fair, rows, *WHO, *NO_YES)
    assert "do not tell which of the predictor's labels" in " ".join(run(*judge).err.split())
    assert run(*judge, "--labels", "well,ill", "--json").json["accuracy"] > 0.8
    value["score_columns"] = {"well": "no"}
    fair.write_text(json.dumps(value))
    assert run(*judge).code == 2


def test_compare_takes_a_probability_by_its_name_or_asks(rows, tmp_path):
    frame = pd.read_csv(rows)
    frame["p_ill"], frame["first"] = frame["yes"], frame["yes"]
    frame["second"] = np.where(frame["yes"] > 0.5, "ill", "well")
    table = tmp_path / "models.csv"
    frame.to_csv(table, index=False)
    given = ("compare", table, *WHO, "--json", "--model", "second", "--model")
    taken = json.loads(run(*given, "p_ill").out)
    own = {one["model"]: one["accuracy"] for one in taken if one["epsilon"] is None}
    assert own["p_ill"] == own["second"] > 0.8
    for more, says in (
        ((), "does not tell which of"),
        (("--favourable", "well"), 'if column "first" is the probability of "well"'),
    ):
        refused = run(*given, "first", *more)
        assert refused.code == 2 and says in " ".join(refused.err.split())
    taken = json.loads(run(*given, "first", "--favourable", "ill").out)
    assert {one["accuracy"] for one in taken if one["epsilon"] is None} == {own["second"]}
    output = " ".join(run(*(word for word in given if word != "--json"), "p_ill").out.split())
    assert '"p_ill" is read as the probability of "ill".' in output
