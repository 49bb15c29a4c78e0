"""Bad input ends in one sentence and exit code 2, and leaves every file as it was."""

import copy
import json
import os
import re
import signal
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fairfl_core._io.json_files import read_json
from fairfl_core._io.tables import open_table_at, read_rows
from fairfl_core.errors import InputError
from fairfl_core.evaluation.evaluation import evaluate
from fairfl_core.people.counts import ClientCounts
from fairfl_core.predictors.predictor import FairPredictor
from fairfl_core.solving.program import FairnessProgram
from tests.cli.test_cli import ANSWERED, COLUMNS, REPO, make_files, people, run, shell

FUZZ = settings(max_examples=120, derandomize=True)
PRECIOUS = b"an earlier result\n"
TO_DO = re.compile(
    r"\b(add|adjust|check|choose|close|correct|count|fill|fit|free|give|keep|leave|make|name|put|"
    r"raise|remove|rename|replace|save|see|set|shorten|use|write)\b|at least|must|needs|"
    r"one of|like \w|its columns are|the table has|they hold|the clients are",
    re.IGNORECASE,
)
JARGON = re.compile(
    r"Traceback|NoneType|subscriptable|inhomogeneous|object is not|\w+Error\b|<.*>"
)


@pytest.fixture
def files(tmp_path):
    """Good files, and an earlier output that no refused run may touch."""
    made = make_files(tmp_path)
    for name in ("out.json", "out.csv", "out.parquet"):
        (tmp_path / name).write_bytes(PRECIOUS)
    return made


def tree(folder):
    """Every file below a folder with its bytes; what is no file, with its kind."""
    return {
        path.relative_to(folder): path.read_bytes()
        if path.is_file()
        else stat.S_IFMT(path.lstat().st_mode)
        for path in sorted(folder.rglob("*"))
    }


def check_sentence(err, says=()):
    assert len(err.splitlines()) == 1, err
    assert err.startswith("fairfl: ") and err.endswith(".\n"), err
    assert not JARGON.search(err), err
    assert TO_DO.search(err), f"says not what to do: {err}"
    for part in says:
        assert str(part) in err, err


def refused(files, *argv, says=(), stdin=b""):
    """Run a command that must be refused."""
    before = tree(files.folder)
    ended = run(*argv, stdin=stdin)
    assert (ended.code, ended.out) == (2, ""), ended
    assert tree(files.folder) == before
    check_sentence(ended.err, says)


def counts_readers(files, counts):
    """Every command that reads counts."""
    return {
        "solve": ("solve", counts, "--out", files / "out.json", "--json"),
        "map": ("map", counts),
        "evaluate": ("evaluate", files.predictor, counts, "--json"),
        "privatize": ("privatize", counts, "--epsilon", "1", "--out", files / "out.json"),
    }


def predictor_readers(files, predictor):
    return {
        "evaluate": ("evaluate", predictor, files.counts),
        "predict": (
            "predict", predictor, files.rows, *ANSWERED, "--seed", "1", "--out", files / "out.csv",
        ),
    }  # fmt: skip


def count_of(files, rows, *more, answer=("--prediction", "model")):
    return ("count", rows, *COLUMNS, *answer, *more, "--out", files / "out.json")


def predict_of(files, rows, *more):
    return ("predict", files.predictor, rows, *ANSWERED, *more, "--out", files / "out.csv")


def loaded(path):
    return json.loads(path.read_text("utf-8"))


# -------------------------------------------------------------------- files that are not there


@pytest.mark.parametrize("reader", ["solve", "map", "evaluate", "privatize"])
def test_counts_that_are_not_there(files, reader):
    path = files / "nowhere.json"
    refused(files, *counts_readers(files, path)[reader], says=[path, "no such file"])


@pytest.mark.parametrize("reader", ["evaluate", "predict"])
def test_a_predictor_that_is_not_there(files, reader):
    path = files / "nowhere.json"
    refused(files, *predictor_readers(files, path)[reader], says=[path, "no such file"])


@pytest.mark.parametrize("name", ["nowhere.csv", "nowhere.parquet", "no/where.csv",
                                  "rows.csv/x.csv", "x" * 300 + ".csv"])  # fmt: skip
def test_rows_that_are_not_there(files, name):
    refused(files, *count_of(files, files / name), says=[name])
    refused(files, *predict_of(files, files / name), says=[name])


def test_a_folder_is_no_file(files):
    refused(files, *count_of(files, files.folder), says=[files.folder])
    refused(files, "solve", files.folder, says=[files.folder])
    refused(files, "solve", files / ("x" * 300), says=["File name too long"])


# -------------------------------------------------------------------- not JSON, not ours

NOT_JSON = {
    "empty": b"",
    "half": b'{"format": "fairfl-counts/1", "labels": [',
    "a comma too many": b"[1, 2, ]",
    "two documents": b"{} {}",
    "not UTF-8": b"\xff\xfe{}",
    "NaN": b'{"a": NaN}',
    "a key twice": b'{"format": "fairfl-counts/1", "format": "fairfl-counts/1"}',
    "too deep": b"[" * 100_000,
    "a number of 5000 digits": b"[" + b"1" * 5000 + b"]",
    "CSV": b"client,group\nA,f\n",
}


