"""Which rule a cell should try next: the pricing step of column generation.

At the duals of the master program answering k to a person with label y in cell (c, a) has the value
G[c, a, y, k] (`gain`). The best rule of a cell maximises the sum of that over its people.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairfl_core.data.counts import ClientCounts
from fairfl_core.lp.exact.rules import ScoreRules
from fairfl_core.lp.rate_estimates import PSEUDO_ROWS, Measured
from fairfl_core.lp.rule_table import RuleTable

__all__ = ["Candidates", "Pricing", "answer_rules", "by_scores"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Candidates:
    """Rules of scores with what each does in its cell.

    Attributes
    ----------
    rules : ScoreRules
    table : RuleTable
    """

    rules: ScoreRules
    table: RuleTable

    def __len__(self) -> int:
        return len(self.rules)

    @classmethod
    def of(cls, rules: ScoreRules, confusion: Floats, kept: Floats, groups: int) -> "Candidates":
        """Rules by what they do to their cells' people, of whom `kept` keep their answer."""
        table = RuleTable(
            client=rules.client,
            group=rules.group,
            block=rules.client * groups + rules.group,
            span=np.ones(len(rules), np.int64),
            confusion=confusion,
            kept=kept,
            keeps=(rules.answers == np.arange(rules.answers.shape[1])).all(axis=1),
            known=rules.known,
        )
        return cls(rules, table)

    def take(self, chosen: NDArray[Any]) -> "Candidates":
        """Some of them."""
        return Candidates(self.rules.take(chosen), self.table.take(chosen))

    @classmethod
    def join(cls, parts: Sequence["Candidates"]) -> "Candidates":
        """All of several lists."""
        return cls(
            ScoreRules.join([part.rules for part in parts]),
            RuleTable.join([part.table for part in parts]),
        )


Pricing = Callable[[Floats], Candidates]  # gain (clients, groups, labels, labels) -> one a cell


def answer_rules(counts: ClientCounts, answers: Ints) -> Candidates:
    """Rules of answers, `answers` (clients, groups, labels): measured by the counts alone."""
    clients, groups, labels = answers.shape
    table = np.asarray(counts.table, float)
    response = np.eye(labels)[answers]  # (clients, groups, predicted, answer)
    confusion = np.einsum("cayj,cajk->cayk", table, response)
    kept = np.einsum("cayj,cajj->ca", table, response)
    client, group = np.divmod(np.arange(clients * groups), groups)
    rules = ScoreRules.of_answers(client, group, answers.reshape(-1, labels))
    return Candidates.of(rules, confusion.reshape(-1, labels, labels), kept.ravel(), groups)


def by_scores(measured: Measured, *, full: bool, refine: bool = False) -> Pricing:
    """The answer that would be best for each person if the scores were right.

    Unless `full` the gain depends on the answer and on whether it is right, not on which wrong
    label: G[y, k] = b_k + theta_k [y = k], and as scores sum to one the rule is (theta, b). With
    `refine` each b_k in turn is then moved to where it is best by what is measured.
    """
    counts = measured.counts
    groups, labels = len(counts.groups), len(counts.labels)
    cells = len(counts.clients) * groups
    client, group = np.divmod(np.arange(cells), groups)
    one = np.eye(labels)

    def price(gain: Floats) -> Candidates:
        gain = gain.reshape(cells, labels, labels)
        size = np.maximum(np.abs(gain).max(axis=(1, 2), keepdims=True), 1e-300)
        weights, b = gain / size, np.zeros((cells, labels))
        if not full:
            b = weights[:, np.roll(np.arange(labels), 1), np.arange(labels)]
            weights = (np.einsum("pkk->pk", weights) - b)[:, None, :] * one
        if refine:
            b = _refined(weights, b, measured, gain)
        rules = ScoreRules.of_scores(client, group, weights, b)
        answer = rules.answer(measured.cell, measured.scores, measured.predicted)
        confusion = _tally(measured.cell, answer, measured.amount, cells)
        keeps = np.where(answer == measured.predicted, measured.amount.sum(axis=1), 0.0)
        kept = np.bincount(measured.cell, keeps, minlength=cells).astype(float)
        if measured.rates == "shrunk":
            confusion = _shrunk(confusion, _on_the_group(rules, measured, groups))
        return Candidates.of(rules, confusion, kept, groups)

    return price


