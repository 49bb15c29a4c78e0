"""Whether scores mean what they say, and a recalibration where they do not.

A score is calibrated if among the people it gives 70 % to a label, 70 % have that label. Rates
estimated from scores are as right as the scores are (`rates`), so score mode asks for this.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fairfl_core._io.files import check_keys, nested_numbers
from fairfl_core.errors import InputError

if TYPE_CHECKING:
    from fairfl_core.data.scored import ScoredData

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_LEAST = 1e-4  # the smallest score a map may give
_PRIOR_ROWS = 20.0  # how many rows hold a client's shift at zero
_FARTHEST = 20.0
_STEPS = 50
_DIGITS = 12  # decimals of a recalibrated score: fewer than two processors can differ in
_SHIFT_DIGITS = 10


@dataclass(frozen=True, eq=False)
class Calibration:
    """A monotone map of the scores of each group and label, then a shift for each client.

    A recalibrated score is proportional to exp(shift[c, y]) m_ay(r_y), where m_ay is the map of
    group a and label y, the same for all clients.

    Attributes
    ----------
    knots : tuple of tuple of ndarray
        ``knots[group][label]``, shape (2, points): scores and what they become, with straight
        lines in between and constants beyond.
    shift : ndarray, shape (clients, labels)
        What each client adds to the logarithm of a label's score.
    """

    knots: tuple[tuple[Floats, ...], ...]
    shift: Floats

    @classmethod
    def fit(cls, people: "ScoredData") -> "Calibration":
        """Fit on people whose labels are known: validation, never test.

        The maps are isotonic regressions of each label on its score, group by group, clients
        pooled: one client's cells are too small to be fitted on their own (23 women with a
        doctorate), and no group shall be judged by the other's errors. What a client's base
        rates differ by is left to its shifts, which `_PRIOR_ROWS` hold near zero.
        """
        if people.calibration is not None:
            raise InputError("these scores are recalibrated already; fit on the model's own.")
        clients, labels = len(people.clients), len(people.labels)
        knots = []
        for group in range(len(people.groups)):
            rows = people.group == group
            maps = []
            for label in range(labels):
                if not rows.any():
                    maps.append(np.array([[0.0, 1.0], [0.0, 1.0]]))
                    continue
                maps.append(_isotonic(people.scores[rows, label], people.label[rows] == label))
            knots.append(tuple(maps))
        pooled = cls(tuple(knots), np.zeros((clients, labels)))
        scores = pooled.apply(people.client, people.group, people.scores)
        return replace(pooled, shift=_shifts(people.client, people.label, scores, clients))

    def apply(self, client: Ints, group: Ints, scores: Floats) -> Floats:
        """Recalibrated scores of people of these clients and groups; each person's sum to one.

        They are rounded to 12 decimals: exponentials and sums differ in the last bit from one
        processor to another, and scores that are equal on one must be equal on all.
        """
        mapped = np.empty(scores.shape)
        for place, maps in enumerate(self.knots):
            rows = np.flatnonzero(group == place)
            if not rows.size:  # of one person all groups but one
                continue
            for label, (at, value) in enumerate(maps):
                mapped[rows, label] = np.interp(scores[rows, label], at, value)
        # A map may end at 0: nobody is that sure of anything.
        mapped = np.maximum(mapped, _LEAST) * self._factor[client]
        return np.round(mapped / mapped.sum(axis=1, keepdims=True), _DIGITS)

    @cached_property
    def _factor(self) -> Floats:
        """What each client multiplies a label's score by, 1 for the largest, rounded."""
        return np.round(np.exp(self.shift - self.shift.max(axis=1, keepdims=True)), _DIGITS)

    def to_json(self) -> dict[str, Any]:
        """Knots as nested lists [group][label][score, becomes][point], shifts [client][label]."""
        knots = [[points.tolist() for points in maps] for maps in self.knots]
        return {"knots": knots, "shift": self.shift.tolist()}

    @classmethod
    def from_json(
        cls, value: Any, clients: Sequence[str], groups: Sequence[str], labels: Sequence[str]
    ) -> "Calibration":
        """Check and take what `to_json` gave."""
        where = '"calibration"'
        if not isinstance(value, dict):
            raise InputError(f'{where} must be an object with "knots" and "shift".')
        check_keys(value, {"knots", "shift"}, set(), where)
        knots = value["knots"]
        whole = isinstance(knots, list) and len(knots) == len(groups)
        if not whole or not all(isinstance(m, list) and len(m) == len(labels) for m in knots):
            raise InputError(
                f'{where}, "knots" must be a list with one entry per group, each with one per '
                "label."
            )
        axes = (("client", clients), ("label", labels))
        shift = np.array(nested_numbers(value["shift"], axes, f'{where}, "shift"'), float)
        if np.abs(shift).max() > _FARTHEST:
            raise InputError(f'{where}, "shift": a shift is too large; fit the predictor again.')
        maps = tuple(tuple(_knots(points) for points in maps) for maps in knots)
        return cls(maps, shift.reshape(len(clients), len(labels)))


def _isotonic(score: Floats, has: NDArray[np.bool_]) -> Floats:
    """Isotonic regression of having a label on its score: knots, without those on a level line."""
    from scipy.optimize import isotonic_regression  # starts slowly

    at, place, people = np.unique(score, return_inverse=True, return_counts=True)
    share = np.bincount(place, has) / people
    value = isotonic_regression(share, weights=people).x
    turns = np.ones(len(at), bool)
    turns[1:-1] = (value[1:-1] != value[:-2]) | (value[1:-1] != value[2:])
    return np.stack([at[turns], value[turns]])


def _shifts(client: Ints, label: Ints, scores: Floats, clients: int) -> Floats:
    """Each client's shifts by penalised maximum likelihood: Newton steps, all clients at once."""
    labels = scores.shape[1]
    shift = np.zeros((clients, labels))
    seen = np.zeros((clients, labels))
    np.add.at(seen, (client, label), 1.0)
    for _ in range(_STEPS):
        now = scores * np.exp(shift)[client]
        now /= now.sum(axis=1, keepdims=True)
        spread = np.zeros((clients, labels, labels))
        for y in range(labels):
            for k in range(labels):
                both = now[:, y] * ((y == k) - now[:, k])
                spread[:, y, k] = np.bincount(client, both, minlength=clients)
        expected = np.stack(
            [np.bincount(client, now[:, y], minlength=clients) for y in range(labels)], axis=1
        )
        slope = seen - expected - _PRIOR_ROWS * shift
        step = np.linalg.solve(spread + _PRIOR_ROWS * np.eye(labels), slope[..., None])[..., 0]
        shift = np.clip(shift + np.clip(step, -1.0, 1.0), -_FARTHEST, _FARTHEST)
        if np.abs(step).max() < 1e-9:
            break
    return np.round(shift, _SHIFT_DIGITS)


def _knots(value: Any) -> Floats:
    where = '"calibration", "knots"'
    whole = isinstance(value, list) and len(value) == 2 and isinstance(value[0], list)
    if not whole or not value[0]:
        raise InputError(f"{where}: each map must be two lists, scores and what they become.")
    points = [str(place) for place in range(len(value[0]))]
    flat = nested_numbers(value, (("side", ("score", "becomes")), ("point", points)), where)
    knots = np.array(flat, float).reshape(2, -1)
    if (np.diff(knots) < 0).any() or knots.min() < 0 or knots.max() > 1:
        raise InputError(f"{where}: a map must rise from score to score, within 0 and 1.")
    return knots
