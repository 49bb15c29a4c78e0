"""The evidence as Markdown tables: nothing is computed here but the names of rows."""

from collections.abc import Iterable, Sequence

from fairfl_core.data.experiments import CROSS_FITTED, PAPER_SPLIT
from fairfl_core.evaluation.study import Study
from research.held_out_curve import pooled_debiased
from research.holding.coverage import Coverage
from research.holding.evidence import GUARANTEES, Evidence, cross_fitting_settings
from research.holding.held_out import above, before, difference
from research.holding.settings import Setting

__all__ = [
    "above_table",
    "accuracy_of",
    "confidence_of",
    "coverage_table",
    "cross_fitting_table",
    "limits_of",
    "table",
]


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
