"""Does fairness cost more from scenario 1 to 3? The paper's claim, tested seed by seed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_COSTS = {
    "both": "share of the accuracy lost, both limits from .3 to .05 (%)",
    "global": "points lost, eps_local .05 and eps_global from .3 to .05",
}


@dataclass(frozen=True)
class Trend:
    """A cost over scenarios in their order, the same seeds in each.

    Attributes
    ----------
    means, deviations : tuple of float
        Of each scenario, over seeds.
    rise, standard_error : float
        Of the last less the first, paired by seed.
    p : float
        Page's test of a rise against none, seeds as blocks: how often chance alone would order
        the scenarios so well.
    seeds : int
    """

    means: tuple[float, ...]
    deviations: tuple[float, ...]
    rise: float
    standard_error: float
    p: float
    seeds: int


def scenario_costs(maps: Sequence[Floats]) -> dict[str, Floats]:
    """What fairness costs on each seed's map (eps_local by eps_global, tightest first)."""
    accuracy = np.stack(maps)
    free = accuracy[:, -1, -1]
    return {
        "both": 100 * (free - accuracy[:, 0, 0]) / free,
        "global": 100 * (accuracy[:, 0, -1] - accuracy[:, 0, 0]),
    }


def trend_of(costs: Sequence[Floats]) -> Trend:
    """Test a rise from each scenario to the next, the same seeds in each."""
    from scipy.stats import page_trend_test

    table = np.column_stack(costs)
    rise = table[:, -1] - table[:, 0]
    return Trend(
        tuple(table.mean(axis=0)),
        tuple(table.std(axis=0, ddof=1)),
        float(rise.mean()),
        float(rise.std(ddof=1) / np.sqrt(len(table))),
        float(page_trend_test(table).pvalue),
        len(table),
    )


def trend_table(maps: Mapping[str, Mapping[int, Floats]]) -> list[str]:
    """A table and a sentence of maps by scenario and seed, over the seeds that all have."""
    seeds = sorted(set.intersection(*(set(own) for own in maps.values())))
    by_scenario = [scenario_costs([own[seed] for seed in seeds]) for own in maps.values()]
    found = {name: trend_of([costs[name] for costs in by_scenario]) for name in _COSTS}
    lines = [
        "### From scenario 1 to 3: does fairness cost more?",
        "",
        "Mean over seeds ± the standard deviation between seeds, on validation as the maps are; the rise is paired by "
        "seed, ± one standard error; p is Page's test of a trend, seeds as blocks (one-sided).",
        "",
        "| cost | seeds | " + " | ".join(maps) + " | last less first | p |",
        "| --- " * (len(maps) + 4) + "|",
    ]
    for name, trend in found.items():
        cells = [
            f"{mean:.2f} ± {deviation:.2f}"
            for mean, deviation in zip(trend.means, trend.deviations, strict=True)
        ]
        lines.append(
            f"| {_COSTS[name]} | {trend.seeds} | {' | '.join(cells)} "
            f"| {trend.rise:+.2f} ± {trend.standard_error:.2f} | {trend.p:.3f} |"
        )
    return [*lines, "", *(_sentence(name, trend) for name, trend in found.items()), ""]


def _sentence(name: str, trend: Trend) -> str:
    verdict = "a rise beyond chance" if trend.p < 0.05 else "no rise that chance could not explain"
    return f"- {_COSTS[name]}: {verdict} (p = {trend.p:.3f}, {trend.seeds} seeds)."
