"""Which rates hold on unseen people: every region and choice of rates, all shipped seeds.

Prints the tables of docs/rates.md as Markdown: `python benchmarks/rates.py [EXPERIMENT ...]`.
"""

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from fairfl_core.data import experiments  # noqa: E402
from fairfl_core.data.scored import ScoredData  # noqa: E402
from fairfl_core.evaluation.study import run_study  # noqa: E402
from fairfl_core.lp.program import FairnessProgram  # noqa: E402
from fairfl_core.lp.rate_estimates import RATES  # noqa: E402
from fairfl_core.lp.regions import region_names  # noqa: E402
from research.held_out_curve import pooled_debiased  # noqa: E402

ASKED = (0.01, 0.01)


def people_of(experiment, split):
    return [ScoredData.from_experiment(experiment, seed, split) for seed in experiment.seeds]


def row(name, rates, study, part, seconds=None):
    def cell(figure, scale=1, digits=3):
        found = study.over(lambda e: figure(part(e)), unseen=True)
        return f"{scale * found.mean:.{digits}f} ± {scale * found.deviation:.{digits}f}"

    middle, low, high = pooled_debiased(study)
    debiased = f"{middle:.3f} ({low:.3f} to {high:.3f})" if name != "FedAvg" else ""
    print(
        f"| {name} | {rates} | {cell(lambda e: e.accuracy, 100, 2)} "
        f"| {cell(lambda e: e.gaps.overall)} | {cell(lambda e: e.gaps.local_mean)} "
        f"| {cell(lambda e: e.gaps.local_worst)} | {debiased} "
        f"| {'' if seconds is None else f'{seconds:.2f}'} |",
        flush=True,
    )


def main():
    for name in sys.argv[1:] or experiments.list_experiments():
        experiment = experiments.open(name)
        fitted, unseen = (people_of(experiment, split) for split in experiments.SPLITS)
        print(
            f"\n## {name} ({experiment.notion}), {len(experiment.clients)} clients, "
            f"{len(experiment.seeds)} seeds, test\n"
        )
        print(
            "| region | rates | accuracy % | global gap | mean local gap | worst local gap "
            "| debiased, larger half | s a seed |\n| --- | --- | --- | --- | --- | --- | --- | --- |"
        )
        for region in region_names():
            for rates in RATES:
                begun = time.perf_counter()
                programs = [
                    (seed, FairnessProgram(people, experiment.notion, region, rates=rates))
                    for seed, people in zip(experiment.seeds, fitted, strict=True)
                ]
                for _, program in programs:
                    program.solve(*ASKED)
                took = (time.perf_counter() - begun) / len(programs)
                study = run_study(programs, unseen, *ASKED)
                if (region, rates) == ("simplex", "labels"):
                    row("FedAvg", "", study, lambda e: e.before)
                row(region, rates, study, lambda e: e, took)


if __name__ == "__main__":
    main()
