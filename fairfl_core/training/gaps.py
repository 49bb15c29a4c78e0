"""Fairness gaps as training sees them: soft ones, with a gradient."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from fairfl_core.errors import InputError

__all__ = ["NOTIONS", "Gaps", "check_notion", "gaps_of"]

NOTIONS = ("sp", "eop", "eo")


@dataclass(frozen=True, eq=False)
class Gaps:
    """Soft gaps: mean score of a label over one group's rows less that over another's.

    Attributes
    ----------
    side : ndarray, shape (gaps, rows)
        -1 for a row of the first group, 1 for one of the second, 0 for a row left out.
    label : ndarray of int, shape (gaps,)
        Whose score is compared.
    """

    side: NDArray[np.int8]
    label: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.label)

    @property
    def mean_weights(self) -> NDArray[np.float64]:
        """Weights of the two means behind each gap, shape (2, gaps, rows).

        Each sums to 1 over the rows; both are 0 where one of the two groups has no rows.
        """
        members = np.stack([self.side < 0, self.side > 0])
        sizes = members.sum(axis=2, keepdims=True)
        weights: NDArray[np.float64] = members * (sizes.min(axis=0) > 0) / np.maximum(sizes, 1)
        return weights

    @property
    def coefficients(self) -> NDArray[np.float64]:
        """The weights u with gap = sum over rows of u times score, shape (gaps, rows)."""
        first, second = self.mean_weights
        return second - first


def gaps_of(
    notion: str,
    group: NDArray[np.integer],
    label: NDArray[np.integer],
    *,
    groups: int,
    labels: int,
    favourable: int,
) -> Gaps:
    """The gaps of a notion on rows with these groups and labels, for each pair of groups.

    Statistical parity (sp) compares the favourable label's scores over all rows (every label's
    when there are more than two), equal opportunity (eop) over the rows that have this label,
    equalized odds (eo) each label's scores over the rows that have it.
    """
    everyone = np.ones(len(label), bool)
    compared: list[tuple[int, NDArray[np.bool_]]] = []
    if notion == "sp":
        compared = [(y, everyone) for y in ([favourable] if labels == 2 else range(labels))]
    elif notion == "eop":
        compared = [(favourable, label == favourable)]
    elif notion == "eo":
        compared = [(y, label == y) for y in range(labels)]
    else:
        check_notion(notion)
    rates = [
        (y, (group == b).astype(np.int8) * rows - (group == a).astype(np.int8) * rows)
        for y, rows in compared
        for a, b in combinations(range(groups), 2)
    ]
    return Gaps(
        np.array([side for _, side in rates], np.int8).reshape(len(rates), len(label)),
        np.array([y for y, _ in rates], np.int32),
    )


def check_notion(notion: str, known: Sequence[str] = NOTIONS) -> str:
    """The notion, if it is one that is known."""
    if notion not in known:
        raise InputError(f'there is no notion "{notion}"; choose one of: {", ".join(known)}.')
    return notion
