"""Files that are not there, not JSON, or not ours: one sentence and exit code 2."""

import json

import pytest

from tests.cli.refusing import (
    count_of,
    counts_readers,
    loaded,
    predict_of,
    predictor_readers,
    refused,
)


@pytest.mark.parametrize("reader", ["solve", "map", "evaluate", "privatize"])
def test_counts_that_are_not_there(files, reader):
    path = files / "nowhere.json"
    refused(files, *counts_readers(files, path)[reader], says=[path, "no such file"])


@pytest.mark.parametrize("reader", ["evaluate", "predict"])
def test_a_predictor_that_is_not_there(files, reader):
    path = files / "nowhere.json"
    refused(files, *predictor_readers(files, path)[reader], says=[path, "no such file"])


@pytest.mark.parametrize(
    "name",
    ["nowhere.csv", "nowhere.parquet", "no/where.csv", "rows.csv/x.csv", "x" * 300 + ".csv"],
)
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


@pytest.mark.parametrize("command", ["solve", "map", "evaluate", "privatize"])
def test_a_table_is_not_taken_for_counts_nor_counts_for_a_table(files, command):
    says = [files.rows, "is a table", "`fairfl count`", "--client"]
    refused(files, *counts_readers(files, files.rows)[command], says=says)
    says = [files.counts, "is JSON", "CSV or Parquet"]
    refused(files, *count_of(files, files.counts), says=says)


@pytest.mark.parametrize("value", [[], None, "x", 3, {}])
def test_json_of_another_kind(files, value):
    path = files / "wrong.json"
    path.write_text(json.dumps(value), "utf-8")
    refused(files, "solve", path, says=[path, "fairfl-counts/1"])
    refused(files, "evaluate", path, files.counts, says=[path, "fairfl-predictor/1"])
