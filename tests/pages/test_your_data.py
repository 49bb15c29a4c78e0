"""Your data: an uploaded set is an experiment on every page, in its session only."""

import gc
import io
import json
import shlex
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from pages.components.session import own_data
from pages.components.shared.downloads import clients_csv, predictor_json
from pages.components.shared.model_card import model_card
from pages.components.shared.report import html_report
from typer.testing import CliRunner

from fairfl_core.cli import app as cli
from fairfl_core.intake import (
    ColumnRoles,
    example_counts,
    example_table,
    experiment_from_counts,
    experiment_from_table,
    guess_roles,
    open_table,
)
from pages.shared.outside_text import figure_text, plain
from pages.shared.view import Catalogue, read_view
from tests.pages.conftest import healthy, linked

PAGES = ("explore", "clients", "scenarios", "privacy", "learn", "your_data")
HOSTILE = (
    "=HYPERLINK(1)",
    "<script>window.hit=1</script>",
    "<b>bold</b>",
    "\u0645\u0633\u062a",
    "$x$ **y** :red[z]",
    "n" * 190,
)


def hostile_table(rows=720):
    rng = np.random.default_rng(1)
    label = np.where(rng.random(rows) < 0.4, "<i>ill</i>", "+well")
    return pd.DataFrame(
        {
            "site": np.resize(HOSTILE, rows),
            "group": np.where(rng.random(rows) < 0.5, "<img src=x onerror=window.hit=1>", "@men"),
            "label": label,
            "prediction": np.where(rng.random(rows) < 0.8, label, "+well"),
        }
    ).to_csv(index=False)


def many_clients(clients=2000, each=12):
    rng = np.random.default_rng(2)
    rows = clients * each
    label = rng.integers(0, 2, rows)
    return pd.DataFrame(
        {
            "site": np.repeat([f"clinic {i}" for i in range(clients)], each),
            "group": rng.choice(["a", "b"], rows),
            "label": label,
            "prediction": np.where(rng.random(rows) < 0.8, label, 1 - label),
        }
    ).to_csv(index=False)


def with_table(opened, text, name="rows.csv"):
    """A session in which a table was uploaded and taken in."""
    app = opened("your_data")
    app.file_uploader(key="upload-table").set_value((name, text.encode(), "text/csv")).run()
    healthy(app)
    app.button(key="take-table").click().run()
    return healthy(app)


def go(app, page):
    return healthy(app.switch_page(f"pages/{page}.py").run())


def text_of(app):
    kinds = (app.markdown, app.caption, app.metric)
    return " ".join(str(each.value) for kind in kinds for each in kind)


# -------------------------------------------------------------------- in and around


def test_the_example_in_two_clicks(opened):
    app = opened("your_data")
    app.button(key="try-example").click().run()
    boxes = {box.label: box.value for box in healthy(app).selectbox}
    assert (boxes["Client"], boxes["Group"], boxes["True label"]) == (
        "hospital",
        "sex",
        "diagnosis",
    )
    app.button(key="take-table").click().run()
    said = text_of(healthy(app))
    assert "2,100 rows read, 2,100 kept" in said.replace("\\", "")
    assert "Allowing a gap of" in said
    for page in PAGES:
        go(app, page)
        assert linked(app, "experiment") == "yours"
        if page != "learn":
            assert app.selectbox(key="widget_experiment").value.startswith("yours-")


@pytest.mark.parametrize("page", ["", "clients", "scenarios", "privacy", "your_data"])
def test_after_a_reload_the_data_is_gone_and_nothing_else_is_shown(opened, page):
    """No other data under the limits of the link: a page that says so, and two ways on."""
    app = opened.raw(page, experiment="yours", eps_local="0.02", notion="eop")
    assert not app.exception and "Your data is gone: upload it again" in app.warning[0].value
    assert not app.metric and not app.table and "Allowing a gap" not in text_of(app)
    assert linked(app, "experiment") == "yours" and linked(app, "eps_local") == "0.02"
    if page == "your_data":
        app.button(key="try-example").click().run()
        app.button(key="take-table").click().run()
        assert "at most 0.02 inside every client" in text_of(healthy(app))
        assert linked(app, "experiment") == "yours"
    else:
        app.button(key="show-another").click().run()
        assert linked(healthy(app), "experiment") == "adult"
        assert linked(app, "eps_local") == "0.02"


def test_another_session_knows_nothing_of_it(opened):
    app = with_table(opened, example_table())
    mine = app.selectbox(key="widget_experiment").value
    other = opened(experiment=mine)
    assert "Your data" not in " ".join(other.selectbox(key="widget_experiment").options)
    assert other.selectbox(key="widget_experiment").value == "adult"


