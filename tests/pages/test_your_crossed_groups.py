"""Your data with a group of several columns: confirmed, taken in, shown and applied."""

import numpy as np

from fairfl_core.data.counts import ClientCounts
from fairfl_core.evaluation.evaluation import evaluate
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.predictors.kinds import predictor_of
from pages.shared.view import START
from tests.data.test_grouping import COLUMNS, people
from tests.pages.conftest import healthy
from tests.pages.test_your_data import command_of, explore, people_of, text_of, uploaded, values_of

TABLE = people(900, seed=2).assign(split=np.resize(["validation", "test", "test"], 900))


def crossed(opened, *columns):
    app = healthy(uploaded(opened, TABLE.to_csv(index=False)))
    assert values_of(app)["Group"] == "sex"
    (more,) = [box for box in app.multiselect if box.key.startswith("column-crossed")]
    assert more.value == [] and "sex" not in more.options
    more.set_value(list(columns)).run()
    return app.button(key="take-table").click().run()


def test_the_numbers_are_the_cores(opened):
    app = healthy(crossed(opened, "race"))
    fit, test = (
        ClientCounts.from_table(TABLE[TABLE["split"] == split], group=["sex", "race"], **COLUMNS)
        for split in ("validation", "test")
    )
    table = people_of(app)
    mine = (fit.table + test.table)[:, fit.groups.index("woman · Black")].sum(axis=(1, 2))
    assert table["group woman · Black"].tolist() == mine.tolist()
    assert "group man · other" not in table
    assert "--group sex,race" in command_of(app)
    explore(app)
    region = app.session_state["kept"]["view"].region
    judged = evaluate(predictor_of(FairnessProgram(fit, "eo", region).solve(**START)), test)
    assert f"{100 * judged.accuracy:.1f}" in text_of(app)


def test_what_cannot_be_crossed_gets_a_sentence(opened):
    app = crossed(opened, "truth")
    assert not app.exception and "chosen for two things" in app.warning[0].value
    (more,) = [box for box in app.multiselect if box.key.startswith("column-crossed")]
    more.set_value(["race"]).run()
    app.button(key="take-table").click().run()
    explore(healthy(app))
