"""Typed values to and from the text of a link; what is no such value is refused, never guessed.

Whatever stands in an address bar was typed by somebody, or cut off by a mail program. So every
setting has a codec: it reads a text or raises `Unusable`, it writes a value so that reading gives
the same value again, and it tells whether a value kept from before still fits.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import unquote

from fairfl_core.errors import InputError
from fairfl_core.lp.guarantee import Guarantee
from fairfl_core.lp.policy import Policy

__all__ = [
    "Asked",
    "Between",
    "Called",
    "Certainty",
    "Codec",
    "Flag",
    "Numbers",
    "OneOf",
    "PerName",
    "Seeds",
    "Share",
    "Text",
    "Unusable",
    "Whole",
]

_LONGEST = 4000  # letters: a table of gains for eight labels takes about 600
_MARKS = (("%", "%25"), (";", "%3B"), ("=", "%3D"))  # what `PerName` writes between names


class Unusable(ValueError):
    """A text that a setting cannot take; the message tells what it takes."""


class Codec(Protocol):
    """One kind of setting."""

    def read(self, text: str) -> Any:
        """The value of a text; raises `Unusable`."""

    def write(self, value: Any) -> str:
        """The text that reads as this value; empty for one that a link leaves out."""

    def fits(self, value: object) -> bool:
        """Whether a value may be shown by the setting's widget."""


@dataclass(frozen=True)
class OneOf:
    """One of some values, each written as `str` writes it."""

    options: Sequence[Any]

    def read(self, text: str) -> Any:
        """The option written so."""
        for option in self.options:
            if str(option) == text:
                return option
        names = [str(option) for option in self.options if option != ""]
        raise Unusable(f"one of {', '.join(names[:6])}" + (", …" if len(names) > 6 else ""))

    def write(self, value: Any) -> str:
        """The option's name."""
        return str(value)

    def fits(self, value: object) -> bool:
        """Whether it is an option still."""
        return value in self.options


@dataclass(frozen=True)
class Called:
    """One of some values that a link calls by another name: pairs of value and name."""

    names: tuple[tuple[Any, str], ...]

    @property
    def options(self) -> Sequence[Any]:
        """The values."""
        return tuple(value for value, _ in self.names)

    def read(self, text: str) -> Any:
        """The value called so."""
        for value, name in self.names:
            if name == text:
                return value
        raise Unusable(f"one of {', '.join(name for _, name in self.names)}")

    def write(self, value: Any) -> str:
        """What it is called; a value without choice is left out."""
        return dict(self.names)[value] if len(self.names) > 1 else ""

    def fits(self, value: object) -> bool:
        """Whether it is one of the values still."""
        return value in self.options


@dataclass(frozen=True)
class Certainty:
    """With what confidence limits are to hold: ``0.95-each-measured``, or nothing.

    Attributes
    ----------
    possible : bool
        Whether a confidence can be had here at all.
    """

    possible: bool

    def read(self, text: str) -> Guarantee:
        """Confidence, scope and proof."""
        parts = text.split("-")
        try:
            if not self.possible or len(parts) != 3:
                raise ValueError(text)
            return Guarantee(float(parts[0]), parts[1], parts[2])
        except ValueError:
            expected = "a confidence like 0.95-each-measured" if self.possible else "nothing here"
            raise Unusable(expected) from None

    def write(self, value: Guarantee | None) -> str:
        """Confidence, scope and proof; nothing where none is asked for."""
        if value is None:
            return ""
        return f"{Share().write(value.confidence)}-{value.scope}-{value.proof}"

    def fits(self, value: object) -> bool:
        """Whether it can be asked for here."""
        return value is None or (self.possible and isinstance(value, Guarantee))


@dataclass(frozen=True)
class Flag:
    """Yes or no; a link says ``True`` or nothing."""

    def read(self, text: str) -> bool:
        """``True`` or ``False``."""
        if text not in ("True", "False"):
            raise Unusable("True or False")
        return text == "True"

    def write(self, value: bool) -> str:
        """``True``, or nothing."""
        return "True" if value else ""

    def fits(self, value: object) -> bool:
        """Whether it is one of the two."""
        return isinstance(value, bool)


@dataclass(frozen=True)
class Whole:
    """A whole number within limits."""

    low: int
    high: int

    def read(self, text: str) -> int:
        """The number, if it is whole and within the limits."""
        try:
            value = int(text)
        except ValueError:
            value = self.low - 1
        if not self.fits(value):
            raise Unusable(f"a whole number from {self.low:,} to {self.high:,}")
        return value

    def write(self, value: int) -> str:
        """Its digits."""
        return str(value)

    def fits(self, value: object) -> bool:
        """Whether it is whole and within the limits."""
        return isinstance(value, int) and self.low <= value <= self.high


@dataclass(frozen=True)
class Numbers:
    """Some whole numbers within limits, written ``10,30,50``."""

    low: int
    high: int
    most: int

    def read(self, text: str) -> tuple[int, ...]:
        """The numbers; every one must be within the limits."""
        one = Whole(self.low, self.high)
        try:
            values = tuple(one.read(part) for part in text.split(","))
        except Unusable:
            values = ()
        if not self.fits(values):
            raise Unusable(f"up to {self.most} whole numbers from {self.low} to {self.high}")
        return values

    def write(self, value: Sequence[int]) -> str:
        """The numbers with commas between."""
        return ",".join(map(str, value))

    def fits(self, value: object) -> bool:
        """Whether there are some, not too many, and each is within the limits."""
        one = Whole(self.low, self.high)
        return (
            isinstance(value, tuple)
            and 0 < len(value) <= self.most
            and all(one.fits(part) for part in value)
        )


