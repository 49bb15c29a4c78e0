"""The picture of the options: one row an option, its two gaps with intervals; no library needed."""

from html import escape
from typing import Any

from fairfl_core._io import numbers
from fairfl_core.review.board import Board

__all__ = ["svg_of"]

_WIDTH, _LEFT, _RIGHT, _ROW, _TOP = 700, 190, 90, 34, 30
_OVERALL, _WORST = "#0072B2", "#E69F00"  # a circle and a square, so that colour is not needed


def svg_of(board: Board) -> str:
    """Overall gap (circle) and worst client's gap (square) of every option, on unseen people."""
    columns = board.columns
    values = [_value(column.picture, name) for column in columns for name in _ENDS]
    most = max([0.1, *(value for value in values if value is not None)])
    span = _WIDTH - _LEFT - _RIGHT

    def x(value: float) -> float:
        return _LEFT + span * value / most

    height = _TOP + _ROW * len(columns) + 40
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img" '
        f'aria-label="Gaps of the options on unseen people" font-family="sans-serif" '
        f'font-size="13" fill="#1b2733">',
        f'<circle cx="{_LEFT + 6}" cy="12" r="5" fill="{_OVERALL}"/>',
        f'<text x="{_LEFT + 16}" y="16">overall gap</text>',
        f'<rect x="{_LEFT + 110}" y="7" width="10" height="10" fill="{_WORST}"/>',
        f'<text x="{_LEFT + 126}" y="16">worst client’s gap, bars: 95 %</text>',
        f'<text x="{_WIDTH - 6}" y="16" text-anchor="end">accuracy</text>',
    ]
    for place, column in enumerate(columns):
        y = _TOP + _ROW * place + _ROW / 2
        bold = ' font-weight="bold"' if column.recommended else ""
        parts += [
            f'<line x1="{_LEFT}" y1="{y + 17}" x2="{_WIDTH}" y2="{y + 17}" stroke="#d0d7de"/>',
            f'<text x="{_LEFT - 10}" y="{y + 4}" text-anchor="end"{bold}>{_short(column.name)}</text>',
            *_gap(column.picture, "overall", x, y - 6, _OVERALL),
            *_gap(column.picture, "worst", x, y + 6, _WORST),
            f'<text x="{_WIDTH - 6}" y="{y + 4}" text-anchor="end"{bold}>'
            f"{numbers.percent(column.picture['accuracy'])}</text>",
        ]
    for tick in range(5):
        value = most * tick / 4
        parts.append(
            f'<text x="{x(value)}" y="{height - 20}" text-anchor="middle">{value:.2f}</text>'
        )
    title = "gap between groups on unseen people"
    parts.append(
        f'<text x="{_LEFT + span / 2}" y="{height - 4}" text-anchor="middle">{title}</text>'
    )
    return "".join(parts) + "</svg>"


_ENDS = ("overall", "overall_high", "worst", "worst_high")


def _value(picture: dict[str, Any], name: str) -> float | None:
    value = picture[name]
    return None if value is None or value != value else float(value)


def _gap(picture: dict[str, Any], name: str, x: Any, y: float, colour: str) -> list[str]:
    value, low, high = (_value(picture, f"{name}{end}") for end in ("", "_low", "_high"))
    if value is None:
        return []
    bar = []
    if low is not None and high is not None:
        bar = [
            f'<line x1="{x(low)}" y1="{y}" x2="{x(high)}" y2="{y}" stroke="{colour}" '
            'stroke-width="2"/>'
        ]
    mark = (
        f'<circle cx="{x(value)}" cy="{y}" r="5" fill="{colour}"/>'
        if name == "overall"
        else f'<rect x="{x(value) - 5}" y="{y - 5}" width="10" height="10" fill="{colour}"/>'
    )
    return [*bar, mark]


def _short(name: str) -> str:
    return escape(name if len(name) <= 28 else name[:27] + "…")
