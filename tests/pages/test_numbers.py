"""Every number on Explore and Clients is the core's own, on data where neighbours differ."""

import csv
import io
import re

import numpy as np
import pytest
from pages.components.shared.downloads import clients_csv

from fairfl_core.evaluation.harm import effect_of, harm_of
from fairfl_core.evaluation.limit_check import within_chance
from fairfl_core.people import experiments
from fairfl_core.solving.build import build_program
from pages.shared.results import GRID
from tests.pages.conftest import LINKS, unfolded, view_of
from tests.pages.core_numbers import CoreNumbers
from tests.pages.reading import (
    HEADINGS,
    NUMBERS,
    check_clients,
    figure,
    gap,
    lines,
    mark,
    numbers_tables,
    percent,
    points,
    said,
    specs,
    unmarked,
    values,
)

# Opened once for each link: these are read, and nobody moves anything on them.


@pytest.fixture(scope="module")
def explore(opened, link):
    return opened(**link)


@pytest.fixture(scope="module")
def one_client(opened, link, core):
    """The place of a client in the middle, and its page."""
    at = len(core.clients) // 2
    return at, opened("clients", **link, client=core.clients[at])


# -------------------------------------------------------------------- Explore


def test_explores_headline_and_summary(explore, link, core):
    app = explore
    accuracy, unlimited = (core.mean(lambda e: e.accuracy, p) for p in ("unseen", "unlimited"))
    own = core.mean(lambda e: e.before.accuracy)
    overall, worst = core.mean(lambda e: e.gaps.overall), core.worst
    name = core.clients[worst]

    def of_worst(what):
        return core.mean(what)[worst]

    low, high = (core.mean(lambda e, i=i: e.interval_at_once(worst)[i]) for i in (0, 1))

    headline = said(app, "#### ")
    assert (
        f"{'costs' if accuracy <= unlimited else 'gains'} {points(accuracy - unlimited)} of "
        f"accuracy on unseen people against no limit: {percent(unlimited)} → {percent(accuracy)} "
        f"(the model's own answers: {percent(own)}); overall gap {gap(overall)}, "
        f"worst client {name}, worst of {len(core.clients)} "
        f"(gap {gap(of_worst(lambda e: e.gaps.local))}, between {gap(low)} and {gap(high)}, "
        f"n = {of_worst(lambda e: e.counts.n_client):,.0f}" in headline
    )
    assert ("within noise" in headline) == within_chance(low)
    shown = [(unmarked(m.label), m.value, unmarked(m.delta)) for m in app.metric]
    change = 100 * (accuracy - unlimited)
    groups = core.solutions[0].counts.groups
    changed = core.mean(lambda e: e.changed)
    total = core.mean(
        lambda e: (e.changed * e.counts.table.sum(axis=(0, 2, 3))).sum() / e.counts.n
    )
    assert shown == [
        (
            "Accuracy, unseen people",
            percent(accuracy),
            f"{change:+.{1 if abs(change) >= 0.95 else 2}f} points against no limit",
        ),
        ("Overall gap", gap(overall), f"was {gap(core.mean(lambda e: e.before.gaps.overall))}"),
        (
            f"Worst client: {name}",
            gap(of_worst(lambda e: e.gaps.local)),
            f"was {gap(of_worst(lambda e: e.before.gaps.local))}",
        ),
        (
            "Answers changed",
            percent(total),
            " · ".join(f"{percent(s)} {g}" for g, s in zip(groups, changed, strict=True)),
        ),
    ]


def test_explores_table_of_asked_reached_and_unseen(explore, link, core):
    app = explore
    view = view_of(**link)
    (table,) = numbers_tables(app)
    asked = max(view.eps_local, *(limit for _, limit in view.own_limits), 0)
    rows = {
        "Accuracy": ("", lambda e: e.accuracy, percent),
        "The model's own accuracy": ("", lambda e: e.before.accuracy, percent),
        "Overall gap (ε0)": (view.eps_global, lambda e: e.gaps.overall, gap),
        "Mean client": ("", lambda e: e.gaps.local_mean, gap),
    }
    for name, (limit, what, show) in rows.items():
        shown = list(table.loc[name])
        assert shown[1:] == [show(core.mean(what, people)) for people in ("fitted", "unseen")]
        assert shown[0] == "" or float(shown[0]) == limit
    local = [np.nanmax(core.mean(lambda e: e.gaps.local, p)) for p in ("fitted", "unseen")]
    shown = list(table.loc["Worst client (εc)"])
    assert float(shown[0]) == asked and shown[1:] == [gap(value) for value in local]
    debiased = [
        core.mean(lambda e: e.debiased(e.larger_half).gap, p) for p in ("fitted", "unseen")
    ]
    for cell, value in zip(table.loc["Larger half, chance taken out"][1:], debiased, strict=True):
        assert cell == ("fair within chance" if value < 0 else gap(value))
    n = [core.mean(lambda e: e.counts.n, people) for people in ("fitted", "unseen")]
    assert list(table.columns) == [
        "asked",
        f"reached (fitted, n = {n[0]:,.0f})",
        f"unseen (test, n = {n[1]:,.0f})",
    ]


