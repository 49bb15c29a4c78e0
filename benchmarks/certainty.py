"""What a confidence costs in time, as multiples of the same without one in the same run.

`python -m benchmarks.certainty [--runs N]`: 50 states, exact, of N runs (all by default), the skin
lesions, eight groups; and cvxpy with Clarabel on the same second-order cone program, where it is
installed. CPU seconds of one process.
"""

import argparse
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from scipy import sparse

from benchmarks.compared import Rows, seconds
from fairfl_core.data import experiments
from fairfl_core.data.scored import FoldedData, ScoredData
from fairfl_core.evaluation.advice import tightest_limits
from fairfl_core.evaluation.study import run_study, summarise
from fairfl_core.lp.frontier import frontier
from fairfl_core.lp.guarantee import Guarantee
from fairfl_core.lp.program import FairnessProgram
from tests.helpers.strategies import biased

STATES, LESIONS = "public_coverage_cross_fitted", "ham10000_cross_fitted"
EIGHT = "public_coverage_sex_race_cross_fitted"
AT = (0.05, 0.1)
MOVES = ((0.03, 0.1), (0.05, 0.075), (0.02, 0.15))
GRID = np.linspace(0, 0.3, 21)
COARSE = (0.0, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 1.0)
EACH, ALL = Guarantee(scope="each"), Guarantee()


class Page:
    """The numbers of an experiment's page: every run solved, judged and summarised.

    Attributes
    ----------
    programs : dict
        By seed.
    """

    def __init__(self, name, region, guarantee, runs):
        experiment = experiments.open(name)
        self.programs, self.unseen = {}, []
        for seed in experiment.seeds[:runs]:
            people = ScoredData.from_experiment(experiment, seed, experiment.fit_split)
            self.programs[seed] = FairnessProgram(
                people if region == "exact" else people.counts,
                experiment.notion,
                region,
                rates="labels",
                guarantee=guarantee,
            )
            self.unseen.append(FoldedData.from_experiment(experiment, seed))

    def numbers(self, limits):
        """What the page tells first."""
        return summarise(run_study(list(self.programs.items()), self.unseen, *limits))

    @property
    def one(self):
        """The first run's program."""
        return next(iter(self.programs.values()))


def first_visit(name, region, guarantee, runs):
    page = Page(name, region, guarantee, runs)
    page.numbers(AT)
    return page


def moved(page):
    """CPU seconds of a move: the median of some."""
    return float(np.median([seconds(lambda m=m: page.numbers(m))[0] for m in MOVES]))


def on_states(rows, runs):
    first, plain = seconds(lambda: first_visit(STATES, "exact", None, runs))
    move = moved(plain)
    full, _ = seconds(lambda: frontier(plain.one, eps_local=GRID, eps_global=GRID))
    for guarantee, name in ((EACH, "each"), (ALL, "all at once")):
        pressed, page = seconds(lambda g=guarantee: first_visit(STATES, "exact", g, runs))
        rows.compare(f"numbers after pressing “{name}”", pressed, first, 3)
        coarse, _ = seconds(lambda p=page: frontier(p.one, eps_local=COARSE, eps_global=COARSE))
        rows.compare(f"the same, and the coarse map, “{name}”", pressed + coarse, first, 6)
        rows.compare(f"a move, “{name}”", moved(page), move, 4)
        if guarantee is EACH:
            whole, _ = seconds(lambda p=page: frontier(p.one, eps_local=GRID, eps_global=GRID))
            rows.compare("map 21 x 21, one run", whole, full, 15)
            spent, _ = seconds(lambda p=page: tightest_limits(list(p.programs.values()), 1.0))
            rows.compare("advice: at most 1 point (wanted: 2 s)", spent, move)


def on_lesions(rows):
    for region in ("simplex", "exact"):
        page = first_visit(LESIONS, region, None, 1)
        if region == "simplex":
            simplex = moved(page)
            sure = first_visit(LESIONS, region, ALL, 1)
            rows.compare("skin lesions, simplex: a move, “all at once”", moved(sure), simplex)
        else:
            rows.compare("skin lesions, exact: a move beside simplex", moved(page), simplex, 4)
            coarse, _ = seconds(
                lambda p=page: frontier(p.one, eps_local=COARSE, eps_global=COARSE)
            )
            rows.compare("skin lesions, exact: coarse map (wanted: 3 s)", coarse, simplex)


def on_eight_groups(rows):
    experiment = experiments.open(EIGHT)
    people = ScoredData.from_experiment(experiment, 0, experiment.fit_split)
    plain, _ = seconds(lambda: FairnessProgram(people, "eo", "exact", rates="labels").solve(*AT))
    for limits, words in (((1.0, AT[1]), "no overall limit"), (AT, "both limits")):
        spent, _ = seconds(
            lambda limits=limits: FairnessProgram(
                people, "eo", "exact", rates="labels", guarantee=ALL
            ).solve(*limits)
        )
        rows.compare(f"eight groups, eo, exact, all at once: {words}", spent, plain)


def by_cvxpy(program, limits):
    """The same cone program by cvxpy and Clarabel, from its matrices on."""
    import cvxpy as cp

    clients = int(program.rules.client.max()) + 1
    lower, upper = program.constraints.bounds(limits[0], np.full(clients, limits[1]))
    low, high = np.isfinite(lower), np.isfinite(upper)
    matrix = sparse.vstack([program.matrix[high], -program.matrix[low]])
    x = cp.Variable(len(program.cost), nonneg=True)
    cones = [cp.norm(cone[1:] @ x) <= (cone[:1] @ x)[0] for cone in program.cones]
    kept = [matrix @ x <= np.append(upper[high], -lower[low]), program.blocks @ x == 1, *cones]
    return cp.Problem(cp.Minimize(program.cost @ x), kept).solve(solver="CLARABEL")


def against_cvxpy(rows):
    import cvxpy  # noqa: F401  # what is loaded once is loaded

    for clients in (50, 1000):
        counts = biased(clients, 2, rows=2000)
        program = FairnessProgram(counts, "eo", "simplex", guarantee=ALL)
        program.solve(0.04, 0.09)  # optimism is measured once; no answer to what is asked below
        ours, _ = seconds(lambda p=program: p.solve(*AT))
        theirs, _ = seconds(lambda p=program: by_cvxpy(p.linear_program, AT))
        rows.compare(
            f"cvxpy + Clarabel beside ours, {clients:,} clients (wanted: 3x)", theirs, ours
        )


class Ratios(Rows):
    """Times as multiples of others."""

    def compare(self, what, spent, beside, wanted=None):
        """Compare two times."""
        limit = "" if wanted is None else f"{wanted}x"
        self.add(what, f"{spent:.3g}", f"{beside:.3g}", f"{spent / beside:.1f}x", limit)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=None, help="of the 50 states; all by default")
    columns = ("what", "seconds", "beside", "ratio", "wanted at most")
    rows = Ratios("CPU seconds of one process, one run", *columns)
    on_states(rows, parser.parse_args().runs)
    on_lesions(rows)
    try:
        against_cvxpy(rows)
    except ImportError:
        print("cvxpy is not installed: the yardstick is left out (pip install cvxpy).")
    on_eight_groups(rows)
    rows.show()


if __name__ == "__main__":
    main()
