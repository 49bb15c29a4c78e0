"""A solve, a move, and a 21 x 21 map: ours against the authors' way, solvers and peers, in one run.

The authors' way makes the dense matrices of the paper's LP anew for every pair of epsilons and
calls `scipy.optimize.linprog` (see `research.paper.original_form`); a map is the mean of the
cells timed, times 441. cvxpy gets the same sparse program as ours, where it is installed (see
README.md). On two networks: `synthetic`, whose groups are alike, and `biased`, whose overall rows
bind. fairlearn and AIF360 get the shipped PublicCoverage scores as one client without a gap. At the
end 20,000 clients. CPU seconds of one process.
"""

import os
import resource
from dataclasses import replace
from itertools import product

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from benchmarks.compared import Rows, seconds
from fairfl_core.data import experiments
from fairfl_core.data.scored import ScoredData
from fairfl_core.lp.frontier import frontier
from fairfl_core.lp.highs import FullSolver
from fairfl_core.lp.program import FairnessProgram
from research.paper.original_form import paper_form
from tests.helpers.peers import fairlearn
from tests.helpers.scored import exact_program
from tests.helpers.strategies import biased, synthetic

GRID = np.linspace(0, 0.3, 21)
AT = (0.02, 0.05)  # where one solve is timed: eps_global, eps_local
INSTANCES = {
    "synthetic": lambda clients, labels: synthetic(clients, 2, labels, rows=2000),
    "biased": lambda clients, labels: biased(clients, labels, rows=2000),
}
FAIRLEARN = {
    "eo": "equalized_odds",
    "sp": "demographic_parity",
    "eop": "true_positive_rate_parity",
}
rng = np.random.default_rng(0)


def authors(counts, notion, cells):
    """Mean seconds of one pair of epsilons, the authors' way."""
    pairs = rng.choice(GRID, (cells, 2))
    return np.mean([seconds(lambda p=p: paper_form(counts, notion, *p))[0] for p in pairs])


def moved(program):
    """Seconds of a re-solve after a slider moved: the median of 60."""
    pairs = [tuple(map(float, pair)) for pair in rng.choice(GRID, (60, 2))]
    return np.median([seconds(lambda pair=pair: program.solve(*pair))[0] for pair in pairs])


def whole_map(counts, notion="eo", region="simplex"):
    program = FairnessProgram(counts, notion, region)
    return frontier(program, eps_local=GRID, eps_global=GRID)


def cell_by_cell(program):
    """The whole program in HiGHS, every cell of the map warm from the one before it."""
    solver, clients = FullSolver(program.linear_program), len(program.counts.clients)
    for eps_local in GRID:
        for eps_global in GRID:
            solver.solve(float(eps_global), np.full(clients, eps_local), warm=True)


class Cvxpy:
    """The same program for cvxpy: limits are parameters, so that a move compiles nothing."""

    def __init__(self, program):
        import cvxpy as cp

        lp = program.linear_program
        beta, self.limits = (
            cp.Variable(len(lp.rules), nonneg=True),
            cp.Parameter(len(lp.constraints), nonneg=True),
        )
        gain = lp.rules.correct / program.counts.n
        self.problem = cp.Problem(
            cp.Maximize(gain @ beta),
            [
                lp.blocks @ beta == 1,
                lp.matrix @ beta <= self.limits,
                -lp.matrix @ beta <= self.limits,
            ],
        )
        self._rows, self._clients = lp.constraints, len(program.counts.clients)

    def solve(self, solver, eps_global=AT[0], eps_local=AT[1]):
        """The most accuracy within these limits."""
        local = np.full(self._clients, eps_local)
        self.limits.value = self._rows.bounds(eps_global, local)[1]
        return self.problem.solve(solver=solver)


class Peers(Rows):
    """Ours beside others."""

    def compare(self, what, network, counts, peer, slow, fast, wanted=""):
        """Compare two times."""
        shape = (f"{len(counts.clients):,}", len(counts.labels))
        times = (written(slow), written(fast), f"{slow / fast:,.1f}x")
        self.add(what, network, *shape, peer, *times, wanted and f"{wanted}x")


def written(value):
    return f"{value:.2f} s" if value >= 1 else f"{1000 * value:.3g} ms"


def against_the_authors(rows):
    for network, labels in product(("synthetic", "biased"), (2, 5)):
        counts = INSTANCES[network](50, labels)
        one = authors(counts, "eo", 24)
        program = FairnessProgram(counts, "eo")
        rows.compare("move", network, counts, "authors", one, moved(program))
        fast, found = seconds(lambda counts=counts: whole_map(counts), 3)
        reference = paper_form(counts, "eo", float(GRID[1]), float(GRID[1])).accuracy
        assert abs(reference - found.accuracy[1, 1]) < 1e-7
        rows.compare("map", network, counts, "authors", 441 * one, fast, 30)


