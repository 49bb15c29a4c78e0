"""The contract of `count`: from rows to the counts format."""

import json
from collections import Counter

import numpy as np
import pytest

from tests.cli.running import COLUMNS, people, run


def counted_by_hand(rows):
    """A Python loop: what the table must hold."""
    cells = Counter(zip(rows.clinic, rows.sex, rows.diagnosis, rows.model, strict=True))
    labels, groups = sorted(set(rows.diagnosis) | set(rows.model)), sorted(set(rows.sex))
    return {
        "format": "fairfl-counts/1",
        "labels": labels,
        "favourable": labels[-1],
        "groups": groups,
        "clients": [
            {
                "name": name,
                "counts": [
                    [[cells[name, a, y, j] for j in labels] for y in labels] for a in groups
                ],
            }
            for name in sorted(set(rows.clinic))
        ],
    }


@pytest.mark.parametrize("labels", [("no", "yes"), ("a", "b", "c")])
@pytest.mark.parametrize("groups", [("f", "m"), ("f", "m", "x")])
def test_count_writes_the_counts_format_and_nothing_else(tmp_path, labels, groups):
    rows = people(200, labels=labels, groups=groups)
    rows.to_csv(tmp_path / "rows.csv", index=False)
    out = tmp_path / "counts.json"
    ended = run("count", tmp_path / "rows.csv", *COLUMNS, "--prediction", "model", "--out", out)
    assert ended.went_well, ended
    written = json.loads(out.read_text("utf-8"))
    assert written == counted_by_hand(rows)
    cells = np.array([client["counts"] for client in written["clients"]])
    assert cells.dtype.kind == "i"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["counts.json", "rows.csv"]


def test_count_without_out_prints_the_file_it_would_write(files):
    given = ("count", files.rows, *COLUMNS, "--prediction", "model")
    assert run(*given).json == run(*given, "--json").json
    assert run(*given).json == json.loads(files.counts.read_text("utf-8"))


def test_count_with_json_and_out_says_what_it_wrote(files):
    out = files / "new.json"
    given = ("count", files.rows, *COLUMNS, "--prediction", "model", "--out", out, "--json")
    assert run(*given).json == {
        "out": str(out),
        "n": 600,
        "clients": 3,
        "groups": ["f", "m"],
        "labels": ["no", "yes"],
        "favourable": "yes",
        "folds": 1,
    }
    assert out.read_bytes() == files.counts.read_bytes()


def test_count_by_scores_is_count_by_the_largest_score(files):
    by_answer = run("count", files.rows, *COLUMNS, "--prediction", "model").json
    by_score = ("count", files.rows, *COLUMNS, "--scores")
    assert run(*by_score, "score_no,score_yes").json == by_answer
    named = run(*by_score, "score_yes,score_no", "--labels", "yes,no").json
    assert (named["labels"], named["favourable"]) == (["yes", "no"], "no")
    turned = np.array([client["counts"] for client in named["clients"]])[:, :, ::-1, ::-1]
    assert turned.tolist() == [client["counts"] for client in by_answer["clients"]]


def test_count_takes_a_favourable_label_and_declared_names(files):
    found = run(
        "count",
        files.rows,
        *COLUMNS,
        "--prediction",
        "model",
        "--favourable",
        "no",
        "--labels",
        "yes,no,perhaps",
        "--groups",
        "m,f,x",
        "--clients",
        "south,north,east",
    ).json
    assert found["favourable"] == "no"
    assert found["labels"] == ["yes", "no", "perhaps"]
    assert found["groups"] == ["m", "f", "x"]
    assert [client["name"] for client in found["clients"]] == ["south", "north", "east"]
    assert np.array([client["counts"] for client in found["clients"]])[:, 2].sum() == 0


