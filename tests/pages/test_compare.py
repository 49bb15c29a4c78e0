"""Compare: up to four settings beside the model as it is, with notes, into a file and back."""

import json
from dataclasses import replace
from html import unescape

import pytest

from fairfl_core.intake import example_table, experiment_from_table, guess_roles, open_table
from fairfl_core.report.board import board_of
from fairfl_core.report.review import Review, parse_review, solve_option
from pages.compare import files as compared
from pages.compare.files import board_for, option_of, starting_options
from pages.shared import own_data
from tests.cli.running import run
from tests.pages.conftest import healthy, linked, opened_all, view_of
from tests.pages.reading import tables, unmarked

PAPERS = {"experiment": "adult", "seed": 0}
SHOWN = ("verdict", "worst", "found", "accuracy", "pays")
OPTIONS = "|".join(
    f"experiment=adult&split=paper&region=simplex&seed=0&eps_local={eps}" for eps in (0.2, 0.05)
)


def table_of(app):
    """The comparison as it is shown: its header, and its rows by title."""
    (shown,) = [one.proto.body for one in app.get("html") if "<table" in one.proto.body]
    (header, *rows), *_ = tables(shown)[0]
    return header, rows


def cells_of(board):
    return [
        [row.title, *(column.cells[row.code] for column in board.columns)] for row in board.rows
    ]


def sentences(app):
    bodies = [one.proto.body for one in app.get("html")]
    return [unescape(body) for body in bodies if "fairfl-sentence" in body]


def reported(app):
    return opened_all(app, "report")


@pytest.fixture(scope="module")
def kept(opened):
    return opened("compare", **PAPERS, options=OPTIONS)


def test_every_number_is_the_cores_own(kept):
    """Solved by the core alone, from the options' own fields."""
    views = kept.session_state["kept"]["options"]
    options = [option_of(view, "AB"[k]) for k, view in enumerate(views)]
    board = board_of([solve_option(one) for one in options])
    header, rows = table_of(kept)
    assert [one.split()[0] for one in header[1:]] == ["The", "A", "B"]
    assert "0.20 inside" in header[2] and "0.05 inside" in header[3]
    for (title, *cells), shown in zip(cells_of(board), rows, strict=True):
        assert shown[0].startswith(title)
        for cell, output in zip(cells, shown[1:], strict=True):
            assert output.startswith(cell.text) and output.endswith(cell.note)
    assert any(board.decision in one for one in sentences(kept))
    assert len({cell.text for cell in cells_of(board)[3][1:]}) > 1  # neighbours differ


def test_an_empty_page_begins_with_two_settings_beside_the_model(opened):
    app = opened("compare", **PAPERS, eps_local=0.3)
    header, _ = table_of(app)
    assert [one.split(maxsplit=1)[-1] for one in header[2:]] == ["0.05 inside", "0.05 both"]
    assert any("to begin with" in one.value for one in app.caption)
    assert not linked(app, "options") and not app.text_area
    reported(app)
    assert not app.get("download_button")  # a report is on what somebody kept
    app.button(key="keep-to-report").click().run()
    view = view_of(**PAPERS, eps_local=0.3)
    assert healthy(app).session_state["kept"]["options"] == starting_options(view)
    assert table_of(app)[0] == header and linked(app, "options").count("|") == 1
    assert len(reported(app).get("download_button")) == 7


def test_options_are_noted_on_and_come_back_from_a_file(opened):
    app = opened("compare", **PAPERS, options=OPTIONS)
    app.text_area(key="note-1").set_value("too <b>dear</b>").run()
    reported(app)
    app.text_area(key="widget_question").set_value("Which limit for the ward?").run()
    settings = healthy(app).session_state["kept"]
    views = settings["options"]
    assert settings["notes"][views[1]] == "too <b>dear</b>"
    review = compared.review_of(views, settings["question"], settings["notes"])
    assert [one.note for one in review.options] == ["", "too <b>dear</b>"]
    assert review.question == "Which limit for the ward?"
    file = json.dumps(review.to_json()).encode()
    again = opened_all(opened("compare"), "load")
    again.file_uploader(key="review-upload").set_value(("r.json", file, "application/json")).run()
    assert healthy(again).session_state["kept"]["options"] == views
    assert again.text_area(key="note-1").value == "too <b>dear</b>"
    assert reported(again).text_area(key="widget_question").value == "Which limit for the ward?"
    assert table_of(again) == table_of(app)
    again.button(key="go-0").click().run()
    assert healthy(again).session_state["kept"]["options"] == views[1:]


def test_an_option_opens_on_explore(opened):
    app = opened("compare", **PAPERS, options=OPTIONS)
    app.button(key="use-1").click().run()
    assert healthy(app).session_state["kept"]["view"].eps_local == 0.05


def test_a_review_of_an_uploaded_table_says_how_it_was_read(opened, tmp_path):
    """Its file and the table give a shell the page's numbers, and the page its options again."""
    upload = open_table("people.csv", example_table().encode())
    held = own_data.Held(experiment_from_table(upload, guess_roles(upload)))
    app = opened("compare")
    app.session_state["own-set"] = held
    app.run().selectbox(key="widget_experiment").set_value(held.name).run()
    app.button(key="keep-these").click().run()
    rows = table_of(healthy(app))[1]
    kept = app.session_state["kept"]
    review = Review("", (option_of(kept["options"][0], "A"),), held.intake.reading)
    (tmp_path / "people.csv").write_text(example_table(), newline="")
    path = review.write(tmp_path / "review.json")
    output = json.loads(run("review", path, "--rows", tmp_path / "people.csv", "--json").out)
    accuracy = next(row for row in rows if row[0].startswith("Accuracy"))
    assert accuracy[2].startswith(output["options"]["A"]["Accuracy, unseen people"].split(" (")[0])
    other = replace(review, reading=replace(review.reading, favourable="healthy"))
    opened_all(app, "load")
    for written, taken in ((review, True), (other, False)):
        file = ("r.json", json.dumps(written.to_json()).encode(), "application/json")
        app.file_uploader(key="review-upload").set_value(file).run()
        said = " ".join(unmarked(box.value) for box in app.warning)
        assert not app.exception and ("was read otherwise" in said) is not taken


def test_a_wrong_file_is_refused_in_a_sentence(opened):
    app = opened_all(opened("compare"), "load")
    for data, says in ((b"{}", "this is no fairfl"), (b"nonsense", "JSON")):
        app.file_uploader(key="review-upload").set_value(
            ("r.json", data, "application/json")
        ).run()
        assert not app.exception and says in unmarked(app.warning[0].value)


def test_an_option_is_its_view():
    view = view_of("adult", seed=1, own="doctorate=0.2", confidence="0.95-each-measured")
    option = option_of(view, "A", "a note")
    assert compared.view_of(option) == view
    written = json.dumps(Review("", (option,)).to_json()).encode()
    assert parse_review(written, "r.json").options == (option,)


def test_a_page_and_a_shell_compare_alike():
    views = [view_of(**PAPERS, eps_local=eps) for eps in (0.1, 0.02)]
    shell = board_of([solve_option(option_of(view, "AB"[k])) for k, view in enumerate(views)])
    page = board_for(views)
    for mine, theirs in zip(page.columns, shell.columns, strict=True):
        assert {code: cell.in_one_line for code, cell in mine.cells.items()} == {
            code: cell.in_one_line for code, cell in theirs.cells.items()
        }
