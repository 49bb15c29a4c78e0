"""Methods compared at equal held-out gaps: what the page shows, as plain values."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from fairfl_core.evaluation.methods import (
    Difference,
    MethodFrontier,
    MethodRow,
    difference,
    frontier_of,
    method_rows,
    rows_of,
)
from fairfl_core.paper.printed import TABLE_2, TABLE_3
from pages.components.session.cache import cached

__all__ = [
    "Compared",
    "Line",
    "beside_the_paper",
    "compared",
    "notions_of",
    "rows_for",
    "settings",
]

OURS = "ours"
# Under which name the paper's tables have a method that is shipped.
PRINTED = {
    "fedavg": "FedAvg",
    "fcfl": "FCFL",
    "fairfed": "FairFed",
    "fair_fate": "Fair-FATE",
    "equifl": "EquiFL",
    "ours_simplex": "Ours",
}


@cached(8)
def rows_for(experiment: str) -> tuple[MethodRow, ...]:
    """Every method and setting shipped for an experiment, on test people."""
    return tuple(method_rows(experiment))


def notions_of(rows: Sequence[MethodRow]) -> tuple[str, ...]:
    """The notions that rivals were trained or fitted for, the most common first."""
    rivals = [row.notion for row in rows if not row.method.startswith(OURS)]
    return tuple(sorted(set(rivals), key=lambda notion: -rivals.count(notion)))


@dataclass(frozen=True, eq=False)
class Line:
    """A method's frontier, its accuracy at the gap compared, and how ours compares with it.

    `difference` is ours less this; None for ours itself, and where one of both never gets there.
    """

    method: str
    title: str
    ours: bool
    frontier: MethodFrontier
    at: np.ndarray | None
    difference: Difference | None

    @property
    def pooled(self) -> bool:
        """Whether it sees everyone's rows in one place and knows nothing of clients."""
        return self.frontier.rows[0].pooled

    @property
    def mean(self) -> float:
        """Its accuracy at the gap, the mean over seeds; NaN where it never gets there."""
        return float("nan") if self.at is None else float(self.at.mean())


@dataclass(frozen=True, eq=False)
class Compared:
    """All methods at one held-out gap, the most accurate first; `best` is the best of ours."""

    gap: float
    lines: tuple[Line, ...]
    best: Line | None

    @property
    def front(self) -> tuple[np.ndarray, np.ndarray]:
        """The Pareto front over all methods: gaps and accuracies of settings that none beats."""
        points = sorted(
            (gap, -accuracy.mean())
            for line in self.lines
            for gap, accuracy in zip(line.frontier.gaps, line.frontier.accuracy, strict=True)
        )
        gaps, accuracies, best = [], [], -np.inf
        for gap, negative in points:
            if -negative > best:
                best = -negative
                gaps.append(gap)
                accuracies.append(best)
        return np.array(gaps), np.array(accuracies)


def compared(rows: Sequence[MethodRow], notion: str, which: str, gap: float) -> Compared:
    """Every method's frontier against a gap, and ours against each rival where the gaps agree."""
    found = {}
    for method in dict.fromkeys(row.method for row in rows):
        mine = rows_of(rows, method, notion)
        if mine:
            found[method] = frontier_of(mine, which)
    at = {method: frontier.at(gap) for method, frontier in found.items()}
    ours = {
        method: float(accuracy.mean())
        for method, accuracy in at.items()
        if method.startswith(OURS) and accuracy is not None
    }
    best = max(ours, key=lambda method: ours[method], default=None)
    lines = [
        Line(
            method,
            frontier.rows[0].title,
            method.startswith(OURS),
            frontier,
            at[method],
            None
            if best is None or method.startswith(OURS)
            else difference(found[best], frontier, gap),
        )
        for method, frontier in found.items()
    ]
    lines.sort(key=lambda line: (np.isnan(line.mean), -line.mean, line.title))
    return Compared(gap, tuple(lines), next((x for x in lines if x.method == best), None))


def settings(rows: Sequence[MethodRow], notion: str) -> pd.DataFrame:
    """Every method and setting of a notion, as `fairfl methods --json` tells it."""
    return pd.DataFrame([row.to_json() for row in rows if row.notion == notion]).drop(
        columns="experiment"
    )


def beside_the_paper(rows: Sequence[MethodRow], experiment: str, notion: str) -> pd.DataFrame:
    """Tables 2 and 3 of the paper beside what the same settings give here."""
    table = []
    for method, printed in PRINTED.items():
        there = TABLE_2.get(experiment, {}).get(printed)
        mine = [row for row in rows_of(rows, method, notion) if row.role == "paper"]
        mine = mine or rows_of(rows, method, notion)[:1]
        if there is None or not mine:
            continue
        row, cost = mine[0], TABLE_3.get(experiment, {}).get(printed)
        table.append(
            {
                "method": row.title,
                "setting": row.setting,
                "seeds": len(row.seeds),
                "accuracy": float(row.accuracy.mean()),
                "accuracy_paper": there.accuracy.mean,
                "gap_global": row.gap("gap_global"),
                "gap_global_paper": there.overall.mean,
                "gap_local_mean": row.gap("gap_local_mean"),
                "gap_local_mean_paper": there.local.mean,
                "rounds": row.rounds,
                "rounds_paper": float("nan") if cost is None else float(cost.rounds),
                "seconds": row.seconds,
                "seconds_paper": float("nan") if cost is None else cost.seconds,
                "bytes_per_client": row.bytes_per_client,
            }
        )
    return pd.DataFrame(table)
