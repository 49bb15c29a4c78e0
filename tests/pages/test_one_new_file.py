"""A notion and a region of one's own, on the pages: nothing on them knows either by name."""

import pytest

from fairfl_core._io import numbers as format
from fairfl_core.data import experiments
from fairfl_core.evaluation.evaluation import evaluate
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.predictors.kinds import predictor_of
from pages.shared import results
from tests.helpers.own_kinds import EqualMisses, KeepOrTurn, registered
from tests.pages.conftest import view_of
from tests.pages.test_explore import popover
from tests.pages.visible import html_tables, numbers, visible_text

LIMITS = {"seed": 0, "eps_global": 0.01, "eps_local": 0.02}


@pytest.fixture
def ours():
    with registered():
        yield


# With a notion or a region of ours in the other's place: what is new need not come in pairs.
@pytest.mark.parametrize(
    ("notion", "region"), [("misses", "turn"), ("misses", "kernel"), ("eop", "turn")]
)
def test_they_are_shown_like_the_others(opened, ours, notion, region):
    app = opened(experiment="adult", notion=notion, region=region, details="reached", **LIMITS)
    solution, judged = by_the_core(notion, region)
    assert numbers(app)[0].now == format.round_percent(judged.accuracy)
    assert numbers(app)[1].now == format.round_gap(judged.gaps.overall)
    (shown,) = [row[2:] for row in html_tables(app)[0] if row[0] == "Accuracy"]
    assert shown == [format.percent(a) for a in (solution.accuracy, judged.accuracy)]
    said = visible_text(popover(app, "settings"))
    chosen = {name: app.selectbox(key=f"widget_{name}") for name in ("notion", "region")}
    assert EqualMisses.title in chosen["notion"].options
    assert KeepOrTurn.title in chosen["region"].options
    assert ("is missed equally often" in said) == (notion == "misses")
    assert (KeepOrTurn.meaning in said) == (region == "turn")


def test_they_are_compared_looked_into_and_taken_along(opened, ours):
    link = {"experiment": "adult", "notion": "misses", "region": "turn", **LIMITS}
    app = opened(**link, client="doctorate", details="rates")
    assert " – model's answer: " in visible_text(app)
    popover(app, "compare-regions")
    table = popover(app, "regions-table-open").dataframe[0].value
    assert "turn" in set(table["region"])
    made = results.predictor_of(view_of(**link))
    solution, _ = by_the_core("misses", "turn")
    own = predictor_of(solution).to_json()
    added = {
        key: made.to_json()[key] for key in ("fitted_on", "certificate") if key in made.to_json()
    }
    assert made.to_json() == own | added


def by_the_core(notion, region):
    """The solution and what it comes to on unseen people."""
    counts, test = (experiments.open("adult").counts(0, s) for s in ("validation", "test"))
    program = FairnessProgram(counts, notion, region, rates="labels")
    solution = program.solve(LIMITS["eps_global"], LIMITS["eps_local"])
    return solution, evaluate(predictor_of(solution), test)
