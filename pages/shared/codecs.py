"""Typed values to and from the text of a link; what is no such value is refused, never guessed.

Whatever stands in an address bar was typed by somebody, or cut off by a mail program. So every
setting has a codec: it reads a text or raises `Unusable`, it writes a value so that reading gives
the same value again, and it tells whether a value kept from before still fits.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, unquote

from fairfl_core.lp.guarantee import Guarantee
from fairfl_core.lp.policy import Policy

_LONGEST = 4000  # letters: a table of gains for eight labels takes about 600


class Unusable(ValueError):
    """A text that a setting cannot take; the message tells what it takes."""


class Codec(ABC):
    """One kind of setting."""

    def read(self, text: str) -> Any:
        """Return the value of a text; raises `Unusable` with what could have stood there."""
        try:
            value = self._parse(text)
            if self.fits(value):
                return value
        except (ValueError, LookupError, RecursionError):
            pass
        raise Unusable(self._expected())

    def write(self, value: Any) -> str:
        """Return the text that reads as this value; empty for one that a link leaves out."""
        return str(value)

    @abstractmethod
    def fits(self, value: object) -> bool:
        """Whether a value may be shown by the setting's widget."""

    @abstractmethod
    def _parse(self, text: str) -> Any:
        """Return the value of a text that may not fit; raises where it is none at all."""

    @abstractmethod
    def _expected(self) -> str:
        """What the setting takes, in a few words."""


@dataclass(frozen=True)
class OneOf(Codec):
    """One of some values, each written as `str` writes it, or by a name of its own.

    A named value without choice is left out of links.
    """

    options: Sequence[Any]
    names: tuple[str, ...] = ()

    def write(self, value: Any) -> str:
        """Return the option's name."""
        if not self.names:
            return str(value)
        return self.names[list(self.options).index(value)] if len(self.options) > 1 else ""

    def fits(self, value: object) -> bool:
        """Whether it is an option still."""
        return value in self.options

    def _parse(self, text: str) -> Any:
        return dict(zip(self._written(), self.options, strict=True))[text]

    def _expected(self) -> str:
        names = [name for name in self._written() if name]
        return f"one of {', '.join(names[:6])}" + (", …" if len(names) > 6 else "")

    def _written(self) -> Sequence[str]:
        return self.names or [str(option) for option in self.options]


FLAG = OneOf((False, True))
ALL = "all"


def seeds(every: tuple[int, ...]) -> OneOf:
    """All of an experiment's runs, or one of them; the value is a tuple of seeds."""
    if len(every) == 1:
        return OneOf((every,), (ALL,))
    return OneOf((every, *((seed,) for seed in every)), (ALL, *map(str, every)))


@dataclass(frozen=True)
class Certainty(Codec):
    """With what confidence limits are to hold: ``0.95-each-measured``, or nothing.

    Attributes
    ----------
    possible : bool
        Whether a confidence can be had here at all.
    """

    possible: bool

    def write(self, value: Guarantee | None) -> str:
        """Return confidence, scope and proof; nothing where none is asked for."""
        if value is None:
            return ""
        return f"{SHARE.write(value.confidence)}-{value.scope}-{value.proof}"

    def fits(self, value: object) -> bool:
        """Whether it can be asked for here."""
        return value is None or (self.possible and isinstance(value, Guarantee))

    def _parse(self, text: str) -> Guarantee:
        confidence, scope, proof = text.split("-")
        return Guarantee(float(confidence), scope, proof)

    def _expected(self) -> str:
        return "a confidence like 0.95-each-measured" if self.possible else "nothing here"


@dataclass(frozen=True)
class Whole(Codec):
    """A whole number within limits."""

    low: int
    high: int

    def fits(self, value: object) -> bool:
        """Whether it is whole and within the limits."""
        return isinstance(value, int) and self.low <= value <= self.high

    def _parse(self, text: str) -> int:
        return int(text)

    def _expected(self) -> str:
        return f"a whole number from {self.low:,} to {self.high:,}"


