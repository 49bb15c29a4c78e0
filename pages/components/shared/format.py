"""Numbers and names as text: how many digits, which unit, and nothing that a name could break."""

import re
import unicodedata

import numpy as np

__all__ = [
    "count",
    "debiased",
    "epsilon",
    "figure_text",
    "gap",
    "gaps",
    "hundred",
    "percent",
    "plain",
    "points",
    "signed_points",
]

_FIRST_STRONG, _POP = "\u2068", "\u2069"  # around a name written from right to left


def percent(share: float) -> str:
    """A share with one decimal."""
    return "–" if np.isnan(share) else f"{100 * share:.1f} %"


def points(difference: float) -> str:
    """The size of a difference of shares, in percentage points."""
    size = abs(100 * difference)
    digits = 1 if size >= 0.95 else 2
    return f"{size:.{digits}f} points"


def signed_points(difference: float, digits: int = 2) -> str:
    """A difference of shares with its sign, in percentage points."""
    return f"{100 * difference:+.{digits}f} points"


def gap(value: float) -> str:
    """A gap with three decimals."""
    return "none" if np.isnan(value) else f"{value:.3f}"


def gaps(low: float, high: float) -> str:
    """The limits of a gap."""
    return f"{gap(low)} to {gap(high)}"


def debiased(value: float) -> str:
    """A gap with chance taken out; below zero chance alone explains what was seen."""
    return "none" if np.isnan(value) else "fair within chance" if value < 0 else gap(value)


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


def plain(text: str, longest: int = 60) -> str:
    """A name in Markdown: nothing in it is taken as Markdown or HTML, and none is endless."""
    return _isolated(re.sub(r"([\\`*_{}\[\]()#+\-.!|<>$:~^&@=])", r"\\\1", _cut(text, longest)))


def figure_text(name: str, longest: int = 40) -> str:
    """A name in a figure: Plotly reads tags in it, so none is left, and it has an end."""
    return _isolated(_cut(name, longest).replace("&", "&amp;").replace("<", "&lt;"))


def _cut(text: str, longest: int) -> str:
    text = " ".join(str(text).split())
    return text if len(text) <= longest else text[: longest - 1] + "…"


def _isolated(name: str) -> str:
    """The name, set apart where it is written from right to left: numbers after it stay put."""
    turned = any(unicodedata.bidirectional(sign) in ("R", "AL", "AN") for sign in name)
    return f"{_FIRST_STRONG}{name}{_POP}" if turned else name