@pytest.mark.parametrize("content", NOT_JSON.values(), ids=NOT_JSON)
def test_what_is_not_json(files, content):
    path = files / "wrong.json"
    path.write_bytes(content)
    refused(files, *counts_readers(files, path)["solve"], says=[path])
    refused(files, *predictor_readers(files, path)["predict"], says=[path])
    refused(files, "solve", "-", stdin=content)


@pytest.mark.parametrize("tag", ["fairfl-counts/2", "", None, 1, ["fairfl-counts/1"], "absent"])
def test_a_wrong_format_tag(files, tag):
    path = files / "wrong.json"
    for good in (files.counts, files.predictor):
        value = loaded(good) | {"format": tag}
        if tag == "absent":
            del value["format"]
        path.write_text(json.dumps(value), "utf-8")
        readers = counts_readers if good == files.counts else predictor_readers
        for argv in readers(files, path).values():
            refused(files, *argv, says=[path, '"format"', "`fairfl "])


def test_counts_and_predictor_exchanged(files):
    refused(files, "evaluate", files.counts, files.predictor, says=["counts.json", "predictor/1"])
    refused(files, "solve", files.predictor, says=["predictor.json", "fairfl-counts/1"])


@pytest.mark.parametrize("value", [[], None, "x", 3, {}])
def test_json_of_another_kind(files, value):
    path = files / "wrong.json"
    path.write_text(json.dumps(value), "utf-8")
    refused(files, "solve", path, says=[path, "fairfl-counts/1"])
    refused(files, "evaluate", path, files.counts, says=[path, "fairfl-predictor/1"])


# -------------------------------------------------------------------- counts that are wrong


def change(*path, to):
    """Set one place of a JSON value; a function is called with what stands there."""

    def apply(value):
        for step in path[:-1]:
            value = value[step]
        value[path[-1]] = to(value[path[-1]]) if callable(to) else to

    return apply


def without(*path):
    def apply(value):
        for step in path[:-1]:
            value = value[step]
        del value[path[-1]]

    return apply


def both(*changes):
    def apply(value):
        for one in changes:
            one(value)

    return apply


CELL = ("clients", 1, "counts", 0, 1, 0)  # client north, group f, label yes, prediction no
PLACE = ['"north"', '"f"', '"yes"', '"no"']
NOISY = change("noisy", to=True)
NOBODY = [[[0, 0], [0, 0]], [[0, 0], [0, 0]]]
WRONG_COUNTS = {
    "ragged predictions": (change(*CELL[:-1], to=[1]), PLACE[:3]),
    "ragged labels": (change(*CELL[:-2], to=[[1, 2]]), PLACE[:2]),
    "ragged groups": (without(*CELL[:-2]), PLACE[:1]),
    "a group too many": (change("clients", 1, "counts", to=lambda x: [*x, x[0]]), PLACE[:1]),
    "too deep": (change(*CELL, to=[1]), PLACE),
    "negative": (change(*CELL, to=-1), [*PLACE, "-1", "negative"]),
    "negative and noisy": (both(NOISY, change(*CELL, to=-0.5)), [*PLACE, "-0.5", "negative"]),
    "infinite": (both(NOISY, change(*CELL, to=float("inf"))), ["finite"]),
    "a real": (change(*CELL, to=1.5), ['"north"', '"noisy"']),
    "text": (change(*CELL, to="3"), [*PLACE, "'3'"]),
    "null": (change(*CELL, to=None), PLACE),
    "true": (change(*CELL, to=True), PLACE),
    "beyond exact integers": (change(*CELL, to=2**60), PLACE),
    "of 400 digits": (change(*CELL, to=10**400), PLACE),
    "one label": (
        both(
            change("labels", to=["no"]),
            change("favourable", to="no"),
            change("clients", to=[{"name": "A", "counts": [[[1]], [[1]]]}]),
        ),
        ["labels", "at least 2"],
    ),
    "no label": (
        both(change("labels", to=[]), change("clients", to=[{"name": "A", "counts": [[], []]}])),
        ["labels", "at least 2"],
    ),
    "one group": (
        both(
            change("groups", to=["f"]),
            change("clients", to=[{"name": "A", "counts": [[[1, 1], [1, 1]]]}]),
        ),
        ["groups", "at least 2"],
    ),
    "no client": (change("clients", to=[]), ["clients", "at least 1"]),
    "a client twice": (change("clients", 0, "name", to="north"), ['"north"', "twice"]),
    "a group twice": (change("groups", to=["f", "f"]), ['"f"', "twice"]),
    "a label twice": (change("labels", to=["yes", "yes"]), ['"yes"', "twice"]),
    "a client without a name": (change("clients", 1, "name", to=" "), ["clients", "empty name"]),
    "a client with no rows": (change("clients", 1, "counts", to=NOBODY), ['"north"', "no rows"]),
    "an unknown key": (change("comment", to="hello"), ['"comment"']),
    "an unknown key of a client": (change("clients", 1, "n", to=3), ['"n"', "clients[1]"]),
    "no groups key": (without("groups"), ['"groups"']),
    "no favourable key": (without("favourable"), ['"favourable"']),
    "no counts key": (without("clients", 1, "counts"), ['"counts"', "clients[1]"]),
    "favourable is no label": (change("favourable", to="maybe"), ['"maybe"', '"yes"']),
    "favourable is a number": (change("favourable", to=1), ['"favourable"']),
    "labels are numbers": (change("labels", to=[0, 1]), ['"labels"']),
    "labels are text": (change("labels", to="ny"), ['"labels"']),
    "groups are null": (change("groups", to=None), ['"groups"']),
    "clients are an object": (change("clients", to={"north": NOBODY}), ['"clients"']),
    "clients are names": (change("clients", to=["north"]), ['"clients"']),
    "a name is a number": (change("clients", 1, "name", to=7), ['"name"', "clients[1]"]),
    "noisy is text": (change("noisy", to="yes"), ['"noisy"']),
    "a name that no file can hold": (change("clients", 1, "name", to="\ud800"), ["clients"]),
}


