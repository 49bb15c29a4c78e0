"""Learn: every step opens, asks, and tells what its example shows."""

import importlib
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.optimize import linprog

from fairfl_core.lp.program import FairnessProgram
from fairfl_core.teaching import hospitals as lesson
from pages.learn import text
from tests.pages.conftest import healthy, linked, view_of
from tests.pages.core_numbers import CoreNumbers

RECOGNISED, ALARMED = (lambda c: c.recognised), (lambda c: c.false_alarms)
QUESTIONS = (
    text.NETWORK_QUESTION,
    text.FOUR_QUESTION,
    text.PAIR_QUESTION,
    text.CURVE_QUESTION,
    text.SPACE_QUESTION,
    text.DRAWS_QUESTION,
    text.CHANCE_QUESTION,
)


def text_of(app):
    return "\n".join(part.value for part in [*app.markdown, *app.caption])


def answer(app, step, option):
    app.radio(key=f"widget_said{step}").set_value(option).run()
    return healthy(app)


def test_every_step_begins_with_a_picture_and_tells_right_from_wrong(opened):
    app = opened("learn", experiment="adult", seed=0)
    assert app.button(key="learn-back").disabled
    for step, title in enumerate(text.TITLES, 1):
        assert app.markdown[0].value == f"#### {step}. {title}"
        assert linked(app, "step") == (str(step) if step > 1 else None)
        assert len(app.get("plotly_chart") + app.get("bidi_component")) == 1
        assert app.radio(key=f"widget_said{step}").value is None
        assert not app.success and not app.info
        if step <= len(QUESTIONS):
            check_answers(app, QUESTIONS[step - 1], step)
        if step < len(text.TITLES):
            app.button(key="learn-next").click().run()
            healthy(app)
    assert "learn-next" not in [one.key for one in app.button]
    app.button(key="learn-back").click().run()
    assert linked(app, "step") == "9"


def check_answers(app, question, step):
    assert question.step == step
    before = text_of(app)
    wrong = (question.right + 1) % len(question.options)
    answer(app, step, question.options[wrong])
    assert "Not quite" in app.info[0].value and not app.success
    answer(app, step, question.options[question.right])
    assert app.success[0].value.startswith("**Right.**") and not app.info
    assert question.because in app.success[0].value
    assert text_of(app) != before  # the picture and its reading changed


@pytest.mark.parametrize("name", ["adult", "public_coverage_sex_race", "ham10000_scenario1"])
def test_the_map_of_every_experiment_has_a_right_answer(opened, name):
    app = opened("learn", step=8, experiment=name, seed=0)
    output = []
    for option in text.COST_OPTIONS:
        answer(app, 8, option)
        output.append(bool(app.success))
    assert sum(output) == 1


def test_the_end_tells_how_many_first_guesses_were_right(opened):
    """Three right, six wrong, and what is corrected afterwards counts as it was guessed first."""
    app = opened("learn", experiment="adult", seed=0)
    for step in range(1, 11):
        options = app.radio(key=f"widget_said{step}").options
        questions = dict(zip(range(1, 8), QUESTIONS, strict=True))
        questions |= {9: text.PRECISION_QUESTION, 10: text.WHICH_QUESTION}
        if step == 8:
            answer(app, 8, options[0])
            right_8 = bool(app.success)
        else:
            right = questions[step].right
            first = right if step in (1, 5, 9) else (right + 1) % len(options)
            answer(app, step, options[first])
            answer(app, step, options[right])
        if step == 9:
            assert "guessed right" not in text_of(app)
        if step < 10:
            app.button(key="learn-next").click().run()
    assert f"#### **{3 + right_8} of 10 guessed right.**" in text_of(app)
    links = [link.proto.label for link in app.get("page_link")]
    assert text.NOW_EXPLORE in links
    app.button(key="learn-anew").click().run()
    assert linked(healthy(app), "step") is None and app.radio(key="widget_said1").value is None
    app.session_state["kept"]["step"] = 10
    answer(app.run(), 10, text.WHICH_QUESTION.answer)
    assert "**1 of 1 guessed right**, 9 not guessed." in text_of(app)


def test_the_lesson_asks_nothing_but_whose_people(opened):
    assert not opened("learn", step=3).selectbox
    app = opened("learn", step=8, experiment="adult", seed=0)
    assert [box.key for box in app.selectbox] == ["widget_experiment"]
    app.selectbox(key="widget_experiment").set_value("ham10000").run()
    assert linked(healthy(app), "experiment") == "ham10000"


