"""What is asked beyond the two limits: floors, ratios, what counts as good."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from fairfl_core._io.names import plain
from fairfl_core.data.datasets import DATASETS
from fairfl_core.data.experiments import Experiment
from fairfl_core.errors import InputError
from fairfl_core.lp.policy import Floor, GroupingLimit, Policy
from fairfl_core.lp.policy_file import PolicyFile
from fairfl_core.lp.utility import ACCURACY, BALANCED, Utility
from pages.explore import text
from pages.shared import state
from pages.shared import text as shared_text
from pages.shared.catalogue import catalogue, experiment_of, noun_of
from pages.shared.codecs import between, one_of
from pages.shared.results import Collided, policy_cost
from pages.shared.view import View, with_policy
from pages.shared.widgets import error_boundary, lazy

COLLIDES = text.COLLIDES

OFF = -1.0  # what a slider shows where nothing is asked
KEEPS = (0.3, 0.2, 0.15, 0.1, 0.05, 0.02, 0.01, 0.0)
FLOORS = tuple(round(0.05 * step, 2) for step in range(1, 21))
RATIOS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)
GAPS = (0.3, 0.2, 0.15, 0.1, 0.075, 0.05, 0.03, 0.02, 0.01, 0.0)
FOUR_FIFTHS = 0.8
POLICY_FILE, POLICY_SAID = "policy-file-upload", "policy-file-said"  # in the session
EVERY = "*"  # every label at once; no label is called so by a link


def asked_for(view: View, *, solved: bool) -> None:
    """Nobody left worse off, ratios, other groups, what counts as good, without the group.

    What all of it costs is shown where it is `solved`.
    """
    experiment = experiment_of(view.data)
    policy = view.policy
    left, right = st.columns(2, gap="medium")
    with left:
        _part(text.FLOORS, "floors", lambda: _floors(policy, experiment), bool(policy.floors))
        own_aim = policy.utility != ACCURACY
        _part(text.GOOD, "good", lambda: _utility(policy, experiment), own_aim)
        _without_group(view)
    with right:
        sure, columns = (
            view.guarantee is not None,
            experiment.grouping and experiment.grouping.columns,
        )
        _part(text.RATIOS, "ratios", lambda: _ratios(policy, sure=sure), policy.has_ratios)
        if columns and not sure:
            groupings = partial(_groupings, policy, columns)
            _part(text.GROUPINGS, "groupings", groupings, bool(policy.limits))
        _part(text.EXACT, "exact", lambda: _exact_limits(view))
        _part(text.POLICY_FILE, "policy-file", _policy_file)
    if solved and not policy.is_plain:
        with error_boundary(text.POLICY_COST):
            st.caption(text.policy_cost(*policy_cost(view)))


def _part(title: str, key: str, draw: Callable[[], None], opened: bool = False) -> None:
    lazy(st.expander, title, f"expander-{key}", draw, expanded=opened)


def _exact_limits(view: View) -> None:
    """Both limits as numbers, for values between the sliders' steps."""
    for column, name, label in zip(
        st.columns(2),
        ("eps_global", "eps_local"),
        (shared_text.OVERALL, shared_text.INSIDE.format(noun_of(view.data))),
        strict=True,
    ):
        key = state.widget(f"{name}_number", getattr(view, name))
        column.number_input(
            label,
            0.0,
            1.0,
            step=0.005,
            format="%.4g",
            key=key,
            on_change=lambda name=name, key=key: state.change(**{name: st.session_state[key]}),
        )


def _policy_file() -> None:
    """Take all limits from a policy file; *Files* has one."""
    st.file_uploader(text.POLICY_UPLOAD, "toml", key=POLICY_FILE, on_change=_take_policy)
    words = st.session_state.get(POLICY_SAID)
    if words:
        st.caption(plain(words, 400))


def _take_policy() -> None:
    upload = st.session_state[POLICY_FILE]
    if upload is None:
        st.session_state.pop(POLICY_SAID, None)
        return
    try:
        asked = PolicyFile.from_toml(upload.getvalue())
        state.change(**vars(with_policy(state.view(), asked, catalogue())))
        on = f" on {asked.decided_on}" if asked.decided_on else ""
        by = text.POLICY_BY.format(by=asked.decided_by, on=on) if asked.decided_by else ""
        st.session_state[POLICY_SAID] = f"{text.POLICY_TAKEN} {by}"
    except InputError as error:
        st.session_state[POLICY_SAID] = f"{upload.name}: {error}"


