"""What a map tells of each of its cells, for a whole row of cells at once."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fairfl_core.data.counts import ClientCounts
from fairfl_core.fairness.notions import Notion, spreads
from fairfl_core.lp.sharing import Sharing

__all__ = ["MapFigures"]

Floats = NDArray[np.float64]


class MapFigures:
    """Accuracy, global gap, mean and worst local gap from the values of a program's variables.

    Parameters
    ----------
    sharing : Sharing
    notion : Notion
    counts : ClientCounts
    """

    def __init__(self, sharing: Sharing, notion: Notion, counts: ClientCounts) -> None:
        from scipy import sparse  # starts slowly, and a solve has no map

        self._people = notion.people(counts.n_label)
        self._n = counts.n
        columns = sharing.columns
        clients, groups, rates = self._people.shape
        answered = notion.answered(columns.confusion)
        cell = (columns.client * groups + columns.group) * rates
        places = [cell + rate for rate in range(rates)]
        row = np.concatenate([*places, np.full(len(columns), self._people.size)])
        value = np.concatenate([answered.T.ravel(), columns.correct])
        variable = np.tile(sharing.variable, rates + 1)
        shape = (self._people.size + 1, len(sharing.merged))
        self._matrix = sparse.csr_array((value, (row, variable)), shape=shape)

    def of(self, cells: Sequence[Floats | None]) -> Floats:
        """The figures of cells by the values of their variables, (4, cells); NaN for None."""
        distinct = {id(values): values for values in cells if values is not None}
        figures = dict(zip(distinct, self._each(list(distinct.values())), strict=True))
        nothing = np.full(4, np.nan)
        return np.stack([figures.get(id(values), nothing) for values in cells], axis=1)

    def _each(self, values: list[Floats]) -> Floats:
        """The figures of every one of these, shape (cells, 4)."""
        if not values:
            return np.zeros((0, 4))
        sums = self._matrix @ np.stack(values, axis=1)
        answered = sums[:-1].T.reshape(len(values), *self._people.shape)
        overall, local = spreads(answered, self._people)
        there = ~np.isnan(local)
        many = there.sum(axis=1)
        total = np.where(there, local, 0.0).sum(axis=1)
        mean = np.divide(total, many, out=np.full(len(values), np.nan), where=many > 0)
        return np.stack([sums[-1] / self._n, overall, mean, np.fmax.reduce(local, axis=1)], axis=1)
