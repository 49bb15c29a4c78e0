"""Names of clients, groups and labels: checked, put in order, listed in sentences."""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from enum import Enum
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairfl_core.errors import InputError

LONGEST_NAME = 200
LONGEST_SHOWN = 60
# Signs that turn the direction of the text around them.
_TURNING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_ACTING = frozenset(("Cc", "Cs", "Zl", "Zp"))  # controls, halves of signs, ends of lines

# Signs that count as letters or marks, and show nothing.
_BLANK = frozenset("\u115f\u1160\u2800\u3164\uffa0")


def listed(names: Sequence[str], most: int = 8) -> str:
    """Names in quotes for a sentence, the first few where there are many."""
    quoted = ", ".join(f'"{name}"' for name in names[:most])
    return quoted + (f" and {len(names) - most} more" if len(names) > most else "")


def shown(text: str) -> str:
    """A header or a file's name in a sentence: on one line, not endless, nothing unseen in it."""
    line = "".join(c for c in " ".join(text.split()) if c.isprintable() and c not in _TURNING)
    return line if len(line) <= LONGEST_SHOWN else line[: LONGEST_SHOWN - 1] + "…"


def acts(sign: str) -> bool:
    """Whether a sign does something to the text, page or terminal around it, or is no sign at all."""
    no_sign = ord(sign) & 0xFFFE == 0xFFFE or 0xFDD0 <= ord(sign) <= 0xFDEF
    return no_sign or sign in _TURNING or unicodedata.category(sign) in _ACTING


def check_names(names: tuple[str, ...], field: str) -> None:
    """Refuse too few names, one that stands twice, and an empty one."""
    least = 1 if field == "clients" else 2
    if len(names) < least:
        raise InputError(
            f"there are {len(names)} {field} but at least {least} are needed; "
            + ("give one or more clients." if least == 1 else "fairness compares at least two.")
        )
    if len(set(names)) < len(names):
        times = Counter(names)
        twice = next(name for name in names if times[name] > 1)
        raise InputError(f'the name "{twice}" stands twice among the {field}; rename one of them.')
    for name in names:
        try:
            name.encode("utf-8")
        except UnicodeEncodeError as error:
            raise InputError(
                f"one of the {field} has a name that is not valid text; rename it."
            ) from error
    if any(not name.strip() for name in names):
        raise InputError(f"one of the {field} has an empty name; name it.")
    if any(_unseen(name) for name in names):
        raise InputError(f"one of the {field} has a name in which nothing is to be seen; name it.")


def read_names(value: Any, field: str) -> tuple[str, ...]:
    """Take the names under a key of a file, after checking them."""
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise InputError(f'"{field}" must be a list of names (strings).')
    check_names(tuple(value), field)
    return tuple(value)


def check_readable(names: Sequence[str], header: str) -> None:
    """Refuse a name that no person would read: endless, or with signs that act on other text."""
    for name in names:
        if len(name) > LONGEST_NAME:
            raise InputError(
                f'column "{shown(header)}": the name "{name[:40]}…" has {len(name):,} letters; '
                f"shorten it to at most {LONGEST_NAME}."
            )
        acting = next(filter(acts, name), None)
        if acting is not None:
            raise InputError(
                f'column "{shown(header)}": the name "{shown(name)}" holds the unseen sign '
                f"U+{ord(acting):04X}, which acts on other text; remove it."
            )
        if name.strip() and _unseen(name):
            raise InputError(
                f'column "{shown(header)}" holds a name in which nothing is to be seen (it begins '
                f"with U+{ord(name[0]):04X}); write a name, or leave the cell empty."
            )


def _unseen(name: str) -> bool:
    """Whether a name has no sign that anyone could see."""
    return all(
        sign in _BLANK or unicodedata.category(sign) in ("Cc", "Cf", "Mn", "Zl", "Zp", "Zs")
        for sign in name
    )