@pytest.mark.parametrize("kind", ["str", "object", "category", "int64", "float64", "bool"])
def test_count_of_csv_and_parquet_is_the_same(tmp_path, kind):
    rows = people(300)
    if kind in ("int64", "float64", "bool"):
        for column in ("diagnosis", "model"):
            rows[column] = (rows[column] == "yes").astype(kind)
        rows["clinic"] = rows.clinic.map({"north": 9, "south": 10, "east": 101})
    else:
        rows = rows.astype(dict.fromkeys(("clinic", "sex", "diagnosis", "model"), kind))
    rows = rows[rows.patient % 3 > 0]  # rows left out leave holes in the index
    rows.to_csv(tmp_path / "rows.csv", index=False)
    rows.to_parquet(tmp_path / "rows.parquet")
    negative = {"bool": "False,True", "int64": "0,1", "float64": "0,1"}
    labels = ("--labels", negative.get(kind, "no,yes"))
    for answer in (("--prediction", "model"), ("--scores", "score_no,score_yes", *labels)):
        given = (*COLUMNS, *answer)
        from_csv = run("count", tmp_path / "rows.csv", *given).json
        assert run("count", tmp_path / "rows.parquet", *given).json == from_csv
        assert (
            run("count", "-", *given, stdin=(tmp_path / "rows.csv").read_bytes()).json == from_csv
        )
        names = [client["name"] for client in from_csv["clients"]]
        assert names == (
            ["9", "10", "101"]
            if kind[-1].isdigit() or kind == "bool"
            else ["east", "north", "south"]
        )


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_one_column_may_be_both_label_and_prediction(tmp_path, ending):
    path = tmp_path / f"rows.{ending}"
    rows = people(100)
    rows.to_csv(path, index=False) if ending == "csv" else rows.to_parquet(path)
    found = run("count", path, *COLUMNS, "--prediction", "diagnosis").json
    table = np.array([client["counts"] for client in found["clients"]])
    assert np.einsum("cayy->", table) == 100


def test_an_index_saved_in_parquet_is_a_column_like_any_other(tmp_path):
    rows = people(100)
    rows.to_csv(tmp_path / "rows.csv", index=False)
    rows.set_index("clinic").to_parquet(tmp_path / "rows.parquet")
    given = (*COLUMNS, "--prediction", "model")
    from_csv = run("count", tmp_path / "rows.csv", *given).json
    assert run("count", tmp_path / "rows.parquet", *given).json == from_csv


def test_names_in_a_csv_are_kept_as_they_are(tmp_path):
    text = "clinic,sex,diagnosis,model\n007,NA,no,no\n7,nan,yes,yes\n" + '"a,b ",None,no,yes\n'
    (tmp_path / "rows.csv").write_text("\ufeff" + text, "utf-8")
    found = run("count", tmp_path / "rows.csv", *COLUMNS, "--prediction", "model").json
    assert {client["name"] for client in found["clients"]} == {"007", "7", "a,b "}
    assert set(found["groups"]) == {"NA", "nan", "None"}


def test_a_line_names_the_first_of_many_groups(tmp_path):
    rows = people(400, groups=[f"group {i:02}" for i in range(25)])
    rows.to_csv(tmp_path / "rows.csv", index=False)
    asked = (*COLUMNS, "--prediction", "model", "--out", tmp_path / "counts.json")
    line = run("count", tmp_path / "rows.csv", *asked).out
    assert "group 19 and 5 more; labels" in " ".join(line.split())
    assert len(json.loads((tmp_path / "counts.json").read_text())["groups"]) == 25


def test_a_client_that_looks_like_a_person_is_told(files):
    given = ("count", files.rows, "--client", "patient", *COLUMNS[2:], "--prediction", "model")
    output = " ".join(run(*given, "--out", files / "c.json").out.split())
    assert "600 clients with 1.0 rows each: the column looks like the id of a person" in output
    output = run("count", files.rows, *COLUMNS, "--prediction", "model", "--out", files / "c.json")
    assert "looks like" not in output.out


@pytest.mark.parametrize("more", [("--region", "exact"), ("--rates", "scores")])
def test_weights_with_scores_are_told_where_they_are_had(files, more):
    rows = people(100).assign(weight=2)
    rows[["score_no", "score_yes"]] /= 2
    rows.to_csv(files / "w.csv", index=False)
    ended = run(
        *("solve", files / "w.csv", *COLUMNS, "--scores", "score_no,score_yes"),
        *("--weight", "weight", *more),
    )
    assert ended.code == 2 and "weights, and the worst case over missing groups" in ended.err
