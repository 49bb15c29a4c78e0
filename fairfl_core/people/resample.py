"""Other clients from the same people: held-out people pooled and dealt out with given shares.

Nobody is trained again: every person keeps the answer the model gave in the client they came
from. What changes is who is counted together.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from fairfl_core.errors import InputError
from fairfl_core.people.counts import ClientCounts

__all__ = ["client_names", "FEWEST", "even_shares", "largest_size", "redraw"]

FEWEST = 2  # people a client needs, so that two groups can meet in it


def client_names(shares: Sequence[float], group: str) -> tuple[str, ...]:
    """Readable names: ``client 2 (30 % women)``."""
    return tuple(f"client {c + 1} ({share:.0%} {group})".replace("%", " %")
                 for c, share in enumerate(shares))  # fmt: skip


def redraw(
    counts: ClientCounts, shares: Sequence[float], size: int, *, seed: int | Sequence[int]
) -> ClientCounts:
    """Draw clients of `size` people, without replacement, from all clients' people together.

    Parameters
    ----------
    counts : ClientCounts
        Whose people are pooled.
    shares : sequence of float
        Share of the first group in each new client; kept to the nearest person. The rest is
        drawn from the other groups together, so they come in their natural proportion.
    size : int
        People of each new client.
    seed : int or sequence of int
        The same seed draws the same clients.
    """
    if counts.noisy:
        raise InputError("noisy counts are no people; draw from the true counts.")
    pool = counts.table.sum(axis=0)  # (groups, labels, predictions)
    first = _first(shares, np.array([size]))[0]
    _check(pool, counts.groups, shares, size, first)
    rng = np.random.default_rng(seed)
    table = np.zeros((len(shares), *pool.shape), np.int64)
    for part, wanted in ((slice(0, 1), first), (slice(1, None), size - first)):
        left = pool[part].ravel().copy()
        for client, people in enumerate(wanted):
            drawn = rng.multivariate_hypergeometric(left, int(people))
            left -= drawn
            table[client, part] = drawn.reshape(pool[part].shape)
    names = client_names((first / size).tolist(), counts.groups[0])
    return replace(counts, table=table, clients=names)


def largest_size(counts: ClientCounts, shares: Sequence[float]) -> int:
    """The most people a client can have with these shares; 0 where not even two."""
    pool = counts.table.sum(axis=(0, 2, 3))
    sizes = np.arange(FEWEST, int(pool.sum()) // max(len(shares), 1) + 1)
    first = _first(shares, sizes).sum(axis=1)
    fits = (first <= pool[0]) & (sizes * len(shares) - first <= pool[1:].sum())
    return int(sizes[fits].max(initial=0))


def even_shares(shares: Sequence[float], size: int) -> tuple[float, ...]:
    """The same people of the first group, spread evenly: each client's share is the mean."""
    first = int(_first(shares, np.array([size])).sum())
    each, over = divmod(first, len(shares))
    return tuple((each + (client < over)) / size for client in range(len(shares)))


def _first(shares: Sequence[float], sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """People of the first group in each client, shape (sizes, clients)."""
    return np.rint(np.outer(sizes, np.asarray(shares, float))).astype(np.int64)


def _check(
    pool: NDArray[np.int64],
    groups: tuple[str, ...],
    shares: Sequence[float],
    size: int,
    first: NDArray[np.int64],
) -> None:
    """Refuse what cannot be drawn, with what is there."""
    if not shares or size < FEWEST or not all(0 <= share <= 1 for share in shares):
        raise InputError(
            f"shares must lie between 0 and 1, and a client needs at least {FEWEST} people."
        )
    people = pool.sum(axis=(1, 2))
    others = groups[1] if len(groups) == 2 else f"people who are not {groups[0]}"
    for name, there, wanted in (
        (groups[0], int(people[0]), int(first.sum())),
        (others, int(people[1:].sum()), int((size - first).sum())),
    ):
        if wanted > there:
            raise InputError(
                f"{len(shares)} clients of {size:,} with these shares need {wanted:,} {name}, but "
                f"only {there:,} are there; ask for smaller clients or other shares."
            )
