"""Parts of a page about those who are worse off, and about rates that nobody asked for."""

import pandas as pd
import streamlit as st

from fairfl_core.evaluation.all_rates import AllRates, all_rates_of
from fairfl_core.evaluation.harm import Harm
from fairfl_core.evaluation.study import Study
from fairfl_core.evaluation.summary import Summary
from pages.explore.old_client_choice import MOST
from pages.shared import harm_figures as figures
from pages.shared import harm_text as text
from pages.shared import present, state
from pages.shared.charts import badge, chart, table_below
from pages.shared.codecs import OneOf

__all__ = [
    "alarm_banner",
    "alarm_table",
    "client_alarm",
    "label_choice",
    "rates_of",
    "recognition_part",
]


def rates_of(study: Study) -> AllRates:
    """Every rate of a study, on unseen people where there are any."""
    return all_rates_of(study.evaluations(unseen=study.has_held_out))


# -------------------------------------------------------------------- alarms


def alarm_banner(harm: Harm) -> None:
    """Who is worse off, before anything else is told; nothing where nobody is."""
    if not harm.alarms:
        return
    with st.container(border=True, key="alarm"):
        title = badge(text.alarm_title(harm), "red" if harm.beyond_chance else "orange")
        lines = "\n".join(f"- {line}" for line in text.alarm_lines(harm))
        st.markdown(f"{title}\n\n{lines}\n\n{text.alarm_rest(harm)}")
        _every_alarm(harm)


def client_alarm(harm: Harm, client: str) -> None:
    """Who is worse off in one client, and in which others someone is."""
    own = harm.by_client.get(client)
    others = text.elsewhere(harm, client)
    if own is None:
        if others:
            st.caption(others)
        return
    with st.container(border=True, key="alarm"):
        title = badge(text.client_title(own), "red" if own.beyond_chance else "orange")
        st.markdown("\n\n".join(filter(None, (title, text.client_line(own, 4), others))))
        _every_alarm(harm)


def _every_alarm(harm: Harm) -> None:
    if harm.lost:
        table_below(
            lambda: alarm_table(harm).round(4),
            name="alarms",
            title=text.EVERY_ALARM,
            headings=text.ALARM_COLUMNS,
        )


def alarm_table(harm: Harm) -> pd.DataFrame:
    """Every label that is lost somewhere, worst first."""
    return pd.DataFrame(
        [
            {
                "where": text.where(alarm.client),
                "group": alarm.group,
                "label": alarm.label,
                "before": alarm.before,
                "after": alarm.after,
                "low": alarm.low,
                "high": alarm.high,
                "n": alarm.n,
                "beyond_chance": alarm.beyond_chance,
            }
            for alarm in harm.lost
        ]
    )


# -------------------------------------------------------------------- recognition


def label_choice(harm: Harm) -> str:
    """The label that pictures are of: the favourable one until another is chosen."""
    others = [label for label in harm.labels if label != harm.favourable]
    labels = (harm.favourable, *others)
    setting = state.Setting("label", labels[0], OneOf(labels))
    st.selectbox(text.LABEL, labels, help=text.LABEL_TIP, width=320, **state.bound(setting))
    return state.get(setting)


def recognition_part(summary: Summary) -> None:
    """How often a label is recognised before and after, and how its gaps were closed."""
    harm = summary.harm
    label = label_choice(harm)
    place = {name: at for at, name in enumerate(harm.scopes)}
    worst_first = dict.fromkeys([*harm.clients, *harm.scopes[1:]])
    at = [place[name] for name in (None, *list(worst_first)[:MOST])]
    every = harm.recognition_columns(at)
    drawn = {name: values[every["label"] == label] for name, values in every.items()}
    clients = [text.where(name) for name in drawn["client"]]
    chart(
        figures.recognition(drawn | {"client": clients}, harm.groups),
        reading=text.recognition_reading(
            label, unseen=summary.unseen is not None, runs=summary.runs
        ),
        table=lambda: _recognition_table(harm).round(4),
        headings=text.RECOGNITION_COLUMNS,
        name="recognition",
        key="explore-recognition",
    )
    if present.presenting():  # one picture a screen
        return
    closed = [gap for gap in harm.closed if gap.rate.answer == label]
    lines = "\n".join(f"- {line}" for line in text.closed_lines(closed) or [text.NOTHING_CLOSED])
    st.markdown(f"{text.CLOSED}\n\n{lines}")


def _recognition_table(harm: Harm) -> pd.DataFrame:
    """Recognition, with a word for everyone."""
    table = harm.recognition_table()
    return table.assign(client=[text.where(name) for name in table["client"]])