def _without_group(view: View) -> None:
    """One rule for all groups; where scores are looked at, for two labels (or to switch it off)."""
    many = view.answers_by_scores and len(experiment_of(view.data).labels) > 2
    if many and not view.policy.without_group:
        return
    key = state.widget("without_group", view.policy.without_group)
    st.toggle(
        text.WITHOUT_GROUP,
        key=key,
        help=text.WITHOUT_GROUP_TIP,
        on_change=lambda: _ask(without_group=st.session_state[key]),
    )


def _ask(**changes: Any) -> None:
    """Change the policy (from a callback)."""
    state.change(policy=replace(state.view().policy, **changes))


# -------------------------------------------------------------------- floors


def _floors(policy: Policy, experiment: Experiment) -> None:
    labels = experiment.labels
    chosen = state.Setting("floor_label", experiment.favourable, one_of((EVERY, *labels)))
    st.caption(text.FLOORS_MEANING)
    which, lose, least = st.columns([2, 3, 3], vertical_alignment="bottom")
    which.selectbox(
        text.FLOOR_LABEL,
        (EVERY, *labels),
        format_func=lambda label: text.EVERY_LABEL if label == EVERY else label,
        **state.bound(chosen),
    )
    label = state.get(chosen)
    names = labels if label == EVERY else (label,)
    with lose:
        _floor_slider(policy, names, KEEPS, text.FLOOR_KEEP, keeps=True)
    with least:
        _floor_slider(policy, names, FLOORS, text.FLOOR, keeps=False)
    if policy.floors:
        st.caption(text.floors_asked(policy.floors))


def _floor_slider(
    policy: Policy,
    labels: tuple[str, ...],
    offered: tuple[float, ...],
    label: str,
    *,
    keeps: bool,
) -> None:
    """One slider over the floors of one kind, of one label or of all."""
    mine = [
        floor
        for floor in policy.floors
        if (floor.keeps is not None) == keeps and floor.label in labels
    ]
    values = {floor.keeps if floor.keeps is not None else floor.rate for floor in mine}
    value = values.pop() if len(values) == 1 and len(mine) == len(labels) else None

    def take(asked: float | None) -> None:
        others = tuple(floor for floor in state.view().policy.floors if floor not in mine)
        new: list[Floor] = []
        if asked is not None:
            new = [Floor(name, keeps=asked) if keeps else Floor(name, asked) for name in labels]
        _ask(floors=(*others, *new))

    _slider(label, "keep" if keeps else "floor", offered, value, take, falling=keeps)


def _slider(
    label: str,
    name: str,
    offered: tuple[float, ...],
    value: float | None,
    take: Callable[[float | None], None],
    *,
    falling: bool = False,
) -> None:
    """A slider that begins with "off"; `take` gets what is asked then, None for nothing."""
    now = OFF if value is None else value
    options = (OFF, *sorted({*offered, now} - {OFF}, reverse=falling))
    key = state.widget(name, now)

    def moved() -> None:
        asked = st.session_state[key]
        take(None if asked == OFF else asked)

    st.select_slider(
        label,
        options,
        format_func=lambda value: "off" if value < 0 else f"{value:g}",
        key=key,
        on_change=moved,
    )


# -------------------------------------------------------------------- ratios


def _ratios(policy: Policy, *, sure: bool) -> None:
    if sure:
        st.caption(text.NO_SURE_RATIOS)
        return
    st.caption(text.RATIOS_MEANING)
    for column, field, label in zip(
        st.columns(2),
        ("ratio_global", "ratio_local"),
        (text.RATIO_OVERALL, text.RATIO_INSIDE),
        strict=True,
    ):
        with column:
            now = getattr(policy, field)
            _slider(label, field, RATIOS, now, lambda asked, field=field: _ask(**{field: asked}))  # type: ignore[misc]
    st.button(
        text.FOUR_FIFTHS_RULE,
        key="four-fifths",
        on_click=_ask,
        kwargs={"ratio_global": FOUR_FIFTHS, "ratio_local": FOUR_FIFTHS},
    )


