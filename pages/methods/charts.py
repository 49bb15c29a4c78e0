"""Pictures of the Methods page. A figure computes nothing: it draws what it is given."""

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from fairfl_core._io.names import figure_text
from fairfl_core.explore.charts import colour_limits
from fairfl_core.lp.frontier import Frontier
from pages.methods import text
from pages.methods.results import Compared, Line
from pages.shared.theme import (
    CIVIDIS,
    GREY,
    GROUP_COLOURS,
    HERE,
    laid_out,
    named_rows,
    segments,
    translucent,
)

HEIGHT = 365
LOOKS = (  # of the lines that are named: Plotly's sign, the same as a letter
    ("circle", "●"),
    ("square", "■"),
    ("diamond", "◆"),
    ("triangle-up", "▲"),
    ("triangle-down", "▼"),
    ("star", "★"),
)
SIGNS = {"more": "triangle-up", "alike": "circle", "less": "circle-open", "fairfl": "circle"}
LEAST = -2.5  # points: who is further behind fairfl stands at the edge, with a number
BELOW = 0.8  # points of the lines' picture below fairfl at the gap compared
DEEPEST = 5.0  # points that it spans at most: who is far below would flatten all


def _colours(found: Compared) -> dict[str, str]:
    """Fairfl is blue; the others that are named take the next colours, in order of their names."""
    names = sorted(line.method for line in found.labelled if not line.is_fairfl)
    fairfl = [line.method for line in found.labelled if line.is_fairfl]
    return dict(zip([*fairfl, *names], GROUP_COLOURS * 2, strict=False))


def frontiers(found: Compared, gap_name: str) -> go.Figure:
    """One line a method: a few named at their ends, the others thin and grey, named on hover."""
    figure = go.Figure()
    named = found.labelled
    for line in found.lines:
        if line not in named:
            _add_line(figure, line, GREY, "circle", 1, 4)
    colours = _colours(found)
    looks = {method: LOOKS[place % len(LOOKS)] for place, method in enumerate(colours)}
    for line in sorted(named, key=lambda line: line.is_fairfl):
        width = 4 if line.is_fairfl else 2
        _add_line(figure, line, colours[line.method], looks[line.method][0], width, 9)
    ends = np.array([100 * line.frontier.accuracy[-1].mean() for line in named])
    low, high = _span(found, ends)
    for line, place in zip(named, _apart(ends, low, high), strict=True):
        sign = f'<span style="color:{colours[line.method]}">{looks[line.method][1]}</span>'
        name = figure_text(text.short_title(line), 24)
        figure.add_annotation(
            x=1.01,
            xref="paper",
            y=place,
            text=f"{sign} {f'<b>{name}</b>' if line.is_fairfl else name}",
            showarrow=False,
            xanchor="left",
        )
    figure.add_vline(x=found.gap, line={"color": HERE, "dash": "dash", "width": 1.5})
    widest = max(found.gap, *(line.frontier.gaps[-1] for line in named))
    return laid_out(
        figure,
        HEIGHT,
        margin_r=150,
        showlegend=False,
        hovermode="closest",
        xaxis={"title": text.AXIS_GAP.format(gap_name), "range": [0, 1.04 * widest]},
        yaxis={"title": text.AXIS_ACCURACY, "range": [low, high]},
    )


def _span(found: Compared, ends: NDArray[np.float64]) -> tuple[float, float]:
    """The accuracies drawn: where the named lines end, and fairfl's at the gap compared."""
    fairfl = next(line.frontier for line in found.labelled if line.is_fairfl)
    here = fairfl.at(max(found.gap, float(fairfl.gaps[0])))
    assert here is not None  # at its smallest gap it is there
    high = float(ends.max())
    low = min(float(ends.min()), 100 * float(here.mean()) - BELOW)
    return max(low, high - DEEPEST) - 0.2, high + 0.3


def _add_line(
    figure: go.Figure, line: Line, colour: str, sign: str, width: float, size: int
) -> None:
    name = figure_text(text.title(line.title))
    frontier = line.frontier
    figure.add_scatter(
        x=frontier.gaps,
        y=100 * frontier.accuracy.mean(axis=1),
        mode="lines+markers",
        name=name,
        line={"color": colour, "width": width},
        marker={"symbol": sign, "size": size, "color": colour},
        customdata=[[name, figure_text(row.setting, 60)] for row in frontier.rows],
        hovertemplate=text.HOVER_LINE,
    )


