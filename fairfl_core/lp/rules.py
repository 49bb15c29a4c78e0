"""Rules: what a person is answered, and what each rule does to the people of its cell.

A lottery over rules with weights beta is linear in beta, and so are accuracy and every rate. This
vertex form replaces the paper's K z <= l; where that is defined both say the same (see
`research.paper.original_form`), and this one is always feasible.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fairfl_core.data.counts import ClientCounts
from fairfl_core.data.scored import ScoredData
from fairfl_core.lp.rate_estimates import Measured
from fairfl_core.lp.utility import ACCURACY

if TYPE_CHECKING:
    from fairfl_core.lp.optimism import Sample
    from fairfl_core.lp.solution import Solution

__all__ = ["AnswerRules", "RuleShare", "RuleTable", "ScoreRules", "ranks", "spans"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_SPECK = 1e-11  # a smaller weight is rounding of the solver


def spans(first: Ints, many: Ints) -> tuple[Ints, Ints]:
    """List first, first + 1, ... so many for each entry: the entry's number, and what is listed."""
    owner = np.repeat(np.arange(len(many)), many)
    return owner, np.arange(len(owner)) + (first - np.cumsum(many) + many)[owner]


def ranks(part: Ints) -> Ints:
    """Number each entry among those of its part, in their order."""
    order = np.argsort(part, kind="stable")
    many = np.bincount(part)
    rank = np.empty(len(part), np.int64)
    rank[order] = spans(np.zeros(len(many), np.int64), many)[1]
    return rank


@dataclass(frozen=True)
class RuleShare:
    """One rule of a cell's lottery: what it does, for a person, and its share."""

    rule: str
    share: float


@dataclass(frozen=True, eq=False, kw_only=True)
class RuleTable:
    """Rules, each of one cell (client, group), by what they do there.

    Attributes
    ----------
    client, group : ndarray, shape (columns,)
        The cell, as codes.
    block : ndarray, shape (columns,)
        The weights of one block sum to one; numbered from 0 over all cells.
    span : ndarray, shape (columns,)
        How many blocks, from `block` on, the column's weight counts in: one, but for a constant
        answer beside the blocks of the kernel.
    confusion : ndarray, shape (columns, labels, labels)
        People of the cell by label and answer, if the rule answered all of them.
    kept : ndarray, shape (columns,)
        People who would keep the model's answer.
    keeps : ndarray, shape (columns,)
        True for the rule that keeps the model's answer, one a block.
    known : ndarray, shape (columns, labels)
        The share of people whom the rule answers k, where that is known without counting (0 or
        1: a constant answer, an answer never given); NaN where it depends on who comes.
    response : ndarray, shape (columns, labels, labels), or None
        Pr(answer k | the model says j), of rules that look at the model's answer.
    scores : ScoreRules or None
        The rules themselves, where each cell has its own.
    """

    client: Ints
    group: Ints
    block: Ints
    span: Ints
    confusion: Floats
    kept: Floats
    keeps: NDArray[np.bool_]
    known: Floats
    response: Floats | None = None
    scores: "ScoreRules | None" = None

    def __len__(self) -> int:
        return len(self.client)

    @cached_property
    def blocks(self) -> int:
        """How many blocks there are."""
        return int((self.block + self.span).max())

    @cached_property
    def members(self) -> tuple[Ints, Ints]:
        """Block and column of every membership."""
        column, block = spans(self.block, self.span)
        return block, column

    @property
    def correct(self) -> Floats:
        """People answered rightly."""
        return np.einsum("pyy->p", self.confusion)

    def take(self, chosen: NDArray[np.bool_]) -> "RuleTable":
        """Some of them."""
        taken: dict[str, Any] = {}
        for part in fields(self):
            one = getattr(self, part.name)
            if one is not None:
                taken[part.name] = one.take(chosen) if part.name == "scores" else one[chosen]
        return RuleTable(**taken)

    @classmethod
    def join(cls, parts: Sequence["RuleTable"]) -> "RuleTable":
        """All rules of several tables."""
        joined: dict[str, Any] = {}
        for part in fields(cls):
            every: Any = [getattr(one, part.name) for one in parts]
            if every[0] is not None:
                together = ScoreRules.join if part.name == "scores" else np.concatenate
                joined[part.name] = together(every)
        return cls(**joined)

    def cleaned(self, beta: Floats, *, fall_back: bool = True) -> Floats:
        """Clean solver output: weights in [0, 1] that sum to one in each block.

        A block that nobody falls into keeps the model's answer: the data says nothing about it,
        and the people to come should not be changed for nothing. (Unless `fall_back` is off.)
        """
        beta = np.where(beta > _SPECK, np.minimum(beta, 1.0), 0.0)
        block, column = self.members
        shared = self.span > 1
        taken = np.bincount(block, np.where(shared, beta, 0.0)[column], minlength=self.blocks)
        total = np.bincount(block, np.where(shared, 0.0, beta)[column], minlength=self.blocks)
        scale = np.where(total > 0, (1 - taken) / np.maximum(total, 1e-12), 0.0)
        scaled = np.where(shared, beta, beta * np.maximum(scale[self.block], 0.0))
        return np.where(self.empty, self.keeps, scaled) if fall_back else scaled

    @cached_property
    def redundant(self) -> NDArray[np.bool_]:
        """Rules that do to everybody what the rule that keeps the model's answer does."""
        kept = np.full(self.blocks, -1)
        kept[self.block[self.keeps]] = np.flatnonzero(self.keeps)
        other = kept[self.block]
        same = (self.confusion == self.confusion[other]).all(axis=(1, 2))
        return np.asarray(same & (other >= 0) & ~self.keeps & (self.span == 1))

    @cached_property
    def empty(self) -> NDArray[np.bool_]:
        """Rules of blocks that nobody falls into."""
        block, column = self.members
        people = self.confusion.sum(axis=(1, 2))
        filled = np.bincount(block, people[column], minlength=self.blocks)
        return np.asarray(filled[self.block] == 0)

    def expected_counts(self, beta: Floats, clients: int, groups: int) -> Floats:
        """Expected people by client, group, label and answer under these weights."""
        labels = self.confusion.shape[1]
        size = labels * labels
        used = np.flatnonzero(beta)  # few of a cell's rules are
        cell = self.client[used] * groups + self.group[used]
        place = cell[:, None] * size + np.arange(size)
        weight = beta[used, None] * self.confusion[used].reshape(-1, size)
        total = np.bincount(place.ravel(), weight.ravel(), minlength=clients * groups * size)
        return total.astype(float).reshape(clients, groups, labels, labels)