@dataclass(frozen=True)
class Numbers(Codec):
    """Some whole numbers within limits, written ``10,30,50``."""

    low: int
    high: int
    most: int

    def write(self, value: Sequence[int]) -> str:
        """Return the numbers with commas between."""
        return ",".join(map(str, value))

    def fits(self, value: object) -> bool:
        """Whether there are some, not too many, and each is within the limits."""
        one = Whole(self.low, self.high)
        return (
            isinstance(value, tuple)
            and 0 < len(value) <= self.most
            and all(one.fits(part) for part in value)
        )

    def _parse(self, text: str) -> tuple[int, ...]:
        return tuple(map(int, text.split(",")))

    def _expected(self) -> str:
        return f"up to {self.most} whole numbers from {self.low} to {self.high}"


@dataclass(frozen=True)
class Between(Codec):
    """A number within limits; neither infinite nor undefined."""

    low: float
    high: float

    def write(self, value: float) -> str:
        """Return the shortest digits that give this very number again."""
        return repr(float(value)).removesuffix(".0")

    def fits(self, value: object) -> bool:
        """Whether it lies within the limits."""
        return isinstance(value, float) and self.low <= value <= self.high

    def _parse(self, text: str) -> float:
        return float(text) + 0.0  # no negative zero: it would be written otherwise

    def _expected(self) -> str:
        return f"a number from {self.low:g} to {self.high:g}"


SHARE = Between(0.0, 1.0)  # a tolerance, a rate


@dataclass(frozen=True)
class Text(Codec):
    """Free text of some length, as typed into a search box."""

    longest: int

    def fits(self, value: object) -> bool:
        """Whether it is short enough."""
        return isinstance(value, str) and len(value) <= self.longest

    def _parse(self, text: str) -> str:
        return text

    def _expected(self) -> str:
        return f"at most {self.longest} letters"


@dataclass(frozen=True)
class PerName(Codec):
    """A share for some of the names, written ``NM=0.05;TX=0.1``; in the names' own order."""

    names: Sequence[str]

    def ordered(self, shares: dict[str, float]) -> tuple[tuple[str, float], ...]:
        """Return the pairs of known names, in the names' order."""
        return tuple((name, shares[name]) for name in self.names if name in shares)

    def write(self, value: tuple[tuple[str, float], ...]) -> str:
        """Return the pairs; marks of ours inside a name are escaped."""
        return ";".join(f"{quote(name, safe=' ')}={SHARE.write(share)}" for name, share in value)

    def fits(self, value: object) -> bool:
        """Whether every name is still there."""
        return isinstance(value, tuple) and value == self.ordered(dict(value))

    def _parse(self, text: str) -> tuple[tuple[str, float], ...]:
        pairs = [part.rpartition("=")[::2] for part in text.split(";") if text]
        shares = {unquote(name): SHARE.read(share) for name, share in pairs}
        if not set(shares) <= set(self.names):  # one that cannot be read refuses all
            raise Unusable(self._expected())
        return self.ordered(shares)

    def _expected(self) -> str:
        return "pairs like “name=0.05”, each with a name there is"


@dataclass(frozen=True)
class Asked(Codec):
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

    def write(self, value: Policy) -> str:
        """Return its JSON, without blanks; nothing where nothing is asked."""
        if value.is_plain:
            return ""
        return json.dumps(value.to_json(), ensure_ascii=False, separators=(",", ":"))

    def fits(self, value: object) -> bool:
        """Whether its labels are still there, and a confidence does not stand against it."""
        if not isinstance(value, Policy):
            return False
        named = (
            {one.label for one in value.floors}
            | {one.label for one in value.precision}
            | set(value.utility.labels)
        )
        whole = not value.utility.labels or len(value.utility.labels) == len(self.labels)
        more = value.has_ratios or value.limits or value.has_shares
        open_to_ratios = not (self.sure and more)
        columns = {part for limit in value.limits for part in limit.grouping.split("*")}
        known = named <= set(self.labels) and columns <= set(self.columns)
        return known and whole and open_to_ratios

    def _parse(self, text: str) -> Policy:
        value = json.loads(text) if len(text) <= _LONGEST else None
        if not isinstance(value, dict):
            raise Unusable(self._expected())
        return Policy.from_json(value)

    def _expected(self) -> str:
        return "what is asked beyond the limits, as this page writes it"
