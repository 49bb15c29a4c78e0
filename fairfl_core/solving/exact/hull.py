"""Two labels: the rules that matter are the corners of what all cuts of the score can do.

A rule answers the second label above (or below) a cut. In a cell it is a point: how many people of
each label get the second answer. Every gain that a program can ask for is linear in that point, so
only corners of the convex hull are ever worth mixing: some thirty of a cell's thousands of cuts.
With the hull in hand the exact region is a program like any other, solved in one go.

The same holds with margins for chance: their widths are concave in the rate, so that mixing two
corners is never wider than one cut between them.
"""

from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from fairfl_core.fairness.notions import Notion
from fairfl_core.solving.columns import Columns
from fairfl_core.solving.exact.rules import ScoreRules
from fairfl_core.solving.rate_estimates import PSEUDO_ROWS, Measured

__all__ = ["hull_rules", "mixable"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_ALIKE = 1e-9  # people: corners closer than this to a line are on it


def hull_rules(measured: Measured) -> tuple[ScoreRules, Columns]:
    """The corners of every cell: the model's answer, the constants, and cuts of the score.

    They are the same for every notion, policy and confidence, and are kept with the people.
    """
    if measured not in _corners_of:
        _corners_of[measured] = _all_corners(measured)
    return _corners_of[measured]


_corners_of: "WeakKeyDictionary[Measured, tuple[ScoreRules, Columns]]" = WeakKeyDictionary()


def _all_corners(measured: Measured) -> tuple[ScoreRules, Columns]:
    groups = len(measured.counts.groups)
    cells = len(measured.counts.clients) * groups
    steps = _Steps(measured)
    table = np.asarray(measured.counts.table, float).reshape(cells, 2, 2)
    kept_by_answers = np.array([[0, 1], [0, 0], [1, 1], [1, 0]])  # keep, constants, turned round
    parts = [_corners(cell, steps, table[cell], kept_by_answers) for cell in range(cells)]
    rules = ScoreRules.join([part[0] for part in parts])
    client, group = rules.client, rules.group
    return rules, Columns(
        client=client,
        group=group,
        block=client * groups + group,
        span=np.ones(len(rules), np.int64),
        confusion=np.concatenate([part[1] for part in parts]),
        kept=np.concatenate([part[2] for part in parts]),
        keeps=(rules.answers == np.arange(2)).all(axis=1),
        known=rules.known,
    )


def mixable(
    rules: ScoreRules, columns: Columns, notion: Notion, worth: Floats
) -> tuple[ScoreRules, Columns]:
    """The corners that a program of nothing but the notion's gaps can use.

    Where it has one rate, a cell's corner is a point (rate, worth), and only corners of the upper
    hull are ever mixed. The model's answer and the constants are kept in any case.
    """
    if len(notion.rates) > 1:
        return rules, columns
    counted = notion.answered(columns.confusion)[:, 0]
    order = np.lexsort((-worth, counted, columns.block))
    chosen = columns.keeps | ~np.isnan(columns.known).any(axis=1)
    points = zip(
        order.tolist(),
        columns.block[order].tolist(),
        counted[order].tolist(),
        worth[order].tolist(),
        strict=True,
    )
    chain: list[tuple[int, int, float, float]] = []
    for place, block, x, y in points:
        if chain and chain[-1][1] != block:
            chosen[[one[0] for one in chain]] = True
            chain = []
        if chain and chain[-1][2] == x:
            continue  # the same rate for less
        while len(chain) > 1:
            (_, _, x0, y0), (_, _, x1, y1) = chain[-2:]
            if (y1 - y0) * (x - x0) > (y - y0) * (x1 - x0):
                break
            chain.pop()
        chain.append((place, block, x, y))
    chosen[[one[0] for one in chain]] = True
    return rules.take(chosen), columns.take(chosen)


class _Steps:
    """People of every cell by distinct score: how many of each label stand on each step."""

    def __init__(self, measured: Measured) -> None:
        self.groups = len(measured.counts.groups)
        self.cells = len(measured.counts.clients) * self.groups
        self.own = _by_score(measured.cell, measured, self.cells)
        self.shrunk = measured.rates == "shrunk"
        if self.shrunk:
            self.pool = _by_score(measured.cell % self.groups, measured, self.groups)

    def of(self, cell: int) -> tuple[Floats, Floats, Floats]:
        """Scores, people by label (steps, 2), and people by the model's answer, of a cell."""
        score, amount, said = self.own[cell]
        if not self.shrunk:
            return score, amount, said
        # Shrunk: a cell's people by label, spread as its own and, for PSEUDO_ROWS, as the pool.
        pool_score, pool, _ = self.pool[cell % self.groups]
        people, total = amount.sum(axis=0), pool.sum(axis=0)
        scores = np.union1d(score, pool_score)
        merged, answers = np.zeros((len(scores), 2)), np.zeros((len(scores), 2))
        merged[np.searchsorted(scores, score)] += amount
        share = np.divide(pool, total, out=np.zeros_like(pool), where=total > 0)
        merged[np.searchsorted(scores, pool_score)] += PSEUDO_ROWS * share
        answers[np.searchsorted(scores, score)] = said
        return scores, merged * people / (people + PSEUDO_ROWS), answers


def _by_score(part: Ints, measured: Measured, parts: int) -> list[tuple[Floats, Floats, Floats]]:
    """For each part its distinct scores of the second label, and who stands on them."""
    score = measured.scores[:, 1]
    order = np.lexsort((score, part))
    part, score = part[order], score[order]
    new = np.ones(len(part), bool)
    new[1:] = (part[1:] != part[:-1]) | (score[1:] != score[:-1])
    step = np.cumsum(new) - 1
    count = int(new.sum())
    amount = np.stack(
        [np.bincount(step, measured.amount[order, y], minlength=count) for y in (0, 1)], axis=1
    )
    whole = measured.amount[order].sum(axis=1)
    said = np.stack(
        [
            np.bincount(step, np.where(measured.said[order] == j, whole, 0.0), minlength=count)
            for j in (0, 1)
        ],
        axis=1,
    )
    steps = score[new], np.asarray(amount, float), np.asarray(said, float)  # cut once, not by part
    ends = np.searchsorted(part[new], np.arange(parts + 1))
    return [
        (steps[0][low:high], steps[1][low:high], steps[2][low:high])
        for low, high in zip(ends[:-1], ends[1:], strict=True)
    ]


def _corners(
    cell: int, steps: _Steps, table: Floats, by_answers: Ints
) -> tuple[ScoreRules, Floats, Floats]:
    """The hull of one cell: rules, their confusion and the people who keep their answer."""
    score, amount, said = steps.of(cell)
    client, group = np.divmod(cell, steps.groups)
    below = np.concatenate([np.zeros((1, 2)), amount.cumsum(axis=0)])  # (boundaries, label)
    total = below[-1]
    boundary = np.union1d(_bends(amount, increasing=True), _bends(amount, increasing=False))
    at = np.concatenate(_between(score, boundary))
    low = below[boundary]
    low_said = np.concatenate([np.zeros((1, 2)), said.cumsum(axis=0)])[boundary]
    high_said = said.sum(axis=0) - low_said
    # Second label above the cut, or below it: people of each label who get it, and who keep.
    above = np.repeat([True, False], len(boundary))
    second = np.concatenate([total - low, low])
    kept = np.concatenate([low_said[:, 0] + high_said[:, 1], high_said[:, 0] + low_said[:, 1]])
    answered = np.stack([table[:, answers == 1].sum(axis=1) for answers in by_answers])
    own_kept = np.array([table[:, answers == np.arange(2)].sum() for answers in by_answers])
    points = np.concatenate([answered, second])
    kept = np.concatenate([own_kept, kept])
    chosen = _hull(points, always=3)
    cuts = chosen[chosen >= len(by_answers)] - len(by_answers)
    answers = by_answers[chosen[chosen < len(by_answers)]]
    rules = ScoreRules.join(
        [
            ScoreRules.of_answers(*_cell(client, group, len(answers)), answers),
            ScoreRules.cuts(*_cell(client, group, len(cuts)), at[cuts], above[cuts]),
        ]
    )
    people = table.sum(axis=1)
    got = points[chosen]
    return rules, np.stack([people - got, got], axis=2), kept[chosen]


def _cell(client: int, group: int, rules: int) -> tuple[Ints, Ints]:
    return np.full(rules, client, np.int64), np.full(rules, group, np.int64)


def _bends(amount: Floats, *, increasing: bool) -> Ints:
    """Boundaries where the curve of all cuts bends outward: an isotonic fit's blocks."""
    weight = amount.sum(axis=1)
    there = np.flatnonzero(weight > 0)
    if not len(there):
        return np.zeros(0, np.int64)
    from scipy.optimize import isotonic_regression

    fit = isotonic_regression(
        amount[there, 1] / weight[there], weights=weight[there], increasing=increasing
    )
    return there[fit.blocks[1:-1]]


def _between(score: Floats, boundary: Ints) -> tuple[Floats, Floats]:
    """A cut in the middle of the scores on either side: for "above" it, and for "below" it."""
    left, right = score[boundary - 1], score[boundary]
    middle = (left + right) / 2
    # Two neighbouring floats have no middle: "above t" must leave the left one out, "below" the
    # right one.
    none = (middle >= right) | (middle <= left)
    return np.where(none, left, middle), np.where(none, right, middle)


def _hull(points: Floats, *, always: int) -> Ints:
    """Positions of the corners of the convex hull; the first `always` are kept in any case."""
    order = np.lexsort((points[:, 1], points[:, 0]))
    corners: set[int] = set(range(always))
    for walk in (order, order[::-1]):
        chain: list[int] = []
        for place in walk.tolist():
            while len(chain) > 1 and _turns_right(points, chain[-2], chain[-1], place):
                chain.pop()
            chain.append(place)
        corners.update(chain)
    return np.array(sorted(corners))


def _turns_right(points: Floats, first: int, middle: int, last: int) -> bool:
    """Whether the middle point is no corner: on or inside the line from first to last."""
    (x0, y0), (x1, y1), (x2, y2) = points[first], points[middle], points[last]
    cross = (x1 - x0) * (y2 - y0) - (y1 - y0) * (x2 - x0)
    return bool(cross <= _ALIKE * (abs(x2 - x0) + abs(y2 - y0) + 1))
