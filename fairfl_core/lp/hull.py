"""List the rules of two labels: corners of what all cuts of the score can do in a cell.

A rule answers the second label above (or below) a cut. In a cell it is a point: how many people of
each label get the second answer. Every gain that a program can ask for is linear in that point, so
only corners of the convex hull are ever mixed: some thirty of a cell's thousands of cuts.
With margins for chance the same holds: their widths are concave in the rate, so that mixing two
corners is never wider than one cut between them.

While the cut moves from the lowest score to the highest, the people below it walk a path that
rises in both coordinates. With rates `shrunk` the path of a cell has a step at every score of its
group, in all clients; but between two scores of its own people it is the group's path, stretched.
There only corners of the group's path count, and those are looked up in hulls of its stretches of
1, 2, 4 ... steps, of which any stretch is made.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairfl_core.fairness.notions import Notion
from fairfl_core.lp.rate_estimates import PSEUDO_ROWS, Measured
from fairfl_core.lp.rules import RuleTable, ScoreRules, spans

__all__ = ["hull_rules", "lower_chain", "mixable"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_ANSWERS = np.array([[0, 1], [0, 0], [1, 1], [1, 0]])  # keep, the constants, turned round
_ALWAYS = 3  # of them are rules in any case
_ALIKE = 1e-9  # people: points closer than this to a line are on it
_ROUNDING = 1e-12  # how far above a line, in its length, a point surely is above it


def hull_rules(measured: Measured) -> RuleTable:
    """Return the corners of every cell: the model's answer, the constants, and cuts of the score.

    They are the same for every notion, policy and confidence.
    """
    table = np.asarray(measured.counts.table, float).reshape(-1, 2, 2)
    groups = len(measured.counts.groups)
    parts = [_turned_answers(table, groups), *_cuts(_Paths(measured), groups)]
    rules = ScoreRules.join([part[0] for part in parts])
    second, kept = (np.concatenate([part[place] for part in parts]) for place in (1, 2))
    cell = rules.client * groups + rules.group
    always = np.arange(len(rules)) < _ALWAYS * len(table)
    chosen = _corners(cell, second, kept, always)
    chosen = chosen[np.argsort(cell[chosen], kind="stable")]
    people = table.sum(axis=2)[cell[chosen]]
    got = np.clip(second[chosen], 0.0, people)
    confusion = np.stack([people - got, got], axis=2)
    return rules.take(chosen).table(confusion, kept[chosen], groups)


def _turned_answers(table: Floats, groups: int) -> tuple[ScoreRules, Floats, Floats]:
    """Rules of answers: who gets the second label by each, and how many keep their answer."""
    cells = np.arange(len(table))
    client, group = np.divmod(np.tile(cells, len(_ANSWERS)), groups)
    rules = ScoreRules.of_answers(client, group, np.repeat(_ANSWERS, len(cells), axis=0))
    second = np.einsum("cyj,rj->rcy", table, _ANSWERS == 1)
    kept = np.einsum("cyj,rj->rc", table, np.arange(2) == _ANSWERS)
    return rules, second.reshape(-1, 2), kept.ravel()


def _cuts(paths: "_Paths", groups: int) -> list[tuple[ScoreRules, Floats, Floats]]:
    """Cuts at the corners of the paths, the second label above and below: likewise."""
    cell, cut = paths.corners()
    client, group = np.divmod(cell, groups)
    low = paths.below(cell, cut)
    high = paths.everybody[cell] - low
    left, right = paths.around(cell, cut)
    middle = (left + right) / 2
    # Two neighbouring floats have no middle: "above t" must leave the left one out, "below" the
    # right one.
    none = (middle >= right) | (middle <= left)
    above = ScoreRules.cuts(client, group, np.where(none, left, middle), np.ones(len(cut), bool))
    below = ScoreRules.cuts(client, group, np.where(none, right, middle), np.zeros(len(cut), bool))
    return [
        (above, high[:, :2], low[:, 2] + high[:, 3]),
        (below, low[:, :2], high[:, 2] + low[:, 3]),
    ]


def _corners(cell: Ints, second: Floats, kept: Floats, always: NDArray[np.bool_]) -> Ints:
    """Positions of each cell's corners, and of those that are rules in any case.

    Of rules that do the same to all labels the one that keeps most answers.
    """
    near = np.round(second / _ALIKE).astype(np.int64)
    order = np.lexsort((-kept, near[:, 1], near[:, 0], cell))
    new = (np.diff(near[order], axis=0) != 0).any(axis=1) | (np.diff(cell[order]) != 0)
    order = order[np.append(True, new)]
    chosen = always.copy()
    for side in (0, 1):  # below the diagonal from nobody to everybody, and above it
        walk = order[np.lexsort((second[order, 1 - side], second[order, side], cell[order]))]
        x, y = second[walk, side], second[walk, 1 - side]
        chosen[walk[lower_chain(cell[walk], x, y, _ALIKE)]] = True
    return np.flatnonzero(chosen)


def lower_chain(part: Ints, x: Floats, y: Floats, slack: float = 0.0) -> Ints:
    """Positions of the corners of each part's lower convex hull, from its first point to its last.

    Points come part by part and within a part by x, then y. One above the line between its
    neighbours is no corner, whoever they are, so that all of these leave in one go. Of points on
    a line no two neighbours leave at once: one of them may be a corner without the other.

    Parameters
    ----------
    part : ndarray, shape (points,)
    x, y : ndarray, shape (points,)
    slack : float
        How far below a line is still on it, in the unit of x and y.
    """
    place = np.arange(len(x))
    turn, idle = 0, 0
    while idle < 2:
        below, length, beyond = _below_neighbours(part, x, y)
        leaves = (below <= slack * length) & ~beyond
        leaves[turn::2] &= (below < -(slack + _ROUNDING) * length)[turn::2]
        turn, idle = 1 - turn, 0 if leaves.any() else idle + 1
        if not idle:
            stays = np.ones(len(place), bool)
            stays[1:-1] = ~leaves
            place, part, x, y = place[stays], part[stays], x[stays], y[stays]
    return place


def _below_neighbours(
    part: Ints, x: Floats, y: Floats
) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """How far each point but the first and last is below its neighbours' line, times its length.

    And whether it is on that line and yet not between them: rounding can put a point that is
    farther down, on an upright line, to the right of one that is above it.
    """
    across, up = x[2:] - x[:-2], y[2:] - y[:-2]
    below = (x[1:-1] - x[:-2]) * up - (y[1:-1] - y[:-2]) * across
    below[part[2:] != part[:-2]] = np.inf  # a part's first and last stay
    backward = (x[1:-1] - x[:-2]) * (x[2:] - x[1:-1]) + (y[1:-1] - y[:-2]) * (y[2:] - y[1:-1]) < 0
    return below, np.abs(across) + np.abs(up) + 1, backward & (below > 0)


@dataclass(frozen=True, eq=False)
class _Steps:
    """The distinct scores of the second label in every part, and how many people have them.

    Attributes
    ----------
    part : ndarray, shape (steps,)
    score : ndarray, shape (steps,)
    start : ndarray, shape (parts + 1,)
        Where the steps of each part begin.
    before : ndarray, shape (steps + 1, 4)
        People by label, and then by the model's answer, on all steps before.
    """

    part: Ints
    score: Floats
    start: Ints
    before: Floats

    @classmethod
    def of(cls, part: Ints, measured: Measured, parts: int) -> "_Steps":
        """Order people by their scores, equal ones on one step."""
        order = np.lexsort((measured.scores[:, 1], part))
        part, score = part[order], measured.scores[order, 1]
        new = np.ones(len(part), bool)
        new[1:] = (part[1:] != part[:-1]) | (score[1:] != score[:-1])
        first = np.flatnonzero(new)
        whole = measured.amount.sum(axis=1, keepdims=True)
        predicted = whole * (measured.predicted[:, None] == np.arange(2))
        people = np.concatenate([measured.amount, predicted], axis=1)
        by_step = np.add.reduceat(people[order], first) if len(first) else np.zeros((0, 4))
        before = np.concatenate([np.zeros((1, 4)), by_step.cumsum(axis=0)])
        start = np.searchsorted(part[first], np.arange(parts + 1))
        return cls(part[first], score[first], start, before)

    @property
    def many(self) -> Ints:
        """How many steps each part has."""
        return np.diff(self.start)

    @property
    def total(self) -> Floats:
        """Everybody of each part."""
        return np.asarray(self.before[self.start[1:]] - self.before[self.start[:-1]])


class _Paths:
    """How many people are below every cut of every cell; a cut is the number of steps below it.

    The steps are those of a cell's own people, or of its group's where rates are `shrunk`: a
    cell's people of a label are then spread as its own and, for `PSEUDO_ROWS`, as its group.
    """

    def __init__(self, measured: Measured) -> None:
        groups = len(measured.counts.groups)
        cells = len(measured.counts.clients) * groups
        self._own = own = _Steps.of(measured.cell, measured, cells)
        self.everybody = own.total
        self._is_shrunk = measured.rates == "shrunk"
        if self._is_shrunk:
            self._line = np.arange(cells) % groups
            self._steps = line = _Steps.of(measured.cell % groups, measured, groups)
            total = line.total[:, :2]
            self._share = np.divide(
                PSEUDO_ROWS, total, out=np.zeros_like(total), where=total > 0
            )  # by group and label: what one of the group counts for
            self._weight = self.everybody[:, :2] / (self.everybody[:, :2] + PSEUDO_ROWS)
            self._rank = np.empty(len(own.part), np.int64)
            for group in range(groups):
                mine = own.part % groups == group
                steps = line.score[line.start[group] : line.start[group + 1]]
                self._rank[mine] = np.searchsorted(steps, own.score[mine])
        else:
            self._line, self._steps = np.arange(cells), own
            self._share, self._weight = np.zeros((cells, 2)), np.ones((cells, 2))
            self._rank = np.arange(len(own.part)) - own.start[own.part]
        self._width = int(self._steps.many.max(initial=0)) + 1
        self._key = own.part * self._width + self._rank

    def corners(self) -> tuple[Ints, Ints]:
        """Return cells and cuts where a path bends outward to either side; its ends do not."""
        cell, cut = self._own_cuts()
        if self._is_shrunk:
            people = self.below(cell, cut)
            more = [self._between(cell, cut, people, side) for side in (0, 1)]
            cell, cut = _distinct(
                np.concatenate([cell, *(found[0] for found in more)]),
                np.concatenate([cut, *(found[1] for found in more)]),
            )
        people = self.below(cell, cut)
        bends = np.zeros(len(cell), bool)
        for side in (0, 1):
            bends[lower_chain(cell, people[:, side], people[:, 1 - side], _ALIKE)] = True
        bends &= (cut > 0) & (cut < self._steps.many[self._line[cell]])
        return cell[bends], cut[bends]

    def _own_cuts(self) -> tuple[Ints, Ints]:
        """The ends of every path, and the cuts before own steps; of a group's path after, too."""
        own, every = self._own, np.arange(len(self._line))
        some = np.flatnonzero(np.diff(own.before[:, :2], axis=0).any(axis=1))
        cells = [every, every, own.part[some]]
        cuts = [0 * every, self._steps.many[self._line], self._rank[some]]
        if self._is_shrunk:
            cells.append(own.part[some])
            cuts.append(self._rank[some] + 1)
        return _distinct(np.concatenate(cells), np.concatenate(cuts))

    def _between(self, cell: Ints, cut: Ints, people: Floats, side: int) -> tuple[Ints, Ints]:
        """Cuts between these where the path may go below the hull of these.

        Between two neighbours it rises, so that it stays above (x of the second, y of the first).
        """
        x, y = people[:, side], people[:, 1 - side]
        chain = lower_chain(cell, x, y, _ALIKE)
        gap = np.flatnonzero((cell[1:] == cell[:-1]) & (cut[1:] > cut[:-1] + 1))
        edge = np.searchsorted(chain, gap, side="right")
        low, high = chain[edge - 1], chain[edge]
        across, up = x[high] - x[low], y[high] - y[low]
        below = (x[gap + 1] - x[low]) * up - (y[gap] - y[low]) * across
        gap = gap[below > _ALIKE * (across + up + 1)]
        found = [(cell[:0], cut[:0])]
        for group in np.unique(self._line[cell[gap]]).tolist():
            mine = gap[self._line[cell[gap]] == group]
            first, last = self._steps.start[group : group + 2]
            path = self._steps.before[first : last + 1]
            window, corner = _stretch_corners(
                path[:, side], path[:, 1 - side], cut[mine] + 1, cut[mine + 1] - 1
            )
            found.append((cell[mine][window], corner))
        return np.concatenate([one[0] for one in found]), np.concatenate([one[1] for one in found])

    def _own_place(self, cell: Ints, cut: Ints) -> Ints:
        """The first own step that is not below the cut."""
        place = np.searchsorted(self._key, cell * self._width + np.minimum(cut, self._width - 1))
        return np.where(cut < self._width, place, self._own.start[cell + 1])

    def below(self, cell: Ints, cut: Ints) -> Floats:
        """Count people by label, and own ones by the model's answer, below these cuts: (cuts, 4)."""
        own, line = self._own, self._line[cell]
        people = own.before[self._own_place(cell, cut)] - own.before[own.start[cell]]
        if self._is_shrunk:
            start, before = self._steps.start[line], self._steps.before[:, :2]
            pool = self._share[line] * (before[start + cut] - before[start])
            people[:, :2] = self._weight[cell] * (people[:, :2] + pool)
        return people

    def around(self, cell: Ints, cut: Ints) -> tuple[Floats, Floats]:
        """Return the scores to the left and right of these cuts, which are no ends of a path."""
        right = self._steps.start[self._line[cell]] + cut
        return self._steps.score[right - 1], self._steps.score[right]


