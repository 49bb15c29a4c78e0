"""Harm on Explore is never green and never called a gain; every rate is the one of its definition."""

import numpy as np
import pytest

from fairfl_core._io import numbers as format
from fairfl_core.evaluation.harm import effect_of, harm_of
from fairfl_core.fairness.intervals import wilson
from tests.pages.conftest import view_of
from tests.pages.core_numbers import CoreNumbers
from tests.pages.test_explore import popover
from tests.pages.visible import visible

DISASTER = {"experiment": "ham10000", "notion": "eo", "eps_global": 1, "eps_local": 0.05}
# A client that gains accuracy by its limit while a label nearly disappears in it.
GAIN = {"experiment": "adult", "region": "exact", "seed": 0, "eps_global": 1, "eps_local": 0.05}


def badges(app):
    """The labels of the two chips, with their colours."""
    return [one.proto.popover.label for one in app.get("popover")][2:4]


@pytest.mark.parametrize("eps", [(0.1, 1), (0.1, 0.1)])
def test_harm_is_never_green(opened, eps):
    """By recognising men with an income less often."""
    asked = {"notion": "sp", "seed": 0, "eps_global": eps[0], "eps_local": eps[1]}
    app = opened(experiment="adult", **asked)
    assert all(label.startswith(":red-badge[") for label in badges(app)), badges(app)
    assert "▼" in badges(app)[1] and "✕" in badges(app)[0]


@pytest.mark.parametrize(
    ("badge", "asked"),
    [
        ("green-badge[● met]", {"as_it_starts": True, "eps_global": 0.15, "eps_local": 1}),
        (
            "orange-badge[○ not sure yet]",
            {"as_it_starts": True, "eps_global": 0.2, "eps_local": 0.2},
        ),
        ("red-badge[✕ not met]", {"region": "exact", "seed": 2, "eps_global": 0, "eps_local": 0}),
        ("gray-badge[no limit asked]", {"seed": 0, "eps_global": 1, "eps_local": 1}),
    ],
)
def test_each_verdict_has_its_shape_and_colour(opened, badge, asked):
    assert badges(opened(experiment="adult", notion="sp", **asked))[0] == f":{badge}"


def test_a_gain_is_told_with_who_pays_for_it(opened):
    core = CoreNumbers.of(view_of(**GAIN))
    at = core.clients.index("doctorate")
    before, after = (
        core.mean(what)[at]
        for what in (lambda e: e.before.client_accuracy, lambda e: e.client_accuracy)
    )
    effect = effect_of(after - before, harm_of(core.unseen), "doctorate")
    assert effect.but
    said = visible(opened(**GAIN, client="doctorate"))
    (line,) = [line for line in said if "on new people the gap is" in line]
    change = format.round_signed_points(after - before)
    assert line.endswith(f"({change}), but {effect.but}.") or change == format.NO_CHANGE


def by_hand(core, client, label, name, group, side):
    """A rate from its definition, mean over runs that have anybody behind it; overall if None."""
    shares, people = [], []
    for run in core.unseen:
        counts = run.counts
        chosen = [c for c, one in enumerate(counts.clients) if client in (None, one)]
        confusion = run.confusion if side == "after" else run.own.confusion
        table = sum(confusion[c, counts.groups.index(group)] for c in chosen)
        y = counts.labels.index(label) if label else 0
        answered, have = table[:, y].sum(), table[y].sum()
        part, whole = {
            "selection rate": (answered, table.sum()),
            "true-positive rate": (table[y, y], have),
            "false-positive rate": (answered - table[y, y], table.sum() - have),
            "precision": (table[y, y], answered),
            "F1": (2 * table[y, y], answered + have),
            "accuracy": (np.trace(table), table.sum()),
        }[name]
        if whole >= (0.5 if name == "precision" else 1e-9):
            shares.append(part / whole)
            people.append(whole / 2 if name == "F1" else whole)
    if not shares:
        return float("nan"), float("nan"), float("nan"), 0
    ends = [
        wilson(np.array(s), np.array(n), 1.959964) for s, n in zip(shares, people, strict=True)
    ]
    low, high = np.mean(ends, axis=0)
    return np.mean(shares), low, high, np.mean(people)


@pytest.mark.parametrize("client", ["65 and over", None])
def test_every_rate_by_its_definition(opened, client):
    core = CoreNumbers.of(view_of(**DISASTER))
    if client is None:
        app = popover(opened(**DISASTER, details="rates"), "every-rate-table-open")
    else:
        app = popover(opened(**DISASTER, client=client), "client-every-rate")
        app = popover(app, "client-every-rate-chart-table-open")
    table = next(one.value for one in app.dataframe if "people, before" in one.value)
    table = table[table["where"] == (client or "overall")]
    assert len(table) == 2 * (5 * 4 + 1)
    for _, row in table.iterrows():
        for side, n in (("before", "people, before"), ("after", "people")):
            share, low, high, people = by_hand(
                core, client, row["label"], row["rate"], row["group"], side
            )
            assert row[side] == pytest.approx(share, abs=6e-5, nan_ok=True)
            assert row[n] == pytest.approx(people, abs=0.51)
            ends = row[f"{side}, 95 % from"], row[f"{side}, 95 % to"]
            assert ends == pytest.approx((low, high), abs=1e-4, nan_ok=True)
