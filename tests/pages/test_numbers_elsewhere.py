"""Every number of Scenarios, Privacy and Your data is the core's own."""

import re
from dataclasses import replace

import numpy as np
import pytest
from pages.components.scenarios.results import MAP

from fairfl_core.evaluation.evaluation import evaluate
from fairfl_core.intake import example_table, experiment_from_table, guess_roles, open_table
from fairfl_core.paper.printed import SCENARIOS
from fairfl_core.people import experiments
from fairfl_core.people.resample import even_shares, redraw, redraw_people
from fairfl_core.people.scored import ScoredPeople
from fairfl_core.predictors.load import predictor_of
from fairfl_core.privacy.mechanisms import what_if
from fairfl_core.privacy.noise_study import spending
from fairfl_core.solving.build import build_program
from tests.pages.conftest import unfolded, view_of
from tests.pages.core_numbers import CoreNumbers
from tests.pages.reading import (
    HEADINGS,
    check_clients,
    figure,
    gap,
    percent,
    points,
    said,
    values,
)

GRID = (0.05, 0.10, 0.15, 0.20, 0.25, 0.30)

# -------------------------------------------------------------------- the paper's scenarios


@pytest.fixture(scope="module")
def corners():
    """Three corners of each scenario: (overall, inside) to numbers, of one run."""
    pairs = ((0.3, 0.3), (0.05, 0.05), (0.3, 0.05))
    views = [view_of(name, seed=2) for name in SCENARIOS]
    return [
        {
            pair: CoreNumbers.of(replace(view, eps_global=pair[0], eps_local=pair[1]))
            for pair in pairs
        }
        for view in views
    ]


@pytest.fixture
def scenarios(opened):
    return opened(
        "scenarios", experiment="ham10000_scenario1", seed=2, eps_global=0.1, eps_local=0.2
    )


def test_losses_ours_and_the_papers(scenarios, corners):
    table = next(t.value for t in scenarios.table if "Scenario 1" in t.value.columns)
    headline = said(scenarios, "#### ")
    for place, (solved, paper) in enumerate(zip(corners, SCENARIOS.values(), strict=True)):
        shown = table[f"Scenario {place + 1}"]
        for name, people in (("unseen people", "unseen"), ("validation", "fitted")):
            at = {pair: core.mean(lambda e: e.accuracy, people) for pair, core in solved.items()}
            lost = at[0.3, 0.3] - at[0.05, 0.05]
            share = lost / at[0.3, 0.3]
            assert shown[f"Both, {name}"] == f"{percent(share)} ({points(lost)})"
            assert shown[f"Overall only, {name}"] == (
                f"{percent(at[0.3, 0.05])} → {percent(at[0.05, 0.05])}"
            )
            if people == "unseen":
                assert f"{percent(share)} in scenario {place + 1}" in headline
        assert shown["Both, the paper"] == percent(paper.loss)
        assert shown["Overall only, the paper"] == (
            f"{percent(paper.before)} → {percent(paper.after)}"
        )
    flat = next(d.value for d in unfolded(scenarios).dataframe if "overall .3, paper" in d.value)
    unseen = [core[0.3, 0.05].mean(lambda e: e.accuracy) for core in corners]
    np.testing.assert_allclose(flat["overall .3, unseen people"], unseen, atol=6e-6)


def test_each_scenario_at_the_limits_set(scenarios):
    for place, name in enumerate(SCENARIOS):
        core = CoreNumbers.of(view_of(name, seed=2, eps_global=0.1, eps_local=0.2))
        metric = scenarios.metric[place]
        accuracy = core.mean(lambda e: e.accuracy)
        change = accuracy - core.mean(lambda e: e.before.accuracy)
        assert metric.value == percent(accuracy)
        digits = 1 if abs(100 * change) >= 0.95 else 2
        assert metric.delta.startswith(f"{100 * change:+.{digits}f} points")
        worst = core.worst
        local = core.mean(lambda e: e.gaps.local)[worst]
        overall = core.mean(lambda e: e.gaps.overall)
        wanted = f"Overall gap {gap(overall)}; worst {core.clients[worst]}: {gap(local)}."
        assert wanted in [line.value.replace("\\", "") for line in scenarios.caption]
        drawn = values(figure(scenarios, f"map-{name}")["heatmap"], "z")
        counts = experiments.open(name).counts(2, "validation")
        solved = build_program(counts, "eo").solve(GRID[4], GRID[1]).accuracy
        place = MAP.index(GRID[1]), MAP.index(GRID[4])
        assert drawn[place] == pytest.approx(100 * solved, abs=1e-6)


