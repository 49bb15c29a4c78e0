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

_WIDTH, _LEFT, _RIGHT, _ROW, _TOP = 700, 210, 20, 24, 30
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7")  # Okabe-Ito; shapes differ, too
_INK, _GREY = "#1b2733", "#6b747d"


def svg_of(board: Board) -> str:
    """One row a group: a ring where it was, and a mark for every option."""
    rows, span = board.found, _WIDTH - _LEFT - _RIGHT
    shares = [share for row in rows for share in (row.before, *row.after)]
    most = max([0.1, *shares])
    top = next(end for end in (0.1, 0.2, 0.4, 0.6, 0.8, 1.0) if most <= end + 1e-9)

    def x(share: float) -> float:
        return round(_LEFT + span * share / top, 2)

    height = _TOP + _ROW * len(rows) + 40
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img" '
        f'aria-label="{escape(_spoken(board), quote=True)}" font-family="sans-serif" '
        f'font-size="13" fill="{_INK}">',
        *_legend(board),
    ]
    for tick in range(5):
        at = x(top * tick / 4)
        parts += [
            f'<line x1="{at}" y1="{_TOP}" x2="{at}" y2="{height - 36}" stroke="#dfe4ea"/>',
            f'<text x="{at}" y="{height - 22}" text-anchor="middle">{25 * top * tick:.0f}</text>',
        ]
    for place, row in enumerate(rows):
        y = _TOP + _ROW * (place + 0.5)
        ends = [row.before, *row.after]
        parts += [
            f'<text x="{_LEFT - 10}" y="{y + 4}" text-anchor="end">{_short(row.where)}</text>',
            f'<line x1="{x(min(ends))}" y1="{y}" x2="{x(max(ends))}" y2="{y}" stroke="#c3cad2" '
            'stroke-width="3"/>',
            _ring(x(row.before), y),
            *(
                _mark(option, x(share), y + 4 * (option - (len(row.after) - 1) / 2))
                for option, share in enumerate(row.after)
            ),
        ]
    caption = f"found of those with “{_short(board.label)}”, %"
    middle = _LEFT + span / 2
    parts.append(f'<text x="{middle}" y="{height - 5}" text-anchor="middle">{caption}</text>')
    return "".join(parts) + "</svg>"


def _spoken(board: Board) -> str:
    return (
        f"How often {board.label} is found in the groups that lose most, before and by each option"
    )


def _legend(board: Board) -> list[str]:
    parts = [_ring(_LEFT + 6, 12), f'<text x="{_LEFT + 17}" y="16">as it is</text>']
    for option, column in enumerate(board.options):
        at = _LEFT + 100 + 70 * option
        parts += [
            _mark(option, at, 12),
            f'<text x="{at + 11}" y="16">{_short(column.name)}</text>',
        ]
    return parts


def _ring(x: float, y: float) -> str:
    return f'<circle cx="{x}" cy="{y}" r="5" fill="white" stroke="{_GREY}" stroke-width="2"/>'


def _mark(option: int, x: float, y: float) -> str:
    """A shape of its own for each option: circle, square, diamond, triangle."""
    colour = f'class="option" data-x="{x}" fill="{COLOURS[option]}"'
    corners = (
        (),
        ((-4.5, -4.5), (4.5, -4.5), (4.5, 4.5), (-4.5, 4.5)),
        ((0, -6), (6, 0), (0, 6), (-6, 0)),
        ((0, -6), (5.5, 4.5), (-5.5, 4.5)),
    )[option]
    if not corners:
        return f'<circle {colour} cx="{x}" cy="{y}" r="5"/>'
    points = " ".join(f"{round(x + dx, 2)},{y + dy}" for dx, dy in corners)
    return f'<polygon {colour} points="{points}"/>'


def _short(name: str) -> str:
    return escape(name if len(name) <= 30 else name[:29] + "…")
