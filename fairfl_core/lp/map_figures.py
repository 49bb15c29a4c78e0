"""What a map says of each of its cells, for a whole row of cells at once."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from fairfl_core.data.counts import ClientCounts
from fairfl_core.fairness.notions import Notion, spreads
from fairfl_core.lp.linear_program import LinearProgram

__all__ = ["MapFigures"]

Floats = NDArray[np.float64]


class MapFigures:
    """Accuracy, global gap, mean and worst local gap from optima of a program."""

    def __init__(self, program: LinearProgram, notion: Notion, counts: ClientCounts) -> None:
        self._people, self._n, rules = notion.people(counts.n_label), counts.n, program.rules
        _, groups, rates = self._people.shape
        place = ((rules.client * groups + rules.group) * rates)[:, None] + np.arange(rates)
        rule = np.repeat(np.arange(len(rules)), rates)
        answered = sparse.csr_array(
            (notion.answered(rules.confusion).ravel(), (place.ravel(), rule)),
            (self._people.size, len(rules)),
        )
        correct = sparse.csr_array(rules.correct[None])
        self._matrix = sparse.vstack([answered, correct]) @ program.shares
        self._first = program.auxiliary

    def of(self, cells: Sequence[Floats | None]) -> Floats:
        """Return the figures of optima x, (4, cells); NaN for None."""
        distinct = {id(x): x[self._first :] for x in cells if x is not None}
        figures = dict(zip(distinct, self._each(list(distinct.values())), strict=True))
        nothing = np.full(4, np.nan)
        return np.stack([figures.get(id(x), nothing) for x in cells], axis=1)

    def _each(self, values: list[Floats]) -> Floats:
        """Return the figures of every one of these, shape (cells, 4)."""
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
