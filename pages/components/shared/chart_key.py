"""The key of a chart, as a line of the page above it.

Plotly's own legend takes its room from the picture: on a telephone it lies over rows. A line of
the page wraps as words do, in letters of the page's size.
"""

from base64 import b64encode
from collections.abc import Mapping
from html import unescape
from typing import Any

from plotly.basedatatypes import BaseFigure

from pages.components.shared.outside_text import Target, only_text
from pages.components.shared.theme import GREY

__all__ = ["key_of"]

_SVG = "http://www.w3.org/2000/svg"
_FIELDS = ("heatmap", "mesh3d", "surface")  # a scale stands beside them, or nothing
_DASHES = {"dot": "2 3", "dash": "6 4", "dashdot": "6 3 2 3", "longdash": "9 4"}
_STROKES = ("x", "line-ns", "line-ew")  # marks without an inside
# Marks on a field of 22 by 12, the middle at (11, 6).
_SHAPES = {
    "circle": '<circle cx="11" cy="6" r="4.5" {0}/>',
    "square": '<rect x="6.5" y="1.5" width="9" height="9" {0}/>',
    "diamond": '<path d="M11 0.8 16.2 6 11 11.2 5.8 6z" {0}/>',
    "cross": '<path d="M9 1h4v3h3v4h-3v3h-4v-3h-3v-4h3z" {0}/>',
    "x": '<path d="M7 2 15 10M15 2 7 10" {0}/>',
    "triangle-up": '<path d="M11 1 16 10.5H6z" {0}/>',
    "triangle-down": '<path d="M11 11 16 1.5H6z" {0}/>',
    "triangle-right": '<path d="M16 6 6.5 11V1z" {0}/>',
    "triangle-left": '<path d="M6 6 15.5 11V1z" {0}/>',
    "star": '<path d="M11 0.5 12.5 4.3 16.5 4.6 13.4 7.2 14.4 11.2 11 9 7.6 11.2 8.6 7.2 5.5 4.6 9.5 4.3z" {0}/>',
    "line-ns": '<path d="M11 1V11" {0}/>',
    "line-ew": '<path d="M5 6H17" {0}/>',
}


def key_of(figure: BaseFigure) -> str:
    """What stands for what in a figure, as safe HTML; empty where there is nothing to tell."""
    drawn = figure.to_dict()
    named: dict[str, Mapping[str, Any]] = {}
    for trace in drawn["data"]:
        if trace.get("name") and trace.get("showlegend", trace["type"] not in _FIELDS):
            named.setdefault(str(trace["name"]), trace)
    asked = drawn["layout"].get("showlegend")
    if asked is False or len(named) < 2 and not asked:  # one thing alone needs no key
        return ""
    entries = "".join(
        f"<span>{_mark(trace)} {only_text(unescape(name), Target.HTML)}</span>"
        for name, trace in named.items()
    )
    return f'<div class="fairfl-key">{entries}</div>'


def _mark(trace: Mapping[str, Any]) -> str:
    """A small picture of how a trace looks."""
    mode = trace.get("mode") or ("lines" if trace["type"].startswith("scatter") else "field")
    parts = []
    if "lines" in mode:
        line = trace.get("line") or {}
        dash = _DASHES.get(str(line.get("dash")), "")
        width = min(float(line.get("width") or 2), 5)
        parts.append(
            f'<path d="M1 6H21" stroke="{_colour(line)}" stroke-width="{width:g}" '
            f'stroke-dasharray="{dash}"/>'
        )
    if "markers" in mode or mode == "field":
        parts.append(_symbol(trace.get("marker") or {}))
    svg = f'<svg xmlns="{_SVG}" viewBox="0 0 22 12" width="22" height="12">{"".join(parts)}</svg>'
    # As a picture of its own: Streamlit lets no SVG through in HTML.
    return f'<img alt="" src="data:image/svg+xml;base64,{b64encode(svg.encode()).decode()}">'


def _symbol(marker: Mapping[str, Any]) -> str:
    name = marker.get("symbol")
    name = name if isinstance(name, str) else "square"
    shape = _SHAPES.get(name.removesuffix("-open"), _SHAPES["circle"])
    hollow = "-open" in name or name in _STROKES
    edge = marker.get("line") or {}
    fill = "none" if hollow else _colour(marker)
    stroke = _colour(marker) if hollow or "color" not in edge else _colour(edge)
    width = min(float(edge.get("width") or 0) or 2 * hollow, 2)
    return shape.format(f'fill="{fill}" stroke="{stroke}" stroke-width="{width:g}"')


def _colour(style: Mapping[str, Any]) -> str:
    """The colour of a line or a mark; grey where it has none, or many."""
    colour = style.get("color")
    return only_text(colour, Target.HTML) if isinstance(colour, str) else GREY
