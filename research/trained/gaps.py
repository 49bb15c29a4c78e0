"""Fairness gaps as the fair methods see them: soft ones with a gradient, hard ones from counts."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Protocol, cast

import numpy as np
from numpy.typing import NDArray

from fairfl_core.errors import InputError
from fairfl_core.training.method import Trainer
from fairfl_core.training.training import Prepared

Floats = NDArray[np.float64]
Theta = NDArray[np.float32]
Rows = NDArray[np.int32]


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


@dataclass(frozen=True, eq=False)
class Penalty:
    """What a penalised epoch adds to the loss: `strength` times the sum of squared gaps.

    A gap on a batch is noise for the most part, and its square is the noise's variance. So the two
    means behind a gap run along: they start as those of all rows, and each batch moves them by
    ``1 - momentum``. A batch without rows of a group leaves its mean as it is.

    Attributes
    ----------
    gaps : Gaps
        What is compared; its rows stand in the order of the epoch's.
    strength : float
        How much the penalty counts beside the loss.
    momentum : float
        0 takes each batch by itself, 0.9 looks back over about ten.
    clip : float
        The longest gradient that is taken as it is; a longer one is shortened to it.
    """

    gaps: Gaps
    strength: float
    momentum: float
    clip: float = np.inf


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


class GradientTrainer(Trainer, Protocol):
    """A trainer with penalised epochs and gradients."""

    def penalised_epoch(
        self, theta: Theta, rows: Rows, weight: Theta, seed: int, penalty: Penalty
    ) -> Theta:
        """Train once through `rows` as `epoch` does, on the weighted loss and the penalty."""
        ...

    def loss_gradient(self, theta: Theta, rows: Rows, weight: Theta) -> tuple[float, Floats]:
        """The weighted mean loss over all of `rows` and its gradient; images as they are."""
        ...

    def gap_gradient(
        self, theta: Theta, rows: Rows, gaps: Gaps, sharpness: float = 1.0, bound: float = np.inf
    ) -> tuple[Floats, Floats]:
        """Signed soft gaps over all of `rows`, and their gradients.

        Parameters
        ----------
        theta : ndarray
        rows : ndarray of int
        gaps : Gaps
            What is compared; its rows stand in the order of `rows`.
        sharpness : float
            The score is the sigmoid of so many times its log-odds: 1 is the score itself, 10
            (FCFL) is near the hard decision.
        bound : float
            Log-odds beyond it are cut off, so that sharpened scores keep a slope.

        Returns
        -------
        values : ndarray, shape (gaps,)
            Second group less first; 0 where a group has no rows.
        gradients : ndarray, shape (gaps, p)
        """
        ...


def gradients_of(trainer: Trainer) -> GradientTrainer:
    """The same trainer, which has to be one of `with_gradients`."""
    return cast(GradientTrainer, trainer)


def with_gradients(prepared: Prepared) -> Prepared:
    """The same people with a trainer that any method of research can use."""
    from research.trained.tensorflow_gradients import TensorFlowGradients

    federation, parallel = prepared.federation, prepared.trainer.parallel
    trainer = TensorFlowGradients(federation, prepared.recipe, parallel)
    return replace(prepared, trainer=trainer)
