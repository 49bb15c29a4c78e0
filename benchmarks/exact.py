"""The exact region: its speed, and what peers make of the same people, in one run.

`python benchmarks/exact.py` on the shipped PublicCoverage (K = 50, N = 2) and Adult scores.
"""

import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))


from fairfl_core.data import experiments  # noqa: E402
from fairfl_core.data.calibration import Calibration  # noqa: E402
from fairfl_core.data.scored import ScoredData  # noqa: E402
from fairfl_core.evaluation.evaluation import evaluate, evaluate_answers  # noqa: E402
from fairfl_core.fairness.notions import Notion  # noqa: E402
from fairfl_core.lp.frontier import frontier  # noqa: E402
from fairfl_core.lp.program import FairnessProgram  # noqa: E402
from fairfl_core.lp.rate_estimates import RATES  # noqa: E402
from fairfl_core.predictors.load import predictor_of  # noqa: E402
from research.rivals.logofair import fit_logofair  # noqa: E402
from tests.helpers.peers import fairlearn  # noqa: E402
from tests.helpers.scored import (
    exact_program,  # noqa: E402
    scored_network,  # noqa: E402
)

GRID = np.linspace(0, 0.3, 21)
NAMES = {"eo": "equalized_odds", "sp": "demographic_parity", "eop": "true_positive_rate_parity"}


def timed(call):
    """What a call gives, and its CPU seconds."""
    begun = time.process_time()
    found = call()
    return found, time.process_time() - begun


def people_of(name, split, seed=0):
    return ScoredData.from_experiment(experiments.open(name), seed, split)


def shown(title, columns, rows):
    table = Table(title=title, title_justify="left")
    for column in columns:
        table.add_column(column, justify="right")
    for row in rows:
        table.add_row(*row)
    Console(width=120).print(table)


def speed():
    people = people_of("public_coverage", "validation")
    rng = np.random.default_rng(0)
    rows = []
    for rates in RATES:
        program, build = timed(
            lambda rates=rates: FairnessProgram(people, "eop", "exact", rates=rates)
        )
        solution, solve = timed(lambda program=program: program.solve(0.01, 0.01))
        moves = [
            timed(lambda program=program: program.solve(*map(float, rng.choice(GRID[:8], 2))))[1]
            for _ in range(40)
        ]
        fresh = FairnessProgram(people, "eop", "exact", rates=rates)
        _, whole = timed(lambda fresh=fresh: frontier(fresh, eps_local=GRID, eps_global=GRID))
        rows.append(
            [
                rates,
                f"{build:.2f} s",
                f"{solve:.3f} s",
                str(solution.rounds),
                f"{solution.bound.upper - solution.accuracy:.1e}",
                f"{1000 * np.median(moves):.0f} ms",
                f"{1000 * np.max(moves):.0f} ms",
                f"{whole:.1f} s",
            ]
        )
    shown(
        "PublicCoverage, K = 50, N = 2, one seed, eop (wanted: 2 s to a gap of 1e-4, 50 ms a move, "
        "10 s a map)",
        ["rates", "build", "solve", "rounds", "gap", "a move", "slowest", "21x21 map"],
        rows,
    )


def many_clients():
    """Two thousand clients of 500 people each; the first build calibrates and finds the corners."""
    rows = []
    for rates in ("labels", "shrunk"):
        people = scored_network(2000, 2, 2, rows=500)
        for notion in NAMES:
            program, build = timed(
                lambda people=people, notion=notion, rates=rates: FairnessProgram(
                    people, notion, "exact", rates=rates
                )
            )
            solve = timed(lambda program=program: program.solve(0.02, 0.03))[1]
            rows.append([rates, notion, f"{build:.2f} s", f"{solve:.2f} s"])
    shown(f"2,000 clients, {len(people):,} people", ["rates", "notion", "build", "solve"], rows)


def against_fairlearn():
    people = people_of("public_coverage", "validation")
    one = replace(people, client=np.zeros_like(people.client), clients=("all",))
    rows = []
    for notion, constraint in NAMES.items():
        theirs, slow = timed(lambda c=constraint: fairlearn(one, c, grid_size=20_000))
        ours, fast = timed(lambda notion=notion: exact_program(one, notion).solve(0.0, 0.0))
        rows.append(
            [
                notion,
                f"{theirs:.6f}",
                f"{ours.accuracy:.6f}",
                f"{ours.bound.upper:.6f}",
                f"{slow:.2f} s",
                f"{fast:.2f} s",
                f"{slow / fast:.1f}x",
            ]
        )
    shown(
        f"fairlearn ThresholdOptimizer, one client, {len(one):,} people, eps = 0",
        ["notion", "theirs", "ours", "our bound", "their time", "ours", "ratio"],
        rows,
    )


