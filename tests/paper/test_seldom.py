"""Tables of methods where something is not shipped."""

from types import SimpleNamespace

from fairfl_core.paper import method_tables as room
from fairfl_core.paper import printed


def test_figures_of_the_papers_tables_are_shares():
    row = printed._table_2((0.1, 0.2), (0.3, 0.4), (84.5, 0.6))
    assert (row.local, row.overall) == (printed.Measured(0.1, 0.2), printed.Measured(0.3, 0.4))
    assert row.accuracy == printed.Measured(84.5 / 100, 0.6 / 100) and row.where == "Table 2"
    row = printed._table_4(0.1, 0.3, 84.5)
    assert (row.local, row.overall) == (printed.Measured(0.1), printed.Measured(0.3))
    assert row.accuracy == printed.Measured(84.5 / 100) and row.where == "Table 4"


def test_where_no_method_is_shipped_there_is_no_table(monkeypatch):
    monkeypatch.setattr(room, "method_experiments", list)
    assert room.method_tables() == ""


def test_a_framework_that_was_not_run_is_said_to_be_so(monkeypatch):
    monkeypatch.setattr(room, "open_experiment", lambda name: SimpleNamespace(notion="sp"))
    lines = room._table_2("adult", [])
    missing = [line for line in lines if "not run here" in line]
    names = [line.split(" | ")[0].removeprefix("| ") for line in missing]
    assert {*printed.TABLE_2["adult"]} & {*room.FRAMEWORKS} <= {*names} <= {*room.FRAMEWORKS}
    assert missing[0] == "| FedAvg | not run here | | | | | 84.5 / 0.287 / 0.226 |"
    assert room._equal_gaps("adult", []) == []
    first = next(iter(room.FRAMEWORKS))
    assert room._convergence("adult", [], first)[:3] == ["", "", ""]