def test_it_is_gone_when_replaced_removed_or_left(opened):
    gc.collect()
    before = set(own_data._register)
    app = with_table(opened, example_table())
    (first,) = set(own_data._register) - before
    go(app, "explore")
    go(app, "your_data")
    app.file_uploader(key="upload-table").set_value(
        ("again.csv", example_table().encode(), "text/csv")
    ).run()
    app.button(key="take-table").click().run()
    gc.collect()
    (second,) = set(own_data._register) - before
    assert second != first
    app.button(key="remove-set").click().run()
    healthy(app)
    gc.collect()
    assert set(own_data._register) <= before
    assert linked(app, "experiment") == "adult"
    assert not [
        box for box in app.selectbox if box.key == "widget_experiment"
    ]  # nothing to choose
    app = with_table(opened, example_table())
    del app
    gc.collect()
    assert set(own_data._register) <= before


def test_nothing_of_it_is_in_the_caches_that_visitors_share(opened, monkeypatch):
    seen = []
    monkeypatch.setattr(
        own_data, "is_own", lambda name, real=own_data.is_own: (seen.append(name), real(name))[1]
    )
    app = with_table(opened, example_table())
    go(app, "explore")
    held = app.session_state["own-set"]
    assert held.name in seen and len(held.results) >= 4


def test_uploads_stay_in_memory():
    from starlette.formparsers import MultiPartParser

    assert MultiPartParser.spool_max_size >= 200 * 2**20


# -------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        ("a.csv", b"a,b\n1,\x00\n", "NUL"),
        ("a.parquet", b"MZ\x90 not parquet", "not a Parquet file"),
        ("a.csv", b"a,a\n1,2\n", "stands twice"),
        ("<script>.csv", b"a,b\n" + b"x" * 2_000_000, "a line is longer"),
    ],
)
def test_a_hostile_file_gets_a_sentence(opened, name, data, says):
    app = opened("your_data")
    app.file_uploader(key="upload-table").set_value((name, data, "text/csv")).run()
    assert not app.exception and not app.error
    assert [says in box.value.replace("\\", "") for box in app.warning] == [True]
    assert "<script>" not in app.warning[0].value


def test_wrong_columns_get_a_sentence_and_the_page_stays(opened):
    app = opened("your_data")
    app.button(key="try-example").click().run()
    next(box for box in app.selectbox if box.label == "Group").set_value("diagnosis").run()
    app.button(key="take-table").click().run()
    assert not app.exception
    assert "chosen for two things" in app.warning[0].value
    next(box for box in app.selectbox if box.label == "Group").set_value("sex").run()
    app.button(key="take-table").click().run()
    assert "Allowing a gap of" in text_of(healthy(app))


def test_one_probability_is_taken_and_told_in_the_command(opened, tmp_path):
    """The commonest export: truth and one probability; the command that follows really runs."""
    table = pd.read_csv(io.StringIO(example_table()))
    table = table.drop(columns=["prediction", "score_healthy"]).rename(
        columns={"score_ill": "p_ill", "patient": "subject"}
    )
    app = opened("your_data")
    file = ("rows.csv", table.to_csv(index=False).encode(), "text/csv")
    app.file_uploader(key="upload-table").set_value(file).run()
    boxes = {box.label: box.value for box in healthy(app).main.selectbox}
    assert (boxes["Probability"], boxes["It is the probability of"]) == ("p_ill", "ill")
    assert boxes["Row id"] == "subject"
    app.number_input[0].set_value(0.4).run()
    app.button(key="take-table").click().run()
    assert "exact" in healthy(app).selectbox(key="widget_region").options[-1]
    assert "answers from 0.4 on" in text_of(app).replace("\\", "")
    command = next(each.value for each in app.code if "predict" in each.value)
    assert "--probability p_ill --probability-of ill --threshold 0.4 --row-id subject" in command
    view = app.session_state["kept"]["view"]
    (tmp_path / "fairfl-predictor.json").write_text(predictor_json(view))
    table.to_csv(tmp_path / "new-rows.csv", index=False)
    words = [str(tmp_path / w) if "." in w and w != "0.4" else w for w in shlex.split(command)]
    ended = CliRunner().invoke(cli, words[1:], standalone_mode=False)
    assert ended.exception is None, ended.exception
    assert set(pd.read_csv(tmp_path / "fair.csv")["answer"]) == {"healthy", "ill"}


def test_no_box_starts_on_a_column_that_was_not_guessed(opened):
    app = opened("your_data")
    table = pd.DataFrame({"note": [f"text {i}" for i in range(90)], "x": np.arange(90) / 7})
    file = ("rows.csv", table.to_csv(index=False).encode(), "text/csv")
    app.file_uploader(key="upload-table").set_value(file).run()
    boxes = {box.label: box.value for box in healthy(app).main.selectbox}
    assert {boxes[name] for name in ("Client", "Group", "True label")} == {None}
    assert boxes["The model's answer"] is None and boxes["Row id"] == "none"
    app.button(key="take-table").click().run()
    assert not app.exception and "choose the column of the client" in app.warning[0].value


