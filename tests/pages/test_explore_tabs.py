"""What Explore has below its pictures: asked-reached-held, who pays, how sure, more limits, every rate."""

import json
import re

import numpy as np
import pytest

from fairfl_core._io import numbers as format
from fairfl_core.data import experiments
from fairfl_core.data.scored import ScoredData, fitted_people, unseen_people
from fairfl_core.evaluation.advice import tightest_limits
from fairfl_core.evaluation.all_rates import all_rates_of
from fairfl_core.evaluation.evaluation import evaluate
from fairfl_core.evaluation.harm import harm_of
from fairfl_core.lp.guarantee import Guarantee
from fairfl_core.lp.policy import Floor, Policy
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.lp.utility import BALANCED
from fairfl_core.predictors.kinds import predictor_of
from pages.shared.results import certainty_costs, certainty_of
from tests.pages.conftest import LINKS, healthy, linked, view_of
from tests.pages.core_numbers import CoreNumbers
from tests.pages.reading import HEADINGS, check_clients
from tests.pages.test_explore import popover, tab
from tests.pages.visible import html_tables, numbers, visible_text

PAYS, SURE, MORE, RATES = "pays", "sure", "more", "rates"
SKIN = {"experiment": "ham10000", "seed": 0, "eps_global": 1, "eps_local": 0.05}
ADULT = {"experiment": "adult", "seed": 0}
CANCER = "cancer or pre-cancer"


# -------------------------------------------------------------------- asked, reached, held


def test_asked_reached_held(opened, link, core):
    view, app = view_of(**link), opened(**link, details="reached")
    (headings, *rows) = html_tables(app)[0]
    shown = {row[0]: row[1:] for row in rows}
    both = ("fitted", "unseen")
    for name, limit, what, write in (
        ("Accuracy", "", lambda e: e.accuracy, format.percent),
        ("The model as it is", "", lambda e: e.before.accuracy, format.percent),
        (
            "Overall gap (ε₀)",
            format.epsilon(view.eps_global),
            lambda e: e.gaps.overall,
            format.gap,
        ),
        ("Mean client", "", lambda e: e.gaps.local_mean, format.gap),
    ):
        assert shown[name] == [limit, *(write(core.mean(what, people)) for people in both)]
    laxest = max(view.eps_local, *(limit for _, limit in view.own_limits), 0)
    local = [core.mean(lambda e: e.gaps.local, people) for people in both]
    worst = [f"{np.nanmax(one):.3f} ({core.clients[int(np.nanargmax(one))]})" for one in local]
    assert shown["Worst client (εc)"] == [format.epsilon(laxest), *worst]
    debiased = [core.mean(lambda e: e.debiased(e.larger_half).gap, people) for people in both]
    assert shown["Larger half, chance taken out"][1:] == list(map(format.debiased, debiased))
    n = [core.mean(lambda e: e.counts.n, people) for people in both]
    assert headings[2:] == [
        f"reached (set on, n = {n[0]:,.0f})",
        f"held (new people, n = {n[1]:,.0f})",
    ]
    said = visible_text(app)
    closed = harm_of(core.unseen).closed
    enough = [one for one in closed if min(one.lower.n, one.higher.n) >= 10]
    assert all(one.sentence() in said for one in enough[:6])
    assert not any(one.sentence() in said for one in closed if one not in enough)


# -------------------------------------------------------------------- who pays


def test_who_pays_and_what_a_hundredth_buys(opened, link, core):
    app = opened(**link, details=PAYS)
    said = visible_text(app)
    before, after = (
        core.mean(what)
        for what in (lambda e: e.before.client_accuracy, lambda e: e.client_accuracy)
    )
    change, prices = after - before, core.prices
    low = int(np.nanargmin(change))
    assert (
        f"Against the model as it is, {core.clients[low]} loses most accuracy: "
        f"{format.round_points(change[low])}" in said
    ) == (change[low] < -0.0005)
    bought = [core.clients[c] for c in np.argsort(-prices, kind="stable")[:3] if prices[c] > 1e-7]
    assert re.findall(r"local tolerance in (.+?) buys", said) == bought
    (overall,) = re.findall(
        r"overall tolerance buys (?:at most )?(less than )?([\d.]+)", said
    ) or [("less than", "0")]
    assert (
        core.price_global < 0.005
        if overall[0]
        else float(overall[1]) == round(core.price_global, 2)
    )
    table = app.dataframe[0].value
    assert list(table["client"]) == list(core.clients)
    check_clients(table.rename(columns=HEADINGS), core, np.arange(len(core.clients)), 3)


