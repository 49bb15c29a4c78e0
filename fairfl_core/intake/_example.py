"""Made-up people to try with: five hospitals, two groups, an illness."""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from fairfl_core.data.counts import ClientCounts

EXAMPLE = "example-predictions.csv"
EXAMPLE_FOLDS = "example-cross-fitted.csv"
_FOLDS = 4
_HOSPITALS = {"North": 600, "South": 500, "East": 400, "West": 350, "Harbour": 250}
_LABELS = ("healthy", "ill")
_HEADER = ("patient", "hospital", "sex", "diagnosis", "prediction", "score_healthy", "score_ill")


def _people() -> Iterator[tuple[str, str, str, str, float]]:
    """Patient, hospital, sex, diagnosis, and what a model sees of it.

    Illness is overlooked more often in women, most of all in Harbour.
    """
    rng = np.random.default_rng(6)
    for place, (hospital, size) in enumerate(_HOSPITALS.items()):
        for number in range(size):
            woman = rng.random() < 0.35 + 0.06 * place
            ill = rng.random() < (0.35 if woman else 0.45)
            signal = rng.normal(1.1 if ill else -1.1) - (0.25 + 0.15 * place) * woman
            patient, sex = f"{hospital[0]}{number + 1:04d}", "woman" if woman else "man"
            yield patient, hospital, sex, _LABELS[ill], float(signal)


def _answered(signal: float) -> tuple[str, str, str]:
    """A model's answer and its two scores."""
    score = round(float(1 / (1 + np.exp(-signal))), 4)
    return _LABELS[score > 0.5], f"{1 - score:.4f}", f"{score:.4f}"


def _rows() -> list[tuple[str, ...]]:
    return [(*who, *_answered(signal)) for *who, signal in _people()]


def _rows_of_folds() -> Iterator[tuple[str, ...]]:
    """The same people cross-fitted: one row of their fold, and of every fold for each fifth."""
    noise = np.random.default_rng(7).normal(0, 0.3, (sum(_HOSPITALS.values()), _FOLDS))
    for number, (*who, signal) in enumerate(_people()):
        test = number % 5 == 4
        for fold in range(_FOLDS) if test else [number % _FOLDS]:
            answered = _answered(signal + float(noise[number, fold]))
            yield *who, *answered, "test" if test else "fit", str(fold)


def _as_csv(header: Sequence[str], rows: Iterable[tuple[str, ...]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return out.getvalue()


def example_table() -> str:
    """A table of predictions as CSV; the same whenever it is made."""
    return _as_csv(_HEADER, _rows())


def example_folds() -> str:
    """The same people in a cross-fitted table, with the columns split and fold."""
    return _as_csv((*_HEADER, "split", "fold"), _rows_of_folds())


def example_counts() -> dict[str, ClientCounts]:
    """Counts of the same people as two files: four hospitals together, and Harbour alone."""
    columns = list(zip(*_rows(), strict=True))
    counts = ClientCounts.from_arrays(*(np.array(column) for column in columns[1:5]))
    alone = "Harbour"
    others = [client for client in counts.clients if client != alone]
    return {
        "example-counts-four.json": counts.select_clients(others),
        "example-counts-harbour.json": counts.select_clients([alone]),
    }
