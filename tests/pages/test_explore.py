"""Explore's first screen: the core's own numbers, one verdict, and only what is shown is solved."""

import json
from html import escape

import numpy as np
import pytest

from fairfl_core._io import numbers as format
from fairfl_core.data import experiments
from fairfl_core.evaluation.checks import within_chance
from fairfl_core.evaluation.harm import harm_of
from fairfl_core.evaluation.verdict import verdict_of
from fairfl_core.lp import frontier
from fairfl_core.lp.policy import Floor, Policy
from fairfl_core.lp.program import FairnessProgram
from pages.explore.page import SWEEP
from pages.shared.catalogue import noun_of
from tests.pages.conftest import healthy, linked, view_of
from tests.pages.visible import charts, numbers, sentence, visible, visible_text

ADULT = {"experiment": "adult", "seed": 0}
STATES = {"experiment": "public_coverage", "region": "simplex"}
SKIN = {"experiment": "ham10000", "seed": 0, "eps_global": 1, "eps_local": 0.05}


def tab(app, name):
    """Open one of the parts below the pictures."""
    return healthy(app.segmented_control(key="widget_details").set_value(name).run())


def popover(app, key):
    """Open a popover."""
    app.session_state[key] = True
    return healthy(app.run())


def chips(app):
    """Labels of the verdict's and the harm's popovers."""
    return [line[1:-1] for line in visible(app) if line[:2] in ("[●", "[○", "[✕", "[▼", "[▽")]


# -------------------------------------------------------------------- numbers


@pytest.fixture(scope="module")
def page(opened, link):
    """The page of a link as it comes to rest, for who only reads it."""
    return opened(**link)


def test_four_numbers_before_and_after(page, link, core):
    shown = numbers(page)

    def output(before, after, write):
        was, now = write(before), write(after)
        return (was.removesuffix(" %"), now) if was != now else ("", now)

    accuracy, own = core.mean(lambda e: e.accuracy), core.mean(lambda e: e.before.accuracy)
    assert [one.label for one in shown] == [
        "Accuracy",
        "Gap overall",
        f"Worst {noun_of(view_of(**link).data)}",
        "Answers changed",
    ]
    assert shown[0][1:3] == output(own, accuracy, format.round_percent)
    assert shown[0].note.endswith(format.round_signed_points(accuracy - own))
    overall = [core.mean(lambda e: e.before.gaps.overall), core.mean(lambda e: e.gaps.overall)]
    assert shown[1][1:3] == output(*overall, format.round_gap)
    local = [core.mean(lambda e: e.before.gaps.local), core.mean(lambda e: e.gaps.local)]
    assert shown[2][1:3] == output(*(one[core.worst] for one in local), format.round_gap)
    low = core.mean(lambda e: e.interval_at_once(core.worst)[0])
    assert ("may be chance" in shown[2].note) == (within_chance(low) and shown[2].was != "")
    people = [e.counts.table.sum(axis=(0, 2, 3)) for e in core.unseen]
    changed = np.mean([e.changed @ n / n.sum() for e, n in zip(core.unseen, people, strict=True)])
    assert shown[3].now == format.round_percent(changed)


def test_who_stands_behind_the_worst_gap_is_one_hover_away(page, link, core):
    view = view_of(**link)
    verdict = verdict_of(core.unseen, view.eps_global, core.solutions[0].eps_local, None)
    client = core.clients[core.worst]
    behind = [f"behind the gap: {one.behind}" for one in verdict.limits if one.client == client]
    tips = " ".join(one.proto.body for one in page.get("html"))
    assert all(escape(one) in tips for one in behind) and ("behind the gap" in tips) == bool(
        behind
    )


def test_asked_then_reached_in_one_sentence(page, link, core):
    said, view = sentence(page), view_of(**link)
    worst = format.round_gap(core.mean(lambda e: e.gaps.local)[core.worst])
    overall = format.round_gap(core.mean(lambda e: e.gaps.overall))
    limits = sorted({view.eps_local, *(limit for _, limit in view.own_limits)})
    inside = f"{limits[0]:g}" + (f" to {limits[-1]:.2f}" if len(limits) > 1 else "")
    asked, reached = said.split("; ")
    assert asked.startswith(f"Asked {inside} in each")
    assert asked.endswith(f", {view.eps_global:g} overall")
    assert reached == f"new people: {worst} ({core.clients[core.worst]}), {overall} overall."


