"""Your data, cross-fitted: the page's numbers are the core's, and it says what cross-fitting is."""

import json

import numpy as np
import pytest
from pages.components.session import own_data
from pages.components.shared.card_text import WHICH_MODEL
from pages.components.shared.downloads import predictor_json
from pages.components.shared.model_card import APPLY, model_card

from fairfl_core._io import numbers as format
from fairfl_core.evaluation.evaluation import evaluate
from fairfl_core.intake import example_folds, example_table, open_table
from fairfl_core.people.counts import ClientCounts
from fairfl_core.people.folded import FoldedPeople
from fairfl_core.people.scored import ScoredPeople
from fairfl_core.predictors.load import predictor_of
from fairfl_core.predictors.row_uniforms import fold_draws
from fairfl_core.solving.build import build_program
from pages.shared.view import START
from tests.helpers.cross_fitted import (
    COLUMNS,
    SCORES,
    cross_fitted,
    expected_confusion,
    lottery_chances,
    rule_chances,
)
from tests.pages.conftest import healthy, unfolded
from tests.pages.test_your_data import PAGES, go, own_view, text_of, with_table

TABLE = cross_fitted(400, 120, seed=3)


def with_scores(opened, table=TABLE):
    app = opened("your_data")
    data = table.to_csv(index=False).encode()
    app.file_uploader(key="upload-table").set_value(("rows.csv", data, "text/csv")).run()
    next(each for each in app.radio if each.label == "The model gave").set_value("scores").run()
    app.button(key="take-table").click().run()
    return healthy(app)


@pytest.mark.parametrize("looks", ["answers", "scores"])
def test_the_headline_is_the_cores(opened, looks):
    """Fitted on all people of split fit, judged by each test person's mean over the models."""
    app = (
        with_table(opened, TABLE.to_csv(index=False))
        if looks == "answers"
        else with_scores(opened)
    )
    fit = TABLE[TABLE["split"] == "fit"]
    if looks == "answers":
        people = ClientCounts.from_table(fit, prediction="said", **COLUMNS)
    else:
        people = ScoredPeople.from_table(fit, scores=SCORES, **COLUMNS)
    region = app.selectbox(key="widget_region").value
    assert (region == "exact") == (looks == "scores")
    program = build_program(people, "eo", region, rates="labels")
    solution = program.solve(**START)
    fair = predictor_of(solution)
    chances = rule_chances(fair) if fair.needs_scores else lottery_chances(fair)
    confusion = expected_confusion(TABLE, chances, (fair.clients, fair.groups, fair.labels))
    accuracy = np.einsum("cayy->", confusion) / confusion.sum()
    told = next(block.value for block in app.markdown if "Allowing a gap of" in block.value)
    assert f"**{format.percent(accuracy)}**" in told
    test = FoldedPeople.from_table(TABLE[TABLE["split"] == "test"], scores=SCORES, **COLUMNS)
    gaps = evaluate(fair, test).gaps
    assert f"overall gap {format.gap(gaps.overall)}" in told
    assert f"gap {format.gap(np.nanmax(gaps.local))}" in told
    n = (TABLE["split"].eq("test") & TABLE["site"].eq(fair.clients[gaps.worst])).sum() // 3
    assert f"n = {n}" in told


def test_it_says_so_and_every_page_takes_it(opened):
    app = with_table(opened, TABLE.to_csv(index=False))
    told = text_of(app).replace("\\", "")
    assert "Cross-fitted: 400 people make the lottery" in told
    assert "one of 3 models" in told and "120 test people are scored by all of them" in told
    table = next(d.value for d in unfolded(app).dataframe if "group man" in d.value)
    assert table["n"].sum() == 520
    command = next(each.value for each in app.code if "predict" in each.value)
    assert "--prediction said --fold fold --row-id id" in command
    for page in PAGES:
        go(app, page)


def test_people_with_plain_predictions_are_told_what_it_would_gain(opened):
    told = text_of(with_table(opened, example_table())).replace("\\", "")
    assert "1,050 people make the lottery and stand behind its limits; with cross-fitting" in told
    assert "four times as many people" in told


def test_the_example_cross_fitted(opened):
    app = with_table(opened, example_folds())
    assert "Cross-fitted: 1,680 people make the lottery" in text_of(app).replace("\\", "")
    boxes = {box.label: box.value for box in opened("your_data").selectbox}
    assert "Fold" not in boxes  # only where there is a table


def test_a_wrong_table_gets_a_sentence_and_the_page_stays(opened):
    app = opened("your_data")
    wrong = TABLE.drop(index=TABLE.index[TABLE["split"] == "test"][0]).to_csv(index=False)
    app.file_uploader(key="upload-table").set_value(("rows.csv", wrong.encode(), "text/csv")).run()
    boxes = {box.label: box.value for box in healthy(app).main.selectbox}
    assert (boxes["Split"], boxes["Fold"], boxes["Row id"]) == ("split", "fold", "id")
    app.button(key="take-table").click().run()
    assert not app.exception and "has no row of fold" in app.warning[0].value.replace("\\", "")
    next(box for box in app.selectbox if box.label == "Fold").set_value("none: one model").run()
    app.button(key="take-table").click().run()
    assert "stand behind its limits" in text_of(healthy(app))


def test_what_is_taken_along_is_for_the_mixture():
    from fairfl_core.intake import experiment_from_table, guess_roles

    upload = open_table("rows.csv", TABLE.to_csv(index=False).encode())
    held = own_data.Held(experiment_from_table(upload, guess_roles(upload)))
    view = own_view(held, region="kernel")
    made = json.loads(predictor_json(view))
    assert made["folds"] == 3 and made["reached"]["n"] == 400
    card = model_card(view, "")
    assert "reached (fitted)" in card and "Cross-fitted: 400 people" in card
    assert "3 fold models" in card and "row_id" in card


def test_the_model_drawn_without_the_package_is_the_one_the_package_draws():
    space = {}
    exec(compile(APPLY.read_text(), str(APPLY), "exec"), space)
    clients, ids = ["north", "süd"] * 40, [f"p{i}" for i in range(80)]
    mine = [
        eval(WHICH_MODEL.format(folds=4), {"draw": space["draw"], "client": c, "row_id": i})
        for c, i in zip(clients, ids, strict=True)
    ]
    assert mine == fold_draws(clients, ids, 4).tolist() and set(mine) == {0, 1, 2, 3}


def test_counts_of_fold_models_alone(opened):
    fit = TABLE[TABLE["split"] == "fit"]
    counts = ClientCounts.from_table(fit, prediction="said", **COLUMNS)
    app = opened("your_data", bring="counts")
    data = json.dumps(counts.to_json()).encode()
    app.file_uploader(key="upload-counts").set_value([("c.json", data, "application/json")]).run()
    healthy(app).button(key="take-counts").click().run()
    assert "no held-out check possible" in text_of(healthy(app)).lower()
    command = next(each.value for each in app.code if "predict" in each.value)
    assert "--prediction prediction_0,prediction_1,prediction_2" in command
    for page in PAGES:
        go(app, page)
