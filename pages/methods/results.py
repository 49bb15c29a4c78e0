"""Methods compared at equal gaps on new people, and the paper's figures beside ours, as values."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from fairfl_core._io.files import APP_ROOT
from fairfl_core.data.experiments import open_method
from fairfl_core.evaluation.methods import (
    GRID,
    Difference,
    MethodFrontier,
    MethodRow,
    difference,
    frontier_of,
    method_rows,
    rows_of,
)
from fairfl_core.lp.frontier import Frontier
from pages.shared.catalogue import bundled, cached
from pages.shared.results import heat_of
from pages.shared.view import PAPERS_REGION, read_view

FAIRFL = "ours"  # how the methods of this package are called in data/methods
LEVELS = (0.005, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2)  # gaps to compare at
POOLED = "pooled"
DOCUMENT = APP_ROOT / "docs" / "reproduction.md"
FIGURE_1 = ("adult", "public_coverage", "ham10000")


@cached(8)
def rows_for(experiment: str) -> tuple[MethodRow, ...]:
    """Every method and setting shipped for an experiment, on test people."""
    return tuple(method_rows(experiment))


@cached(8)
def families_of(experiment: str) -> dict[str, str]:
    """Where each method acts: before, in or after training; or on everyone's rows at one place."""
    found = {}
    for row in rows_for(experiment):
        manifest = open_method(experiment, row.method).manifest
        approach = (manifest.get("capabilities") or {}).get("approach") or row.method
        approach = "in-processing" if approach == "aggregation" else approach
        found[row.method] = POOLED if row.pooled else str(approach)
    return found


def notions_of(rows: Sequence[MethodRow]) -> tuple[str, ...]:
    """The notions that other methods were trained or fitted for, the most common first."""
    others = [row.notion for row in rows if not row.method.startswith(FAIRFL)]
    return tuple(sorted(set(others), key=lambda notion: -others.count(notion)))


@dataclass(frozen=True, eq=False)
class Line:
    """A method's frontier, its accuracy at the gap compared, and how fairfl compares with it.

    `difference` is the best variant of fairfl less this; None for fairfl itself, and where one of
    both does not reach the gap.
    """

    method: str
    title: str
    frontier: MethodFrontier
    at: np.ndarray | None
    difference: Difference | None
    family: str = ""

    @property
    def is_fairfl(self) -> bool:
        """Whether it is a variant of this package."""
        return self.method.startswith(FAIRFL)

    @property
    def mean(self) -> float:
        """Its accuracy at the gap, the mean over seeds; NaN where it does not reach it."""
        return float("nan") if self.at is None else float(self.at.mean())

    @property
    def verdict(self) -> str:
        """How accurate it is beside fairfl: more, less or as accurate; or it cannot be compared."""
        if self.difference is None:
            return "fairfl" if self.is_fairfl and self.at is not None else "unreached"
        return {"better": "less", "worse": "more", "alike": "alike"}[self.difference.verdict]


@dataclass(frozen=True, eq=False)
class Compared:
    """All methods at one gap on new people, the most accurate first, then who comes nearest."""

    gap: float
    lines: tuple[Line, ...]

    @property
    def fairfl(self) -> Line | None:
        """The variant of fairfl that is most accurate, or comes nearest to the gap."""
        return next((line for line in self.lines if line.is_fairfl), None)

    @property
    def best(self) -> Line | None:
        """The same, where it reaches the gap."""
        found = self.fairfl
        return found if found is not None and found.at is not None else None

    @property
    def others(self) -> tuple[Line, ...]:
        """Methods that are no variant of fairfl."""
        return tuple(line for line in self.lines if not line.is_fairfl)

    @property
    def ranked(self) -> tuple[Line, ...]:
        """One line a method: of the variants of fairfl the first alone."""
        return tuple(line for line in self.lines if not line.is_fairfl or line is self.fairfl)

    @property
    def labelled(self) -> tuple[Line, ...]:
        """Those to be told apart by name: fairfl, and the first of every family."""
        first: dict[str, Line] = {}
        for line in self.others:
            first.setdefault(line.family, line)
        return tuple(line for line in self.ranked if line.is_fairfl or line in first.values())

    def with_verdict(self, verdict: str) -> tuple[Line, ...]:
        """Other methods that compare so."""
        return tuple(line for line in self.others if line.verdict == verdict)


