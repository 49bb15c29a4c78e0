"""Which region holds on unseen people: every region with its own rates, all shipped seeds.

Prints the tables of docs/rates.md, "Which region by default", as Markdown:
`python benchmarks/regions.py [EXPERIMENT ...]`.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from fairfl_core.data import experiments  # noqa: E402
from fairfl_core.data.scored import fitted_people, unseen_people  # noqa: E402
from fairfl_core.evaluation.study import Study, run_study  # noqa: E402
from fairfl_core.lp.program import FairnessProgram  # noqa: E402
from fairfl_core.lp.regions import region_names  # noqa: E402
from research.held_out_curve import pooled_debiased  # noqa: E402

NAMES = tuple(
    name + protocol
    for protocol in ("_cross_fitted", "")
    for name in ("adult", "public_coverage", "ham10000")
)
LIMITS = (0.05, 0.1)  # overall and inside every client


def print_row(region, limit, study, part=lambda evaluation: evaluation):
    """Print one row: accuracy and gaps on test people, all seeds, and the even and odd ones."""

    def cell(figure, scale=1, digits=3):
        found = study.over(lambda e: figure(part(e)), unseen=True)
        return f"{scale * found.mean:.{digits}f} ± {scale * found.deviation:.{digits}f}"

    halves = [Study(tuple(one for one in study.outcomes if one.seed % 2 == k)) for k in (0, 1)]
    debiased = ""
    if region != "FedAvg":
        debiased = " / ".join(f"{pooled_debiased(one)[0]:.3f}" for one in (study, *halves))
    print(
        f"| {region} | {limit} | {cell(lambda e: e.accuracy, 100, 2)} "
        f"| {cell(lambda e: e.gaps.overall)} | {cell(lambda e: e.gaps.local_mean)} "
        f"| {cell(lambda e: e.gaps.local_worst)} | {debiased} |",
        flush=True,
    )


def main():
    """Measure the experiments that are named, or the three datasets by either protocol."""
    for name in sys.argv[1:] or NAMES:
        experiment = experiments.open(name)
        seeds = experiment.seeds
        fitted = [fitted_people(experiment, seed) for seed in seeds]
        unseen = [unseen_people(experiment, seed) for seed in seeds]
        print(
            f"\n### {name} ({experiment.notion}), {len(experiment.labels)} labels, "
            f"{len(experiment.clients)} clients, {len(seeds)} seeds, test\n\n"
            "| region | limits | accuracy % | overall gap | mean local gap | worst local gap "
            "| debiased, larger half: all / even / odd seeds |\n"
            "| --- | --- | --- | --- | --- | --- | --- |"
        )
        for region in region_names():
            programs = [
                (seed, FairnessProgram(people, experiment.notion, region))
                for seed, people in zip(seeds, fitted, strict=True)
            ]
            for limit in LIMITS:
                study = run_study(programs, unseen, limit, limit)
                if (region, limit) == (region_names()[0], LIMITS[0]):
                    print_row("FedAvg", "", study, lambda evaluation: evaluation.before)
                print_row(region, limit, study)


if __name__ == "__main__":
    main()
