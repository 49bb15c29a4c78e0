"""A year of four hospitals, made up: the fourth stops keeping its limit in July."""

import numpy as np

from fairfl_core.data.counts import ClientCounts
from fairfl_core.monitoring.months import Month

__all__ = ["example_year"]

_NAMES = ("North", "East", "South", "West"), ("women", "men"), ("well", "ill"), "ill"


def example_year() -> tuple[ClientCounts, list[Month]]:
    """The people of the decision, and twelve months since; the same ones every time.

    Base rates rise everywhere; from July on West recognises fewer of its ill women and more of its
    ill men.
    """
    rng = np.random.default_rng(7)

    def counted(n: int, ill: float, *, broken: bool) -> ClientCounts:
        table = np.zeros((4, 2, 2, 2), int)
        for client in range(4):
            for group in range(2):
                sick = rng.binomial(n, ill + 0.03 * client)
                shift = (-0.10, 0.06)[group] if broken and client == 3 else 0.0
                found = rng.binomial(sick, 0.80 + shift)
                false = rng.binomial(n - sick, 0.12)
                table[client, group] = [[n - sick - false, false], [sick - found, found]]
        return ClientCounts(table, *_NAMES)

    baseline = counted(2000, 0.30, broken=False)
    months = [
        Month.of(counted(600, 0.30 + 0.01 * m, broken=m >= 7), f"2026-{m:02d}")
        for m in range(1, 13)
    ]
    return baseline, months
