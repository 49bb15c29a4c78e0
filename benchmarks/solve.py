"""One solve, and a 21 x 21 map: ours against the authors' way, in one run.

The authors' way makes the dense matrices of the paper's LP anew for every pair of epsilons and
calls `scipy.optimize.linprog` (see `fairfl_core.paper.original_form`). Where their whole map would take
long, the cells timed are said and the map is their mean times 441.
"""

import sys
import time
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from fairfl_core.paper.original_form import paper_form  # noqa: E402
from fairfl_core.solving.answer_program import FairnessProgram  # noqa: E402
from fairfl_core.solving.frontier import frontier  # noqa: E402
from tests.helpers.strategies import synthetic  # noqa: E402

GRID = np.linspace(0, 0.3, 21)
rng = np.random.default_rng(0)


def seconds(call, times=1):
    begun = time.perf_counter()
    for _ in range(times):
        call()
    return (time.perf_counter() - begun) / times


def theirs(counts, notion, cells):
    pairs = rng.choice(GRID, (cells, 2))
    return np.mean([seconds(lambda p=p: paper_form(counts, notion, *p)) for p in pairs])


def agree(counts, notion, found):
    """The same accuracy both ways at the corner that is hardest."""
    reference = paper_form(counts, notion, float(GRID[1]), float(GRID[1])).accuracy
    assert abs(reference - found.accuracy[1, 1]) < 1e-7


def main():
    table = Table(title="ours against the authors' way (dense linprog), one run")
    for column in ("what", "notion", "K", "N", "theirs", "cells timed", "ours", "ratio", "wanted"):
        table.add_column(column, justify="right")

    def row(what, notion, counts, slow, cells, fast, wanted):
        shape = (str(len(counts.clients)), str(len(counts.labels)))
        table.add_row(
            what,
            notion,
            *shape,
            f"{slow:.4g} s",
            str(cells),
            f"{fast:.4g} s",
            f"{slow / fast:,.0f}x",
            f"{wanted}x",
        )

    for labels, wanted, cells in ((2, 20, 60), (5, 25, 40)):
        counts = synthetic(50, 2, labels, rows=2000)
        program = FairnessProgram(counts, "eo")
        program.solve(0.05, 0.05)
        pairs = iter([tuple(map(float, pair)) for pair in rng.choice(GRID, (200, 2))])
        warm = seconds(lambda pairs=pairs, program=program: program.solve(*next(pairs)), 200)
        one = theirs(counts, "eo", cells)
        row("warm re-solve", "eo", counts, one, cells, warm, 10)
        kept = {}

        def whole(counts=counts, kept=kept):
            kept["map"] = frontier(FairnessProgram(counts, "eo"), eps_local=GRID, eps_global=GRID)

        row("21x21 map", "eo", counts, 441 * one, cells, seconds(whole), wanted)
        agree(counts, "eo", kept["map"])
    counts = synthetic(1000, 2, 2, rows=2000)
    few = FairnessProgram(counts, "eop")
    merged = seconds(lambda: frontier(few, eps_local=GRID, eps_global=GRID), 3)
    row("21x21 map, merged", "eop", counts, 441 * theirs(counts, "eop", 1), 1, merged, 1000)
    Console(width=110).print(table)


if __name__ == "__main__":
    main()
