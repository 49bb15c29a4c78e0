"""Your data with a group of several columns: confirmed, taken in, shown and taken along."""

import numpy as np

from fairfl_core._io import numbers as format
from fairfl_core.evaluation.evaluation import evaluate
from fairfl_core.people.counts import ClientCounts
from fairfl_core.predictors.load import predictor_of
from fairfl_core.solving.build import build_program
from pages.shared.view import START
from tests.pages.conftest import healthy, unfolded
from tests.pages.test_your_data import PAGES, go, text_of
from tests.people.test_grouping import COLUMNS, people

TABLE = people(900, seed=2).assign(split=np.resize(["validation", "test", "test"], 900))


def crossed(opened, *columns):
    app = opened("your_data")
    data = TABLE.to_csv(index=False).encode()
    app.file_uploader(key="upload-table").set_value(("rows.csv", data, "text/csv")).run()
    boxes = {box.label: box for box in healthy(app).main.selectbox}
    assert boxes["Group"].value == "sex"
    (more,) = [box for box in app.multiselect if box.key.startswith("column-crossed")]
    assert more.value == [] and "sex" not in more.options
    more.set_value(list(columns)).run()
    app.button(key="take-table").click().run()
    return app


def test_the_numbers_are_the_cores(opened):
    app = healthy(crossed(opened, "race"))
    fit, test = (
        ClientCounts.from_table(TABLE[TABLE["split"] == split], group=["sex", "race"], **COLUMNS)
        for split in ("validation", "test")
    )
    region = app.selectbox(key="widget_region").value
    fair = predictor_of(build_program(fit, "eo", region).solve(**START))
    judged = evaluate(fair, test)
    told = next(block.value for block in app.markdown if "Allowing a gap of" in block.value)
    assert f"**{format.percent(judged.accuracy)}**" in told
    assert f"overall gap {format.gap(judged.gaps.overall)}" in told
    table = next(d.value for d in unfolded(app).dataframe if "group woman · Black" in d.value)
    everybody = fit.table + test.table
    mine = everybody[:, fit.groups.index("woman · Black")].sum(axis=(1, 2))
    assert table["group woman · Black"].tolist() == mine.tolist()
    assert "group man · other" not in table
    command = next(each.value for each in app.code if "predict" in each.value)
    assert "--group sex,race" in command
    for page in PAGES:
        go(app, page)


def test_what_cannot_be_crossed_gets_a_sentence(opened):
    app = crossed(opened, "truth")
    assert not app.exception and "chosen for two things" in app.warning[0].value
    (more,) = [box for box in app.multiselect if box.key.startswith("column-crossed")]
    more.set_value(["race"]).run()
    app.button(key="take-table").click().run()
    assert "Allowing a gap of" in text_of(healthy(app))