def test_scores_instead_of_answers(opened):
    app = opened("your_data")
    app.button(key="try-example").click().run()
    next(each for each in app.radio if each.label == "The model gave").set_value("scores").run()
    boxes = {box.label: box.value for box in healthy(app).selectbox}
    assert boxes["Score of “healthy”"] == "score_healthy"
    app.button(key="take-table").click().run()
    assert "exact" in app.selectbox(key="widget_region").options[-1]
    healthy(app)


# -------------------------------------------------------------------- counts only


def test_counts_only_say_where_no_check_is_possible(opened):
    app = opened("your_data", bring="counts")
    files = [
        (name, json.dumps(each.to_json()).encode(), "application/json")
        for name, each in example_counts().items()
    ]
    app.file_uploader(key="upload-counts").set_value(files).run()
    healthy(app)
    app.button(key="take-counts").click().run()
    assert "no held-out check possible" in text_of(healthy(app)).lower()
    for page in PAGES:
        go(app, page)
        if page != "learn":
            assert "no held-out check possible" in text_of(app).lower(), page


# -------------------------------------------------------------------- hostile names


def own_view(held, **settings):
    """A view of a held set, with an overall limit of 0.02."""
    catalogue = Catalogue((held.name,), lambda name: own_data.find(name).intake.experiment)
    return read_view({"eps_global": "0.02"} | settings, catalogue)[0]


@pytest.fixture
def hostile():
    """A setting on a set whose names are as bad as can be, held as a session holds it."""
    upload = open_table("<script>x</script>.csv", hostile_table().encode())
    held = own_data.Held(experiment_from_table(upload, guess_roles(upload)))
    yield own_view(held, region="kernel")
    del held


class Tags(HTMLParser):
    """What an HTML file would run or fetch."""

    def __init__(self):
        super().__init__()
        self.found, self.inside = [], 0

    def handle_starttag(self, tag, attrs):
        names = {name for name, _ in attrs}
        if tag in ("img", "i", "b", "iframe") or any(name.startswith("on") for name in names):
            self.found.append(tag)


def test_names_are_text_in_what_is_taken_along(hostile):
    for made in (html_report(hostile, ""), model_card(hostile, "")):
        tags = Tags()
        tags.feed(made)
        assert tags.found == []
        assert "<script>window.hit" not in made and "<script>x" not in made
    lines = clients_csv(hostile).splitlines()[1:]
    assert any(line.startswith("'=HYPERLINK") for line in lines)
    assert json.loads(predictor_json(hostile))["groups"][0].startswith("<img")


def test_names_are_text_on_every_page(opened):
    app = with_table(opened, hostile_table(), "<b>x</b>.csv")
    for page in PAGES:
        go(app, page)
        for kind in (app.markdown, app.caption):
            for each in kind:
                for sign in ("<script>window", "<img", "<b>bold", "<i>ill"):
                    assert sign not in each.value.replace("\\<", ""), (page, each.value)


def test_the_model_card_says_requested_reached_and_held_out(hostile):
    made = model_card(hostile, "")
    for part in (
        "requested",
        "reached (fitted)",
        "held out (test)",
        "0.02",
        "0.05",
        "def answer(",
        "rows read",
        "Limits of use",
    ):
        assert part in made
    files = [
        (name, json.dumps(each.to_json()).encode()) for name, each in example_counts().items()
    ]
    held = own_data.Held(experiment_from_counts(files))
    view = own_view(held, region="simplex")
    assert model_card(view, "").count("no held-out check possible") >= 8
    assert "no held-out check possible" in html_report(view, "")


def test_names_from_right_to_left_do_not_turn_the_numbers_after_them():
    name = "\u0645\u0633\u062a\u0634\u0641\u0649"
    assert plain(name) == figure_text(name) == f"\u2068{name}\u2069"
    assert plain("plain") == figure_text("plain") == "plain"


# -------------------------------------------------------------------- many clients


def test_two_thousand_clients_stay_usable(opened):
    app = with_table(opened, many_clients())
    go(app, "explore")
    shown = app.segmented_control(key="widget_few")
    assert "of 2,000" in shown.label and shown.value == "worst"
    assert not app.toggle(key="widget_map_drawn").value
    shown.set_value("name").run()
    app.text_input(key="widget_few_name").set_value("clinic 199").run()
    assert "11 of 2,000 clients have it in their name" in text_of(healthy(app))
    go(app, "clients")
    app.switch_page("pages/privacy.py").run()
    assert not app.exception and "so many clients" in app.warning[0].value


def test_columns_of_a_table_are_told_in_the_command(opened):
    app = with_table(opened, example_table())
    command = next(each.value for each in app.code if "predict" in each.value)
    assert "--client hospital --group sex --prediction prediction" in command
    assert ColumnRoles("a", "b", "c").prediction == ""
