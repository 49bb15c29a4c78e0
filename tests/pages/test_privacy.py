"""Privacy: noise against fairness, as a page; every number is the core's own."""

import json

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from fairfl_core._io import numbers as format
from fairfl_core.data import experiments
from fairfl_core.evaluation.evaluation import evaluate
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.predictors.kinds import predictor_of
from fairfl_core.privacy.mechanisms import what_if
from fairfl_core.privacy.noise_study import spending
from pages.privacy.results import BUDGETS, noise_result
from tests.pages.conftest import TOP, as_before, healthy, linked, opened_all, view_of
from tests.pages.reading import unmarked, values


def open_privacy(**settings):
    app = AppTest.from_file(str(TOP / "app.py"), default_timeout=60)
    for name, value in as_before(settings).items():
        app.query_params[name] = str(value)
    app.run()  # only now its pages are known
    return healthy(app.switch_page("pages/privacy/page.py").run())


def lines(app):
    return [unmarked(line.value) for kind in (app.markdown, app.caption) for line in kind]


def sentence(app):
    return next(line for line in lines(app) if "; noise " in line)


def drawn(app, key):
    """The traces of a chart by name, as the browser gets them."""
    (chart,) = [one for one in app.get("plotly_chart") if one.proto.id.endswith(key)]
    traces = json.loads(chart.proto.spec)["data"]
    return {trace.get("name", trace["type"]): trace for trace in traces}


def with_settings(app):
    app.session_state["settings"] = True
    return healthy(app.run())


# -------------------------------------------------------------------- numbers


@pytest.mark.parametrize(
    "link",
    [
        {"experiment": "adult", "budget": 0.1, "mechanism": "histogram", "own": "doctorate=0.2"},
        {"experiment": "ham10000", "budget": 0.5, "mechanism": "paper", "rates": "shrunk"},
    ],
    ids=["histogram", "paper"],
)
def test_noise_is_drawn_solved_on_and_judged_on_the_true_people(link):
    app = open_privacy(**link, seed=1, draws=20, eps_local=0.08)
    for key in ("privacy-clients-table-open", "privacy-local-table-open"):
        app.session_state[key] = True
    healthy(app.run())
    own = {name: value for name, value in link.items() if name in ("experiment", "own", "rates")}
    view = view_of(**own, seed=1, eps_local=0.08)
    experiment = experiments.open(view.experiment)
    true, test = (experiment.counts(1, split) for split in experiments.SPLITS)
    limits = dict.fromkeys(true.clients, 0.08) | dict(view.own_limits)

    def judged(counts, people):
        program = FairnessProgram(counts, view.notion, view.region, rates=view.rates)
        return evaluate(predictor_of(program.solve(0.01, limits)), people)

    def figures(draws):
        return {
            "Largest gap of a client": np.array([np.nanmax(e.gaps.local) for e in draws]),
            "Accuracy": np.array([e.accuracy for e in draws]),
        }

    states = np.random.SeedSequence(0).generate_state(20)

    mechanism = spending(link["mechanism"], link["budget"], "replace-one")
    sent = [what_if(true, mechanism, seed=int(state)) for state in states]
    draws = [judged(counts, true) for counts in sent]
    noiseless, found = figures([judged(true, true)]), figures(draws)
    low, middle, high = np.quantile(found["Largest gap of a client"], (0.05, 0.5, 0.95))
    line = sentence(app)
    assert f"; noise leaves {format.round_gap(middle)} in" in line
    unseen = np.median([np.nanmax(judged(counts, test).gaps.local) for counts in sent])
    assert f"({format.round_gaps(low, high)}; new people: {format.round_gap(unseen)})" in line
    asked = "0.08" if "own" not in link else "0.08 or more"
    assert line.startswith(f"Asked {asked} in each ")
    lost = noiseless["Accuracy"][0] - found["Accuracy"].mean()
    if abs(lost) >= 0.0005:
        word = "costs" if lost >= 0 else "gains"
        assert f"and {word} {format.round_points(lost)} of accuracy." in line
    local = np.array([e.gaps.local for e in draws])
    fails = (local > np.array(list(limits.values())) + 1e-6).mean(axis=0)
    table = next(one.value for one in app.dataframe if "fails, share of draws" in one.value)
    for row in table.itertuples(index=False):
        c = true.clients.index(row[0])
        expected = [true.n_client[c], limits[row[0]], fails[c], np.median(local[:, c])]
        np.testing.assert_allclose(row[1:], expected, atol=6e-5)
    bars = drawn(app, "privacy-clients")["bar"]
    np.testing.assert_allclose(values(bars, "x"), 100 * fails)  # in the clients' own order
    at = BUDGETS.index(link["budget"])
    assert values(drawn(app, "privacy-local")["largest"], "y")[at] == pytest.approx(middle)
    chart = next(one.value for one in app.dataframe if "largest: median" in one.value)
    assert chart["largest: median, unseen people"][at] == pytest.approx(unseen, abs=6e-5)