def _apart(ends: NDArray[np.float64], low: float, high: float) -> NDArray[np.float64]:
    """Heights of labels near the ends of their lines, none upon another."""
    step = (high - low) / 16
    order = np.argsort(ends)
    steps = step * np.arange(len(ends))
    placed = np.maximum.accumulate(np.clip(ends[order], low + step / 2, high) - steps) + steps
    placed = np.minimum(placed, high - step / 2 - steps[::-1])
    found = np.empty(len(ends))
    found[order] = placed
    return found


def ranking(found: Compared) -> go.Figure:
    """One row a method, the most accurate first: its points less fairfl's, with an interval."""
    figure = go.Figure()
    ranked = found.ranked
    rows = np.arange(len(ranked))
    less = np.array([_less(line) for line in ranked])
    error = np.array([200 * x.difference.standard_error if x.difference else 0 for x in ranked])
    low = min(max(np.nanmin(less - error, initial=-0.5), LEAST), -0.5)
    high = max(np.nanmax(less + error, initial=0.3), 0.3)
    colours = _colours(found)
    colour = [colours.get(line.method, GREY) for line in ranked]
    figure.add_vline(x=0, line={"color": GROUP_COLOURS[0], "width": 1.5})
    figure.add_scatter(
        x=segments(less - error, less + error),
        y=np.repeat(rows, 3),
        mode="lines",
        line={"color": translucent(GREY, 0.7), "width": 3},
        hoverinfo="skip",
    )
    shown = np.clip(less, low, None)
    written = [text.VERDICTS[line.verdict] or text.FAIRFL for line in ranked]
    figure.add_scatter(
        x=shown,
        y=rows,
        mode="markers",
        marker={
            "symbol": [
                "triangle-left" if value < low else SIGNS.get(line.verdict, "circle")
                for value, line in zip(less, ranked, strict=True)
            ],
            "size": 11,
            "color": colour,
            "line": {"width": 2, "color": colour},
        },
        customdata=[
            [figure_text(text.title(x.title)), y] for x, y in zip(ranked, written, strict=True)
        ],
        hovertemplate=text.HOVER_RANK,
    )
    for row, line in enumerate(ranked):
        here = {"y": row, "showarrow": False, "xanchor": "left"}
        off = bool(less[row] < low)
        if line.at is not None:
            figure.add_annotation(x=1.01, xref="paper", text=f"{100 * line.mean:.1f} %", **here)
        if off or line.at is None:
            words = f"   −{abs(less[row]):.1f}" if off else text.UNREACHED
            figure.add_annotation(x=low + 0.02 * (high - low), text=words, **here)
    return laid_out(
        figure,
        HEIGHT,
        margin_r=56,
        showlegend=False,
        hovermode="closest",
        xaxis={"title": text.AXIS_LESS, "range": [low - 0.05, high + 0.05]},
        yaxis=named_rows([figure_text(text.short_title(line), 28) for line in ranked]),
    )


def _less(line: Line) -> float:
    """A method's points less fairfl's."""
    if line.is_fairfl and line.at is not None:
        return 0.0
    return float("nan") if line.difference is None else -100 * line.difference.mean


def paper_map(heat: Frontier) -> go.Figure:
    """A map of the paper's six limits, its accuracy printed in each block."""
    accuracy = 100 * heat.accuracy
    low, high = colour_limits(accuracy)
    ticks = [f"{value:.2f}" for value in heat.eps_global]
    figure = go.Figure()
    figure.add_heatmap(
        z=accuracy,
        x=ticks,
        y=ticks,
        colorscale=CIVIDIS,
        zmin=low,
        zmax=high,
        showscale=False,
        texttemplate="%{z:.1f}",
        xgap=1,
        ygap=1,
        hovertemplate=text.HOVER_CELL,
    )
    return laid_out(
        figure,
        360,
        xaxis={"type": "category", "title": "overall, ε₀"},
        yaxis={"type": "category", "title": "inside each, ε<sub>c</sub>"},
    )
