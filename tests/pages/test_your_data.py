"""Your data: an uploaded set is an experiment on every page, in its session only."""

import gc
import io
import json
import shlex
from dataclasses import replace
from pathlib import Path
from weakref import ref

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from fairfl_core._io.names import figure_text, plain
from fairfl_core.cli import load
from fairfl_core.evaluation.evaluation import evaluate
from fairfl_core.intake import example_counts, example_table
from pages.compare.files import clients_csv, predictor_json
from pages.shared import own_data
from pages.shared.view import Catalogue, read_view
from tests.cli.running import run
from tests.pages.conftest import healthy, linked

PAGES = ("explore", "compare", "scenarios", "privacy", "methods", "learn", "your_data")
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


def raw_page(opened, page="your_data", **link):
    """A page as a link opens it, whatever it shows."""
    return opened.raw(**link).switch_page(f"pages/{page}/page.py").run()


def your_data(opened, **link):
    """The page in a fresh session."""
    return healthy(raw_page(opened, **link))


def uploaded(opened, text, name="rows.csv", **link):
    """A session in which a table lies on the page, its columns guessed."""
    app = your_data(opened, **link)
    return app.file_uploader(key="upload-table").set_value((name, text.encode(), "text/csv")).run()


def with_table(opened, text, name="rows.csv", **link):
    """A session in which a table was uploaded and taken in."""
    app = healthy(uploaded(opened, text, name, **link))
    return healthy(app.button(key="take-table").click().run())


def with_counts(opened, files):
    """A session in which counts were uploaded and taken in."""
    app = your_data(opened, bring="counts")
    given = [
        (name, json.dumps(counts.to_json()).encode(), "application/json") for name, counts in files
    ]
    healthy(app.file_uploader(key="upload-counts").set_value(given).run())
    return healthy(app.button(key="take-counts").click().run())


def go(app, page):
    return healthy(app.switch_page(f"pages/{page}/page.py").run())


def explore(app):
    return healthy(app.button(key="open-explore").click().run())


def unfold(app, *keys):
    """Open expanders and popovers, whose content is made only then."""
    for key in keys:
        app.session_state[key] = True
    return healthy(app.run())


def text_of(app):
    kinds = (app.markdown, app.caption, app.metric)
    words = [str(each.value) for kind in kinds for each in kind]
    words += [one.proto.body for one in app.get("html")]
    return " ".join(words).replace("\\", "")


def box(app, label):
    return next(each for each in app.selectbox if each.label == label)


def values_of(app):
    return {each.label: each.value for each in app.selectbox}


def command_of(app):
    shown = unfold(app, "expander-apply").code
    (command,) = [each.value for each in shown if "predict " in each.value]
    return command


def people_of(app):
    table = unfold(app, "your-people-table-open")
    return next(each.value for each in table.dataframe if "client" in each.value)


# -------------------------------------------------------------------- in, and on to Explore


def test_the_example_and_on_to_explore(opened):
    app = your_data(opened)
    app.button(key="try-example").click().run()
    boxes = values_of(healthy(app))
    guessed = boxes["Client"], boxes["Group"], boxes["True label"], boxes["The model's answer"]
    assert guessed == ("hospital", "sex", "diagnosis", "prediction")
    app.button(key="take-table").click().run()
    assert "2,100 rows read, 2,100 kept" in text_of(healthy(app))
    table = people_of(app)
    counted = pd.read_csv(io.StringIO(example_table())).groupby("hospital")["sex"].value_counts()
    for row in table.to_dict("records"):
        assert row["group man"] == counted[row["client"], "man"]
        assert row["group woman"] == counted[row["client"], "woman"]
    drawn = [json.loads(each.proto.spec) for each in app.get("plotly_chart")]
    (bars,) = drawn
    assert {one["name"] for one in bars["data"]} == {"man", "woman"}
    explore(app)
    assert linked(app, "experiment") == "yours"
    assert app.selectbox(key="widget_experiment").value == app.session_state["own-set"].name


def test_every_page_takes_it(opened):
    app = with_table(opened, example_table())
    for page in PAGES:
        go(app, page)
        assert linked(app, "experiment") == "yours"


def test_what_explore_shows_is_the_cores(opened):
    app = explore(with_table(opened, example_table()))
    view = app.session_state["kept"]["view"]
    table = pd.read_csv(io.StringIO(example_table()))
    experiment = app.session_state["own-set"].intake.experiment
    test = experiment.counts(0, "test")
    assert 2 * test.n == len(table)
    judged = evaluate(_predictor(view), test)
    shown = text_of(app)
    for share in (judged.accuracy, judged.before.accuracy):
        assert f"{100 * share:.1f}" in shown


def _predictor(view):
    from fairfl_core.lp.program import FairnessProgram
    from fairfl_core.predictors.kinds import predictor_of

    fit = own_data.find(view.experiment).intake.experiment.counts(0, "validation")
    program = FairnessProgram(fit, view.notion, view.region, rates=view.rates)
    return predictor_of(program.solve(view.eps_global, view.eps_local))


