"""Cross-fitted tables on intake: an experiment like the bundled ones, or one sentence."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairfl_core.data.experiments import CROSS_FITTED
from fairfl_core.data.scored import fitted_people, unseen_people
from fairfl_core.evaluation.evaluation import evaluate
from fairfl_core.intake import (
    ColumnRoles,
    example_folds,
    experiment_from_counts,
    experiment_from_table,
    guess_roles,
    open_table,
)
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.predictors.kinds import predictor_of
from tests.helpers.cross_fitted import (
    cross_fitted,
    expected_confusion,
    lottery_chances,
    rule_chances,
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


@settings(max_examples=5)  # the oracle goes row by row
@given(seed=st.integers(0, 2**20), folds=st.integers(2, 4), clients=st.integers(1, 3))
def test_the_lottery_is_made_on_all_and_judged_by_the_mean_over_models(seed, folds, clients):
    table = cross_fitted(120, 30, folds, clients, seed)
    for roles, region in ((ANSWERS, "kernel"), (SCORED, "exact")):
        experiment = taken(table, roles).experiment
        assert (experiment.protocol, experiment.folds) == (CROSS_FITTED, folds)
        assert experiment.splits == ("fit", "test") and experiment.has_held_out
        scored = experiment.has_scores
        assert scored == (roles is SCORED)
        fit = fitted_people(experiment, 0) if scored else experiment.counts(0, "fit")
        fair = predictor_of(FairnessProgram(fit, "eo", region, rates="labels").solve(0.05, 0.1))
        assert (fair.folds, fair.reached.n) == (folds, 120)
        unseen = unseen_people(experiment, 0)
        assert (len(unseen), unseen.folds) == (30, folds)
        chances = rule_chances(fair) if fair.needs_scores else lottery_chances(fair)
        names = (experiment.clients, experiment.groups, experiment.labels)
        expected = expected_confusion(table, chances, names)
        np.testing.assert_allclose(evaluate(fair, unseen).confusion, expected, atol=1e-12)


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
