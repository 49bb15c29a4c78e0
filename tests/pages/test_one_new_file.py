"""A notion and a region of one's own, on the pages: nothing on them knows either by name."""

import json

import pytest
from pages.components.shared.downloads import predictor_json
from pages.components.shared.report import html_report

from fairfl_core.evaluation.evaluation import evaluate
from fairfl_core.people import experiments
from fairfl_core.predictors.load import predictor_of
from fairfl_core.solving.build import build_program
from tests.helpers.own_kinds import EqualMisses, KeepOrTurn, registered
from tests.pages.conftest import unfolded, view_of
from tests.pages.reading import numbers_tables

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
    app = opened(experiment="adult", split="paper", notion=notion, region=region, **LIMITS)
    chosen = {name: app.selectbox(key=f"widget_{name}") for name in ("notion", "region")}
    assert (chosen["notion"].value, chosen["region"].value) == (notion, region)
    assert EqualMisses.title in chosen["notion"].options
    assert KeepOrTurn.title in chosen["region"].options
    said = [line.value for line in app.caption]
    assert any("is missed equally often" in line for line in said) == (notion == "misses")
    assert (KeepOrTurn.meaning in said) == (region == "turn")
    solution, judged = by_the_core(notion, region)
    headline = next(line.value for line in app.markdown if line.value.startswith("#### "))
    assert f"**{100 * judged.accuracy:.1f} %**" in headline
    assert f"overall gap {judged.gaps.overall:.3f}" in headline
    shown = numbers_tables(app)[0].loc["Accuracy"].tolist()
    assert shown[1:] == [f"{100 * a:.1f} %" for a in (solution.accuracy, judged.accuracy)]


def test_they_are_compared_looked_into_and_taken_along(opened, ours):
    link = {"experiment": "adult", "notion": "misses", "region": "turn", **LIMITS}
    app = opened(regions_drawn=True, **link)
    curves = next(d.value for d in unfolded(app).dataframe if "mean client's gap" in d.value)
    assert "turn" in set(curves["region"])
    app.switch_page("pages/clients.py").run()
    assert not app.exception and not app.warning
    assert any(" – model's answer: " in line.value for line in app.markdown)
    view = view_of(**link)
    made = json.loads(predictor_json(view))
    solution, _ = by_the_core("misses", "turn")
    assert (made["fitted_on"]["experiment"], made["fitted_on"]["seed"]) == ("adult", 0)
    own = json.loads(json.dumps(predictor_of(solution).to_json()))
    assert made == own | {"fitted_on": made["fitted_on"]}
    assert all(kind.title in html_report(view, "") for kind in (EqualMisses, KeepOrTurn))


def by_the_core(notion, region):
    """The solution and what it comes to on unseen people."""
    counts, test = (experiments.open("adult").counts(0, s) for s in ("validation", "test"))
    program = build_program(counts, notion, region, rates="labels")
    solution = program.solve(LIMITS["eps_global"], LIMITS["eps_local"])
    return solution, evaluate(predictor_of(solution), test)
