"""The parameters of a model, without the model: their shapes, and the first ones.

A server averages vectors and needs no network to do so: nothing here imports TensorFlow.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

__all__ = ["Shapes", "first_parameters", "parameter_shapes", "size_of"]

Shapes = tuple[tuple[int, ...], ...]
_HIDDEN = (64, 32)  # nodes of the MLP
_FILTERS = (32, 64, 128)  # of the CNN


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
