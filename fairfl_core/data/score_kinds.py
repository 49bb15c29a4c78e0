"""What a model's numbers are: probabilities, logits, votes, or the probability of one label.

Everything behind this file works with a probability for each label. Here other numbers are turned
into such, and what cannot be one is refused in a sentence that names its column.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fairfl_core._io.names import listed, shown
from fairfl_core.errors import InputError, check_type

__all__ = ["SCORE_KINDS", "as_probabilities", "check_column", "of_one_probability"]

Floats = NDArray[np.float64]
SCORE_KINDS = ("probabilities", "logits", "votes")
_FEW = 20  # rows: fewer whole numbers may all differ by chance


def check_column(values: Floats, header: str, kind: str = "probabilities") -> None:
    """Refuse a column that cannot hold such numbers; cells without a number are not looked at."""
    there = values[~np.isnan(values)]
    name = f'column "{shown(header)}"'
    if not len(there):
        raise InputError(
            f"{name} holds no number, so it is no score; choose the column of the model's numbers."
        )
    low, high = float(there.min()), float(there.max())
    whole = bool((there == np.round(there)).all())
    if whole and len(there) > _FEW and len(np.unique(there)) == len(there):
        raise InputError(
            f"{name} holds {len(there):,} whole numbers of which no two are the same: it looks "
            "like an id, and no score; choose the column of the model's numbers."
        )
    if kind == "probabilities" and (low < 0 or high > 1):
        raise InputError(
            f"{name} runs from {low:,.6g} to {high:,.6g}, and a probability lies between 0 and 1; "
            "choose another column, or say what its numbers are (logits, votes)."
        )
    if kind == "votes" and low < 0:
        raise InputError(
            f"{name} holds {low:,.6g}, and nobody has fewer votes than none; say what its numbers "
            "are, or choose another column."
        )


def as_probabilities(scores: Floats, kind: str) -> Floats:
    """A probability for each label: softmax of logits, each label's share of votes.

    Probabilities are returned as they are; `check_scores` tells whether they sum to one.
    """
    if kind not in SCORE_KINDS:
        raise InputError(f'scores are one of {listed(SCORE_KINDS)}, not "{shown(kind)}".')
    if kind == "logits":
        odds = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(odds / odds.sum(axis=1, keepdims=True))
    if kind == "votes":
        cast = scores.sum(axis=1, keepdims=True)
        return np.asarray(
            np.divide(scores, cast, out=np.full_like(scores, np.nan), where=cast > 0)
        )
    return scores


def of_one_probability(
    chance: Floats, label: str, labels: Sequence[str], threshold: float = 0.5
) -> Floats:
    """Scores of both labels from the probability of one of them, shape (people, 2).

    The model answers `label` from `threshold` on. Where that is not a half, the odds are divided
    by the threshold's own, so that the larger score is the answer that was given; the order of
    people stays, and every rule of the exact region looks at nothing else.
    """
    if len(labels) != 2:
        raise InputError(
            f"one probability tells of two labels, and there are {len(labels)} "
            f"({listed(labels, 4)}); give a score for each label."
        )
    if label not in labels:
        raise InputError(f'"{shown(label)}" is none of the labels {listed(labels)}; name one.')
    check_type(threshold, (int, float), "the threshold", "a number between 0 and 1")
    if not 0 < threshold < 1:
        raise InputError(f"the threshold {threshold:g} is not between 0 and 1; give one that is.")
    answered = chance >= threshold
    for_it, against = chance * (1 - threshold), (1 - chance) * threshold
    shifted = for_it / (for_it + against)
    # Of equal scores the first label would be the answer, whichever was meant.
    half = np.nextafter(0.5, [0.0, 1.0])
    shifted = np.where(answered, np.maximum(shifted, half[1]), np.minimum(shifted, half[0]))
    shifted = np.where(np.isnan(chance), np.nan, shifted)
    pair = [1 - shifted, shifted]
    return np.stack(pair if labels[1] == label else pair[::-1], axis=1)
