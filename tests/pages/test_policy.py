"""Floors, ratios and what counts as good on the pages: the core's own numbers, and ways out."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pages.components.policy_codec import Asked
from pages.components.shared.downloads import predictor_json

from fairfl_core._io import numbers as format
from fairfl_core.errors import CollisionError
from fairfl_core.evaluation.evaluation import evaluate
from fairfl_core.people import experiments
from fairfl_core.people.folded import fitted_people, unseen_people
from fairfl_core.predictors.load import predictor_of
from fairfl_core.solving.build import build_program
from fairfl_core.solving.policy import Floor, Policy
from fairfl_core.solving.utility import BALANCED, Utility
from pages.shared.codecs import Unusable
from tests.pages.conftest import linked, unfolded, view_of
from tests.pages.reading import numbers_tables

HAM = {"experiment": "ham10000", "seed": 0, "eps_global": 1, "eps_local": 0.05}
CANCER = "cancer or pre-cancer"


def core(policy, *, eps_global=1.0, eps_local=0.05):
    """Solved and judged by the core: the solution, and the evaluation on test people."""
    ham = experiments.open("ham10000")
    program = build_program(fitted_people(ham, 0).counts, "eo", policy=policy)
    solution = program.solve(eps_global, eps_local)
    return solution, evaluate(predictor_of(solution), unseen_people(ham, 0).counts)


def said(app):
    return " ".join(part.value for part in (*app.markdown, *app.caption))


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
def test_explore_shows_what_the_core_finds_under_a_policy(opened, policy):
    app = opened(**HAM, policy=json.dumps(policy.to_json()))
    solution, judged = core(policy)
    plain, _ = core(Policy())
    headline = next(part.value for part in app.markdown if part.value.startswith("#### "))
    assert format.percent(judged.accuracy) in headline
    # What asking for it costs stands beside it, on the fitted people.
    cost = next(part.value for part in app.caption if part.value.startswith("At these limits"))
    assert format.points(plain.accuracy - solution.accuracy) in cost
    assert format.percent(solution.accuracy) in cost
    assert ("gain" in cost) == (plain.accuracy < solution.accuracy)
    if not policy.utility.is_accuracy:
        (table,) = numbers_tables(app)
        shown = table.loc["Balanced accuracy"].tolist()[1:]
        assert shown[0] == f"{solution.utility.value:.3f}"
        gain = BALANCED.of(judged.counts)
        assert shown[1] == f"{(judged.confusion * gain).sum() / judged.counts.n:.3f}"
        assert "hundredths of balanced accuracy" in said(app)


def test_a_slider_forbids_the_disaster_and_says_what_that_costs(opened):
    """Under 35 a label is no longer recognised; one slider forbids it."""
    app = unfolded(opened(**HAM))
    assert not app.button(key="four-fifths").disabled
    slider = next(one for one in app.select_slider if one.label.startswith("Recognised less"))
    slider.set_value(0.05).run()
    assert not app.exception
    assert json.loads(linked(app, "policy")) == {"keep": {CANCER: 0.05}}
    _, judged = core(Policy(floors=(Floor(CANCER, keeps=0.05),)))
    headline = next(part.value for part in app.markdown if part.value.startswith("#### "))
    assert format.percent(judged.accuracy) in headline


def test_a_collision_is_told_and_both_ways_out_work(opened):
    everyone = Policy(
        floors=tuple(Floor(label, keeps=0.0) for label in experiments.open("ham10000").labels)
    )
    app = opened(**HAM | {"eps_local": 0, "seed": "all"}, policy=json.dumps(everyone.to_json()))
    with pytest.raises(CollisionError):
        core(everyone, eps_local=0.0)
    assert "collide" in " ".join(part.value for part in app.markdown).lower()
    buttons = {key: app.button(key=f"collision-{key}") for key in ("widen", "lower")}
    for key, button in buttons.items():
        again = opened(
            **HAM | {"eps_local": 0, "seed": "all"}, policy=json.dumps(everyone.to_json())
        )
        again.button(key=f"collision-{key}").click().run()
        assert not again.exception and not again.error and not again.warning
        assert any(part.value.startswith("#### ") for part in again.markdown), button.label
    blank = view_of(**HAM | {"eps_local": 0}, policy=json.dumps(everyone.to_json()))
    assert "collide" in _taken(blank)


def _taken(view):
    """What the predictor's button gives where there is none."""
    try:
        return predictor_json(view)
    except CollisionError as error:
        return str(error)


