"""Made-up people to try with: five hospitals, two groups, an illness."""

import csv
import io

import numpy as np

from fairfl_core.people.counts import ClientCounts

__all__ = ["EXAMPLE", "example_counts", "example_table"]

EXAMPLE = "example-predictions.csv"
_HOSPITALS = {"North": 600, "South": 500, "East": 400, "West": 350, "Harbour": 250}
_LABELS = ("healthy", "ill")
_HEADER = ("patient", "hospital", "sex", "diagnosis", "prediction", "score_healthy", "score_ill")


def _people() -> list[tuple[str, ...]]:
    """Rows of the table. Illness is overlooked more often in women, most of all in Harbour."""
    rng = np.random.default_rng(6)
    rows: list[tuple[str, ...]] = []
    for place, (hospital, size) in enumerate(_HOSPITALS.items()):
        for number in range(size):
            woman = rng.random() < 0.35 + 0.06 * place
            ill = rng.random() < (0.35 if woman else 0.45)
            signal = rng.normal(1.1 if ill else -1.1) - (0.25 + 0.15 * place) * woman
            score = round(float(1 / (1 + np.exp(-signal))), 4)
            patient, sex = f"{hospital[0]}{number + 1:04d}", "woman" if woman else "man"
            answers = _LABELS[ill], _LABELS[score > 0.5]
            rows.append((patient, hospital, sex, *answers, f"{1 - score:.4f}", f"{score:.4f}"))
    return rows


def example_table() -> str:
    """A table of predictions as CSV; the same whenever it is made."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_HEADER)
    writer.writerows(_people())
    return out.getvalue()


def example_counts() -> dict[str, ClientCounts]:
    """Counts of the same people as two files: four hospitals together, and Harbour alone."""
    columns = list(zip(*_people(), strict=True))
    counts = ClientCounts.from_arrays(*(np.array(column) for column in columns[1:5]))
    alone = "Harbour"
    others = [client for client in counts.clients if client != alone]
    return {
        "example-counts-four.json": counts.select_clients(others),
        "example-counts-harbour.json": counts.select_clients([alone]),
    }