# -------------------------------------------------------------------- how sure


def test_certainty_is_chosen_by_a_control_and_its_price_is_told_when_asked(opened):
    link = ADULT | {"eps_global": 0.02, "eps_local": 0.06}
    app = opened(**link, details=SURE)
    offered = app.radio(key="widget_certainty").options
    assert offered == [
        "as set",
        *(f"with 95 % for {what}" for what in ("all at once", "each client", "each, proved")),
    ]
    people = ScoredData.from_experiment(experiments.open("adult"), 0, "validation")
    limits = 0.02, 0.06

    def accuracy(guarantee):
        return (
            FairnessProgram(people, "sp", "simplex", rates="labels", guarantee=guarantee)
            .solve(*limits)
            .accuracy
        )

    kinds = {"each": Guarantee(scope="each"), "all": Guarantee()}
    kinds["proved"] = Guarantee(scope="each", proof="proved")
    costs = {name: accuracy(None) - accuracy(one) for name, one in kinds.items()}
    assert certainty_costs(view_of(**link)) == pytest.approx(costs, abs=1e-7)
    said = visible_text(popover(app, "certainty-costs"))
    assert all(format.round_points(cost) in said for cost in costs.values())
    app.radio(key="widget_certainty").set_value("all").run()
    assert linked(healthy(app), "confidence") == "0.95-all-measured"
    assert view_of(**link, confidence="0.95-all-measured").guarantee == Guarantee()
    price = certainty_of(view_of(**link))
    assert (np.diff(price.cost) <= 1e-9).all() and price.people[0] < price.people[-1]


def test_the_advice_is_the_cores_and_one_click_takes_it(opened):
    app = popover(opened(**ADULT, points=0.5, details=SURE), "advice")
    people = ScoredData.from_experiment(experiments.open("adult"), 0, "validation")
    program = FairnessProgram(people, "sp", "simplex", rates="labels", guarantee=Guarantee())
    advice = tightest_limits([program], 0.5)
    button = app.button(key="advice-use")
    assert button.label == f"Ask for {format.epsilon(advice.eps)}"
    button.click().run()
    assert linked(healthy(app), "eps_global") == linked(app, "eps_local") == f"{advice.eps:g}"
    assert linked(app, "confidence") == "0.95-all-measured"


def test_where_no_bound_holds_nothing_is_offered(opened):
    app = opened(**SKIN, region="exact", details=SURE)
    assert "no bound holds for every rule" in visible_text(app) and not app.radio


# -------------------------------------------------------------------- more limits


def by_the_core(policy, eps_global=1.0, eps_local=0.05):
    ham = experiments.open("ham10000")
    program = FairnessProgram(fitted_people(ham, 0).counts, "eo", policy=policy)
    solution = program.solve(eps_global, eps_local)
    return solution, evaluate(predictor_of(solution), unseen_people(ham, 0).counts)


@pytest.mark.parametrize(
    "policy",
    [
        Policy(floors=(Floor(CANCER, keeps=0.05),)),
        Policy(floors=(Floor(CANCER, 0.3), Floor("mole", keeps=0.3))),
        Policy(ratio_local=0.8),
        Policy(utility=BALANCED),
    ],
    ids=["keep", "floors", "ratio", "balanced"],
)
def test_what_is_asked_beside_the_limits(opened, policy):
    app = opened(**SKIN, policy=json.dumps(policy.to_json()), details="reached")
    solution, judged = by_the_core(policy)
    plain, _ = by_the_core(Policy())
    assert numbers(app)[0].now == format.round_percent(judged.accuracy)
    assert "Also asked: " in visible_text(app)
    if not policy.utility.is_accuracy:
        (shown,) = [row for row in html_tables(app)[0] if row[0] == "Balanced accuracy"]
        gain = BALANCED.of(judged.counts)
        held = (judged.confusion * gain).sum() / judged.counts.n
        assert shown[2:] == [f"{solution.utility.value:.3f}", f"{held:.3f}"]
    # What asking for it costs stands beside it, on the people the rule was set on.
    said = visible_text(tab(app, MORE))
    word = "gain" if plain.accuracy < solution.accuracy else "cost"
    assert f"{word} {format.points(plain.accuracy - solution.accuracy)} of accuracy" in said
    assert format.percent(solution.accuracy) in said


