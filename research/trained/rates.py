"""Hard fairness gaps from counts of answers, as the trained fair methods see them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairfl_core.training.gaps import check_notion

__all__ = ["Rates", "favourable_rates_of", "rates_of"]


@dataclass(frozen=True, eq=False)
class Rates:
    """People whom a notion's rates count, and people behind them, from counts of answers.

    Attributes
    ----------
    answered, people : ndarray, shape (..., groups, rates)
    """

    answered: NDArray[np.float64]
    people: NDArray[np.float64]

    @property
    def rates(self) -> NDArray[np.float64]:
        """Each group's rates; NaN where nobody is behind one."""
        nobody = np.full(self.people.shape, np.nan)
        return np.divide(self.answered, self.people, out=nobody, where=self.people > 0)

    @property
    def gap(self) -> NDArray[np.float64]:
        """Largest less smallest rate over groups, at its worst over rates; NaN without two groups."""
        rates, known = self.rates, self.people > 0
        top = np.where(known, rates, -np.inf).max(axis=-2)
        low = np.where(known, rates, np.inf).min(axis=-2)
        spread = np.where(known.sum(axis=-2) > 1, top - low, np.nan)
        worst = np.where(np.isnan(spread), -np.inf, spread).max(axis=-1)
        return np.where(np.isneginf(worst), np.nan, worst)

    @property
    def signed(self) -> NDArray[np.float64]:
        """First group less second, of the first rate: for methods of two groups and one rate."""
        rates = self.rates[..., 0]
        difference: NDArray[np.float64] = rates[..., 0] - rates[..., 1]
        return difference


def rates_of(notion: str, counts: NDArray[np.integer], favourable: int) -> Rates:
    """The rates of a notion from n[..., group, label, answer]; labels and rates as in `gaps_of`."""
    labels = range(counts.shape[-1])
    table = np.asarray(counts, float)
    if notion == "sp":
        answers = [favourable] if len(labels) == 2 else list(labels)
        answered = table.sum(axis=-2)[..., answers]
        return Rates(
            answered, np.broadcast_to(table.sum(axis=(-2, -1))[..., None], answered.shape)
        )
    known = {"eop": [favourable], "eo": list(labels)}[check_notion(notion)]
    return Rates(np.einsum("...yy->...y", table)[..., known], table.sum(axis=-1)[..., known])


def favourable_rates_of(notion: str, counts: NDArray[np.integer], favourable: int) -> Rates:
    """The rates of a notion, of two labels all of the favourable answer: TPR and FPR for eo.

    A difference of TNRs is one of FPRs, a ratio is not. Of more labels they are those of `rates_of`.
    """
    if notion == "eo" and counts.shape[-1] == 2:
        table = np.asarray(counts, float)
        return Rates(table[..., favourable], table.sum(axis=-1))
    return rates_of(notion, counts, favourable)
