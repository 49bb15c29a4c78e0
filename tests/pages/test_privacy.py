"""Privacy: noise against fairness, as a page."""

from pathlib import Path

import numpy as np
import pytest
from pages.components.privacy.results import (
    BUDGETS,
    PAPER,
    adult_beside_paper,
    noise_of,
    noise_result,
)
from streamlit.testing.v1 import AppTest

from fairfl_core._io import numbers as format
from fairfl_core.evaluation.evaluation import evaluate
from fairfl_core.people import experiments
from fairfl_core.predictors.answer_predictor import FairPredictor
from fairfl_core.privacy.mechanisms import MECHANISMS, NEIGHBOURS, what_if
from fairfl_core.privacy.noise_study import band, spending
from fairfl_core.solving.answer_program import FairnessProgram
from tests.pages.conftest import as_before, healthy, linked, view_of

PAGE = Path(__file__).resolve().parents[2] / "pages" / "privacy.py"


def open_privacy(**settings):
    settings = as_before(settings)
    app = AppTest.from_file(str(PAGE), default_timeout=60)
    for name, value in settings.items():
        app.query_params[name] = str(value)
    return healthy(app.run())


def headline(app):
    return next(text.value for text in app.markdown if "At a privacy budget" in text.value)


@pytest.mark.parametrize("name", experiments.list_experiments())
def test_every_experiment_shows_the_failing_client_and_the_papers_table(name):
    app = open_privacy(experiment=name, seed=0, draws=20, budget=0.2)
    assert "fails most often" in headline(app)
    assert any("really spends 4 ε" in text.value for text in app.markdown)
    assert any("0.076 · 0.072 · 81.5 %" in table.value.to_string() for table in app.table)
    assert any("Not protected" in text.value for text in app.markdown)


def test_the_budget_moves_the_headline_and_lives_in_the_link():
    app = open_privacy(experiment="adult", seed=0)
    before = headline(app)
    app.select_slider(key="widget_budget").set_value(0.02).run()
    healthy(app)
    assert headline(app) != before and "budget of 0.02" in headline(app)
    assert linked(app, "budget") == "0.02"
    again = open_privacy(experiment="adult", seed=0, budget=0.02)
    assert headline(again) == headline(app)


def test_mechanism_neighbours_and_draws_change_what_is_said():
    app = open_privacy(experiment="adult", seed=0, budget=0.2)
    start = headline(app)
    app.selectbox(key="widget_mechanism").set_value("paper").run()
    assert headline(healthy(app)) != start
    assert any("would call this ε = 0.05" in text.value for text in app.caption)
    assert "--mechanism paper --epsilon 0.05 --neighbours replace-one" in app.code[0].value
    app.selectbox(key="widget_neighbours").set_value("add-remove").run()
    assert any("would call this ε = 0.1" in text.value for text in healthy(app).caption)
    assert any("really spends 2 ε" in text.value for text in app.markdown)
    app.selectbox(key="widget_draws").set_value("20").run()
    app.toggle(key="widget_both").set_value(True).run()
    assert linked(healthy(app), "draws") == "20" and linked(app, "both") == "True"


def test_where_no_limit_is_asked_no_client_fails():
    app = open_privacy(experiment="adult", seed=0, eps_local=1)
    assert "no client can fail" in headline(app)


@pytest.mark.parametrize(
    "wrong",
    [
        {"budget": 3},
        {"budget": "x"},
        {"mechanism": "gauss"},
        {"draws": 10**9},
        {"neighbours": "far"},
        {"both": "maybe"},
    ],
)
def test_a_link_that_makes_no_sense_opens_the_start(wrong):
    app = open_privacy(experiment="adult", seed=0, **wrong)
    assert headline(app) == headline(open_privacy(experiment="adult", seed=0))


def test_the_pages_numbers_equal_noise_solve_and_judge_done_by_hand():
    view, draws = view_of("adult", seed=0), 4
    study = noise_of(view, "paper", "add-remove", draws, BUDGETS)
    true = experiments.open("adult").counts(0, "validation")
    at = BUDGETS.index(0.1)
    worst = []
    for state in np.random.SeedSequence(0).generate_state(draws):
        noisy = what_if(true, spending("paper", 0.1, "add-remove"), seed=int(state))
        solution = FairnessProgram(noisy, "sp", "simplex").solve(0.01, 0.05)
        worst.append(evaluate(FairPredictor.from_solution(solution), true).gaps.local_worst)
    np.testing.assert_allclose(study.reached.local_worst[at], worst, atol=1e-12)
    assert study.spent == pytest.approx(BUDGETS)
    app = open_privacy(
        experiment="adult", seed=0, budget=0.1, mechanism="paper", neighbours="add-remove"
    )
    shown = noise_of(view, "paper", "add-remove", 40, BUDGETS)
    assert app.metric[0].value == format.gap(band(shown.reached.local_worst).middle[at])


@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize("neighbours", NEIGHBOURS)
def test_both_mechanisms_are_compared_at_the_same_true_budget(name, neighbours):
    for budget in (BUDGETS[0], BUDGETS[-1]):
        mechanism = spending(name, budget, neighbours)
        result = noise_result(view_of("adult", seed=0), mechanism, 2, both=False)
        assert result.budget == pytest.approx(budget)
        assert result.other_mechanism.spent == pytest.approx(budget)
        assert result.other_mechanism.name != name


def test_the_papers_table_is_the_papers():
    rows = adult_beside_paper("replace-one")
    assert [row.epsilon for row in rows] == list(PAPER)
    for row in rows:
        assert row.spent == 4 * row.epsilon
        assert row.paper is PAPER[row.epsilon]
        assert row.histogram.local <= row.ours.local + 0.01
    assert rows[-1].ours == rows[-1].histogram and rows[0].ours == rows[0].histogram
    assert rows[-1].ours.local == pytest.approx(0.287, abs=0.05)  # FedAvg, as the paper found


def test_settings_survive_a_change_of_page(opened):
    app = opened("privacy", experiment="adult", seed=0, draws=20)
    app.select_slider(key="widget_budget").set_value(0.05).run()
    healthy(app)
    app.switch_page("pages/scenarios.py").run()
    app.slider(key="widget_k").set_value(4).run()
    app.switch_page("pages/privacy.py").run()
    assert "budget of 0.05" in headline(healthy(app))
    app.switch_page("pages/scenarios.py").run()
    assert app.slider(key="widget_k").value == 4
