"""Bringing a set: choose files, confirm columns, take it in. Every refusal is a sentence."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace

import streamlit as st

from fairfl_core._io.names import as_name
from fairfl_core.errors import InputError
from fairfl_core.intake import (
    EXAMPLE,
    Columns,
    TableFile,
    Taken,
    example_counts,
    example_table,
    guess,
    guess_scores,
    labels_of,
    open_table,
    take_in,
    take_in_counts,
)
from pages.components.session import own_data, state
from pages.components.shared import words

__all__ = ["bring", "refusal", "remove"]

TABLE, COUNTS = "A table of predictions", "Counts only"
ANSWER, SCORES = "its answer", "a score for each label"
NO_SPLIT = "none: split inside each client"
_LOOKED = "looked-at"  # what the file's beginning shows: never the file
_EXAMPLE = "use-example"
_REMOVED = "sets-removed"
_COUNT = """\
fairfl count rows.csv --client hospital --group sex --label diagnosis \\
    --prediction prediction --labels healthy,ill --groups man,woman --out counts.json
fairfl privatize counts.json --epsilon 1 --out noisy.json   # if noise is wanted"""


def refusal(error: InputError) -> None:
    """Say why something is not taken."""
    st.warning(words.plain(f"Not taken: {error}", longest=700))


def bring() -> None:
    """Both ways to bring a set."""
    kind = state.get("bring", TABLE)
    kind = kind if kind in (TABLE, COUNTS) else TABLE
    st.segmented_control(
        "What do you bring?", (TABLE, COUNTS), required=True, key=state.take_from("bring", kind),
        on_change=state.give_back, args=("bring",),
    )  # fmt: skip
    try:
        if kind == TABLE:
            _table()
        else:
            _counts()
    except InputError as error:
        refusal(error)


def _uploader(kind: int) -> str:
    """The key of an uploader: another one once a set was removed, so that it starts empty."""
    times = st.session_state.get(_REMOVED, 0)
    return own_data.UPLOADERS[kind] + (f"-{times}" if times else "")


def remove() -> None:
    """Let go of the set, of the file it came from and of what was seen of it."""
    own_data.drop()
    own_data.forget_uploads(always=True)
    for name in (_LOOKED, _EXAMPLE):
        st.session_state.pop(name, None)
    st.session_state[_REMOVED] = st.session_state.get(_REMOVED, 0) + 1
    state.put("experiment", "")


def _take(make: Callable[[], Taken], key: str) -> None:
    """The button that takes a set in; the page is laid out anew with it."""
    asked = f"{key}-asked"
    st.button("Take it in and check it", type="primary", key=key,
              on_click=lambda: st.session_state.update({asked: True}))  # fmt: skip
    if st.session_state.pop(asked, False):
        with st.spinner("Reading, splitting and counting"):
            own_data.hold(make())
        st.rerun()


# -------------------------------------------------------------------- a table


def _table() -> None:
    left, right = st.columns([3, 2], gap="large")
    with left:
        file = st.file_uploader(
            "CSV or Parquet, one row a person: client, group, true label, the model's answer or "
            "its scores",
            type=["csv", "tsv", "txt", "parquet", "pq"], key=_uploader(0),
        )  # fmt: skip
    with right:
        st.markdown("**Nothing at hand?** 2,100 made-up people in five hospitals:")
        with st.container(horizontal=True):
            st.button("Try it with the example", key="try-example", disabled=file is not None,
                      on_click=lambda: st.session_state.update({_EXAMPLE: True}))  # fmt: skip
            st.download_button("Example table (CSV)", example_table, file_name=EXAMPLE,
                               mime="text/csv", key="example-table", on_click="ignore")  # fmt: skip
    if file is not None:
        st.session_state.pop(_EXAMPLE, None)
        upload = _looked_at(file.file_id, file.name, file.getvalue())
    elif st.session_state.get(_EXAMPLE):
        upload = _looked_at(EXAMPLE, EXAMPLE, example_table().encode())
    else:
        st.session_state.pop(_LOOKED, None)
        return
    st.markdown("**Which column is what?** Guessed from the names; please confirm.")
    st.dataframe(upload.sample.head(8), hide_index=True, height=212, key="upload-preview")
    columns, favourable, join = _confirm(upload)
    _take(lambda: take_in(upload, columns, favourable=favourable, join=join), "take-table")


