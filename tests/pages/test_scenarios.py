"""Scenarios: the paper's three side by side, and clients of one's own; every number the core's."""

import re

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from fairfl_core._io import numbers as format
from fairfl_core.data import experiments
from fairfl_core.data.resample import redraw, redraw_people
from fairfl_core.data.scored import ScoredData
from fairfl_core.evaluation.evaluation import evaluate
from fairfl_core.evaluation.methods import GRID, PAPER
from fairfl_core.evaluation.verdict import verdict_of
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.predictors.kinds import predictor_of
from pages.scenarios import text
from pages.scenarios.results import KINDS, MAP, cost_difference, scenario_view
from tests.pages.conftest import TOP, healthy, linked, view_of
from tests.pages.core_numbers import CoreNumbers
from tests.pages.reading import HEADINGS, check_clients, unmarked
from tests.pages.visible import charts

PAGE = TOP / "pages" / "scenarios" / "page.py"


def open_scenarios(**settings):
    app = AppTest.from_file(str(PAGE), default_timeout=60)
    for name, value in settings.items():
        app.query_params[name] = str(value)
    return healthy(app.run())


def said(app, words):
    lines = [unmarked(line.value) for kind in (app.markdown, app.caption) for line in kind]
    return next((line for line in lines if words in line), None)


def accuracy(app, kind):
    """The cells of a map in per cent, as the browser gets them."""
    return np.array(charts(app)[f"map-{kind}"]["accuracy"], float)


def bars(app):
    """The share above each bar, a list for each picture."""
    bodies = [one.proto.body for one in app.get("html")]
    return [
        re.findall(r"<b>(\d+) %</b>", body) for body in bodies if 'class="fairfl-bars"' in body
    ]


def frame_with(app, column):
    return next(one.value for one in app.dataframe if column in one.value)


# -------------------------------------------------------------------- the paper's three

ONE = {"scenario_seed": 2, "eps_global": 0.1, "eps_local": 0.2}


def scenario(name, **settings):
    return view_of(name, **{"seed": 2, "eps_global": 0.1, "eps_local": 0.2} | settings)


@pytest.fixture(scope="module")
def three():
    return open_scenarios(**ONE)


def test_under_each_map_stand_its_cost_its_worst_gap_and_the_cores_verdict(three):
    lines = [unmarked(line.value) for line in three.markdown if " points**, " in line.value]
    assert len(lines) == len(PAPER["scenarios"])
    for line, name, kind in zip(lines, PAPER["scenarios"], KINDS, strict=True):
        core = CoreNumbers.of(scenario(name))
        change = core.mean(lambda e: e.accuracy) - core.mean(lambda e: e.before.accuracy)
        worst = np.nanmax(core.mean(lambda e: e.gaps.local))
        verdict = verdict_of(core.unseen, 0.1, core.solutions[0].eps_local)
        assert line.startswith(
            f"{text.KINDS[kind]}: {format.round_signed_points(change)}, "
            f"worst {format.round_gap(worst)} "
        )
        assert f"{verdict.shape} {verdict.word}" in line


def test_three_maps_share_one_scale_and_show_the_programs_accuracy(three):
    scales = {
        (charts(three)[f"map-{kind}"]["low"], charts(three)[f"map-{kind}"]["high"])
        for kind in KINDS
    }
    every = [accuracy(three, kind) for kind in KINDS]
    assert len(scales) == 1 and scales.pop()[1] == pytest.approx(np.max(every), abs=0.006)
    for kind, shown, name in zip(KINDS, bars(three), PAPER["scenarios"], strict=True):
        splits = [experiments.open(name).counts(2, split) for split in experiments.SPLITS]
        solved = FairnessProgram(splits[0], "eo").solve(GRID[4], GRID[1]).accuracy
        cell = accuracy(three, kind)[MAP.index(GRID[1]), MAP.index(GRID[4])]
        assert cell == pytest.approx(100 * solved, abs=0.006)
        limits = charts(three)[f"map-{kind}"]["limits"]
        assert charts(three)[f"map-{kind}"]["here"] == [limits.index(0.1), limits.index(0.2)]
        people = sum(split.table for split in splits).sum(axis=(2, 3))
        share = 100 * people[:, 0] / people.sum(axis=1)
        np.testing.assert_allclose(np.array(shown, float), share, atol=0.51)