def test_a_hall_goes_step_by_step(opened):
    app = opened("learn", step=2, present=True)
    assert any("2 of 10" in line.value for line in app.caption)
    app.button(key="onward").click().run()
    assert linked(healthy(app), "step") == "3"
    for _ in range(3):
        app.button(key="backward").click().run()
    assert linked(app, "step") is None
    app.button(key="leave").click().run()
    assert healthy(app).button(key="learn-next")


def test_a_mistyped_step_opens_the_first(opened):
    assert opened("learn", step="x").markdown[0].value.startswith("#### 1. ")


def test_the_pair_of_hospitals_tells_its_gaps(opened):
    app = opened("learn", step=3)
    assert "0.24" not in text_of(app)
    answer(app, 3, text.PAIR_QUESTION.options[2])
    assert "gaps are 0 and 0; over both it is 0.24" in text_of(app)
    app.select_slider(key="widget_step3_fair_north").set_value(80).run()
    assert "gaps are 0 and 0; over both it is 0" in text_of(app)
    assert linked(app, "step3_fair_north") == "80"
    app.session_state["kept"]["step3_case"] = "unfair"
    app.run()
    assert "gaps are 0.20 and 0.20; over both it is 0" in text_of(app)
    app.session_state["kept"]["step3_case"] = "reversed"
    app.run()
    assert "gaps are 0.10 and 0.10; over both it is 0.14" in text_of(app)
    app.button(key="learn-next").click().run()
    assert linked(app, "step3_fair_north") is None  # each step's link is its own


def test_flipping_an_answer_breaks_what_it_should(opened):
    app = opened("learn", step=2)
    assert text_of(app).count("(holds)") == 3
    answer(app, 2, text.FOUR_QUESTION.options[0])
    assert app.toggle(key="widget_step2_bea").value
    assert "**Equal opportunity** (holds)" in text_of(app)
    assert text_of(app).count("**broken**") == 2
    app.toggle(key="widget_step2_bea").set_value(False).run()
    app.toggle(key="widget_step2_dan_ill").set_value(True).run()
    app.toggle(key="widget_step2_dan").set_value(True).run()  # a perfect model
    assert "**Statistical parity** (**broken**, gap 0.50)" in text_of(app)
    assert text_of(app).count("(holds)") == 2


def test_a_link_keeps_the_limit_until_the_reader_has_thought(opened):
    app = opened("learn", step=4, step4_limit=0.05)
    assert "accuracy 83.5 %" in text_of(app)
    answer(app, 4, text.CURVE_QUESTION.options[2])
    assert app.select_slider(key="widget_step4_limit").value == 0.05
    assert "Limit 0.05: accuracy 81.8 %, 1.7 points less" in text_of(app)


def test_by_id_nobody_hears_another_answer(opened):
    app = opened("learn", step=6)
    assert "85 in 100 keep" in text_of(app)
    answer(app, 6, text.DRAWS_QUESTION.options[1])
    assert "0 of the 100 hear" not in text_of(app)
    app.session_state["kept"]["step6_dice"] = "id"
    app.run()
    assert "**0 of the 100 hear" in text_of(app)


def test_more_people_are_worth_more(opened):
    app = opened("learn", step=7)
    answer(app, 7, text.CHANCE_QUESTION.options[2])
    behind = "(about 20 ill women and 20 ill men)"
    assert f"Met on 100 people {behind}, a limit of 0.01 is a gap of 0.08" in text_of(app)
    assert "the median of 400 draws;" in text_of(app)
    app.select_slider(key="widget_step7_people").set_value(5000).run()
    behind = "(about 1,000 ill women and 1,000 ill men)"
    assert f"Met on 5,000 people {behind}, a limit of 0.01 is a gap of 0.01" in text_of(app)


@pytest.mark.parametrize(
    "link", [{"region": "simplex", "seed": 1}, {"region": "exact", "seed": 1}], ids=str
)
def test_step_8_tells_the_cores_costs(opened, link):
    app = opened("learn", step=8, experiment="adult", **link)
    answer(app, 8, text.COST_OPTIONS[2])
    (output,) = [box.value for box in (*app.success, *app.info)]
    for name, limits in (
        ("inside alone", {"eps_global": 1, "eps_local": 0.01}),
        ("overall alone", {"eps_global": 0.01, "eps_local": 1}),
    ):
        core = CoreNumbers.of(view_of("adult", **limits, **link))
        cost = core.mean(lambda e: e.before.accuracy - e.accuracy)
        assert f"{name} costs {100 * cost:.1f} points" in output