def _looked_at(file_id: str, name: str, data: bytes) -> TableFile:
    """What the beginning of a file shows, remembered without the file itself."""
    seen = st.session_state.get(_LOOKED)
    if seen is None or seen["id"] != file_id:
        upload = open_table(name, data)
        seen = {"id": file_id, "upload": replace(upload, data=b""), "labels": {}}
        st.session_state[_LOOKED] = seen
    return replace(seen["upload"], data=data)


def _labels(upload: TableFile, column: str) -> tuple[str, ...]:
    known = st.session_state[_LOOKED]["labels"]
    if column not in known:
        known[column] = labels_of(upload, column)
    return known[column]


def _confirm(upload: TableFile) -> tuple[Columns, str, bool]:
    """Select boxes for every role, the guess chosen; the favourable label; joining names."""
    guessed = guess(upload)
    key = st.session_state[_LOOKED]["id"]

    def choose(label: str, value: str, options: Sequence[str], role: str, **more: str) -> str:
        index = list(options).index(value) if value in options else 0
        return st.selectbox(label, options, index, key=f"column-{role}-{key}", **more)

    cells = st.columns(4)
    with cells[0]:
        client = choose("Client", guessed.client, upload.columns, "client",
                        help="The hospital, site or state: one that trains with the others.")  # fmt: skip
    with cells[1]:
        group = choose("Group", guessed.group, upload.columns, "group",
                       help="What fairness compares, like sex or race.")  # fmt: skip
    with cells[2]:
        label = choose("True label", guessed.label, upload.columns, "label")
    with cells[3]:
        split = choose("Split", guessed.split or NO_SPLIT, (NO_SPLIT, *upload.columns), "split",
                       help="A column that says validation or test; without one, half of each "
                       "client's people are set aside with a fixed seed.")  # fmt: skip
    labels = _labels(upload, label)
    cells = st.columns(4)
    with cells[0]:
        given = st.radio("The model gave", (ANSWER, SCORES), index=int(not guessed.prediction),
                         key=f"column-given-{key}")  # fmt: skip
    with cells[1]:
        favourable = choose("Favourable label", labels[-1] if labels else "", labels, "favourable",
                            help="The good outcome; equal opportunity looks at it.")  # fmt: skip
    with cells[2]:
        prediction = ""
        if given == ANSWER:
            prediction = choose("The model's answer", guessed.prediction, upload.columns, "answer")
    scores = _score_columns(upload, labels, choose) if given == SCORES else ()
    join = st.toggle("Join names that differ only in case or spaces", key=f"column-join-{key}",
                     help="The predictor then knows only the joined name: write it so when you "
                     "apply it.")  # fmt: skip
    none = split == NO_SPLIT
    chosen = Columns(client, group, label, prediction, scores, "" if none else split)
    return chosen, as_name(favourable or ""), join


def _score_columns(
    upload: TableFile, labels: Sequence[str], choose: Callable[..., str]
) -> tuple[tuple[str, str], ...]:
    """One select box a label: which column is its score."""
    guessed = dict(guess_scores(labels, upload.columns))
    cells = st.columns(4)
    pairs = []
    for place, name in enumerate(labels):
        with cells[place % len(cells)]:
            column = choose(f"Score of “{words.plain(name, 30)}”", guessed.get(name, ""),
                            upload.columns, f"score-{place}")  # fmt: skip
        pairs.append((name, column))
    return tuple(pairs)


# -------------------------------------------------------------------- counts


def _counts() -> None:
    left, right = st.columns([3, 2], gap="large")
    with left:
        files = st.file_uploader(
            "`fairfl-counts/1` files: one for all clients, or one a client", type=["json"],
            accept_multiple_files=True, key=_uploader(1),
        )  # fmt: skip
    with right:
        st.markdown("**No private record leaves a client**: each makes its counts at home.")
        st.code(_COUNT, language="shell", wrap_lines=True)
        st.caption("Examples, of made-up people; upload both to see them merged:")
        with st.container(horizontal=True):
            for name, counts in example_counts().items():
                st.download_button(name, lambda counts=counts: json.dumps(counts.to_json()),
                                   file_name=name, mime="application/json", key=name,
                                   on_click="ignore")  # fmt: skip
    if not files:
        return
    given = [(file.name, file.getvalue()) for file in files]
    found = take_in_counts(given, favourable="")
    labels = found.experiment.labels
    favourable = st.selectbox(
        "Favourable label", labels, labels.index(found.experiment.favourable), width=320,
        key="counts-favourable", help="The good outcome; equal opportunity looks at it.",
    )  # fmt: skip
    _take(lambda: take_in_counts(given, favourable=favourable), "take-counts")
