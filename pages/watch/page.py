"""Watch: bring each month's counts and see whether the limits are still kept."""

import json
from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from fairfl_core._io.files import parse_json
from fairfl_core._io.names import plain
from fairfl_core.data.counts import ClientCounts
from fairfl_core.errors import InputError
from fairfl_core.evaluation.verdict import SHAPES
from fairfl_core.lp.policy_file import PolicyFile
from fairfl_core.monitoring.months import Month, example_year, month_from_json, ordered
from fairfl_core.monitoring.watch import Watch
from pages.shared import own_data
from pages.shared.frame import frame
from pages.shared.results import counts_of
from pages.shared.view import policy_file_of
from pages.shared.widgets import chart, download, error_boundary, limit_slider, table_popover
from pages.watch import charts, text

LARGEST, MOST = 4 << 20, 520
IN_A_ROW = 4  # pictures
LONGEST = 600  # letters of a sentence with names in it


def page() -> None:
    """Lay the page out, top to bottom."""
    with frame() as view:
        left, right = st.columns([3, 2], gap="medium", vertical_alignment="bottom")
        with left.container(horizontal=True, vertical_alignment="center"):
            st.markdown(text.TITLE, width="content")
            with st.popover(text.BRING, help=text.BRING_TIP):
                given = st.file_uploader(text.BASELINE, type="json", key="watch-baseline")
                files = st.file_uploader(
                    text.MONTHS, type="json", accept_multiple_files=True, key="watch-months"
                )
                st.caption(text.OWN_BASELINE)
            if not files:
                st.caption(text.EXAMPLE, width="content")
        with right.container(horizontal=True):  # all that is judged
            for limit in ("eps_global", "eps_local") if files else ("eps_local",):
                limit_slider(limit, alone=not files)
        with error_boundary(text.PICTURE):
            if files:
                asked, (baseline, months) = policy_file_of(view), _brought(given, files)
            else:
                asked = PolicyFile("eop", 1.0, view.eps_local if view.eps_local < 1 else 0.05)
                baseline, months = example_year()
            _show(Watch(asked, baseline, months))


def _brought(given: Any, files: Sequence[Any]) -> tuple[ClientCounts, list[Month]]:
    """The baseline and the months that were brought, checked."""
    if len(files) > MOST:
        raise InputError(text.TOO_MANY.format(many=len(files)))
    months = []
    for file in files:
        try:
            months.append(month_from_json(_parsed(file), file.name))
        except InputError as error:
            raise InputError(f"{file.name}: {error}") from error
    if given is not None:
        return ClientCounts.from_json(_parsed(given)), ordered(months)
    held = own_data.current()
    if held is None:
        raise InputError(text.NO_BASELINE)
    experiment = held.intake.experiment
    counts = counts_of(held.name, experiment.seeds[0], experiment.fit_split)
    if counts is None:
        raise InputError(text.NO_BASELINE)
    return counts, ordered(months)


def _parsed(file: Any) -> Any:
    if file.size > LARGEST:
        raise InputError(text.TOO_LARGE.format(name=file.name))
    return parse_json(file.getvalue(), file.name)


def _show(watch: Watch) -> None:
    """The verdict, the picture, what drifted, and what to do next."""
    st.markdown(f"{SHAPES[watch.word]} **{watch.word}**: {plain(text.headline(watch), LONGEST)}")
    st.html(charts.key())
    scopes = charts.shown(watch)
    for place, one in enumerate(scopes):
        if place % IN_A_ROW == 0:
            columns = st.columns(min(len(scopes), IN_A_ROW), gap="small")
        with columns[place % IN_A_ROW]:
            st.markdown(plain(f"{SHAPES[one.word]} {text.where(one)}", 24))
            chart(
                charts.over_time(watch, one),
                key=f"watch-{place}",
                spoken=text.spoken(watch, one),
            )
    table_popover(lambda: table_of(watch), key="watch")
    for one in watch.broken[:3]:
        st.caption(plain(text.broken(watch, one), LONGEST))
    for note in watch.notes:
        st.caption(plain(note, LONGEST))
    if watch.broken and st.button(text.AGAIN, type="primary", key="watch-again"):
        with error_boundary(text.NEXT):
            solution, predictor = watch.solve_again()
            st.markdown(watch.cost_sentence(solution))
            file = json.dumps(predictor.to_json())
            download(text.PREDICTOR, file, "fairfl-predictor.json", "watch-predictor")


def table_of(watch: Watch) -> pd.DataFrame:
    """One row a limit."""
    rows = [
        {
            "client": text.where(one),
            "verdict": one.word,
            "gap": round(float(one.gap[-1]), 3),
            "gap_low": round(float(one.low[-1]), 3),
            "gap_high": round(float(one.high[-1]), 3),
            "gap asked": one.eps,
            "people": int(one.people[-1]),
            "found in": "" if one.broke is None else watch.periods[one.broke],
            "probably since": "" if one.since is None else watch.periods[one.since],
        }
        for one in watch.scopes
    ]
    return pd.DataFrame(rows)


page()
