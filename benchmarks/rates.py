"""Which rates and which region hold on unseen people, on all shipped seeds.

Prints the tables of docs/rates.md as Markdown:

    python -m benchmarks.rates [EXPERIMENT ...]             # every region with every choice of rates
    python -m benchmarks.rates --regions [EXPERIMENT ...]   # every region with its own rates
"""

import sys
import time

from fairfl_core.data import experiments
from fairfl_core.data.scored import fitted_people, unseen_people
from fairfl_core.evaluation.study import Study, run_study
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.lp.rate_estimates import RATES
from fairfl_core.lp.regions import region_names
from research.held_out_curve import pooled_debiased

DATASETS = ("adult", "public_coverage", "ham10000")
BOTH_PROTOCOLS = tuple(name + end for end in ("_cross_fitted", "") for name in DATASETS)


def figures(study, part=lambda evaluation: evaluation):
    """Accuracy and gaps on unseen people: mean and deviation over seeds, as cells of a row."""

    def cell(figure, scale=1, digits=3):
        found = study.over(lambda e: figure(part(e)), unseen=True)
        return f"{scale * found.mean:.{digits}f} ± {scale * found.deviation:.{digits}f}"

    return (
        cell(lambda e: e.accuracy, 100, 2),
        cell(lambda e: e.gaps.overall),
        cell(lambda e: e.gaps.local_mean),
        cell(lambda e: e.gaps.local_worst),
    )


def print_row(*cells):
    print(f"| {' | '.join(cells)} |", flush=True)


def print_head(experiment, *columns):
    print(
        f"\n### {experiment.name} ({experiment.notion}), {len(experiment.labels)} labels, "
        f"{len(experiment.clients)} clients, {len(experiment.seeds)} seeds, test\n"
    )
    print_row(*columns)
    print_row(*["---"] * len(columns))


def by_rates(experiment, fitted, unseen):
    """A row for each region and choice of rates, at limits of .01."""
    print_head(
        experiment,
        *("region", "rates", "accuracy %", "global gap", "mean local gap", "worst local gap"),
        *("debiased, larger half", "s a seed"),
    )
    for region in region_names():
        for rates in RATES:
            begun = time.perf_counter()
            programs = programs_of(experiment, fitted, region, rates)
            for _, program in programs:
                program.solve(0.01, 0.01)
            took = (time.perf_counter() - begun) / len(programs)
            study = run_study(programs, unseen, 0.01, 0.01)
            if (region, rates) == (region_names()[0], RATES[0]):
                print_row("FedAvg", "", *figures(study, lambda e: e.before), "", "")
            middle, low, high = pooled_debiased(study)
            debiased = f"{middle:.3f} ({low:.3f} to {high:.3f})"
            print_row(region, rates, *figures(study), debiased, f"{took:.2f}")


def by_region(experiment, fitted, unseen):
    """A row for each region with its own rates, at limits of .05 and .1; halves are of the seeds."""
    print_head(
        experiment,
        *("region", "limits", "accuracy %", "overall gap", "mean local gap", "worst local gap"),
        "debiased, larger half: all / even / odd seeds",
    )
    for region in region_names():
        programs = programs_of(experiment, fitted, region)
        for limit in (0.05, 0.1):
            study = run_study(programs, unseen, limit, limit)
            if (region, limit) == (region_names()[0], 0.05):
                print_row("FedAvg", "", *figures(study, lambda e: e.before), "")
            halves = [
                Study(tuple(one for one in study.outcomes if one.seed % 2 == k)) for k in (0, 1)
            ]
            debiased = " / ".join(f"{pooled_debiased(one)[0]:.3f}" for one in (study, *halves))
            print_row(region, str(limit), *figures(study), debiased)


def programs_of(experiment, fitted, region, rates=None):
    """A program for each seed."""
    return [
        (seed, FairnessProgram(people, experiment.notion, region, rates=rates))
        for seed, people in zip(experiment.seeds, fitted, strict=True)
    ]


def main():
    names = [name for name in sys.argv[1:] if name != "--regions"]
    regions = "--regions" in sys.argv[1:]
    for name in names or (BOTH_PROTOCOLS if regions else experiments.list_experiments()):
        experiment = experiments.open(name)
        fitted = [fitted_people(experiment, seed) for seed in experiment.seeds]
        unseen = [unseen_people(experiment, seed) for seed in experiment.seeds]
        (by_region if regions else by_rates)(experiment, fitted, unseen)


if __name__ == "__main__":
    main()
