"""The two charts of Explore that follow a slider: the map of limits and the clients' picture.

They are drawn by `fairfl_core/explore/frontend/*.js` as SVG and redrawn in place when their data change. The drawing
code knows nothing of Streamlit: `drawMap(root, data, emit)` and `drawClients(root, data, emit)`.
Its text travels with the data, 22 and 35 kB, to a setting that the browser has not seen: files in
an `asset_dir` are found only where a wheel is installed, not from a checkout nor an editable one.
"""

from collections.abc import Callable, Sequence
from math import isnan
from pathlib import Path

from streamlit.components import v2
from streamlit.components.v2.types import ComponentRenderer

from fairfl_core import explore
from fairfl_core.explore.charts import FoundData, GapData, Picture, PriceData

__all__ = ["client_chart", "limit_map"]

_FRONTEND = Path(explore.__file__).parent / "frontend"


def _component(name: str, draw: str) -> ComponentRenderer:
    """Declare a chart from the drawing code in `frontend`."""
    css, *scripts = (
        (_FRONTEND / file).read_text(encoding="utf-8")
        for file in ("charts.css", "svg.js", f"{name}.js")
    )
    mount = (
        "export default ({ data, parentElement, setTriggerValue }) => "
        f"{draw}(parentElement, data, setTriggerValue);"
    )
    return v2.component(f"fairfl_{name}", css=css, js="\n".join([*scripts, mount]))


_map = _component("map", "drawMap")
_clients = _component("clients", "drawClients")


def limit_map(
    key: str,
    *,
    accuracy: Sequence[Sequence[float | None]],
    limits: Sequence[float],
    here: tuple[float, float],
    kept: Sequence[tuple[str, float, float]],
    noun: str,
    note: str,
    low: float,
    high: float,
    free: Sequence[Sequence[float]],
    alone: Sequence[tuple[str, float]],
    spoken: str,
    on_go: Callable[[], None],
    title: str = "Accuracy by pair of limits",
    large: bool = False,
) -> None:
    """Draw the accuracy of every pair of limits; a click or a finished drag goes to a cell.

    Parameters
    ----------
    key
        Where `on_go` finds the cell: `st.session_state[key].go == [x, y]`, indices of `limits`.
    accuracy
        Per cent; a row for each limit inside clients, a column for each limit overall, both in
        the order of `limits`. None (or NaN) where no answer keeps both limits.
    limits
        Ascending; 1.0 is no limit.
    here
        Where one stands, as indices (x, y); between cells where the limit lies between two.
    kept
        What was kept for Compare: letter, x, y.
    noun
        What a client is called: "age band".
    note
        Who the numbers are about and what else must be said: "new people", "coarse: one run".
    low, high
        The accuracies of the ends of the colours, in per cent.
    free
        Edges (x0, y0, x1, y1) between cells that cost nothing and cells that do; a cell's lower
        left corner is at its own indices.
    alone
        What each kind of fairness costs by itself in points: `("in each age band", -6.7)`.
    spoken
        The map in a sentence, for those who do not see it.
    on_go
        Called without arguments, before the page runs again.
    title
        The words above the map.
    large
        For a hall: no text below 16 px.
    """
    _map(
        key=key,
        data={
            "accuracy": [[_cell(value) for value in row] for row in accuracy],
            "limits": [float(limit) for limit in limits],
            "here": [float(at) for at in here],
            "kept": [[letter, float(x), float(y)] for letter, x, y in kept],
            "noun": noun,
            "note": note,
            "low": float(low),
            "high": float(high),
            "free": [[float(at) for at in edge] for edge in free],
            "alone": [[name, float(points)] for name, points in alone],
            "title": title,
            "spoken": spoken,
            "large": large,
        },
        height="stretch",
        on_go_change=on_go,
    )


def _cell(value: float | None) -> float | None:
    return None if value is None or isnan(value) else round(float(value), 2)


def client_chart(
    key: str,
    *,
    view: Picture,
    data: GapData | FoundData | PriceData,
    spoken: str,
    on_client: Callable[[], None],
    note: str = "",
    large: bool = False,
) -> None:
    """Draw every client before and after, in the order given; a click on one opens it.

    Up to 12 clients are rows, more are columns; of more than 60 pass the worst 12.

    Parameters
    ----------
    key
        Where `on_client` finds the client's name: `st.session_state[key].client`.
    view
        "gaps": ring before, dot after with its interval, and the band that is allowed.
        "map": the states of the USA as tiles, by the gap after.
        "found": how many of a label are recognised in each group.
        "price": points of accuracy gained or lost.
    data
        `GapData` for "gaps" and "map", `FoundData` for "found", `PriceData` for "price".
    spoken
        The picture in a sentence, for those who do not see it.
    on_client
        Called without arguments, before the page runs again.
    note
        What else must be said beside the legend: "the worst 12 of 200".
    large
        For a hall: no text below 16 px.
    """
    _clients(
        key=key,
        data={**data, "view": view, "spoken": spoken, "note": note, "large": large},
        height="stretch",
        on_client_change=on_client,
    )
