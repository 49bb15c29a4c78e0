"""The page Watch: its numbers are the core's, and what is brought is checked."""

import json

import pytest

from fairfl_core.data import experiments
from fairfl_core.lp.policy import Floor, Policy
from fairfl_core.lp.policy_file import PolicyFile
from fairfl_core.monitoring.months import example_year
from fairfl_core.monitoring.watch import Watch
from pages.watch.charts import over_time
from pages.watch.page import table_of
from tests.pages.conftest import healthy


@pytest.fixture(scope="module")
def year():
    return Watch(PolicyFile("eop", 1.0, 0.05), *example_year())


def said(app):
    return " ".join(one.value for one in [*app.markdown, *app.caption, *app.warning])


def test_the_example_breaks_in_the_west_after_july(opened, year):
    app = opened("watch", eps_local=0.05)
    assert "**not met**" in said(app)
    assert "West" in said(app) and "Invented" in said(app)
    (one,) = year.broken
    assert one.client == "West" and year.periods[one.broke] >= "2026-07"
    assert f"Found in {year.periods[one.broke]}" in said(app).replace("\\", "")


def test_the_picture_and_table_hold_the_cores_numbers(year):
    table = table_of(year)
    for one in year.scopes:
        drawn = {trace.name: list(trace.y) for trace in over_time(year, one).data}
        assert drawn["gap so far"] == one.gap.tolist() and drawn["allowed"] == [one.eps] * 2
        assert ("found" in drawn) == (one.broke is not None)
    assert table.gap.tolist() == [round(float(one.gap[-1]), 3) for one in year.scopes]
    assert table["found in"].tolist()[-1] == year.periods[year.broken[0].broke]


def test_solving_again_says_what_it_costs(opened, year):
    app = opened("watch", eps_local=0.05)
    app = healthy(next(b for b in app.button if b.key == "watch-again").click().run())
    solution, _ = year.solve_again()
    assert f"{solution.counts.n:,.0f} people" in said(app)
    assert f"{solution.accuracy:.1%}" in said(app)


def brought(app, months, baseline=None):
    """The page with files in its boxes."""
    boxes = {box.key: box for box in app.get("file_uploader")}
    boxes["watch-months"].set_value(
        [(n, json.dumps(v).encode(), "application/json") for n, v in months]
    )
    if baseline is not None:
        boxes["watch-baseline"].set_value(
            ("counts.json", json.dumps(baseline).encode(), "application/json")
        )
    return app.run()


def test_ones_own_months_are_judged_and_bad_ones_refused(opened):
    baseline, months = example_year()
    files = [(f"m-{m.period}.json", m.to_json()) for m in months[:3]]
    app = brought(opened("watch", notion="eop", eps_local=0.05), files, baseline.to_json())
    assert "no limit broke in 3 months" in said(healthy(app)).replace("\\", "")
    twice = [files[0], ("other.json", files[0][1])]
    app = brought(opened("watch"), twice, baseline.to_json())
    assert "both of 2026" in said(app).replace("\\", "")
    app = brought(opened("watch"), [("x.json", {"format": "no"})], baseline.to_json())
    assert "x.json" in said(app).replace("\\", "") and not app.exception


def test_ones_own_months_are_judged_by_all_that_the_view_asks(opened):
    """Here floors, which are not watched: that is said."""
    baseline, months = example_year()
    files = [(f"m-{m.period}.json", m.to_json()) for m in months[:3]]
    floors = Policy(floors=(Floor(experiments.open("adult").labels[1], 0.3),))
    app = opened("watch", experiment="adult", policy=json.dumps(floors.to_json()))
    app = brought(app, files, baseline.to_json())
    assert "Not watched, though asked: floors" in said(app).replace("\\", "")


def test_names_are_only_text(opened):
    baseline, months = example_year()
    hostile = baseline.to_json()
    hostile["clients"][3]["name"] = "<script>window.hit=1</script> **y**"
    files = []
    for month in months:
        value = month.to_json()
        value["clients"][3]["name"] = hostile["clients"][3]["name"]
        files.append((f"m-{month.period}.json", value))
    app = brought(opened("watch", notion="eop", eps_local=0.05), files, hostile)
    assert "<script>" not in said(app)
