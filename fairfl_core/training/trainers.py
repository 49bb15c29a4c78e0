"""Choose the trainer of a recipe's model, and train clients in parallel threads.

The linear model is trained by numpy, networks by TensorFlow. Compiled steps release Python's lock, so
that threads are enough. Tasks share nothing, and results are put back into their order before anyone
sums them: to the last bit they are those of one thread.
"""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol, TypeVar

from fairfl_core.errors import InputError
from fairfl_core.training.data import TRAINING, Federation
from fairfl_core.training.method import Trainer
from fairfl_core.training.parameters import Shapes
from fairfl_core.training.recipes import Recipe

__all__ = ["MODELS", "LocalTrainer", "make_trainer", "parallel_clients", "parallel_map"]

MODELS = ("linear", "mlp", "cnn")


class LocalTrainer(Trainer, Protocol):
    """A trainer with its rows: the shapes of theta, and how many clients it trains in parallel."""

    shapes: Shapes
    parallel: int


def make_trainer(federation: Federation, recipe: Recipe) -> LocalTrainer:
    """Make the trainer of a recipe on these people; TensorFlow is loaded only where it is needed."""
    if recipe.model not in MODELS:
        raise InputError(
            f'there is no model "{recipe.model}"; choose one of: {", ".join(MODELS)}.'
        )
    if recipe.model == "linear":
        from fairfl_core.training.linear_trainer import LinearTrainer

        return LinearTrainer(federation, recipe)
    from fairfl_core.training.tensorflow_trainer import TensorFlowTrainer, prepare_tensorflow

    clients = sum(len(rows) > 0 for rows in federation.client_rows(TRAINING))
    parallel = parallel_clients(clients, recipe.threads)
    prepare_tensorflow(recipe.threads, parallel)
    return TensorFlowTrainer(federation, recipe, parallel)


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
