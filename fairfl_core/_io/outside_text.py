"""Text from outside (names, headers, notes) made safe for wherever it is shown: it is only text.

Streamlit takes more than Markdown: `:material/home:` becomes an icon, `a -> b` an arrow, `www.…` a
link, and that after a backslash is gone. So signs that begin such a thing are parted from what
follows by a word joiner, which nobody sees.
"""

import re
import unicodedata
from collections.abc import Callable
from enum import Enum
from html import escape

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