def in_order(names: Sequence[str]) -> tuple[str, ...]:
    """Sorted; as numbers where all of them are, so that "10" comes after "9"."""
    numbers = all(re.fullmatch(r"-?\d+(\.\d+)?", name) for name in names)
    return (
        tuple(sorted(names, key=lambda name: (float(name), name)))
        if numbers
        else tuple(sorted(names))
    )


def positions(names: Sequence[str], declared: Sequence[str]) -> NDArray[np.int64]:
    """Where each name stands among the declared ones; -1 where it does not."""
    place = {name: i for i, name in enumerate(declared)}
    return np.array([place.get(name, -1) for name in names], dtype=np.int64)


def as_name(value: Any) -> str:
    """A label read as 1.0 in one column and 1 in another is the same label."""
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    text = str(value)
    return text.split(".")[0] if re.fullmatch(r"-?\d+\.0+", text) else text


JOINER = "\u2060"  # takes no room and breaks no line
_FIRST_STRONG, _POP = "\u2068", "\u2069"  # around a name written from right to left
_MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+\-.!|<>$:~^&@=])")
_BEGINS = re.compile(
    r"(?<=:)(?=\S)|(?<=[<>=~-])(?=[<>=~-])|(?<=www)(?=\.)|(?<=\S)(?=@)", re.IGNORECASE
)
# A cell that a spreadsheet would compute, also where it takes another sign to part cells.
_FORMULA = re.compile(r"(^|[;,|\t\r\n])(\s*)(?=[=+\-@＝＋－＠﹦﹢﹣﹫])")
_TYPST = re.compile(r"([\\#$*_`<>@=\-+/~\[\]{}\"'])")


class Target(Enum):
    """Where outside text goes."""

    MARKDOWN = "markdown"
    HTML = "html"
    FIGURE = "figure"
    CSV = "csv"
    TYPST = "typst"


def only_text(text: object, target: Target, longest: int | None = None) -> str:
    """Outside text in which nothing acts where it goes.

    Parameters
    ----------
    text : object
        A name, a header, a note; what is no text is written as one.
    target : Target
        Markdown of a page, HTML of a file, a figure's labels, a cell of a CSV, the PDF's source.
    longest : int, optional
        Cut with an ellipsis beyond so many signs, and put on one line; CSV is never cut.
    """
    words = str(text) if longest is None else _cut(str(text), longest)
    return _SAFE[target](words)


def plain(text: str, longest: int = 60) -> str:
    """A name in Markdown."""
    return only_text(text, Target.MARKDOWN, longest)


def figure_text(name: str, longest: int = 40) -> str:
    """A name in a figure."""
    return only_text(name, Target.FIGURE, longest)


def _markdown(text: str) -> str:
    parted = _BEGINS.sub(JOINER, text)
    return _isolated(_MARKDOWN.sub(r"\\\1", parted))


def _figure(text: str) -> str:
    """Plotly reads tags, entities and, where MathJax is, formulas."""
    marked = text.replace("&", "&amp;").replace("<", "&lt;").replace("$", f"${JOINER}")
    return _isolated(marked)


def _csv(text: str) -> str:
    parted = _FORMULA.sub(r"\1\2'", text)
    return parted if parted == text or parted.startswith("'") else f"'{parted}"


def _typst(text: str) -> str:
    return _isolated(_TYPST.sub(r"\\\1", " ".join(text.split())))


_SAFE: dict[Target, Callable[[str], str]] = {
    Target.MARKDOWN: _markdown,
    Target.HTML: escape,
    Target.FIGURE: _figure,
    Target.CSV: _csv,
    Target.TYPST: _typst,
}


def _cut(text: str, longest: int) -> str:
    text = " ".join(text.split())
    return text if len(text) <= longest else text[: longest - 1] + "…"


def _isolated(name: str) -> str:
    """The name, set apart where it is written from right to left: numbers after it stay put."""
    turned = any(unicodedata.bidirectional(sign) in ("R", "AL", "AN") for sign in name)
    return f"{_FIRST_STRONG}{name}{_POP}" if turned else name