@pytest.mark.parametrize(("apply", "says"), WRONG_COUNTS.values(), ids=WRONG_COUNTS)
def test_wrong_counts(files, apply, says):
    value = loaded(files.counts)
    apply(value)
    path = files / "wrong.json"
    path.write_text(json.dumps(value), "utf-8")
    refused(files, *counts_readers(files, path)["solve"], says=[path, *says])


@pytest.mark.parametrize("reader", ["solve", "map", "evaluate", "privatize"])
def test_every_reader_refuses_wrong_counts(files, reader):
    value = loaded(files.counts)
    change(*CELL, to=-1)(value)
    path = files / "wrong.json"
    path.write_text(json.dumps(value), "utf-8")
    refused(files, *counts_readers(files, path)[reader], says=[path, *PLACE, "negative"])


def test_an_infinite_count_written_as_a_large_exponent(files):
    path = files / "wrong.json"
    for noisy in (False, True):
        value = loaded(files.counts) | {"noisy": noisy}
        change(*CELL, to=123456789)(value)
        text = json.dumps(value).replace("123456789", "1e999")
        path.write_text(text, "utf-8")
        refused(files, "solve", path, says=[path, '"north"'])


def test_one_sentence_is_one_line_whatever_the_names_hold(files):
    value = loaded(files.counts)
    value["clients"][0]["name"] = value["clients"][1]["name"] = "two\nlines\r\x1b[31m"
    path = files / "wrong.json"
    path.write_text(json.dumps(value), "utf-8")
    refused(files, "solve", path, says=[path, "twice"])
    rows = people(20)
    rows.loc[3, "sex"] = "two\nlines"
    rows.to_csv(files / "wrong.csv", index=False)
    refused(
        files, *count_of(files, files / "wrong.csv", "--groups", "f,m"), says=['"sex"', "U+000A"]
    )


def test_counts_that_noise_left_nobody_in(files):
    value = loaded(files.counts) | {"noisy": True}
    for client in value["clients"]:
        client["counts"] = NOBODY
    path = files / "wrong.json"
    path.write_text(json.dumps(value), "utf-8")
    for argv in (("solve", path), ("map", path), ("map", path, "--notion", "eop")):
        refused(files, *argv, says=[path])
    refused(files, "evaluate", files.predictor, path, "--json", says=[path])


def test_noise_is_added_once(files):
    value = loaded(files.counts) | {"noisy": True}
    path = files / "noisy.json"
    path.write_text(json.dumps(value), "utf-8")
    argv = ("privatize", path, "--epsilon", "1", "--out", files / "out.json")
    refused(files, *argv, says=[path, "noisy already"])
    refused(files, *argv, "--seed", "1", says=[path, "noisy already"])


# -------------------------------------------------------------------- rows that are wrong

HEADER = "clinic,sex,diagnosis,model\n"
BODY = "north,f,no,no\nnorth,f,yes,yes\nnorth,m,no,yes\nsouth,m,yes,yes\nsouth,f,no,no\n"
WRONG_ROWS = {
    "nothing": (b"", []),
    "a header only": (HEADER, ["no rows"]),
    "not UTF-8": ((HEADER + BODY).encode("utf-16"), ["UTF-8"]),
    "latin-1": ((HEADER + BODY + "Québec,f,no,no\n").encode("latin-1"), ["UTF-8"]),
    "no such column": ((HEADER + BODY).replace("sex", "gender"), ['"sex"', '"gender"']),
    "a column twice": (
        "clinic,sex,diagnosis,model,clinic\n" + BODY.replace("\n", ",east\n"),
        ['"clinic"'],
    ),
    "a cell too many": (HEADER + BODY + "north,f,no,no,no\n", ["data row 6", "5 cells"]),
    "a cell too many everywhere": (HEADER + BODY.replace("\n", ",no\n"), ["data row 1"]),
    "a comma in a name": (HEADER + BODY + "north, upper,f,no,no\n", ["data row 6", "5 cells"]),
    "a cell too few": (HEADER + BODY + "north,f,no\n", ["data row 6", "3 cells"]),
    "an empty cell": (HEADER + BODY + "north,,no,no\n", ['"sex"', "data row 6", "empty"]),
    "a blank cell": (HEADER + BODY + "  ,f,no,no\n", ['"clinic"', "data row 6", "empty"]),
    "a quote left open": (HEADER + BODY + '"north,f,no,no\n', []),
    "one group": ((HEADER + BODY).replace(",m,", ",f,"), ["group", "at least two"]),
    "one label": ((HEADER + BODY).replace("yes", "no"), ["label", "at least two"]),
}


