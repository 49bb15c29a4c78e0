"""Explore: what the sliders say is what the core computes, and the link remembers it."""

import pytest
from pages.components.explore import text
from streamlit.testing.v1 import AppTest

from fairfl_core._io import numbers as format
from fairfl_core.evaluation.evaluation import evaluate
from fairfl_core.people import experiments
from fairfl_core.people.experiments import SPLITS
from fairfl_core.people.scored import ScoredPeople
from fairfl_core.predictors.answer_predictor import FairPredictor
from fairfl_core.predictors.load import predictor_of
from fairfl_core.solving.answer_program import FairnessProgram
from fairfl_core.solving.build import build_program
from pages.shared.results import summary_of
from tests.pages.conftest import TOP, healthy, linked, view_of

NAMES = experiments.list_experiments()


def headline(app):
    return next(text.value for text in app.markdown if text.value.startswith("#### "))


def direct(name, notion, region, overall, local, seed):
    experiment = experiments.open(name)
    program = FairnessProgram(experiment.counts(seed, "validation"), notion, region)
    fair = FairPredictor.from_solution(program.solve(overall, local))
    return evaluate(fair, experiment.counts(seed, "test"))


@pytest.mark.parametrize("name", NAMES)
def test_every_experiment_opens_with_the_papers_notion(opened, name):
    app = opened(experiment=name, seed=0)
    assert app.selectbox(key="widget_notion").value == experiments.open(name).notion
    assert "accuracy" in headline(app)


@pytest.mark.parametrize("notion", ["sp", "eop", "eo", "eo-full"])
@pytest.mark.parametrize("region", ["simplex", "kernel"])
def test_the_headline_is_the_cores_own_number(opened, notion, region):
    region = "kernel" if notion == "eo-full" else region
    app = opened(
        experiment="adult", notion=notion, region=region, seed=1, eps_global=0.02, eps_local=0.04
    )
    expected = direct("adult", notion, region, 0.02, 0.04, 1)
    said = headline(app)
    assert f"**{100 * expected.accuracy:.1f} %**" in said
    assert f"overall gap {expected.gaps.overall:.3f}" in said
    worst = expected.counts.clients[expected.gaps.worst]
    assert f"**{worst}**" in said and f"gap {expected.gaps.local_worst:.3f}" in said


def test_a_slider_moves_number_headline_and_link(opened):
    app = opened(experiment="adult", seed=0)
    before = headline(app)
    app.select_slider(key="widget_eps_local_slider").set_value(0.2).run()
    app.select_slider(key="widget_eps_global_slider").set_value(0.15).run()
    healthy(app)
    assert headline(app) != before
    assert app.number_input(key="widget_eps_local").value == 0.2
    assert linked(app, "eps_local") == "0.2" and linked(app, "eps_global") == "0.15"


def test_a_number_may_lie_between_the_sliders_steps(opened):
    app = opened(experiment="adult", seed=0)
    app.number_input(key="widget_eps_local").set_value(0.0321).run()
    healthy(app)
    assert linked(app, "eps_local") == "0.0321"
    assert app.select_slider(key="widget_eps_local_slider").value == 0.03
    expected = direct("adult", "sp", "simplex", 0.01, 0.0321, 0)
    assert f"**{100 * expected.accuracy:.1f} %**" in headline(app)


@pytest.mark.parametrize(
    ("button", "pair"),
    [
        ("none", ("1", "1")),
        ("local", ("1", "0.01")),
        ("global", ("0.01", "1")),
        ("both", ("0.01", "0.01")),
    ],
)
def test_presets_and_the_way_back(opened, button, pair):
    app = opened(experiment="adult", seed=0, eps_global=0.1, eps_local=0.1)
    app.button(key=f"preset-{button}").click().run()
    healthy(app)
    assert (linked(app, "eps_global"), linked(app, "eps_local")) == pair
    app.button(key="preset-reset").click().run()
    assert linked(app, "eps_local") == "0.05"


def test_settings_survive_a_change_of_page(opened):
    app = opened(experiment="adult", seed=2, notion="eo", eps_local=0.09)
    app.switch_page("pages/clients.py").run()
    healthy(app)
    assert app.selectbox(key="widget_seeds").value == (2,)
    assert app.selectbox(key="widget_notion").value == "eo"
    assert app.number_input(key="widget_eps_local").value == 0.09
    app.select_slider(key="widget_eps_local_slider").set_value(0.25).run()
    app.switch_page("pages/explore.py").run()
    assert app.number_input(key="widget_eps_local").value == 0.25


