"""Bringing a set: choose files, confirm columns, take it in. Every refusal is a sentence."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from math import inf
from typing import Any, ParamSpec, TypeVar

import streamlit as st

from fairfl_core._io.names import as_name
from fairfl_core.budget import within
from fairfl_core.errors import InputError
from fairfl_core.intake import (
    EXAMPLE,
    EXAMPLE_FOLDS,
    MOST_MODELS,
    ColumnRoles,
    Intake,
    TableFile,
    apart,
    example_counts,
    example_folds,
    example_table,
    experiment_from_counts,
    experiment_from_table,
    guess_roles,
    guess_scores,
    labels_of,
    open_table,
)
from fairfl_core.people.counts import ClientCounts
from fairfl_core.people.score_kinds import SCORE_KINDS
from pages.shared import cache, own_data, refusals, state
from pages.shared.codecs import OneOf
from pages.your_data import text

__all__ = ["bring", "remove"]

KIND = state.Setting("bring", "table", OneOf(tuple(text.KINDS)))
_LOOKED = "looked-at"  # what the file's beginning shows: never the file
_COUNTED = "labels-of-counts"
_EXAMPLE = "use-example"
_REMOVED = "sets-removed"
Choose = Callable[..., str]
P = ParamSpec("P")
T = TypeVar("T")


def bring() -> None:
    """Both ways to bring a set."""
    st.segmented_control(
        text.KIND,
        tuple(text.KINDS),
        format_func=lambda kind: text.KINDS[kind],
        required=True,
        **state.bound(KIND),
    )
    try:
        if state.get(KIND) == "table":
            _table()
        else:
            _counts()
    except InputError as error:
        refusals.log_refusal(str(state.get(KIND)), _files(), error)
        st.warning(text.refused(str(error)))


def _files() -> list[Any]:
    """The files that lie in the uploader on the page."""
    held = [st.session_state.get(_uploader(kind)) or [] for kind in range(len(own_data.UPLOADERS))]
    return [file for files in held for file in (files if isinstance(files, list) else [files])]


def remove() -> None:
    """Let go of the set, of the file it came from and of what was seen of it."""
    own_data.drop()
    own_data.forget_uploads(always=True)
    for name in (_LOOKED, _COUNTED, _EXAMPLE):
        st.session_state.pop(name, None)
    st.session_state[_REMOVED] = st.session_state.get(_REMOVED, 0) + 1
    state.change()  # to the first of the experiments that are still there


def _uploader(kind: int) -> str:
    """The key of an uploader: another one once a set was removed, so that it starts empty."""
    times = st.session_state.get(_REMOVED, 0)
    return own_data.UPLOADERS[kind] + (f"-{times}" if times else "")


def _read(function: Callable[P, T], *given: P.args, **named: P.kwargs) -> T:
    """Read files for this visitor: in a process of its own if large, and only while they are here."""
    with within(cache.budget(seconds=inf)):  # it has a clock of its own
        return apart(function, *given, **named)


def _take(make: Callable[[], Intake], key: str) -> None:
    """The button that takes a set in; the page is laid out anew with it."""
    asked = f"{key}-asked"
    st.button(
        text.TAKE_IN,
        type="primary",
        key=key,
        on_click=lambda: st.session_state.update({asked: True}),
    )
    if st.session_state.pop(asked, False):
        with st.spinner(text.READING):
            held = own_data.hold(make())
            state.change(experiment=held.name)
        st.rerun()


# -------------------------------------------------------------------- a table


def _table() -> None:
    left, right = st.columns([3, 2], gap="large")
    with left:
        file = st.file_uploader(
            text.TABLE_FILE, type=["csv", "tsv", "txt", "parquet", "pq"], key=_uploader(0)
        )
    with right:
        _example(offered=file is None)
    if file is not None:
        st.session_state.pop(_EXAMPLE, None)
        upload = _looked_at(file.file_id, file.name, file.getvalue())
    elif st.session_state.get(_EXAMPLE):
        upload = _looked_at(EXAMPLE, EXAMPLE, example_table().encode())
    else:
        st.session_state.pop(_LOOKED, None)
        return
    st.markdown(text.WHICH_COLUMN)
    st.dataframe(upload.sample.head(8), hide_index=True, height=212, key="upload-preview")
    columns, favourable, join = _confirm(upload)
    _take(
        lambda: _read(experiment_from_table, upload, columns, favourable=favourable, join=join),
        "take-table",
    )


def _example(*, offered: bool) -> None:
    st.markdown(text.NOTHING_AT_HAND)
    with st.container(horizontal=True):
        st.button(
            text.TRY_EXAMPLE,
            key="try-example",
            disabled=not offered,
            on_click=lambda: st.session_state.update({_EXAMPLE: True}),
        )
        for label, make, name, key in (
            (text.EXAMPLE_FILE, example_table, EXAMPLE, "example-table"),
            (text.FOLDS_FILE, example_folds, EXAMPLE_FOLDS, "example-folds"),
        ):
            st.download_button(
                label, make, file_name=name, mime="text/csv", key=key, on_click="ignore"
            )


def _looked_at(file_id: str, name: str, data: bytes) -> TableFile:
    """What the beginning of a file shows, remembered without the file itself."""
    seen = st.session_state.get(_LOOKED)
    if seen is None or seen["id"] != file_id:
        upload = _read(open_table, name, data)
        seen = {"id": file_id, "upload": replace(upload, data=b""), "labels": {}}
        st.session_state[_LOOKED] = seen
    looked: TableFile = replace(seen["upload"], data=data)
    return looked


def _labels(upload: TableFile, column: str) -> tuple[str, ...]:
    known: dict[str, tuple[str, ...]] = st.session_state[_LOOKED]["labels"]
    if column not in known:
        known[column] = _read(labels_of, upload, column)
    return known[column]


def _confirm(upload: TableFile) -> tuple[ColumnRoles, str, bool]:
    """Select boxes for every role, the guess chosen; the favourable label; joining names."""
    guessed = guess_roles(upload)
    key = st.session_state[_LOOKED]["id"]
    columns = upload.columns

    def choose(
        cell: Any, role: str, label: str, value: str, options: Sequence[str], tip: str = ""
    ) -> str:
        index = list(options).index(value) if value in options else None
        name = f"column-{role}-{key}"
        box = cell.selectbox(
            label, options, index, key=name, help=tip or None, placeholder=text.CHOOSE
        )
        return "" if box is None else str(box)

    first, second = st.columns(4), st.columns(4)
    client = choose(first[0], "client", text.CLIENT, guessed.client, columns, text.CLIENT_TIP)
    group = choose(first[1], "group", text.GROUP, guessed.group, columns, text.GROUP_TIP)
    others = [column for column in columns if column != group]
    crossed = first[1].multiselect(
        text.CROSSED, others, key=f"column-crossed-{key}", help=text.CROSSED_TIP
    )
    label = choose(first[2], "label", text.LABEL, guessed.label, columns)
    split, fold, row_id = _parted_by((first[3], second[3]), guessed, columns, choose)
    labels = _labels(upload, label) if label else ()
    given = second[0].radio(
        text.GIVEN,
        tuple(text.GIVEN_AS),
        index=2 if guessed.probability else 1 if guessed.scores else 0,
        format_func=lambda kind: text.GIVEN_AS[kind],
        key=f"column-given-{key}",
    )
    favourable = ""
    if labels:
        favourable = choose(
            second[1], "favourable", text.FAVOURABLE, labels[-1], labels, text.FAVOURABLE_TIP
        )
    chosen = ColumnRoles(
        client, group, label, split=split, fold=fold, row_id=row_id, crossed_with=tuple(crossed)
    )
    if given == "answer":
        answer = choose(second[2], "answer", text.ANSWER, guessed.prediction, columns)
        chosen = replace(chosen, prediction=answer)
    elif given == "scores":
        chosen = replace(
            chosen,
            scores=_score_columns(upload, labels, choose),
            scores_are=choose(
                second[2], "kind", text.SCORES_ARE, SCORE_KINDS[0], SCORE_KINDS, text.SCORES_TIP
            ),
        )
    else:
        chosen = _one_probability(chosen, guessed, columns, labels, choose, second[2])
    models = st.multiselect(
        text.MODELS,
        columns,
        key=f"column-models-{key}",
        help=text.MODELS_TIP,
        placeholder=text.NO_MODELS,
        max_selections=MOST_MODELS - 1,
    )
    chosen = replace(chosen, models=tuple(models))
    join = st.toggle(text.JOIN, key=f"column-join-{key}", help=text.JOIN_TIP)
    return chosen, as_name(favourable), join


def _one_probability(
    chosen: ColumnRoles,
    guessed: ColumnRoles,
    columns: Sequence[str],
    labels: Sequence[str],
    choose: Choose,
    cell: Any,
) -> ColumnRoles:
    """The probability of one of two labels: its column, which label, and from where it answers."""
    column = choose(cell, "probability", text.PROBABILITY, guessed.probability, columns)
    of, since = st.columns(4)[:2]
    label = choose(of, "probability-of", text.PROBABILITY_OF, guessed.probability_of, labels)
    threshold = since.number_input(
        text.THRESHOLD,
        0.0,
        1.0,
        guessed.threshold,
        step=0.01,
        format="%.4g",
        key=f"column-threshold-{st.session_state[_LOOKED]['id']}",
        help=text.THRESHOLD_TIP,
    )
    return replace(chosen, probability=column, probability_of=label, threshold=float(threshold))


def _parted_by(
    cells: tuple[Any, Any], guessed: ColumnRoles, columns: Sequence[str], choose: Choose
) -> tuple[str, str, str]:
    """Columns that need not be there: the split, the fold if cross-fitted, the row id."""
    chosen = []
    for cell, role, label, none, tip in (
        (cells[0], "split", text.SPLIT, text.NO_SPLIT, text.SPLIT_TIP),
        (cells[1], "fold", text.FOLD, text.NO_FOLD, text.FOLD_TIP),
        (cells[1], "row_id", text.ROW_ID, text.NO_ROW_ID, text.ROW_ID_TIP),
    ):
        column = choose(cell, role, label, getattr(guessed, role) or none, (none, *columns), tip)
        chosen.append("" if column == none else column)
    split, fold, row_id = chosen
    return split, fold, row_id


def _score_columns(
    upload: TableFile, labels: Sequence[str], choose: Choose
) -> tuple[tuple[str, str], ...]:
    """One select box a label: which column is its score."""
    guessed = dict(guess_scores(labels, upload.columns))
    cells = st.columns(4)
    return tuple(
        (
            name,
            choose(
                cells[place % len(cells)],
                f"score-{place}",
                text.score_of(name),
                guessed.get(name, ""),
                upload.columns,
            ),
        )
        for place, name in enumerate(labels)
    )


# -------------------------------------------------------------------- counts


def _counts() -> None:
    left, right = st.columns([3, 2], gap="large")
    with left:
        files = st.file_uploader(
            text.COUNTS_FILES, type=["json"], accept_multiple_files=True, key=_uploader(1)
        )
    with right:
        _counts_examples()
    if not files:
        return
    given = [(file.name, file.getvalue()) for file in files]
    labels, favourable = _labels_of_counts("-".join(file.file_id for file in files), given)
    favourable = st.selectbox(
        text.FAVOURABLE,
        labels,
        labels.index(favourable),
        width=320,
        key="counts-favourable",
        help=text.FAVOURABLE_TIP,
    )
    _take(lambda: _read(experiment_from_counts, given, favourable=favourable), "take-counts")


def _labels_of_counts(
    files: str, given: Sequence[tuple[str, bytes]]
) -> tuple[tuple[str, ...], str]:
    """The labels of counts files and the favourable one, remembered without the files."""
    seen = st.session_state.get(_COUNTED)
    if seen is None or seen[0] != files:
        experiment = _read(experiment_from_counts, given).experiment
        seen = files, experiment.labels, experiment.favourable
        st.session_state[_COUNTED] = seen
    return seen[1], seen[2]


def _counts_examples() -> None:
    st.markdown(text.COUNTS_AT_HOME)
    st.code(text.COUNT_COMMAND, language=None, wrap_lines=True)
    st.caption(text.COUNTS_EXAMPLES)
    with st.container(horizontal=True):
        for name, counts in example_counts().items():
            st.download_button(
                name,
                partial(_as_json, counts),
                file_name=name,
                mime="application/json",
                key=name,
                on_click="ignore",
            )


def _as_json(counts: ClientCounts) -> str:
    return json.dumps(counts.to_json())