@pytest.mark.parametrize(("content", "says"), WRONG_ROWS.values(), ids=WRONG_ROWS)
def test_wrong_rows(files, content, says):
    path = files / "wrong.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    refused(files, *count_of(files, path), says=[path, *says])
    refused(files, *count_of(files, "-"), stdin=path.read_bytes(), says=says)
    if says[:1] not in (["group"], ["label"]):  # a predictor needs no two of them
        refused(files, *predict_of(files, path, "--seed", "1"), says=[path, *says[:1]])


OPTIONS_OF_COUNT = {
    "a group not declared": (["--groups", "f,x"], ['"sex"', "data row 3", '"m"', "--groups"]),
    "a label not declared": (
        ["--labels", "no,perhaps"],
        ["data row 2", '"yes"', "--labels"],
    ),
    "a client not declared": (
        ["--clients", "north"],
        ['"clinic"', "data row 4", '"south"', "--clients"],
    ),
    "a declared client with no rows": (["--clients", "north,south,east"], ['"east"', "no rows"]),
    "a label declared twice": (["--labels", "no,yes,no"], ['"no"', "twice"]),
    "a group declared twice": (["--groups", "f,m,f"], ['"f"', "twice"]),
    "an empty declaration": (["--groups", ""], ["--groups"]),
    "an empty name declared": (["--groups", "f,m,"], ["groups", "empty"]),
    "one group declared": (["--groups", "f"], ["data row 3", '"m"']),
    "favourable is no label": (["--favourable", "perhaps"], ['"perhaps"', '"yes"']),
    "scores as well": (["--scores", "a,b"], ["prediction", "score"]),
}


@pytest.mark.parametrize(("more", "says"), OPTIONS_OF_COUNT.values(), ids=OPTIONS_OF_COUNT)
def test_rows_against_what_is_declared(files, more, says):
    path = files / "few.csv"
    path.write_text(HEADER + BODY, "utf-8")
    refused(files, *count_of(files, path, *more), says=[path, *says])


def test_neither_prediction_nor_scores(files):
    refused(files, *count_of(files, files.rows, answer=()), says=["prediction", "score"])


@pytest.mark.parametrize("score", ["nan", "NaN", "inf", "-inf", "", "high", "1e999", "0,5"])
def test_scores_that_are_no_numbers(files, score):
    rows = people(20).astype({"score_yes": object})
    rows.loc[6, "score_yes"] = score
    rows.to_csv(files / "wrong.csv", index=False)
    argv = count_of(files, files / "wrong.csv", answer=("--scores", "score_no,score_yes"))
    refused(files, *argv, says=["wrong.csv", '"score_yes"', "data row 7", f'"{score}"'])


def test_scores_that_are_missing_in_parquet(files):
    rows = people(20)
    rows.loc[6, "score_yes"] = np.nan
    rows.to_parquet(files / "wrong.parquet")
    argv = count_of(files, files / "wrong.parquet", answer=("--scores", "score_no,score_yes"))
    refused(files, *argv, says=["wrong.parquet", '"score_yes"', "data row 7"])


@pytest.mark.parametrize(
    ("scores", "more", "says"),
    [
        ("score_no", [], ["1 score", "2 labels"]),
        ("score_no,score_yes,patient", [], ["3 score", "2 labels"]),
        ("score_no,score_yes", ["--labels", "no,yes,perhaps"], ["2 score", "3 labels"]),
        ("score_no,score_yes", ["--labels", "no,perhaps"], ['"yes"', "--labels", "data row"]),
        ("score_no,score_maybe", [], ['"score_maybe"']),
        ("score_no,score_no", [], ['"score_no"', "twice"]),
        ("", [], ["score"]),
    ],
)
def test_scores_that_do_not_fit_the_labels(files, scores, more, says):
    argv = count_of(files, files.rows, *more, answer=("--scores", scores))
    refused(files, *argv, says=[files.rows, *says])


def test_parquet_that_is_none(files):
    path = files / "wrong.parquet"
    for content in (b"", b"PAR1", HEADER.encode(), b"PAR1" + b"\0" * 100 + b"PAR1"):
        path.write_bytes(content)
        refused(files, *count_of(files, path), says=[path])
        refused(files, *predict_of(files, path), says=[path])


