"""FCFL in its authors' released set-up: what `benchmarks/fcfl_released.py` kept, beside theirs.

A linear model, categorical columns, the sensitive ones removed, the official split: what the
paper's FCFL row was probably made with.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairfl_core._io.files import read_json
from fairfl_core.data.experiments import METHODS_FOLDER
from fairfl_core.fairness.notions import Notion

__all__ = ["RELEASED", "RELEASED_FORMAT", "released_table"]

RELEASED = METHODS_FOLDER / "fcfl_released.json"
RELEASED_FORMAT = "fairfl-fcfl-released/1"
# Test accuracy and signed gap (men less women) of [doctorate, other] in the authors' repository.
REPORTED = {
    ("sp", 1.0): (None, (0.129, 0.140)),
    ("eop", 0.05): ((0.696, 0.818), (0.0006, -0.042)),
}


def released_table() -> list[str]:
    """A row a setting: both clients' accuracy and gap on test people, ± one standard error."""
    if not RELEASED.is_file():
        return []
    kept: dict[str, Any] = read_json(RELEASED)
    n = np.array(kept["rows"][0]["confusion"]).sum(axis=(1, 2, 3))
    people = ", ".join(
        f"{name} {number:,}" for name, number in zip(kept["clients"], n, strict=True)
    )
    lines = [
        "### FCFL as its authors released it",
        "",
        "Adult with categorical columns only, sex not among the inputs, a linear model, full-batch steps, the official "
        f"split (test people: {people}); figures are by client in that order, ± one standard error; one run each. Made by "
        "`benchmarks/fcfl_released.py`.",
        "",
        "| notion | epsilon | step | accuracy % by client | pooled accuracy % | gap by client (men less women) "
        "| authors: accuracy %, gap |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    lines += [_row(row, kept["labels"]) for row in kept["rows"]]
    return [*lines, ""]


def _row(row: dict[str, Any], labels: list[str]) -> str:
    table = np.array(row["confusion"], float)
    right, n = np.einsum("cayy->c", table), table.sum(axis=(1, 2, 3))
    accuracy = [
        _share(100 * part / whole, _error(part, whole, 100), 1)
        for part, whole in zip(right, n, strict=True)
    ]
    gaps = [_share(gap, error, 3) for gap, error in _gaps(row["notion"], table, labels)]
    pooled = _share(100 * right.sum() / n.sum(), _error(right.sum(), n.sum(), 100), 1)
    theirs, apart = REPORTED.get((row["notion"], row["epsilon"]), (None, None))
    beside = "; ".join(
        filter(
            None,
            (
                "" if theirs is None else ", ".join(f"{100 * value:.1f}" for value in theirs),
                "" if apart is None else ", ".join(f"{value:+.3f}" for value in apart),
            ),
        )
    )
    return (
        f"| {row['notion']} | {row['epsilon']:g} | {row['rate']:g} | {', '.join(accuracy)} | {pooled} "
        f"| {', '.join(gaps)} | {beside} |"
    )


def _gaps(notion: str, table: NDArray[np.float64], labels: list[str]) -> list[tuple[float, float]]:
    """Each client's rate of the second group less that of the first, with its standard error."""
    rule = Notion.of(notion, tuple(labels), labels[-1])
    answered, people = rule.answered(table)[..., 0], rule.people(table.sum(axis=3))[..., 0]
    rate = answered / people
    error = np.sqrt((rate * (1 - rate) / people).sum(axis=1))
    return [(float(g), float(e)) for g, e in zip(rate[:, 1] - rate[:, 0], error, strict=True)]


def _error(part: float, whole: float, scale: float) -> float:
    share = part / whole
    return float(scale * np.sqrt(share * (1 - share) / whole))


def _share(value: float, error: float, digits: int) -> str:
    return f"{value:.{digits}f} ± {error:.{digits}f}"
