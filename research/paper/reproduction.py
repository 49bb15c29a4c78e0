"""The paper's experiments beside ours, as a Markdown document made from the shipped scores."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from fairfl_core.data import experiments
from fairfl_core.data.experiments import Experiment
from fairfl_core.data.scored import ScoredData
from fairfl_core.evaluation.evaluation import Evaluation
from fairfl_core.evaluation.methods import GRID, PAPER
from fairfl_core.evaluation.study import Study, run_study
from fairfl_core.lp.frontier import frontier
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.lp.regions import default_rates, region_names
from fairfl_core.privacy.mechanisms import Mechanism
from fairfl_core.privacy.noise_study import Runs, band, noise_study
from research.held_out_curve import EPSILONS as CURVE
from research.held_out_curve import Curve, held_out_curve
from research.paper.method_tables import method_tables
from research.paper.printed import FEDAVG, TABLE_2, TABLE_4, TABLE_4_ASKED, TABLE_4_FEDAVG, Row
from research.paper.trend import trend_table

# What the paper calls a row of Table 2, and what we call its setting.
SETTINGS = {
    "both": "Ours",
    "local only": "Ours (only local)",
    "global only": "Ours (only global)",
}
DRAWS = 40
THE_PAPERS = "simplex"  # the region that the paper solves in


def reproduction() -> str:
    """The whole document."""
    shipped = [experiments.open(name) for name in experiments.list_experiments()]
    # Those whose groups are the paper's: no crossing of ours.
    parts = [_HEAD, *(_experiment(one) for one in shipped if one.grouping is None)]
    parts.append(_scenarios([experiments.open(name) for name in PAPER["scenarios"]]))
    return "\n".join([*parts, method_tables(), _privacy(experiments.open("adult"))])


_HEAD = f"""# The paper's experiments, reproduced