@pytest.mark.parametrize("column", ["clinic", "sex", "diagnosis"])
def test_parquet_with_lists_for_names(files, column):
    rows = people(20)
    rows[column] = [[1, 2]] * 20
    rows.to_parquet(files / "wrong.parquet")
    refused(
        files, *count_of(files, files / "wrong.parquet"), says=["wrong.parquet", f'"{column}"']
    )


@pytest.mark.parametrize("column", ["clinic", "sex", "diagnosis", "model"])
def test_parquet_with_a_missing_name(files, column):
    rows = people(20)
    rows.loc[4, column] = None
    rows.to_parquet(files / "wrong.parquet")
    says = ["wrong.parquet", f'"{column}"', "data row 5", "empty"]
    refused(files, *count_of(files, files / "wrong.parquet"), says=says)


# -------------------------------------------------------------------- a predictor that does not fit


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


# -------------------------------------------------------------------- options

WRONG_OPTIONS = {
    "epsilon above one": (["--eps-global", "1.5"], ["1.5", "between 0 and 1"]),
    "epsilon below zero": (["--eps-global", "-0.1"], ["-0.1", "between 0 and 1"]),
    "epsilon not a number": (["--eps-global", "nan"], ["nan", "between 0 and 1"]),
    "epsilon infinite": (["--eps-local", "inf"], ["inf", "between 0 and 1"]),
    "epsilon in words": (["--eps-local", "small"], ["--eps-local", "small"]),
    "local epsilon above one": (["--eps-local", "2"], ["2", "between 0 and 1"]),
    "an unknown client": (["--eps-local-client", "west=0.1"], ['"west"', '"north"']),
    "no epsilon for a client": (["--eps-local-client", "north"], ["north", "NAME=EPSILON"]),
    "an epsilon in words": (["--eps-local-client", "north=x"], ["north=x", "NAME=EPSILON"]),
    "no client for an epsilon": (["--eps-local-client", "=0.1"], ["--eps-local-client"]),
    "an epsilon above one": (["--eps-local-client", "north=7"], ['"north"', "7", "between"]),
    "an epsilon that is none": (["--eps-local-client", "north=nan"], ['"north"', "nan"]),
    "an epsilon twice": (
        ["--eps-local-client", "north=0.1", "--eps-local-client", "north=0.2"],
        ['"north"', "twice"],
    ),
    "an unknown notion": (["--notion", "fair"], ['"fair"', "eo-full"]),
    "an unknown region": (["--region", "here"], ['"here"', "kernel"]),
    "eo-full of the simplex": (["--notion", "eo-full"], ["eo-full", "kernel"]),
    "an unknown option": (["--epsilon", "0.1"], ["--epsilon"]),
    "an option without value": (["--eps-global"], ["--eps-global"]),
}


@pytest.mark.parametrize(("more", "says"), WRONG_OPTIONS.values(), ids=WRONG_OPTIONS)
def test_wrong_options_of_solve(files, more, says):
    refused(files, "solve", files.counts, "--out", files / "out.json", *more, says=says)


@pytest.mark.parametrize("notion", ["eo", "eop"])
@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["--epsilons", "0.1,1.5"], ["1.5", "between 0 and 1"]),
        (["--epsilons", "-0.1"], ["-0.1", "between 0 and 1"]),
        (["--epsilons", "nan"], ["nan", "between 0 and 1"]),
        (["--epsilons", "small"], ["--epsilons", "small"]),
        (["--epsilons", ""], ["--epsilons"]),
        (["--epsilons", "0.1,,0.2"], ["--epsilons", "0.1,,0.2"]),
        (["--epsilons", "0.1;0.2"], ["--epsilons", "0.1;0.2"]),
        (["--region", "here"], ['"here"', "kernel"]),
    ],
)
def test_wrong_options_of_map(files, notion, more, says):
    refused(files, "map", files.counts, "--notion", notion, *more, says=says)


def test_wrong_notions_of_map(files):
    refused(files, "map", files.counts, "--notion", "fair", says=['"fair"', "eo-full"])
    refused(files, "map", files.counts, "--notion", "eo-full", says=["eo-full", "kernel"])


@pytest.mark.parametrize("seed", [(), ("--seed", "1")])
@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["--epsilon", "0"], ["epsilon", "0", "above 0"]),
        (["--epsilon", "-1"], ["epsilon", "-1", "above 0"]),
        (["--epsilon", "nan"], ["epsilon", "nan"]),
        (["--epsilon", "inf"], ["epsilon", "inf"]),
        (["--epsilon", "1e-320"], ["epsilon"]),
        (["--epsilon", "1e-30"], ["epsilon"]),
        (["--epsilon", "1e-30", "--mechanism", "paper"], ["epsilon"]),
        (["--epsilon", "much"], ["--epsilon", "much"]),
        ([], ["--epsilon"]),
        (["--epsilon", "1", "--mechanism", "gauss"], ['"gauss"', "histogram"]),
        (["--epsilon", "1", "--neighbours", "next"], ['"next"', "replace-one"]),
    ],
)
def test_wrong_options_of_privatize(files, more, says, seed):
    argv = ("privatize", files.counts, *more, *seed, "--out", files / "out.json")
    refused(files, *argv, says=says)