def test_another_experiment_brings_its_own_notion(opened):
    app = opened(experiment="adult", notion="eop", seed=3, own="doctorate=0.2")
    app.selectbox(key="widget_experiment").set_value("ham10000").run()
    healthy(app)
    assert app.selectbox(key="widget_notion").value == "eo"
    assert (
        app.selectbox(key="widget_seeds").value
        == experiments.open(
            "ham10000_cross_fitted"  # the split that every page starts with
        ).seeds
    )
    assert linked(app, "own") is None


def test_a_pinned_setting_is_compared(opened):
    app = opened(experiment="adult", seed=0, eps_local=0.2)
    app.button(key="keep").click().run()
    app.select_slider(key="widget_eps_local_slider").set_value(0.01).run()
    healthy(app)
    kept = linked(app, "options")
    assert "region=simplex" in kept and "eps_local=0.2" in kept
    assert any("as set now" in str(table.value.columns) for table in app.table)
    app.button(key="let-go").click().run()
    assert linked(app, "options") is None


def test_a_pin_says_in_what_it_differs():
    now = view_of("adult", seed=0)
    protocol = experiments.open(experiments.cross_fitted_of("adult")).protocol
    for settings, word in (
        ({"split": "cross-fitted"}, protocol),
        ({"confidence": "0.95-all-measured"}, "95% confidence, all limits at once, measured"),
        ({"rates": "shrunk"}, "labels, shrunk"),
        ({"seed": 1}, "runs 1"),
    ):
        pin = view_of("adult", **{"seed": 0} | settings)
        assert word in text.kept(0, pin, now, protocol)
        assert word not in text.kept(0, pin, pin, protocol)


def test_a_mistyped_link_opens_all_the_same(opened):
    wrong = {
        "experiment": "nowhere",
        "notion": "x",
        "region": "y",
        "seed": "z",
        "eps_local": "many",
        "own": "a=b;=;",
        "options": "1,2,3",
        "order": "?",
    }
    app = opened(**wrong)
    (line,) = [text.value for text in app.caption if text.value.startswith("Ignored in the link")]
    assert all(f"{name} = “" in line.replace("\\", "") for name in wrong)
    assert app.selectbox(key="widget_experiment").value == NAMES[0]
    assert app.number_input(key="widget_eps_local").value == 0.05


def test_an_error_in_one_chart_leaves_the_rest(opened, monkeypatch):
    def broken(*_, **__):
        raise RuntimeError("secret path /home/someone")

    monkeypatch.setattr("pages.components.shared.figures.heat_map", broken)
    app = AppTest.from_file(str(TOP / "app.py"), default_timeout=60).run()
    assert not app.exception
    said = [box.value for box in app.warning]
    assert said == ["The map cannot be shown because of an error of ours; the rest is unaffected."]
    assert "accuracy" in headline(app) and len(app.metric) == 4


def test_the_exact_region_tells_fairness_and_approximation_apart(opened):
    app = opened(experiment="adult", region="exact", seed=0)
    said = next(text.value for text in app.markdown if "the paper's simplex" in text.value)
    simplex = direct("adult", "sp", "simplex", 0.01, 0.05, 0)
    people = [ScoredPeople.from_experiment(experiments.open("adult"), 0, s) for s in SPLITS]
    fair = predictor_of(build_program(people[0], "sp", "exact").solve(0.01, 0.05))
    exact = evaluate(fair, people[1])
    assert f"**{100 * exact.accuracy:.1f} %**" in headline(app)
    assert f"**{format.points(exact.accuracy - simplex.accuracy)} more**" in said


@pytest.mark.parametrize(
    ("region", "rates"), [("simplex", "scores"), ("simplex", "shrunk"), ("exact", "scores")]
)
def test_rates_are_a_choice_of_their_own(opened, region, rates):
    chosen = {"experiment": "adult", "notion": "eo", "region": region, "seed": 0}
    app = opened(**chosen, rates=rates)
    assert app.selectbox(key="widget_rates").value == rates
    assert headline(app) != headline(opened(**chosen))


def test_the_curve_of_the_regions_is_drawn_when_asked(opened):
    app = opened(experiment="adult", seed=0)
    app.toggle(key="widget_regions_drawn").set_value(True).run()
    healthy(app)
    assert any("further up and left is the better" in text.value for text in app.markdown)


def test_exact_is_suggested_where_it_saves_more_than_a_point(opened):
    app = opened(experiment="adult", seed=0)
    (line,) = [each.value for each in app.markdown if "looks at the scores" in each.value]
    mine, exact = (
        summary_of(view_of("adult", seed=0, region=region)).judged.accuracy
        for region in ("simplex", "exact")
    )
    assert exact - mine > 0.01 and f"**{100 * (exact - mine):.1f} points**" in line
    app.button(key="take-region").click().run()
    assert linked(healthy(app), "region") == "exact"
    assert not [each for each in app.button if each.key == "take-region"]
    near = opened(experiment="public_coverage", seed=0)
    assert not [each for each in near.button if each.key == "take-region"]
