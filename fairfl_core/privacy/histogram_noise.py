"""Noise on the score histograms of the exact region's one-round form."""

from dataclasses import replace
from typing import cast

import numpy as np
from numpy.typing import NDArray

from fairfl_core.errors import InputError
from fairfl_core.lp.exact.histograms import ScoreHistogram
from fairfl_core.privacy.mechanisms import Mechanism, drawn, published

__all__ = ["release_histogram", "what_if_histogram"]

Floats = NDArray[np.float64]


def what_if_histogram(
    histogram: ScoreHistogram, mechanism: Mechanism, *, seed: int
) -> ScoreHistogram:
    """Draw noise from a seeded generator: to study what it does, never to publish."""
    _check(histogram, mechanism)
    return _received(histogram, drawn(histogram.table, mechanism, seed))


def release_histogram(histogram: ScoreHistogram, mechanism: Mechanism) -> ScoreHistogram:
    """Publish noisy histograms through OpenDP, each client's on its own budget."""
    _check(histogram, mechanism)
    return _received(histogram, published(histogram.table, mechanism))


def _check(histogram: ScoreHistogram, mechanism: Mechanism) -> None:
    if mechanism.name != "histogram":
        raise InputError(
            'the paper\'s mechanism is for its own statistics; use the mechanism "histogram".'
        )
    if histogram.noisy:
        raise InputError("this histogram is noisy already; add noise to the true one only.")


def _received(histogram: ScoreHistogram, noisy: Floats) -> ScoreHistogram:
    """Repair what came: no bin holds fewer than nobody."""
    table = cast(Floats, np.maximum(noisy, 0.0))
    return replace(histogram, table=table, noisy=True)
