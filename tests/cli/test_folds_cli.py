"""Cross-fitted tables from a shell: the numbers of the core, and one sentence for what is wrong."""

import json

import pandas as pd
import pytest

from fairfl_core.data.counts import ClientCounts
from fairfl_core.data.scored import FoldedData, ScoredData
from fairfl_core.evaluation.evaluation import evaluate
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.predictors.hashed_draws import fold_draws
from fairfl_core.predictors.kinds import predictor_of, read_predictor
from tests.cli.refusing import refused
from tests.cli.running import Files, run
from tests.helpers.cross_fitted import (
    COLUMNS,
    SCORES,
    cross_fitted,
)

NAMED = ("--client", "site", "--group", "sex", "--label", "truth")
FOLDED = ("--fold", "fold", "--row-id", "id")
SPLIT = ("--split", "split")
LOOKS = {"simplex": ("--prediction", "said"), "exact": ("--scores", "score_no,score_yes")}
ASKED = ("--eps-global", 0.02, "--eps-local", 0.05)


@pytest.fixture
def files(tmp_path):
    """One table as the page takes it, and its two parts as files of their own."""
    table = cross_fitted()
    table.to_csv(tmp_path / "rows.csv", index=False)
    for split in ("fit", "test"):
        mine = table[table["split"] == split].drop(columns="split")
        mine.to_csv(tmp_path / f"{split}.csv", index=False)
    return Files(tmp_path)


def fitted(files, region, source=None, more=SPLIT):
    """A predictor from the shell: through counts, or from scores."""
    source, out = source or files.rows, files / f"{region}.json"
    if region == "simplex":
        counts = files / "counts.json"
        run("count", source, *NAMED, *LOOKS[region], *FOLDED, *more, "--out", counts)
        source, columns = counts, ()
    else:
        columns = (*NAMED, *LOOKS[region], *FOLDED, *more, "--rates", "labels")
    run("solve", source, *columns, "--region", region, *ASKED, "--out", out)
    return out


def core(region):
    table = cross_fitted()
    fit, test = (table[table["split"] == split] for split in ("fit", "test"))
    if region == "simplex":
        people = ClientCounts.from_table(fit, prediction="said", **COLUMNS)
    else:
        people = ScoredData.from_table(fit, scores=SCORES, **COLUMNS)
    fair = predictor_of(FairnessProgram(people, "eo", region, rates="labels").solve(0.02, 0.05))
    return fair, FoldedData.from_table(test, scores=SCORES, **COLUMNS)


@pytest.mark.parametrize("region", ["simplex", "exact"])
def test_solve_and_evaluate_tell_the_numbers_of_the_core(files, region):
    path = fitted(files, region)
    fair, unseen = core(region)
    mine = read_predictor(path)
    assert mine.folds == 3 and mine.reached.n == 240
    assert mine.reached.accuracy == pytest.approx(fair.reached.accuracy, abs=1e-9)
    judged = evaluate(mine, unseen)
    for source, more in ((files.rows, SPLIT), (files / "test.csv", ())):
        argv = (path, source, *NAMED, *LOOKS[region], *FOLDED, *more)
        output = run("evaluate", *argv, "--json").json
        assert output["n"] == 60
        assert output["accuracy"] == pytest.approx(judged.accuracy, abs=1e-12)
        assert output["gap"]["global"] == pytest.approx(judged.gaps.overall, abs=1e-12)
        assert run("evaluate", *argv).went_well


def test_counts_say_of_how_many_models_they_are(files):
    argv = ("count", files.rows, *NAMED, *LOOKS["simplex"], *FOLDED, *SPLIT)
    assert run(*argv).json["folds"] == 3
    ended = run(*argv, "--out", files / "c.json")
    assert "240 people scored by 3 fold models in 3 clients" in " ".join(ended.out.split())
    assert run(*argv, "--out", files / "c.json", "--json").json["folds"] == 3
    noisy = run("privatize", files / "c.json", "--epsilon", "5", "--out", files / "n.json")
    assert noisy.went_well and json.loads((files / "n.json").read_text())["folds"] == 3


def test_a_split_column_parts_people_of_one_model_too(files):
    table = cross_fitted(folds=2)
    table = table[table["split"].eq("fit") | table["fold"].eq(0)].drop(columns="fold")
    table["split"] = table["split"].replace({"fit": "validation"})
    table.to_csv(files.rows, index=False)
    run("count", files.rows, *NAMED, *LOOKS["simplex"], *SPLIT, "--out", files / "c.json")
    assert ClientCounts.read(files / "c.json").n == 240
    run("solve", files / "c.json", "--out", files / "p.json")
    argv = ("evaluate", files / "p.json", files.rows, *NAMED, *LOOKS["simplex"], *SPLIT)
    assert run(*argv, "--json").json["n"] == 60


