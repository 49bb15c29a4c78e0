"""Typed values to and from the text of a link; what is no such value is refused, never guessed.

Whatever stands in an address bar was typed by somebody, or cut off by a mail program. So every
setting has a codec: it reads a text or raises `Unusable`, it writes a value so that reading gives
the same value again, and it tells whether a value kept from before still fits.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, unquote

from fairfl_core.lp.guarantee import Guarantee
from fairfl_core.lp.policy import Policy

_LONGEST = 4000  # letters: a table of gains for eight labels takes about 600


class Unusable(ValueError):
    """A text that a setting cannot take; the message tells what it takes."""


@dataclass(frozen=True)
class Codec:
    """One kind of setting.

    Attributes
    ----------
    parse : callable
        From a text to its value, which may not fit; raises where it is none at all.
    fits : callable
        Whether a value may be shown by the setting's widget.
    expected : str
        What the setting takes, in a few words.
    write : callable
        From a value to the text that reads as it; empty for one that a link leaves out.
    options : sequence
        What the value is one of, where it is one of some.
    """

    parse: Callable[[str], Any]
    fits: Callable[[Any], bool]
    expected: str
    write: Callable[[Any], str] = str
    options: Sequence[Any] = ()

    def read(self, text: str) -> Any:
        """Return the value of a text; raises `Unusable` with what could have stood there."""
        try:
            value = self.parse(text)
            if self.fits(value):
                return value
        except (ValueError, LookupError, RecursionError):
            pass
        raise Unusable(self.expected)


def one_of(options: Sequence[Any], names: Sequence[str] = ()) -> Codec:
    """One of some values, each written as `str` writes it, or by a name of its own.

    A named value without choice is left out of links.
    """
    texts = list(names or map(str, options))
    values = dict(zip(texts, options, strict=True))

    def write(value: Any) -> str:
        return "" if names and len(options) == 1 else texts[list(options).index(value)]

    choices = [text for text in texts if text]
    expected = f"one of {', '.join(choices[:6])}" + (", …" if len(choices) > 6 else "")
    return Codec(values.__getitem__, lambda value: value in options, expected, write, options)


FLAG = one_of((False, True))
ALL = "all"


def seeds(every: tuple[int, ...]) -> Codec:
    """All of an experiment's runs, or one of them; the value is a tuple of seeds."""
    if len(every) == 1:
        return one_of((every,), (ALL,))
    return one_of((every, *((seed,) for seed in every)), (ALL, *map(str, every)))


def whole(low: int, high: int) -> Codec:
    """A whole number within limits."""

    def fits(value: object) -> bool:
        return isinstance(value, int) and low <= value <= high

    return Codec(int, fits, f"a whole number from {low:,} to {high:,}")


def numbers(low: int, high: int, most: int) -> Codec:
    """Some whole numbers within limits, not too many, written ``10,30,50``."""
    one = whole(low, high)

    def fits(value: object) -> bool:
        return isinstance(value, tuple) and 0 < len(value) <= most and all(map(one.fits, value))

    return Codec(
        lambda text: tuple(map(int, text.split(","))),
        fits,
        f"up to {most} whole numbers from {low} to {high}",
        lambda value: ",".join(map(str, value)),
    )


def between(low: float, high: float) -> Codec:
    """A number within limits, neither infinite nor undefined; written by its shortest digits."""

    def fits(value: object) -> bool:
        return isinstance(value, float) and low <= value <= high

    return Codec(
        lambda text: float(text) + 0.0,  # no negative zero: it would be written otherwise
        fits,
        f"a number from {low:g} to {high:g}",
        lambda value: repr(float(value)).removesuffix(".0"),
    )


SHARE = between(0.0, 1.0)  # a tolerance, a rate


def free_text(longest: int) -> Codec:
    """Text of some length, as typed into a box."""

    def fits(value: object) -> bool:
        return isinstance(value, str) and len(value) <= longest

    return Codec(str, fits, f"at most {longest} letters")


Shares = tuple[tuple[str, float], ...]


def in_order(shares: Mapping[str, float], names: Sequence[str]) -> Shares:
    """Shares of known names, in the names' order."""
    return tuple((name, shares[name]) for name in names if name in shares)


def per_name(names: Sequence[str]) -> Codec:
    """A share for some of the names, written ``NM=0.05;TX=0.1``; in the names' own order."""

    def parse(text: str) -> Shares:
        pairs = [part.rpartition("=")[::2] for part in text.split(";") if text]
        shares = {unquote(name): SHARE.read(share) for name, share in pairs}
        if not set(shares) <= set(names):  # one that cannot be read refuses all
            raise ValueError
        return in_order(shares, names)

    def fits(value: object) -> bool:
        return isinstance(value, tuple) and value == in_order(dict(value), names)

    def write(value: Shares) -> str:  # marks of ours inside a name are escaped
        return ";".join(f"{quote(name, safe=' ')}={SHARE.write(share)}" for name, share in value)

    return Codec(parse, fits, "pairs like “name=0.05”, each with a name there is", write)


def certainty(*, possible: bool) -> Codec:
    """With what confidence limits are to hold, if any can be had: ``0.95-each-measured``."""

    def parse(text: str) -> Guarantee:
        confidence, scope, proof = text.split("-")
        return Guarantee(float(confidence), scope, proof)

    def fits(value: object) -> bool:
        return value is None or (possible and isinstance(value, Guarantee))

    def write(value: Guarantee | None) -> str:
        if value is None:
            return ""
        return f"{SHARE.write(value.confidence)}-{value.scope}-{value.proof}"

    expected = "a confidence like 0.95-each-measured" if possible else "nothing here"
    return Codec(parse, fits, expected, write)


def asked(labels: Sequence[str], *, sure: bool, columns: Sequence[str] = ()) -> Codec:
    """A policy for these labels, written as its JSON; a link says nothing for nothing.

    Parameters
    ----------
    labels
        Floors and utilities name them.
    sure
        Whether a confidence is asked for: it cannot be had for ratios.
    columns
        What groups are crossed of, where they are: limits name some of them.
    """

    def parse(text: str) -> Policy:
        return Policy.from_json(json.loads(text if len(text) <= _LONGEST else ""))

    def fits(value: object) -> bool:
        if not isinstance(value, Policy):
            return False
        own = value.utility.labels
        floors, precision = (
            {one.label for one in part} for part in (value.floors, value.precision)
        )
        crossed = {part for limit in value.limits for part in limit.grouping.split("*")}
        known = floors | precision | set(own) <= set(labels) and crossed <= set(columns)
        more = value.has_ratios or value.limits or value.has_shares
        return known and len(own) in (0, len(labels)) and not (sure and more)

    def write(value: Policy) -> str:
        if value.is_plain:
            return ""
        return json.dumps(value.to_json(), ensure_ascii=False, separators=(",", ":"))

    return Codec(parse, fits, "what is asked beyond the limits, as this page writes it", write)