def test_the_page_and_the_shell_make_the_same_predictor(opened, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = pd.read_csv(io.StringIO(example_table()))
    table["split"] = np.resize(["validation", "test"], len(table))
    limits = {"notion": "eo", "region": "kernel", "eps_global": 0.02, "eps_local": 0.06}
    app = with_table(opened, table.to_csv(index=False), **limits)
    mine = json.loads(predictor_json(app.session_state["kept"]["view"]))
    table[table["split"] == "validation"].to_csv("fit.csv", index=False)
    columns = ("--client", "hospital", "--group", "sex", "--label", "diagnosis")
    run("count", "fit.csv", *columns, "--prediction", "prediction", "--out", "fit.json")
    asked = [
        word for name, value in limits.items() for word in (f"--{name}".replace("_", "-"), value)
    ]
    run("solve", "fit.json", *asked, "--out", "shell.json")
    theirs = json.loads(Path("shell.json").read_text())
    assert mine["labels"] == theirs["labels"] and mine["groups"] == theirs["groups"]
    assert [one["name"] for one in mine["clients"]] == [one["name"] for one in theirs["clients"]]
    for one, other in zip(mine["clients"], theirs["clients"], strict=True):
        np.testing.assert_allclose(one["lottery"], other["lottery"], atol=1e-9)


def test_other_columns_are_checked_again(opened):
    """What stands under Check is of the columns that are chosen, or nothing does."""
    app = uploaded(opened, example_table())
    app.button(key="take-table").click().run()
    box(app, "Group").set_value("patient").run()
    assert "rows read" not in text_of(healthy(app))
    assert [each.label for each in app.button if each.key == "take-table"] == ["Check"]
    box(app, "Group").set_value("sex").run()
    assert "rows read" in text_of(healthy(app))


def test_a_set_stays_while_other_pages_are_looked_at(opened):
    app = explore(with_table(opened, example_table()))
    app.selectbox(key="widget_experiment").set_value("adult").run()
    go(app, "your_data")
    said = text_of(app)
    assert "Here now: rows.csv" in said and "Client: **hospital**" in said
    assert "--client hospital" in command_of(app)
    explore(app)
    assert linked(app, "experiment") == "yours"


# -------------------------------------------------------------------- gone means gone


@pytest.mark.parametrize("page", ["explore", "your_data"])
def test_after_a_reload_the_data_is_gone_and_nothing_else_is_shown(opened, page):
    """No other data under the limits of the link: a page that says so, and two ways on."""
    app = raw_page(opened, page, experiment="yours", eps_local="0.02", notion="eop")
    assert not app.exception and "Your data is gone: upload it again" in app.warning[0].value
    assert "fairfl-numbers" not in "".join(one.proto.body[:60] for one in app.get("html"))
    assert linked(app, "experiment") == "yours" and linked(app, "eps_local") == "0.02"
    if page == "your_data":
        app.button(key="try-example").click().run()
        app.button(key="take-table").click().run()
        explore(healthy(app))
        assert linked(app, "experiment") == "yours" and linked(app, "eps_local") == "0.02"
    else:
        app.button(key="show-another").click().run()
        assert linked(healthy(app), "experiment") == "adult"
        assert linked(app, "eps_local") == "0.02"


def test_another_session_knows_nothing_of_it(opened):
    app = with_table(opened, example_table())
    other = opened(experiment=app.session_state["own-set"].name)
    assert "Your data" not in " ".join(other.selectbox(key="widget_experiment").options)
    assert other.selectbox(key="widget_experiment").value == "adult"


def is_gone(name):
    gc.collect()
    try:
        own_data.find(name)
    except own_data.InputError:
        return True
    return False


def test_it_is_gone_when_replaced_removed_or_left(opened):
    app = with_table(opened, example_table())
    first = app.session_state["own-set"].name
    explore(app)
    go(app, "your_data")
    file = ("again.csv", example_table().encode(), "text/csv")
    app.file_uploader(key="upload-table").set_value(file).run()
    app.button(key="take-table").click().run()
    second = healthy(app).session_state["own-set"].name
    assert is_gone(first) and not is_gone(second)
    app.button(key="remove-set").click().run()
    assert is_gone(second) and linked(healthy(app), "experiment") == "adult"
    assert app.button(key="try-example").label and "Here now" not in text_of(app)
    app = with_table(opened, example_table())
    third = app.session_state["own-set"].name
    assert not is_gone(third)
    del app  # as a session that ends
    assert is_gone(third)


def test_nothing_of_it_stays_in_the_caches_that_visitors_share(opened):
    app = explore(with_table(opened, example_table()))
    people = ref(app.session_state["own-set"].intake.experiment)
    del app
    gc.collect()
    assert people() is None


# -------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        ("a.parquet", b"MZ\x90 not parquet", "not a Parquet file"),
        ("<script>.csv", b"a,b\n" + b"x" * 2_000_000, "write one person a line"),
    ],
)
def test_a_hostile_file_gets_a_sentence(opened, name, data, says):
    app = your_data(opened)
    app.file_uploader(key="upload-table").set_value((name, data, "text/csv")).run()
    assert not app.exception and not app.error
    assert [says in each.value.replace("\\", "") for each in app.warning] == [True]
    assert "<script>" not in app.warning[0].value


