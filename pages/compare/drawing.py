"""A figure in the words of Plotly's browser library, without the checks of Plotly's Python one.

Plotly's own `Figure` looks every property up and copies every number several times: a third of a
slider's move went into three figures. What a moving slider redraws is therefore put together
here, as plain dictionaries; that Plotly would take them is for the tests to check.
"""

import base64
from functools import cache
from typing import Any

import numpy as np
import plotly.io as pio
from plotly.basedatatypes import BaseFigure

__all__ = ["Drawing"]


class Drawing(BaseFigure):  # type: ignore[misc]
    """Traces and a layout; goes wherever a Plotly figure is drawn or written."""

    def __init__(self) -> None:  # what Plotly's own would prepare is not needed
        self._traces: list[dict[str, Any]] = []
        self._settings: dict[str, Any] = {}

    def add(self, kind: str, **trace: Any) -> None:
        """Add a trace of a kind, ``scatter`` say; numbers are best given as arrays."""
        self._traces.append({"type": kind} | {name: _packed(part) for name, part in trace.items()})

    def add_shape(self, **shape: Any) -> None:
        """Add a rectangle or a line."""
        self._settings.setdefault("shapes", []).append(shape)

    def update_layout(self, **settings: Any) -> "Drawing":
        """Set parts of the layout; a part of a part is set beside what stands there."""
        _merge(self._settings, settings)
        return self

    def to_dict(self) -> dict[str, Any]:
        """The figure as Plotly's browser library reads it."""
        return {
            "data": self._traces,
            "layout": {"template": _template(pio.templates.default), **self._settings},
        }


def _merge(into: dict[str, Any], settings: dict[str, Any]) -> None:
    for name, value in settings.items():
        if isinstance(value, dict):
            there = into.setdefault(name, {})
            _merge(there, value)
        else:
            into[name] = _packed(value)


def _packed(part: Any) -> Any:
    """An array of numbers as its bytes, one of anything else as a list."""
    if not isinstance(part, np.ndarray):
        return part
    if part.dtype.kind not in "fi":
        return part.tolist()
    small = part.dtype.kind == "i" and part.size and np.abs(part).max() < 128
    array = part.astype("<f8" if part.dtype.kind == "f" else "i1" if small else "<i4")
    packed = {"dtype": array.dtype.str[1:], "bdata": base64.b64encode(array.tobytes()).decode()}
    if array.ndim > 1:
        packed["shape"] = ", ".join(map(str, array.shape))
    return packed


@cache
def _template(name: str) -> dict[str, Any]:
    """What every figure starts from, as Streamlit has set it."""
    found: dict[str, Any] = pio.templates[name].to_plotly_json()
    return found
