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
from fairfl_core.paper.method_tables import FRAMEWORKS, converged_rows, shown_rows
from fairfl_core.paper.printed import FEDAVG, TABLE_1, TABLE_2, TABLE_3, Convergence, Row
from fairfl_core.people.method_answers import open_method
from pages.shared.caching import cached

__all__ = [
    "LEVELS",
    "Able",
    "Beaten",
    "Beside",
    "Compared",
    "Line",
    "abilities",
    "beaten",
    "compared",
    "costs",
    "notions_of",
    "rows_for",
    "settings",
    "table_2",
]

OURS = "ours"
FIXED = "ours_exact"  # the one of ours that is compared whatever the others reach
RIVALS = ("logofair", "fedfact", "post_ffl")  # rivals that Table 1 does not name
LEVELS = (0.005, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2)  # gaps to compare at
_STEPS = 400  # places at which the front is drawn


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

    `difference` is the best of ours less this, `from_fixed` our exact region less this; None for ours
    itself, and where one of both never gets there.
    """

    method: str
    title: str
    ours: bool
    frontier: MethodFrontier
    at: np.ndarray | None
    difference: Difference | None
    from_fixed: Difference | None = None

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
    def fixed(self) -> Line | None:
        """Our exact region, where it gets there."""
        return next((x for x in self.lines if x.method == FIXED and x.at is not None), None)

    @property
    def front(self) -> tuple[np.ndarray, np.ndarray]:
        """The Pareto front: the most accurate of all methods at every gap that one of them reaches."""
        ends = [gaps for line in self.lines for gaps in line.frontier.gaps]
        gaps = np.unique(np.concatenate([ends, np.linspace(min(ends), max(ends), _STEPS)]))
        best = [
            max(
                float(at.mean())
                for line in self.lines
                if (at := line.frontier.at(gap)) is not None
            )
            for gap in gaps
        ]
        return gaps, np.array(best)


def _frontiers(rows: Sequence[MethodRow], notion: str, which: str) -> dict[str, MethodFrontier]:
    methods = dict.fromkeys(row.method for row in rows if row.notion == notion)
    return {method: frontier_of(rows_of(rows, method, notion), which) for method in methods}


def _best_of_ours(found: dict[str, MethodFrontier], gap: float) -> str | None:
    ours = {
        method: float(at.mean())
        for method, frontier in found.items()
        if method.startswith(OURS) and (at := frontier.at(gap)) is not None
    }
    return max(ours, key=lambda method: ours[method], default=None)


def compared(rows: Sequence[MethodRow], notion: str, which: str, gap: float) -> Compared:
    """Every method's frontier against a gap, and ours against each rival where the gaps agree."""
    found = _frontiers(rows, notion, which)
    best = _best_of_ours(found, gap)

    def less(ours: str | None, method: str) -> Difference | None:
        if ours is None or ours not in found or method.startswith(OURS):
            return None
        return difference(found[ours], found[method], gap)

    lines = [
        Line(
            method,
            frontier.rows[0].title,
            method.startswith(OURS),
            frontier,
            frontier.at(gap),
            less(best, method),
            less(FIXED, method),
        )
        for method, frontier in found.items()
    ]
    lines.sort(key=lambda line: (np.isnan(line.mean), -line.mean, line.title))
    return Compared(gap, tuple(lines), next((x for x in lines if x.method == best), None))


@dataclass(frozen=True)
class Beaten:
    """A rival that beats the best of ours beyond two standard errors, at which of the gaps asked."""

    title: str
    gaps: tuple[float, ...]
    most: float


def beaten(
    rows: Sequence[MethodRow], notion: str, which: str, gaps: Sequence[float]
) -> list[Beaten]:
    """Who beats the best of ours, at which gaps, and by how much at most."""
    found = _frontiers(rows, notion, which)
    rivals = [one for method, one in found.items() if not method.startswith(OURS)]
    by_rival: dict[str, dict[float, float]] = {}
    for gap in gaps:
        best = _best_of_ours(found, gap)
        for rival in rivals if best is not None else ():
            apart = difference(found[str(best)], rival, gap)
            if apart is not None and apart.verdict == "worse":
                by_rival.setdefault(rival.rows[0].title, {})[gap] = -apart.mean
    return [Beaten(title, tuple(at), max(at.values())) for title, at in by_rival.items()]


def settings(rows: Sequence[MethodRow], notion: str) -> pd.DataFrame:
    """Every method and setting of a notion: what `fairfl methods --json` tells, fit to be read."""
    told = [row.to_json() | {"method": row.title} for row in rows if row.notion == notion]
    table = pd.DataFrame(told).drop(columns="experiment")
    table["bytes_per_client"] /= 1000
    digits = {"rounds": 1, "seconds": 1, "bytes_per_client": 0}
    shares = [name for name in table.columns if name.startswith(("accuracy", "gap"))]
    return table.round(digits | dict.fromkeys(shares, 4))


# ------------------------------------------------------------------ the paper's tables


@dataclass(frozen=True, eq=False)
class Beside:
    """A row of ours and what the paper's Tables 2 and 3 print there."""

    framework: str
    row: MethodRow
    printed: Row | None = None
    cost: Convergence | None = None


def table_2(rows: Sequence[MethodRow], experiment: str, notion: str) -> list[Beside]:
    """Table 2: the paper's own settings and the tuned ones, where the paper has the notion."""
    printed = TABLE_2.get(experiment, {})
    return [
        Beside(framework, row, printed[framework])
        for framework in printed
        for row in shown_rows(rows_of(rows, FRAMEWORKS[framework], notion), framework)
    ]


def costs(rows: Sequence[MethodRow], experiment: str, notion: str) -> list[Beside]:
    """Table 3: rounds, seconds and bytes of every framework that the paper names."""
    printed = TABLE_3.get(experiment, {})
    return [
        Beside(framework, row, cost=printed.get(framework))
        for framework in (FEDAVG, *TABLE_1)
        for row in converged_rows(rows_of(rows, FRAMEWORKS[framework], notion), framework)
    ]


@dataclass(frozen=True)
class Able:
    """What a method does here, as its tests have it."""

    name: str
    level: str
    multi_class: bool
    notions: tuple[str, ...]
    approach: str


def abilities(rows: Sequence[MethodRow], experiment: str) -> list[Able]:
    """Table 1's frameworks and the rivals it does not name, by what is told in their manifests."""
    named = {framework: FRAMEWORKS[framework] for framework in TABLE_1}
    titles = {row.method: row.title for row in rows}
    named |= {titles[method]: method for method in RIVALS if method in titles}
    found = []
    for name, method in named.items():
        if method in titles:
            can = open_method(experiment, method).manifest["capabilities"]
            notions = tuple(can["notions"])
            found.append(Able(name, can["level"], can["multi_class"], notions, can["approach"]))
    return found