@pytest.mark.parametrize("seed", ["-1", "1.5", "x", ""])
def test_wrong_seeds(files, seed):
    argv = ("privatize", files.counts, "--epsilon", "1", "--out", files / "out.json")
    refused(files, *argv, "--seed", seed, says=["--seed"])
    refused(files, *predict_of(files, files.rows, "--seed", seed), says=["--seed"])


@pytest.mark.parametrize(
    "argv", [("solv",), ("solve",), ("count", "rows.csv"), ("predict", "p.json"), ("--nothing",)]
)
def test_wrong_use(files, argv):
    refused(files, *argv, says=["--help"])


# -------------------------------------------------------------------- files that cannot be written


def writers(files, out):
    return {
        "count": count_of(files, files.rows)[:-1] + (out,),
        "solve": ("solve", files.counts, "--json", "--out", out),
        "predict": predict_of(files, files.rows, "--seed", "1")[:-1] + (out,),
        "privatize": ("privatize", files.counts, "--epsilon", "1", "--seed", "1", "--out", out),
    }


OUT = {
    "a folder that is not there": "no/where.json",
    "a file for a folder": "rows.csv/out.json",
    "a folder": "folder",
    "this folder": ".",
    "the folder above": "folder/..",
    "nothing": "",
    "the root": "/",
    "a name too long": "x" * 300,
    "a system folder": "/proc/out.json",
}


@pytest.mark.parametrize("command", ["count", "solve", "predict", "privatize"])
@pytest.mark.parametrize("out", OUT.values(), ids=OUT)
def test_an_output_that_cannot_be_written(files, command, out, monkeypatch):
    (files / "folder").mkdir()
    monkeypatch.chdir(files.folder)
    refused(files, *writers(files, out)[command], says=[out[:40], "cannot be written"])


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write all")
def test_an_output_in_a_folder_one_may_not_write_to(files):
    folder = files / "closed"
    folder.mkdir()
    (folder / "out.json").write_bytes(PRECIOUS)
    folder.chmod(0o555)
    try:
        for argv in writers(files, folder / "out.json").values():
            refused(files, *argv, says=[folder, "cannot be written"])
    finally:
        folder.chmod(0o755)


def test_an_output_that_is_no_plain_file_is_left_alone(files):
    # Renaming over /dev/null or /dev/stdout would take it away from everybody.
    os.mkfifo(files / "pipe")
    for argv in writers(files, files / "pipe").values():
        refused(files, *argv, says=["pipe", "cannot be written"])


def test_a_name_that_just_fits_can_be_written(files):
    out = files / ("x" * 250 + ".json")
    assert run(*writers(files, out)["solve"]).code == 0
    assert loaded(out)["format"] == "fairfl-predictor/1"


# A file size limit is a disk that fills up in the middle of a write.
FULL = """
import resource, signal, sys
from fairfl_core.cli import main
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100, resource.RLIM_INFINITY))
main()
"""
KILLED = """
import os, signal, sys
from fairfl_core.cli import main
def kill(*_): os.kill(os.getpid(), signal.SIGKILL)
os.{moment} = kill
main()
"""


def python(code, argv):
    words = [sys.executable, "-c", code, *(str(word) for word in argv)]
    return subprocess.run(words, cwd=REPO, capture_output=True, timeout=60)


@pytest.mark.parametrize("command", ["solve", "predict"])
def test_a_disk_that_is_full_leaves_the_old_file_whole(files, command):
    out = files / "out.csv"
    before = tree(files.folder)
    ended = python(FULL, writers(files, out)[command])
    assert (ended.returncode, ended.stdout) == (2, b"")
    check_sentence(ended.stderr.decode(), [out, "cannot be written"])
    assert tree(files.folder) == before


@pytest.mark.parametrize(
    ("command", "moment", "name"),
    [
        ("count", "fsync", "out.json"),
        ("solve", "replace", "out.json"),
        ("predict", "fsync", "out.csv"),
        ("predict", "replace", "out.parquet"),
        ("privatize", "replace", "out.json"),
    ],
)
def test_a_run_killed_while_writing_leaves_the_old_file_whole(files, command, moment, name):
    before = tree(files.folder)
    argv = writers(files, files / name)[command]
    ended = python(KILLED.format(moment=moment), argv)
    assert ended.returncode == -signal.SIGKILL, ended
    after = tree(files.folder)
    assert {path: after.get(path) for path in before} == before
    left = [path for path in after if path not in before]
    assert len(left) == 1 and left[0].name.startswith("."), left
    assert run(*argv).code == 0  # and what is left behind is in nobody's way
    assert (files / name).read_bytes() != PRECIOUS


def test_an_output_is_written_over_an_older_one(files):
    for command, argv in writers(files, files / "out.csv").items():
        (files / "out.csv").write_bytes(PRECIOUS)
        assert run(*argv).code == 0, command
        assert (files / "out.csv").read_bytes() != PRECIOUS
        assert not [path for path in files.folder.iterdir() if path.name.startswith(".")]


# -------------------------------------------------------------------- in a real shell


