"""The rules that a cell (client, group) may mix: the region its lottery can reach.

A region is known by its name and says what it can do: whether it looks at scores, which notions
it serves, which rates it is best fed. Those that look only at the model's answer are sets of
response matrices (`AnswerRules`); row j, column k of a matrix is 1 where "the model says j" is
turned into "answer k". A lottery over rules with weights beta is the weighted sum of their
matrices, so accuracy and every rate are linear in beta. This vertex form replaces the paper's
K z <= l; where that is defined both say the same (see `paper.original_form`), and this one is
always feasible.
"""

from abc import ABC
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fairfl_core.data.counts import ClientCounts
from fairfl_core.errors import InputError
from fairfl_core.fairness.notions import Notion
from fairfl_core.lp.rule_table import RuleTable

if TYPE_CHECKING:
    from fairfl_core.data.scored import ScoredData
    from fairfl_core.lp.guarantee import Guarantee
    from fairfl_core.lp.policy import Policy
    from fairfl_core.lp.program import Program

__all__ = ["AnswerRules", "RegionKind", "region_kind", "region_names", "register_region"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class AnswerRules:
    """Rules that look at the model's answer, and how they may be mixed.

    Attributes
    ----------
    name : str
        The region's name.
    labels : tuple of str
    response : ndarray, shape (rules, seen, labels)
        Each rule's matrix [what it sees, answer given]; what is seen is the model's answer, or
        finer than that (see `own`).
    block : ndarray, shape (rules,)
        The weights of one block sum to one: one block for `simplex`, for `kernel` one for each
        answer of the model.
    keeps : ndarray, shape (rules,)
        True for the rule that keeps the model's answer: what a block falls back to where no
        data speaks.
    names : tuple of str
        What each rule does, for a person.
    """

    name: str
    labels: tuple[str, ...]
    response: Floats
    block: NDArray[np.int64]
    keeps: NDArray[np.bool_]
    names: tuple[str, ...]

    @property
    def own(self) -> NDArray[np.int64]:
        """The model's answer in all that a rule may see: here that answer itself."""
        return np.arange(len(self.labels))

    @property
    def blocks(self) -> int:
        """How many blocks of weights there are."""
        return int(self.block.max()) + 1

    @property
    def span(self) -> NDArray[np.int64]:
        """How many blocks a rule's weight counts in: as many as it has answers for."""
        spoken = self.response.any(axis=2).sum(axis=1)
        return np.where(spoken == self.response.shape[1], self.blocks, 1).astype(np.int64)

    @property
    def _known(self) -> Floats:
        """The share answered k where it does not depend on what is seen; else NaN."""
        always = (self.response == self.response[:, :1]).all(axis=1)  # (rules, answers)
        return np.where(always, self.response[:, 0], np.nan)

    def with_constants(self) -> "AnswerRules":
        """The same rules with the constant answers beside them, where blocks hide those.

        Mixed from blocks a constant answer is uncertain block by block; as a rule of its own it
        is known to answer everybody alike. What can be reached stays the same.
        """
        if self.blocks == 1:
            return self
        _, seen, n = self.response.shape
        constants = np.broadcast_to(np.eye(n)[:, None, :], (n, seen, n))
        return replace(
            self,
            response=np.concatenate([self.response, constants]),
            block=np.concatenate([self.block, np.zeros(n, np.int64)]),
            keeps=np.concatenate([self.keeps, np.zeros(n, bool)]),
            names=(*self.names, *(f"always “{label}”" for label in self.labels)),
        )

    @property
    def corners(self) -> Floats:
        """The lotteries without chance, one rule of each block: (corners, labels, labels)."""
        parts = [np.flatnonzero(self.block == block) for block in range(self.blocks)]
        return np.stack([self.response[list(rules)].sum(axis=0) for rules in product(*parts)])

    def lottery(self, beta: Floats) -> Floats:
        """Pr(answer k | model says j) in each cell: shape (clients, groups, seen, labels)."""
        return np.einsum("cap,pjk->cajk", beta, self.response, optimize=True)

    def columns(self, table: NDArray[Any]) -> RuleTable:
        """What each rule does in each cell, rule by rule within the cell.

        `table` counts people by client, group, label and what the rules see.
        """
        clients, groups, labels, seen = table.shape
        rules = len(self.block)
        table = np.asarray(table, float)
        confusion = np.einsum("cayj,pjk->capyk", table, self.response, optimize=True)
        kept = np.einsum("cayj,pj->cap", table, self.response[:, np.arange(seen), self.own])
        client, group, rule = np.unravel_index(
            np.arange(clients * groups * rules), (clients, groups, rules)
        )
        return RuleTable(
            client=client,
            group=group,
            block=(client * groups + group) * self.blocks + self.block[rule],
            confusion=confusion.reshape(-1, labels, labels),
            kept=kept.ravel(),
            keeps=self.keeps[rule],
            span=self.span[rule],
            known=self._known[rule],
            response=self.response[rule],
        )


class RegionKind(ABC):
    """What a region is before it meets people; a new one is one new file.

    Attributes
    ----------
    name : str
        Its name on the command line, in files and in links.
    title, meaning : str
        Its name in words, and what its lottery may do, in one sentence.
    needs_scores : bool
        Whether its rules look at scores, so that counts do not suffice.
    default_rates : str
        The rates that delivered best on unseen people: see docs/rates.md.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    meaning: ClassVar[str]
    needs_scores: ClassVar[bool] = False
    default_rates: ClassVar[str] = "labels"

    def refusal(self, notion: Notion) -> str | None:
        """Why it cannot serve a notion, as a sentence; None where it can."""
        return None

    def serves(self, notion: Notion) -> bool:
        """Whether it can serve a notion."""
        return self.refusal(notion) is None

    def answer_rules(self, labels: tuple[str, ...]) -> AnswerRules:
        """Its rules for these labels, where they look at the model's answer only."""
        counted = ", ".join(name for name in region_names(scores=False))
        raise InputError(
            f'the region "{self.name}" looks at scores, which counts do not hold; choose one of '
            f"{counted}, or give the scores."
        )

    def program(
        self,
        people: "ScoredData | ClientCounts",
        notion: str,
        rates: str,
        guarantee: "Guarantee | None",
        policy: "Policy",
    ) -> "Program":
        """Build its program on people; see `build.build_program`."""
        from fairfl_core.lp.answer_program import FairnessProgram
        from fairfl_core.lp.rate_estimates import counts_by

        return FairnessProgram(
            counts_by(people, rates),
            notion,
            self.name,
            people=people,
            rates=rates,
            guarantee=guarantee,
            policy=policy,
        )


_KINDS: dict[str, RegionKind] = {}


def register_region(kind: type[RegionKind]) -> type[RegionKind]:
    """Make a region known by its name; used as a decorator."""
    _KINDS[kind.name] = kind()
    return kind


def _kinds() -> dict[str, RegionKind]:
    import fairfl_core.lp.kinds  # noqa: F401  (registers the ones that come with us)

    return _KINDS


def region_names(*, scores: bool = True, notion: Notion | None = None) -> tuple[str, ...]:
    """Every region that is known: those that people without scores, or a notion, allow."""
    return tuple(
        name
        for name, kind in _kinds().items()
        if (scores or not kind.needs_scores) and (notion is None or kind.serves(notion))
    )


def region_kind(name: str) -> RegionKind:
    """The region of a name, or a sentence that lists those there are."""
    known = _kinds()
    if name not in known:
        raise InputError(f'there is no region "{name}"; choose one of {", ".join(known)}.')
    return known[name]