@pytest.mark.parametrize("region", ["simplex", "exact"])
def test_predict_gives_all_rows_of_a_person_the_answer_of_the_model_drawn(files, region):
    path = fitted(files, region)
    fair = read_predictor(path)
    argv = ("predict", path, files / "test.csv", "--client", "site", "--group", "sex")
    output = run(*argv, *LOOKS[region], *FOLDED, "--out", files / "o.csv", "--json").json
    rows = pd.read_csv(files / "o.csv")
    before = pd.read_csv(files / "test.csv")
    pd.testing.assert_frame_equal(rows.drop(columns="answer"), before)
    assert output["n"] == 60 and len(rows) == 180
    changed = 0
    for (site, who), mine in rows.groupby(["site", "id"]):
        drawn = mine[mine["fold"] == int(fold_draws([site], [who], 3)[0])]
        seen = drawn["said"] if region == "simplex" else drawn[SCORES].to_numpy()
        (answer,) = fair.decide(drawn["site"], drawn["sex"], seen, row_id=drawn["id"])
        assert (mine["answer"] == answer).all()
        changed += answer != drawn["said"].iloc[0]
    assert output["changed"] == pytest.approx(changed / 60) and changed


def test_predict_takes_one_probability_where_a_fold_is_named_and_else_one_of_each_model(files):
    """The same answers as from the scores of every label."""
    predictor = fitted(files, "exact")
    argv = ("predict", predictor, files / "test.csv", *NAMED[:4])
    run(*argv, *LOOKS["exact"], *FOLDED, "--out", files / "by_scores.csv")
    one = ("--probability-of", "yes", "--probability")
    run(*argv, *one, "score_yes", *FOLDED, "--out", files / "by_one.csv")
    answers = [pd.read_csv(files / f"by_{how}.csv")["answer"] for how in ("scores", "one")]
    assert answers[0].equals(answers[1])
    many = (*one, "score_yes", "--row-id", "id", "--out", files / "o.csv")
    refused(files, *argv, *many, says=["--probability takes 3 columns"])


# -------------------------------------------------------------------- what is refused


def spoil(files, change, name="wrong.csv"):
    table = change(cross_fitted())
    table.to_csv(files / name, index=False)
    return files / name


def test_a_person_in_two_folds_is_refused_by_every_command_that_fits(files):
    def twice(table):
        one = table[table["split"] == "fit"].iloc[[3]]
        return pd.concat([table, one.assign(fold=(one["fold"] + 1) % 3)])

    path = spoil(files, twice)
    more = (*NAMED, *FOLDED, *SPLIT)
    says = [path, "is in two folds", "data rows"]
    out = ("--out", files / "out.json")
    refused(files, "count", path, *more, *LOOKS["simplex"], *out, says=says)
    refused(files, "solve", path, *more, *LOOKS["exact"], *out, says=says)
    refused(files, "map", path, *more, *LOOKS["exact"], says=says)


def test_rows_to_answer_that_are_wrong(files):
    predictor = fitted(files, "exact")
    argv = ("--client", "site", "--group", "sex", *LOOKS["exact"], "--out", files / "o.csv")

    def predict(path, *more, says):
        refused(files, "predict", predictor, path, *argv, *more, says=says)

    path = spoil(files, lambda t: t[t["split"] == "test"].iloc[1:])
    predict(path, *FOLDED, says=[path, "has no row of fold"])
    path = spoil(files, lambda t: t[t["split"].eq("test") & t["fold"].ne(1)])
    predict(path, *FOLDED, says=[path, "2 folds", "mixes 3"])
    predict(path, "--fold", "fold", says=["--row-id"])
    predict(path, "--row-id", "id", says=["3 fold models"])  # a column for each of them
    path = spoil(
        files, lambda t: t[t["split"] == "test"].assign(sex=lambda x: x["sex"][::-1].values)
    )
    predict(path, *FOLDED, says=[path, "the groups", "the same group in every fold"])


def test_models_and_people_must_fit(files):
    mixture = fitted(files, "simplex")
    run("count", files / "fit.csv", *NAMED, *LOOKS["simplex"], "--out", files / "plain.json")
    run("solve", files / "plain.json", "--out", files / "one.json")
    says = ["a mixture of 3 fold models", "one model"]
    plain = (*NAMED, *LOOKS["simplex"])
    refused(files, "evaluate", mixture, files / "plain.json", says=[*says, "--fold"])
    refused(files, "evaluate", mixture, files / "fit.csv", *plain, says=[*says, "--row-id"])
    argv = ("evaluate", files / "one.json", files / "test.csv", *plain, *FOLDED)
    refused(files, *argv, says=[*says, "without --fold"])
    argv = ("predict", files / "one.json", files / "test.csv", *NAMED[:4], *LOOKS["simplex"])
    refused(files, *argv, *FOLDED, "--out", files / "o.csv", says=["one model", "--fold"])


def test_test_rows_are_not_fitted_on(files):
    argv = ("count", files / "test.csv", *NAMED, *LOOKS["simplex"], *FOLDED)
    refused(files, *argv, "--out", files / "o.json", says=["in two folds", "split column"])
    argv = ("count", files.rows, *NAMED, *LOOKS["simplex"], "--fold", "fold")
    refused(files, *argv, "--out", files / "o.json", says=["--row-id"])


def test_ids_without_folds_leave_one_model_as_it_is(files):
    table = cross_fitted().drop(columns="fold")
    table = table.groupby("id", as_index=False).first()
    table.to_csv(files / "one.csv", index=False)
    run("count", files / "fit.csv", *NAMED, *LOOKS["simplex"], "--out", files / "plain.json")
    run("solve", files / "plain.json", *ASKED, "--out", files / "one.json")
    argv = ("evaluate", files / "one.json", files / "one.csv", *NAMED, *LOOKS["simplex"], *SPLIT)
    output = run(*argv, "--row-id", "id", "--json").json
    assert output["n"] == (table["split"] == "test").sum()