def test_a_real_process_ends_the_same_way(files):
    ended = shell("solve", files / "nowhere.json", "--json", "--out", files / "out.json")
    assert (ended.returncode, ended.stdout) == (2, b"")
    check_sentence(ended.stderr.decode(), ["nowhere.json", "no such file"])
    assert (files / "out.json").read_bytes() == PRECIOUS


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="only Linux has it")
@pytest.mark.parametrize("more", [("--json",), ()])
def test_a_standard_output_that_is_full(files, more):
    with open("/dev/full", "wb") as full:
        ended = shell(
            "solve", files.counts, *more, capture_output=False, stdout=full, stderr=subprocess.PIPE
        )
    assert ended.returncode == 2
    assert len(ended.stderr.splitlines()) == 1
    assert b"Traceback" not in ended.stderr and b"No space left" in ended.stderr


# -------------------------------------------------------------------- anything at all
# Whatever is read, the answer is a value or an InputError, never another exception.

names = st.one_of(
    st.sampled_from(["f", "m", "no", "yes", "north", "", " ", "\ud800", "\0", "1", "1.0"]),
    st.text(max_size=3),
)
numbers = st.one_of(
    st.integers(-2, 9),
    st.sampled_from(
        [2**53, 2**53 + 1, 2**63, -(2**70), 10**400, 0.5, -0.0, 1e-320, 1e308, float("inf")]
    ),
    st.floats(),
)
scalars = st.one_of(st.none(), st.booleans(), numbers, names)
anything = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names, inner, max_size=4),
    max_leaves=12,
)

COUNTS = {
    "format": "fairfl-counts/1",
    "labels": ["no", "yes"],
    "favourable": "yes",
    "groups": ["f", "m"],
    "clients": [
        {"name": "north", "counts": [[[9, 2], [3, 8]], [[7, 1], [1, 9]]]},
        {"name": "south", "counts": [[[5, 4], [4, 6]], [[6, 1], [2, 5]]]},
    ],
}
TRUE = ClientCounts.from_json(COUNTS)
PREDICTOR = FairPredictor.from_solution(FairnessProgram(TRUE).solve(0.01, 0.05)).to_json()


def places(value, path=()):
    """Every place in a JSON value."""
    if path:
        yield path
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from places(value[key], (*path, key))


def at(value, path):
    for step in path:
        value = value[step]
    return value


def renamed(value, old, new):
    """The same value with one name changed wherever it stands."""
    if isinstance(value, dict):
        return {new if key == old else key: renamed(part, old, new) for key, part in value.items()}
    if isinstance(value, list):
        return [renamed(part, old, new) for part in value]
    return new if value == old and isinstance(value, str) else value


@st.composite
def mutated(draw, value):
    """A valid value with one to three places changed, taken away, doubled or renamed."""
    value = copy.deepcopy(value)
    for _ in range(draw(st.sampled_from([1, 1, 1, 2, 3]))):
        how = draw(
            st.sampled_from(["name", "number", "number", "number", "any", "drop", "double"])
        )
        if how == "name":
            old = draw(st.sampled_from(["north", "south", "f", "m", "no", "yes"]))
            value = renamed(value, old, draw(names))
            continue
        kind = int | float if how == "number" else object
        found = [path for path in places(value) if isinstance(at(value, path), kind)]
        if not found:
            continue
        *above, last = draw(st.sampled_from(found))
        inner = at(value, above)
        if how == "drop":
            del inner[last]
        elif how != "double":
            inner[last] = draw(numbers if how == "number" else anything)
        elif isinstance(inner, list):
            inner.append(copy.deepcopy(inner[last]))
        else:
            inner[draw(names)] = inner[last]
    return value


def goes_out_as_it_came_in(kind, value):
    """Take a value; if it is taken, it can be written and read again."""
    try:
        taken = kind.from_json(value)
    except InputError as error:
        assert str(error).endswith("."), error
        return None
    text = json.dumps(taken.to_json(), ensure_ascii=False, allow_nan=False).encode("utf-8")
    again = kind.from_json(json.loads(text))
    assert again.to_json() == taken.to_json()
    return taken


@FUZZ
@given(anything)
@example({"format": "fairfl-counts/1"})
@example({"format": "fairfl-predictor/1"})
def test_any_json_value_is_taken_or_refused(value):
    for kind in (ClientCounts, FairPredictor):
        goes_out_as_it_came_in(kind, value)


@FUZZ
@given(mutated(COUNTS) | mutated(COUNTS | {"noisy": True}))
def test_spoilt_counts_are_taken_or_refused(value):
    counts = goes_out_as_it_came_in(ClientCounts, value)
    if counts is not None:
        assert counts.table.min() >= 0 and np.isfinite(counts.table).all()
        assert len(set(counts.clients)) == len(counts.clients) >= 1
        assert len(counts.groups) >= 2 and len(counts.labels) >= 2
        if counts.n > 0:  # noise may leave nobody
            solution = FairnessProgram(counts).solve(0.01, 0.05)
            json.dumps(solution.to_json(), allow_nan=False)


