"""Your data: the result of a federation's run, opened like any other upload."""

import json

import pytest

from tests.pages.conftest import healthy
from tests.pages.test_your_data import explore, text_of, unfold, your_data


def test_a_run_opens_with_its_unseen_people_and_its_log(opened, tmp_path):
    pytest.importorskip("flwr")
    from tests.federation.hospitals import run_here

    _, folder = run_here(tmp_path / "study")
    data = (folder / "result.json").read_bytes()
    app = your_data(opened, bring="counts")
    app.file_uploader(key="upload-counts").set_value([("result.json", data, "application/json")])
    app.run()
    app.button(key="take-counts").click().run()
    said = text_of(healthy(app))
    assert "no record did" in said
    assert "unseen people were counted by their clients" in said
    tables = [one.value for one in unfold(app, "expander-messages").dataframe]
    log = next(table for table in tables if "purpose" in table.columns)
    assert len(log) == len(json.loads(data)["messages"])
    named = {way for way in log["way"] if " node " not in way}  # who joins has no name yet
    assert named == {f"{to} {who}" for to in ("to", "from") for who in ("North", "South", "East")}
    explore(app)
