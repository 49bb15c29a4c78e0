"""A board as files, by jinja2 templates: HTML, and Typst's source, of which the PDF is made.

Everything that a template writes is only text: jinja2 escapes it in HTML, and in Typst it is a
string, in which nothing acts.
"""

import re
from collections.abc import Sequence
from functools import cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairfl_core._io.names import JOINER
from fairfl_core.errors import extra
from fairfl_core.report.board import Board

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATES = Path(__file__).parent / "templates"
_MARKS = re.compile(r"([\\`*_\[\]|~$#])")
_BEGINS_LINK = re.compile(r"(?<=:)(?=//)|(?<=www)(?=\.)|(?<=\S)(?=@)", re.IGNORECASE)
_INVISIBLE = dict.fromkeys((*range(0x20), 0x7F), " ")  # control signs, which no font has


@cache
def environment() -> "Environment":
    """Return the templates of files, in which everything that is written is only text."""
    with extra("report"):
        from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


@cache
def _typst_environment() -> "Environment":
    return environment().overlay(autoescape=False, finalize=typst_text)


def typst_text(value: object) -> str:
    """Write a number as it is, anything else as a string of Typst: text in which nothing acts."""
    if isinstance(value, int | float):
        return f"{value:g}"
    signs = str(value).translate(_INVISIBLE).replace("\\", "\\\\").replace('"', '\\"')
    return f'#"{signs}";'


@cache
def _markdown_environment() -> "Environment":
    return environment().overlay(autoescape=False, finalize=markdown_text)


def markdown_text(value: object) -> str:
    """Write text on one line of Markdown, in which nothing acts: no mark, no tag, no link."""
    from markupsafe import Markup

    if isinstance(value, Markup):  # code of ours
        return value
    line = escape(" ".join(str(value).translate(_INVISIBLE).split()), quote=False)
    return _BEGINS_LINK.sub(JOINER, _MARKS.sub(r"\\\1", line))


def html_card(title: str, sections: Sequence[Any]) -> str:
    """A model card as one HTML file that stands alone."""
    return environment().get_template("model_card.html").render(title=title, sections=sections)


def markdown_card(title: str, sections: Sequence[Any]) -> str:
    """A model card in Markdown."""
    template = _markdown_environment().get_template("model_card.md")
    return template.render(title=title, sections=sections)


def comparison_css() -> str:
    """The look of the table."""
    return (TEMPLATES / "comparison.css").read_text(encoding="utf-8")


def comparison_html(board: Board) -> str:
    """The table alone: options beside the model as it is, numbers as marks on one axis a row."""
    return environment().get_template("comparison.html").render(board=board)


def html_of(board: Board) -> str:
    """The report as one HTML file."""
    with extra("report"):
        from markupsafe import Markup

    values: dict[str, Any] = {
        "board": board,
        "svg": Markup(svg_of(board)),
        "css": Markup(comparison_css()),
    }
    return environment().get_template("report.html").render(values)


def typst_of(board: Board) -> str:
    """The report as Typst's source."""
    return _typst_environment().get_template("report.typ").render(board=board)


def pdf_of(board: Board) -> bytes:
    """The report as a PDF: the decision on one page, then each option, then the annex."""
    with extra("report"):
        import typst

    made = typst.compile(typst_of(board).encode(), sys_inputs={"picture": svg_of(board)})
    if not isinstance(made, bytes):
        raise TypeError("Typst made no PDF")
    return made


# ------------------------------------------------------------------- the picture

# Okabe-Ito; shapes differ, too: circle, square, diamond, triangle.
MARKS = (
    ("#0072B2", "M-5 0a5 5 0 1 0 10 0a5 5 0 1 0-10 0z"),
    ("#E69F00", "M-4.5-4.5h9v9h-9z"),
    ("#009E73", "M0-6 6 0 0 6-6 0z"),
    ("#CC79A7", "M0-6 5.5 4.5h-11z"),
)


def svg_of(board: Board) -> str:
    """One row a group: a ring where it was, and a mark for every option."""
    most = max([0.1, *(share for row in board.found for share in (row.before, *row.after))])
    top = next(end for end in (0.1, 0.2, 0.4, 0.6, 0.8, 1.0) if most <= end + 1e-9)
    values: dict[str, Any] = {
        "board": board,
        "top": top,
        "marks": MARKS,
        "x": lambda share: round(210 + 470 * share / top, 2),
        "short": lambda name: name if len(name) <= 30 else name[:29] + "…",
    }
    return environment().get_template("found.svg").render(values)
