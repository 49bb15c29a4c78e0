"""Cross-fitted by default, the verdict first, certainty and its price, what to ask for."""

import json
import random
import re
from dataclasses import replace

import numpy as np
import pytest
from pages.components.session import cache
from pages.components.shared import shipped_prices
from pages.components.shared import text as shared_text
from pages.components.shared.shipped import start_views
from pages.components.shared.shipped_prices import price_at

from fairfl_core.evaluation.advice import tightest_limits
from fairfl_core.evaluation.study import run_study
from fairfl_core.evaluation.verdict import verdict_of
from fairfl_core.people import experiments
from fairfl_core.people.folded import fitted_people, unseen_people
from fairfl_core.solving.build import build_program
from fairfl_core.solving.guarantee import Guarantee
from pages.shared.results import (
    LEVELS,
    advice_of,
    certainty_costs,
    certainty_of,
    certainty_possible,
    computed_costs,
    many_margins,
    predictor_of,
    priced,
    study_of,
    summary_of,
)
from tests.pages.conftest import linked, view_of

START = {"as_it_starts": True}
PRICED = [view for view in start_views() if certainty_possible(view) and not many_margins(view)]


def markdown(app):
    return [re.sub(r"\\(.)", r"\1", element.value) for element in app.markdown]


def core_study(region, guarantee, overall, local, seeds=(0,)):
    experiment = experiments.open("adult_cross_fitted")
    programs = [
        (
            seed,
            build_program(
                fitted_people(experiment, seed), "sp", region, rates="labels", guarantee=guarantee
            ),
        )
        for seed in seeds
    ]
    unseen = [unseen_people(experiment, seed) for seed in seeds]
    return run_study(programs, unseen, overall, local)


def test_a_view_starts_cross_fitted_in_the_exact_region():
    view = view_of(**START)
    assert (view.data, view.region, view.rates) == ("adult_cross_fitted", "exact", "labels")
    assert view.guarantee is None
    assert view_of("ham10000_scenario1", **START).data == "ham10000_scenario1"
    more = view_of("ham10000", **START)
    assert more.region == "simplex"  # four labels: what holds best


@pytest.mark.parametrize("confidence", [None, "0.95-each-measured"])
def test_the_page_shows_the_cores_verdict_and_numbers(opened, confidence):
    asked = {"confidence": confidence} if confidence else {}
    app = opened(seed=0, eps_global=0.02, eps_local=0.06, **asked, **START)
    guarantee = Guarantee(scope="each") if confidence else None
    study = core_study("exact", guarantee, 0.02, 0.06)
    verdict = verdict_of(
        study.evaluations(unseen=True), 0.02, study.first.solution.eps_local, guarantee
    )
    said = markdown(app)
    assert any(verdict.why in one for one in said)
    assert any(verdict.word.upper() in str(one) for one in said)
    accuracy = study.over(lambda e: e.accuracy, unseen=True).mean
    before = core_study("exact", guarantee, 1.0, 1.0).over(lambda e: e.accuracy, unseen=True).mean
    headline = next(one for one in said if one.startswith("####"))
    assert f"{100 * before:.1f} % → **{100 * accuracy:.1f} %**" in headline
    assert any("4 models, each trained without one fold" in one.value for one in app.caption)


def test_certainty_is_chosen_by_a_control_and_goes_into_the_link(opened):
    app = opened(seed=0, **START)
    offered = app.segmented_control(key="widget_certainty").options
    assert offered[:3] == ["as fitted", "95 % for all at once", "95 % for each client"]
    app.segmented_control(key="widget_certainty").set_value("all").run()
    assert linked(app, "confidence") == "0.95-all-measured"
    prices = next(one.value for one in app.caption if one.value.startswith("What certainty costs"))
    assert sorted(offered[1:], key=prices.index) == offered[1:]  # told in the order offered
    view = view_of(seed=0, confidence="0.95-all-measured", **START)
    assert view.guarantee == Guarantee(scope="all") and view.rates == "labels"
    assert predictor_of(view).guarantee == view.guarantee
    assert predictor_of(view).folds == 4


