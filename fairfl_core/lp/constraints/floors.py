"""Rows that forbid levelling down: how often a label must be recognised, cell by cell."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from fairfl_core.data.counts import ClientCounts
from fairfl_core.fairness.intervals import clopper_pearson, normal_quantile
from fairfl_core.fairness.notions import Notion, Rate
from fairfl_core.lp.constraints.base import NO_EPSILON, RateConstraints
from fairfl_core.lp.constraints.margins import binomial_widths, proved_widths
from fairfl_core.lp.guarantee import Guarantee
from fairfl_core.lp.policy import Floor
from fairfl_core.lp.rules import RuleTable

__all__ = ["FloorConstraints"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_PENALTY = 1e4  # of one whole recognition; the objective is in units of a cell's people


@dataclass(frozen=True, eq=False, kw_only=True)
class FloorConstraints(RateConstraints):
    """Pr(answer y | label y) is at least a floor in every client and group that has people.

    With a guarantee the lower end of the rate is: a mixture's deviation is at most the mixture
    of its rules' deviations. What is kept of the model's own rate is judged by the change from
    it, in which keeping the model's answer has no error at all; it is kept where nobody with the
    label was counted, too, for such people may come.

    Attributes
    ----------
    floors : tuple of Floor
    notion : Notion
        Its rates are the recognitions of the floors' labels.
    group, floor : ndarray, shape (rows,)
    guarantee : Guarantee or None
    cuts : bool
        Whether rules are cuts of a score: see `MarginConstraints`.
    people : ndarray, shape (clients, groups, floors)
        Those behind each recognition.
    """

    floors: tuple[Floor, ...]
    notion: Notion
    group: Ints
    floor: Ints
    people: Floats
    guarantee: Guarantee | None
    cuts: bool

    @classmethod
    def of(
        cls,
        floors: tuple[Floor, ...],
        counts: ClientCounts,
        guarantee: Guarantee | None,
        *,
        cuts: bool,
        soft: bool = False,
    ) -> "FloorConstraints":
        """Lay the rows out: one for every floor, client and group with people of its label.

        With a guarantee, what is kept of the model's own rate has a row in every client and group.
        Where floors are `soft` each row has an auxiliary column that makes up for what is missing.
        """
        rates = tuple(Rate(one.label, one.label) for one in floors)
        notion = Notion("floors", counts.labels, rates)
        people = notion.people(counts.n_label)
        own = np.divide(
            notion.answered(np.asarray(counts.table, float)),
            people,
            out=np.zeros_like(people),
            where=people > 0,
        )
        least = np.array([one.rate if one.keeps is None else -one.keeps for one in floors])
        keeps = np.array([one.keeps is not None for one in floors])
        has_row = people > 0
        if guarantee is None:
            least = np.where(keeps, own + least, least)
        else:
            has_row |= keeps
        client, group, floor = np.nonzero(has_row)
        place = np.full(people.shape, -1)
        place[client, group, floor] = np.arange(len(client))
        lower = np.broadcast_to(least, people.shape)[client, group, floor]
        limits = np.stack([lower, np.full(len(lower), np.inf)])
        return cls(
            floors=floors,
            notion=notion,
            group=group,
            floor=floor,
            people=people,
            guarantee=guarantee,
            cuts=cuts,
            scope=np.full(len(client), NO_EPSILON),
            limits=limits,
            moves=np.zeros_like(limits),
            client=client,
            about=floor,
            titles=tuple(one.label for one in floors),
            auxiliary=sparse.eye_array(len(client), len(client) if soft else 0, format="csr"),
            penalty=_PENALTY,  # far more than meeting any floor can cost
            counted=notion.counted,
            place=place[None],
            weight=np.divide(1.0, people, out=np.zeros_like(people), where=people > 0)[None],
        )

    @property
    def steepness(self) -> Floats:
        """How much a row's floor falls when all floors are lowered to nothing, (rows,)."""
        whole = [one.rate if one.keeps is None else 1 - one.keeps for one in self.floors]
        return np.array(whole)[self.floor]

    def matrix(self, rules: RuleTable) -> sparse.csr_array:
        """The recognition under each rule; with a guarantee less what it may be wrong by."""
        if self.guarantee is None:
            return super().matrix(rules)
        return self._placed(rules, self._certain(rules)[None])

    def _certain(self, columns: RuleTable) -> Floats:
        """The lower end of every rule's recognition, or of its change: (columns, floors)."""
        assert self.guarantee is not None
        clients, groups, floors = self.people.shape
        compared = floors * groups * (clients if self.guarantee.scope == "all" else 1)
        tail = (1 - self.guarantee.confidence) / compared
        keeps = np.array([one.keeps is not None for one in self.floors])
        how = (self.notion, columns, self.people)
        n = self.people[columns.client, columns.group]
        counted = np.divide(
            self.notion.answered(columns.confusion), n, out=np.zeros(n.shape), where=n > 0
        )
        change = counted - _of_the_model(columns, counted)
        if self.guarantee.proof == "measured":
            # A cut is chosen on the same people: Scheffe's constant. Between two cuts of a score, or
            # between the model's answer and a constant one, a person changes to one side only: their
            # share is a rate like any other.
            z = float(np.sqrt(-2 * np.log(tail))) if self.cuts else normal_quantile(1 - tail)
            widths = binomial_widths(*how, z)
            low, high = clopper_pearson(np.abs(change), n, z)
            change = np.where(change > 0, low, -high)
        else:
            # What is kept of the model's own rate may fail on two sides: the rule's and its own.
            tail = tail / 2 if keeps.any() else tail
            widths = proved_widths(*how, tail, cuts=self.cuts)
            change = change - (widths.down + _of_the_model(columns, widths.up))
        # A change is known where nobody is counted, nobody can lose, or nothing changes.
        change = np.where(n > 0, change, -1.0)
        answers_all = columns.known[:, self.notion.asked.argmax(axis=1)] == 1
        change = np.where(answers_all, np.maximum(change, 0.0), change)
        change = np.where(columns.keeps[:, None], 0.0, change)
        return np.where(keeps, change, widths.rate - widths.down)

    def names(self, counts: ClientCounts) -> list[str]:
        """Client, group and label."""
        return [
            f"floor {counts.clients[client]}, {counts.groups[group]}: {self.titles[floor]}"
            for client, group, floor in zip(self.client, self.group, self.floor, strict=True)
        ]


def _of_the_model(columns: RuleTable, value: Floats) -> Floats:
    """A value of the rule that keeps the model's answer, for every column of its blocks."""
    block, member = columns.members
    kept = np.zeros((columns.blocks, value.shape[1]))
    np.add.at(kept, columns.block[columns.keeps], value[columns.keeps])
    found = np.zeros_like(value)
    np.add.at(found, member, kept[block])
    return found
