"""All eps_global at once, exactly: merge the clients' curves by slope.

With two labels, two groups and one rate (`eop`, `sp`), and one eps_local for all, clients touch
each other only through one number: the global gap is the sum over clients of

    g_c = w_c0 rate_c0 - w_c1 rate_c1,      w_ca = people of the cell / people of the group.

What client c can make of its share g is a concave, piecewise linear curve F_c(g) (correct answers).
The best total for a given global gap is the sup-convolution of all F_c: their segments, steepest
first. One sort gives the optimum for every eps_global.

F_c itself is a small polygon problem in (rate_c0, rate_c1): the envelope h_a(rate) of a cell's
rules is piecewise linear, so F_c is the upper hull of the values at the corners of the grid that
the breakpoints of h_0 and h_1 and the two lines rate_0 - rate_1 = +-eps_local draw.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairfl_core.fairness.notions import Notion

__all__ = ["Corners", "merged_cells"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_EDGE = 1e-12  # two rates closer than this are one


@dataclass(frozen=True, eq=False)
class Corners:
    """What each cell can do without chance: the corners of its lottery.

    Attributes
    ----------
    confusion : ndarray, shape (clients, groups, corners, 2, 2)
        People by label and answer under each corner.
    n_label : ndarray, shape (clients, groups, 2)
        People by label.
    """

    confusion: Floats
    n_label: Floats


def merged_cells(
    corners: Corners,
    notion: Notion,
    eps_local: Floats,
    eps_global: Floats,
    on_progress: Callable[[int, int], None] | None = None,
) -> list[Floats]:
    """Accuracy, global gap, mean and worst local gap, each (eps_local, eps_global)."""
    cells = _Cells.of(corners, notion)
    tables = [np.full((eps_local.size, eps_global.size), np.nan) for _ in range(4)]
    for i, epsilon in enumerate(eps_local):
        hull = _Hull.of(*cells.corners(epsilon))
        for table, row in zip(tables, _along(hull, cells, eps_global), strict=True):
            table[i] = row
        if on_progress:
            on_progress((i + 1) * eps_global.size, tables[0].size)
    tables[0] /= corners.n_label.sum()
    return tables


@dataclass(frozen=True, eq=False)
class _Cells:
    """Each cell's rules as points (rate, correct answers), and its weight in the global gap.

    `rate` and `correct` have the shape (clients, groups, rules); `weight` and `has_rate` the
    shape (clients, groups); `coupled` says whether a global gap exists at all.
    """

    rate: Floats
    correct: Floats
    weight: Floats
    has_rate: NDArray[np.bool_]
    coupled: bool

    @classmethod
    def of(cls, corners: Corners, notion: Notion) -> "_Cells":
        """Rates and right answers of every corner."""
        confusion = corners.confusion
        correct = np.einsum("capyy->cap", confusion)
        people = notion.people(corners.n_label)[..., 0]
        has_rate = people > 0
        answered = notion.answered(confusion)[..., 0]
        rate = np.zeros_like(correct)
        np.divide(answered, people[..., None], out=rate, where=has_rate[..., None])
        # A cell without the rate is free: it takes its best rule whatever the others do.
        best = correct.max(axis=2, keepdims=True)
        correct = np.where(has_rate[..., None], correct, best)
        total = people.sum(axis=0)
        weight = np.divide(people, total, out=np.zeros_like(people), where=total > 0)
        return cls(rate, correct, weight, has_rate, bool((total > 0).all()))

    def envelope(self, group: int, at: Floats) -> Floats:
        """h_a: the most correct answers at a rate, by mixing two rules; -inf out of reach."""
        rate, correct = self.rate[:, group, :, None], self.correct[:, group, :, None]
        at = at[:, None, :]
        best = np.where(np.abs(rate - at) <= _EDGE, correct, -np.inf).max(axis=1)
        rules = rate.shape[1]
        for low in range(rules):
            for high in range(rules):
                span = rate[:, high] - rate[:, low]
                share = np.full_like(best, -1.0)
                np.divide(at[:, 0] - rate[:, low], span, out=share, where=span > _EDGE)
                mixed = correct[:, low] + share * (correct[:, high] - correct[:, low])
                best = np.maximum(best, np.where((share >= 0) & (share <= 1), mixed, -np.inf))
        return best

    def corners(self, epsilon: float) -> tuple[Floats, Floats, Floats]:
        """Corners of the polygon of each client: share g, correct answers, rate_0 - rate_1."""
        # A client that lacks the rate in a group has no local gap to bound.
        reach = np.where(self.has_rate.all(axis=1), epsilon, 1.0)[:, None]
        first, second = self.rate[:, 0], self.rate[:, 1]
        crossing = [(first, first - s * reach) for s in (1, -1)]
        crossing += [(second + s * reach, second) for s in (1, -1)]
        grid = np.broadcast_arrays(first[:, :, None], second[:, None, :])
        zero = np.concatenate([grid[0].reshape(len(first), -1), *(x for x, _ in crossing)], axis=1)
        other = np.concatenate(
            [grid[1].reshape(len(first), -1), *(y for _, y in crossing)], axis=1
        )
        inside = (np.abs(zero - other) <= reach + _EDGE) & (np.minimum(zero, other) >= -_EDGE)
        inside &= np.maximum(zero, other) <= 1 + _EDGE
        value = self.envelope(0, zero) + self.envelope(1, other)
        value = np.where(inside, value, -np.inf)
        return self.weight[:, :1] * zero - self.weight[:, 1:] * other, value, zero - other


@dataclass(frozen=True, eq=False)
class _Hull:
    """Every client's curve F_c: where it starts, and its segments.

    `start` holds (share, value, difference of rates) of each client's left end; a segment has its
    client, its length in share, its rise in value and in difference.
    """

    start: Floats
    client: Ints
    length: Floats
    rise: Floats
    turn: Floats

    @classmethod
    def of(cls, share: Floats, value: Floats, difference: Floats) -> "_Hull":
        """Wrap all clients' points at once: from each corner to the next by steepest slope."""
        rows = np.arange(len(share))
        reachable = value > -np.inf
        left = np.where(reachable, share, np.inf).min(axis=1, keepdims=True)
        at = np.where(reachable & (share <= left + _EDGE), value, -np.inf).argmax(axis=1)
        start = np.stack([x[rows, at] for x in (share, value, difference)])
        segments: list[tuple[Ints, Floats, Floats, Floats]] = []
        active = rows
        while active.size:
            here = at[active]
            step = share[active] - share[active, here][:, None]
            ahead = reachable[active] & (step > _EDGE)
            gain = value[active] - value[active, here][:, None]
            slope = np.divide(gain, step, out=np.full_like(step, -np.inf), where=ahead)
            steepest = slope.max(axis=1, keepdims=True)
            # Of points on one line the farthest, so that the walk is short and never turns back.
            line = ahead & (slope >= steepest - _EDGE * np.maximum(1.0, np.abs(steepest)))
            ahead_at = np.where(line, step, -np.inf).argmax(axis=1)
            moving = ahead.any(axis=1)
            active, here, ahead_at = active[moving], here[moving], ahead_at[moving]
            segments.append(
                (
                    active,
                    share[active, ahead_at] - share[active, here],
                    value[active, ahead_at] - value[active, here],
                    difference[active, ahead_at] - difference[active, here],
                )
            )
            at[active] = ahead_at
        client, length, rise, turn = (np.concatenate(x) for x in zip(*segments, strict=True))
        order = np.argsort(-rise / length, kind="stable")
        return cls(start, client[order], length[order], rise[order], turn[order])


def _along(hull: _Hull, cells: _Cells, eps_global: Floats) -> list[Floats]:
    """Walk the merged curve to the best point allowed by each eps_global."""
    begin, ends = hull.start[0].sum(), np.concatenate([[0.0], np.cumsum(hull.length)])
    peak = begin + hull.length[hull.rise > 0].sum()
    results = []
    for epsilon in eps_global:
        target = np.clip(peak, -epsilon, epsilon) if cells.coupled else peak
        used = np.clip(target - begin - ends[:-1], 0.0, hull.length) / hull.length
        correct = hull.start[1].sum() + (used * hull.rise).sum()
        turned = np.bincount(hull.client, used * hull.turn, minlength=len(cells.weight))
        local = np.abs(hull.start[2] + turned)[cells.has_rate.all(axis=1)]
        results.append(
            (
                correct,
                abs(target) if cells.coupled else np.nan,
                local.mean() if local.size else np.nan,
                local.max() if local.size else np.nan,
            )
        )
    return [np.array(column) for column in zip(*results, strict=True)]