@pytest.mark.parametrize("curve", ["overall", "accuracy"])
def test_other_figures_are_drawn_against_the_budget(curve):
    app = open_privacy(experiment="adult", seed=0, draws=20, curve=curve)
    view = view_of("adult", seed=0)
    result = noise_result(view, spending("histogram", 1.0, "replace-one"), 20)
    traces = drawn(app, f"privacy-{curve}")
    times = 100 if curve == "accuracy" else 1
    reached, _ = result.over_budgets(curve)
    assert values(traces[curve], "y") == pytest.approx(times * reached.middle)


# -------------------------------------------------------------------- the page


@pytest.mark.parametrize("name", ["public_coverage_sex_race", "ham10000"])
def test_every_experiment_has_one_sentence_and_two_pictures(name):
    app = open_privacy(experiment=name, seed=0, draws=20, budget=0.2)
    assert sentence(app) and len(app.get("plotly_chart")) == 2
    assert len(app.select_slider) == 1  # the budget; everything else is in Settings


def test_what_is_protected_and_the_papers_table_are_one_click_away():
    app = open_privacy(experiment="adult", seed=0, draws=20, mechanism="paper", budget=0.2)
    assert not any("Not protected" in line for line in lines(app))
    app = opened_all(app, "expander-")
    assert any(line.startswith("Not protected") for line in lines(app))
    assert "--mechanism paper --epsilon 0.05 --neighbours replace-one" in app.code[0].value
    (table,) = [one for one in app.get("page_link") if "table" in one.proto.label]
    assert table.proto.query_string == "of=adult&tab=table4"


def test_the_budget_moves_the_sentence_and_lives_in_the_link():
    app = open_privacy(experiment="adult", seed=0, draws=20)
    before = sentence(app)
    app.select_slider(key="widget_budget").set_value(0.02).run()
    assert sentence(healthy(app)) != before
    assert linked(app, "budget") == "0.02"
    assert sentence(open_privacy(experiment="adult", seed=0, draws=20, budget=0.02)) == sentence(
        app
    )


def test_mechanism_neighbours_draws_and_limits_are_in_settings():
    app = with_settings(open_privacy(experiment="adult", seed=0, draws=20, budget=0.2))
    start = sentence(app)
    app.selectbox(key="widget_mechanism").set_value("paper").run()
    assert sentence(healthy(app)) != start
    assert any("would call this 0.05" in line for line in lines(app))
    app.selectbox(key="widget_neighbours").set_value("add-remove").run()
    assert any("would call this 0.1" in line for line in lines(healthy(app)))
    assert app.selectbox(key="widget_draws").value == 20 and linked(app, "draws") == "20"
    assert linked(app, "mechanism") == "paper" and linked(app, "neighbours") == "add-remove"
    app.select_slider(key="widget_eps_local").set_value(0.1).run()
    assert sentence(healthy(app)).startswith("Asked 0.10 in each education level;")


def test_it_says_up_front_that_it_shows_counts_where_explore_is_on_scores():
    scores = open_privacy(experiment="adult", seed=0, draws=20, region="exact", rates="labels")
    assert any("Counts here" in line for line in lines(scores))
    counts = open_privacy(experiment="adult", seed=0, draws=20, region="kernel", rates="labels")
    assert not any("Counts here" in line for line in lines(counts))
    assert sentence(scores) == sentence(counts)
    policy = '{"floor":{"over 50K":0.1}}'
    floors = open_privacy(experiment="adult", seed=0, draws=20, region="kernel", policy=policy)
    assert any("further limits are left out" in line for line in lines(floors))


def test_where_no_limit_is_asked_no_client_can_break_one():
    app = open_privacy(experiment="adult", seed=0, draws=20, eps_local=1)
    assert sentence(app).startswith("Asked 0.01 overall;")
    assert any("so none can be broken" in line for line in lines(app))
    assert sentence(open_privacy(seed=0, draws=20, eps_local=1, eps_global=1)).startswith(
        "Nothing asked;"
    )


def test_a_link_that_makes_no_sense_opens_the_start():
    wrong = {"mechanism": "gauss", "neighbours": "far", "curve": "up"}
    start, *others = (
        sentence(open_privacy(experiment="adult", seed=0, draws=20, **asked))
        for asked in ({}, {"budget": 3}, wrong | {"budget": "x"})
    )
    assert others == [start] * 2


def test_settings_survive_a_change_of_page():
    app = AppTest.from_file(str(TOP / "app.py"), default_timeout=60)
    app.query_params.update(experiment="adult", region="simplex", seed="0")
    app.run().switch_page("pages/privacy/page.py").run()
    app.select_slider(key="widget_budget").set_value(0.05).run()
    app.query_params.clear()  # as the navigation does
    app.switch_page("pages/scenarios/page.py").run()
    app.segmented_control(key="widget_apart").set_value("own").run()
    app.slider(key="widget_k").set_value(4).run()
    app.query_params.clear()
    app.switch_page("pages/privacy/page.py").run()
    assert healthy(app).select_slider(key="widget_budget").value == 0.05
    app.switch_page("pages/scenarios/page.py").run()
    assert app.slider(key="widget_k").value == 4
