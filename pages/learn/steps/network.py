"""Step 1: what a federated model is, and why there are two fairnesses."""

from typing import Any

import pandas as pd
import streamlit as st

from fairfl_core.evaluation.evaluation import Evaluation
from fairfl_core.teaching import hospitals as lesson
from fairfl_core.teaching.messages import demo_log
from pages.learn import charts, text
from pages.learn.widgets import ask, picture
from pages.shared.charts import error_boundary, table_popover


def show(shown: Any, words: Any) -> None:
    """Lay the step out: the picture, and the words beside it."""
    with words:
        st.markdown(text.NETWORK)
        known = ask(text.NETWORK_QUESTION)
    with shown, error_boundary(text.PICTURES[0]):
        judged = lesson.untouched(lesson.network(), "eop")
        picture(
            st.container(),
            charts.network(judged, known),
            spoken=text.NETWORK_SPOKEN,
            reading=text.network_after(judged) if known else "",
            table=_sent(judged) if known else _people(judged),
            key="learn-network",
        )
        if known:
            _travelled()


def _travelled() -> None:
    """What one client of a real run sent and received."""
    log = demo_log()
    rows = [
        (text.WAYS[one.way], one.kind, one.bytes, one.purpose, one.tables) for one in log.messages
    ]
    st.markdown(text.travelled(log))
    table_popover(
        pd.DataFrame(rows, columns=list(text.TRAVELLED_COLUMNS)),
        key="learn-messages",
        label=text.TRAVELLED,
    )


def _people(judged: Evaluation) -> pd.DataFrame:
    counts = judged.counts
    return pd.DataFrame({text.HOSPITAL: counts.clients, text.PEOPLE: counts.n_client})


def _sent(judged: Evaluation) -> pd.DataFrame:
    """What each hospital sends, and the share that follows from it."""
    counts = judged.counts
    rows = [
        [client, group, *counts.table[c, a].ravel(), round(judged.rates[c, a, 0], 3)]
        for c, client in enumerate(counts.clients)
        for a, group in enumerate(counts.groups)
    ]
    return pd.DataFrame(rows, columns=list(text.NETWORK_COLUMNS))
