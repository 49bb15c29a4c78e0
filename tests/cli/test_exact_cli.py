"""The exact region from a shell: the same functions, the same JSON and more."""

import json

import numpy as np
import pandas as pd
import pytest

from fairfl_core.data.scored import ScoredData
from fairfl_core.errors import InputError
from fairfl_core.evaluation.evaluation import evaluate
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.predictors.kinds import read_predictor
from tests.cli.running import run as run_command
from tests.helpers.scored import scored_network

WHO = ["--client", "clinic", "--group", "sex", "--label", "y", "--scores", "no,yes"]
COLUMNS = [*WHO, "--labels", "l0,l1"]


@pytest.fixture
def rows(tmp_path):
    people = scored_network(3, 2, 2, rows=300)
    path = tmp_path / "rows.csv"
    pd.DataFrame(
        {
            "clinic": np.array(people.clients)[people.client],
            "sex": np.array(people.groups)[people.group],
            "y": np.array(people.labels)[people.label],
            "no": people.scores[:, 0],
            "yes": people.scores[:, 1],
            "said": np.array(people.labels)[people.predicted],
            "id": np.arange(len(people)),
        }
    ).to_csv(path, index=False)
    return path


def run(*argv):
    ended = run_command(*argv)
    if ended.code:
        raise InputError(ended.err)
    return ended.out


def people_in(path):
    columns = {"client": "clinic", "group": "sex", "label": "y", "scores": ["no", "yes"]}
    return ScoredData.from_table(pd.read_csv(path, dtype=str), labels=["l0", "l1"], **columns)


@pytest.mark.parametrize("rates", ["labels", "scores", "shrunk"])
def test_solve_takes_rows_and_tells_bound_and_rounds(rows, rates):
    asked = ("--notion", "eop", "--eps-global", 0.01, "--eps-local", 0.02, "--rates", rates)
    found = json.loads(run("solve", rows, "--region", "exact", *COLUMNS, *asked, "--json"))
    alone = FairnessProgram(people_in(rows), "eop", "exact", rates=rates).solve(0.01, 0.02)
    assert found["accuracy"] == pytest.approx(alone.accuracy, abs=1e-9)
    assert found["format"] == "fairfl-solution/1" and found["region"] == "exact"
    assert found["bound"]["certified"] is True
    assert found["bound"]["upper"] >= found["accuracy"] - 1e-12 and found["rounds"] >= 1
    plain = ("--region", "simplex", *asked[:6], "--json")
    counted = json.loads(run("solve", rows, *COLUMNS, *plain))
    assert set(counted) < set(found) and counted["region"] == "simplex"


def test_the_predictor_goes_through_files_and_columns(rows, tmp_path):
    fair = tmp_path / "fair.json"
    said = run(
        "solve",
        rows,
        "--region",
        "exact",
        "--notion",
        "sp",
        *COLUMNS,
        "--eps-global",
        0.01,
        "--eps-local-client",
        "c1=0.05",
        "--out",
        fair,
    )
    assert "Rates from shrunk" in said
    judged = json.loads(run("evaluate", fair, rows, *COLUMNS, "--json"))
    assert judged["accuracy"] == pytest.approx(
        evaluate(read_predictor(fair), people_in(rows)).accuracy
    )
    assert "one draw" in run("evaluate", fair, rows, *COLUMNS)
    out = tmp_path / "out.csv"
    columns = ("--client", "clinic", "--group", "sex", "--out", out)
    answers = []
    for _ in range(2):
        output = run("predict", fair, rows, *columns, "--scores", "no,yes", "--row-id", "id")
        answers.append(pd.read_csv(out).answer)
    assert (answers[0] == answers[1]).all() and set(answers[0]) == {"l0", "l1"}
    own = pd.read_csv(rows).said
    assert f"{(answers[0] != own).mean():.1%} differ from the model's" in output
    for wrong, says in (
        (("--prediction", "said"), "looks at scores"),
        (("--scores", "no"), "one column for each"),
        (("--scores", "l0,l1"), 'no column "l0"'),
        (("--scores", "no,maybe"), "it was fitted where column"),
    ):
        with pytest.raises(InputError, match=says):
            run("predict", fair, rows, *columns, *wrong)


def test_what_is_missing_is_named(rows, tmp_path):
    counts = tmp_path / "counts.json"
    run("count", rows, *COLUMNS, "--out", counts)
    for argv, says in (
        (("solve", counts, "--region", "exact"), "missing: --client, --group"),
        (("solve", rows, "--client", "clinic"), "--group, --label, --prediction"),
        (("solve", counts, "--rates", "scores"), "need the table of scores"),
        (("solve", counts, "--rates", "guesses"), "choose one of labels"),
        (("solve", rows, "--region", "round", *COLUMNS), "simplex, kernel"),
    ):
        with pytest.raises(InputError, match=says):
            run(*argv)
    shrunk = json.loads(run("solve", counts, "--rates", "shrunk", "--eps-local", "0.01", "--json"))
    assert shrunk["status"] == "optimal"
    fair = tmp_path / "fair.json"
    run("solve", counts, "--out", fair)
    with pytest.raises(InputError, match="give --prediction"):
        run(
            "predict",
            fair,
            rows,
            "--client",
            "clinic",
            "--group",
            "sex",
            "--scores",
            "yes",
            "--out",
            tmp_path / "out.csv",
        )


def test_predict_takes_one_probability_logits_and_votes(rows, tmp_path):
    """The same answers as from a probability of each label, or from the model's answers."""
    frame = pd.read_csv(rows)
    labels = sorted(frame["y"].astype(str).unique())
    frame["logit_no"], frame["logit_yes"] = 0.0, np.log(frame["yes"] / frame["no"])
    frame.to_csv(rows, index=False)
    fair, out = tmp_path / "fair.json", tmp_path / "fair.csv"
    solve = ("solve", rows, "--eps-global", 0.05, "--eps-local", 0.05, "--out", fair)
    common = ("--client", "clinic", "--group", "sex", "--row-id", "id", "--out", out)

    def answers(*columns):
        run("predict", fair, rows, *columns, *common)
        return pd.read_csv(out)["answer"].astype(str).tolist()

    run(*solve, "--region", "exact", *COLUMNS)
    by_scores = answers("--scores", "no,yes")
    assert answers("--scores", "logit_no,logit_yes", "--scores-are", "logits") == by_scores
    assert answers("--probability", "yes", "--probability-of", labels[1]) == by_scores
    with pytest.raises(InputError, match="between 0 and 1"):
        answers("--scores", "logit_no,logit_yes")
    with pytest.raises(InputError, match="needs --probability-of"):
        answers("--probability", "yes")
    run(*solve, "--region", "simplex", *COLUMNS)
    by_answers = answers("--prediction", "said")
    assert answers("--scores", "no,yes") == by_answers
    assert answers("--probability", "no", "--probability-of", labels[0]) == by_answers
    moved = frame.assign(said=np.where(frame["yes"] >= 0.3, labels[1], labels[0]))
    moved.to_csv(rows, index=False)
    by_answers = answers("--prediction", "said")
    one = ("--probability", "yes", "--probability-of", labels[1], "--threshold", 0.3)
    assert answers(*one) == by_answers
