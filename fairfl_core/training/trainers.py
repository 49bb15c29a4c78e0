"""Choose the trainer of a recipe's model; its parameters; and train clients in parallel threads.

The linear model is trained by numpy, networks by TensorFlow, which nothing here imports before: a
server averages vectors and needs no network to do so. Compiled steps release Python's lock, so
that threads are enough. Tasks share nothing, and results are put back into their order before anyone
sums them: to the last bit they are those of one thread.
"""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from fairfl_core.errors import InputError
from fairfl_core.training.data import TRAINING, Federation
from fairfl_core.training.method import Trainer
from fairfl_core.training.recipes import Recipe

__all__ = [
    "MODELS",
    "Adam",
    "LinearTrainer",
    "LocalTrainer",
    "Shapes",
    "first_parameters",
    "make_trainer",
    "parallel_clients",
    "parallel_map",
    "parameter_shapes",
    "shares",
    "size_of",
]

MODELS = ("linear", "mlp", "cnn")
Shapes = tuple[tuple[int, ...], ...]
Floats = NDArray[np.float64]
Theta = NDArray[np.float32]
_HIDDEN = (64, 32)  # nodes of the MLP
_FILTERS = (32, 64, 128)  # of the CNN
_BETA1, _BETA2, _EPSILON = 0.9, 0.999, 1e-7  # Adam's usual constants


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


# -------------------------------------------------------------------- parameters


def size_of(shapes: Shapes) -> int:
    """Number of parameters, p."""
    return sum(int(np.prod(shape)) for shape in shapes)


def first_parameters(shapes: Shapes, seed: int) -> NDArray[np.float32]:
    """Glorot-uniform kernels and zero biases, from numpy so that they are the same everywhere."""
    rng = np.random.default_rng([seed, 3])
    parts = []
    for shape in shapes:
        if len(shape) == 1:
            parts.append(np.zeros(shape))
            continue
        field = int(np.prod(shape[:-2]))
        limit = np.sqrt(6 / (field * (shape[-2] + shape[-1])))
        parts.append(rng.uniform(-limit, limit, shape).ravel())
    return np.concatenate(parts).astype(np.float32)


def parameter_shapes(model: str, inputs: int, side: int, labels: int) -> Shapes:
    """The shapes of a recipe's model: `inputs` features or channels, `side` one-hots beside.

    A CNN has 3 x 3 convolutions, then dense layers of 128 and 32 that the side inputs join.
    """
    if model == "cnn":
        widths = (inputs, *_FILTERS)
        kernels = [(3, 3, a, b) for a, b in pairwise(widths)]
        convolutions = tuple(shape for kernel in kernels for shape in (kernel, kernel[-1:]))
        return (*convolutions, *_dense_shapes((widths[-1] + side, 128, 32, labels)))
    hidden = _HIDDEN if model == "mlp" else ()
    return _dense_shapes((inputs + side, *hidden, labels))


def _dense_shapes(widths: Sequence[int]) -> Shapes:
    """Dense layers from width to width: kernel, bias, kernel, bias, ..."""
    return tuple(shape for a, b in pairwise(widths) for shape in ((a, b), (b,)))


# -------------------------------------------------------------------- the linear model


class LinearTrainer:
    """Logistic regression in numpy: scores are the softmax of linear functions of features and one-hots.

    The same steps as `TensorFlowTrainer` (Adam, re-created each round; batches in the order given),
    in double precision. For federations whose machines have nothing but numpy, and for tests of them.
    """

    parallel = 1  # numpy's steps are so short that threads would wait for Python's lock

    def __init__(self, federation: Federation, recipe: Recipe) -> None:
        people = federation.people
        hots = [
            np.eye(len(names))[codes]
            for codes, names, seen in (
                (people.group, people.groups, recipe.group_input),
                (people.client, people.clients, recipe.client_input),
            )
            if seen
        ]
        inputs = people.inputs.reshape(len(people), -1)
        self._inputs: Floats = np.concatenate([inputs, *hots], axis=1).astype(np.float64)
        self._hot = np.eye(len(people.labels))[people.label]
        self._recipe = recipe
        side = sum(hot.shape[1] for hot in hots)
        self.shapes = parameter_shapes("linear", inputs.shape[1], side, len(people.labels))

    def epoch(
        self, theta: Theta, rows: NDArray[np.int32], weight: NDArray[np.float32], seed: int
    ) -> Theta:
        """Train `theta` on `rows` once, in that order, with a fresh Adam."""
        adam, values = Adam(theta, self._recipe.learning_rate), theta.astype(np.float64)
        for batch in self._batches(len(rows)):
            _, slope = self._loss(values, rows[batch], shares(weight[batch]))
            values = adam.step(values, slope)
        return values.astype(np.float32)

    def scores(self, theta: Theta, rows: NDArray[np.int32]) -> Floats:
        """Scores of `rows`, shape (rows, labels), each row summing to 1."""
        return self._softmax(theta.astype(np.float64), rows)

    # ---------------------------------------------------------------- arithmetic

    def _batches(self, rows: int) -> list[slice]:
        size = self._recipe.batch
        return [slice(start, start + size) for start in range(0, rows, size)]

    def _softmax(self, theta: Floats, rows: NDArray[np.int32]) -> Floats:
        kernel, bias = self._parts(theta)
        logits = self._inputs[rows] @ kernel + bias
        power = np.exp(logits - logits.max(axis=1, keepdims=True, initial=-np.inf))
        return np.asarray(power / power.sum(axis=1, keepdims=True))

    def _parts(self, theta: Floats) -> tuple[Floats, Floats]:
        width = int(np.prod(self.shapes[0]))
        return theta[:width].reshape(self.shapes[0]), theta[width:]

    def _loss(self, theta: Floats, rows: NDArray[np.int32], share: Floats) -> tuple[float, Floats]:
        scores, hot = self._softmax(theta, rows), self._hot[rows]
        loss = -np.log(np.maximum((scores * hot).sum(axis=1), 1e-300))
        return float(loss @ share), self._back(rows, share[:, None] * (scores - hot))

    def _back(self, rows: NDArray[np.int32], by_logit: Floats) -> Floats:
        kernel = self._inputs[rows].T @ by_logit
        return np.concatenate([kernel.ravel(), by_logit.sum(axis=0)])


def shares(weight: NDArray[np.float32]) -> Floats:
    """Divide the weights of some rows by their sum."""
    exact = weight.astype(np.float64)
    return exact / exact.sum()


class Adam:
    """Adam with its usual constants, begun afresh."""

    def __init__(self, theta: Theta, learning_rate: float) -> None:
        self._momentum, self._square = np.zeros(len(theta)), np.zeros(len(theta))
        self._power1 = self._power2 = 1.0
        self._rate = learning_rate

    def step(self, theta: Floats, slope: Floats) -> Floats:
        """The parameters after one step down the slope."""
        self._power1, self._power2 = self._power1 * _BETA1, self._power2 * _BETA2
        self._momentum += (slope - self._momentum) * (1 - _BETA1)
        self._square += (np.square(slope) - self._square) * (1 - _BETA2)
        rate = self._rate * np.sqrt(1 - self._power2) / (1 - self._power1)
        return np.asarray(theta - rate * self._momentum / (np.sqrt(self._square) + _EPSILON))
