"""The exact region in one round: each client sends a histogram of scores, and nothing more.

For two labels every useful rule is a cut of the score, so how many people of each group and
label lie in each of a few bins says all but where in its bin a cut falls (a lottery over the two
edges stands in for that). For when rounds are dear, or noise is to be added: a person is in
exactly one bin, so the noise of `privacy`'s histogram mechanism protects the release as it
protects a table of counts.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairfl_core.data.counts import ClientCounts
from fairfl_core.data.grouping import Grouping
from fairfl_core.data.scored import ScoredData
from fairfl_core.errors import InputError
from fairfl_core.lp.rate_estimates import Measured

__all__ = ["BINS", "ScoreHistogram"]

BINS = 16
_BYTES = 4  # a count
_PAST = 1e-9  # a cut lies this far past an edge, so that a score on the edge is below it
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ScoreHistogram:
    """People of each client by group, label and bin of the second label's score.

    Attributes
    ----------
    table : ndarray, shape (clients, groups, 2, bins)
        Bin i holds scores above i / bins and up to (i + 1) / bins; the first holds 0 too. With
        an even number of bins the model's own answer is a matter of the bin.
    clients, groups, labels : tuple of str
    favourable : str
    noisy : bool
        Whether noise was added, so that counts are reals.
    folds : int
        How many models gave the scores; see `ScoredData`.
    grouping : Grouping or None
        Of which columns the groups are crossed.
    """

    table: Floats
    clients: tuple[str, ...]
    groups: tuple[str, ...]
    labels: tuple[str, ...]
    favourable: str
    noisy: bool = False
    folds: int = 1
    grouping: Grouping | None = None

    @classmethod
    def of(cls, people: ScoredData, bins: int = BINS) -> "ScoreHistogram":
        """Count people into bins of their scores as the model gave them."""
        if len(people.labels) != 2:
            raise InputError(
                f"a histogram of scores serves two labels, but there are {len(people.labels)}; "
                "use the exact region in rounds, or the kernel."
            )
        if bins < 2 or bins % 2:
            raise InputError(f"there are {bins} bins; use an even number of at least 2.")
        if people.calibration is not None:
            raise InputError(
                "histograms are of the model's own scores (a recalibration is fitted on people, "
                "who stay with their clients); give those."
            )
        shape = (len(people.clients), len(people.groups), 2, bins)
        place = np.clip(np.ceil(people.scores[:, 1] * bins).astype(np.int64) - 1, 0, bins - 1)
        flat = np.ravel_multi_index((people.client, people.group, people.label, place), shape)
        table = np.bincount(flat, minlength=int(np.prod(shape))).reshape(shape).astype(float)
        names = people.clients, people.groups, people.labels, people.favourable
        return cls(table, *names, folds=people.folds, grouping=people.grouping)

    @property
    def bins(self) -> int:
        """How many bins there are."""
        return self.table.shape[3]

    @property
    def counts(self) -> ClientCounts:
        """The table n[client, group, label, prediction] that the bins add up to."""
        half = self.table.reshape(*self.table.shape[:3], 2, self.bins // 2).sum(axis=4)
        names = self.clients, self.groups, self.labels, self.favourable
        return ClientCounts(
            half, *names, noisy=self.noisy, folds=self.folds, grouping=self.grouping
        )

    def measured(self) -> Measured:
        """Return one point for each cell and bin, which the exact region is solved on."""
        clients, groups, _, bins = self.table.shape
        cells = clients * groups
        score = np.tile((np.arange(bins) + 0.5) / bins + _PAST, cells)
        amount = self.table.transpose(0, 1, 3, 2).reshape(cells * bins, 2)
        return Measured(
            cell=np.repeat(np.arange(cells), bins),
            scores=np.stack([1 - score, score], axis=1),
            predicted=np.tile((np.arange(bins) >= bins // 2).astype(np.int64), cells),
            amount=amount,
            counts=self.counts,
            rates="labels",
            bytes_once=groups * 2 * bins * _BYTES,
        )