def against_aif360():
    """AIF360's equalized odds turn the model's answers: our kernel, one client, eps = 0."""
    try:
        import pandas as pd
        from aif360.algorithms.postprocessing import EqOddsPostprocessing
        from aif360.datasets import BinaryLabelDataset
    except ImportError:
        print("AIF360 is not installed: see benchmarks/README.md")
        return
    people = people_of("public_coverage", "validation")
    one = replace(people, client=np.zeros_like(people.client), clients=("all",))

    def table(answer):
        frame = pd.DataFrame({"group": one.group, "label": answer}, dtype=float)
        return BinaryLabelDataset(
            df=frame, label_names=["label"], protected_attribute_names=["group"]
        )

    truth, predicted = table(one.label), table(one.predicted)
    sides = {"privileged_groups": [{"group": 1.0}], "unprivileged_groups": [{"group": 0.0}]}
    theirs = EqOddsPostprocessing(**sides, seed=0)
    theirs.fit(truth, predicted)
    fitted, slow = timed(lambda: theirs.fit(truth, predicted))
    answer = fitted.predict(predicted).labels.ravel()
    FairnessProgram(one.counts, "eo", "kernel").solve(0.0, 0.0)  # what is loaded once is loaded
    ours, fast = timed(lambda: FairnessProgram(one.counts, "eo", "kernel").solve(0.0, 0.0))
    accuracy = float((answer == one.label).mean())
    row = [
        "eo",
        f"{accuracy:.6f}",
        f"{ours.accuracy:.6f}",
        f"{slow:.2f} s",
        f"{1000 * fast:.2f} ms",
    ]
    shown(
        f"AIF360 EqOddsPostprocessing (one draw of its lottery), one client, {len(one):,} people",
        ["notion", "theirs", "ours", "their fit", "our solve", "ratio"],
        [[*row, f"{slow / fast:,.0f}x"]],
    )


def against_logofair():
    rows = []
    for name in ("adult", "public_coverage"):
        experiment = experiments.open(name)
        notion = experiment.notion
        figures = []
        for seed in experiment.seeds:
            fit, test = (people_of(name, split, seed) for split in experiments.SPLITS)
            calibration = Calibration.fit(fit)
            ready, later = fit.recalibrated(calibration), test.recalibrated(calibration)
            thresholds, slow = timed(
                lambda ready=ready, notion=notion: fit_logofair(
                    ready, notion, 0.01, 0.01, calibrated=False
                )
            )
            rule = Notion.of(notion, fit.labels, fit.favourable)

            def judged(people, thresholds=thresholds, rule=rule):
                return evaluate_answers(people.under_chances(thresholds.chances), people, rule)

            theirs, theirs_test = judged(ready), judged(later)
            equal = exact_program(ready, notion, gap=1e-6).solve(
                theirs.gaps.overall, np.nan_to_num(theirs.gaps.local, nan=1.0)
            )
            begun = time.process_time()
            ours = evaluate(
                predictor_of(FairnessProgram(fit, notion, "exact").solve(0.01, 0.01)), test
            )
            fast = time.process_time() - begun
            assert equal.accuracy >= theirs.accuracy - 1e-6
            figures.append(
                (
                    theirs.accuracy,
                    equal.accuracy,
                    theirs_test.accuracy,
                    ours.accuracy,
                    theirs_test.gaps.overall,
                    ours.gaps.overall,
                    theirs_test.gaps.local_mean,
                    ours.gaps.local_mean,
                    slow,
                    fast,
                )
            )
        mean = np.mean(figures, axis=0)
        rows.append([f"{name} {notion}", *(f"{value:.4f}" for value in mean)])
    columns = [
        "mean over seeds",
        "fitted: theirs",
        "ours, same gaps",
        "test: theirs",
        "ours",
        "global: theirs",
        "ours",
        "local: theirs",
        "ours",
        "s: theirs",
        "ours",
    ]
    shown("LoGoFair's exact dual, same recalibrated scores, eps = (.01, .01)", columns, rows)


if __name__ == "__main__":
    speed()
    many_clients()
    against_fairlearn()
    against_aif360()
    against_logofair()