def _frontiers(rows: Sequence[MethodRow], notion: str, which: str) -> dict[str, MethodFrontier]:
    methods = dict.fromkeys(row.method for row in rows if row.notion == notion)
    return {method: frontier_of(rows_of(rows, method, notion), which) for method in methods}


def _best_variant(found: dict[str, MethodFrontier], gap: float) -> str | None:
    variants = {
        method: float(at.mean())
        for method, frontier in found.items()
        if method.startswith(FAIRFL) and (at := frontier.at(gap)) is not None
    }
    return max(variants, key=lambda method: variants[method], default=None)


def compared(
    rows: Sequence[MethodRow],
    notion: str,
    which: str,
    gap: float,
    families: dict[str, str] | None = None,
) -> Compared:
    """Every method's frontier against a gap, and fairfl against each other where the gaps agree."""
    found = _frontiers(rows, notion, which)
    best = _best_variant(found, gap)

    def less(method: str) -> Difference | None:
        if best is None or method.startswith(FAIRFL):
            return None
        return difference(found[best], found[method], gap)

    lines = [
        Line(
            method,
            frontier.rows[0].title,
            frontier,
            frontier.at(gap),
            less(method),
            (families or {}).get(method, method),
        )
        for method, frontier in found.items()
    ]
    lines.sort(key=lambda x: (np.isnan(x.mean), -x.mean, x.frontier.gaps[0], x.title))
    return Compared(gap, tuple(lines))


def settings(rows: Sequence[MethodRow], notion: str) -> pd.DataFrame:
    """Every method and setting of a notion: what `python -m research methods --json` tells, fit to be read."""
    shown = [row.to_json() | {"method": row.title} for row in rows if row.notion == notion]
    table = pd.DataFrame(shown).drop(columns="experiment")
    table["bytes_per_client"] /= 1000
    digits = {"rounds": 1, "seconds": 1, "bytes_per_client": 0}
    shares = [name for name in table.columns if name.startswith(("accuracy", "gap"))]
    return table.round(digits | dict.fromkeys(shares, 4))


# -------------------------------------------------------------------- the paper's figure and tables


def paper_table(table: str, experiment: str, notion: str) -> str:
    """A table of the paper beside what runs here, as Markdown; empty where the paper has none.

    It is a section of the reproduction, which `python -m research reproduce` writes and tests/research checks.
    """
    heading = {
        "table1": "### Table 1:",
        "table2": f"### Table 2: {experiment} ({notion})",
        "table3": "### Table 3:",
        "table4": "## Privacy:",
    }[table]
    rest = DOCUMENT.read_text(encoding="utf-8").partition(f"\n{heading}")[2]
    section = re.split(r"\n#+ ", rest)[0].partition("\n")[2].strip()
    return re.sub(r"\bOurs\b", "fairfl", section)


def figure_1(name: str) -> Frontier:
    """Accuracy over the paper's six limits: its region, its split, all runs, fitted people."""
    link = {"experiment": name, "split": "paper", "region": PAPERS_REGION}
    heat = heat_of(read_view(link, bundled())[0], GRID)
    inside = slice(len(GRID))  # a map ends with no limit, the paper's at .30
    return replace(
        heat,
        eps_local=heat.eps_local[inside],
        eps_global=heat.eps_global[inside],
        accuracy=heat.accuracy[inside, inside],
        gap_global=heat.gap_global[inside, inside],
        gap_local_mean=heat.gap_local_mean[inside, inside],
        gap_local_worst=heat.gap_local_worst[inside, inside],
    )
