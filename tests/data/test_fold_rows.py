"""Rows of a cross-fitted table: paired by person, or refused with who and where."""

import numpy as np
import pandas as pd
import pytest

from fairfl_core.data.columns import code_column
from fairfl_core.data.counts import ClientCounts
from fairfl_core.data.scored import FoldedData, ScoredData
from fairfl_core.data.splits import FIT, TEST, TRAINING, FoldRows, code_splits
from fairfl_core.errors import InputError
from fairfl_core.evaluation.evaluation import evaluate
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.predictors.kinds import predictor_of
from tests.helpers.cross_fitted import (
    COLUMNS,
    SCORES,
    cross_fitted,
    expected_confusion,
    lottery_chances,
    rule_chances,
)


def parts(table):
    return table[table["split"] == "fit"], table[table["split"] == "test"]


def changed(table, row, **cells):
    """The same table with some cells of one row changed."""
    table = table.copy()
    for column, value in cells.items():
        table[column] = table[column].astype(object)
        table.loc[row, column] = value
    return table


# -------------------------------------------------------------------- what comes of good rows


@pytest.mark.parametrize("region", ["simplex", "kernel", "exact"])
@pytest.mark.parametrize("seed", [0, 1])
def test_fitted_on_all_and_judged_by_the_mean_over_fold_models(region, seed):
    table = cross_fitted(seed=seed)
    fit, test = parts(table)
    people = ScoredData.from_table(fit, scores=SCORES, **COLUMNS)
    assert len(people) == len(fit) == 240 and people.folds == people.counts.folds == 3
    fair = predictor_of(FairnessProgram(people, "eo", region, rates="labels").solve(0.02, 0.05))
    assert fair.folds == 3 and fair.reached.n == 240
    unseen = FoldedData.from_table(test, scores=SCORES, **COLUMNS)
    assert len(unseen) == 60 and unseen.folds == 3
    chances = rule_chances(fair) if fair.needs_scores else lottery_chances(fair)
    names = (fair.clients, fair.groups, fair.labels)
    expected = expected_confusion(table, chances, names)
    np.testing.assert_allclose(evaluate(fair, unseen).confusion, expected, atol=1e-12)


def test_counts_say_of_how_many_models_they_are(tmp_path):
    fit, _ = parts(cross_fitted())
    counts = ClientCounts.from_table(fit, prediction="said", **COLUMNS)
    value = counts.to_json()
    assert value["folds"] == 3
    assert ClientCounts.read(counts.write(tmp_path / "counts.json")).folds == 3
    assert counts.select_clients(["s1"]).folds == 3
    plain = ClientCounts.from_json({k: v for k, v in value.items() if k != "folds"})
    assert plain.folds == 1 and "folds" not in plain.to_json()
    for wrong in (0, 1.5, True, "3", None):
        with pytest.raises(InputError, match="whole number of fold models"):
            ClientCounts.from_json(value | {"folds": wrong})


# -------------------------------------------------------------------- what is refused


def refused(call, *says):
    with pytest.raises(InputError) as caught:
        call()
    sentence = str(caught.value)
    for part in says:
        assert str(part) in sentence, sentence


def fitting(table, **more):
    return lambda: ClientCounts.from_table(table, prediction="said", **(COLUMNS | more))


def judging(table, **more):
    return lambda: FoldedData.from_table(table, prediction="said", **(COLUMNS | more))


def test_one_fold_is_none():
    fit, test = parts(cross_fitted())
    refused(fitting(fit.assign(fold=2)), '"fold"', "one fold", '"2"', "at least two")
    refused(judging(test.assign(fold=2)), '"fold"', "one fold", '"2"', "at least two")


def test_every_client_has_people_in_every_fold():
    fit, _ = parts(cross_fitted())
    lacking = fit[(fit["site"] != "s1") | (fit["fold"] != 2)]
    refused(fitting(lacking), 'client "s1"', 'fold "2"', "every client")


