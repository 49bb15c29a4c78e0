"""Rules that look at the model's answer only: the simplex, the kernel, and those like them.

A rule is a matrix whose row j, column k is 1 where "the model says j" is turned into "answer k". A
lottery over rules with weights beta is the weighted sum of their matrices, so accuracy and every
rate are linear in beta. This vertex form replaces the paper's K z <= l; where that is defined both
say the same (see `research.paper.original_form`), and this one is always feasible.
"""

from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fairfl_core.data.counts import ClientCounts
from fairfl_core.data.scored import ScoredData
from fairfl_core.lp.rule_table import RuleTable

if TYPE_CHECKING:
    from fairfl_core.lp.optimism import Sample
    from fairfl_core.lp.solution import RuleShare, Solution

__all__ = ["AnswerRules"]

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

    needs_scores: ClassVar[bool] = False

    def lottery(self, beta: Floats) -> Floats:
        """Pr(answer k | model says j) in each cell: shape (clients, groups, seen, labels)."""
        return np.einsum("cap,pjk->cajk", beta, self.response, optimize=True)

    def table(self, people: NDArray[Any]) -> RuleTable:
        """Return what each rule does in each cell, rule by rule within the cell.

        `people` are counts by client, group, label and what the rules see.
        """
        clients, groups, labels, seen = people.shape
        rules = len(self.block)
        people = np.asarray(people, float)
        confusion = np.einsum("cayj,pjk->capyk", people, self.response, optimize=True)
        kept = np.einsum("cayj,pj->cap", people, self.response[:, np.arange(seen), self.own])
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

    # ---------------------------------------------------------------- what a solution of them says

    def seen(self, people: ClientCounts | ScoredData) -> Floats:
        """Count people by client, group, label and what the rules see of them."""
        counts = people.counts if isinstance(people, ScoredData) else people
        return np.asarray(counts.table, float)

    def expected_counts(self, found: "Solution", people: "Sample") -> Floats:
        """Return expected people by client, group, label and answer."""
        assert isinstance(people, ClientCounts | ScoredData)
        return np.einsum("cayj,cajk->cayk", self.seen(people), self.lottery(found.beta))

    def attention(self, found: "Solution") -> Floats:
        """Return what is left without the constant part: 1 - sum_k min_j Pr(k | j)."""
        return np.asarray(1 - self.lottery(found.beta).min(axis=2).sum(axis=2))

    def lottery_of(self, found: "Solution", client: int, group: int) -> list["RuleShare"]:
        """Return the rules that a cell mixes and their shares, largest first."""
        from fairfl_core.lp.solution import RuleShare

        shares = found.beta[client, group]
        order = np.argsort(-shares, kind="stable")
        return [
            RuleShare(self.names[rule], float(shares[rule])) for rule in order if shares[rule] > 0
        ]

    def remarks(self, found: "Solution") -> list[str]:
        """Return what a person should know of these rules, in sentences."""
        return []

    def to_json(self, found: "Solution") -> dict[str, Any]:
        """Return what these rules add to the `fairfl-solution/1` form."""
        return {}
