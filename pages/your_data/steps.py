"""Bringing a set: choose files, confirm columns, read them. Every refusal is a sentence in place."""

import json
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from typing import Any, ParamSpec, TypeVar

import streamlit as st

from fairfl_core._io.names import as_name
from fairfl_core.budget import within
from fairfl_core.data.counts import ClientCounts
from fairfl_core.data.score_columns import SCORE_KINDS
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
from pages.shared import own_data, state
from pages.shared.catalogue import budget
from pages.shared.codecs import one_of
from pages.shared.text import refused
from pages.shared.widgets import download, log_refusal
from pages.your_data import text

KIND = state.Setting("bring", "table", one_of(tuple(text.KINDS)))
UPLOADERS = {"table": "upload-table", "counts": "upload-counts"}
_LOOKED = "looked-at"  # what the file's beginning shows: never the file
_COUNTED = "labels-of-counts"
_EXAMPLE = "use-example"
_REMOVED = "sets-removed"
_TAKEN = "request-taken"  # the request whose set is held
Choose = Callable[..., str]
P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True)
class Brought:
    """Files that lie on the page: one table, or several of counts."""

    id: str
    files: tuple[tuple[str, bytes], ...]
    table: TableFile | None = None


@dataclass(frozen=True)
class Request:
    """Files with what the visitor confirmed of them, and how to read them."""

    id: Hashable
    read: Callable[[], Intake]


@contextmanager
def refusing() -> Iterator[None]:
    """Say in place why something is not taken, and log that it was not."""
    try:
        yield
    except InputError as error:
        kind = state.get(KIND)
        given = st.session_state.get(_uploader(kind)) or []
        log_refusal(kind, given if isinstance(given, list) else [given], error)
        st.warning(refused(str(error)))


def _uploader(kind: str) -> str:
    """The key of an uploader: another one once a set was removed, so that it starts empty."""
    times = st.session_state.get(_REMOVED, 0)
    return UPLOADERS[kind] + (f"-{times}" if times else "")


def _apart(function: Callable[P, T], *given: P.args, **named: P.kwargs) -> T:
    """Read files in a process of its own if they are large."""
    with within(budget(seconds=inf)):  # it has a clock of its own
        return apart(function, *given, **named)


# -------------------------------------------------------------------- 1, the file


def choose_file(held: own_data.Held | None) -> Brought | None:
    """Draw the first step; returns what lies on the page, if anything does."""
    st.segmented_control(
        text.KIND,
        tuple(text.KINDS),
        format_func=lambda kind: text.KINDS[kind],
        required=True,
        label_visibility="collapsed",
        **state.bound(KIND),
    )
    is_table = state.get(KIND) == "table"
    if is_table:
        kinds = ["csv", "tsv", "txt", "parquet", "pq"]
        given = st.file_uploader(text.TABLE_FILE, type=kinds, key=_uploader("table"))
        files = [] if given is None else [given]
    else:
        files = st.file_uploader(
            text.COUNTS_FILES, type=["json"], accept_multiple_files=True, key=_uploader("counts")
        )
    if held is not None:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(text.here_now(held.intake.experiment.manifest["title"]))
            st.button(text.REMOVE, on_click=_remove, key="remove-set")
    elif is_table and not files and not st.session_state.get(_EXAMPLE):
        st.button(text.TRY_EXAMPLE, key="try-example", on_click=_use_example)
    brought = _table(files) if is_table else _counts(files)
    if brought is not None and brought.table is not None:
        first = {name: cells[:3] for name, cells in brought.table.sample.items()}
        st.dataframe(first, hide_index=True, key="upload-preview")
    with st.container(horizontal=True):
        _needed(is_table=is_table)
        with st.popover(text.PRIVATE, type="tertiary"):
            st.markdown(text.PROMISE)
    return brought


def _use_example() -> None:
    st.session_state[_EXAMPLE] = True


def _remove() -> None:
    """Let go of the set, of the file it came from and of what was seen of it."""
    own_data.drop()
    for name in (_LOOKED, _COUNTED, _EXAMPLE, _TAKEN):
        st.session_state.pop(name, None)
    st.session_state[_REMOVED] = st.session_state.get(_REMOVED, 0) + 1
    state.change()  # to the first of the experiments that are still there


