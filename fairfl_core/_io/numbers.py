"""Numbers as text: how many digits, which unit.

Files, reports and a shell take the first half: gaps with three decimals. Pages take the second,
rounded to what is read at a glance: shares and points to 0.1 (0.01 below 0.1), gaps to 0.01 (0.001
below 0.01). There, what rounds to nothing is "0" or "no change", what is not known is a dash.
"""

import math
from collections.abc import Callable

NO_CHANGE = "no change"
UNKNOWN = "–"
_ONE_OF = {"women": "woman", "men": "man", "people": "person"}


def percent(share: float) -> str:
    """A share with one decimal."""
    return UNKNOWN if math.isnan(share) else f"{100 * share:.1f} %"


def points(difference: float) -> str:
    """The size of a difference of shares, in percentage points."""
    size = abs(100 * difference)
    return f"{size:.{_digits(size)}f} points"


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


def about(n: int) -> str:
    """Write an estimated number of people by its first two digits, rounded up: 5,666 is 5,700."""
    unit = 10 ** max(len(str(n)) - 2, 0)
    return count(-(-n // unit) * unit)


def epsilon(value: float) -> str:
    """A tolerance; 1 asks for nothing."""
    return "no limit" if value >= 1 else f"{value:.4f}".rstrip("0").ljust(4, "0")


def hundred(share: float) -> str:
    """How many in a hundred, with a decimal where it matters."""
    value = 100 * share
    if value < 0.05:
        return "0"
    return f"{value:.0f}" if value >= 1 and abs(value - round(value)) < 0.05 else f"{value:.1f}"


# -------------------------------------------------------------------- as pages round


def round_percent(share: float) -> str:
    """Write a share as a percentage: "78.7 %", "0.04 %"."""
    return UNKNOWN if math.isnan(share) else f"{_tenths(100 * share)} %"


def round_points(difference: float) -> str:
    """Write the size of a difference of shares in percentage points: "6.3 points"."""
    return UNKNOWN if math.isnan(difference) else f"{_tenths(abs(100 * difference))} points"


def round_signed_points(difference: float) -> str:
    """Write a difference of shares with its sign: "+0.4 points", "−6.3 points", "no change"."""
    if math.isnan(difference):
        return UNKNOWN
    size = _tenths(abs(100 * difference))
    if size == "0":
        return NO_CHANGE
    return f"{'−' if difference < 0 else '+'}{size} points"


def round_gap(value: float) -> str:
    """Write a gap: "0.26", "0.004"."""
    return UNKNOWN if math.isnan(value) else _rounded(value, 2)


def round_gaps(low: float, high: float) -> str:
    """Write the limits of a gap: "0.18 to 0.31"."""
    return f"{round_gap(low)} to {round_gap(high)}"


def before_after(before: float, after: float, write: Callable[[float], str]) -> str:
    """Write a figure before and after: "0.27 → 0.26", or "0.27, no change" where both read alike.

    `write` is one of the functions above. A unit that both have is written once.
    """
    was, now = write(before), write(after)
    if was == now:
        return now if now == UNKNOWN else f"{now}, {NO_CHANGE}"
    unit = " %"
    if was.endswith(unit) and now.endswith(unit):
        was = was.removesuffix(unit)
    return f"{was} → {now}"


def plural(n: float, one: str, several: str | None = None) -> str:
    """Write a number with its noun: "1 client", "2 clients", "0 clients"."""
    number = count(n)
    return f"{number} {one if number == '1' else several or one + 's'}"


def members(n: float, group: str) -> str:
    """Write how many of a group: "3 women", "1 woman"; "1 of X" where no singular is known."""
    if count(n) != "1":
        return f"{count(n)} {group}"
    return f"1 {_ONE_OF[group]}" if group in _ONE_OF else f"1 of {group}"


def _tenths(value: float) -> str:
    return _rounded(value, 1)


def _rounded(value: float, digits: int) -> str:
    """Round to so many decimals, to one more where that is below the last of them; never "-0"."""
    finer = round(value, digits + 1)
    if finer == 0:
        return "0"
    more = abs(finer) < 10.0**-digits
    return f"{value:.{digits + more}f}"
