"""The parameters of a model, without the model: their shapes, and the first ones.

A server averages vectors and needs no network to do so: nothing here imports TensorFlow.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "FILTERS",
    "HIDDEN",
    "Shapes",
    "cnn_shapes",
    "dense_shapes",
    "first_parameters",
    "parameter_shapes",
    "size_of",
]

Shapes = tuple[tuple[int, ...], ...]
HIDDEN = (64, 32)  # nodes of the MLP
FILTERS = (32, 64, 128)  # of the CNN


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


def dense_shapes(widths: Sequence[int]) -> Shapes:
    """Dense layers from width to width: kernel, bias, kernel, bias, ..."""
    pairs = zip(widths[:-1], widths[1:], strict=True)
    return tuple(shape for a, b in pairs for shape in ((a, b), (b,)))


def cnn_shapes(channels: int, side: int, labels: int, filters: Sequence[int]) -> Shapes:
    """3 x 3 convolutions, then dense layers of 128 and 32 that the side inputs join."""
    widths = (channels, *filters)
    kernels = [(3, 3, a, b) for a, b in zip(widths[:-1], widths[1:], strict=True)]
    convolutions = tuple(shape for kernel in kernels for shape in (kernel, kernel[-1:]))
    return (*convolutions, *dense_shapes((filters[-1] + side, 128, 32, labels)))


def parameter_shapes(model: str, inputs: int, side: int, labels: int) -> Shapes:
    """The shapes of a recipe's model: `inputs` features or channels, `side` one-hots beside."""
    if model == "cnn":
        return cnn_shapes(inputs, side, labels, FILTERS)
    hidden = HIDDEN if model == "mlp" else ()
    return dense_shapes((inputs + side, *hidden, labels))