def _table(files: Sequence[Any]) -> Brought | None:
    if files:
        st.session_state.pop(_EXAMPLE, None)
        (file,) = files
        return _looked_at(file.file_id, file.name, file.getvalue())
    if st.session_state.get(_EXAMPLE):
        return _looked_at(EXAMPLE, EXAMPLE, example_table().encode())
    st.session_state.pop(_LOOKED, None)
    return None


def _looked_at(file_id: str, name: str, data: bytes) -> Brought:
    """What the beginning of a file shows, remembered without the file itself."""
    seen = st.session_state.get(_LOOKED)
    if seen is None or seen["id"] != file_id:
        table = _apart(open_table, name, data)
        seen = {"id": file_id, "table": replace(table, data=b""), "labels": {}}
        st.session_state[_LOOKED] = seen
    return Brought(file_id, ((name, data),), replace(seen["table"], data=data))


def _counts(files: Sequence[Any]) -> Brought | None:
    if not files:
        return None
    given = tuple((file.name, file.getvalue()) for file in files)
    return Brought("-".join(file.file_id for file in files), given)


def _needed(*, is_table: bool) -> None:
    """What a file must have, with small examples to download."""
    examples: list[tuple[str, Callable[[], str], str]]
    if is_table:
        examples = [
            (text.EXAMPLE_FILE, example_table, EXAMPLE),
            (text.FOLDS_FILE, example_folds, EXAMPLE_FOLDS),
        ]
    else:
        examples = [
            (name, partial(_as_json, counts), name) for name, counts in example_counts().items()
        ]
    with st.popover(text.NEEDED, type="tertiary"):
        st.markdown(text.NEEDED_TABLE if is_table else text.NEEDED_COUNTS)
        if not is_table:
            st.code(text.COUNT_COMMAND, language=None, wrap_lines=True)
        st.caption(text.EXAMPLES)
        with st.container(horizontal=True):
            for label, make, name in examples:
                download(label, make, name, name)


def _as_json(counts: ClientCounts) -> str:
    return json.dumps(counts.to_json())


# -------------------------------------------------------------------- 2, the columns


def confirm(brought: Brought) -> Request:
    """Draw the second step for these files: what is what, the guess chosen."""
    if brought.table is not None:
        return _confirm_table(brought.id, brought.table)
    labels, guessed = _labels_of_counts(brought)
    st.caption(text.NO_COLUMNS)
    favourable = st.selectbox(
        text.FAVOURABLE,
        labels,
        labels.index(guessed),
        key="counts-favourable",
        help=text.FAVOURABLE_TIP,
    )
    return Request(
        (brought.id, favourable),
        lambda: _apart(experiment_from_counts, list(brought.files), favourable=favourable),
    )


def _labels_of_counts(brought: Brought) -> tuple[tuple[str, ...], str]:
    """The labels of counts files and the favourable one, remembered without the files."""
    seen = st.session_state.get(_COUNTED)
    if seen is None or seen[0] != brought.id:
        experiment = _apart(experiment_from_counts, list(brought.files)).experiment
        seen = brought.id, experiment.labels, experiment.favourable
        st.session_state[_COUNTED] = seen
    return seen[1], seen[2]


def _labels(table: TableFile, column: str) -> tuple[str, ...]:
    known: dict[str, tuple[str, ...]] = st.session_state[_LOOKED]["labels"]
    if column not in known:
        known[column] = _apart(labels_of, table, column)
    return known[column]


