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
from fairfl_core.lp.exact.chains import lower_chain
from fairfl_core.lp.exact.paths import ALIKE, Paths, paths_of
from fairfl_core.lp.exact.rules import ScoreRules
from fairfl_core.lp.rate_estimates import Measured
from fairfl_core.lp.rule_table import Columns

__all__ = ["hull_rules", "mixable"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_ANSWERS = np.array([[0, 1], [0, 0], [1, 1], [1, 0]])  # keep, the constants, turned round
_ALWAYS = 3  # of them are rules in any case


def hull_rules(measured: Measured) -> tuple[ScoreRules, Columns]:
    """The corners of every cell: the model's answer, the constants, and cuts of the score.

    They are the same for every notion, policy and confidence, and are kept with the people.
    """
    if measured not in _corners_of:
        _corners_of[measured] = _all_corners(measured)
    return _corners_of[measured]


_corners_of: "WeakKeyDictionary[Measured, tuple[ScoreRules, Columns]]" = WeakKeyDictionary()


def _all_corners(measured: Measured) -> tuple[ScoreRules, Columns]:
    """The hulls of all cells, cell by cell: rules of answers first, then cuts."""
    paths = paths_of(measured)
    table = np.asarray(measured.counts.table, float).reshape(-1, 2, 2)
    parts = [_turned_answers(table, paths.groups), *_cuts(paths)]
    rules = ScoreRules.join([part[0] for part in parts])
    second, kept = (np.concatenate([part[place] for part in parts]) for place in (1, 2))
    cell = rules.client * paths.groups + rules.group
    always = np.arange(len(rules)) < _ALWAYS * paths.cells
    chosen = _corners(cell, second, kept, always)
    chosen = chosen[np.argsort(cell[chosen], kind="stable")]
    rules = rules.take(chosen)
    people = table.sum(axis=2)[cell[chosen]]
    got = np.clip(second[chosen], 0.0, people)
    return rules, Columns(
        client=rules.client,
        group=rules.group,
        block=cell[chosen],
        span=np.ones(len(rules), np.int64),
        confusion=np.stack([people - got, got], axis=2),
        kept=kept[chosen],
        keeps=(rules.answers == np.arange(2)).all(axis=1),
        known=rules.known,
    )


def _turned_answers(table: Floats, groups: int) -> tuple[ScoreRules, Floats, Floats]:
    """Rules of answers, rule by rule: who gets the second label by them, and who keeps theirs."""
    cells = np.arange(len(table))
    client, group = np.divmod(np.tile(cells, len(_ANSWERS)), groups)
    rules = ScoreRules.of_answers(client, group, np.repeat(_ANSWERS, len(cells), axis=0))
    second = np.einsum("cyj,rj->rcy", table, _ANSWERS == 1)
    kept = np.einsum("cyj,rj->rc", table, np.arange(2) == _ANSWERS)
    return rules, second.reshape(-1, 2), kept.ravel()


def _cuts(paths: Paths) -> list[tuple[ScoreRules, Floats, Floats]]:
    """The second label above a bend, and below it: likewise."""
    cell, cut = paths.bends()
    client, group = np.divmod(cell, paths.groups)
    low, low_said = paths.below(cell, cut), paths.said_below(cell, cut)
    total, total_said = paths.ends(cell)
    high, high_said = total - low, total_said - low_said
    left, right = paths.around(cell, cut)
    middle = (left + right) / 2
    # Two neighbouring floats have no middle: "above t" must leave the left one out, "below" the
    # right one.
    none = (middle >= right) | (middle <= left)
    above = ScoreRules.cuts(client, group, np.where(none, left, middle), np.ones(len(cut), bool))
    below = ScoreRules.cuts(client, group, np.where(none, right, middle), np.zeros(len(cut), bool))
    return [
        (above, high, low_said[:, 0] + high_said[:, 1]),
        (below, low, high_said[:, 0] + low_said[:, 1]),
    ]


def _corners(cell: Ints, second: Floats, kept: Floats, always: NDArray[np.bool_]) -> Ints:
    """Positions of each cell's corners, and of those that are rules in any case.

    Of rules that do the same to all labels the one that keeps most answers.
    """
    near = np.round(second / ALIKE).astype(np.int64)
    order = np.lexsort((-kept, near[:, 1], near[:, 0], cell))
    new = (np.diff(near[order], axis=0) != 0).any(axis=1) | (np.diff(cell[order]) != 0)
    order = order[np.append(True, new)]
    chosen = always.copy()
    for side in (0, 1):  # below the diagonal from nobody to everybody, and above it
        walk = order[np.lexsort((second[order, 1 - side], second[order, side], cell[order]))]
        x, y = second[walk, side], second[walk, 1 - side]
        chosen[walk[lower_chain(cell[walk], x, y, ALIKE)]] = True
    return np.flatnonzero(chosen)


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
    block, x = columns.block[order], counted[order]
    best = np.append(True, (np.diff(block) > 0) | (np.diff(x) > 0))  # others: the same for less
    order = order[best]
    corner = lower_chain(columns.block[order], counted[order], -worth[order])
    chosen = columns.keeps | ~np.isnan(columns.known).any(axis=1)
    chosen[order[corner]] = True
    return rules.take(chosen), columns.take(chosen)
