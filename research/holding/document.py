"""docs/holding.md: made from the shipped scores, nothing typed in."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from fairfl_core._io.names import listed
from fairfl_core.data import experiments
from fairfl_core.data.experiments import CROSS_FITTED, FOLDER, PAPER_SPLIT
from fairfl_core.evaluation.study import Study
from research.held_out_curve import pooled_debiased
from research.holding.coverage import Coverage, Setting
from research.holding.evidence import (
    DRAWS,
    GUARANTEES,
    Evidence,
    above,
    before,
    cross_fitting_settings,
    difference,
    gather,
    steps,
)

_LIMITS = (1.0, 0.10)  # those of the summary: no overall limit, .10 inside every client
_DEAR = 0.5  # of what the model adds to a constant answer: below it certainty is said to be dear


def holding(
    folder: str | Path = FOLDER,
    *,
    draws: int = DRAWS,
    on_progress: Callable[[int, int], None] = lambda *_: None,
) -> str:
    """The whole document, of every experiment that is there by both protocols.

    Experiments with crossed groups are left out: they are the same people as another's.

    Parameters
    ----------
    folder : path, optional
        Where the experiments are.
    draws : int
        How many samples of each population.
    on_progress : callable, optional
        Called with (steps done, steps in all).
    """
    pairs = [
        (experiments.open(name, folder), experiments.open(companion, folder))
        for name in experiments.list_experiments(folder)
        if (companion := experiments.cross_fitted_of(name, folder))
        and experiments.open(name, folder).grouping is None
    ]
    total, done = sum(steps(cross_fitted, draws) for _, cross_fitted in pairs), 0

    def step() -> None:
        nonlocal done
        done += 1
        on_progress(done, total)

    return written({pair[0].name: gather(*pair, step, draws=draws) for pair in pairs})


def written(evidence: Mapping[str, Evidence]) -> str:
    """The document of what was gathered."""
    lines = [_HEAD, *(sentence for one in evidence.values() for sentence in in_short(one))]
    lines += ["", _RESAMPLED]
    for name, one in evidence.items():
        lines += [f"### {name}, resampled", "", _sizes(one), "", *coverage_table(one), ""]
    short = [line for one in evidence.values() for line in shortfalls(one)]
    lines += [_SHORT, *(short or [f"Nowhere in {listed(list(evidence))}."]), "", _CROSS_FITTING]
    for name, one in evidence.items():
        lines += [f"### {name}, test people", "", *cross_fitting_table(one.held_out), ""]
    lines.append(_ABOVE)
    for name, one in evidence.items():
        lines += [f"### {name}, above the limit", "", *above_table(one.held_out), ""]
    return "\n".join(lines)


def _sizes(evidence: Evidence) -> str:
    """How large the clients are by either protocol, and what a constant answer reaches."""
    parts = [
        f"{int(n.min()):,} to {int(n.max()):,} people a client ({experiment.protocol})"
        for experiment in (evidence.paper_split, evidence.cross_fitted)
        for n in [experiment.counts(experiment.seeds[0], experiment.fit_split).n_client]
    ]
    draws = [
        f"{int((one.seed == seed).sum())} draws from the population of seed {seed}"
        for one in [next(iter(evidence.resampled[evidence.cross_fitted.protocol].values()))]
        for seed in np.unique(one.seed)
    ]
    compared, every = evidence.cross_fitted.seeds, evidence.paper_split.seeds
    left_out = len(every) - len(compared)
    return (
        f"{evidence.paper_split.notion}, {len(evidence.paper_split.clients)} clients, "
        f"{', '.join(parts)}; {' and '.join(draws)}. One answer a client, its largest label, is right for "
        f"{100 * evidence.constant_accuracy:.2f} %. In a pilot of 40 a client's group has nobody of a "
        f"label in {100 * evidence.empty:.1f} % of cases."
        + (
            f" Not cross-fitted, and left out: {left_out} of {len(every)} seeds."
            if left_out
            else ""
        )
    )


def in_short(evidence: Evidence) -> list[str]:
    """One sentence a region: what a limit of .10 does with and without a confidence."""
    covered, held_out = evidence.resampled[CROSS_FITTED], evidence.held_out[CROSS_FITTED]
    return [
        _sentence(evidence, setting, covered, held_out)
        for setting in covered
        if (setting.eps_global, setting.eps_local) == _LIMITS
        and setting.guarantee == GUARANTEES["each"]
    ]


def _sentence(
    evidence: Evidence,
    guarded: Setting,
    covered: Mapping[Setting, Coverage],
    held_out: Mapping[Setting, Study],
) -> str:
    none, each = covered[guarded.unguarded], covered[guarded]
    real = [above(held_out[one], one.eps_local) for one in (guarded.unguarded, guarded)]
    before, after = none.accuracy.mean(), each.accuracy.mean()
    text = (
        f"- **{evidence.name}, {guarded.region}**: it holds in {100 * none.mean:.1f} % of clients "
        f"and draws, with confidence .95 for each in {100 * each.mean:.1f} %, at "
        f"{100 * (before - after):.2f} points ({100 * before:.2f} to {100 * after:.2f} %). Real "
        f"test people show {real[0].clients} of {real[0].judged} clients above it beyond chance, "
        f"with the confidence {real[1].clients}."
    )
    constant = evidence.constant_accuracy
    left = (after - constant) / (before - constant) if before > constant else 1.0
    if left < _DEAR:
        text += (
            " At this size certainty costs what the data lack: of what the lottery adds to one "
            f"answer a client ({100 * constant:.2f} %) {100 * max(left, 0):.0f} % are left."
        )
    return text


def shortfalls(evidence: Evidence) -> list[str]:
    """Where a confidence was asked for and resampling shows less, over all draws."""
    lines = []
    for protocol, covered in evidence.resampled.items():
        for setting, one in covered.items():
            if setting.guarantee is None:
                continue
            local = one.together if setting.guarantee.scope == "all" else one.mean
            parts = {"inside clients": local, "overall": one.overall_held}
            lines += [
                f"- {evidence.name}, people as in {protocol}, {setting.region}, limit "
                f"{limits_of(setting)}, {confidence_of(setting)}: {where} {share:.3f}"
                for where, share in parts.items()
                if round(share, 9) < setting.guarantee.confidence
            ]
    return lines


_HEAD = """# Limits that hold on unseen people