def test_it_shows_its_own_settings_whatever_explore_is_on():
    adult = open_scenarios(experiment="adult", notion="sp", region="exact", seed=3, **ONE)
    skin = open_scenarios(experiment="ham10000", notion="eop", region="kernel", seed=0, **ONE)
    for kind in KINDS:
        np.testing.assert_array_equal(accuracy(adult, kind), accuracy(skin, kind))
    assert "equalized odds · run 2" in said(adult, "HAM10000")


def test_its_settings_change_what_is_shown_and_live_in_the_link():
    app = open_scenarios(**ONE)
    app.session_state["settings"] = True
    app.run()
    app.selectbox(key="widget_scenario_notion").set_value("eop").run()
    app.selectbox(key="widget_scenario_region").set_value("kernel").run()
    app.selectbox(key="widget_scenario_seed").set_value("1").run()
    healthy(app)
    link = {f"scenario_{name}": linked(app, f"scenario_{name}") for name in ("notion", "region")}
    assert link == {"scenario_notion": "eop", "scenario_region": "kernel"}
    assert linked(app, "scenario_seed") == "1"
    counts = experiments.open(KINDS["far"]).counts(1, "validation")
    solved = FairnessProgram(counts, "eop", "kernel").solve(GRID[0], GRID[2]).accuracy
    cell = accuracy(app, "far")[MAP.index(GRID[2]), MAP.index(GRID[0])]
    assert cell == pytest.approx(100 * solved, abs=0.006)
    app.selectbox(key="widget_scenario_notion").set_value("eo-full").run()
    assert healthy(app).selectbox(key="widget_scenario_region").value == "kernel"


def test_the_chosen_scenarios_clients_and_who_is_in_them():
    app = open_scenarios(apart="little", **ONE)
    for key in ("scenario-clients-table-open", "scenario-composition-table-open"):
        app.session_state[key] = True
    healthy(app.run())
    core = CoreNumbers.of(scenario(KINDS["little"]))
    table = frame_with(app, "price of a hundredth, points").rename(columns=HEADINGS)
    check_clients(table, core, np.arange(5), 4)
    rows = frame_with(app, text.N_HELD_OUT)
    people = [
        sum(experiments.open(name).counts(2, split).table for split in experiments.SPLITS)
        for name in PAPER["scenarios"]
    ]
    people = np.concatenate([one.sum(axis=(2, 3)) for one in people])
    np.testing.assert_array_equal(rows[text.N_HELD_OUT], people.sum(axis=1))
    share = 100 * people[:, 1] / people.sum(axis=1)
    np.testing.assert_allclose(rows["men, %"], share, atol=0.06)


def test_whether_clients_that_differ_cost_more_is_told_with_its_chance():
    settings = {"notion": "eo", "region": "simplex", "rates": "labels"}
    limits = scenario(KINDS["alike"])
    views = [scenario_view(KINDS[kind], settings, limits) for kind in ("alike", "far")]
    costs = [
        [one.before.accuracy - one.accuracy for one in CoreNumbers.of(view).unseen]
        for view in views
    ]
    more, error = cost_difference(*views)
    assert more == pytest.approx(np.mean(costs[1]) - np.mean(costs[0]), abs=1e-9)
    spread = [np.var(cost, ddof=1) / len(cost) for cost in costs]
    assert error == pytest.approx(np.sqrt(sum(spread)), abs=1e-9)
    assert np.isnan(cost_difference(*(view.of_seed(0) for view in views))[1])
    for (difference, unsure), word in {
        (0.02, 0.005): "Far apart costs more than alike, beyond chance",
        (-0.02, 0.005): "Far apart costs less than alike, beyond chance",
        (0.02, 0.02): "Far apart costs no more than alike, as far as 10 runs can tell",
        (0.02, float("nan")): "in this run",
    }.items():
        assert word in text.answer(difference, unsure, 10)


@pytest.mark.parametrize(
    "limits",
    [
        {"eps_local": 1, "eps_global": 0.05},
        {"eps_local": 1, "eps_global": 1},
    ],
)
def test_below_a_map_stands_the_gap_that_was_asked_for_and_whether_it_is_met(limits):
    app = open_scenarios(scenario_seed=0, **limits)
    (line, *_) = [unmarked(one.value) for one in app.markdown if "**, " in one.value]
    assert ("overall " in line) == (limits["eps_global"] < 1)
    assert ("✕" in line or "○" in line or "●" in line) == (min(limits.values()) < 1)


# -------------------------------------------------------------------- one's own


@pytest.mark.parametrize("name", ["public_coverage_sex_race", "ham10000"])
def test_every_experiments_people_can_be_drawn_anew(name):
    app = open_scenarios(experiment=name, seed=0, apart="own")
    assert said(app, "Nobody is trained again") and said(app, "on new people")


