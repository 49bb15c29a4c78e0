"""A review of an uploaded file: the same numbers again, for whoever has the file too."""

import json
from dataclasses import replace

import pytest

from fairfl_core.data import experiments
from fairfl_core.errors import InputError
from fairfl_core.intake import (
    Reading,
    example_counts,
    example_table,
    experiment_from_counts,
    experiment_from_table,
    guess_roles,
    open_table,
)
from fairfl_core.report.board import board_of
from fairfl_core.report.review import UPLOADED, Option, Review, read_review, solve_option
from fairfl_core.report.text import ROWS
from tests.cli.running import run


def review_of(intake, *limits):
    sha256 = intake.experiment.manifest["scores"]["sha256"]
    options = tuple(
        Option(name, UPLOADED, UPLOADED, sha256, "eo", "simplex", "labels", (0,), 0.05, eps)
        for name, eps in zip("AB", limits, strict=False)
    )
    return Review("Which?", options, intake.reading)


@pytest.fixture(scope="module")
def table():
    upload = open_table("people.csv", example_table().encode())
    roles = guess_roles(upload)
    favourable = experiment_from_table(upload, roles).experiment.labels[0]  # not the one guessed
    return experiment_from_table(upload, roles, favourable=favourable)


@pytest.fixture
def people(tmp_path):
    path = tmp_path / "renamed.csv"
    path.write_text(example_table(), newline="")
    return path


def test_a_shell_gives_the_pages_numbers_from_the_file_and_the_table(table, people, tmp_path):
    review = review_of(table, 0.02, 0.1)
    path = review.write(tmp_path / "review.json")
    assert read_review(path) == review

    results = [solve_option(one, table.experiment) for one in review.options]
    board = board_of(results, question="Which?")
    output = json.loads(run("review", path, "--rows", people, "--json").out)["options"]
    for column in board.columns:
        assert list(output[column.name].values()) == [
            column.cells[code].in_one_line for code, _ in ROWS
        ]
    first, second = (output[name]["Accuracy, unseen people"] for name in "AB")
    assert first != second


@pytest.mark.parametrize("rows", ["none", "other"])
def test_without_that_very_table_it_is_refused(table, people, tmp_path, rows):
    path = review_of(table, 0.02).write(tmp_path / "review.json")
    people.write_text(example_table().replace("\n", "\r\n"), newline="")
    ended = run("review", path, *(["--rows", people] if rows == "other" else []))
    assert ended.code == 2
    assert ("sha256 differs" if rows == "other" else "give that table too (--rows)") in ended.err


def test_a_table_has_no_place_where_none_is_asked_for(table, people, tmp_path):
    sha256 = experiments.open("adult").manifest["scores"]["sha256"]
    bundled = Option("A", "adult", "adult", sha256, "sp", "simplex", "labels", (0,), 0.01, 0.05)
    path = Review("Which?", (bundled,)).write(tmp_path / "review.json")
    assert "leave --rows out" in run("review", path, "--rows", people).err
    earlier = replace(review_of(table, 0.02), reading=None).to_json()
    del earlier["reading"]
    path.write_text(json.dumps(earlier))
    assert "how its table was read" in run("review", path, "--rows", people).err


def test_counts_are_the_same_set_in_any_order(tmp_path):
    files = [(name, json.dumps(one.to_json()).encode()) for name, one in example_counts().items()]
    for name, data in files:
        (tmp_path / name).write_bytes(data)
    intake = experiment_from_counts(files)
    path = review_of(intake, 0.02).write(tmp_path / "review.json")
    given = [word for name, _ in files[::-1] for word in ("--rows", tmp_path / name)]
    output = json.loads(run("review", path, *given, "--json").out)["options"]
    reached = solve_option(review_of(intake, 0.02).options[0], intake.experiment).summary.reached
    assert len(files) > 1 and output["A"]["Accuracy, unseen people"].startswith(
        f"{100 * reached.accuracy:.1f} %"
    )


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda v: 7, "must be a JSON object"),
        (lambda v: v | {"join": 1}, "true or false"),
        (lambda v: v | {"columns": []}, "which column is what"),
        (lambda v: v | {"columns": v["columns"] | {"threshold": 2}}, "from 0 to 1"),
        (lambda v: v | {"columns": v["columns"] | {"threshold": True}}, "from 0 to 1"),
        (lambda v: v | {"columns": v["columns"] | {"scores_are": "dreams"}}, "must be one of"),
        (lambda v: v | {"columns": v["columns"] | {"scores": [["a"]]}}, "pairs"),
        (lambda v: v | {"columns": v["columns"] | {"client": 3}}, "must be text"),
        (lambda v: v | {"columns": v["columns"] | {"more": ""}}, "unknown key"),
    ],
)
def test_what_is_no_reading_is_refused_in_a_sentence(table, change, says):
    reading = table.reading
    written = json.loads(json.dumps(reading.to_json()))
    assert Reading.from_json(written) == reading
    with pytest.raises(InputError, match=says):
        Reading.from_json(change(written))
