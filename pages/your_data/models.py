"""A visitor's models side by side: accuracy against the gap that new people see."""

from collections.abc import Sequence
from itertools import pairwise

import pandas as pd
import streamlit as st

from fairfl_core.evaluation.methods import (
    MODEL_GAPS,
    ModelSetting,
    frontier,
    model_settings,
)
from pages.shared import own_data
from pages.shared.caching import cached
from pages.shared.charts import chart
from pages.shared.view import View
from pages.your_data import text
from pages.your_data.charts import model_frontiers

LEVELS = (0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3)
Settings = tuple[ModelSetting, ...]


@cached(4)
def settings_for(experiment: str, notion: str, region: str) -> tuple[Settings, ...]:
    """Every model of a visitor's table, as it is and under each limit."""
    models = own_data.find(experiment).intake.models
    return tuple(model_settings(model.name, model.experiment, notion, region) for model in models)


def best_at(settings: Settings, which: str, gap: float) -> ModelSetting | None:
    """A model's most accurate setting whose gap on new people is at most this."""
    within = [one for one in frontier(settings, which) if one.gap(which) <= gap]
    return within[-1] if within else None


def overlapping(settings: Sequence[ModelSetting]) -> bool:
    """Whether the intervals of some two neighbours' accuracies overlap, the best first."""
    ranked = sorted(settings, key=lambda one: -one.evaluation.accuracy)
    return any(
        worse.evaluation.accuracy_interval[1] > better.evaluation.accuracy_interval[0]
        for better, worse in pairwise(ranked)
    )


def settings_table(models: Sequence[Settings]) -> pd.DataFrame:
    """One row a model and limit, as `fairfl compare --json` tells it."""
    rows = [setting.to_json() for own in models for setting in own]
    for row in rows:
        for name in ("accuracy", "gap_global"):
            row[f"{name}_low"], row[f"{name}_high"] = row.pop(f"{name}_interval")
    return pd.DataFrame(rows)


@st.fragment
def show_models(view: View) -> None:
    """The choice of a gap, who is ahead there, and the picture."""
    left, right, _ = st.columns([2, 2, 5])
    which = left.selectbox(
        text.GAP, tuple(MODEL_GAPS), format_func=text.gap_choice, key="your-models-gap"
    )
    gap = right.selectbox(text.AT, LEVELS, LEVELS.index(0.05), key="your-models-at")
    models = settings_for(view.experiment, view.notion, view.region)
    shown = [own for own in models if own]
    best = {own[0].model: best_at(own, which, gap) for own in shown}
    there = [one for one in best.values() if one is not None]
    st.markdown(text.headline(best, which, gap, overlap=len(there) > 1 and overlapping(there)))
    chart(
        model_frontiers([frontier(own, which) for own in shown], which, gap),
        key="your-models",
        spoken=text.reading(shown, which),
        table=lambda: settings_table(shown).round(5),
        headings=text.HEADINGS,
        height=340,
    )
    st.caption(text.reading(shown, which))
