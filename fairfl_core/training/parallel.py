"""Train clients in parallel threads; results do not depend on the number of threads.

Compiled steps release Python's lock, so that threads are enough. Tasks share nothing,
and results are put back into their order before anyone sums them: to the last bit they are those
of one thread.
"""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

__all__ = ["parallel_map", "parallel_clients"]

Result = TypeVar("Result")


def parallel_clients(clients: int, threads: int) -> int:
    """Return how many clients the cores of this process can train at a time, `threads` for each."""
    if hasattr(os, "sched_getaffinity"):  # Linux: what taskset leaves
        cores = len(os.sched_getaffinity(0))
    else:
        cores = os.cpu_count() or 1
    return max(1, min(clients, cores // threads))


def parallel_map(
    task: Callable[[int], Result], sizes: Sequence[int], parallel: int
) -> list[Result]:
    """Return [task(0), task(1), ...], computed by `parallel` threads.

    The largest begin, so that all threads end at about the same time.
    """
    if parallel == 1 or len(sizes) < 2:
        return [task(place) for place in range(len(sizes))]
    pool = ThreadPoolExecutor(parallel)
    try:
        largest_first = sorted(range(len(sizes)), key=lambda place: -sizes[place])
        begun = {place: pool.submit(task, place) for place in largest_first}
        return [begun[place].result() for place in range(len(sizes))]
    finally:
        pool.shutdown(cancel_futures=True)  # after an error or Ctrl-C nobody else begins
