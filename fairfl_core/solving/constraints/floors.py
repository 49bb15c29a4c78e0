"""Rows that forbid levelling down: how often a label must be recognised, cell by cell."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairfl_core.fairness.notions import Notion, Rate
from fairfl_core.people.counts import ClientCounts
from fairfl_core.people.shares import normal_quantile
from fairfl_core.solving.columns import Columns
from fairfl_core.solving.constraints.base import NO_EPSILON, Entries, RateConstraints
from fairfl_core.solving.constraints.widths import (
    Widths,
    clopper_pearson,
    dvoretzky,
    scheffe,
)
from fairfl_core.solving.guarantee import Guarantee
from fairfl_core.solving.policy import Floor

__all__ = ["FloorConstraints"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_PENALTY = 1e4  # of one whole recognition; the objective is in units of a cell's people


@dataclass(frozen=True, eq=False)
class FloorConstraints(RateConstraints):
    """Pr(answer y | label y) is at least a floor in every client and group that has people.

    With a guarantee the lower end of the rate is: a mixture's deviation is at most the mixture
    of its rules' deviations. What is kept of the model's own rate is judged by the change from
    it, in which keeping the model's answer has no error at all.

    Attributes
    ----------
    floors : tuple of Floor
    notion, place, weight
        See `RateConstraints`; the rates are the recognitions of the floors' labels.
    client, group, floor : ndarray, shape (rows,)
    lower : ndarray, shape (rows,)
        What each row is at least.
    guarantee : Guarantee or None
    cuts : bool
        Whether rules are cuts of a score: see `MarginConstraints`.
    people : ndarray, shape (clients, groups, floors)
        Those behind each recognition.
    soft : bool
        Whether each row has an auxiliary column that makes up for what is missing.
    times : float
        As if each client had so many times its people: see `MarginConstraints`.
    """

    floors: tuple[Floor, ...]
    notion: Notion
    client: Ints
    group: Ints
    floor: Ints
    lower: Floats
    place: Ints
    weight: Floats
    people: Floats
    guarantee: Guarantee | None
    cuts: bool
    soft: bool = False
    times: float = 1.0

    @classmethod
    def of(
        cls,
        floors: tuple[Floor, ...],
        counts: ClientCounts,
        guarantee: Guarantee | None,
        *,
        cuts: bool,
        soft: bool = False,
        times: float = 1.0,
    ) -> "FloorConstraints":
        """Lay the rows out: one for every floor, client and group with people of its label."""
        notion = Notion(
            "floors", counts.labels, tuple(Rate(one.label, one.label) for one in floors)
        )
        people = notion.people(counts.n_label)
        own = np.divide(
            notion.answered(np.asarray(counts.table, float)),
            people,
            out=np.zeros_like(people),
            where=people > 0,
        )
        least = np.array([one.rate if one.keeps is None else -one.keeps for one in floors])
        keeps = np.array([one.keeps is not None for one in floors])
        if guarantee is None:
            least = np.where(keeps, own + least, least)
        client, group, floor = np.nonzero(people > 0)
        place = np.full(people.shape, -1)
        place[client, group, floor] = np.arange(len(client))
        weight = np.divide(1.0, people, out=np.zeros_like(people), where=people > 0)
        lower = np.broadcast_to(least, people.shape)[client, group, floor]
        return cls(
            floors,
            notion,
            client,
            group,
            floor,
            lower,
            place[None],
            weight[None],
            people,
            guarantee,
            cuts,
            soft,
            times,
        )

    @property
    def scope(self) -> Ints:  # type: ignore[override]
        """A floor has no epsilon."""
        return np.full(len(self.client), NO_EPSILON)

    @property
    def auxiliary(self) -> int:  # type: ignore[override]
        """One a row where floors are soft."""
        return len(self.client) if self.soft else 0

    @property
    def penalty(self) -> float:  # type: ignore[override]
        """Far more than any floor is worth."""
        return _PENALTY

    def auxiliary_entries(self, columns: Columns) -> Entries:
        """What is missing is made up for."""
        row = np.arange(self.auxiliary)
        return row, row, np.ones(self.auxiliary)

    @property
    def steepness(self) -> Floats:
        """How much a row's floor falls when all floors are lowered to nothing, (rows,)."""
        whole = [one.rate if one.keeps is None else 1 - one.keeps for one in self.floors]
        return np.array(whole)[self.floor]

    def entries(self, columns: Columns) -> Entries:
        """The recognition under each rule; with a guarantee less what it may be wrong by."""
        if self.guarantee is None:
            return super().entries(columns)
        value = self._certain(columns)
        row = self.place[0, columns.client, columns.group]
        column, floor = np.nonzero((row >= 0) & (value != 0))
        return row[column, floor], column, value[column, floor]

    def _certain(self, columns: Columns) -> Floats:
        """The lower end of every rule's recognition, or of its change: (columns, floors)."""
        assert self.guarantee is not None
        clients, groups, floors = self.people.shape
        compared = floors * groups * (clients if self.guarantee.scope == "all" else 1)
        tail = (1 - self.guarantee.confidence) / compared
        if self.guarantee.proof == "measured":
            z = normal_quantile(1 - tail)
            widths = scheffe(self.notion, columns, self.people, z, self.times)
            rate, down = widths.rate, z * widths.down
        elif self.cuts:
            z, widths = 0.0, dvoretzky(self.notion, columns, self.people, tail, self.times)
            rate, down = widths.rate, widths.down
        else:
            shares = columns.blocks // (clients * groups)
            z, widths = (
                0.0,
                clopper_pearson(self.notion, columns, self.people, tail / shares, self.times),
            )
            rate, down = widths.rate, widths.down
        keeps = np.array([one.keeps is not None for one in self.floors])
        return np.where(keeps, self._change(columns, widths, z), rate - down)

    def _change(self, columns: Columns, widths: Widths, z: float) -> Floats:
        """The lower end of the change from the model's own rate.

        Between two cuts of a score, or between the model's answer and a constant one, a person
        changes to one side only: their share is a rate like any other.
        """
        n = self.people[columns.client, columns.group]
        own = np.divide(
            self.notion.answered(columns.confusion), n, out=np.zeros(n.shape), where=n > 0
        )
        block, member = columns.members
        kept = np.zeros((columns.blocks, own.shape[1]))
        np.add.at(kept, columns.block[columns.keeps], own[columns.keeps])
        before = np.zeros_like(own)
        np.add.at(before, member, kept[block])
        change = own - before
        if z:
            n = n * self.times
            moved = np.abs(change)
            middle = (n * moved + z**2 / 2) / (n + z**2)
            width = z * np.sqrt(middle * (1 - middle) / (n + z**2))
        else:  # the rule's true rate may be lower, and the model's own higher
            most = np.zeros_like(kept)
            np.add.at(most, columns.block[columns.keeps], widths.up[columns.keeps])
            width = widths.down.copy()
            np.add.at(width, member, most[block])
        return np.where(columns.keeps[:, None], 0.0, change - width)

    def bounds(self, eps_global: float, eps_local: Floats) -> tuple[Floats, Floats]:
        """At least the floor."""
        return self.lower, np.full(len(self.lower), np.inf)

    def prices(self, duals: Floats) -> Floats:
        """No epsilon, no price of one."""
        return np.zeros(len(duals))

    def names(self, counts: ClientCounts) -> list[str]:
        """Client, group and label."""
        return [
            f"floor {counts.clients[client]}, {counts.groups[group]}: {self.floors[floor].label}"
            for client, group, floor in zip(self.client, self.group, self.floor, strict=True)
        ]