Made by `python -m research holding` from the scores in `data/experiments/`; nothing is typed in. A program that
is asked for a limit keeps it on the people it is fitted on. This document measures what becomes of
it on others, with and without the two things that help: **cross-fitting** (the lottery is fitted on
four people in five, each scored by a model that never saw them, instead of on one in five, the
paper's split), and a **confidence** (a margin for chance inside the program).

How a confidence is called here: *none*; *each* (.95 for every client's limit on its own, Scheffe
margins: measured, no theorem covers a lottery chosen on the same people); *all* (.95 for all limits
at once, the same margins); *proved* (.95 for each, by Clopper-Pearson or Dvoretzky-Kiefer-Wolfowitz
bounds). All see counted labels.

Limits, regions and confidences were fixed before they were measured here, but for the overall limit
of .01, added because .05 binds in PublicCoverage only when proved. The clients' shifts of the
recalibration and `shrunk` as the exact region's default were chosen with test figures of all seeds in view
(`rates.md`).

## In short

A limit of .10 inside every client, no overall one, fitted on cross-fitted people:
"""

_RESAMPLED = """## (a) How often a limit holds: a known population, resampled at real sizes

The population are the cross-fitted people of one seed (two seeds in turn), with their
scores. Samples of it are drawn, client by client and with replacement, as many people as the
protocol fits on; recalibration and program see the sample only, and gaps and accuracy are those of
the population. *A pilot of 40* are 40 people a client, in which a group often has nobody of a label
though the population has: there every client, group and label has at least five people, those
missing being drawn from other clients. It is asked for no overall limit: that is promised for people
who come from the clients in the proportions of those fitted on, and 40 of each client are not
(`benchmarks/README.md`, `coverage.py`). *Coverage* is the share of draws and clients whose true gap is
within the limit (standard error between draws), *least covered client* the same of the client where
it is smallest, *all clients at once* the share of draws in which no client is above, *cost* the
accuracy lost against no confidence at the same limits on the same draws.
"""

_SHORT = """### Where a confidence fell short

Settings whose limits held in fewer than .95 of clients and draws (*each*, *proved*), or in which
all of them held in fewer than .95 of the draws (*all*). A share of 40 draws is known to about
+- .07; that of all clients at once is the hardest test where a handful of
people stand behind a rate. Populations made up to be hard, in thousands of draws:
`benchmarks/README.md`, `coverage.py`.
"""

_CROSS_FITTING = """## (b) What is left of a gap on test people: the paper's split and cross-fitting

Limits (.01, .01), no confidence, all seeds. *Debiased gap* is that of the larger half of the clients once chance
is taken out: the root of the mean over seeds of gap squared less its variance, in brackets two
standard errors either side; below zero chance explains more than was seen. Test people are the same
by both protocols, seed by seed; so the last column is paired. Seeds split the same people anew, so that
standard errors are too small if anything.
"""

_ABOVE = """## (c) Clients above the limit on test people, beyond chance

A client counts as above when the 95 % interval of its own gap on test people (MOVER, exact limits) lies
above the limit: of clients that lie just on it chance puts up to one in forty there. (A verdict on the
pages speaks of all clients at once, so it widens the intervals and calls fewer.) No overall limit.
"""


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """The lines of a Markdown table."""
    lines = [columns, ["---"] * len(columns), *rows]
    return [f"| {' | '.join(line)} |" for line in lines]


def confidence_of(setting: Setting) -> str:
    """What a guarantee is called in these tables."""
    return next(name for name, one in GUARANTEES.items() if one == setting.guarantee)


def accuracy_of(study: Study) -> float:
    """Mean accuracy over seeds, on test people."""
    return study.over(lambda e: e.accuracy, unseen=True).mean


def limits_of(setting: Setting) -> str:
    """The limit inside every client, and the overall one if there is any."""
    overall = f", overall {setting.eps_global:.2f}" if setting.eps_global < 1 else ""
    return f"{setting.eps_local:.2f}{overall}"


# -------------------------------------------------------------------- (a) resampling


def coverage_table(evidence: Evidence) -> list[str]:
    """Coverage of every setting, for the numbers of people of either protocol."""
    columns = (
        "people as in",
        "region",
        "limit",
        "confidence",
        "coverage",
        "± s.e.",
        "least covered client",
        "all clients at once",
        "overall limit holds",
        "accuracy %",
        "cost, points",
    )
    rows = [
        (protocol, *_coverage_row(one, covered[setting.unguarded], evidence))
        for protocol, covered in evidence.resampled.items()
        for setting, one in covered.items()
    ]
    return table(columns, rows)


def _coverage_row(one: Coverage, none: Coverage, evidence: Evidence) -> tuple[str, ...]:
    setting = one.setting
    least = evidence.paper_split.clients[one.least]
    return (
        setting.region,
        limits_of(setting),
        confidence_of(setting),
        f"{one.mean:.3f}",
        f"{one.error:.3f}",
        f"{one.least_share:.2f} ({least})",
        f"{one.together:.2f}",
        f"{one.overall_held:.2f}" if setting.eps_global < 1 else "",
        f"{100 * one.accuracy.mean():.2f}",
        "" if setting.guarantee is None else f"{100 * (none.accuracy - one.accuracy).mean():.2f}",
    )


# -------------------------------------------------------------------- (b) cross-fitting


def cross_fitting_table(held_out: dict[str, dict[Setting, Study]]) -> list[str]:
    """Accuracy and debiased gap on test people, the paper's split beside cross-fitting."""
    columns = (
        "region",
        "rates",
        f"accuracy %, {PAPER_SPLIT}",
        f"accuracy %, {CROSS_FITTED}",
        f"debiased gap, {PAPER_SPLIT}",
        f"debiased gap, {CROSS_FITTED}",
        "squares, cross-fitted less paper's split, in 1e-4 (s.e.)",
    )
    settings = cross_fitting_settings()
    pairs = {
        (setting.region, setting.rates): tuple(
            held_out[protocol][setting] for protocol in (PAPER_SPLIT, CROSS_FITTED)
        )
        for setting in settings
    }
    first = pairs[settings[0].region, settings[0].rates]
    pairs = {("FedAvg", ""): tuple(before(study) for study in first)} | pairs
    rows = [(region, rates, *_pair(pair)) for (region, rates), pair in pairs.items()]
    return table(columns, rows)


def _pair(pair: Sequence[Study]) -> tuple[str, ...]:
    paper_split, cross_fitted = pair
    mean, error = difference(cross_fitted, paper_split)
    return (
        *(f"{100 * accuracy_of(study):.2f}" for study in pair),
        *("{:.3f} ({:.3f} to {:.3f})".format(*pooled_debiased(study)) for study in pair),
        f"{1e4 * mean:.1f} ({1e4 * error:.1f})",
    )


# -------------------------------------------------------------------- (c) above the limit


def above_table(held_out: dict[str, dict[Setting, Study]]) -> list[str]:
    """Clients above the limit on test people, beyond chance, with and without a confidence."""
    columns = (
        "fitted on",
        "region",
        "limit",
        "confidence",
        "accuracy %",
        "cost, points",
        "clients above",
        "share %",
    )
    chosen = set(cross_fitting_settings())
    rows = [
        (protocol, *_above_row(setting, study, its[setting.unguarded]))
        for protocol, its in held_out.items()
        for setting, study in its.items()
        if setting not in chosen
    ]
    return table(columns, rows)


def _above_row(setting: Setting, study: Study, none: Study) -> tuple[str, ...]:
    counted = above(study, setting.eps_local)
    cost = 100 * (accuracy_of(none) - accuracy_of(study))
    return (
        setting.region,
        limits_of(setting),
        confidence_of(setting),
        f"{100 * accuracy_of(study):.2f}",
        "" if setting.guarantee is None else f"{cost:.2f}",
        f"{counted.clients} of {counted.judged}",
        f"{100 * counted.share:.1f}",
    )