def _confirm_table(file_id: str, table: TableFile) -> Request:
    """Select boxes for every role; those that few tables have are behind a button."""
    guessed, columns = guess_roles(table), table.columns

    def choose(
        cell: Any, role: str, label: str, value: str, options: Sequence[str], tip: str = ""
    ) -> str:
        index = list(options).index(value) if value in options else None
        name = f"column-{role}-{file_id}"
        box = cell.selectbox(
            label, options, index, key=name, help=tip or None, placeholder=text.CHOOSE
        )
        return "" if box is None else str(box)

    first, second, third = st.columns(2), st.columns(2), st.columns(2)
    client = choose(first[0], "client", text.CLIENT, guessed.client, columns, text.CLIENT_TIP)
    group = choose(first[1], "group", text.GROUP, guessed.group, columns, text.GROUP_TIP)
    label = choose(second[0], "label", text.LABEL, guessed.label, columns)
    labels = _labels(table, label) if label else ()
    favourable = choose(
        second[1],
        "favourable",
        text.FAVOURABLE,
        labels[-1] if labels else "",
        labels,
        text.FAVOURABLE_TIP,
    )
    given = third[0].selectbox(
        text.GIVEN,
        tuple(text.GIVEN_AS),
        index=2 if guessed.probability else 1 if guessed.scores else 0,
        format_func=lambda kind: text.GIVEN_AS[kind],
        key=f"column-given-{file_id}",
    )
    roles = ColumnRoles(client, group, label)
    if given == "answer":
        answer = choose(third[1], "answer", text.ANSWER, guessed.prediction, columns)
        roles = replace(roles, prediction=answer)
    elif given == "scores":
        kind = choose(
            third[1], "kind", text.SCORES_ARE, SCORE_KINDS[0], SCORE_KINDS, text.SCORES_TIP
        )
        roles = replace(roles, scores=_score_columns(table, labels, choose), scores_are=kind)
    else:
        roles = _one_probability(roles, guessed, table, labels, choose, third[1])
    roles, join = _further(roles, guessed, file_id, columns, choose)
    favourable = as_name(favourable)
    return Request(
        (file_id, roles, favourable, join),
        lambda: _apart(experiment_from_table, table, roles, favourable=favourable, join=join),
    )


def _further(
    roles: ColumnRoles,
    guessed: ColumnRoles,
    file_id: str,
    columns: Sequence[str],
    choose: Choose,
) -> tuple[ColumnRoles, bool]:
    """Columns that need not be there; those in use are listed in a line."""
    with st.popover(text.MORE, type="tertiary"):
        optional: dict[str, Any] = {}
        for role, label, none, tip in (
            ("split", text.SPLIT, text.NO_SPLIT, text.SPLIT_TIP),
            ("fold", text.FOLD, text.NO_FOLD, text.FOLD_TIP),
            ("row_id", text.ROW_ID, text.NO_ROW_ID, text.ROW_ID_TIP),
        ):
            value = getattr(guessed, role) or none
            column = choose(st, role, label, value, (none, *columns), tip)
            optional[role] = "" if column == none else column
        crossed = st.multiselect(
            text.CROSSED,
            [column for column in columns if column != roles.group],
            key=f"column-crossed-{file_id}",
            help=text.CROSSED_TIP,
        )
        models = st.multiselect(
            text.MODELS,
            columns,
            key=f"column-models-{file_id}",
            help=text.MODELS_TIP,
            placeholder=text.NO_MODELS,
            max_selections=MOST_MODELS - 1,
        )
        join = st.toggle(text.JOIN, key=f"column-join-{file_id}", help=text.JOIN_TIP)
    roles = replace(roles, **optional, crossed_with=tuple(crossed), models=tuple(models))
    if text.further(roles):
        st.caption(text.further(roles))
    return roles, join


def _one_probability(
    roles: ColumnRoles,
    guessed: ColumnRoles,
    table: TableFile,
    labels: Sequence[str],
    choose: Choose,
    cell: Any,
) -> ColumnRoles:
    """The probability of one of two labels: its column, which label, and from where it answers."""
    column = choose(cell, "probability", text.PROBABILITY, guessed.probability, table.columns)
    of, since = st.columns(2)
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
    return replace(roles, probability=column, probability_of=label, threshold=float(threshold))


def _score_columns(
    table: TableFile, labels: Sequence[str], choose: Choose
) -> tuple[tuple[str, str], ...]:
    """One select box a label: which column is its score."""
    guessed = dict(guess_scores(labels, table.columns))
    cells = st.columns(2)
    return tuple(
        (
            name,
            choose(
                cells[place % len(cells)],
                f"score-{place}",
                text.score_of(name),
                guessed.get(name, ""),
                table.columns,
            ),
        )
        for place, name in enumerate(labels)
    )


# -------------------------------------------------------------------- 3, the check


def taken(request: Request) -> bool:
    """Whether the session's set is of this very request."""
    return own_data.current() is not None and st.session_state.get(_TAKEN) == request.id


def take(request: Request) -> None:
    """Draw the button that reads the files; the page is laid out anew with the set."""
    if not st.button(text.CHECK, type="primary", key=f"take-{state.get(KIND)}"):
        return
    with st.spinner(text.READING):
        held = own_data.hold(request.read())
    st.session_state[_TAKEN] = request.id
    state.change(experiment=held.name)
    st.rerun()
