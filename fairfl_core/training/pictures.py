"""Pictures as a network sees them: standardised, held in eight ways, changed a little in tone."""

import numpy as np
import tensorflow as tf
from numpy.typing import NDArray

from fairfl_core.training.data import TRAINING, Federation
from fairfl_core.training.scaling import Moments

__all__ = ["pixel_scale", "poses_of", "toned"]


def pixel_scale(federation: Federation) -> tuple[tf.Tensor, tf.Tensor]:
    """Shift and scale of bytes, one for each colour, from the training rows (features: none)."""
    inputs = federation.people.inputs
    if inputs.dtype != np.uint8:
        return tf.constant(0.0), tf.constant(1.0)
    known = inputs[federation.split == TRAINING].reshape(-1, inputs.shape[-1])
    scaler = Moments.of(known).scaler(least=1.0)
    return tf.constant(scaler.shift, tf.float32), tf.constant(1 / scaler.spread, tf.float32)


def poses_of(images: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The eight ways to hold a square picture (mirrored, turned), those of one row in sequence."""
    ways = [images, images[:, ::-1], images[:, :, ::-1], images[:, ::-1, ::-1]]
    ways += [way.transpose(0, 2, 1, 3) for way in ways]
    return np.stack(ways, axis=1).reshape(-1, *images.shape[1:])


def toned(x: tf.Tensor, chance: tf.Tensor) -> tf.Tensor:
    """Change contrast by up to a tenth, and brightness by up to half a standard deviation.

    Pixels are standardised here, and half their deviation is nearly a tenth of the full range:
    the authors' own amounts. They crop besides; a lesion has no upright position, so ours is
    mirrored and turned instead.
    """
    chance = chance[:, :, None, None, None]
    return x * (0.9 + 0.2 * chance[0]) + chance[1] - 0.5