def test_who_is_in_which_client(scenarios):
    table = next(d.value for d in unfolded(scenarios).dataframe if "n held out" in d.value)
    rows = table.to_numpy()
    at = 0
    for name in SCENARIOS:
        tables = [experiments.open(name).counts(2, s).table for s in experiments.SPLITS]
        people = sum(tables).sum(axis=(2, 3))
        for client in people:
            assert rows[at, 2] == client.sum()
            np.testing.assert_allclose(
                rows[at, 3:].astype(float), 100 * client / client.sum(), atol=0.06
            )
            at += 1
    assert at == len(rows)


# -------------------------------------------------------------------- clients of one's own


@pytest.mark.parametrize(
    "link",
    [
        {"experiment": "adult", "notion": "eo", "eps_global": 0.2, "eps_local": 0.1},
        {"experiment": "adult", "region": "exact", "eps_global": 0.1, "eps_local": 0.05},
        {"experiment": "ham10000", "region": "kernel", "rates": "shrunk", "eps_local": 0.1},
    ],
    ids=["counts", "scores", "shrunk"],
)
def test_clients_of_ones_own(opened, link):
    size, shares = 200, (0.3, 0.5, 0.7)
    app = opened("scenarios", **link, seed=1, k=3, size=size, draw=4, shares="30,50,70")
    view = view_of(**link, seed=1)
    as_drawn, even = (own_numbers(view, s, size) for s in (shares, even_shares(shares, size)))
    table = next(t.value for t in app.table if "spread evenly" in t.value.columns)
    for column, (core, loss) in zip(table.columns, (as_drawn, even), strict=True):
        accuracy, before = core.mean(lambda e: e.accuracy), core.mean(lambda e: e.before.accuracy)
        unlimited = core.mean(lambda e: e.accuracy, "unlimited")
        cost = points(unlimited - accuracy)
        assert list(table[column]) == [
            percent(before),
            percent(unlimited),
            percent(accuracy),
            cost if accuracy <= unlimited else f"gains {cost}",
            gap(core.mean(lambda e: e.gaps.overall)),
            gap(core.mean(lambda e: e.gaps.local_mean)),
            gap(np.nanmax(core.mean(lambda e: e.gaps.local))),
            percent(loss),
        ]
    core = as_drawn[0]
    headline = said(app, "##### ")
    assert f"→ {percent(core.mean(lambda e: e.accuracy))} (the model's own" in headline
    assert (
        f"worst {core.clients[core.worst]}, worst of 3 (gap " in headline
    )  # "client 2", not twice
    clients = next(
        d.value for d in unfolded(app).dataframe if "price of a hundredth, points" in d.value
    )
    check_clients(clients.rename(columns=HEADINGS), core, np.arange(3), 4)
    caption = [line.value for line in app.caption if "clients of 200 people" in line.value]
    assert caption == ["3 clients of 200 people in validation and as many in test, draw 4."]


def own_numbers(view, shares, size):
    """Redraw, solve and judge by hand: numbers, and the share lost from .30 to .05."""
    experiment = experiments.open(view.experiment)
    drawn = []
    for code, split in enumerate(experiments.SPLITS):
        people = ScoredPeople.from_experiment(experiment, 1, split)
        state = (4, 1, code)
        if view.needs_scores:
            drawn.append(redraw_people(people, shares, size, seed=state))
        else:
            drawn.append(redraw(people.counts, shares, size, seed=state))
    program = build_program(drawn[0], view.notion, view.region, rates=view.rates)
    solution = program.solve(view.eps_global, view.eps_local)
    predictor = predictor_of(solution)
    unlimited = evaluate(predictor_of(program.solve()), drawn[1])
    judged = ([evaluate(predictor, people)] for people in drawn)
    core = CoreNumbers([solution], *judged, [unlimited])
    tight, loose = (program.solve(e, e).accuracy for e in (0.05, 0.3))
    return core, 1 - tight / loose


# -------------------------------------------------------------------- Privacy


