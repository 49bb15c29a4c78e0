"""The notions of fairness, each as a set of rates that are linear in a client's counts.

A *rate* is a share of a group's people: among those a condition picks, those who get some answer.
A *gap* is how far apart the groups' rates lie (largest minus smallest), at its worst over the
notion's rates; inside one client it is local, over the pooled people of all clients global
(paper, definitions 2 and 3, and appendix "Extension to other fairness metrics").
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairfl_core.errors import InputError
from fairfl_core.people.counts import ClientCounts

__all__ = [
    "NOTIONS",
    "Gaps",
    "NotAssessable",
    "Notion",
    "Rate",
    "gaps",
    "not_assessable",
    "number_or_none",
]

NOTIONS = ("sp", "eop", "eo", "eo-full")
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Rate:
    """Pr(answer | label), or Pr(answer) over all labels where `label` is None."""

    answer: str
    label: str | None

    def __str__(self) -> str:
        return f"Pr(answer={self.answer}" + (f" | label={self.label})" if self.label else ")")


@dataclass(frozen=True)
class Notion:
    """The rates that a notion wants equal across groups.

    Attributes
    ----------
    name : str
        One of `NOTIONS`.
    labels : tuple of str
        The labels it was made for.
    rates : tuple of Rate
        ``sp``: Pr(answer) for every answer. ``eop``: Pr(favourable | favourable). ``eo``:
        Pr(y | y) for every label (the paper's equalized odds: the diagonal). ``eo-full``:
        Pr(j | y) for every label and answer (the textbook definition). With two labels the
        rates of the two answers sum to one and have the same gap: only one is kept.
    """

    name: str
    labels: tuple[str, ...]
    rates: tuple[Rate, ...]

    @classmethod
    def of(cls, name: str, labels: tuple[str, ...], favourable: str) -> "Notion":
        """Make the notion called `name` for these labels."""
        answers = labels if len(labels) > 2 else (favourable,)
        if name == "sp":
            rates = [Rate(answer, None) for answer in answers]
        elif name == "eop":
            rates = [Rate(favourable, favourable)]
        elif name == "eo":
            rates = [Rate(label, label) for label in labels]
        elif name == "eo-full":
            rates = [Rate(answer, label) for label in labels for answer in answers]
        else:
            raise InputError(f'there is no notion "{name}"; choose one of {", ".join(NOTIONS)}.')
        return cls(name, labels, tuple(rates))

    @property
    def given(self) -> Floats:
        """Which labels each rate is conditioned on, shape (rates, labels), of zeros and ones."""
        return np.array(
            [[rate.label in (None, label) for label in self.labels] for rate in self.rates], float
        )

    @property
    def asked(self) -> Floats:
        """Which answer each rate counts, shape (rates, labels), of zeros and ones."""
        return np.array(
            [[rate.answer == label for label in self.labels] for rate in self.rates], float
        )

    def people(self, n_label: NDArray[Any]) -> Floats:
        """People each rate is a share of, from n[..., label]; shape (..., rates)."""
        return np.asarray(n_label @ self.given.T, dtype=float)

    def answered(self, confusion: NDArray[Any]) -> Floats:
        """People each rate counts, from confusion[..., label, answer]; shape (..., rates)."""
        return np.einsum("...yk,ry,rk->...r", confusion, self.given, self.asked, optimize=True)


@dataclass(frozen=True)
class Gaps:
    """The global gap, and each client's local one; NaN where there is nothing to compare."""

    overall: float
    local: Floats

    @property
    def local_mean(self) -> float:
        """The paper's "local disparity": the mean over the clients that have a gap."""
        defined = self.local[~np.isnan(self.local)]
        return float(defined.mean()) if defined.size else float("nan")

    @property
    def local_worst(self) -> float:
        """The largest of the clients' gaps."""
        return float(np.fmax.reduce(self.local))

    @property
    def worst(self) -> int | None:
        """Position of the client with the largest gap; None if no client has one."""
        return None if np.isnan(self.local).all() else int(np.nanargmax(self.local))


def gaps(answered: Floats, people: Floats) -> Gaps:
    """Gaps from the counts behind the rates, both of shape (clients, groups, rates).

    The global rates pool clients with the weights p_ac^y / alpha_a^y (eo, eop) or u_ac / u_a
    (sp), which is the same as adding up people.
    """
    everyone = (np.concatenate([part.sum(axis=0)[None], part]) for part in (answered, people))
    spread = _spread(*everyone)
    return Gaps(float(spread[0]), spread[1:])


def _spread(answered: Floats, people: Floats) -> Floats:
    """Largest minus smallest rate over groups, at its worst over rates.

    A group nobody is in has no rate and is left out, never imputed; a rate that fewer than two
    groups have is not compared.
    """
    there = people > 0
    rate = np.divide(answered, people, out=np.zeros_like(people), where=there)
    highest = np.max(rate, axis=-2, where=there, initial=-np.inf)
    lowest = np.min(rate, axis=-2, where=there, initial=np.inf)
    compared = there.sum(axis=-2) > 1
    gap = np.where(compared, highest - lowest, -np.inf).max(axis=-1)
    return np.asarray(np.where(np.isneginf(gap), np.nan, gap))


@dataclass(frozen=True)
class NotAssessable:
    """A group with nobody behind a rate; `label` is None for a rate over all labels (sp)."""

    client: str
    group: str
    label: str | None
    n: float


def not_assessable(notion: Notion, counts: ClientCounts) -> tuple[NotAssessable, ...]:
    """Return every (client, group, label) whose rate nobody is behind."""
    people = notion.people(counts.n_label)
    found = {
        (int(c), int(a), notion.rates[r].label): people[c, a, r]
        for c, a, r in np.argwhere(people <= 0)
    }
    return tuple(
        NotAssessable(counts.clients[c], counts.groups[a], label, float(n))
        for (c, a, label), n in found.items()
    )


def number_or_none(value: float) -> float | None:
    """JSON has no NaN: what is undefined is null."""
    return None if np.isnan(value) else float(value)
