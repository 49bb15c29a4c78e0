"""What Explore's two charts are given is the core's own, on data where neighbours differ."""

import numpy as np
import pytest

from fairfl_core.data import experiments
from fairfl_core.data.scored import ScoredData
from fairfl_core.evaluation.checks import within_chance
from fairfl_core.evaluation.harm import harm_of
from fairfl_core.evaluation.verdict import verdict_of
from fairfl_core.lp.guarantee import Guarantee
from fairfl_core.lp.program import FairnessProgram
from pages.shared.results import COARSE, GRID
from tests.pages.conftest import healthy, linked, view_of
from tests.pages.visible import charts

SKIN = {"experiment": "ham10000", "notion": "eo", "seed": 2, "eps_global": 1, "eps_local": 0.05}
MANY = 12  # more clients stand in the order of the gap before


@pytest.fixture(scope="module")
def pictures(opened, link):
    """The payloads of all pictures of a link, by name."""
    app, drawn = opened(**link), {}
    for name in ("gaps", "found", "price"):
        app.button_group(key="widget_picture").set_value(name).run()
        drawn[name] = charts(healthy(app))["explore-clients"]
    return drawn


def own(value, off=6e-5):
    return None if np.isnan(value) else pytest.approx(value, abs=off)


def in_order(core):
    """Few clients in their own order, many by the gap before."""
    if len(core.clients) <= MANY:
        return list(range(len(core.clients)))
    before = np.nan_to_num(core.mean(lambda e: e.before.gaps.local))
    return list(np.argsort(-before, kind="stable"))


# -------------------------------------------------------------------- the clients


def test_gaps_before_and_after(pictures, link, core):
    view, drawn = view_of(**link), pictures["gaps"]["clients"]
    before, after = core.mean(lambda e: e.before.gaps.local), core.mean(lambda e: e.gaps.local)
    low, high = (core.mean(lambda e, end=end: e.local_interval[end]) for end in (0, 1))
    people = core.mean(lambda e: e.counts.n_client)
    verdict = verdict_of(core.unseen, view.eps_global, core.solutions[0].eps_local, None)
    judged = {one.client: one for one in verdict.limits}  # its interval is the one that is told
    order = in_order(core)
    assert [one["name"] for one in drawn] == [core.clients[at] for at in order]
    for at, one in zip(order, drawn, strict=True):
        assert one["n"] == pytest.approx(people[at], abs=1)
        assert one["before"] == own(before[at]) and one["after"] == own(after[at])
        limit = judged.get(core.clients[at])
        ends = (low[at], high[at]) if limit is None else (limit.low, limit.high)
        assert one["low"] == own(ends[0]) and one["high"] == own(ends[1])
        assert one["asked"] == core.solutions[0].eps_local[at]
        assert one["within"] == bool(within_chance(one["low"]))
        assert one["above"] == (limit is not None and limit.is_broken)
    groups = core.solutions[0].counts.groups
    assert pictures["gaps"]["axis"] == f"gap between {groups[0]} and {groups[1]}"


def test_who_is_found_in_each_client(pictures, core):
    """Shares by hand: people of a label who are told it, mean over runs that have any."""
    drawn, harm = pictures["found"], harm_of(core.unseen)
    label = drawn["label"]
    assert label == harm.favourable and tuple(drawn["groups"]) == harm.groups
    lost = []
    for one in drawn["clients"]:
        for group, cell in zip(harm.groups, one["groups"], strict=True):
            before, after, n = recognised(core, one["name"], group, label)
            assert cell["before"] == own(100 * before, 6e-3)
            assert cell["after"] == own(100 * after, 6e-3)
            assert cell["n"] == pytest.approx(n, abs=0.51)
        parts = [((g["before"] or 0) - (g["after"] or 0)) * g["n"] for g in one["groups"]]
        lost.append(sum(max(part, 0) for part in parts))
        alarmed = {a.client for a in harm.proved if a.label in (None, label)}
        assert one["alarm"] == (one["name"] in alarmed)
    if len(core.clients) > MANY:  # those in which most people lose it, and that is said
        assert lost == sorted(lost, reverse=True)
        output = f"worst {len(lost)} of {len(core.clients)}"
        assert drawn["note"] == output


def recognised(core, client, group, label):
    shares, people = [], []
    for run in core.unseen:
        counts = run.counts
        c, a = counts.clients.index(client), counts.groups.index(group)
        y = counts.labels.index(label)
        n = counts.table[c, a, y].sum()
        people.append(n)
        if n:
            shares.append([e.confusion[c, a, y, y] / n for e in (run.own, run)])
    before, after = np.mean(shares, axis=0) if shares else (np.nan, np.nan)
    return before, after, np.mean([n for n in people if n] or [0])


def test_the_price_of_each_client(pictures, core):
    before, after = (
        core.mean(what)
        for what in (lambda e: e.before.client_accuracy, lambda e: e.client_accuracy)
    )
    drawn = {one["name"]: one["points"] for one in pictures["price"]["clients"]}
    change = dict(zip(core.clients, 100 * (after - before), strict=True))
    assert drawn == pytest.approx(change, abs=6e-4)
    if len(core.clients) > MANY:
        assert list(drawn.values()) == sorted(drawn.values())