def test_the_chips_are_the_cores_verdict_and_harm(opened, link, core):
    view, app = view_of(**link), opened(**link)
    verdict = verdict_of(core.unseen, view.eps_global, core.solutions[0].eps_local, None)
    harm = harm_of(core.unseen)
    sure = {(one.client, one.group) for one in harm.proved if one.client is not None}
    sure = sure or {(one.client, one.group) for one in harm.proved}
    lose = f"▼ {format.plural(len(sure), 'group')} {'loses' if len(sure) == 1 else 'lose'}"
    shown = chips(app)
    assert shown[0] == f"{verdict.shape} {verdict.word}"
    assert shown[1:] == ([lose] if sure else shown[1:])
    assert verdict.why not in visible_text(app)
    popover(app, "harm")
    said = visible_text(popover(app, "verdict"))
    assert verdict.why in said
    for one in sorted(harm.alarms, key=lambda one: not one.beyond_chance)[:6]:
        assert one.sentence()[:380] in said
    app.run()


def test_no_limit_has_no_verdict_and_raises_no_alarm(opened):
    app = opened(**ADULT, region="exact", eps_global=1, eps_local=1)
    assert "[no limit asked]" in visible(app) and not chips(app)
    assert "[losses not judged]" in visible(app)
    assert sentence(app).startswith("No limit asked: on new people the widest gap is ")


# -------------------------------------------------------------------- moving


@pytest.fixture
def solved(monkeypatch):
    """What is solved from now on: limits, and whole maps."""
    calls = []
    one, many = FairnessProgram.solve, frontier.frontier
    monkeypatch.setattr(
        FairnessProgram, "solve", lambda self, *a, **k: calls.append("solve") or one(self, *a, **k)
    )
    monkeypatch.setattr(
        "pages.shared.results.frontier", lambda *a, **k: calls.append("map") or many(*a, **k)
    )
    return calls


@pytest.mark.parametrize(
    ("link", "runs"),
    [
        ({"experiment": "adult"}, 10),
        ({"experiment": "adult", "seed": 3, "region": "exact"}, 1),
        (STATES | {"seed": 1}, 1),
    ],
)
def test_one_move_solves_what_it_shows(opened, solved, link, runs):
    app = opened(**link, eps_global=0.0777, eps_local=0.13)  # asked by no other test
    solved.clear()
    app.select_slider(key="widget_eps_local").set_value(0.115).run()
    assert runs <= len(healthy(app) and solved) <= runs + 1 and "map" not in solved
    solved.clear()
    app.select_slider(key="widget_eps_local").set_value(0.13).run()  # asked before
    assert not solved


def test_closed_tabs_and_popovers_solve_nothing(opened, solved, monkeypatch):
    link = {"experiment": "adult", "seed": 4, "eps_local": 0.0777}
    opened(**link)
    solved.clear()
    broken = lambda *_, **__: pytest.fail("computed unasked")  # noqa: E731
    for name in ("all_rates_of", "impact_ratios_of", "certainty_costs", "certainty_of"):
        monkeypatch.setattr(f"pages.explore.details.{name}", broken)
    for name in ("advice_of", "region_curve", "clients_of"):
        monkeypatch.setattr(f"pages.explore.details.{name}", broken)
    monkeypatch.setattr("pages.explore.more_limits.policy_cost", broken)
    app = opened(**link)
    assert not solved and len(numbers(app)) == 4
    assert not app.dataframe and not app.table and not app.get("plotly_chart")
    assert len(app.get("html")) == 3  # the style, the numbers, the sentence
    live = ("button", "select_slider", "selectbox", "button_group", "popover", "bidi_component")
    assert sum(len(app.get(kind)) for kind in (*live, "page_link")) <= 20


def test_a_slider_moves_numbers_sentence_map_and_link(opened):
    app = opened(**ADULT)
    before, here = numbers(app), charts(app)["explore-map"]["here"]
    app.select_slider(key="widget_eps_local").set_value(0.2).run()
    app.select_slider(key="widget_eps_global").set_value(0.15).run()
    assert numbers(healthy(app)) != before and sentence(app).startswith("Asked 0.2 in each")
    assert charts(app)["explore-map"]["here"] != here
    assert linked(app, "eps_local") == "0.2" and linked(app, "eps_global") == "0.15"


def test_a_limit_of_a_link_may_lie_between_the_steps(opened):
    app = opened(**ADULT, eps_local=0.0321)
    assert app.select_slider(key="widget_eps_local").value == 0.0321
    tab(app, "more")
    popover(app, "expander-exact")
    app.number_input(key="widget_eps_local_number").set_value(0.0456).run()
    assert linked(healthy(app), "eps_local") == "0.0456"
    assert app.select_slider(key="widget_eps_local").value == 0.0456