def test_wrong_columns_get_a_sentence_and_the_page_stays(opened):
    app = uploaded(opened, example_table())
    box(app, "Group").set_value("diagnosis").run()
    app.button(key="take-table").click().run()
    assert not app.exception and "chosen for two things" in app.warning[0].value
    box(app, "Group").set_value("sex").run()
    app.button(key="take-table").click().run()
    explore(healthy(app))


def test_no_box_starts_on_a_column_that_was_not_guessed(opened):
    table = pd.DataFrame({"note": [f"text {i}" for i in range(90)], "x": np.arange(90) / 7})
    app = healthy(uploaded(opened, table.to_csv(index=False)))
    boxes = values_of(app)
    assert {boxes[name] for name in ("Client", "Group", "True label")} == {None}
    assert boxes["The model's answer"] is None and boxes["Row id"] == "none"
    app.button(key="take-table").click().run()
    assert not app.exception and "choose the column of the client" in app.warning[0].value


# -------------------------------------------------------------------- what the model gave


def test_one_probability_is_taken_and_told_in_the_command(opened, tmp_path):
    """The commonest export: truth and one probability; the command that follows really runs."""
    table = pd.read_csv(io.StringIO(example_table()))
    table = table.drop(columns=["prediction", "score_healthy"]).rename(
        columns={"score_ill": "p_ill", "patient": "subject"}
    )
    app = healthy(uploaded(opened, table.to_csv(index=False)))
    boxes = values_of(app)
    assert (boxes["Probability"], boxes["It is the probability of"]) == ("p_ill", "ill")
    assert boxes["Row id"] == "subject"
    app.number_input[0].set_value(0.4).run()
    app.button(key="take-table").click().run()
    assert "answers from 0.4 on" in text_of(healthy(app))
    command = command_of(app)
    assert "--probability p_ill --probability-of ill --threshold 0.4 --row-id subject" in command
    view = app.session_state["kept"]["view"]
    assert view.region == "exact"
    (tmp_path / "fairfl-predictor.json").write_text(predictor_json(view))
    table.to_csv(tmp_path / "new-rows.csv", index=False)
    words = [str(tmp_path / w) if "." in w and w != "0.4" else w for w in shlex.split(command)]
    ended = CliRunner().invoke(load(), words[1:], standalone_mode=False)
    assert ended.exception is None, ended.exception
    assert set(pd.read_csv(tmp_path / "fair.csv")["answer"]) == {"healthy", "ill"}


# -------------------------------------------------------------------- counts only


def test_counts_only_say_that_no_check_is_possible(opened):
    app = with_counts(opened, example_counts().items())
    assert "Look: No held-out check possible" in text_of(app).replace("**", "")
    assert people_of(app)["people"].sum() == 2100
    explore(app)


def test_noised_counts_are_never_called_people(opened):
    (name, counts), *_ = example_counts().items()
    noise = np.random.default_rng(0).normal(size=counts.table.shape)
    noised = replace(counts, table=counts.table + noise, noisy=True)
    app = with_counts(opened, [(name, noised)])
    shown = text_of(app)
    assert "Noised counts by client and group" in shown and "People by" not in shown
    (chart,) = app.get("plotly_chart")
    assert json.loads(chart.proto.spec)["layout"]["yaxis"]["title"]["text"] == "noised counts"


# -------------------------------------------------------------------- hostile names


def own_view(held, **settings):
    """A view of a held set, with an overall limit of 0.02."""
    catalogue = Catalogue((held.name,), lambda name: own_data.find(name).intake.experiment)
    return read_view({"eps_global": "0.02"} | settings, catalogue)[0]


def test_names_are_only_text_here_and_in_files(opened):
    app = with_table(opened, hostile_table(), "<b>x</b>.csv")
    shown = unfold(app, "expander-apply", "your-people-table-open")
    for kind in (shown.markdown, shown.caption):
        for each in kind:
            for sign in ("<script>window", "<img", "<b>", "<i>ill"):
                assert sign not in each.value.replace("\\<", ""), each.value
    (chart,) = shown.get("plotly_chart")
    assert "<script>" not in chart.proto.spec and "<img" not in chart.proto.spec
    view = own_view(app.session_state["own-set"], region="kernel")
    lines = clients_csv(view).splitlines()[1:]
    assert any(line.startswith("'=HYPERLINK") for line in lines)
    assert json.loads(predictor_json(view))["groups"][0].startswith("<img")


def test_names_from_right_to_left_do_not_turn_the_numbers_after_them():
    name = "\u0645\u0633\u062a\u0634\u0641\u0649"
    assert plain(name) == figure_text(name) == f"\u2068{name}\u2069"
    assert plain("plain") == figure_text("plain") == "plain"


# -------------------------------------------------------------------- many clients


def test_two_thousand_clients_stay_usable(opened):
    app = with_table(opened, many_clients())
    assert "the 60 largest of 2,000" in text_of(app)
    assert len(people_of(app)) == 2000
    explore(app)
