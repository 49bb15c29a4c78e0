"""Scenarios of heterogeneity: clients drawn with given shares of a group."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairfl_core.errors import InputError

__all__ = ["SCENARIOS", "draw_clients"]

# Share of women in each of five clients of 1,500 (the paper's section on heterogeneity).
SCENARIOS: dict[str, tuple[float, ...]] = {
    "scenario1": (0.4, 0.4, 0.4, 0.4, 0.4),
    "scenario2": (0.2, 0.3, 0.4, 0.5, 0.6),
    "scenario3": (0.1, 0.3, 0.5, 0.7, 0.9),
}


def draw_clients(
    group: ArrayLike,
    shares: Sequence[float],
    size: int,
    *,
    seed: int | Sequence[int],
    unit: ArrayLike | None = None,
) -> NDArray[np.int16]:
    """Draw clients of `size` rows, without replacement, with given shares of group 0.

    Parameters
    ----------
    group : array of int
        Group a of each row: 0 or 1.
    shares : sequence of float
        Pr(A = 0 | C = c) for each client c.
    size : int
        Rows of each client.
    seed : int or sequence of int
        The same seed draws the same clients.
    unit : array of int, optional
        Rows of one unit (images of one lesion) go to one client at most. A unit that would
        overfill a client loses its last rows.

    Returns
    -------
    ndarray of int
        The client of each row; -1 where the row was not drawn.
    """
    groups = np.asarray(group)
    units = np.arange(len(groups)) if unit is None else np.asarray(unit)
    if size < 1 or not all(0 <= share <= 1 for share in shares):
        raise InputError("shares must lie between 0 and 1, and a client needs at least one row.")
    first = np.array([round(share * size) for share in shares], int)
    rng = np.random.default_rng(seed)
    drawn = np.full(len(groups), -1, np.int16)
    for code, wanted in enumerate((first, size - first)):
        rows = _shuffled_by_unit(np.flatnonzero(groups == code), units, rng)
        _deal(rows, units[rows], wanted, drawn, code)
    return drawn


def _shuffled_by_unit(
    rows: NDArray[np.intp], units: NDArray[np.integer], rng: np.random.Generator
) -> NDArray[np.intp]:
    """Rows in random order, those of one unit side by side."""
    present, position = np.unique(units[rows], return_inverse=True)
    return rows[np.argsort(rng.permutation(len(present))[position], kind="stable")]


def _deal(
    rows: NDArray[np.intp],
    units: NDArray[np.integer],
    wanted: NDArray[np.integer],
    drawn: NDArray[np.int16],
    code: int,
) -> None:
    """Hand out rows client by client; each client starts at a fresh unit."""
    starts = np.flatnonzero(np.r_[True, units[1:] != units[:-1]]) if len(units) else units
    at = 0
    for client, count in enumerate(wanted):
        if at + count > len(rows):
            raise InputError(
                f"group {code} has {len(rows):,} rows, too few for these clients; "
                "ask for smaller clients or other shares."
            )
        drawn[rows[at : at + count]] = client
        after = np.searchsorted(starts, at + count)
        at = int(starts[after]) if after < len(starts) else len(rows)
