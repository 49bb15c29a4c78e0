"""What floors, ratios and a utility cost in time: a re-solve with all of them beside a plain one.

    python benchmarks/policy.py

Fifty states, two groups, people of the cross-fitted experiment. Figures are medians of one run;
their ratio is what may be quoted.
"""

import statistics
import time

from fairfl_core.data import experiments
from fairfl_core.data.folded import fitted_people
from fairfl_core.lp.policy import Floor, Policy
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.lp.utility import Utility

LIMITS = [0.1 + 0.01 * step for step in range(20)]


def everything(labels: tuple[str, ...]) -> Policy:
    """Two kept rates, a floor, both ratios and a table of costs."""
    first, second = labels
    return Policy(
        floors=(Floor(second, 0.1), Floor(first, keeps=0.2), Floor(second, keeps=0.2)),
        ratio_global=0.6,
        ratio_local=0.3,
        utility=Utility.missing(labels, second, 3.0),
    )


def resolve(program) -> float:
    """Milliseconds of a re-solve."""
    program.solve(0.05, 0.2)
    times = []
    for limit in LIMITS:
        begun = time.perf_counter()
        program.solve(0.05, limit)
        times.append(time.perf_counter() - begun)
    return 1000 * statistics.median(times)


def main() -> None:
    """Print one line a region and notion."""
    people = fitted_people(experiments.open("public_coverage_cross_fitted"), 0)
    print(f"{'region':<10}{'notion':<8}{'plain, ms':>10}{'all, ms':>10}{'ratio':>8}")
    for region in ("simplex", "kernel", "exact"):
        for notion in ("eop", "eo"):
            plain, whole = (
                resolve(FairnessProgram(people, notion, region, rates="labels", policy=policy))
                for policy in (Policy(), everything(people.labels))
            )
            print(f"{region:<10}{notion:<8}{plain:>10.2f}{whole:>10.2f}{whole / plain:>8.1f}")


if __name__ == "__main__":
    main()
