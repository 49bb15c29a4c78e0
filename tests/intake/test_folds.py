"""Cross-fitted tables on intake: an experiment like the bundled ones, or one sentence."""

import json
from dataclasses import replace

import numpy as np
import pytest

from fairfl_core.intake import (
    ColumnRoles,
    example_folds,
    experiment_from_counts,
    experiment_from_table,
    guess_roles,
    open_table,
)
from tests.helpers.cross_fitted import (
    cross_fitted,
)
from tests.intake.test_intake import csv_of, refused, said

ANSWERS = ColumnRoles("site", "sex", "truth", "said", (), "split", "fold", "id")
PAIRS = (("no", "score_no"), ("yes", "score_yes"))
SCORED = replace(ANSWERS, prediction="", scores=PAIRS)


def taken(table, roles=ANSWERS, **options):
    return experiment_from_table(open_table("rows.csv", csv_of(table)), roles, **options)


# -------------------------------------------------------------------- what comes of it


def test_columns_are_guessed():
    assert guess_roles(open_table("r.csv", csv_of(cross_fitted()))) == replace(
        ANSWERS, group="sex", label="truth", prediction="said"
    )
    example = guess_roles(open_table("e.csv", example_folds().encode()))
    assert (example.split, example.fold, example.row_id) == ("split", "fold", "patient")
    plain = cross_fitted().drop(columns="split").assign(fold=lambda t: t["id"])
    assert guess_roles(open_table("r.csv", csv_of(plain))).fold == ""
    split = cross_fitted().drop(columns=["fold"]).rename(columns={"split": "fold"})
    guessed = guess_roles(open_table("r.csv", csv_of(split)))
    assert (guessed.split, guessed.fold, guessed.row_id) == ("fold", "", "id")


def test_it_says_what_cross_fitting_is_and_what_it_would_gain():
    table = cross_fitted()
    output = said(taken(table))
    assert "Cross-fitted: 240 people make the lottery" in output
    assert 'one of 3 models (folds "0", "1", "2") that never saw them' in output
    assert "60 test people are scored by all of them" in output and "420 rows read" in output
    plain = table[table["split"].eq("fit")].drop(columns=["fold"])
    plain["split"] = np.resize(["train", "train", "train", "validation", "test"], len(plain))
    roles = replace(ANSWERS, fold="", row_id="")
    output = said(taken(plain, roles))
    assert (
        "48 people make the lottery" in output and "they would be 192, 4.0 times as many" in output
    )
    found = taken(plain.drop(columns="split"), replace(roles, split=""))
    n = found.experiment.counts(0, "validation").n
    assert f"{n} people make the lottery" in said(found)
    assert "four times as many people" in said(found)


def test_counts_of_fold_models_make_a_mixture():
    counts = taken(cross_fitted()).experiment.counts(0, "fit")
    halves = {name: counts.select_clients([name]) for name in counts.clients}
    files = [(name, json.dumps(each.to_json()).encode()) for name, each in halves.items()]
    experiment = experiment_from_counts(files).experiment
    assert (experiment.folds, experiment.fit_split) == (3, "fit")
    assert experiment.counts(0, "fit").folds == 3 and experiment.counts(0, "test") is None
    assert not experiment.has_held_out
    other = json.dumps(replace(halves["s1"], folds=1).to_json()).encode()
    refused(
        lambda: experiment_from_counts([files[0], ("b.json", other)]),
        "b.json is of 1 fold models and s0 of 3",
    )


# -------------------------------------------------------------------- what is refused


def test_a_person_fitted_on_and_tested_on_is_refused():
    table = cross_fitted()
    of = {split: table[table["split"] == split].index[4] for split in ("fit", "test")}
    who = table.loc[of["test"], ["site", "id"]]
    rows = (table[["site", "id"]] == who).all(axis=1)
    table.loc[rows, ["site", "id"]] = table.loc[of["fit"], ["site", "id"]].to_numpy()
    refused(lambda: taken(table), "both fitted on and a test person")


def test_a_test_persons_rows_are_whole_and_of_folds_that_people_are_fitted_on():
    table = cross_fitted()
    one = table[table["split"] == "test"].index[4]
    unanswered = table.assign(said=table["said"].where(table.index != one))
    refused(lambda: taken(unanswered), "person", "has no row of fold")
    unscored = table.assign(score_no=table["score_no"].where(table.index != one))
    refused(lambda: taken(unscored, SCORED), "person", "has no row of fold")
    other = table.assign(fold=table["fold"].where(table.index != one, 9))
    refused(lambda: taken(other), 'a row of fold "9"', "nobody is fitted on")


@pytest.mark.parametrize(
    ("role", "says"), [("split", "column of the split"), ("row_id", "column of the row id")]
)
def test_a_fold_says_nothing_alone(role, says):
    refused(lambda: taken(cross_fitted(), replace(ANSWERS, **{role: ""})), '"fold"', says)
