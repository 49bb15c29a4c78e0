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
from fairfl_core.report.picture import svg_of

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = [
    "TEMPLATES",
    "comparison_css",
    "comparison_html",
    "environment",
    "html_card",
    "html_of",
    "markdown_card",
    "pdf_of",
    "typst_of",
]

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


def html_of(board: Board, annex: str = "") -> str:
    """The report as one HTML file; `annex` is safe HTML that stands before the annex's tables."""
    with extra("report"):
        from markupsafe import Markup

    values: dict[str, Any] = {
        "board": board,
        "svg": Markup(svg_of(board)),
        "css": Markup(comparison_css()),
        "more": Markup(annex),
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
