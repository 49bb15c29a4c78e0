"""Your data: bring a model's predictions or counts, check them, leave with a fair predictor."""

import shlex

import numpy as np
import pandas as pd
import streamlit as st

from fairfl_core.intake import Taken
from fairfl_core.people.counts import ClientCounts
from pages.components.session import controls, own_data, state
from pages.components.shared import report, words
from pages.components.shared.charts import part, table_below
from pages.components.shared.results import Choice, experiment_of, study_of
from pages.components.your_data import upload
from pages.components.your_data.model_card import APPLY, model_card

PREDICTOR = "fairfl-predictor.json"


def page() -> None:
    """Lay the page out, top to bottom."""
    choice = controls.sidebar()
    held = own_data.current()
    if held is None:
        st.markdown("#### Bring your model's predictions and leave with a fair predictor.")
        _promise()
        with part("The upload"):
            upload.bring()
        return
    taken = held.taken
    mine = choice.experiment == held.name
    if mine:
        _live(choice)
    else:
        st.markdown("#### Your set is here, but the sidebar shows another experiment.")
        st.button("Choose your set", on_click=state.put, args=("experiment", held.name))
    with part("The checks"):
        _checks(taken)
    if mine:
        with part("What to take along"):
            _take_along(choice, taken)
    with st.expander("Bring another set, or remove this one"):
        _promise()
        st.button("Remove this set now", on_click=upload.remove, key="remove-set")
        with part("The upload"):
            upload.bring()


def _promise() -> None:
    st.markdown(
        "Your file stays in the memory of this server, for this session only: it is not written "
        "to disk, no other visitor can see it, and it is gone when you close the page or bring "
        "another. With counts, no record of a person leaves your clients at all."
    )


@st.fragment
def _live(choice: Choice) -> None:
    """The result and the two tolerances: only this is re-run when one moves."""
    place = st.container()
    eps_global, eps_local = controls.epsilons()
    controls.preset_buttons()
    own = controls.own_epsilons(experiment_of(choice.experiment).clients)
    with place, part("The headline"):
        study = study_of(choice, eps_global, eps_local, tuple(own.items()))
        st.markdown(f"#### {words.headline(study)}")
        if not study.has_held_out:
            st.markdown(f"**{words.NO_CHECK.capitalize()}**: there are only counts.")
    with st.container(horizontal=True):
        for path, label in (
            ("pages/explore.py", "See the map and every client's gap"),
            ("pages/clients.py", "One client at a time"),
            ("pages/privacy.py", "What noise would do"),
        ):
            st.page_link(path, label=label)


def _checks(taken: Taken) -> None:
    look = [check for check in taken.checks if check.look]
    rest = [check for check in taken.checks if not check.look]
    st.markdown("#### Before you trust a number")
    st.markdown(
        "\n".join(
            f"- {'**Look:** ' * check.look}{words.plain(check.sentence, longest=900)}"
            for check in (*look, *rest)
        )
    )
    experiment = taken.experiment
    tables = {split: experiment.counts(0, split) for split in ("validation", "test")}
    table_below(
        people_table({name: counts for name, counts in tables.items() if counts is not None}),
        name="people", key="your-people", title="People by client and group",
    )  # fmt: skip


def people_table(tables: dict[str, ClientCounts]) -> pd.DataFrame:
    """People of each client, in all and by group, over all splits."""
    first = next(iter(tables.values()))
    people = np.sum([counts.table.sum(axis=(2, 3)) for counts in tables.values()], axis=0)
    table = pd.DataFrame({"client": first.clients, "n": people.sum(axis=1)})
    for place, group in enumerate(first.groups):
        table[f"group {group}"] = people[:, place]
    return table.round()


def _take_along(choice: Choice, taken: Taken) -> None:
    st.markdown("#### Take it along")
    current = controls.setting_of_the_moment(choice.experiment, taken.experiment)
    left, right = st.columns([2, 3], gap="large")
    with left:
        st.markdown(
            "The **predictor** is what you deploy. The **model card** says what was requested, "
            "reached and held out. The **report** is to show."
        )
        for label, made, file, mime in (
            ("Fair predictor (JSON)", report.predictor_json, PREDICTOR, "application/json"),
            ("Model card (HTML)", model_card, "fairfl-model-card.html", "text/html"),
            ("Full report (HTML)", report.html_report, "fairfl-report.html", "text/html"),
        ):
            st.download_button(
                label, lambda made=made: made(current()), file_name=file, mime=mime,
                key=f"yours-{file}", on_click="ignore", width="stretch",
            )  # fmt: skip
    with right:
        st.markdown("**At a client**, from a shell:")
        st.code(_command(taken, choice.region), language="shell", wrap_lines=True)
        st.markdown(
            "The exact region looks at scores, so only the package applies it."
            if choice.region == "exact"
            else "or in any Python, without a package:"
        )
    if choice.region != "exact":
        st.code(APPLY.read_text(encoding="utf-8"), language="python", height=330)


def _command(taken: Taken, region: str) -> str:
    """The command that applies the predictor, with the columns' own names."""
    columns = taken.columns
    names = {
        "client": columns.client if columns else "hospital",
        "group": columns.group if columns else "sex",
        "prediction": columns.prediction if columns and columns.prediction else "prediction",
    }
    if region == "exact" and columns:
        del names["prediction"]
        names["scores"] = ",".join(column for _, column in columns.scores)
    options = " ".join(f"--{name} {shlex.quote(value)}" for name, value in names.items())
    return f"fairfl predict {PREDICTOR} new-rows.csv {options} --row-id patient --out fair.csv"


page()
