"""The map of accuracy over (eps_local, eps_global): what each pair of tolerances costs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from fairfl_core.errors import InputError
from fairfl_core.people.counts import ClientCounts
from fairfl_core.solving.exact.program import ExactProgram
from fairfl_core.solving.program import FairnessProgram, Optimum, check_epsilon
from fairfl_core.solving.slope_merge import mergeable, merged_cells

__all__ = ["Frontier", "exact_frontier", "frontier"]

Floats = NDArray[np.float64]
Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class Frontier:
    """Results on a grid; every table has a row per eps_local and a column per eps_global."""

    eps_local: Floats
    eps_global: Floats
    accuracy: Floats
    gap_global: Floats
    gap_local_mean: Floats
    gap_local_worst: Floats


def frontier(
    counts: ClientCounts,
    notion: str = "eo",
    region: str = "simplex",
    *,
    eps_local: Sequence[float] | Floats,
    eps_global: Sequence[float] | Floats,
    program: FairnessProgram | None = None,
    progress: Progress | None = None,
    method: str = "auto",
) -> Frontier:
    """Solve every pair of a grid.

    Parameters
    ----------
    counts, notion, region
        As for `FairnessProgram`.
    eps_local, eps_global : sequences of float
        The grid; every client gets the same eps_local.
    program : FairnessProgram, optional
        One already built from the same counts, notion and region, to start warm from.
    progress : callable, optional
        Called with (cells done, cells in all).
    method : {"auto", "merge", "program"}
        ``merge`` is exact and fast but only for two labels, two groups and `eop` or `sp`;
        ``program`` re-solves the linear program cell by cell; ``auto`` merges where it can.
    """
    local, overall = _grid(eps_local, eps_global)
    can_merge = mergeable(counts, notion)
    if method == "merge" and not can_merge:
        raise InputError(
            "merging by slope needs two labels, two groups and the notion eop or sp; "
            'use method "program".'
        )
    if method == "merge" or (method == "auto" and can_merge):
        cells = merged_cells(counts, notion, region, local, overall, progress)
    else:
        program = program or FairnessProgram(counts, notion, region)
        if (program.counts, program.notion.name, program.region.name) != (counts, notion, region):
            raise InputError(
                "the program was built from other counts, or another notion or region."
            )
        cells = _program_cells(program.solve, local, overall, progress)
    return _frontier(local, overall, cells)


def exact_frontier(
    program: ExactProgram,
    *,
    eps_local: Sequence[float] | Floats,
    eps_global: Sequence[float] | Floats,
    progress: Progress | None = None,
) -> Frontier:
    """Solve every pair of a grid in the exact region; rules found for one cell serve all.

    A second pass mixes all rules anew in every cell, so that no cell is worse than one with less
    tolerance; `progress` counts both.
    """
    local, overall = _grid(eps_local, eps_global)
    total = local.size * overall.size

    def told(before: int) -> Progress:
        return lambda done, _: progress(before + done, 2 * total) if progress else None

    # From the hardest corner on: there the rules lie that easier cells mix less of.
    _program_cells(program.solve, local, overall, told(0))

    def mix(eps_global: float, eps_local: float) -> Optimum:
        return program.solve(eps_global, eps_local, search=False)

    return _frontier(local, overall, _program_cells(mix, local, overall, told(total)))


def _grid(
    eps_local: Sequence[float] | Floats, eps_global: Sequence[float] | Floats
) -> tuple[Floats, Floats]:
    local = np.array([check_epsilon(value, "eps_local") for value in eps_local])
    overall = np.array([check_epsilon(value, "eps_global") for value in eps_global])
    if not local.size or not overall.size:
        raise InputError("the grid is empty; give at least one epsilon in each direction.")
    return local, overall


def _frontier(local: Floats, overall: Floats, cells: list[Floats]) -> Frontier:
    tables = dict(zip([field.name for field in fields(Frontier)][2:], cells, strict=True))
    return Frontier(local, overall, **tables)


def _program_cells(
    solve: Callable[[float, float], Optimum],
    local: Floats,
    overall: Floats,
    progress: Progress | None,
) -> list[Floats]:
    """Walk the grid as a snake, so that each cell differs from the last by one step."""
    cells = [np.full((local.size, overall.size), np.nan) for _ in range(4)]
    done = 0
    for i, eps_local in enumerate(local):
        columns = range(overall.size)
        for j in columns if i % 2 == 0 else reversed(columns):
            solution = solve(float(overall[j]), float(eps_local))
            gaps = solution.gaps
            found = (solution.accuracy, gaps.overall, gaps.local_mean, gaps.local_worst)
            for table, value in zip(cells, found, strict=True):
                table[i, j] = value
            done += 1
            if progress:
                progress(done, local.size * overall.size)
    return cells
