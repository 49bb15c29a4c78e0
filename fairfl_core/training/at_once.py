"""Several turns at once: threads over the cores that are there, the same answers whatever their number.

Compiled steps release Python's lock, so that threads are enough. A turn knows nothing of the
others, and answers are put back into their order before anyone sums them: to the last bit they
are those of one thread.
"""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

__all__ = ["all_at_once", "turns_at_once"]

Answer = TypeVar("Answer")


def turns_at_once(clients: int, threads: int) -> int:
    """How many of the clients' turns the cores of this process can take, `threads` to each."""
    if hasattr(os, "sched_getaffinity"):  # Linux: what taskset leaves
        cores = len(os.sched_getaffinity(0))
    else:
        cores = os.cpu_count() or 1
    return max(1, min(clients, cores // threads))


def all_at_once(turn: Callable[[int], Answer], sizes: Sequence[int], at_once: int) -> list[Answer]:
    """turn(0), turn(1), ..., so many at once, in their order.

    The largest begin, so that all threads end at about the same time.
    """
    if at_once == 1 or len(sizes) < 2:
        return [turn(place) for place in range(len(sizes))]
    pool = ThreadPoolExecutor(at_once)
    try:
        largest_first = sorted(range(len(sizes)), key=lambda place: -sizes[place])
        begun = {place: pool.submit(turn, place) for place in largest_first}
        return [begun[place].result() for place in range(len(sizes))]
    finally:
        pool.shutdown(cancel_futures=True)  # after an error or Ctrl-C nobody else begins