@pytest.mark.parametrize(
    ("local", "overall", "right"),
    [(4.94, 4.96, 2), (2.34, 2.16, 2), (2.16, 2.34, 2), (2.4, 2.1, 0), (0.3, 4.0, 1), (0, 0, 2)],
)
def test_about_the_same_is_one_rule_on_the_numbers_shown(local, overall, right):
    figures = [SimpleNamespace(n=100, cost=cost / 100) for cost in (local, overall)]
    assert text.cost_question(0.01, *figures, "client").right == right


def test_the_common_spot_and_the_thresholds(opened):
    """What step 4 says of its picture, and what moved thresholds keep, by a program of our own."""
    program = FairnessProgram(lesson.one_hospital(), "eo", "simplex")
    spot = lesson.reach(program, 0.0)
    women, men = lesson.corners(program.counts, "simplex")[:, 0]
    (healthy_kept, recognised) = spot.share[0]
    assert women[1] < recognised < men[1] and women[0] > healthy_kept > men[0]
    curves = lesson.roc_curves()
    size = [len(curve.recognised) for curve in curves]
    worth = np.concatenate([120 * c.recognised - 180 * c.false_alarms for c in curves])
    same = [np.append(f(curves[0]), -f(curves[1])) for f in (RECOGNISED, ALARMED)]
    whole = [np.repeat([1.0, 0.0], size), np.repeat([0.0, 1.0], size)]
    best = linprog(-worth, A_eq=np.stack([*same, *whole]), b_eq=[0, 0, 1, 1])
    exact = (360 - best.fun) / 600
    app = opened("learn", step=4)
    answer(app, 4, text.CURVE_QUESTION.options[2])
    assert app.expander[0].label == "Why not move the threshold?"
    assert f"keeps {100 * exact:.1f} % of the answers right" in text_of(app)
    assert f"triangle, keep {100 * spot.accuracy:.1f} %" in text_of(app)


def test_every_word_is_explained_once(opened):
    lines = [line for line in text.explained("Words").splitlines() if line.startswith("- ")]
    words = [line.split("**")[1].rstrip(".") for line in lines]
    assert words == sorted(set(words), key=str.lower) and len(words) > 30
    app = opened("learn")
    assert not any(words[0] in line for line in text_of(app).splitlines())
    app.session_state["learn-words"] = app.session_state["learn-caveats"] = True
    output = text_of(healthy(app.run()))
    assert all(f"**{word}.**" in output for word in words)
    assert text.explained("Caveats").split("**")[1] in output


def test_a_failing_picture_leaves_the_step_standing(opened, monkeypatch):
    module = importlib.import_module("fairfl_core.teaching.hospitals")
    monkeypatch.setattr(module, "network", lambda: 1 / 0)
    with pytest.raises(AssertionError, match="cannot be shown"):
        opened("learn", step=1)


def test_equal_errors_are_no_equal_precision(opened):
    """South of the worksheet: 7 of 11 women called ill are, 14 of 17 men."""
    app = opened("learn", step=9)
    answer(app, 9, text.PRECISION_QUESTION.answer)
    assert "63.6 % of the women and 82.4 % of the men are" in text_of(app)
    needed = 0.2 * 0.7 * (1 - 14 / 17) / (0.8 * 14 / 17)
    assert f"{100 * needed:.1f} % of healthy women" in text_of(app)
    app = opened("learn", step=9, step9_women=0.4)
    answer(app, 9, text.PRECISION_QUESTION.answer)
    assert "All three are equal here" in text_of(app)


@pytest.mark.parametrize(
    ("answers", "notion"),
    [
        ({"step10_truth": "no"}, "sp"),
        ({}, "eop"),
        ({"step10_harm": "both"}, "eo"),
        ({"step10_harm": "kind"}, "eo-full"),
        ({"step10_harm": "meaning"}, "precision"),
    ],
)
def test_the_questions_lead_to_a_notion(opened, answers, notion):
    app = opened("learn", step=10, **answers)
    assert not any(advice in text_of(app) for advice in text.ADVICE.values())
    answer(app, 10, text.WHICH_QUESTION.answer)
    assert text.ADVICE[notion] in text_of(app)
    if notion != "precision":
        app.button(key="learn-notion").click().run()
        assert app.session_state["kept"]["view"].notion == notion
