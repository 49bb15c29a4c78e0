"""Review: up to four settings side by side, with notes, into a report and a file and back."""

import json
from dataclasses import replace

from pages.components.shared import review as shared_review
from pages.components.shared.report import html_report, review_report
from pages.components.shared.review import board_for, option_of

from fairfl_core.intake import example_table
from fairfl_core.review import Review
from fairfl_core.review.file import parse_review
from fairfl_core.review.render import annex_page
from tests.cli.running import run
from tests.pages.conftest import healthy, linked, view_of
from tests.pages.reading import unmarked

PAPERS = {"experiment": "adult", "seed": 0}


def kept_four(opened):
    app = opened(**PAPERS, eps_local=0.2)
    for local in (None, 0.1, 0.05, 0.02):
        if local is not None:
            app.select_slider(key="widget_eps_local_slider").set_value(local).run()
        app.button(key="keep").click().run()
    return healthy(app)


def test_four_options_are_compared_noted_on_and_come_back(opened):
    app = kept_four(opened)
    assert app.button(key="keep").disabled and linked(app, "options").count("|") == 3
    app.switch_page("pages/review.py").run()
    table = healthy(app).table[0].value
    assert {"A", "No limit"} <= set(table.columns) and "Verdict on unseen people" in table.index
    app.text_area(key="note-1").set_value("too <b>dear</b>").run()
    app.text_area(key="widget_question").set_value("Which limit for the ward?").run()
    kept = app.session_state["kept"]
    views = kept["options"]
    assert kept["notes"][views[1]] == "too <b>dear</b>"
    options = [
        option_of(one, "ABCD"[k], kept["notes"].get(one, "")) for k, one in enumerate(views)
    ]
    file = json.dumps(Review("Which limit for the ward?", tuple(options)).to_json()).encode()
    again = opened("review")
    again.file_uploader(key="review-upload").set_value(("r.json", file, "application/json")).run()
    assert healthy(again).session_state["kept"]["options"] == views
    assert again.text_area(key="note-1").value == "too <b>dear</b>"
    assert again.text_area(key="widget_question").value == "Which limit for the ward?"
    assert again.table[0].value.equals(healthy(app).table[0].value)
    again.button(key="go-0").click().run()
    assert healthy(again).session_state["kept"]["options"] == views[1:]


def test_a_review_of_an_uploaded_table_says_how_it_was_read(opened, tmp_path):
    """Its file and the table give a shell the page's numbers, and the page its options again."""
    app = opened("your_data")
    app.button(key="try-example").click().run()
    app.button(key="take-table").click().run()
    app.switch_page("pages/explore.py").run()
    app.button(key="keep").click().run()
    app.switch_page("pages/review.py").run()
    shown = healthy(app).table[0].value["A"]
    held = app.session_state["own-set"].intake
    kept = app.session_state["kept"]
    review = Review("", (option_of(kept["options"][0], "A"),), held.reading)
    (tmp_path / "people.csv").write_text(example_table(), newline="")
    path = review.write(tmp_path / "review.json")
    told = json.loads(run("review", path, "--rows", tmp_path / "people.csv", "--json").out)
    assert told["options"]["A"] == shown.to_dict()
    other = replace(review, reading=replace(review.reading, favourable="healthy"))
    for written, taken in ((review, True), (other, False)):
        file = ("r.json", json.dumps(written.to_json()).encode(), "application/json")
        app.file_uploader(key="review-upload").set_value(file).run()
        said = " ".join(unmarked(box.value) for box in app.warning)
        assert not app.exception and ("was read otherwise" in said) is not taken


def test_a_wrong_file_is_refused_in_a_sentence(opened):
    app = opened("review")
    assert "Nothing is kept yet" in " ".join(each.value for each in app.markdown)
    for data, says in ((b"{}", "this is no fairfl"), (b"nonsense", "JSON")):
        app.file_uploader(key="review-upload").set_value(
            ("r.json", data, "application/json")
        ).run()
        assert not app.exception and says in unmarked(app.warning[0].value)


def test_an_option_is_its_view():
    view = view_of("adult", seed=1, own="doctorate=0.2", confidence="0.95-each-measured")
    option = option_of(view, "A", "a note")
    assert shared_review.view_of(option) == view
    written = json.dumps(Review("", (option,)).to_json()).encode()
    assert parse_review(written, "r.json").options == (option,)


def test_the_report_has_the_pages_numbers_and_two_pages():
    view = view_of("ham10000", seed=0, eps_local=0.1)
    board = board_for(Review(""), view)
    assert annex_page(board) == 3 and board.columns[0].name
    report = html_report(view, "")
    assert "localhost" not in report and "images of skin lesions" in report
    assert "all images of a lesion are on the same side of every split" in report
    for column in board.columns:
        assert f">{column.cells[2]}<" in report
    assert ".0</td>" not in report  # people are whole
    noted = Review("Why?", (option_of(view, "A", "seen by the board"),))
    assert "seen by the board" in review_report(noted, view, "")
