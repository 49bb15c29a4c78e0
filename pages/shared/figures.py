"""The core's figures, under the name that pages know, and a map's table."""

import pandas as pd
import plotly.colors

from fairfl_core.lp.frontier import Frontier
from fairfl_core.report.figures import (
    AXIS_INSIDE,
    AXIS_OVERALL,
    HOVER_AFTER,
    HOVER_BEFORE,
    HOVER_CELL,
    LEGEND_ABOVE,
    MARGIN,
    Place,
    client_gaps,
    heat_map,
    segments,
)
from pages.shared import text

__all__ = [
    "AXIS_INSIDE",
    "AXIS_OVERALL",
    "CIVIDIS",
    "HOVER_AFTER",
    "HOVER_BEFORE",
    "HOVER_CELL",
    "LEGEND_ABOVE",
    "MARGIN",
    "Place",
    "client_gaps",
    "heat_map",
    "map_table",
    "segments",
]

CIVIDIS = plotly.colors.get_colorscale("Cividis")


def map_table(heat: Frontier) -> pd.DataFrame:
    """The accuracies of a map, in per cent."""
    columns = [f"{text.MAP_OVERALL} {value:g}" for value in heat.eps_global]
    table = pd.DataFrame((100 * heat.accuracy).round(2), columns=columns)
    table.insert(0, text.MAP_INSIDE, heat.eps_local)
    return table
