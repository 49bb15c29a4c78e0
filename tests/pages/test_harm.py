"""Harm on Explore is never green and never called a gain; every rate is the one of its definition."""

import numpy as np
import pytest

from fairfl_core._io import numbers as format
from fairfl_core.evaluation.all_rates import all_rates_of
from fairfl_core.evaluation.harm import harm_of
from fairfl_core.evaluation.study import effect_of
from pages.shared.text import heading
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


@pytest.mark.parametrize("client", ["65 and over", None])
def test_every_rate_is_the_cores(opened, client):
    if client is None:
        app = popover(opened(**DISASTER, details="rates"), "every-rate-table-open")
    else:
        app = popover(opened(**DISASTER, client=client), "client-every-rate")
        app = popover(app, "client-every-rate-chart-table-open")
    shown = next(one.value for one in app.dataframe if "people, before" in one.value)
    table = all_rates_of(CoreNumbers.of(view_of(**DISASTER)).unseen).table()
    if client is not None:
        table = table[table["client"] == client]
    for name in ("n_before", "before", "before_low", "before_high", "n", "after", "after_low"):
        mine, theirs = shown[heading(name)], table[name]
        np.testing.assert_allclose(mine.to_numpy(float), theirs.to_numpy(float), atol=6e-5)
