"""A notion and a region of one's own, on the Explore page: nothing on it knows them by name."""

from fairfl_core.evaluation.evaluation import evaluate
from fairfl_core.people import experiments
from fairfl_core.predictors.load import predictor_of
from fairfl_core.solving.build import build_program
from tests.house.test_one_new_file import ours  # noqa: F401


def test_they_are_shown_like_the_others(opened, ours):  # noqa: F811
    app = opened(experiment="adult", seed=0, notion="misses", region="turn", eps_local=0.02)
    assert app.selectbox(key="widget_notion").value == "misses"
    assert app.selectbox(key="widget_region").value == "turn"
    assert "keep or turn" in app.selectbox(key="widget_region").options
    assert any("is missed equally often" in line.value for line in app.caption)
    counts, test = (experiments.open("adult").counts(0, s) for s in ("validation", "test"))
    solution = build_program(counts, "misses", "turn").solve(0.01, 0.02)
    judged = evaluate(predictor_of(solution), test)
    headline = next(line.value for line in app.markdown if line.value.startswith("#### "))
    assert f"**{100 * judged.accuracy:.1f} %**" in headline
    assert f"overall gap {judged.gaps.overall:.3f}" in headline
    app.toggle(key="widget_regions_drawn").set_value(True).run()
    app.switch_page("pages/clients.py").run()
    assert not app.exception and not app.warning
    assert any(" – model's answer: " in line.value for line in app.markdown)
