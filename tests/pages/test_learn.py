"""Learn: every step opens, asks, and tells what its example shows."""

import importlib

import pytest

from fairfl_core.people import experiments
from pages.components.learn import glossary_text, limits_text, lottery_text, text
from tests.pages.conftest import healthy, linked

QUESTIONS = (
    text.NETWORK_QUESTION,
    text.FOUR_QUESTION,
    text.PAIR_QUESTION,
    lottery_text.CURVE_QUESTION,
    lottery_text.SPACE_QUESTION,
    lottery_text.DRAWS_QUESTION,
    limits_text.CHANCE_QUESTION,
)


def text_of(app):
    return "\n".join(part.value for part in [*app.markdown, *app.caption])


def answer(app, step, option):
    app.radio(key=f"widget_said{step}").set_value(option).run()
    return healthy(app)


@pytest.mark.parametrize("step", range(1, 9))
def test_a_link_opens_its_step_and_nothing_is_told_yet(opened, step):
    app = opened("learn", step=step)
    assert app.subheader[0].value == f"{step}. {text.TITLES[step - 1]}"
    assert linked(app, "step") == (str(step) if step > 1 else None)
    assert app.radio(key=f"widget_said{step}").value is None
    assert not app.success and not app.info


@pytest.mark.parametrize("step", range(1, 8))
def test_right_and_wrong_answers_are_told_apart(opened, step):
    question = QUESTIONS[step - 1]
    assert question.step == step
    app = opened("learn", step=step)
    before = text_of(app)
    wrong = (question.right + 1) % len(question.options)
    answer(app, step, question.options[wrong])
    assert "Not quite" in app.info[0].value and not app.success
    answer(app, step, question.options[question.right])
    assert app.success[0].value.startswith("**Right.**") and not app.info
    assert question.because in app.success[0].value
    assert text_of(app) != before  # the picture and its reading changed


@pytest.mark.parametrize("name", experiments.list_experiments())
def test_the_map_of_every_experiment_has_a_right_answer(opened, name):
    app = opened("learn", step=8, experiment=name, seed=0)
    told = []
    for option in limits_text.COST_OPTIONS:
        answer(app, 8, option)
        told.append(bool(app.success))
    assert sum(told) == 1


def test_forward_back_and_anew(opened):
    app = opened("learn")
    assert app.button(key="learn-back").disabled
    for step in range(2, 9):
        app.button(key="learn-next").click().run()
        healthy(app)
        assert linked(app, "step") == str(step)
    app.button(key="learn-back").click().run()
    assert linked(app, "step") == "7"
    answer(app, 7, limits_text.CHANCE_QUESTION.options[0])
    app.button(key="learn-next").click().run()
    app.button(key="learn-anew").click().run()
    assert linked(app, "step") is None
    app.session_state["kept"]["step"] = 7
    app.run()
    assert app.radio(key="widget_said7").value is None


@pytest.mark.parametrize("step", ["0", "9", "x", ""])
def test_a_mistyped_step_opens_the_first(opened, step):
    assert opened("learn", step=step).subheader[0].value.startswith("1. ")


def test_the_pair_of_hospitals_tells_its_gaps(opened):
    app = opened("learn", step=3)
    assert "0.240" not in text_of(app)
    answer(app, 3, text.PAIR_QUESTION.options[2])
    assert "gaps are 0.000 and 0.000; over both it is 0.240" in text_of(app)
    app.select_slider(key="widget_step3_fair_north").set_value(80).run()
    assert "gaps are 0.000 and 0.000; over both it is 0.000" in text_of(app)
    assert linked(app, "step3_fair_north") == "80"
    app.session_state["kept"]["step3_case"] = "unfair"
    app.run()
    assert "gaps are 0.200 and 0.200; over both it is 0.000" in text_of(app)
    app.session_state["kept"]["step3_case"] = "reversed"
    app.run()
    assert "gaps are 0.100 and 0.100; over both it is 0.140" in text_of(app)
    app.button(key="learn-next").click().run()
    assert linked(app, "step3_fair_north") is None  # each step's link is its own


def test_flipping_an_answer_breaks_what_it_should(opened):
    app = opened("learn", step=2)
    assert text_of(app).count("**holds**") == 3
    answer(app, 2, text.FOUR_QUESTION.options[0])
    assert app.toggle(key="widget_step2_bea").value
    assert "Equal opportunity  \n**holds**" in text_of(app)
    assert text_of(app).count("**broken**") == 2
    app.toggle(key="widget_step2_bea").set_value(False).run()
    app.toggle(key="widget_step2_dan_ill").set_value(True).run()
    app.toggle(key="widget_step2_dan").set_value(True).run()  # a perfect model
    assert "Statistical parity  \n**broken**, gap 0.500" in text_of(app)
    assert text_of(app).count("**holds**") == 2


def test_a_link_keeps_the_limit_until_the_reader_has_thought(opened):
    app = opened("learn", step=4, step4_limit=0.05)
    assert "accuracy 83.5 %" in text_of(app)
    answer(app, 4, lottery_text.CURVE_QUESTION.options[2])
    assert app.select_slider(key="widget_step4_limit").value == 0.05
    assert "Limit 0.05: accuracy 81.8 %, 1.7 points less" in text_of(app)


def test_by_id_nobody_hears_another_answer(opened):
    app = opened("learn", step=6)
    assert "85 in 100 keep" in text_of(app)
    answer(app, 6, lottery_text.DRAWS_QUESTION.options[1])
    assert "0 of the 100 hear" not in text_of(app)
    app.session_state["kept"]["step6_dice"] = "id"
    app.run()
    assert "**0 of the 100 hear" in text_of(app)


def test_more_people_are_worth_more(opened):
    app = opened("learn", step=7)
    answer(app, 7, limits_text.CHANCE_QUESTION.options[2])
    assert "Met on 100 people, a limit of 0.01 is a gap of 0.08" in text_of(app)
    app.select_slider(key="widget_step7_people").set_value(5000).run()
    assert "Met on 5,000 people, a limit of 0.01 is a gap of 0.01" in text_of(app)


def test_every_word_is_explained_once(opened):
    words = [word.rstrip(".") for word, _ in glossary_text.WORDS]
    assert words == sorted(set(words), key=str.lower)
    for word in (
        "client",
        "group",
        "label",
        "prediction",
        "score",
        "notion",
        "(sp)",
        "(eop)",
        "(eo)",
        "(eo-full)",
        "gap, local",
        "gap, global",
        "epsilon",
        "simplex",
        "kernel",
        "exact",
        "lottery",
        "local price",
        "noise floor",
        "debiased gap",
        "validation",
        "unseen people",
        "privacy budget",
        "neighbours",
    ):
        assert any(word in known.lower() for known in words), word
    told = text_of(opened("learn"))
    assert all(f"**{word}.**" in told for word in words)
    assert "The group must be known at decision time." in told


def test_a_failing_picture_leaves_the_step_standing(opened, monkeypatch):
    module = importlib.import_module("fairfl_core.teaching.hospitals")
    monkeypatch.setattr(module, "network", lambda: 1 / 0)
    with pytest.raises(AssertionError, match="cannot be shown"):
        opened("learn", step=1)
