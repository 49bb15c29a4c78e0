"""The notions of fairness, each as a set of rates that are linear in a client's counts.

A *rate* is a share of a group's people: among those a condition picks, those who get some answer.
A *gap* is how far apart the groups' rates lie (largest minus smallest), at its worst over the
notion's rates; inside one client it is local, over the pooled people of all clients global
(paper, definitions 2 and 3, and appendix "Extension to other fairness metrics").
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fairfl_core.errors import InputError

if TYPE_CHECKING:
    from fairfl_core.data.counts import ClientCounts

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Rate:
    """Pr(answer | label), or Pr(answer) over all labels where `label` is None."""

    answer: str
    label: str | None

    def __str__(self) -> str:
        return f"Pr(answer={self.answer}" + (f" | label={self.label})" if self.label else ")")


class NotionKind(ABC):
    """What a notion of fairness is before it meets labels; a new one is one new file.

    Attributes
    ----------
    name : str
        Its name on the command line, in files and in links.
    title : str
        Its name in words.
    meaning : str
        What it asks, in one sentence; ``{favourable}`` stands for the favourable label.
    aliases : tuple of str
        What fairlearn calls it.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    meaning: ClassVar[str]
    aliases: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def rates(self, labels: tuple[str, ...], favourable: str) -> tuple[Rate, ...]:
        """The rates it wants equal across groups.

        With two labels the rates of the two answers sum to one and have the same gap: one of
        them is enough.
        """


_KINDS: dict[str, NotionKind] = {}


def register_notion(kind: type[NotionKind]) -> type[NotionKind]:
    """Make a notion known by its name; used as a decorator."""
    _KINDS[kind.name] = kind()
    return kind


@register_notion
class StatisticalParity(NotionKind):
    """Pr(answer | group) equal for every answer (the paper, definition of SP; its LP, not its typo)."""

    name = "sp"
    title = "Statistical parity"
    aliases = ("demographic_parity", "selection_rate_parity")
    meaning = "Every group gets each answer equally often, whatever is true of them."

    def rates(self, labels: tuple[str, ...], favourable: str) -> tuple[Rate, ...]:
        """Pr(answer) for every answer."""
        answers = labels if len(labels) > 2 else (favourable,)
        return tuple(Rate(answer, None) for answer in answers)


@register_notion
class EqualOpportunity(NotionKind):
    """Pr(favourable | favourable, group) equal."""

    name = "eop"
    title = "Equal opportunity"
    aliases = ("equal_opportunity", "true_positive_rate_parity")
    meaning = "Among people who truly are “{favourable}”, every group is recognised equally often."

    def rates(self, labels: tuple[str, ...], favourable: str) -> tuple[Rate, ...]:
        """Pr(favourable | favourable)."""
        return (Rate(favourable, favourable),)


@register_notion
class EqualizedOdds(NotionKind):
    """Pr(y | y, group) equal for every label y: the diagonal of the confusion."""

    name = "eo"
    title = "Equalized odds"
    aliases = ("equalized_odds",)
    meaning = "For each true answer, every group is recognised equally often."

    def rates(self, labels: tuple[str, ...], favourable: str) -> tuple[Rate, ...]:
        """Pr(y | y) for every label."""
        return tuple(Rate(label, label) for label in labels)


@register_notion
class EqualizedOddsFull(NotionKind):
    """Pr(k | y, group) equal for every label y and answer k."""

    name = "eo-full"
    title = "Equalized odds, all errors"
    meaning = "For each true answer, every group gets each answer, right or wrong, equally often."

    def rates(self, labels: tuple[str, ...], favourable: str) -> tuple[Rate, ...]:
        """Pr(k | y) for every label and answer."""
        answers = labels if len(labels) > 2 else (favourable,)
        return tuple(Rate(answer, label) for label in labels for answer in answers)


def notion_names() -> tuple[str, ...]:
    """Every notion that is known, in the order of registration."""
    return tuple(_KINDS)


def notion_kind(name: str) -> NotionKind:
    """The notion of a name, ours or fairlearn's, or a sentence that lists those there are."""
    found = next((kind for kind in _KINDS.values() if name in (kind.name, *kind.aliases)), None)
    if found is None:
        raise InputError(f'there is no notion "{name}"; choose one of {", ".join(_KINDS)}.')
    return found


@dataclass(frozen=True)
class Notion:
    """The rates that a notion wants equal across groups, for given labels.

    Attributes
    ----------
    name : str
        One of `notion_names`.
    labels : tuple of str
        The labels it was made for.
    rates : tuple of Rate
    """

    name: str
    labels: tuple[str, ...]
    rates: tuple[Rate, ...]

    @classmethod
    def of(cls, name: str, labels: tuple[str, ...], favourable: str) -> "Notion":
        """Make the notion called `name` for these labels."""
        kind = notion_kind(name)
        return cls(kind.name, labels, kind.rates(labels, favourable))

    @property
    def counts_errors(self) -> bool:
        """Whether some rate counts a wrong answer: then who is wrong how matters, too."""
        return any(rate.label not in (None, rate.answer) for rate in self.rates)

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
        return np.asarray(np.tensordot(confusion, self.counted, axes=2))

    @cached_property
    def counted(self) -> Floats:
        """Which label and answer each rate counts, shape (labels, answers, rates)."""
        return np.einsum("ry,rk->ykr", self.given, self.asked)


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
    overall, local = spreads(answered, people)
    return Gaps(float(overall), local)


def spreads(answered: Floats, people: Floats) -> tuple[Floats, Floats]:
    """Overall and local gaps of many lotteries at once.

    `answered` has the shape (..., clients, groups, rates), `people` the last three; the gaps have
    the shapes (...) and (..., clients).
    """
    overall = spread(answered.sum(axis=-3), people.sum(axis=0))
    return overall, spread(answered, people)


def spread(answered: Floats, people: Floats) -> Floats:
    """Largest minus smallest rate over groups, at its worst over rates.

    A group nobody is in has no rate and is left out, never imputed; a rate that fewer than two
    groups have is not compared.
    """
    there = people > 0
    rate = np.divide(answered, people, out=np.zeros_like(answered), where=there)
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


def not_assessable(notion: Notion, counts: "ClientCounts") -> tuple[NotAssessable, ...]:
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
