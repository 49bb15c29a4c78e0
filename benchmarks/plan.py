"""Measure how many people a plan saves against equal and proportional sampling.

    python -m benchmarks.plan

The bundled experiments at a gap of 0.05 allowed inside each client: people that settle all limits
that are not sure yet, by `plan_people`; by as many more of every group, or by a multiple of what
there is, chosen for each client; and by one number, or one multiple, for the whole network. Each is
the fewest of its kind, by the same rule; in brackets against the plan.
"""

import numpy as np

from fairfl_core.data import experiments
from fairfl_core.data.scored import ScoredData
from fairfl_core.evaluation.evaluation import evaluate
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.monitoring.plan import unsettled_scopes
from fairfl_core.predictors.kinds import predictor_of

NAMES = ("adult", "public_coverage", "ham10000")


def fewest(scope, people_after):
    """How large a kind of sampling has to be to settle a limit, by bisection."""
    low, high = 0.0, 1.0
    while not scope.is_settled(people_after(high)):
        low, high = high, 2 * high
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if scope.is_settled(people_after(middle)) else (middle, high)
    return high


def totals(scopes):
    """People more: planned, equal and proportional in each client, and in the whole network."""
    planned = sum((scope.least(False) - scope.people).sum() for scope in scopes)
    cells = np.array([(scope.people > 0).sum() for scope in scopes])
    people = np.array([scope.people.sum() for scope in scopes])
    same = np.array([fewest(s, lambda x, s=s: s.people + (s.people > 0) * x) for s in scopes])
    times = np.array([fewest(s, lambda x, s=s: s.people * (1 + x)) for s in scopes])
    inside = (same * cells).sum(), (times * people).sum()
    return planned, *inside, same.max() * cells.sum(), times.max() * people.sum()


def main():
    """Print a table."""
    print("| experiment | not sure | plan | equal, by client | proportional, by client", end="")
    print(" | equal, network | proportional, network |\n|---|---|---|---|---|---|---|")
    for name in NAMES:
        experiment = experiments.open(name)
        seed = experiment.seeds[0]
        fitted, new = (
            ScoredData.from_experiment(experiment, seed, split).counts
            for split in (experiment.fit_split, "test")
        )
        fair = predictor_of(FairnessProgram(fitted, "eop", "simplex").solve(1.0, 0.05))
        scopes = unsettled_scopes(evaluate(fair, new))
        planned, *others = totals(scopes)
        shown = [f"{total:,.0f} ({total / planned:.2f})" for total in others]
        print(f"| {name} | {len(scopes)} | {planned:,.0f} | {' | '.join(shown)} |")


if __name__ == "__main__":
    main()
