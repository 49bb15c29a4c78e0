"""Other clients from the same people: held-out people pooled and dealt out with given shares.

Nobody is trained again: every person keeps the answer the model gave in the client they came
from. What changes is who is counted together.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from fairfl_core.data.counts import ClientCounts
from fairfl_core.data.scored import FoldedData, ScoredData
from fairfl_core.errors import InputError

FEWEST = 2  # people a client needs, so that two groups can meet in it
_WHO = 1  # sets the draw of who apart from the draw of how many


def client_names(shares: Sequence[float], group: str) -> tuple[str, ...]:
    """Readable names: ``client 2 (30 % women)``."""
    return tuple(
        f"client {place} ({100 * share:.0f} % {group})" for place, share in enumerate(shares, 1)
    )


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


def redraw_people(
    people: ScoredData, shares: Sequence[float], size: int, *, seed: int | Sequence[int]
) -> ScoredData:
    """The same draw of people with their scores: their counts are those of `redraw`.

    How many of each group, label and answer come into a client is drawn as for counts; who of
    them comes is drawn after that.
    """
    return _dealt(people, *_drawn(people, shares, size, seed))


def redraw_folded(
    people: FoldedData, shares: Sequence[float], size: int, *, seed: int | Sequence[int]
) -> FoldedData:
    """The same draw of people whom several models answer, by the answers of the first."""
    drawn = _drawn(people.by_fold[0], shares, size, seed)
    return FoldedData(tuple(_dealt(fold, *drawn) for fold in people.by_fold))


def _drawn(
    people: ScoredData, shares: Sequence[float], size: int, seed: int | Sequence[int]
) -> tuple[tuple[str, ...], NDArray[np.int64], NDArray[np.int64]]:
    """Names of the new clients, who is drawn, and into which of them."""
    if people.calibration is not None:
        raise InputError(
            "scores are recalibrated by client; draw clients first, then recalibrate."
        )
    counts = redraw(people.counts, shares, size, seed=seed)
    rng = np.random.default_rng([*np.atleast_1d(seed), _WHO])
    shape = counts.table.shape
    kind = np.ravel_multi_index((people.group, people.label, people.predicted), shape[1:])
    wanted = counts.table.reshape(shape[0], -1)
    order = rng.permutation(len(people))
    order = order[np.argsort(kind[order], kind="stable")]  # kind by kind, each in random order
    there = np.bincount(kind, minlength=wanted.shape[1])
    rank = np.arange(len(people)) - np.repeat(np.cumsum(there) - there, there)
    full = np.cumsum(wanted, axis=0)  # so many of a kind are dealt out once a client has its own
    client = (rank >= full[:, kind[order]]).sum(axis=0)
    chosen = client < shape[0]
    return counts.clients, order[chosen], client[chosen]


def _dealt(
    people: ScoredData,
    clients: tuple[str, ...],
    drawn: NDArray[np.int64],
    client: NDArray[np.int64],
) -> ScoredData:
    return replace(
        people,
        client=client,
        group=people.group[drawn],
        label=people.label[drawn],
        scores=people.scores[drawn],
        predicted=people.predicted[drawn],
        clients=clients,
    )


def largest_size(counts: ClientCounts, shares: Sequence[float]) -> int:
    """The most people a client can have with these shares; 0 where not even two."""
    pool = counts.table.sum(axis=(0, 2, 3))
    sizes = np.arange(FEWEST, int(pool.sum()) // max(len(shares), 1) + 1)
    first = _first(shares, sizes).sum(axis=1)
    fits = (first <= pool[0]) & (sizes * len(shares) - first <= pool[1:].sum())
    return int(sizes[fits].max(initial=0))


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
