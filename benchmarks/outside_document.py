"""docs/outside_rivals.md, from the shipped answers; nothing in it is typed."""

from collections.abc import Iterable

import numpy as np

from fairfl_core.evaluation.methods import (
    Difference,
    MethodRow,
    difference,
    frontier_of,
    method_rows,
    rows_of,
)

OURS = {
    "ours_exact": "exact",
    "ours_exact_guaranteed": "exact, 95 % sure",
    "ours_exact_cross_fitted": "exact, cross-fitted",
    "ours_exact_cross_fitted_guaranteed": "exact, cross-fitted, 95 % sure",
    "ours_simplex": "simplex",
    "ours_simplex_guaranteed": "simplex, 95 % sure",
}
AT = (
    ("gap_global", "overall gap", 0.02),
    ("gap_local_worst", "worst client's gap", 0.05),
    ("gap_local_worst", "worst client's gap", 0.02),
)
TOLERANCE = "eps=0.01"

HEAD = """# Other people's programs, on the same people

Made by `python -m benchmarks.outside_rivals` (`--only-write` writes it anew from the answers in `data/methods/`):
Adult, statistical parity, doctorate or not as clients. Nothing is typed in. Figures are on test people, mean over
seeds ± the standard deviation between seeds; "worst client" is the client whose mean gap is largest. With some 23
doctorate women in a test split one draw of a perfectly fair answer shows a gap of .08 there by chance.

fairlearn 0.15's `ThresholdOptimizer` and OxonFair 0.3 set thresholds on FedAvg's scores, fitted on validation
people: *pooled* sees everyone's rows in one place and knows nothing of clients, *client by client* fits every
client alone. Ours and these are shown at a tolerance of .01.
"""
DECLEARN = """declearn 2.9 trains its own methods on the same splits: the same network and inputs, Adam .001, batches of 512, 15
rounds, last-round weights. Each had eight trials, as every method here: values of its one knob. The one with the least
overall plus mean local gap on validation people of seeds 0 and 1, at most six points below FedAvg, is shown; the
manifests have all of them. Its FairFed has no local debiasing, and weighs clients by rows instead of shares, so that beta is of that size.
"""


def document(experiment: str, notion: str) -> str:
    """The whole page."""
    rows = [row for row in method_rows(experiment) if row.notion == notion]
    return "\n".join([HEAD, DECLEARN, *_figures(rows), *_differences(rows)])


def is_outside(row: MethodRow) -> bool:
    return row.method.startswith(("fairlearn", "oxonfair", "declearn"))


def _shown(rows: Iterable[MethodRow]) -> list[MethodRow]:
    """FedAvg, ours and the thresholds at one tolerance, and what the tuning chose."""
    return [
        row
        for row in rows
        if (row.setting.endswith(TOLERANCE) and (row.method in OURS or is_outside(row)))
        or (is_outside(row) and row.role == "chosen")
        or row.method == "fedavg"
    ]


def _figures(rows: list[MethodRow]) -> list[str]:
    lines = [
        "| method | setting | seeds | accuracy % | overall gap | worst client's gap |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for row in sorted(_shown(rows), key=lambda row: (row.method not in OURS, row.title)):
        setting = row.setting.removeprefix(row.notion).strip() or "as trained"
        lines.append(
            f"| {row.title} | {setting} | {len(row.seeds)} | {_spread(100 * row.accuracy, 2)} "
            f"| {_spread(row.gap_global, 3)} | {_spread(row.gap_local_worst, 3)} |"
        )
    return [*lines, ""]


def _differences(rows: list[MethodRow]) -> list[str]:
    """Each of ours less each of theirs, where the gaps on test people agree."""
    lines = [
        "## At equal gaps on test people",
        "",
        "Points of accuracy, ours less theirs, ± one standard error over the seeds both have, interpolated on each",
        "method's frontier; **bold** beyond two standard errors over three seeds or more; – where one of the two never gets to that gap.",
        "",
    ]
    theirs = list(dict.fromkeys(row.method for row in rows if is_outside(row)))
    for gap, title, at in AT:
        lines += [
            f"| {title} {at:g} | " + " | ".join(OURS.values()) + " |",
            "| --- " * (1 + len(OURS)) + "|",
        ]
        for method in theirs:
            cells = [_cell(apart(rows, ours, method, gap, at)) for ours in OURS]
            name = rows_of(rows, method)[0].title
            lines.append(f"| {name} | " + " | ".join(cells) + " |")
        lines.append("")
    return lines


def apart(rows: list[MethodRow], ours: str, theirs: str, gap: str, at: float) -> Difference | None:
    mine, other = (frontier_of(rows_of(rows, method), gap) for method in (ours, theirs))
    return difference(mine, other, at)


def _spread(values: np.ndarray, digits: int) -> str:
    known = values[~np.isnan(values)]
    deviation = known.std(ddof=1) if len(known) > 1 else 0.0
    return f"{known.mean():.{digits}f} ± {deviation:.{digits}f}"


def _cell(found: Difference | None) -> str:
    if found is None:
        return "–"
    text = f"{100 * found.mean:+.2f} ± {100 * found.standard_error:.2f}"
    return text if found.verdict == "alike" else f"**{text}**"
