"""Compare's proof and Explore's plan: opened on request, and the core's own numbers."""

from fairfl_core.monitoring.plan import plan_people
from pages.shared.results import plan_of, proof_of, study_of
from tests.pages.conftest import healthy, view_of


def said(app):
    return " ".join(one.value for one in [*app.markdown, *app.caption])


def test_options_are_proved_optimal_and_show_their_fingerprints(opened):
    app = opened("compare", experiment="adult", region="simplex", eps_local=0.05)
    app.session_state["proof"] = True
    app = healthy(app.run())
    assert said(app).count("proved optimal") >= 2
    failed, figures = proof_of(view_of("adult", seed=1, eps_global=0.02, eps_local=0.05))
    assert failed == [] and figures["gap"] <= 1e-9 and len(figures["fingerprint"]) == 64


def test_a_confidence_is_not_proved_and_that_is_said(opened):
    from dataclasses import replace

    from fairfl_core.lp.guarantee import Guarantee

    view = replace(view_of("adult", seed=1, eps_local=0.1), guarantee=Guarantee(scope="each"))
    failed, _ = proof_of(view)
    assert len(failed) == 1 and "confidence" in failed[0]


def test_the_plan_is_the_cores(opened):
    view = view_of("adult", seed=1, eps_local=0.05)
    plan = plan_people(study_of(view).evaluations(unseen=True)[0])
    assert plan_of(view).total == plan.total > 0
    app = opened(experiment="adult", seed=1, eps_local=0.05, details="sure")
    app.session_state["plan"] = True
    assert f"**{plan.total:,}** more people" in said(healthy(app.run()))


def test_the_report_prints_the_fingerprint_of_the_predictor_that_is_taken_along():
    import json

    from fairfl_core.report.render import html_of
    from pages.compare.files import board_for, predictor_json

    view = view_of("adult", seed=1, eps_local=0.05)
    value = json.loads(predictor_json(view))
    printed = html_of(board_for([view]))
    assert value["certificate"]["fingerprint"] in printed
