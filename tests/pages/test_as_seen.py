"""Nothing on a page changes without somebody seeing it: `as_seen/` has what was approved."""

import json
import os
from pathlib import Path

import pytest

from fairfl_core.solving.policy import Floor, Policy
from fairfl_core.solving.utility import BALANCED, Utility
from tests.pages.as_seen import differing, page_of
from tests.pages.conftest import healthy, unfolded

APPROVED = Path(__file__).with_name("as_seen")
ADULT = {"experiment": "adult", "notion": "eo", "seed": 2, "eps_global": 0.04, "eps_local": 0.06}
SKIN = {"experiment": "ham10000", "seed": 1, "eps_global": 1, "eps_local": 0.05}
MISSED = Utility.missing(("up to 50K", "over 50K"), "over 50K", 3.0)
FLOORS = json.dumps(Policy(floors=(Floor("over 50K", keeps=0.2),)).to_json())
RATIOS = json.dumps(Policy(ratio_local=0.8, utility=BALANCED).to_json())
COSTS = json.dumps(Policy(utility=MISSED).to_json())
OWN = {"own": "doctorate=0.02"}


def linked(page, **settings):
    """Open a page by its link."""
    return lambda opened: opened(page, **settings)


def answered(step):
    """A step of the lesson, and the first answer to its question."""

    def visit(opened):
        app = opened("learn", step=step)
        question = app.radio(key=f"widget_said{step}")
        return question.set_value(question.options[0]).run()

    return visit


def two_options(opened):
    """Two settings kept, side by side."""
    app = opened(**ADULT)
    app.button(key="keep").click().run()
    app.select_slider(key="widget_eps_local_slider").set_value(0.02).run()
    app.button(key="keep").click().run()
    return app.switch_page("pages/review.py").run()


def example(opened):
    """The example of *Your data*, taken in."""
    app = opened("your_data")
    app.button(key="try-example").click().run()
    return app.button(key="take-table").click().run()


WITH_SIDEBAR = ("explore", "explore, cross-fitted", "methods")
VISITS = {
    "explore": linked("explore", **ADULT, **OWN),
    "explore, all runs": linked("explore", experiment="adult", eps_local=0.02, rates="shrunk"),
    "explore, exact": linked("explore", **ADULT, region="exact"),
    "explore, floors": linked("explore", **ADULT, policy=FLOORS, confidence="0.95-each-measured"),
    "explore, costs": linked("explore", **ADULT, policy=COSTS),
    "explore, cross-fitted": linked("explore", **ADULT, split="cross-fitted", region="exact"),
    "explore, overall only": linked("explore", **ADULT | {"eps_local": 1}),
    "explore, all drawn": linked("explore", **ADULT, certainty_drawn=True, regions_drawn=True),
    "explore, presented": linked("explore", **ADULT, present=True, large=True),
    "explore, who is worse off": linked("explore", **SKIN),
    "clients": linked("clients", **ADULT, **OWN),
    "clients, ratios": linked("clients", **ADULT, policy=RATIOS),
    "clients, three labels": linked("clients", **SKIN),
    "review": two_options,
    "scenarios": linked("scenarios", **SKIN),
    "privacy": linked("privacy", **ADULT),
    "methods": linked("methods"),
    "your data": linked("your_data"),
    "your data, counts": linked("your_data", bring="counts"),
    "your data, example": example,
    **{f"learn, step {step}": answered(step) for step in range(1, 11)},
}


@pytest.mark.parametrize("name", VISITS)
def test_a_page_shows_what_was_approved(opened, name):
    app = unfolded(healthy(VISITS[name](opened)))
    shown = page_of(app, sidebar=name in WITH_SIDEBAR)
    path = APPROVED / f"{name}.txt"
    if os.environ.get("APPROVE"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(shown, encoding="utf-8")
    assert not differing(shown, path.read_text(encoding="utf-8"))