def _refined(weights: Floats, b: Floats, measured: Measured, gain: Floats) -> Floats:
    """Move each b_k of each cell to its best place, the others held: one sorted sweep each.

    A person is answered k once b_k exceeds what the best other label leads by; in the order of
    that lead, how much everyone up to a place gains by k is one running sum.
    """
    cell, everyone = measured.cell, np.arange(len(measured.cell))
    b = b.copy()
    plain = np.einsum("iy,iyk->ik", measured.scores, weights[cell], optimize=True)
    for k in range(b.shape[1]):
        others = plain + b[cell]
        others[:, k] = -np.inf
        rival = others.argmax(axis=1)
        lead = others[everyone, rival] - plain[:, k]
        more = gain[cell, :, k] - gain[cell, :, rival]
        value = (measured.amount * more).sum(axis=1)
        b[:, k] = _best_cut(cell, lead, value, b[:, k])
    return b


def _best_cut(part: Ints, key: Floats, value: Floats, now: Floats) -> Floats:
    """For each part the cut of `key` below which the sum of `value` is largest.

    A part with nobody in it keeps what it has `now`.
    """
    if not len(part):
        return now
    order = np.lexsort((key, part))
    part, key, value = part[order], key[order], value[order]
    last = np.append(part[1:] != part[:-1], True)
    first = np.append(True, last[:-1])
    total = value.cumsum()
    total -= (total - value)[first][np.cumsum(first) - 1]
    after = np.append(key[1:], 0.0)
    after[last] = key[last] + 2.0
    total[key == after] = -np.inf  # equals are not parted
    best = np.maximum.reduceat(total, np.flatnonzero(first))
    found = np.flatnonzero(total == best[np.cumsum(first) - 1])
    parts, where = np.unique(part[found], return_index=True)
    at = found[where]
    cut = now.copy()
    cut[parts] = np.where(best > 0, (key[at] + after[at]) / 2, key[first] - 1.0)
    return cut


def _tally(part: Ints, answer: Ints, amount: Floats, parts: int) -> Floats:
    """People by part, label and answer."""
    labels = amount.shape[1]
    place, size = part * labels + answer, parts * labels
    found = np.zeros((parts, labels, labels))
    for y in range(labels):
        found[:, y] = np.bincount(place, amount[:, y], minlength=size).reshape(parts, labels)
    return found


def _on_the_group(rules: ScoreRules, measured: Measured, groups: int) -> Floats:
    """What each cell's rule does on its group in all clients."""
    found = np.empty(rules.weights.shape)
    for group in range(groups):
        rows = np.flatnonzero(measured.cell % groups == group)
        scores, predicted, amount = (
            measured.scores[rows],
            measured.predicted[rows],
            measured.amount[rows],
        )
        for rule in np.flatnonzero(rules.group == group):
            answer = rules.answer(np.full(len(rows), rule), scores, predicted)
            found[rule] = _tally(np.zeros(len(rows), np.int64), answer, amount, 1)[0]
    return found


def _shrunk(own: Floats, pooled: Floats) -> Floats:
    """The cell's people by answer, pulled to the group's shares; see `rates.shrink`."""
    people, total = own.sum(axis=2, keepdims=True), pooled.sum(axis=2, keepdims=True)
    share = np.divide(pooled, total, out=np.zeros_like(pooled), where=total > 0)
    return people * (own + PSEUDO_ROWS * share) / (people + PSEUDO_ROWS)
