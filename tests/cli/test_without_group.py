"""From the shell: a rule for all groups is found, priced, applied without the group, judged."""

import json

import pandas as pd
import pytest

from fairfl_core.data.scored import ScoredData
from fairfl_core.lp.policy import Policy
from fairfl_core.lp.program import FairnessProgram
from tests.cli.refusing import refused
from tests.cli.running import COLUMNS, people, run

SCORES = ("--scores", "score_no,score_yes")
LIMITS = ("--notion", "eo", "--eps-global", "0.02", "--eps-local", "0.03", "--without-group")


def table_in(folder, name="people.csv", **how):
    rows = people(1500, **how)
    scores = [column for column in rows.columns if column.startswith("score_")]
    rows[scores] = rows[scores].div(rows[scores].sum(axis=1), axis=0)
    rows.to_csv(folder / name, index=False)
    return folder / name


@pytest.mark.parametrize("region", ["simplex", "kernel", "exact"])
def test_from_people_to_answers_without_the_group(files, region):
    table, fair = table_in(files.folder), files / "blind.json"
    asked = (table, *COLUMNS, *SCORES, "--region", region, *LIMITS)
    found = run("solve", *asked, "--out", fair, "--json").json
    scored = ScoredData.from_table(
        pd.read_csv(table),
        client="clinic",
        group="sex",
        label="diagnosis",
        scores=["score_no", "score_yes"],
    )
    program, knowing = (
        FairnessProgram(scored, "eo", region, policy=Policy(without_group=without))
        for without in (True, False)
    )
    assert found["accuracy"] == pytest.approx(program.solve(0.02, 0.03).accuracy, abs=1e-12)
    assert found["policy"] == {"without_group": True}
    price = found["prohibition"]["fitted"]
    assert price["cost"] == pytest.approx(price["with_group"] - price["without_group"])
    if knowing.rates == "labels":
        assert price["with_group"] == pytest.approx(knowing.solve(0.02, 0.03).accuracy)
    assert json.loads(fair.read_text())["policy"]["without_group"] is True
    said = run("solve", *asked)
    assert "does not ask for a group" in said.out and "not to look at it" in said.out
    # The rows to answer need not have the group at all.
    nameless = files / "nameless.csv"
    pd.read_csv(table).drop(columns=["sex", "diagnosis"]).to_csv(nameless, index=False)
    looks = SCORES if region == "exact" else ("--prediction", "model")
    how = ("--client", "clinic", *looks, "--row-id", "patient")
    output = run("predict", fair, nameless, *how, "--out", files / "fair.csv")
    assert output.went_well and "not looked at" in " ".join(output.out.split())
    named = run("predict", fair, table, *how, "--group", "sex", "--out", files / "named.csv")
    assert named.went_well
    answers = [pd.read_csv(files / name)["answer"] for name in ("fair.csv", "named.csv")]
    assert (answers[0] == answers[1]).all()
    judged = run("evaluate", fair, table, *COLUMNS, *SCORES, "--json").json
    assert judged["policy"] == {"without_group": True}
    assert judged["accuracy"] == pytest.approx(price["without_group"], abs=1e-9)


def test_a_map_without_the_group_is_never_above_the_other(files):
    grids = [
        run("map", files.counts, "--epsilons", "0,0.1,1", *more, "--json").json["accuracy"]
        for more in ((), ("--without-group",))
    ]
    for knowing, blind in zip(*grids, strict=True):
        assert all(b <= a + 1e-9 for a, b in zip(knowing, blind, strict=True))


def test_what_does_not_go_is_one_sentence(files):
    argv = ("predict", files.predictor, files.rows, "--client", "clinic", "--prediction", "model")
    refused(files, *argv, "--out", files / "out.csv", says=["--group"])
    three = table_in(files.folder, "three.csv", labels=("no", "perhaps", "yes"))
    argv = ("solve", three, *COLUMNS, "--region", "exact", "--without-group")
    more = ("--scores", "score_no,score_perhaps,score_yes", "--labels", "no,perhaps,yes")
    refused(files, *argv, *more, says=["two labels", "kernel"])
    argv = ("solve", files.counts, "--region", "exact", "--without-group")
    refused(files, *argv, says=["scores"])
