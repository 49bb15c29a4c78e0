"""What the fair methods have in common: a notion, and how a round is chosen."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fairfl_core.errors import InputError
from fairfl_core.training.method import HeldOut, LocalRound, Method, Plan
from research.trained.gaps import NOTIONS, Gaps, check_notion, gaps_of, rates_of


@dataclass(frozen=True)
class FairMethod(Method):
    """A method that trains towards a small gap.

    The round kept has the least error plus global gap on validation rows: the loss alone would
    keep the rounds before a method has become fair. A method that looks at gaps inside clients
    takes their mean instead, weighted by rows, as small clients' gaps are mostly chance.

    Attributes
    ----------
    notion : {"sp", "eop", "eo"}

    A class says of its method which `notions` it serves, whether at the `level` of clients, of
    all, or both, by which `approach`, and whether with more than two labels (`multi_class`).
    """

    level: ClassVar[str] = "global"
    approach: ClassVar[str] = "in-processing"
    multi_class: ClassVar[bool] = False
    criterion_title: ClassVar[str] = "error plus global gap"
    notions: ClassVar[tuple[str, ...]] = NOTIONS
    looks_inside_clients: ClassVar[bool] = False

    notion: str = "sp"

    def __post_init__(self) -> None:
        check_notion(self.notion, self.notions)

    def criterion(self, people: HeldOut) -> float:
        """Error plus gap."""
        counts, favourable = people.counts, people.plan.favourable
        if not self.looks_inside_clients:
            gap = rates_of(self.notion, counts.sum(axis=0), favourable).gap
            return 1 - people.accuracy + float(np.nan_to_num(gap))
        gaps = rates_of(self.notion, counts, favourable).gap
        rows = counts.sum(axis=(1, 2, 3)) * ~np.isnan(gaps)
        return 1 - people.accuracy + float(np.nan_to_num(gaps) @ rows / max(rows.sum(), 1))

    def check_not_below_0(self, *names: str) -> None:
        """Refuse settings below 0."""
        for name in names:
            if getattr(self, name) < 0:
                raise InputError(f"{name} must not be below 0, as {getattr(self, name):g} is.")

    def soft_gaps(self, local: LocalRound) -> Gaps:
        """The notion's gaps over the rows of a client, for a gradient."""
        _, groups, labels = local.plan.counts.shape
        return gaps_of(
            self.notion,
            local.group,
            local.label,
            groups=groups,
            labels=labels,
            favourable=local.plan.favourable,
        )

    def check_two_by_two(self, plan: Plan) -> None:
        """Refuse more than two groups or labels, where the method is defined for two."""
        _, groups, labels = plan.counts.shape
        if groups != 2 or labels != 2:
            raise InputError(
                f"{self.title} compares two groups and answers with two labels; "
                f"here are {groups} groups and {labels} labels."
            )


def check_choice(name: str, value: str, known: tuple[str, ...]) -> None:
    """Refuse a setting that is none of those known."""
    if value not in known:
        raise InputError(f'{name} "{value}" is none of: {", ".join(known)}.')