# -------------------------------------------------------------------- other groupings


def _groupings(policy: Policy, columns: tuple[str, ...]) -> None:
    """A limit between the groups of each column alone, overall and inside each client."""
    st.caption(text.GROUPINGS_MEANING)
    for column in columns:
        cells = st.columns(2)
        for cell, scope in zip(cells, ("global", "local"), strict=True):
            with cell:
                _grouping_slider(policy, column, scope)


def _grouping_slider(policy: Policy, grouping: str, scope: str) -> None:
    mine = [one for one in policy.limits if (one.grouping, one.scope) == (grouping, scope)]

    def take(asked: float | None) -> None:
        others = tuple(one for one in state.view().policy.limits if one not in mine)
        new = () if asked is None else (GroupingLimit(grouping, scope, asked),)
        _ask(limits=(*others, *new))

    label, now = text.grouping_limit(grouping, scope), mine[0].eps if mine else None
    _slider(label, f"limit_{grouping}_{scope}", GAPS, now, take, falling=True)


# -------------------------------------------------------------------- what counts as good


def _utility(policy: Policy, experiment: Experiment) -> None:
    kinds = {"accuracy": ACCURACY, "balanced": BALANCED, "table": None}
    now = policy.utility.name if not policy.utility.labels else "table"
    key = state.widget("utility_kind", now)
    times = state.Setting("missed", _missed(experiment), between(0.0, 1000.0))

    def chosen() -> None:
        kind = st.session_state[key] or "accuracy"
        _ask(utility=kinds[kind] or _missing(experiment, state.get(times)))

    st.segmented_control(
        text.UTILITY,
        list(kinds),
        format_func=lambda kind: text.UTILITIES[kind],
        key=key,
        on_change=chosen,
        required=True,
    )
    st.caption(text.UTILITY_MEANING[now])
    if policy.utility.labels:
        st.number_input(
            text.MISSED.format(experiment.favourable),
            0.0,
            1000.0,
            step=1.0,
            format="%g",
            width=420,
            **state.bound(times, lambda: _ask(utility=_missing(experiment, state.get(times)))),
        )
        _gains(policy.utility)


def _missed(experiment: Experiment) -> float:
    dataset = DATASETS.get(experiment.manifest["dataset"].get("dataset", ""))
    return dataset.missed if dataset is not None else 3.0


def _missing(experiment: Experiment, times: float) -> Utility:
    return Utility.missing(experiment.labels, experiment.favourable, times)


def _gains(utility: Utility) -> None:
    """The table of gains and costs, to edit: a row a true label, a column an answer."""
    key = f"gains-{hash(utility)}"
    table = pd.DataFrame(
        utility.gain,
        index=[text.TRULY.format(label) for label in utility.labels],
        columns=[text.ANSWERED.format(label) for label in utility.labels],
    )

    def edited() -> None:
        rows = [list(row) for row in utility.gain]
        for row, cells in st.session_state[key]["edited_rows"].items():
            for column, value in cells.items():
                rows[row][list(table.columns).index(column)] = float(value or 0.0)
        try:
            _ask(utility=Utility(text.OWN_TABLE, utility.labels, tuple(map(tuple, rows))))
        except InputError as error:
            st.session_state["gains_refused"] = str(error)

    st.data_editor(table, key=key, on_change=edited, width="content")
    why = st.session_state.pop("gains_refused", "")
    if why:
        st.warning(shared_text.refused(why))


# -------------------------------------------------------------------- collisions


def collision(view: View, met: Collided) -> None:
    """Limits and floors collide: who, and a way out to either side."""
    with st.container(border=True):
        st.markdown(text.collision(met))
        with st.container(horizontal=True):
            if met.least_local is not None and met.least_global is not None:
                limits = {
                    "eps_global": max(met.least_global, view.eps_global),
                    "eps_local": max(met.least_local, view.eps_local),
                }
                st.button(
                    text.widen(limits["eps_local"], limits["eps_global"]),
                    key="collision-widen",
                    on_click=state.change,
                    kwargs=limits | {"own_limits": ()},
                )
            st.button(
                text.lower(met.lowered.floors),
                key="collision-lower",
                on_click=state.change,
                kwargs={"policy": met.lowered},
            )