@dataclass(frozen=True)
class Share:
    """A number from 0 to 1: a tolerance, a rate."""

    def read(self, text: str) -> float:
        """The number; neither infinite nor undefined."""
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not self.fits(value):
            raise Unusable("a number from 0 to 1")
        return value + 0.0  # no negative zero: it would be written otherwise

    def write(self, value: float) -> str:
        """The shortest digits that give this very number again."""
        return repr(float(value)).removesuffix(".0")

    def fits(self, value: object) -> bool:
        """Whether it lies between 0 and 1."""
        return isinstance(value, float) and 0 <= value <= 1


@dataclass(frozen=True)
class Between:
    """A number within limits."""

    low: float
    high: float

    def read(self, text: str) -> float:
        """The number; neither infinite nor undefined."""
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not self.fits(value):
            raise Unusable(f"a number from {self.low:g} to {self.high:g}")
        return value + 0.0

    def write(self, value: float) -> str:
        """The shortest digits that give this very number again."""
        return Share().write(value)

    def fits(self, value: object) -> bool:
        """Whether it lies within the limits."""
        return isinstance(value, float) and self.low <= value <= self.high


@dataclass(frozen=True)
class Text:
    """Free text of some length, as typed into a search box."""

    longest: int

    def read(self, text: str) -> str:
        """The text itself."""
        if not self.fits(text):
            raise Unusable(f"at most {self.longest} letters")
        return text

    def write(self, value: str) -> str:
        """The text itself."""
        return value

    def fits(self, value: object) -> bool:
        """Whether it is short enough."""
        return isinstance(value, str) and len(value) <= self.longest


@dataclass(frozen=True)
class Seeds:
    """One of an experiment's runs, or ``all`` of them; the value is a tuple of seeds."""

    every: tuple[int, ...]
    ALL = "all"

    def read(self, text: str) -> tuple[int, ...]:
        """All seeds, or the one named."""
        for value in (self.every, *((seed,) for seed in self.every)):
            if self.write(value) == text:
                return value
        raise Unusable(f"{self.ALL}, or one of the runs {', '.join(map(str, self.every))}")

    def write(self, value: tuple[int, ...]) -> str:
        """``all``, or the seed."""
        return self.ALL if value == self.every else str(value[0])

    def fits(self, value: object) -> bool:
        """Whether these are all seeds, or one of them."""
        return value == self.every or value in [(seed,) for seed in self.every]


@dataclass(frozen=True)
class PerName:
    """A share for some of the names, written ``NM=0.05;TX=0.1``; in the names' own order."""

    names: Sequence[str]

    def read(self, text: str) -> tuple[tuple[str, float], ...]:
        """Pairs of a name and its share; one pair that cannot be read refuses all."""
        try:
            pairs = [part.rpartition("=")[::2] for part in text.split(";") if text]
            shares = {unquote(name): Share().read(share) for name, share in pairs}
        except Unusable:
            shares = {"": math.nan}
        value = self.ordered(shares)
        if len(value) < len(shares):
            raise Unusable("pairs like “name=0.05”, each with a name there is")
        return value

    def ordered(self, shares: dict[str, float]) -> tuple[tuple[str, float], ...]:
        """The pairs of known names, in the names' order."""
        return tuple((name, shares[name]) for name in self.names if name in shares)

    def write(self, value: tuple[tuple[str, float], ...]) -> str:
        """The pairs; marks of ours inside a name are escaped."""
        return ";".join(f"{_escaped(name)}={Share().write(share)}" for name, share in value)

    def fits(self, value: object) -> bool:
        """Whether every name is still there."""
        return isinstance(value, tuple) and value == self.ordered(dict(value))


def _escaped(name: str) -> str:
    for mark, code in _MARKS:
        name = name.replace(mark, code)
    return name


@dataclass(frozen=True)
class Asked:
    """A policy for these labels, written as its JSON; a link says nothing for nothing.

    Attributes
    ----------
    labels : tuple of str
        Floors and utilities name them.
    sure : bool
        Whether a confidence is asked for: it cannot be had for ratios.
    columns : tuple of str
        What groups are crossed of, where they are: limits name some of them.
    """

    labels: tuple[str, ...]
    sure: bool
    columns: tuple[str, ...] = ()

    def read(self, text: str) -> Policy:
        """The policy, if these people have what it names."""
        try:
            value = json.loads(text) if len(text) <= _LONGEST else None
            policy = Policy.from_json(value) if isinstance(value, dict) else None
        except (ValueError, RecursionError, InputError):
            policy = None
        if policy is None or not self.fits(policy):
            raise Unusable("what is asked beyond the limits, as this page writes it")
        return policy

    def write(self, value: Policy) -> str:
        """Its JSON, without blanks; nothing where nothing is asked."""
        if value.is_plain:
            return ""
        return json.dumps(value.to_json(), ensure_ascii=False, separators=(",", ":"))

    def fits(self, value: object) -> bool:
        """Whether its labels are still there, and a confidence does not stand against it."""
        if not isinstance(value, Policy):
            return False
        asked = (*value.floors, *value.precision)
        named = {floor.label for floor in asked} | set(value.utility.labels)
        whole = not value.utility.labels or len(value.utility.labels) == len(self.labels)
        more = value.has_ratios or value.limits or value.has_shares
        open_to_ratios = not (self.sure and more)
        columns = {part for limit in value.limits for part in limit.grouping.split("*")}
        known = named <= set(self.labels) and columns <= set(self.columns)
        return known and whole and open_to_ratios