def test_a_floor_forbids_the_disaster(opened):
    """Cancer is hardly found any more; one slider forbids that."""
    app = popover(opened(**SKIN, details=MORE), "expander-floors")
    slider = next(one for one in app.select_slider if one.label.startswith("Recognised less"))
    slider.set_value(0.05).run()
    assert json.loads(linked(healthy(app), "policy")) == {"keep": {CANCER: 0.05}}
    _, judged = by_the_core(Policy(floors=(Floor(CANCER, keeps=0.05),)))
    assert numbers(app)[0].now == format.round_percent(judged.accuracy)


def test_four_fifths_is_one_button_and_certainty_lets_ratios_go(opened):
    app = popover(opened(**ADULT, details=MORE), "expander-ratios")
    app.button(key="four-fifths").click().run()
    assert json.loads(linked(healthy(app), "policy")) == {"ratio_global": 0.8, "ratio_local": 0.8}
    tab(app, SURE)
    app.radio(key="widget_certainty").set_value("each").run()
    assert linked(healthy(app), "policy") is None
    assert "not for ratios" in visible_text(popover(tab(app, MORE), "expander-ratios"))


def test_not_using_the_group_has_its_price_beside_it(opened):
    link = ADULT | {"eps_global": 0.05, "eps_local": 0.05}
    app = opened(**link, details=MORE)
    app.toggle(key="widget_without_group").set_value(True).run()
    assert json.loads(linked(healthy(app), "policy")) == {"without_group": True}
    counts = fitted_people(experiments.open("adult"), 0).counts
    blind, seeing = (
        FairnessProgram(counts, "sp", policy=Policy(without_group=one)).solve(0.05, 0.05).accuracy
        for one in (True, False)
    )
    assert blind < seeing
    assert f"not using the group cost {format.points(seeing - blind)}" in visible_text(app)


def test_what_a_missed_one_is_worth_can_be_told(opened):
    app = popover(opened(**SKIN, details=MORE), "expander-good")
    app.button_group(key="widget_utility_kind").set_value("table").run()
    asked = json.loads(linked(healthy(app), "policy"))["utility"]
    assert len(asked["gain"]) == 4
    app.number_input(key="widget_missed").set_value(7.0).run()
    assert json.loads(linked(healthy(app), "policy"))["utility"] != asked


def test_limits_between_the_groups_of_one_column(opened):
    link = {"experiment": "public_coverage_sex_race", "seed": 0, "notion": "eop"}
    app = popover(opened(**link, eps_global=1, eps_local=1, details=MORE), "expander-groupings")
    slider = next(one for one in app.select_slider if one.label == "Gap allowed by sex, overall")
    slider.set_value(0.01).run()
    (asked,) = json.loads(linked(healthy(app), "policy"))["limits"]
    assert asked == {"grouping": "sex", "scope": "global", "eps": 0.01} or "sex" in str(asked)


# -------------------------------------------------------------------- every rate


def test_every_notion_overall_and_why_not_all(opened):
    link = LINKS["all runs, own limit"]
    rates = all_rates_of(CoreNumbers.of(view_of(**link)).unseen)
    app = opened(**link, details=RATES)
    (table,) = [rows for rows in html_tables(app) if "this setting" in rows[0]]
    for row, one in zip(table[1:], rates.notions_of(None), strict=True):
        (low, high), (was_low, was_high) = one.limits, one.before_limits
        assert row[1] == f"{one.before:.3f} ({was_low:.3f} to {was_high:.3f})"
        assert row[2] == f"{one.after:.3f} ({low:.3f} to {high:.3f})"
    assert rates.base.sentence(None) in visible_text(app)
    shown = popover(app, "every-rate-table-open").dataframe[0].value
    clients = list(rates.table()["client"].dropna().unique())
    assert len(shown) == len(rates.table()) and list(shown["client"].unique()) == [
        "overall",
        *clients,
    ]


def test_regions_are_compared_at_reached_gaps_when_asked(opened):
    app = opened(**ADULT, details=RATES)
    assert "regions are compared at equal reached gaps only" not in visible_text(app)
    popover(app, "compare-regions")
    assert "regions are compared at equal reached gaps only" in visible_text(app)
    table = popover(app, "regions-table-open").dataframe[0].value
    assert set(table["region"]) == {"simplex", "kernel", "exact"}
    row = table[(table["region"] == "simplex") & (table["limit"] == 0.04)].iloc[0]
    core = CoreNumbers.of(view_of(**ADULT, eps_global=0.04, eps_local=0.04))
    assert row["accuracy"] == pytest.approx(core.mean(lambda e: e.accuracy), abs=6e-5)
    assert row["gap, mean client"] == pytest.approx(
        core.mean(lambda e: e.gaps.local_mean), abs=6e-5
    )