def test_a_person_in_two_folds_is_named_with_both_rows():
    fit, _ = parts(cross_fitted())
    fit = fit.reset_index(drop=True)
    other = fit.iloc[[7]].assign(fold=(fit["fold"][7] + 1) % 3)
    twice = pd.concat([fit, other], ignore_index=True)
    person, client = fit["id"][7], fit["site"][7]
    refused(fitting(twice), f'"{person}" of client "{client}"', "two folds", f"8 and {len(twice)}")
    # The same ids in another client are other people.
    other = fit.iloc[[7] * 3].assign(site="s9", fold=[0, 1, 2], id=[person, "b", "c"])
    fitting(pd.concat([fit, other], ignore_index=True))()


@pytest.mark.parametrize("column", ["fold", "id"])
@pytest.mark.parametrize("nothing", [None, float("nan"), "", "  "])
def test_a_row_without_a_fold_or_an_id(column, nothing):
    fit, test = parts(cross_fitted())
    for table, call in ((fit, fitting), (test, judging)):
        table = changed(
            table.reset_index(drop=True).astype({column: object}), 4, **{column: nothing}
        )
        refused(call(table), f'"{column}"', "data row 5", "fill it in")


def test_a_test_person_has_one_row_of_every_fold():
    _, test = parts(cross_fitted())
    test = test.reset_index(drop=True)
    person, client, fold = test.loc[5, ["id", "site", "fold"]]
    whose = f'person "{person}" of client "{client}"'
    refused(
        judging(test.drop(index=5)), whose, f'no row of fold "{fold}"', "one row for each fold"
    )
    twice = pd.concat([test, test.iloc[[5]]])
    refused(judging(twice), whose, f'2 rows of fold "{fold}"')
    elsewhere = changed(test, 5, site="s9")  # a client is part of who it is
    refused(judging(elsewhere), "no row of fold", "one row for each fold")


@pytest.mark.parametrize(("column", "what"), [("sex", "group"), ("truth", "label")])
def test_a_test_persons_rows_agree(column, what):
    _, test = parts(cross_fitted())
    test = test.reset_index(drop=True)
    values = sorted(set(test[column]))
    other = values[1 - values.index(test.loc[5, column])]
    person = test.loc[5, "id"]
    refused(
        judging(changed(test, 5, **{column: other})),
        f'"{person}"',
        f"the {what}s",
        *(f'"{value}"' for value in values),
        f"the same {what} in every fold",
    )


def test_nobody_is_fitted_on_and_tested_on():
    table = cross_fitted()
    fit, test = (table["split"] == name for name in ("fit", "test"))
    rows = FoldRows.of(table, client="site", row_id="id", fold="fold")
    rows.check_apart(fit.to_numpy(), test.to_numpy())
    one = table.index[fit][3]
    leaked = changed(table, table.index[test][2], id=table["id"][one], site=table["site"][one])
    rows = FoldRows.of(leaked, client="site", row_id="id", fold="fold")
    refused(
        lambda: rows.check_apart(fit.to_numpy(), test.to_numpy()),
        f'"{table["id"][one]}" of client "{table["site"][one]}"',
        "both fitted on and a test person",
        f"data row {table.index[test][2] + 1}",
    )


def test_a_fold_column_needs_row_ids_and_columns_that_are_there():
    fit, test = parts(cross_fitted())
    for call, table in ((fitting, fit), (judging, test)):
        refused(call(table, row_id=None), "fold column", "--row-id")
        refused(call(table, fold="fould"), 'no column "fould"')
        refused(call(table, row_id="idd"), 'no column "idd"')


# -------------------------------------------------------------------- splits


def test_splits_as_people_write_them():
    column = code_column(["Train", "VAL", " test ", "holdout", "fit", "other", None], "split")
    assert code_splits(column, "split").tolist() == [TRAINING, FIT, TEST, TEST, FIT, -1, -1]
    crossed = code_splits(column, "split", cross_fitted=True)
    assert crossed.tolist() == [FIT, FIT, TEST, TEST, FIT, -1, -1]
    only = code_column(["train", "test"], "part")
    refused(lambda: code_splits(only, "part"), '"part"', 'no rows of "validation"', '"train"')
    assert code_splits(only, "part", [TEST]).tolist() == [TRAINING, TEST]
    assert code_splits(only, "part", cross_fitted=True).tolist() == [FIT, TEST]