Made by `python -m research reproduce` from the scores in `data/experiments/`; nothing is typed in but the
paper's own figures. Settings are the paper's: both = (eps_global .01, eps_local .01), local only =
(1, .01), global only = (.01, 1). Every figure is the mean over seeds ± the standard deviation
between seeds. *Validation* is what the program was fitted on, *test* are unseen people. "Local" is
the mean over clients (the paper's local disparity), "worst" the largest client's gap, "debiased"
the local gap of the larger half of the clients once chance is taken out (below zero: chance alone
explains more than was seen; one large enough client is left of two). Gaps are of expected rates: the lottery's own luck is averaged
out, so they are a little smaller than those of one realised draw, which the paper reports. Regions: {", ".join(region_names())}. No figure was tuned to match.
The exact region sees rates {default_rates("exact")} to the pooled ones and recalibrated scores (`rates.md`): its
tolerances hold for the estimated rates, so that its gaps counted on validation may exceed them a little.
"""


def _experiment(experiment: Experiment) -> str:
    manifest, notion = experiment.manifest, experiment.notion
    paper = TABLE_2.get(experiment.name)
    balanced = manifest["figures"]["test"]["balanced_accuracy"]
    majority = manifest["figures"]["test"]["majority_share"]
    lines = [
        f"## {experiment.name}: {manifest['title']} ({notion})",
        "",
        f"{manifest['dataset']['rows_used']:,} rows used ({manifest['dataset']['sample']}), "
        f"{len(experiment.clients)} clients, {len(experiment.seeds)} seeds. FedAvg on test: "
        f"balanced accuracy {balanced['mean']:.1%}, share of the largest label "
        f"{majority['mean']:.1%}.",
        "",
        "| method | region | val. accuracy | val. local | val. worst | val. global "
        "| test accuracy | test local | test worst | test global | test debiased "
        "| paper: acc. / local / global |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    ours: dict[str, float] = {}
    fitted, unseen = (
        [ScoredData.from_experiment(experiment, seed, split) for seed in experiment.seeds]
        for split in experiments.SPLITS
    )
    curves: dict[str, Curve] = {}
    for region in region_names():
        programs = [
            (seed, FairnessProgram(people, notion, region))
            for seed, people in zip(experiment.seeds, fitted, strict=True)
        ]
        if region == THE_PAPERS:
            none = run_study(programs, unseen, 1.0, 1.0)
            beside = paper[FEDAVG] if paper else None
            lines.append(_row(FEDAVG, "", none, beside, lambda e: e.before))
            ours[FEDAVG] = none.over(lambda e: e.before.accuracy, unseen=True).mean
        for setting, framework in SETTINGS.items():
            study = run_study(programs, unseen, *PAPER["asked"][framework])
            beside = paper[framework] if paper and region == THE_PAPERS else None
            if beside:
                ours[setting] = study.over(lambda e: e.accuracy, unseen=True).mean
            lines.append(_row(setting, region, study, beside, lambda e: e))
        curves[region] = held_out_curve(programs, unseen)
    lines += ["", *_what_the_region_costs(curves)]
    lines.append("")
    if experiment.name in PAPER["loss_ratio"]:
        lines += [_loss_ratio(experiment), ""]
    if paper:
        lines += [_distance(paper, ours), ""]
        lines += ["What differs from the paper's set-up, next to what it may explain:", ""]
        lines += [f"- {difference}" for difference in PAPER["differences"][experiment.name]]
        lines.append("")
    return "\n".join(lines)


def _what_the_region_costs(curves: dict[str, Curve]) -> list[str]:
    """Accuracy beside the gaps on unseen people, for every tolerance and region."""
    lines = [
        "What the region costs, on test (the same tolerance for all gaps; each cell: accuracy % / "
        "mean local gap / global gap). Compare where the gaps agree, not the tolerances:",
        "",
        "| tolerance | " + " | ".join(curves) + " |",
        "| --- " * (len(curves) + 1) + "|",
    ]
    for place, epsilon in enumerate(CURVE):
        cells = [
            f"{100 * curve.accuracy[place]:.1f} / {curve.gap_local_mean[place]:.3f} / "
            f"{curve.gap_global[place]:.3f}"
            for curve in curves.values()
        ]
        lines.append(f"| {epsilon:g} | " + " | ".join(cells) + " |")
    return lines


def _distance(paper: Mapping[str, Row], ours: Mapping[str, float]) -> str:
    """How far our accuracy on test is from the paper's, setting by setting."""
    lines = [
        f"{setting} {100 * (accuracy - paper[SETTINGS.get(setting, setting)].accuracy.mean):+.1f}"
        for setting, accuracy in ours.items()
    ]
    return f"Our accuracy on test less the paper's, in points (simplex): {', '.join(lines)}."


def _loss_ratio(experiment: Experiment) -> str:
    """Accuracy lost to local over that lost to global fairness, on the maps the paper draws."""
    accuracy = np.mean([_map(experiment, seed) for seed in experiment.seeds], axis=0)
    local, overall = accuracy[-1, -1] - accuracy[0, -1], accuracy[-1, -1] - accuracy[-1, 0]
    none_lost = "undefined, as the model's own global gap asks for nothing there"
    ratio = f"{local / overall:.2f}" if overall > 1e-6 else none_lost
    return (
        f"Accuracy lost on validation when one limit goes from {GRID[-1]:g} to {GRID[0]:g} and the other stays at "
        f"{GRID[-1]:g} (simplex): {100 * local:.2f} points to the local, {100 * overall:.2f} to the global one; "
        f"their ratio is {ratio} (paper {PAPER['loss_ratio'][experiment.name]:g}, which does not say how it is taken)."
    )


def _map(experiment: Experiment, seed: int) -> NDArray[np.float64]:
    """Accuracy over the paper's grid: eps_local by eps_global."""
    program = FairnessProgram(experiment.counts(seed, "validation"), experiment.notion)
    return frontier(program, eps_local=GRID, eps_global=GRID).accuracy


def _row(
    setting: str,
    region: str,
    study: Study,
    paper: Row | None,
    part: Callable[[Evaluation], Evaluation],
) -> str:
    cells = []
    for unseen in (False, True):
        accuracy = study.over(lambda e: part(e).accuracy, unseen=unseen)
        cells.append(f"{100 * accuracy.mean:.1f} ± {100 * accuracy.deviation:.1f}")
        figures: Sequence[Callable[[Evaluation], float]] = (
            lambda e: part(e).gaps.local_mean,
            lambda e: part(e).gaps.local_worst,
            lambda e: part(e).gaps.overall,
        )
        for figure in figures:
            found = study.over(figure, unseen=unseen)
            cells.append(f"{found.mean:.3f} ± {found.deviation:.3f}")
    larger = study.over(lambda e: part(e).debiased(e.larger_half).gap, unseen=True)
    cells.append(f"{larger.mean:.3f} ± {larger.deviation:.3f}")
    beside = ""
    if paper:
        beside = (
            f"{100 * paper.accuracy.mean:.1f} / {paper.local.mean:.3f} / {paper.overall.mean:.3f}"
        )
    return f"| {setting} | {region} | {' | '.join(cells)} | {beside} |"


def _scenarios(shipped: list[Experiment]) -> str:
    lines = [
        "## Heterogeneity: the three scenarios",
        "",
        "Accuracy on validation with the simplex and eo, mean over seeds; rows: eps_local, columns: "
        "eps_global.",
        "",
    ]
    maps = {}
    for experiment in shipped:
        own = {seed: _map(experiment, seed) for seed in experiment.seeds}
        maps[experiment.name] = own
        accuracy = np.mean(list(own.values()), axis=0)
        loss = (accuracy[-1, -1] - accuracy[0, 0]) / accuracy[-1, -1]
        paper = PAPER["scenarios"][experiment.name]
        lines += [
            f"### {experiment.manifest['title']}",
            "",
            "| eps_local | " + " | ".join(f"{epsilon:g}" for epsilon in GRID) + " |",
            "| --- " * (len(GRID) + 1) + "|",
            *(
                f"| {epsilon:g} | " + " | ".join(f"{value:.3f}" for value in row) + " |"
                for epsilon, row in zip(GRID, accuracy, strict=True)
            ),
            "",
            f"Both from .3 to .05 loses {loss:.1%} of the initial accuracy "
            f"(paper {100 * paper['loss']:.1f} %). "
            f"At eps_local .05, eps_global from .3 to .05: {accuracy[0, -1]:.3f} to "
            f"{accuracy[0, 0]:.3f} (paper {paper['before']} to {paper['after']}).",
            "",
        ]
    return "\n".join([*lines, *trend_table(maps)])


def _privacy(experiment: Experiment) -> str:
    """Adult with noise: Table 4 beside both mechanisms, on unseen people."""
    runs = [
        (experiment.counts(seed, "validation"), experiment.counts(seed, "test"))
        for seed in experiment.seeds
    ]
    programs = [
        (seed, FairnessProgram(validation, experiment.notion, "simplex"))
        for seed, (validation, _) in zip(experiment.seeds, runs, strict=True)
    ]
    quiet = run_study(programs, [test for _, test in runs], *TABLE_4_ASKED)
    other = TABLE_2[experiment.name][FEDAVG]
    lines = [
        "## Privacy: Adult, sp, simplex, eps = (.01, .01), on test",
        "",
        f"Median of {DRAWS} seeded draws over the seeds, with the range that holds 90 in 100 of "
        "them. The paper's mechanism spends four times the epsilon it names (replace-one "
        "neighbours); the histogram mechanism is given that same true budget.",
        "",
        "| paper's epsilon | truly spent | mechanism | local | global | accuracy % "
        "| paper: local / global / acc. |",
        "| --- | --- | --- | --- | --- | --- | --- |",
        _quiet_row(FEDAVG, quiet, lambda e: e.before, TABLE_4_FEDAVG),
    ]
    for epsilon, printed in TABLE_4.items():
        if np.isinf(epsilon):
            lines.append(_quiet_row("no noise", quiet, lambda e: e, printed))
        else:
            lines += _noisy_rows(runs, experiment.notion, epsilon, printed)
    lines += [
        "",
        "The paper's column is its Table 4, one set-up without intervals; its accuracy rises with "
        "more noise because the noise loosens the fairness it really reaches. Its FedAvg is "
        f"{TABLE_4_FEDAVG.where}'s too; {other.where} prints {100 * other.accuracy.mean:.1f} % "
        f"and a global gap of {other.overall.mean:.3f}, without saying why.",
        "",
    ]
    return "\n".join(lines)


def _quiet_row(
    name: str, study: Study, part: Callable[[Evaluation], Evaluation], printed: Row
) -> str:
    """A row of the table on privacy that has no noise in it: the mean over seeds."""
    local = study.over(lambda e: part(e).gaps.local_mean, unseen=True).mean
    overall = study.over(lambda e: part(e).gaps.overall, unseen=True).mean
    accuracy = study.over(lambda e: part(e).accuracy, unseen=True).mean
    return (
        f"| {name} | | | {local:.3f} | {overall:.3f} | {100 * accuracy:.2f} "
        f"| {_printed_privacy(printed)} |"
    )


def _noisy_rows(runs: Runs, notion: str, epsilon: float, printed: Row) -> list[str]:
    """One row with the paper's mechanism, one with the histogram at the same true budget."""
    paper = Mechanism(name="paper", epsilon=epsilon)
    eps_global, eps_local = TABLE_4_ASKED
    rows = []
    for mechanism in (paper, Mechanism(epsilon=paper.spent)):
        study = noise_study(
            runs,
            [mechanism],
            notion,
            "simplex",
            eps_global=eps_global,
            eps_local=eps_local,
            draws=DRAWS,
            seed=0,
        )
        assert study.held_out is not None
        cells = [
            f"{part.middle[0] * scale:.{digits}f} ({part.low[0] * scale:.{digits}f} to "
            f"{part.high[0] * scale:.{digits}f})"
            for part, scale, digits in (
                (band(study.held_out.local_mean), 1, 3),
                (band(study.held_out.overall), 1, 3),
                (band(study.held_out.accuracy), 100, 2),
            )
        ]
        first = mechanism is paper
        rows.append(
            f"| {f'{epsilon:g}' if first else ''} | {mechanism.spent:g} | {mechanism.name} | "
            f"{' | '.join(cells)} | {_printed_privacy(printed) if first else ''} |"
        )
    return rows


def _printed_privacy(row: Row) -> str:
    return f"{row.local.mean:.3f} / {row.overall.mean:.3f} / {100 * row.accuracy.mean:.2f}"
