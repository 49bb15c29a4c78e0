"""Crossed groups from a shell: counted, limited by grouping, answered; or refused with exit 2."""

import json

import numpy as np
import pandas as pd
import pytest

from fairfl_core.data.counts import ClientCounts
from fairfl_core.evaluation.evaluation import evaluate
from fairfl_core.predictors.kinds import read_predictor
from tests.cli.running import Files, run
from tests.data.test_grouping import COLUMNS, people

NAMED = ("--client", "site", "--label", "truth", "--prediction", "said")
CROSSED = ("--group", "sex,race")


@pytest.fixture
def files(tmp_path):
    people(900).assign(id=np.arange(900)).to_csv(tmp_path / "rows.csv", index=False)
    return Files(tmp_path)


def counted(files, *more):
    out = files / "counts.json"
    assert run("count", files.rows, *NAMED, *CROSSED, *more, "--out", out).went_well
    return out


def test_count_says_of_which_columns_groups_are_crossed(files):
    value = json.loads(counted(files).read_text("utf-8"))
    core = ClientCounts.from_table(people(900), group=["sex", "race"], **COLUMNS)
    assert value == json.loads(json.dumps(core.to_json()))
    assert value["grouping"]["columns"] == ["sex", "race"]
    assert "woman · other" in value["groups"] and "man · other" not in value["groups"]


def test_a_column_may_have_a_comma_in_its_name(files):
    people(900).rename(columns={"sex": "sex,race"}).to_csv(files.rows, index=False)
    value = run("count", files.rows, *NAMED, *CROSSED).json
    assert value["groups"] == ["man", "woman"] and "grouping" not in value


@pytest.mark.parametrize(("grouping", "scope"), [("race", "local"), ("sex", "global")])
def test_a_limit_names_a_grouping(files, grouping, scope):
    """The gap between pooled groups is within its limit, and is the one that costs."""
    counts = ClientCounts.read(counted(files))
    codes, names = counts.coarsen(grouping)

    def gap(predictor):
        confusion = evaluate(read_predictor(predictor), counts).confusion
        pooled = np.stack(
            [confusion[:, codes == a].sum(axis=1) for a in range(len(names))], axis=1
        )
        if scope == "global":
            pooled = pooled.sum(axis=0, keepdims=True)
        right = np.einsum("cayy->cay", pooled) / pooled.sum(axis=3)
        return np.ptp(right, axis=1).max()

    argv = ("solve", files / "counts.json", "--notion", "eo")
    free = run(*argv, "--out", files / "free.json", "--json").json
    asked = run(*argv, "--limit", f"{grouping}:{scope}:0.01", "--out", files / "p.json", "--json")
    assert gap(files / "free.json") > 0.02
    assert gap(files / "p.json") == pytest.approx(0.01, abs=1e-6)
    assert asked.json["accuracy"] < free["accuracy"]


def test_people_are_judged_and_answered_by_their_crossed_group(files):
    path = files / "p.json"
    run("solve", counted(files), "--eps-local", 0.05, "--out", path)
    fair = read_predictor(path)
    output = run("evaluate", path, files.rows, *NAMED, *CROSSED, "--json").json
    whole = run("evaluate", path, files / "counts.json", "--json").json
    assert output["accuracy"] == whole["accuracy"] and output["gap"] == whole["gap"]
    argv = ("predict", path, files.rows, "--client", "site", *CROSSED, "--prediction", "said")
    assert run(*argv, "--row-id", "id", "--out", files / "o.csv").went_well
    rows = pd.read_csv(files / "o.csv")
    group = rows["sex"] + " · " + rows["race"]
    answers = fair.decide(rows["site"], group, rows["said"], row_id=rows["id"])
    assert rows["answer"].tolist() == answers.tolist()


def test_scores_and_crossed_groups_in_the_exact_region(files):
    columns = ("--client", "site", "--label", "truth", "--scores", "score_no,score_yes")
    argv = ("--region", "exact", *columns, *CROSSED, "--eps-local", 0.1, "--out", files / "p.json")
    assert run("solve", files.rows, *argv).went_well
    assert len(read_predictor(files / "p.json").groups) == 5
    assert (
        run("evaluate", files / "p.json", files.rows, *columns, *CROSSED, "--json").json["n"]
        == 900
    )


def test_evaluate_compares_the_crossing_and_each_of_its_columns(files):
    people(120).to_csv(files.rows, index=False)
    path = counted(files)
    assert run("solve", path, "--notion", "sp", "--out", files / "p.json").went_well
    output = run("evaluate", files / "p.json", path)
    for of in ("sex*race", "sex", "race"):
        assert f"Impact ratios by {of}, overall" in output.out
    rows = run("evaluate", files / "p.json", path, "--json").json["impact_ratios"]["groups"]
    overall = {(row["grouping"], row["group"]): row for row in rows if row["client"] is None}
    few = [key for key, row in overall.items() if row["n"] < 30]
    assert few and all(overall[key]["impact_ratio"] is None for key in few)
    assert output.out.count("assessable") >= len(few)
    women = sum(row["n"] for (of, name), row in overall.items() if of == "sex" and name == "woman")
    assert women == (people(120)["sex"] == "woman").sum()