def test_each_certainty_has_its_price_beside_it(opened):
    view = view_of(seed=0, eps_global=0.02, eps_local=0.06, **START)
    offered = [Guarantee(0.95, "each"), Guarantee(), Guarantee(0.95, "each", "proved")]
    plain = core_study("exact", None, 0.02, 0.06).first.solution.accuracy
    costs = [
        plain - core_study("exact", one, 0.02, 0.06).first.solution.accuracy for one in offered
    ]
    names = ("each", "all", "proved")
    # As shipped, rounded to seven digits; off the sliders' stops solved here.
    assert certainty_costs(view) == pytest.approx(dict(zip(names, costs, strict=True)), abs=6e-8)
    assert computed_costs(view) == pytest.approx(costs, abs=1e-9)
    assert 0 < costs[0] < costs[1] < costs[2]
    between = replace(view, eps_local=0.0601)
    assert certainty_costs(between) == dict(zip(names, computed_costs(between), strict=True))


@pytest.mark.parametrize("view", PRICED, ids=lambda view: f"{view.data}-{view.region}")
def test_prices_that_are_shipped_are_those_that_are_computed(view):
    """At a few stops, drawn anew with every name: three programs each."""
    chance = random.Random(f"{view.data} {view.region}")
    for _ in range(2):
        overall, inside = (chance.choice(LEVELS) for _ in range(2))
        there = replace(view, eps_global=overall, eps_local=inside)
        told = price_at(priced(there))
        assert told is not None, "nothing is shipped for this view: make summaries"
        assert told == pytest.approx(computed_costs(there), abs=6e-8)


def test_prices_of_other_scores_are_not_used(monkeypatch, tmp_path, caplog):
    view = priced(view_of(seed=0, eps_global=0.02, eps_local=0.06, **START))
    assert price_at(view)
    whole = (shipped_prices.FOLDER / "certainty" / f"{view.data}.json").read_text()
    (tmp_path / "certainty").mkdir()
    monkeypatch.setattr(shipped_prices, "FOLDER", tmp_path)
    for spoilt in ({"scores": "0" * 64}, {"levels": [0.1]}, {"prices": None}):
        cache.forget_everything()
        told = json.dumps(json.loads(whole) | spoilt)
        (tmp_path / "certainty" / f"{view.data}.json").write_text(told)
        assert price_at(view) is None
    assert "is not used" in caplog.text
    cache.forget_everything()


def test_the_advice_is_the_cores_and_one_click_takes_it(opened):
    app = opened(seed=0, points=0.5, **START)
    experiment = experiments.open("adult_cross_fitted")
    program = build_program(fitted_people(experiment, 0), "sp", "exact", guarantee=Guarantee())
    advice = tightest_limits([program], 0.5)
    assert advice_of(view_of(seed=0, **START), 0.5) == advice
    (button,) = [one for one in app.button if one.key == "advice-use"]
    assert f"{advice.eps:g}" in button.label
    button.click().run()
    assert linked(app, "eps_global") == linked(app, "eps_local") == f"{advice.eps:g}"
    assert linked(app, "confidence") == "0.95-all-measured"


def test_more_people_make_certainty_cheaper_on_the_page_too():
    price = certainty_of(view_of(seed=0, eps_local=0.05, **START))
    assert (np.diff(price.cost) <= 1e-9).all() and price.people[0] < price.people[-1]


def test_one_rule_for_chance():
    study = study_of(view_of(seed=0))
    rows = study.client_table(unseen=True)
    summary = summary_of(view_of(seed=0))
    worst = summary.judged.worst
    low = float(rows.loc[rows.client == worst.client, "gap_low"].iloc[0])
    assert worst.within_noise == (low < 0.0005)
    assert ("within noise" in shared_text.sure(worst)) == worst.within_noise
    assert ("within noise" in shared_text.headline(summary)) == worst.within_noise