def test_clients_say_a_collision_too(opened):
    everyone = Policy(
        floors=tuple(Floor(label, keeps=0.0) for label in experiments.open("ham10000").labels)
    )
    app = opened("clients", **HAM | {"eps_local": 0}, policy=json.dumps(everyone.to_json()))
    assert app.button(key="collision-widen")


def test_pages_that_have_no_policy_leave_it_out(opened):
    policy = json.dumps(Policy(floors=(Floor(CANCER, 0.99),)).to_json())
    for page in ("scenarios", "privacy"):
        opened(page, **HAM, policy=policy)


def test_four_fifths_is_one_button_and_certainty_lets_ratios_go(opened):
    app = unfolded(opened(experiment="adult", seed=0))
    app.button(key="four-fifths").click().run()
    assert json.loads(linked(app, "policy")) == {"ratio_global": 0.8, "ratio_local": 0.8}
    app.segmented_control(key="widget_certainty").set_value("each").run()
    assert not app.exception and linked(app, "policy") is None
    assert "not for ratios" in said(unfolded(app))


LABELS = ("no", "yes: maybe", "ü=;&")


@st.composite
def policies(draw):
    floors = [
        Floor(label, draw(st.floats(0, 1)))
        if draw(st.booleans())
        else Floor(label, keeps=draw(st.floats(0, 1)))
        for label in draw(st.lists(st.sampled_from(LABELS), unique=True))
    ]
    ratio = st.one_of(st.none(), st.floats(0.01, 1))
    gain = tuple(
        tuple(draw(st.floats(-5, 5)) + 20.0 * (y == k) for k in range(3)) for y in range(3)
    )
    utility = draw(
        st.sampled_from([Utility("accuracy"), BALANCED, Utility("my own", LABELS, gain)])
    )
    return Policy(tuple(floors), draw(ratio), draw(ratio), utility=utility)


@settings(max_examples=60)
@given(policies())
def test_a_link_keeps_a_policy(policy):
    codec = Asked(LABELS, sure=False)
    text = codec.write(policy)
    assert (codec.read(text) if text else Policy()) == policy
    assert codec.fits(policy)
    assert Asked(LABELS, sure=True).fits(policy) == (not policy.has_ratios)
    assert Asked(("other", "labels"), sure=False).fits(policy) == (
        not policy.floors and not policy.utility.labels
    )


@settings(max_examples=60)
@given(
    st.one_of(
        st.text(max_size=60),
        st.sampled_from(
            [
                '{"floor":{"no":2}}',
                '{"floor":[]}',
                "[]",
                "null",
                "1",
                '{"utility":{"labels":[],"gain":[]}}',
                '{"floor":{"nobody":0.5}}',
                '{"limits":["race"]}',
                "{" * 5000,
                "[" * 3999,
            ]
        ),
    )
)
def test_any_text_is_a_policy_or_refused(text):
    codec = Asked(LABELS, sure=False)
    try:
        assert isinstance(codec.read(text), Policy)
    except Unusable as error:
        assert str(error)


def test_what_the_prohibition_of_the_group_costs_stands_beside_it(opened):
    adult = {"experiment": "adult", "seed": 0, "eps_global": 0.05, "eps_local": 0.05}
    app = opened(**adult)
    next(one for one in app.toggle if one.label == "Decide without the group").set_value(
        True
    ).run()
    assert not app.exception and not app.warning
    assert json.loads(linked(app, "policy")) == {"without_group": True}
    counts = fitted_people(experiments.open("adult"), 0).counts
    blind, seeing = (
        build_program(counts, "sp", policy=Policy(without_group=one)).solve(0.05, 0.05)
        for one in (True, False)
    )
    assert blind.accuracy < seeing.accuracy
    cost = next(part.value for part in app.caption if part.value.startswith("At these limits"))
    assert f"not using the group cost {format.points(seeing.accuracy - blind.accuracy)}" in cost
    predictor = json.loads(predictor_json(view_of(**adult, policy='{"without_group":true}')))
    assert predictor["policy"] == {"without_group": True}
