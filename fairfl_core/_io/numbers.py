"""Numbers as text: how many digits, which unit. The same on a page, in a report, in a shell."""

import math

__all__ = [
    "count",
    "debiased",
    "epsilon",
    "gap",
    "gaps",
    "hundred",
    "percent",
    "points",
    "signed_points",
]


def percent(share: float) -> str:
    """A share with one decimal."""
    return "–" if math.isnan(share) else f"{100 * share:.1f} %"


def points(difference: float) -> str:
    """The size of a difference of shares, in percentage points."""
    size = abs(100 * difference)
    return f"{size:.{_digits(size)}f} points"


def signed_points(difference: float, digits: int | None = None) -> str:
    """A difference of shares with its sign, in percentage points; digits as above unless told."""
    digits = _digits(abs(100 * difference)) if digits is None else digits
    return f"{100 * difference:+.{digits}f} points"


def _digits(size: float) -> int:
    """Decimals of so many points: a second one where the first says little."""
    return 1 if size >= 0.95 else 2


def gap(value: float) -> str:
    """A gap with three decimals."""
    return "none" if math.isnan(value) else f"{value:.3f}"


def gaps(low: float, high: float) -> str:
    """The limits of a gap."""
    return f"{gap(low)} to {gap(high)}"


def debiased(value: float) -> str:
    """A gap with chance taken out; below zero chance alone explains what was seen."""
    return "none" if math.isnan(value) else "fair within chance" if value < 0 else gap(value)


def count(n: float) -> str:
    """A number of people with thousands separators."""
    return f"{n:,.0f}"


def epsilon(value: float) -> str:
    """A tolerance; 1 asks for nothing."""
    return "no limit" if value >= 1 else f"{value:.4f}".rstrip("0").ljust(4, "0")


def hundred(share: float) -> str:
    """How many in a hundred, with a decimal where it matters."""
    value = 100 * share
    if value < 0.05:
        return "0"
    return f"{value:.0f}" if value >= 1 and abs(value - round(value)) < 0.05 else f"{value:.1f}"
