"""Your data, cross-fitted: numbers are the core's, and the page says what cross-fitting is."""

import json

import numpy as np
import pytest

from fairfl_core.data.counts import ClientCounts
from fairfl_core.data.scored import FoldedData, ScoredData
from fairfl_core.evaluation.evaluation import evaluate
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.predictors.kinds import predictor_of
from pages.compare.files import predictor_json
from pages.shared.view import START
from tests.helpers.cross_fitted import (
    COLUMNS,
    SCORES,
    cross_fitted,
    expected_confusion,
    lottery_chances,
    rule_chances,
)
from tests.pages.conftest import healthy
from tests.pages.test_your_data import (
    box,
    command_of,
    explore,
    own_view,
    people_of,
    text_of,
    uploaded,
    values_of,
    with_counts,
    with_table,
)

TABLE = cross_fitted(400, 120, seed=3)


def with_scores(opened):
    app = uploaded(opened, TABLE.to_csv(index=False))
    box(app, "The model gave").set_value("scores").run()
    return healthy(app.button(key="take-table").click().run())


@pytest.mark.parametrize("looks", ["answers", "scores"])
def test_what_explore_shows_is_the_cores(opened, looks):
    """Fitted on all people of split fit, judged by each test person's mean over the models."""
    by_answers = looks == "answers"
    app = explore(
        with_table(opened, TABLE.to_csv(index=False)) if by_answers else with_scores(opened)
    )
    fit = TABLE[TABLE["split"] == "fit"]
    if by_answers:
        people = ClientCounts.from_table(fit, prediction="said", **COLUMNS)
    else:
        people = ScoredData.from_table(fit, scores=SCORES, **COLUMNS)
    region = app.session_state["kept"]["view"].region
    assert (region == "exact") == (looks == "scores")
    fair = predictor_of(FairnessProgram(people, "eo", region, rates="labels").solve(**START))
    chances = rule_chances(fair) if fair.needs_scores else lottery_chances(fair)
    confusion = expected_confusion(TABLE, chances, (fair.clients, fair.groups, fair.labels))
    accuracy = np.einsum("cayy->", confusion) / confusion.sum()
    assert f"{100 * accuracy:.1f}" in text_of(app)
    test = FoldedData.from_table(TABLE[TABLE["split"] == "test"], scores=SCORES, **COLUMNS)
    gaps = evaluate(fair, test).gaps
    assert f"{np.nanmax(gaps.local):.2f} ({fair.clients[gaps.worst]})" in text_of(app)


def test_it_says_so(opened):
    app = with_table(opened, TABLE.to_csv(index=False))
    output = text_of(app)
    assert "Cross-fitted: 400 people make the lottery" in output
    assert "one of 3 models" in output and "120 test people are scored by all of them" in output
    assert people_of(app)["people"].sum() == 520
    assert "--prediction said --fold fold --row-id id" in command_of(app)
    view = own_view(app.session_state["own-set"], region="kernel")
    made = json.loads(predictor_json(view))
    assert made["folds"] == 3 and made["reached"]["n"] == 400


def test_a_wrong_table_gets_a_sentence_and_the_page_stays(opened):
    wrong = TABLE.drop(index=TABLE.index[TABLE["split"] == "test"][0]).to_csv(index=False)
    app = healthy(uploaded(opened, wrong))
    boxes = values_of(app)
    assert (boxes["Split"], boxes["Fold"], boxes["Row id"]) == ("split", "fold", "id")
    app.button(key="take-table").click().run()
    assert not app.exception and "has no row of fold" in app.warning[0].value.replace("\\", "")
    box(app, "Fold").set_value("none: one model").run()
    app.button(key="take-table").click().run()
    assert "stand behind its limits" in text_of(healthy(app))


def test_counts_of_fold_models_alone(opened):
    fit = TABLE[TABLE["split"] == "fit"]
    counts = ClientCounts.from_table(fit, prediction="said", **COLUMNS)
    app = with_counts(opened, [("c.json", counts)])
    assert "No held-out check possible" in text_of(app)
    assert "--prediction prediction_0,prediction_1,prediction_2" in command_of(app)
    explore(app)