@FUZZ
@given(mutated(PREDICTOR))
def test_spoilt_predictors_are_taken_or_refused(value):
    predictor = goes_out_as_it_came_in(FairPredictor, value)
    if predictor is None:
        return
    np.testing.assert_allclose(predictor.lottery.sum(axis=3), 1, atol=1e-6)
    try:
        found = evaluate(predictor, TRUE)
        predictor.sample(["north"], ["f"], ["yes"], seed=1)
    except InputError:
        return
    json.dumps(found.to_json(), allow_nan=False)


@settings(FUZZ, max_examples=60)
@given(mutated(PREDICTOR))
def test_spoilt_predictors_end_a_command_well(value):
    with tempfile.TemporaryDirectory() as folder:
        predictor, counts = Path(folder, "predictor.json"), Path(folder, "counts.json")
        predictor.write_text(json.dumps(value), "utf-8")
        TRUE.write(counts)
        ended = run("evaluate", predictor, counts)
    assert ended.code in (0, 2), ended
    assert (ended.out == "") == (ended.code == 2)


@settings(FUZZ, max_examples=200)
@given(
    st.one_of(
        st.binary(max_size=40),
        st.text(max_size=40).map(str.encode),
        st.text('[]{}":,.0123456789eE+-nulltrfas\\u ', max_size=30).map(str.encode),
        anything.map(json.dumps).map(str.encode),
        st.tuples(st.binary(max_size=3), st.integers(0, 400)).map(
            lambda cut: json.dumps(COUNTS).encode()[: cut[1]] + cut[0]
        ),
    )
)
@example(b"[" * 2000 + b"]" * 2000)
@example(b'{"a":' * 2000)
@example(b"[" + b"9" * 5000 + b"]")
@example(b"\xef\xbb\xbf{}")
def test_any_bytes_are_json_or_refused(content):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "x.json")
        path.write_bytes(content)
        try:
            value = read_json(path)
        except InputError as error:
            assert str(path) in str(error)
            return
    assert value == json.loads(content.decode("utf-8-sig")), content


cells = st.one_of(
    st.sampled_from(["f", "m", "no", "yes", "north", "1", "1.0", "007", "NA", "nan", "", " "]),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=3),
)
tables = st.integers(1, 6).flatmap(
    lambda width: st.lists(st.lists(cells, min_size=width, max_size=width), max_size=5)
)


def as_text(rows, separator, end):
    return end.join(separator.join(row) for row in rows)


@settings(FUZZ, max_examples=150)
@given(
    st.one_of(
        st.builds(as_text, tables, st.sampled_from([",", ",", ";", "\t"]),
                  st.sampled_from(["\n", "\r\n", "\r"])),
        st.text('fm01,,,\n\n"\r ;\0é.', max_size=60),
        st.lists(st.text('fm01,,,"', min_size=5, max_size=9), max_size=6).map("\n".join),
    ),
    st.sampled_from(["clinic,sex,diagnosis,model\n", "sex,clinic,diagnosis,model,x\n",
                     "clinic,sex,diagnosis,score_0,score_1\n", ""]),
)  # fmt: skip
def test_any_small_table_is_counted_or_refused(text, header):
    answer = {"scores": ["score_0", "score_1"]} if "score" in header else {"prediction": "model"}
    wanted = {"client": "clinic", "group": "sex", "label": "diagnosis"}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rows.csv")
        path.write_bytes((header + text).encode("utf-8"))
        names = [*wanted.values(), *([] if "scores" in answer else ["model"])]
        try:
            rows = read_rows(open_table_at(path), names, answer.get("scores", []))
            counts = ClientCounts.from_table(rows, **wanted, **answer)
        except InputError:
            return
    assert counts.n == len(rows) > 0
    json.dumps(counts.to_json(), ensure_ascii=False, allow_nan=False).encode("utf-8")


@settings(FUZZ, max_examples=60)
@given(
    st.data(),
    st.sampled_from([st.integers(0, 2), st.booleans(), st.floats(), st.none() | st.text(max_size=2),
                     st.binary(max_size=2), st.dates(), st.lists(st.integers(0, 1), max_size=2),
                     st.decimals(0, 2, places=1), st.dictionaries(st.just("a"), st.integers())]),
)  # fmt: skip
def test_any_parquet_column_is_counted_or_refused(data, kind):
    rows = people(6)
    column = data.draw(st.sampled_from(["clinic", "sex", "diagnosis", "model", "score_yes"]))
    rows[column] = pd.Series(data.draw(st.lists(kind, min_size=6, max_size=6)), dtype=object)
    wanted = {"client": "clinic", "group": "sex", "label": "diagnosis"}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rows.parquet")
        try:
            rows.to_parquet(path)
        except Exception:  # Arrow cannot hold it, so nobody can bring it
            return
        for answer in ({"prediction": "model"}, {"scores": ["score_no", "score_yes"]}):
            names = [*wanted.values(), *([] if "scores" in answer else ["model"])]
            try:
                rows = read_rows(open_table_at(path), names, answer.get("scores", []))
                counts = ClientCounts.from_table(rows, **wanted, **answer)
            except InputError:
                continue
            assert counts.n == 6
