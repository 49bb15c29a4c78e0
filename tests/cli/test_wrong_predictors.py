"""Predictors that are wrong, or were fitted for others."""

import json

import pytest

from tests.cli.refusing import (
    both,
    change,
    loaded,
    predict_of,
    predictor_readers,
    refused,
    without,
)
from tests.cli.running import ANSWERED, COLUMNS, people, run


@pytest.mark.parametrize(
    ("column", "name"), [("clinic", "west"), ("sex", "x"), ("model", "perhaps")]
)
def test_predict_for_whom_it_was_not_fitted(files, column, name):
    rows = people(20)
    rows.loc[11, column] = name
    rows.to_csv(files / "wrong.csv", index=False)
    for how in (("--seed", "1"), ("--row-id", "patient"), ()):
        argv = predict_of(files, files / "wrong.csv", *how)
        refused(files, *argv, says=["wrong.csv", "data row 12", f'"{name}"'])


@pytest.mark.parametrize("column", ["clinic", "sex", "model"])
def test_predict_names_the_column_that_has_a_hole(files, column):
    rows = people(20)
    rows.loc[11, column] = None
    for path in (files / "wrong.csv", files / "wrong.parquet"):
        rows.to_csv(path, index=False) if path.suffix == ".csv" else rows.to_parquet(path)
        argv = predict_of(files, path, "--seed", "1")
        refused(files, *argv, says=[path, f'"{column}"', "data row 12"])


def test_predict_needs_an_id_for_everybody(files):
    rows = people(20).astype({"patient": object})
    rows.loc[11, "patient"] = None
    for path in (files / "wrong.csv", files / "wrong.parquet"):
        rows.to_csv(path, index=False) if path.suffix == ".csv" else rows.to_parquet(path)
        refused(files, *predict_of(files, path, "--row-id", "patient"), says=[path, "data row 12"])


def test_predict_keeps_to_its_columns(files):
    refused(files, *predict_of(files, files.rows, "--row-id", "nobody"), says=['"nobody"'])
    both_ways = ("--row-id", "patient", "--seed", "1")
    refused(files, *predict_of(files, files.rows, *both_ways), says=["--seed", "--row-id"])
    people(20).assign(answer="no").to_csv(files / "answered.csv", index=False)
    argv = predict_of(files, files / "answered.csv")
    refused(files, *argv, says=["answered.csv", '"answer"'])
    argv = ("predict", files.predictor, files.rows, *ANSWERED[:-1], "nothing", "--out")
    refused(files, *argv, files / "out.csv", says=["rows.csv", '"nothing"'])


@pytest.mark.parametrize(
    ("apply", "says"),
    [
        (change("clients", 0, "name", to="west"), ["client", '"west"']),
        (change("groups", to=["f", "x"]), ["group", '"x"']),
        (both(change("labels", to=["no", "x"]), change("favourable", to="x")), ["label", '"x"']),
    ],
)
def test_evaluate_on_whom_it_was_not_fitted_for(files, apply, says):
    value = loaded(files.counts)
    apply(value)
    path = files / "others.json"
    path.write_text(json.dumps(value), "utf-8")
    refused(files, "evaluate", files.predictor, path, says=[path, *says])
    refused(files, "evaluate", files.predictor, path, "--json", says=[path, *says])


def test_evaluate_on_counts_that_lack_a_label(files):
    rows = people(labels=("no", "perhaps", "yes"))
    rows.to_csv(files / "three.csv", index=False)
    counts, predictor = files / "three.json", files / "three-predictor.json"
    argv = ("count", files / "three.csv", *COLUMNS, "--prediction", "model", "--out", counts)
    assert run(*argv).code == 0
    assert run("solve", counts, "--out", predictor).code == 0
    refused(files, "evaluate", predictor, files.counts, says=[files.counts, '"perhaps"'])


LOTTERY = ("clients", 1, "lottery")
WRONG_PREDICTORS = {
    "ragged": (without(*LOTTERY, 0), ['"north"']),
    "ragged inside": (without(*LOTTERY, 0, 0, 0), ['"north"']),
    "negative": (change(*LOTTERY, 0, 0, to=[1.5, -0.5]), []),
    "not summing to one": (change(*LOTTERY, 0, 0, to=[0.5, 0.4]), ['"north"', '"f"', '"no"']),
    "text": (change(*LOTTERY, 0, 0, to=["a", "b"]), ['"north"']),
    "null": (change(*LOTTERY, 0, 0, to=[None, 1]), []),
    "of 400 digits": (change(*LOTTERY, 0, 0, to=[10**400, 0]), []),
    "no lottery": (without(*LOTTERY), ["lottery"]),
    "a client twice": (change("clients", 0, "name", to="north"), ['"north"', "twice"]),
    "an unknown key": (change("comment", to="hello"), ['"comment"']),
    "no clients key": (without("clients"), ['"clients"']),
    "no client": (change("clients", to=[]), ["clients"]),
    "clients are a number": (change("clients", to=3), ["clients"]),
    "an unknown notion": (change("notion", to="fair"), ['"fair"', '"eop"']),
    "an unknown region": (change("region", to="here"), ['"here"', '"kernel"']),
    "favourable is no label": (change("favourable", to="maybe"), ['"maybe"']),
    "labels are null": (change("labels", to=None), ["labels"]),
    "epsilon above one": (change("epsilon", "global", to=1.5), ["epsilon", "1.5"]),
    "epsilon of 400 digits": (change("epsilon", "global", to=10**400), ["epsilon"]),
    "epsilon is null": (change("epsilon", to=None), ["epsilon"]),
    "no epsilon of a client": (without("epsilon", "local", "north"), ["north"]),
    "reached is null": (change("reached", to=None), ["reached"]),
    "reached has no gap": (without("reached", "gap"), ["gap"]),
    "accuracy reached is text": (change("reached", "accuracy", to="high"), ["accuracy"]),
    "accuracy reached is infinite": (change("reached", "accuracy", to="1e999"), ["accuracy"]),
    "gap reached is text": (change("reached", "gap", "global", to="small"), ["gap"]),
    "a local gap is a list": (change("reached", "gap", "local", "north", to=[1]), ["gap"]),
    "people of 400 digits": (change("reached", "n", to=10**400), []),
    "a name that no file can hold": (
        both(change("groups", 0, to="\ud800")),
        [],
    ),
}


@pytest.mark.parametrize(("apply", "says"), WRONG_PREDICTORS.values(), ids=WRONG_PREDICTORS)
def test_wrong_predictors(files, apply, says):
    value = loaded(files.predictor)
    apply(value)
    path = files / "wrong.json"
    path.write_text(json.dumps(value).replace('"1e999"', "1e999"), "utf-8")
    for argv in predictor_readers(files, path).values():
        refused(files, *argv, says=[path, *says])
