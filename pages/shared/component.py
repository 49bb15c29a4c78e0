"""The two charts that follow a slider: the map of limits and the clients' picture.

They are drawn by `fairfl_core/explore/frontend/*.js` as SVG and redrawn in place when their data
change. The drawing code knows nothing of Streamlit: `drawMap(root, data, emit)` and
`drawClients(root, data, emit)`. Its text travels with the data, 22 and 35 kB, to a setting that
the browser has not seen. Streamlit's way round that is an `asset_dir`, which it takes only from the
`pyproject.toml` inside an installed package of the distribution's own name: that would be a package
`fairfl` for this alone, and a page that does not open from a checkout without installing.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from streamlit.components import v2
from streamlit.components.v2.types import ComponentRenderer

from fairfl_core import explore
from fairfl_core.explore.charts import Picture

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
    data: Mapping[str, Any],
    *,
    noun: str,
    spoken: str,
    on_go: Callable[[], None] | None = None,
    title: str = "",
    note: str = "",
    alone: Sequence[tuple[str, float | None]] = (),
    large: bool = False,
    height: int | str = "stretch",
) -> None:
    """Draw the accuracy of every pair of limits; a click or a finished drag goes to a cell.

    Parameters
    ----------
    key
        Where `on_go` finds the cell: `st.session_state[key].go == [x, y]`, indices of `limits`.
    data
        What `fairfl_core.explore.charts.map_data` returns.
    on_go
        Called without arguments, before the page runs again; without it one can only look.
    noun
        What a client is called: "age band".
    spoken
        The map in a sentence, for those who do not see it.
    title, note
        The words above the map, and who its numbers are about. Without a title nothing stands
        above it, nor its scale: of maps side by side the page draws one.
    alone
        What each kind of fairness costs by itself in points: `("in each age band", -6.7)`; None
        where it cannot be had.
    large
        For a hall: no text below 16 px.
    """
    words = {"noun": noun, "spoken": spoken, "title": title, "note": note, "large": large}
    words |= {"alone": [list(one) for one in alone], "still": on_go is None}
    _map(
        key=key,
        data={**data, **words},
        height=height,  # type: ignore[arg-type]
        on_go_change=on_go or (lambda: None),
    )


def client_chart(
    key: str,
    data: Mapping[str, Any],
    *,
    view: Picture,
    spoken: str,
    on_client: Callable[[], None] | None = None,
    note: str = "",
    large: bool = False,
    height: int | str = "stretch",
) -> None:
    """Draw every client before and after, in the order given; a click on one opens it.

    Up to 12 clients are rows, more are columns; of more than 60 pass the worst 12.

    Parameters
    ----------
    key
        Where `on_client` finds the client's name: `st.session_state[key].client`.
    data
        What `charts.gaps` returns for "gaps" and "map", `found` for "found", `prices` for "price".
    view
        Which of the four pictures it is.
    on_client
        Called without arguments, before the page runs again; without it no client opens.
    note
        What else must stand beside the legend: "the worst 12 of 200".
    spoken, large
        As of the map.
    """
    words = {"view": view, "spoken": spoken, "note": note, "large": large}
    _clients(
        key=key,
        data={**data, **words, "still": on_client is None},
        height=height,  # type: ignore[arg-type]
        on_client_change=on_client or (lambda: None),
    )
