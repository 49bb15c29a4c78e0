"""Your data: several models of one table side by side, every number the core's."""

import io

import numpy as np
import pandas as pd

from fairfl_core.evaluation.methods import frontier, model_settings
from fairfl_core.intake import ColumnRoles, example_table, experiment_from_table, open_table
from pages.your_data import text as models_text
from pages.your_data.page import best_at, overlapping, settings_table
from tests.pages.conftest import healthy
from tests.pages.test_your_data import text_of, uploaded

HOSTILE = "<b>second</b> $x$ **y**"


def two_models():
    table = pd.read_csv(io.StringIO(example_table()))
    wrong = np.random.default_rng(0).random(len(table)) < 0.25
    other = np.where(table["diagnosis"] == "ill", "healthy", "ill")
    table[HOSTILE] = np.where(wrong, other, table["diagnosis"])
    return table.to_csv(index=False)


def of_core(text):
    roles = ColumnRoles(
        "hospital", "sex", "diagnosis", "prediction", row_id="patient", models=(HOSTILE,)
    )
    intake = experiment_from_table(open_table("rows.csv", text.encode()), roles)
    return [model_settings(one.name, one.experiment, "eo") for one in intake.models]


def compared(opened, text, models):
    app = uploaded(opened, text)
    (box,) = [box for box in app.multiselect if box.key.startswith("column-models")]
    box.set_value(models).run()
    return healthy(app).button(key="take-table").click().run()


def test_two_models_are_compared_and_every_number_is_the_cores(opened):
    app = healthy(compared(opened, two_models(), [HOSTILE]))
    core = of_core(two_models())
    best = {own[0].model: best_at(own, "gap_global", 0.05) for own in core}
    there = [one for one in best.values() if one is not None]
    overlap = len(there) > 1 and overlapping(there)
    said = [one.value for one in app.markdown]
    assert models_text.headline(best, "gap_global", 0.05, overlap=overlap) in said
    assert models_text.reading(core, "gap_global") in text_of(app)
    app.selectbox(key="your-models-gap").set_value("gap_local_worst").run()
    app.selectbox(key="your-models-at").set_value(0.3).run()
    best = {own[0].model: best_at(own, "gap_local_worst", 0.3) for own in core}
    there = [one for one in best.values() if one is not None]
    overlap = len(there) > 1 and overlapping(there)
    said = [one.value for one in healthy(app).markdown]
    assert models_text.headline(best, "gap_local_worst", 0.3, overlap=overlap) in said
    assert not any(HOSTILE in one for one in said)


def test_a_column_that_is_no_model_is_refused_in_a_sentence(opened):
    app = compared(opened, two_models(), ["hospital"])
    assert not app.exception
    assert "chosen for two things" in app.warning[0].value.replace("\\", "")


def test_the_headline_and_the_table_say_what_is_known():
    first, second = of_core(two_models())
    table = settings_table([first, second])
    (as_it_is, *_) = first
    assert table.loc[0, "accuracy"] == as_it_is.evaluation.accuracy
    assert table.loc[0, "accuracy_low"] < table.loc[0, "accuracy"] < table.loc[0, "accuracy_high"]
    assert overlapping([first[0], first[-1]]) and not overlapping(
        frontier(first, "gap_global")[:1]
    )
    never = models_text.headline({"one": None}, "gap_global", 0.01, overlap=False)
    assert "“one” does not reach this gap" in never