def test_shares_size_clients_and_draw_change_the_result_and_live_in_the_link():
    app = open_scenarios(experiment="adult", seed=0, apart="own")

    def shown():
        return str((accuracy(app, "own").tolist(), bars(app)))

    found = [shown()]
    for move in (
        lambda: app.slider(key="widget_share0").set_value(90),
        lambda: app.slider(key="widget_k").set_value(3),
        lambda: app.slider(key="widget_size").set_value(400),
        lambda: app.number_input(key="widget_draw").set_value(7),
        lambda: app.button(key="spread-alike").click(),
    ):
        move().run()
        healthy(app)
        found.append(shown())
    assert len(set(found)) == len(found)
    link = {name: linked(app, name) for name in ("k", "size", "draw", "shares")}
    assert link == {"k": "3", "size": "400", "draw": "7", "shares": "40,40,40,40,40,40"}
    app = open_scenarios(experiment="adult", seed=0, **link)  # opens one's own without being told
    assert shown() == found[-1]


def test_impossible_shares_say_what_is_possible_and_offer_it():
    app = open_scenarios(experiment="adult", seed=0, k=2, shares="100,100", size=4000)
    box = app.info[-1].value
    assert "need 8,000 women, but only" in box and "people in each client are possible" in box
    app.button(key="size-possible").click().run()
    assert said(healthy(app), "on new people")


@pytest.mark.parametrize(
    "link",
    [
        {"experiment": "adult", "notion": "eo", "eps_global": 0.2, "eps_local": 0.1},
        {"experiment": "adult", "region": "exact", "eps_global": 0.1, "eps_local": 0.05},
        {"experiment": "ham10000", "region": "kernel", "rates": "shrunk", "eps_local": 0.1},
    ],
    ids=["counts", "scores", "shrunk"],
)
def test_clients_of_ones_own_are_redrawn_solved_and_judged(link):
    size, shares = 200, (0.3, 0.5, 0.7)
    view = view_of(**link, seed=1)
    settings = {"region": view.region, "rates": view.rates, **link}
    app = open_scenarios(**settings, seed=1, k=3, size=size, draw=4, shares="30,50,70")
    app.session_state["own-clients-table-open"] = True
    healthy(app.run())
    core = own_numbers(view, shares, size)
    change = core.mean(lambda e: e.accuracy) - core.mean(lambda e: e.before.accuracy)
    verdict = verdict_of(core.unseen, view.eps_global, core.solutions[0].eps_local)
    sentence = said(app, "on new people")
    worst = np.nanmax(core.mean(lambda e: e.gaps.local))
    assert sentence.startswith(
        f"Asked {format.epsilon(view.eps_local)} in each, "
        f"{format.epsilon(view.eps_global)} overall; on new people {format.round_gap(worst)}, in "
        f"{core.clients[core.worst]}. {format.round_signed_points(change)} "
    )
    assert f"{verdict.shape} {verdict.word}" in sentence
    check_clients(
        frame_with(app, "price of a hundredth, points").rename(columns=HEADINGS),
        core,
        np.arange(3),
        4,
    )
    assert said(app, "3 clients of 200 held-out people to make the rules, as many new ones. ")


def own_numbers(view, shares, size):
    """Redraw, solve and judge by hand."""
    experiment = experiments.open(view.experiment)
    people = []
    for code, split in enumerate(experiments.SPLITS):
        scored = ScoredData.from_experiment(experiment, 1, split)
        state = (4, 1, code)
        if view.needs_scores:
            people.append(redraw_people(scored, shares, size, seed=state))
        else:
            people.append(redraw(scored.counts, shares, size, seed=state))
    program = FairnessProgram(people[0], view.notion, view.region, rates=view.rates)
    solution = program.solve(view.eps_global, view.eps_local)
    predictor = predictor_of(solution)
    judged = ([evaluate(predictor, some)] for some in people)
    return CoreNumbers([solution], *judged)


@pytest.mark.parametrize(
    "wrong",
    [
        {"apart": "own", "k": 99, "shares": "500", "size": -3},
        {"apart": "near", "scenario_notion": "x", "size": 10**8, "draw": "1e9"},
        {"scenario_notion": "eo-full", "scenario_region": "simplex", "scenario_seed": 77},
    ],
    ids=str,
)
def test_a_link_that_makes_no_sense_still_opens(wrong):
    app = open_scenarios(experiment="adult", seed=0, **{"scenario_seed": 0} | wrong)
    assert charts(app) or app.info