@dataclass(frozen=True, eq=False)
class AnswerRules:
    """Rules that look at the model's answer, and how they may be mixed.

    Attributes
    ----------
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


@dataclass(frozen=True, eq=False)
class ScoreRules:
    """Rules, each of one cell (client, group).

    A rule of scores answers argmax over k of sum_y r_y W[y, k] + b_k, of equal ones the first;
    for `sp`, `eop` and `eo` W = diag(theta). With two labels it is a cut: theta = (0, 1),
    b = (t, 0) answers the second label where its score is above t, and theta = (0, -1),
    b = (-t, 0) where it is below. A rule of answers turns the model's answer j into
    `answers[j]`: the model's own answer, the constants, and all others of the `kernel`.

    Attributes
    ----------
    client, group : ndarray, shape (rules,)
        The cell each belongs to, as codes.
    weights : ndarray, shape (rules, labels, labels)
        W; zeros for a rule of answers.
    b : ndarray, shape (rules, labels)
    answers : ndarray, shape (rules, labels)
        -1 for a rule of scores.
    """

    client: Ints
    group: Ints
    weights: Floats
    b: Floats
    answers: Ints

    needs_scores: ClassVar[bool] = True

    def __len__(self) -> int:
        return len(self.client)

    @classmethod
    def of_answers(cls, client: Ints, group: Ints, answers: Ints) -> "ScoreRules":
        """Rules that look at the model's answer only."""
        rules, labels = answers.shape
        blank = np.zeros((rules, labels, labels))
        return cls(client, group, blank, np.zeros((rules, labels)), answers)

    @classmethod
    def of_scores(cls, client: Ints, group: Ints, weights: Floats, b: Floats) -> "ScoreRules":
        """Rules that look at the scores only."""
        return cls(client, group, weights, b, np.full(b.shape, -1))

    @classmethod
    def cuts(cls, client: Ints, group: Ints, at: Floats, above: NDArray[np.bool_]) -> "ScoreRules":
        """Two labels: the second one where its score is above (or else below) the cut."""
        sign = np.where(above, 1.0, -1.0)
        weights = np.zeros((len(at), 2, 2))
        weights[:, 1, 1] = sign
        return cls.of_scores(client, group, weights, np.stack([sign * at, 0 * at], axis=1))

    def table(self, confusion: Floats, kept: Floats, groups: int) -> RuleTable:
        """Return what they do to their cells' people, of whom `kept` keep their answer."""
        return RuleTable(
            client=self.client,
            group=self.group,
            block=self.client * groups + self.group,
            span=np.ones(len(self), np.int64),
            confusion=confusion,
            kept=kept,
            keeps=(self.answers == np.arange(self.answers.shape[1])).all(axis=1),
            known=self.known,
            scores=self,
        )

    def take(self, chosen: NDArray[Any]) -> "ScoreRules":
        """Some of the rules."""
        return ScoreRules(*(getattr(self, field.name)[chosen] for field in fields(self)))

    @classmethod
    def join(cls, parts: Sequence["ScoreRules"]) -> "ScoreRules":
        """All rules of several lists."""
        return cls(
            *(
                np.concatenate([getattr(part, field.name) for part in parts])
                for field in fields(cls)
            )
        )

    def answer(self, rule: Ints, scores: Floats, predicted: Ints) -> Ints:
        """Each person's answer by the rule whose position `rule` gives for them."""
        mapped = self.answers[rule, predicted]
        return np.where(mapped >= 0, mapped, self.values(rule, scores).argmax(axis=1))

    def values(self, rule: Ints, scores: Floats) -> Floats:
        """What speaks for each answer to each person: sum_y r_y W[y, k] + b_k."""
        value = self.b[rule]
        for y, k in self._weighed:
            value[:, k] += scores[:, y] * self.weights[:, y, k][rule]
        return value

    @cached_property
    def _weighed(self) -> list[tuple[int, int]]:
        """Labels and answers that some rule has a weight for: most rules are diagonal."""
        return [(int(y), int(k)) for y, k in np.argwhere(self.weights.any(axis=0))]

    @property
    def known(self) -> Floats:
        """The share answered k by a constant rule, (rules, labels); NaN for all others."""
        constant = (self.answers >= 0).all(axis=1) & (self.answers == self.answers[:, :1]).all(
            axis=1
        )
        given = np.eye(self.answers.shape[1])[np.maximum(self.answers[:, 0], 0)]
        return np.where(constant[:, None], given, np.nan)

    def sentence(self, rule: int, labels: tuple[str, ...]) -> str:
        """What a rule does, for a person."""
        answers, b = self.answers[rule], self.b[rule]
        if answers[0] >= 0:
            if (answers == np.arange(len(labels))).all():
                return "model's answer"
            if (answers == answers[0]).all():
                return f"always {labels[answers[0]]}"
            turned = [(j, k) for j, k in enumerate(answers) if j != k]
            return ", ".join(f"{labels[j]} to {labels[k]}" for j, k in turned)
        theta = self.weights[rule].diagonal()
        if len(labels) == 2 and theta[0] == 0 and abs(theta[1]) == 1 and b[1] == 0:
            where = "above" if theta[1] > 0 else "below"
            return f"{labels[1]} where its score is {where} {abs(b[0] * theta[1]):.3f}"
        return "the largest of " + ", ".join(
            f"{label} {round(slope, 2) + 0.0:.2f} r {round(shift, 2) + 0.0:+.2f}"
            for label, slope, shift in zip(labels, theta, b, strict=True)
        )

    # ---------------------------------------------------------------- what a solution of them says

    def expected_counts(self, found: "Solution", people: "Sample") -> Floats:
        """Return expected people by client, group, label and answer."""
        if isinstance(people, ScoredData):
            owner, amount = people.cell, np.eye(len(people.labels))[people.label]
            scores = people.scores_by(found.calibration)
        else:
            assert isinstance(people, Measured)
            owner, amount, scores = people.cell, people.amount, people.scores
        shape = found.counts.table.shape
        cell = self.client * shape[1] + self.group
        by_cell = np.argsort(cell, kind="stable")
        often = np.bincount(cell, minlength=shape[0] * shape[1])
        # Every point with each rule of its cell.
        point, place = spans((np.cumsum(often) - often)[owner], often[owner])
        rule = by_cell[place]
        answer = self.answer(rule, scores[point], people.predicted[point])
        expected = np.zeros((len(often), *shape[2:]))
        weight = found.beta[rule, None] * amount[point]
        where: tuple[Any, ...] = (owner[point], slice(None), answer)
        np.add.at(expected, where, weight)
        return expected.reshape(shape)

    def attention(self, found: "Solution") -> Floats:
        """Return how much of each cell's lottery looks at the model: what is no constant answer."""
        looks = np.isnan(self.known).any(axis=1)
        total = np.zeros(found.counts.table.shape[:2])
        np.add.at(total, (self.client, self.group), found.beta * looks)
        return total

    def lottery_of(self, found: "Solution", client: int, group: int) -> list["RuleShare"]:
        """Return the rules that a cell mixes and their shares, largest first."""
        mine = np.flatnonzero((self.client == client) & (self.group == group))
        mine = mine[np.argsort(-found.beta[mine], kind="stable")]
        labels = found.counts.labels
        return [
            RuleShare(self.sentence(int(rule), labels), float(found.beta[rule])) for rule in mine
        ]

    def remarks(self, found: "Solution") -> list[str]:
        """Say where rates come from, and what no lottery can exceed."""
        assert found.bound is not None and found.rounds is not None
        share = found.policy.utility == ACCURACY
        bound = f"{found.bound.upper:.2%}" if share else f"a utility of {found.bound.upper:.4g}"
        limit = (
            f"no lottery of such rules can exceed {bound}"
            if found.bound.certified
            else f"the scores promise up to {bound}, which is not certain"
        )
        rounds = f"{found.rounds} round{'s' * (found.rounds != 1)}"
        sent = f"{rounds}, {found.bytes_per_client:,} bytes"
        return [f"Rates from {found.rates}; {limit} ({sent} a client)."]

    def to_json(self, found: "Solution") -> dict[str, Any]:
        """Return how its rules were found, and what bounds them."""
        assert found.bound is not None
        return {
            "rates": found.rates,
            "mode": found.mode,
            "bound": {"upper": found.bound.upper, "certified": found.bound.certified},
            "rounds": found.rounds,
            "bytes_per_client": found.bytes_per_client,
        }
