"""The exact region in one round, from a shell: histograms made, joined, noised and solved."""

import json

import numpy as np
import pandas as pd
import pytest

from fairfl_core.data.scored import ScoredData
from fairfl_core.lp.histograms import ScoreHistogram
from fairfl_core.lp.program import FairnessProgram
from tests.cli.refusing import refused
from tests.cli.running import make_files, people, run

COLUMNS = ("--client", "clinic", "--group", "sex", "--label", "diagnosis")
SCORES = ("--scores", "score_no,score_yes", "--labels", "no,yes")


@pytest.fixture
def files(tmp_path):
    made = make_files(tmp_path)
    rows = people(900)
    total = rows["score_no"] + rows["score_yes"]
    rows.assign(score_no=rows["score_no"] / total, score_yes=rows["score_yes"] / total).to_csv(
        made.rows, index=False
    )
    return made


def test_made_joined_and_solved_like_the_core(files):
    out = files / "h.json"
    output = run("histogram", files.rows, *COLUMNS, *SCORES, "--bins", "8", "--out", out, "--json")
    assert output.json == {
        "out": str(out),
        "n": 900,
        "clients": 3,
        "bins": 8,
        "noisy": False,
        "spent": None,
        "score_columns": {"no": "score_no", "yes": "score_yes"},
    }
    rows = pd.read_csv(files.rows)
    names = {"client": "clinic", "group": "sex", "label": "diagnosis"}
    scored = ScoredData.from_table(
        rows, **names, scores=["score_no", "score_yes"], labels=("no", "yes")
    )
    core = ScoreHistogram.of(scored, 8)
    value = json.loads(out.read_text())
    np.testing.assert_array_equal([one["counts"] for one in value["clients"]], core.table)
    parts = []
    for name, mine in rows.groupby("clinic"):
        mine.to_csv(files / f"{name}.csv", index=False)
        parts.append(files / f"{name}.json")
        given = (files / f"{name}.csv", *COLUMNS, *SCORES, "--bins", "8")
        assert run("histogram", *given, "--out", parts[-1]).went_well
    assert run("histogram", *parts, "--out", files / "joined.json").went_well
    limits = ("--notion", "sp", "--region", "exact", "--eps-local", "0.05", "--eps-global", "0.02")
    solution = FairnessProgram(core, "sp").solve(0.02, 0.05)
    for source in (out, files / "joined.json"):
        solved = run("solve", source, *limits, "--json").json
        assert solved["accuracy"] == pytest.approx(solution.accuracy, abs=1e-9)
    said = run("solve", out, *limits, "--out", files / "p.json")
    assert said.went_well and "A histogram does not say who is worse off" in said.out
    judged = run("evaluate", files / "p.json", files.rows, *COLUMNS, *SCORES, "--json").json
    assert judged["gap"]["global"] < 0.1


def test_noise_is_told_with_its_budget(files):
    given = (files.rows, *COLUMNS, *SCORES, "--epsilon", "2")
    output = run("histogram", *given, "--out", files / "n.json", "--json").json
    assert output["noisy"] and output["spent"] == 2
    plain = run("histogram", *given, "--out", files / "n.json")
    assert "clients, 16 bins each; noise worth a privacy budget of 2 was added" in " ".join(
        plain.out.split()
    )
    assert run("solve", files / "n.json", "--region", "exact", "--eps-local", "0.2").code == 0


def test_what_cannot_be_read(files):
    out = files / "h.json"
    run("histogram", files.rows, *COLUMNS, *SCORES, "--out", out)
    value = json.loads(out.read_text())
    wrong = {
        "bins": (7, "even number"),
        "labels": (["a", "b", "c"], "two"),
        "clients": ([{"name": "x"}], "lacks the key"),
        "noisy": ("no", "true or false"),
        "groups": (["woman", "woman"], "twice"),
    }
    for key, (content, says) in wrong.items():
        (files / "bad.json").write_text(json.dumps(value | {key: content}))
        refused(files, "solve", files / "bad.json", "--region", "exact", says=["bad.json", says])
    refused(files, "histogram", out, out, "--out", files / "twice.json", says=["twice"])
    refused(
        files, "histogram", files.rows, files.rows, "--out", files / "x.json", says=["one table"]
    )


def test_noise_protects_names_that_are_declared_and_says_so_of_others(files):
    given = (
        "histogram",
        files.rows,
        *COLUMNS,
        *SCORES,
        "--epsilon",
        "1",
        "--out",
        files / "h.json",
    )
    found = run(*given)
    assert 'Names are not protected: that the table holds the groups "f", "m"' in " ".join(
        found.out.split()
    )
    assert run(*given, "--json").json["names_protected"] is False
    for more in (("--groups", "f,m,x"), ("--declared",)):
        assert run(*given, *more, "--json").json["names_protected"] is True
    assert run(*given, "--groups", "f,m,x").code == 0
    assert json.loads((files / "h.json").read_text())["groups"] == ["f", "m", "x"]
    joined = ("histogram", files / "h.json", "--out", files / "j.json", "--json")
    assert "names_protected" not in run(*joined).json
