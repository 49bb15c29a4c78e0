"""Evidence that may be looked at every week: an e-process and a confidence sequence for a gap.

In month m groups a and b answer n_a and n_b people, D_m is the difference of their counted rates
and h_m = n_a n_b / (n_a + n_b). Whatever the true rates are, and however they drift,

    exp(lambda h_m (D_m - true difference) - lambda^2 h_m / 8)

has a mean of at most 1 (Hoeffding). So with Z and V the sums over months of h_m (D_m - limit) and
h_m / 4, exp(lambda Z - lambda^2 V / 2) is a supermartingale while *every month's* true difference is
within the limit. Mixed over lambda > 0 (a half normal: Robbins' mixture) it has a closed form. A
mixture over the months at which a break may begin, weights 1 / (j (j + 1)), finds a late break and
is still an e-process: the chance that it ever exceeds 1 / alpha is at most alpha (Ville).

Why this one: months are compared within themselves (Cochran, Mantel and Haenszel's weights), so that
base rates may rise and fall without an alarm, which tests of rates pooled over time do not allow;
only counts are needed; and one does not have to say in advance how often one will look.

References: Robbins, "Statistical methods related to the law of the iterated logarithm", 1970; Howard,
Ramdas, McAuliffe and Sekhon, "Time-uniform, nonparametric, nonasymptotic confidence sequences", Annals
of Statistics 49, 2021; Shin, Ramdas and Rinaldo, "E-detectors", 2023 (mixing over beginnings).
"""

import numpy as np
from numpy.typing import NDArray

__all__ = ["beginnings", "confidence_sequence", "evidence"]

Floats = NDArray[np.float64]
_PRECISION = 25.0  # of lambda: best where a gap exceeds its limit by 0.05 (lambda about 0.2)


def evidence(
    difference: Floats, weight: Floats, limit: Floats
) -> tuple[Floats, NDArray[np.int64]]:
    """The log of the e-value that a difference of rates exceeds its limit, after each month.

    Parameters
    ----------
    difference, weight : ndarray, shape (months, comparisons)
        D and h; where h is 0 nobody was compared.
    limit : ndarray, shape (comparisons,)

    Returns
    -------
    log_e : ndarray, shape (months, comparisons)
    since : ndarray of int, shape (months, comparisons)
        The month that the evidence says a break began in.
    """
    from scipy.special import log_ndtr, logsumexp

    months = len(difference)
    z = np.cumsum(weight * (difference - limit), axis=0)
    v = np.cumsum(weight / 4, axis=0)
    before = np.zeros((1, difference.shape[1]))
    z_since = z[None] - np.concatenate([before, z[:-1]])[:, None]  # (begun, month, comparison)
    v_since = v[None] - np.concatenate([before, v[:-1]])[:, None]
    total = np.maximum(v_since, 0.0) + _PRECISION
    log_m = np.log(2) + 0.5 * np.log(_PRECISION / total)
    log_m += z_since**2 / (2 * total) + log_ndtr(z_since / np.sqrt(total))
    log_w = beginnings(months)[:, None, None] + log_m
    begun = np.arange(months)
    log_w = np.where((begun[:, None] <= begun)[..., None], log_w, -np.inf)
    rest = -np.log(begun + 2.0)[:, None]  # the weight of beginnings yet to come
    return np.logaddexp(logsumexp(log_w, axis=0), rest), log_w.argmax(axis=0)


def beginnings(months: int) -> Floats:
    """The log of each beginning's weight, 1 / (j (j + 1)): they sum to one over all months."""
    j = np.arange(1, months + 1)
    return np.asarray(-np.log(j * (j + 1.0)))


def confidence_sequence(difference: Floats, weight: Floats, alpha: float) -> tuple[Floats, Floats]:
    """Middle and half width, after each month, of the mean true difference so far.

    The mean weighs months by h. All intervals of a comparison hold at once with a chance of
    1 - alpha (the normal mixture of Howard and others); infinitely wide where nobody is compared.
    """
    h = np.cumsum(weight, axis=0)
    there = np.maximum(h, 1e-9)
    middle = np.cumsum(weight * difference, axis=0) / there
    v = h / 4 + _PRECISION
    width = np.sqrt(2 * v * np.log(np.sqrt(v / _PRECISION) / alpha)) / there
    return np.where(h > 0, middle, 0.0), np.where(h > 0, width, np.inf)