def test_who_pays_and_what_a_hundredth_buys(explore, link, core):
    app = explore
    told = said(app, "Who pays")
    change, prices = core.client_change, core.prices
    low, high = int(np.nanargmin(change)), int(np.nanargmax(change))
    if change[low] < -0.0005:
        assert (
            f"{core.clients[low]} loses most accuracy against no limit: {points(change[low])}"
            in told
        )
        worse_off = core.clients[high] in harm_of(core.unseen).clients
        word = "gains on average" if worse_off else "gains"
        assert (f"{core.clients[high]} {word} {points(change[high])}" in told) == (
            change[high] > 0.0005
        )
    bought = [
        (core.clients[c], prices[c])
        for c in np.argsort(-prices, kind="stable")[:3]
        if prices[c] > 1e-7
    ]
    pattern = r"local tolerance in (.+?) buys (?:at most )?(less than )?([\d.]+) points"
    shown = re.findall(pattern, told)
    assert [name for name, *_ in shown] == [name for name, _ in bought]
    for (_, less, number), (_, price) in zip(shown, bought, strict=True):
        assert price < 0.005 if less else float(number) == round(price, 2)
    overall = re.search(r"overall tolerance buys (?:at most )?(less than )?([\d.]+) points", told)
    assert bool(overall) == (core.price_global > 1e-7)
    if overall and not overall[1]:
        assert float(overall[2]) == round(core.price_global, 2)


def test_the_clients_chart_its_table_and_its_file(explore, link, core):
    app = explore
    drawn = figure(app, "explore-clients")
    order = np.argsort(-np.nan_to_num(core.mean(lambda e: e.gaps.local), nan=-1), kind="stable")
    before = core.mean(lambda e: e.before.gaps.local)[order]
    np.testing.assert_allclose(values(drawn["before (model's own)"], "x"), before, atol=1e-9)
    names = [f"{core.clients[c]}" for c in order]
    after = core.mean(lambda e: e.gaps.local)[order]
    low, high = (core.mean(lambda e, i=i: e.local_interval[i])[order] for i in (0, 1))
    within = within_chance(low)
    parts = {"after": ~within, "after, within noise": within}
    for part, mask in parts.items():
        if mask.any():
            np.testing.assert_allclose(values(drawn[part], "x"), after[mask], atol=1e-9)
            np.testing.assert_array_equal(values(drawn[part], "y"), np.flatnonzero(mask))
    reached = core.mean(lambda e: e.gaps.local, "fitted")[order]
    np.testing.assert_allclose(
        values(drawn["reached on the fitted people"], "x"), reached, atol=1e-9
    )
    assert (
        f"In {within.sum()} of {len(within)} clients the gap left cannot be told from none"
        in said(app, "Each client's gap, before and after")
    )
    bars = values(drawn["95 % interval, after"], "x").reshape(-1, 3)
    np.testing.assert_allclose(bars[:, :2], np.stack([low, high], axis=1), atol=1e-9)
    table = next(
        d.value for d in unfolded(app).dataframe if "price of a hundredth, points" in d.value
    )
    assert list(table["client"]) == names
    check_clients(table.rename(columns=HEADINGS), core, order, 4)
    rows = list(csv.DictReader(io.StringIO(clients_csv(view_of(**link)))))
    assert [row["client"] for row in rows] == list(core.clients)
    columns = {name: np.array([float(row[name] or "nan") for row in rows]) for name in NUMBERS}
    check_clients(columns, core, np.arange(len(core.clients)), 9)