def _stretch_corners(x: Floats, y: Floats, first: Ints, last: Ints) -> tuple[Ints, Ints]:
    """Find points of a rising path among which are the lower hulls of some of its stretches.

    Returns the number of the stretch and the point of every one found. A stretch from `first` to
    `last` is made of blocks of 1, 2, 4 ... points that begin at multiples of their length: the
    corners of their hulls are those of the stretch, and some more.
    """
    windows, points = [first[:0]], [first[:0]]
    window, begin, end = np.arange(len(first)), first, last + 1
    corner, level = np.arange(len(x)), 0
    while window.size:
        start = np.searchsorted(corner >> level, np.arange((len(x) >> level) + 2))
        for odd, block in ((begin % 2 == 1, begin), (end % 2 == 1, end - 1)):
            many = np.where(odd, start[block + 1] - start[block], 0)
            owner, place = spans(start[block], many)
            windows.append(window[owner])
            points.append(corner[place])
        begin, end = (begin + 1) >> 1, end >> 1
        left = begin < end
        window, begin, end = window[left], begin[left], end[left]
        level += 1
        corner = corner[lower_chain(corner >> level, x[corner], y[corner])]
    return np.concatenate(windows), np.concatenate(points)


def _distinct(cell: Ints, cut: Ints) -> tuple[Ints, Ints]:
    """Each cut once, in order."""
    width = int(cut.max(initial=0)) + 1
    key = np.sort(cell * width + cut)  # np.unique hashes, which is slow for so many
    return np.divmod(key[np.append(True, key[1:] > key[:-1])[: len(key)]], width)


def mixable(table: RuleTable, notion: Notion, objective: Floats) -> RuleTable:
    """Return the corners that a program of nothing but the notion's gaps can use.

    Where it has one rate, a cell's corner is a point (rate, objective), and only corners of the
    upper hull are ever mixed. The model's answer and the constants are kept in any case.
    """
    if len(notion.rates) > 1:
        return table
    counted = notion.answered(table.confusion)[:, 0]
    order = np.lexsort((-objective, counted, table.block))
    block, x = table.block[order], counted[order]
    best = np.append(True, (np.diff(block) > 0) | (np.diff(x) > 0))  # others: the same for less
    order = order[best]
    corner = lower_chain(table.block[order], counted[order], -objective[order])
    chosen = table.keeps | ~np.isnan(table.known).any(axis=1)
    chosen[order[corner]] = True
    return table.take(chosen)
