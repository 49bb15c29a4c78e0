"""A board as files: HTML by a jinja2 template, PDF by Typst; both from the same plain values.

Typst reads the values as JSON, and jinja2 escapes them, so that nothing a person wrote is markup.
"""

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairfl_core.review.board import Board
from fairfl_core.review.picture import svg_of

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["annex_page", "html_of", "pdf_of"]

TEMPLATES = Path(__file__).parent / "templates"


@cache
def _environment() -> "Environment":
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def html_of(board: Board, annex: str = "") -> str:
    """The report as one HTML file; `annex` is safe HTML in the place of the annex's own tables."""
    from markupsafe import Markup

    values = board.to_json() | {"svg": Markup(svg_of(board)), "more": Markup(annex)}
    return _environment().get_template("report.html").render(values)


def pdf_of(board: Board) -> bytes:
    """The report as a PDF: two pages, then the annex."""
    import typst

    made = typst.compile(TEMPLATES / "report.typ", sys_inputs=_inputs(board))
    if not isinstance(made, bytes):
        raise TypeError("Typst made no PDF")
    return made


def annex_page(board: Board) -> int:
    """The page of the PDF on which the annex begins."""
    import typst

    found = typst.query(
        TEMPLATES / "report.typ", "<annex>", field="value", one=True, sys_inputs=_inputs(board)
    )
    return int(json.loads(found))


def _inputs(board: Board) -> dict[str, str]:
    values: dict[str, Any] = board.to_json() | {"svg": svg_of(board)}
    return {"board": json.dumps(values, ensure_ascii=False)}