@pytest.mark.parametrize("name", ["adult", "ham10000"])
def test_the_map_is_the_program_solved_at_its_cells(opened, name):
    app = opened(experiment=name, seed=1, eps_global=0.06, eps_local=0.2)
    drawn = figure(app, "explore-heat")
    accuracy = values(drawn["heatmap"], "z")
    experiment = experiments.open(name)
    counts = experiment.counts(1, "validation")
    program = build_program(counts, experiment.notion, "simplex", rates="labels")
    for local, overall in ((0, 3), (8, 0), (17, 9), (20, 20)):
        solved = program.solve(GRID[overall], GRID[local]).accuracy
        assert accuracy[local, overall] == pytest.approx(100 * solved, abs=1e-6)
    assert mark(app, "explore-heat") == (GRID.index(0.06), GRID.index(0.2))
    unlimited = 100 * program.solve().accuracy
    assert accuracy.shape == (len(GRID) + 1,) * 2
    assert accuracy[-1, -1] == pytest.approx(unlimited, abs=1e-6)
    # The dotted line is drawn against no limit, not against the largest limit on the map.
    table = next(d.value for d in unfolded(app).dataframe if "inside each client" in d.value)
    limits = [float(column.split()[-1]) for column in table.columns[1:]]
    assert [*table["inside each client"]] == limits == [*GRID, 1.0]  # not rounded
    free = accuracy >= unlimited - 0.05
    line = drawn["costs nothing inside"]
    assert len(values(line, "x")) > 0 and bool(free[-2, -2]) == (name == "adult")


def test_what_is_pinned_is_compared_in_numbers(opened):
    app = opened(experiment="adult", eps_local=0.2, own="doctorate=0.01")
    app.button(key="keep").click().run()
    app.select_slider(key="widget_eps_local_slider").set_value(0.02).run()
    table = app.table[0].value
    for column, eps_local in zip(table.columns, (0.2, 0.02), strict=True):
        view = view_of("adult", eps_local=eps_local, own="doctorate=0.01")
        core = CoreNumbers.of(view)
        worst = core.worst
        assert [unmarked(cell) for cell in table[column]] == [
            percent(core.mean(lambda e: e.accuracy)),
            gap(core.mean(lambda e: e.gaps.overall)),
            f"{gap(core.mean(lambda e: e.gaps.local)[worst])} ({core.clients[worst]})",
            gap(core.mean(lambda e: e.gaps.local_mean)),
        ]
    assert "ε0 0.01, εc 0.20, doctorate 0.01" in unmarked(table.columns[0])


def test_the_approximation_is_told_in_the_cores_numbers(opened):
    link = LINKS["scores"]
    app = opened(**link)
    exact = CoreNumbers.of(view_of(**link))
    simplex = CoreNumbers.of(view_of(**link | {"region": "simplex", "rates": "labels"}))
    accuracy, papers = (each.mean(lambda e: e.accuracy) for each in (exact, simplex))
    before = exact.mean(lambda e: e.accuracy, "unlimited")
    gaps = [
        gap(each.mean(what))
        for each in (exact, simplex)
        for what in (lambda e: e.gaps.overall, lambda e: e.gaps.local_mean)
    ]
    assert (
        f"On unseen people this {'costs' if accuracy <= before else 'gains'} "
        f"{points(before - accuracy)}; the paper's simplex would cost "
        f"{points(accuracy - papers)} {'more' if accuracy >= papers else 'less'}. Gaps left: "
        f"{gaps[0]} overall and {gaps[1]} in the mean client, with the simplex {gaps[2]} and "
        f"{gaps[3]}" in said(app, "On unseen people this")
    )


# -------------------------------------------------------------------- Clients


def test_one_client_in_numbers(one_client, core):
    at, app = one_client

    def of(what, people="unseen"):
        return core.mean(what, people)[at]

    headline = said(app, "#### ")
    asked = core.solutions[0].eps_local[at]
    assert (
        f"{core.clients[at]}: gap {gap(of(lambda e: e.before.gaps.local))} → "
        f"{gap(of(lambda e: e.gaps.local))} on unseen people (between "
        f"{gap(of(lambda e: e.local_interval[0]))} and {gap(of(lambda e: e.local_interval[1]))}, "
        f"on {of(lambda e: e.counts.n_client):,.0f} people" in headline
    )
    assert float(re.search(r"asked ([\d.]+)\. Acc", headline)[1]) == pytest.approx(asked)
    shown = {m.label: (m.value, m.delta) for m in app.metric}
    accuracy, before = of(lambda e: e.client_accuracy), of(lambda e: e.before.client_accuracy)
    unlimited = of(lambda e: e.client_accuracy, "unlimited")
    effect = effect_of(accuracy - unlimited, harm_of(core.unseen), core.clients[at])
    assert headline.endswith(
        f"Accuracy {percent(unlimited)} with no limit → {percent(accuracy)} (the model's own "
        f"answers: {percent(before)}): it {effect.told(points(accuracy - unlimited))}."
    )
    average = " on average" if effect.but else ""
    change = 100 * (accuracy - unlimited)
    price = core.prices[at]
    n = [of(lambda e: e.counts.n_client, people) for people in ("fitted", "unseen")]
    assert shown == {
        "People (fitted · unseen)": (f"{n[0]:,.0f} · {n[1]:,.0f}", ""),
        "Accuracy here": (
            percent(accuracy),
            f"{change:+.{1 if abs(change) >= 0.95 else 2}f} points{average} against no limit",
        ),
        "Chance alone": (
            gap(of(lambda e: e.noise_floor)),
            f"one draw of the lottery: {gap(of(lambda e: e.one_draw))}",
        ),
        "Local price": (
            f"{price:.3f} points" if price >= 0.0005 else "none",
            "for one more hundredth here",
        ),
    }