def test_the_label_that_is_found_can_be_chosen(opened):
    app = opened(**SKIN, picture="found")
    assert charts(app)["explore-clients"]["label"] == "cancer or pre-cancer"
    app.selectbox(key="widget_label").set_value("mole").run()
    assert charts(healthy(app))["explore-clients"]["label"] == "mole"
    assert linked(app, "label") == "mole"


def test_found_comes_first_where_somebodys_loss_is_sure(opened):
    harmful, free = opened(**SKIN), opened(**SKIN | {"eps_local": 1})
    assert charts(harmful)["explore-clients"]["view"] == "found"
    assert charts(free)["explore-clients"]["view"] == "gaps"
    assert linked(harmful, "picture") is None


def test_only_states_have_a_map(opened):
    states = opened(experiment="public_coverage", seed=0, picture="map")
    assert charts(states)["explore-clients"]["view"] == "map"
    skin = opened(**SKIN, picture="map")
    assert charts(skin)["explore-clients"]["view"] == "found"
    skin.button_group(key="widget_picture").set_value("price").run()
    assert linked(healthy(skin), "picture") == "price"


# -------------------------------------------------------------------- the map


@pytest.mark.parametrize(
    "link",
    [
        {"experiment": "adult", "seed": 1, "eps_global": 0.06, "eps_local": 0.2},
        {"experiment": "adult", "seed": 2, "region": "exact", "rates": "labels"},
        {"experiment": "ham10000", "seed": 1, "eps_global": 0.06, "eps_local": 0.2},
        {"experiment": "public_coverage", "seed": 3},
    ],
)
def test_the_map_is_the_program_solved_at_its_cells(opened, link):
    view = view_of(**link)
    drawn = charts(opened(**link))["explore-map"]
    experiment = experiments.open(view.data)
    people = ScoredData.from_experiment(experiment, view.seeds[0], "validation")
    program = FairnessProgram(people, view.notion, view.region, rates=view.rates)
    accuracy, limits = np.array(drawn["accuracy"], float), [*GRID, 1.0]
    assert drawn["limits"] == limits and accuracy.shape == (len(limits),) * 2
    for local, overall in ((0, 3), (8, 0), (17, 9), (21, 21)):
        solved = program.solve(limits[overall], limits[local]).accuracy
        assert accuracy[local, overall] == pytest.approx(100 * solved, abs=0.006)
    assert drawn["here"] == [limits.index(view.eps_global), limits.index(view.eps_local)]
    # Alone: the one limit with none on the other, against the model as it is.
    model = people.counts.model_accuracy
    inside = program.solve(1.0, view.eps_local).accuracy - model
    overall = program.solve(view.eps_global, 1.0).accuracy - model
    assert [points for _, points in drawn["alone"]] == pytest.approx(
        [100 * inside, 100 * overall], abs=0.006
    )
    # The colours span two points at least, and a flat map says so.
    span = accuracy.max() - accuracy.min()
    assert drawn["high"] - drawn["low"] == pytest.approx(max(span, 2.0), abs=0.02)
    assert ("flat" in drawn["note"]) == (span < 2)
    assert "people it was set on" in drawn["note"]
    # The line of what is free parts cells as accurate as no limit from those that cost.
    free = accuracy >= accuracy[-1, -1] - 0.05
    sides = free[:, 1:] != free[:, :-1], free[1:] != free[:-1]
    assert bool(drawn["free"]) == (not free.all())
    upright = [edge for edge in drawn["free"] if edge[0] == edge[2] and edge[0] > 0]
    assert len(upright) == pytest.approx(sides[0].sum(), abs=1)


def test_a_map_that_takes_long_is_a_coarse_one_of_one_run_and_says_so(opened):
    link = {"experiment": "ham10000", "region": "exact", "notion": "eop", "seed": "all"}
    drawn = charts(opened(**link, eps_global=1, eps_local=0.1))["explore-map"]
    assert drawn["limits"] == [*COARSE, 1.0] and "coarse: one run" in drawn["note"]
    view = view_of(**link)
    people = ScoredData.from_experiment(experiments.open(view.data), view.seeds[0], "validation")
    program = FairnessProgram(people, "eop", "exact", rates=view.rates)
    inside = program.solve(1.0, 0.1).accuracy - program.counts.model_accuracy
    assert drawn["alone"][0][1] == pytest.approx(100 * inside, abs=0.05)


def test_with_a_confidence_a_coarse_map_comes_first_and_is_refined_when_asked(opened):
    link = {"experiment": "adult", "region": "simplex", "notion": "sp", "seed": "0"}
    app = opened(**link, confidence="0.95-all-measured", eps_global=1, eps_local=0.1)
    coarse = charts(app)["explore-map"]
    assert coarse["limits"] == [*COARSE, 1.0] and "coarse: one run" in coarse["note"]
    app.button(key="refine-map").click().run()
    fine = charts(healthy(app))["explore-map"]
    assert fine["limits"] == [*GRID, 1.0] and "coarse" not in fine["note"]
    people = ScoredData.from_experiment(experiments.open("adult"), 0, "validation")
    program = FairnessProgram(people.counts, "sp", "simplex", guarantee=Guarantee())
    limits = [*GRID, 1.0]
    for local, overall in ((3, 6), (12, 21), (21, 9)):
        solved = program.solve(limits[overall], limits[local]).accuracy
        assert fine["accuracy"][local][overall] == pytest.approx(100 * solved, abs=0.006)
    app.button(key="refine-map").click().run()
    assert charts(healthy(app))["explore-map"]["limits"] == [*COARSE, 1.0]