def test_another_experiment_brings_its_own_notion(opened):
    app = opened(**ADULT, notion="eop", own="doctorate=0.2")
    app.selectbox(key="widget_experiment").set_value("ham10000").run()
    assert linked(healthy(app), "own") is None
    popover(app, "settings")
    assert app.selectbox(key="widget_notion").value == "eo"
    cross_fitted = experiments.open("ham10000_cross_fitted")  # the split a page starts with
    assert app.selectbox(key="widget_seeds").value == cross_fitted.seeds


def test_settings_change_what_is_shown(opened):
    app = popover(opened(**ADULT, eps_local=0.02), "settings")
    for name, value in (("notion", "eo"), ("region", "exact"), ("rates", "scores")):
        before = charts(app)
        app.selectbox(key=f"widget_{name}").set_value(value).run()
        assert linked(healthy(app), name) == value and charts(app) != before
    app.toggle(key="widget_large").set_value(True).run()
    assert linked(app, "large") == "True" and charts(app)["explore-map"]["large"]


def test_a_kept_setting_is_in_the_link_and_on_the_map(opened):
    app = opened(**ADULT, region="exact", eps_local=0.2, own="doctorate=0.1")
    app.button(key="keep").click().run()
    assert app.button(key="keep").disabled
    app.select_slider(key="widget_eps_local").set_value(0.01).run()
    drawn = charts(healthy(app))["explore-map"]
    assert drawn["kept"] == [["A", drawn["here"][0], drawn["limits"].index(0.2)]]
    kept = linked(app, "options")
    assert "region=exact" in kept and "eps_local=0.2" in kept and "doctorate" in kept
    assert not app.button(key="keep").disabled


def test_an_error_in_one_picture_leaves_the_rest(opened, monkeypatch):
    def broken(*_, **__):
        raise RuntimeError("secret path /home/someone")

    monkeypatch.setattr("fairfl_core.explore.charts.map_data", broken)
    app = opened.raw("explore", **ADULT)
    assert not app.exception
    assert [box.value for box in app.warning] == [
        "The map cannot be shown because of an error of ours; the rest is unaffected."
    ]
    assert len(numbers(app)) == 4 and "explore-clients" in charts(app)


# -------------------------------------------------------------------- play


def test_play_sweeps_from_no_limit_to_zero_and_stops_by_itself(opened):
    app = opened(**ADULT, eps_local=0.2)
    app.button(key="play").click().run()
    seen = []
    for _ in SWEEP:
        seen.append(app.select_slider(key="widget_eps_local").value)
        app.run()
    assert tuple(seen) == SWEEP
    assert app.button(key="play").label == "▶" and linked(healthy(app), "eps_local") == "0"
    assert app.run().select_slider(key="widget_eps_local").value == 0


def test_play_can_be_stopped(opened):
    app = opened(**ADULT, eps_local=0.2)
    app.button(key="play").click().run().run()
    assert app.button(key="play").label == "■"
    app.button(key="play").click().run()
    now = app.select_slider(key="widget_eps_local").value
    assert app.button(key="play").label == "▶" and linked(app, "eps_local") == f"{now:g}"
    assert app.run().select_slider(key="widget_eps_local").value == now


# -------------------------------------------------------------------- collisions


def test_a_collision_says_who_and_both_ways_out_work(opened):
    labels = experiments.open("ham10000").labels
    everyone = Policy(floors=tuple(Floor(label, keeps=0.0) for label in labels))
    asked = SKIN | {"eps_local": 0, "policy": json.dumps(everyone.to_json())}
    app = opened(**asked)
    said = visible_text(app)
    assert "✕ limits and floors collide" in said
    assert "the floors stand against the limits in " in said
    assert any(client in said for client in experiments.open("ham10000").clients)
    assert not numbers(app) and "explore-map" in charts(app)
    assert list(app.segmented_control(key="widget_details").options) == [
        "How sure",
        "More limits",
    ]
    for key in ("widen", "lower"):
        again = opened(**asked)
        again.button(key=f"collision-{key}").click().run()
        assert len(numbers(healthy(again))) == 4, key


def test_what_a_region_cannot_do_is_a_sentence_and_can_be_switched_off(opened):
    without = json.dumps(Policy(without_group=True).to_json())
    app = opened.raw(
        **{"region": "exact", "split": "paper"} | SKIN | {"policy": without, "details": "more"}
    )
    assert len(app.warning) == 1 and not app.exception
    assert "serves two labels, but there are 4" in visible_text(app) and not numbers(app)
    app.toggle(key="widget_without_group").set_value(False).run()
    assert len(numbers(healthy(app))) == 4
