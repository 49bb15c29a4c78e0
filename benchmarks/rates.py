"""Which rates and which region hold on unseen people, on all shipped seeds: docs/rates.md's tables.

python -m benchmarks.rates [EXPERIMENT ...]             # each region, each choice of rates, at .01
python -m benchmarks.rates --regions [EXPERIMENT ...]   # each with its own rates, at .05 and .1
"""

import argparse
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
GAPS = ("overall gap", "mean local gap", "worst local gap")


def figures(study, part=lambda evaluation: evaluation):
    """Accuracy and gaps on unseen people: mean and deviation over seeds, as cells of a row."""

    def cell(figure, scale=1, digits=3):
        found = study.over(lambda e: figure(part(e)), unseen=True)
        return f"{scale * found.mean:.{digits}f} ± {scale * found.deviation:.{digits}f}"

    gaps = ("overall", "local_mean", "local_worst")
    return (
        cell(lambda e: e.accuracy, 100, 2),
        *(cell(lambda e, gap=gap: getattr(e.gaps, gap)) for gap in gaps),
    )


def row(*cells):
    print(f"| {' | '.join(map(str, cells))} |", flush=True)


def debiased(study, *, halves):
    """The debiased gap of the larger half of clients; of all, even and odd seeds, or with limits."""
    if not halves:
        return "{:.3f} ({:.3f} to {:.3f})".format(*pooled_debiased(study))
    parts = [Study(tuple(one for one in study.outcomes if one.seed % 2 == k)) for k in (0, 1)]
    return " / ".join(f"{pooled_debiased(one)[0]:.3f}" for one in (study, *parts))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--regions", action="store_true")
    asked = parser.parse_args()
    every = BOTH_PROTOCOLS if asked.regions else experiments.list_experiments()
    which, last = ("limits", "") if asked.regions else ("rates", "s a seed")
    for name in asked.names or every:
        experiment = experiments.open(name)
        print(f"\n### {name} ({experiment.notion}), {len(experiment.seeds)} seeds, test\n")
        row("region", which, "accuracy %", *GAPS, "debiased, larger half", last)
        row(*["---"] * 8)
        fitted = [fitted_people(experiment, seed) for seed in experiment.seeds]
        unseen = [unseen_people(experiment, seed) for seed in experiment.seeds]
        settings = [(None, 0.05), (None, 0.1)] if asked.regions else [(one, 0.01) for one in RATES]
        for place, region in enumerate(region_names()):
            for rates, limit in settings:
                begun = time.perf_counter()
                programs = [
                    (seed, FairnessProgram(people, experiment.notion, region, rates=rates))
                    for seed, people in zip(experiment.seeds, fitted, strict=True)
                ]
                study = run_study(programs, unseen, limit, limit)
                took = (time.perf_counter() - begun) / len(programs)
                if not place and (rates, limit) == settings[0]:
                    row("FedAvg", "", *figures(study, lambda e: e.before), "", "")
                seconds = "" if asked.regions else f"{took:.2f}"
                shown = debiased(study, halves=asked.regions)
                row(region, rates or limit, *figures(study), shown, seconds)


if __name__ == "__main__":
    main()
