"""Tables that are wrong: the sentence names the file, the row and the column."""

import numpy as np
import pytest

from tests.cli.refusing import BODY, HEADER, count_of, predict_of, refused
from tests.cli.running import people

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
}


@pytest.mark.parametrize(("more", "says"), OPTIONS_OF_COUNT.values(), ids=OPTIONS_OF_COUNT)
def test_rows_against_what_is_declared(files, more, says):
    path = files / "few.csv"
    path.write_text(HEADER + BODY, "utf-8")
    refused(files, *count_of(files, path, *more), says=[path, *says])


def test_neither_prediction_nor_scores_and_both(files):
    refused(files, *count_of(files, files.rows, answer=()), says=["prediction", "score"])
    both = count_of(files, files.rows, "--scores", "a,b")
    refused(files, *both, says=["prediction", "score"])


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