def against_cvxpy(rows, clients):
    for network, make in INSTANCES.items():
        counts = make(clients, 2)
        ours, solution = seconds(lambda counts=counts: FairnessProgram(counts, "eo").solve(*AT), 3)
        program = FairnessProgram(counts, "eo")
        move = moved(program)
        for solver in ("CLARABEL", "HIGHS"):
            peer = f"cvxpy, {solver.title()}"
            cold, value = seconds(lambda s=solver, p=program: Cvxpy(p).solve(s), 3)
            assert abs(value - solution.accuracy) < 1e-6
            wanted = 2 if (solver, clients) == ("CLARABEL", 1000) else ""
            rows.compare("cold solve", network, counts, peer, cold, ours, wanted)
            kept = Cvxpy(program)
            kept.solve(solver)
            again = [
                seconds(lambda s=solver, k=kept, e=e: k.solve(s, 0.03, e))[0] for e in (0.1, 0.2)
            ]
            rows.compare("move", network, counts, peer, np.median(again), move)


def against_warm_highs(rows):
    counts = INSTANCES["biased"](1000, 2)
    fast, _ = seconds(lambda: whole_map(counts))
    slow, _ = seconds(lambda: cell_by_cell(FairnessProgram(counts, "eo")))
    rows.compare("map", "biased", counts, "HiGHS, warm", slow, fast, 3)


def one_client():
    """The people of PublicCoverage that are fitted on, as one client."""
    people = ScoredData.from_experiment(experiments.open("public_coverage"), 0, "validation")
    return replace(people, client=np.zeros_like(people.client), clients=("all",))


def against_fairlearn(rows):
    """`ThresholdOptimizer` with a grid of 20,000, beside the exact region: as accurate as it."""
    people = one_client()
    for notion, constraint in FAIRLEARN.items():
        slow, theirs = seconds(lambda c=constraint: fairlearn(people, c, grid_size=20_000))
        fast, ours = seconds(lambda n=notion: exact_program(people, n).solve(0.0, 0.0))
        assert ours.accuracy > theirs - 1e-4
        rows.compare(f"exact, {notion}", "PublicCoverage", people, "fairlearn", slow, fast)


def against_aif360(rows):
    """`EqOddsPostprocessing`, which draws from a lottery over the model's answers: our kernel."""
    import pandas as pd
    from aif360.algorithms.postprocessing import EqOddsPostprocessing
    from aif360.datasets import BinaryLabelDataset

    people = one_client()

    def table(answer):
        frame = pd.DataFrame({"group": people.group, "label": answer}, dtype=float)
        names = {"label_names": ["label"], "protected_attribute_names": ["group"]}
        return BinaryLabelDataset(df=frame, **names)

    truth, predicted = table(people.label), table(people.predicted)
    sides = {"privileged_groups": [{"group": 1.0}], "unprivileged_groups": [{"group": 0.0}]}
    slow, fitted = seconds(lambda: EqOddsPostprocessing(**sides, seed=0).fit(truth, predicted), 2)
    fast, ours = seconds(lambda: FairnessProgram(people.counts, "eo", "kernel").solve(0, 0), 2)
    answer = fitted.predict(predicted).labels.ravel()
    rows.compare("kernel, eo", "PublicCoverage", people, "AIF360", slow, fast)
    print(f"accuracy: AIF360 {(answer == people.label).mean():.4f}, ours {ours.accuracy:.4f}")


def twenty_thousand():
    """Every notion of two labels on both regions: a solve and a map, and the memory of it all."""
    counts = biased(20_000, 2, rows=400)
    for region, notion in product(("simplex", "kernel"), ("sp", "eop", "eo", "eo-full")):
        if (notion, region) == ("eo-full", "simplex"):
            continue
        cold, _ = seconds(lambda n=notion, r=region: FairnessProgram(counts, n, r).solve(*AT))
        whole, _ = seconds(lambda n=notion, r=region: whole_map(counts, n, r))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        row = f"{region:>8} {notion:>8}  solve {written(cold):>8}  map {written(whole):>8}"
        print(f"20,000 clients: {row}  peak so far {peak:.2f} GB", flush=True)


def main():
    columns = ("what", "network", "K", "N", "peer", "its time", "ours", "ratio", "wanted")
    rows = Peers("eo, simplex; CPU seconds of one process, one run", *columns)
    against_the_authors(rows)
    for compare, more in (
        (against_cvxpy, (50,)),
        (against_cvxpy, (1000,)),
        (against_fairlearn, ()),
        (against_aif360, ()),
    ):
        try:
            compare(rows, *more)
        except ImportError as error:
            print(f"{error.name} is not installed: see benchmarks/README.md")
    against_warm_highs(rows)
    few = FairnessProgram(INSTANCES["synthetic"](1000, 2), "eop")
    ours, _ = seconds(lambda: frontier(few, eps_local=GRID, eps_global=GRID), 3)
    rows.compare(
        "map, eop", "synthetic", few.counts, "authors", 441 * authors(few.counts, "eop", 1), ours
    )
    rows.show()
    twenty_thousand()


if __name__ == "__main__":
    main()