@pytest.mark.parametrize(
    "link",
    [
        {"experiment": "adult", "budget": 0.1, "mechanism": "histogram", "own": "doctorate=0.2"},
        {"experiment": "ham10000", "budget": 0.5, "mechanism": "paper", "rates": "shrunk"},
    ],
    ids=["histogram", "paper"],
)
def test_noise_in_numbers(opened, link):
    app = opened("privacy", **link, seed=1, draws=20, eps_local=0.08)
    own = {name: text for name, text in link.items() if name in ("experiment", "own", "rates")}
    view = view_of(**own, seed=1, eps_local=0.08)
    experiment = experiments.open(view.experiment)
    true, test = (experiment.counts(1, split) for split in experiments.SPLITS)
    limits = dict.fromkeys(true.clients, 0.08) | dict(view.own_limits)
    mechanism = spending(link["mechanism"], link["budget"], "replace-one")

    def judged(counts, people):
        program = build_program(counts, view.notion, view.region, rates=view.rates)
        return evaluate(predictor_of(program.solve(0.01, limits)), people)

    noisy = [
        what_if(true, mechanism, seed=int(state))
        for state in np.random.SeedSequence(0).generate_state(20)
    ]
    draws = [judged(counts, true) for counts in noisy]
    noiseless = judged(true, true)
    local = np.array([e.gaps.local for e in draws])
    figures = {
        "Largest true gap of a client": np.nanmax(local, axis=1),
        "Mean client's true gap": np.array([e.gaps.local_mean for e in draws]),
        "Overall true gap": np.array([e.gaps.overall for e in draws]),
        "Accuracy": np.array([e.accuracy for e in draws]),
    }
    for metric, (name, values_) in zip(app.metric, figures.items(), strict=True):
        show = percent if name == "Accuracy" else gap
        low, middle, high = np.quantile(values_, (0.05, 0.5, 0.95))
        assert (metric.label, metric.value, metric.delta) == (
            name,
            show(middle),
            f"{show(low)} to {show(high)}",
        )
    headline = said(app, "#### ")
    low, middle, high = np.quantile(figures["Largest true gap of a client"], (0.05, 0.5, 0.95))
    assert f"At a privacy budget of {link['budget']:g}" in headline
    assert f"is {gap(middle)} (asked:" in headline
    assert f"in 90 of 100 draws between {gap(low)} and {gap(high)})" in headline
    lost = noiseless.accuracy - figures["Accuracy"].mean()
    if abs(lost) >= 0.0005:
        assert f"Noise {'costs' if lost >= 0 else 'gains'} {points(lost)} of accuracy" in headline
    fails = (local > np.array(list(limits.values())) + 1e-6).mean(axis=0)
    table = next(d.value for d in unfolded(app).dataframe if "fails, share of draws" in d.value)
    for row in table.itertuples(index=False):
        c = true.clients.index(row[0])
        expected = [true.n_client[c], limits[row[0]], fails[c], np.median(local[:, c])]
        np.testing.assert_allclose(row[1:], expected, atol=6e-5)
    assert list(table["fails, share of draws"]) == sorted(table["fails, share of draws"])[::-1]
    most = re.search(r"([^.]+) \(n = ([\d,]+)\) fails most often: in (\d+) of 100", headline)
    c = true.clients.index(most[1].strip())
    assert fails[c] == fails.max() and int(most[3]) == round(100 * fails[c])
    assert most[2] == f"{true.n_client[c]:,.0f}"
    drawn = figure(app, "privacy-local")
    at = (10.0, 5.0, 2.0, 1.0, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01).index(link["budget"])
    assert values(drawn["largest"], "y")[at] == pytest.approx(middle)
    unseen = [np.nanmax(judged(counts, test).gaps.local) for counts in noisy]
    chart = next(d.value for d in unfolded(app).dataframe if "largest: median" in d.value)
    assert chart["largest: median, unseen people"][at] == pytest.approx(
        np.median(unseen), abs=6e-5
    )
    assert f"accuracy {percent(noiseless.accuracy)}." in said(app, "“True” means")


# -------------------------------------------------------------------- Your data


def test_people_by_client_and_group(opened):
    app = opened("your_data")
    app.button(key="try-example").click().run()
    app.button(key="take-table").click().run()
    file = open_table("example.csv", example_table().encode())
    experiment = experiment_from_table(file, guess_roles(file)).experiment
    people = sum(experiment.counts(0, s).table.sum(axis=(2, 3)) for s in experiments.SPLITS)
    table = next(d.value for d in unfolded(app).dataframe if "group woman" in d.value)
    assert list(table["client"]) == list(experiment.clients)
    np.testing.assert_array_equal(table["n"], people.sum(axis=1))
    for a, group in enumerate(experiment.groups):
        np.testing.assert_array_equal(table[f"group {group}"], people[:, a])
