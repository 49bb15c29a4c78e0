"""Which rule a cell should try next: the pricing step of column generation.

At the master's duals answering k to a person with label y in cell (c, a) is worth
G[c, a, y, k] (`gain`). The best rule of a cell maximises the sum of that over its people.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairfl_core.solving.exact.rules import ScoreRules
from fairfl_core.solving.rate_estimates import PSEUDO_ROWS, Measured

__all__ = ["Candidates", "Pricing", "answer_rules", "by_cuts", "by_scores"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Candidates:
    """Rules with what they do in their cells.

    Attributes
    ----------
    rules : ScoreRules
    confusion : ndarray, shape (rules, labels, labels)
        People by label and answer.
    kept : ndarray, shape (rules,)
        People who keep the model's answer.
    """

    rules: ScoreRules
    confusion: Floats
    kept: Floats

    def take(self, chosen: NDArray[np.bool_]) -> "Candidates":
        """Some of them."""
        return Candidates(self.rules.take(chosen), self.confusion[chosen], self.kept[chosen])


Pricing = Callable[[Floats], Candidates]  # gain (clients, groups, labels, labels) -> one a cell


def answer_rules(measured: Measured, answers: Ints) -> Candidates:
    """Rules of answers, `answers` (clients, groups, labels): measured by the counts alone."""
    clients, groups, labels = answers.shape
    table = np.asarray(measured.counts.table, float)
    response = np.eye(labels)[answers]  # (clients, groups, said, answer)
    confusion = np.einsum("cayj,cajk->cayk", table, response)
    kept = np.einsum("cayj,cajj->ca", table, response)
    client, group = np.divmod(np.arange(clients * groups), groups)
    rules = ScoreRules.of_answers(client, group, answers.reshape(-1, labels))
    return Candidates(rules, confusion.reshape(-1, labels, labels), kept.ravel())


# -------------------------------------------------------------------- two labels: cuts


class _Cuts:
    """Every cut of the second label's score in every part (a cell, or a group).

    Points of one score are one step, so that a cut never parts people who look alike: that is
    left to the lottery. Boundary number q of a part has q steps below it.
    """

    def __init__(self, part: Ints, measured: Measured, parts: int) -> None:
        order = np.lexsort((measured.scores[:, 1], part))
        part, score = part[order], measured.scores[order, 1]
        new = np.ones(len(part), bool)
        new[1:] = (part[1:] != part[:-1]) | (score[1:] != score[:-1])
        step = np.cumsum(new) - 1
        self.score = score[new]
        self.steps = np.bincount(part[new], minlength=parts)
        self.first = np.cumsum(self.steps) - self.steps  # first step of each part
        self.start = self.first + np.arange(parts)  # first boundary of each part
        self.part = np.repeat(np.arange(parts), self.steps + 1)  # of each boundary
        place = (step + part[new][step] + 1) * 2 + measured.said[order]
        size = 2 * (len(self.score) + parts)
        amount = [np.bincount(place, measured.amount[order, y], minlength=size) for y in (0, 1)]
        below = np.stack(amount, axis=1).reshape(-1, 2, 2)  # (boundary, said, label)
        below = below.cumsum(axis=0)
        self.below = below - below[self.start][self.part]
        self.all = self.below[self.start + self.steps]

    def confusion(self, boundary: Ints, above: NDArray[np.bool_]) -> tuple[Floats, Floats]:
        """People by label and answer when the second label is given above (below) boundaries."""
        low = self.below[boundary]
        high = self.all[self.part[boundary]] - low
        second = np.where(above[:, None, None], high, low)  # who gets the second label
        first = np.where(above[:, None, None], low, high)
        confusion = np.stack([first.sum(axis=1), second.sum(axis=1)], axis=2)
        return confusion, first[:, 0].sum(axis=1) + second[:, 1].sum(axis=1)

    def best(self, gain: Floats) -> tuple[Ints, NDArray[np.bool_]]:
        """The best boundary of each part and which side of it gets the second label."""
        more = gain[:, :, 1] - gain[:, :, 0]  # what the second label gives over the first
        worth = (self.below.sum(axis=1) * more[self.part]).sum(axis=1)
        least, most = (f.reduceat(worth, self.start) for f in (np.minimum, np.maximum))
        above = worth[self.start + self.steps] - least >= most
        found = np.flatnonzero(worth == np.where(above, least, most)[self.part])
        _, where = np.unique(self.part[found], return_index=True)
        return found[where], above

    def between(self, boundary: Ints, above: NDArray[np.bool_]) -> Floats:
        """A cut in the middle of the scores on either side of a boundary."""
        place = boundary - self.part[boundary]  # the step above the boundary
        number = boundary - self.start[self.part[boundary]]
        padded = np.append(self.score, 2.0)
        left = np.where(number > 0, padded[place - 1], -1.0)
        right = np.where(number < self.steps[self.part[boundary]], padded[place], 2.0)
        middle = (left + right) / 2
        # Two neighbouring floats have no middle: "above t" must still leave the left one out.
        return np.where(above & (middle >= right), left, np.where(middle <= left, right, middle))

    def locate(self, part: Ints, at: Floats, above: NDArray[np.bool_]) -> Ints:
        """The boundary of a cut: scores up to `at` lie below it, or only smaller ones."""
        low, high = self.first[part], self.first[part] + self.steps[part]
        while (low < high).any():
            middle = (low + high) // 2
            score = self.score[np.minimum(middle, len(self.score) - 1)]
            right = (low < high) & np.where(above, score <= at, score < at)
            low, high = np.where(right, middle + 1, low), np.where(right, high, middle)
        return low + part


def by_cuts(measured: Measured, *, sweep: bool) -> Pricing:
    """Two labels: every rule worth trying is a cut of the score.

    With `sweep` the best of all cuts, in both directions, by what is measured: the bound that
    follows is a certificate. Otherwise the cut that would be best if the scores were right.
    """
    groups = len(measured.counts.groups)
    cells = len(measured.counts.clients) * groups
    cell = np.arange(cells)
    client, group = np.divmod(cell, groups)
    cuts = _Cuts(measured.cell, measured, cells)
    shrunk = measured.rates == "shrunk"
    pooled = _Cuts(measured.cell % groups, measured, groups) if shrunk else None

    def price(gain: Floats) -> Candidates:
        gain = gain.reshape(cells, 2, 2)
        if sweep:
            boundary, above = cuts.best(gain)
            at = cuts.between(boundary, above)
        else:
            at, above = _trusted_cut(gain)
            boundary = cuts.locate(cell, at, above)
        confusion, kept = cuts.confusion(boundary, above)
        if pooled:
            whole, _ = pooled.confusion(pooled.locate(group, at, above), above)
            confusion = _shrunk(confusion, whole)
        return Candidates(ScoreRules.cuts(client, group, at, above), confusion, kept)

    return price


def _trusted_cut(gain: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """Where r_0 G[0, .] + r_1 G[1, .] turns from one answer to the other."""
    more = gain[:, :, 1] - gain[:, :, 0]
    slope = more[:, 1] - more[:, 0]
    flat = np.abs(slope) < 1e-300
    everyone = np.where(more[:, 0] > 0, -1.0, 2.0)
    cut = np.where(flat, everyone, -more[:, 0] / np.where(flat, 1.0, slope))
    return np.clip(cut, -1.0, 2.0), flat | (slope > 0)


# -------------------------------------------------------------------- any number of labels


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
        answer = rules.answer(measured.cell, measured.scores, measured.said)
        confusion = _tally(measured.cell, answer, measured.amount, cells)
        keeps = np.where(answer == measured.said, measured.amount.sum(axis=1), 0.0)
        kept = np.bincount(measured.cell, keeps, minlength=cells).astype(float)
        if measured.rates == "shrunk":
            confusion = _shrunk(confusion, _on_the_group(rules, measured, groups))
        return Candidates(rules, confusion, kept)

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
        worth = (measured.amount * more).sum(axis=1)
        b[:, k] = _best_cut(cell, lead, worth, b[:, k])
    return b


def _best_cut(part: Ints, key: Floats, worth: Floats, now: Floats) -> Floats:
    """For each part the cut of `key` below which the sum of `worth` is largest.

    A part with nobody in it keeps what it has `now`.
    """
    if not len(part):
        return now
    order = np.lexsort((key, part))
    part, key, worth = part[order], key[order], worth[order]
    last = np.append(part[1:] != part[:-1], True)
    first = np.append(True, last[:-1])
    total = worth.cumsum()
    total -= (total - worth)[first][np.cumsum(first) - 1]
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
        scores, said, amount = measured.scores[rows], measured.said[rows], measured.amount[rows]
        for rule in np.flatnonzero(rules.group == group):
            answer = rules.answer(np.full(len(rows), rule), scores, said)
            found[rule] = _tally(np.zeros(len(rows), np.int64), answer, amount, 1)[0]
    return found


def _shrunk(own: Floats, pooled: Floats) -> Floats:
    """The cell's people by answer, pulled to the group's shares; see `rates.shrink`."""
    people, total = own.sum(axis=2, keepdims=True), pooled.sum(axis=2, keepdims=True)
    share = np.divide(pooled, total, out=np.zeros_like(pooled), where=total > 0)
    return people * (own + PSEUDO_ROWS * share) / (people + PSEUDO_ROWS)