def test_one_clients_rates(one_client, core):
    at, app = one_client
    table = next(d.value for d in unfolded(app).dataframe if {"95 % from", "rate"} <= set(d.value))
    for r, rate in enumerate(core.solutions[0].notion.rates):
        for a, group in enumerate(core.solutions[0].counts.groups):
            named = table["rate"].str.contains(f"“{rate.answer}”", regex=False)
            row = table[named & (table["group"] == group)].iloc[0]
            if not np.any([e.people[at, a, r] for e in core.unseen]):
                assert row["people"] == 0 and np.isnan(row["after"])
                continue
            shown = [row["people"], row["before"], row["after"]]
            expected = [
                np.round(core.mean(lambda e, a=a, r=r: e.people[at, a, r])),
                core.mean(lambda e, a=a, r=r: e.before.rates[at, a, r]),
                core.mean(lambda e, a=a, r=r: e.rates[at, a, r]),
            ]
            np.testing.assert_allclose(shown, expected, atol=6e-5)
            assert row["95 % from"] <= row["after"] <= row["95 % to"]


def test_how_one_clients_gaps_were_closed(one_client, core):
    at, app = one_client
    mine = [gap for gap in harm_of(core.unseen).closed if gap.client == core.clients[at]]
    shown = [line for text in lines(unfolded(app)) for line in text.splitlines()]
    told = [line[2:] for line in shown if line.startswith("- ") and "the gap went from" in line]
    assert told == [gap.sentence() for gap in mine[:4]]


def test_where_an_axis_holds_names_no_lines_are_drawn_through_them(one_client):
    _, app = one_client
    named = 0
    for spec in specs(unfolded(app)):
        layout = spec["layout"]
        for axis in (layout[key] for key in layout if key.startswith(("xaxis", "yaxis"))):
            if any(re.search("[a-z]", str(name)) for name in axis.get("ticktext", ())):
                named += 1
                assert axis["showgrid"] is False and axis["zeroline"] is False, axis
    assert named


def test_what_a_clients_own_limit_does_to_everyone(opened):
    link = {"experiment": "public_coverage", "seed": 3, "eps_local": 0.2}
    app = opened("clients", **link, client="TX", own="TX=0.01")
    now = CoreNumbers.of(view_of(**link, own="TX=0.01"))
    without = CoreNumbers.of(view_of(**link))
    accuracy, overall = (
        now.mean(what) - without.mean(what)
        for what in (lambda e: e.accuracy, lambda e: e.gaps.overall)
    )
    change = now.mean(lambda e: e.gaps.local) - without.mean(lambda e: e.gaps.local)
    moved = np.abs(np.nan_to_num(change)) > 0.0005
    others = int(moved.sum()) - int(moved[now.clients.index("TX")])
    assert (
        f"accuracy {100 * accuracy:+.3f} points, overall gap {overall:+.4f}; {others} other client"
        in said(app, "What its own limit does")
    )
    table = next(d.value for d in unfolded(app).dataframe if "gap without" in d.value)
    assert len(table) == moved.sum()
    for row in table.itertuples(index=False):
        c = now.clients.index(row[0])
        expected = [
            now.mean(lambda e: e.gaps.local)[c],
            without.mean(lambda e: e.gaps.local)[c],
            change[c],
            now.prices[c],
        ]
        np.testing.assert_allclose(row[1:], expected, atol=6e-5)
    size = table["change"].abs().to_numpy()
    assert (np.diff(size) <= 1e-4).all() and size[0] > size[-1]  # those who moved most come first
