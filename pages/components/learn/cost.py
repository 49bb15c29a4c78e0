"""Step 8: what fairness costs, read from one map of a real experiment."""

import numpy as np
import pandas as pd
import streamlit as st

from fairfl_core.errors import InputError
from fairfl_core.solving.frontier import Frontier
from pages.components.learn.drawn import beside
from pages.components.learn.widgets import Question, answered, ask, forget
from pages.components.session import controls
from pages.components.shared import figures, words
from pages.components.shared.charts import chart, part
from pages.components.shared.results import Choice, experiment_of, heat_of, heavy

TITLE = "What it costs"
TIGHT = 0.01
ALIKE = 0.0005  # a twentieth of a point
OPTIONS = (
    "The limit inside each client (local)",
    "The limit overall (global)",
    "Both cost about the same",
)


def show(choice: Choice) -> None:
    """Lay the step out."""
    found = heat = None
    with part("The map"):
        if heavy(choice, map_only=True):
            raise InputError(
                "with so many clients it takes long; choose another experiment in the sidebar."
            )
        bar = st.empty()
        heat = heat_of(choice, progress=lambda share: bar.progress(share, "Solving the map"))
        bar.empty()
        found = _costs(heat)
    left, right = beside()
    with left:
        st.markdown(
            "Now real people. Each cell of the map is one pair of limits, solved: the accuracy "
            "that the best lottery keeps on the people it was fitted on. Top right asks for "
            "little, bottom left for much. Where the map stays light, fairness is free."
        )
        if found is not None:
            ask(_question(*found))
        st.caption("Before you rely on any of it: *What no metric settles*, below.")
        st.page_link("pages/explore.py", label="**Go and explore**: move both limits yourself")
        st.button("Start the lesson anew", on_click=forget, type="tertiary", key="learn-anew")
    with right, part("The map"):
        if heat is not None:
            _map(choice, heat)


def _costs(heat: Frontier) -> tuple[float, float]:
    """Accuracy lost to a tight local limit alone, and to a tight global one alone."""
    row, column = (
        int(np.argmin(np.abs(axis - TIGHT))) for axis in (heat.eps_local, heat.eps_global)
    )
    best = heat.accuracy[-1, -1]
    return float(best - heat.accuracy[row, -1]), float(best - heat.accuracy[-1, column])


def _question(local: float, overall: float) -> Question:
    right = 2 if abs(local - overall) <= ALIKE else 0 if local > overall else 1
    return Question(
        8,
        f"In this experiment, which costs more accuracy: at most {TIGHT} inside each client, or "
        f"at most {TIGHT} overall?",
        OPTIONS,
        right,
        f"Local alone costs {words.points(local)}, global alone {words.points(overall)}. "
        "Both marks are on the map. What holds on unseen people, and for whom, is on the "
        "Explore page.",
    )


def _map(choice: Choice, heat: Frontier) -> None:
    known = answered(8)
    loose = float(heat.eps_global[-1])
    figure = figures.heat_map(
        heat,
        here=(TIGHT, loose) if known else (loose, loose),
        pinned=(loose, TIGHT) if known else None,
        height=440,
    )
    figure.update_traces(name="global limit alone" if known else "hardly a limit",
                         selector={"name": "you are here"})  # fmt: skip
    figure.update_traces(name="local limit alone", selector={"name": "A (pinned)"})
    table = pd.DataFrame(
        100 * heat.accuracy, columns=[f"overall {value:g}" for value in heat.eps_global]
    )
    table.insert(0, "inside each client", heat.eps_local)
    title = words.plain(experiment_of(choice.experiment).manifest["title"], 90)
    chart(
        figures.size_of_type(figure, controls.large_type()),
        reading=f"**{title}**, {words.NOTIONS[choice.notion][0].lower()}: accuracy for each pair "
        "of limits, on validation. The sidebar chooses another.",
        table=table.round(2),
        name="lesson-map",
        key="learn-map",
    )
