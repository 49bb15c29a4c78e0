"""A client's table of labels, groups and scores, checked before anything leaves."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fairfl_core._io.names import as_name, in_order, listed, shown
from fairfl_core.data.coding import CodedPeople, TableColumns, code_people
from fairfl_core.data.columns import (
    Coded,
    as_numbers,
    code_names,
    column_names,
    to_arrow,
)
from fairfl_core.data.scored import FoldedData, ScoredData
from fairfl_core.errors import InputError
from fairfl_core.federation.wire import Refusal

__all__ = [
    "ClientScores",
    "Names",
    "check_groups",
    "codes_among",
    "from_bytes",
    "read_scores",
    "to_bytes",
]

_SPLITS = ("fit", "new")
_LACKS = "its table lacks what was asked for"


@dataclass(frozen=True)
class Names:
    """Labels and groups that all clients share; empty where nobody declared them."""

    labels: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    favourable: str = ""

    @classmethod
    def of(cls, labels: Sequence[Any], groups: Sequence[Any], favourable: Any = "") -> "Names":
        """Take names of any kind, such as 0 and 1."""
        name = "" if favourable in ("", None) else as_name(favourable)
        return cls(tuple(map(as_name, labels)), tuple(map(as_name, groups)), name)


@dataclass(frozen=True, eq=False)
class ClientScores:
    """A client's people, as the fair rounds need them.

    Attributes
    ----------
    fit : ScoredData
        Those fairness is solved on, each scored by a model that never saw them.
    new : ScoredData, FoldedData or None
        Those it is judged on.
    has_scores : bool
        Whether the table holds scores, or answers only.
    """

    fit: ScoredData
    new: ScoredData | FoldedData | None
    has_scores: bool


def to_bytes(table: Any) -> bytes:
    """Keep a table of any kind as Arrow's own stream."""
    if not (isinstance(table, Mapping | pa.Table) or hasattr(table, "columns")):
        raise Refusal(
            f"the scores function returned {type(table).__name__}, not a table (pandas, polars, "
            "Arrow, or a mapping from names to columns).",
            "its scores function gave no table",
        )
    columns = {name: to_arrow(table[name], name) for name in column_names(table)}
    sink = pa.BufferOutputStream()
    whole = pa.table(columns)
    with pa.ipc.new_stream(sink, whole.schema) as stream:
        stream.write_table(whole)
    return bytes(sink.getvalue())


def from_bytes(data: bytes) -> pa.Table:
    """Take up the table that `to_bytes` kept."""
    with pa.ipc.open_stream(data) as stream:
        return stream.read_all()


def read_scores(table: pa.Table, client: str, names: Names, *, least: int = 1) -> ClientScores:
    """Read a client's table, or say in one sentence why it cannot take part.

    Parameters
    ----------
    table : pyarrow.Table
        Columns ``label``, ``group``, ``split`` (``fit`` or ``new``); ``answer``, or a score for
        each label (``score_LABEL``), or of two labels ``score``, that of the favourable one. Fold
        models have ``fold`` and ``row_id`` too: a row to fit on is scored by the model that never
        saw the person, a new person has one row for each fold.
    client : str
        The client's name.
    names : Names
        Labels and groups of all clients; those of the table where they are not known yet.
    least : int
        How many people there must be to solve on.
    """
    _check_columns(table)
    names = _names(table, names)
    scores = _scores(table, names)
    rows: dict[str, Any] = {name: table[name] for name in ("label", "group")}
    rows["client"] = [client] * table.num_rows
    given: dict[str, Any] = {"labels": names.labels, "groups": names.groups}
    if "fold" in table.column_names:
        rows |= {"fold": table["fold"], "row_id": table["row_id"]}
        given |= {"fold": "fold", "row_id": "row_id"}
    if scores is None:
        rows["answer"], given["prediction"] = table["answer"], "answer"
    else:
        given["scores"] = {label: f"score_{label}" for label in names.labels}
        rows |= dict(zip(given["scores"].values(), scores.T, strict=True))
    try:
        columns = TableColumns(client="client", group="group", label="label", **given)
        people = code_people(rows, columns)
        return _parted(table, people, names, least, scores is not None)
    except Refusal:
        raise
    except InputError as error:
        raise Refusal(str(error), "its table cannot be used as it is") from error


def _parted(
    table: pa.Table, people: CodedPeople, names: Names, least: int, has_scores: bool
) -> ClientScores:
    split = _coded(table, "split")
    which = split.among(_SPLITS)
    if (which < 0).any():
        row = int(np.argmax(which < 0))
        raise Refusal(
            f'column "split", data row {row + 1:,} holds "{shown(split.names[split.codes[row]])}"; '
            'write "fit" for people to solve on and "new" for people to judge on.',
            _LACKS,
        )
    fit, new = which == 0, which == 1
    if fit.sum() < max(least, 1):
        raise Refusal(
            f"{int(fit.sum()):,} people to solve on, and at least {max(least, 1):,} are asked "
            'for (split "fit"); nothing was sent.',
            "it has fewer people than asked for",
        )
    if people.dealt is None:
        fitted = ScoredData.from_coded(people, names.favourable, np.flatnonzero(fit))
        rows = np.flatnonzero(new)
        judged = ScoredData.from_coded(people, names.favourable, rows) if len(rows) else None
        return ClientScores(fitted, judged, has_scores)
    folds = people.dealt.fitted(fit)
    fitted = ScoredData.from_coded(people, names.favourable, np.flatnonzero(fit), folds=len(folds))
    if not new.any():
        return ClientScores(fitted, None, has_scores)
    people.dealt.check_apart(fit, new)
    pairs = people.dealt.paired(new, folds, people.alike)
    by_fold = tuple(ScoredData.from_coded(people, names.favourable, mine) for mine in pairs)
    return ClientScores(fitted, FoldedData(by_fold), has_scores)


# -------------------------------------------------------------------- columns


def _check_columns(table: pa.Table) -> None:
    known = table.column_names
    wanted = ["label", "group", "split"] + ["row_id"] * ("fold" in known)
    missing = [name for name in wanted if name not in known]
    if missing:
        raise Refusal(
            f'the table of scores has no column "{missing[0]}"; it has {listed(known)}.', _LACKS
        )
    if "answer" not in known and not _score_columns(table):
        raise Refusal(
            'the table has neither a column "answer" nor scores ("score", or "score_LABEL" for '
            f"each label); it has {listed(known)}.",
            _LACKS,
        )
    if not table.num_rows:
        raise Refusal("the table of scores has no rows.", "its table has no rows")


def _names(table: pa.Table, declared: Names) -> Names:
    """The labels and groups of a table, those declared where there are; refuse any other."""
    coded = {
        name: _coded(table, name)
        for name in ("label", "group", "answer")
        if name in table.column_names
    }
    for name, known in (("label", "labels"), ("group", "groups"), ("answer", "labels")):
        if name in coded and getattr(declared, known):
            codes_among(coded[name], name, getattr(declared, known), known)
    check_groups(coded["group"])
    labels = declared.labels
    if not labels:
        scored = [name.removeprefix("score_") for name in _score_columns(table) if name != "score"]
        named = coded["answer"].names if "answer" in coded else scored
        labels = in_order(list(dict.fromkeys([*coded["label"].names, *named])))
    favourable = declared.favourable if declared.favourable in labels else labels[-1]
    return Names(labels, declared.groups or in_order(coded["group"].names), favourable)


def _score_columns(table: pa.Table) -> list[str]:
    return [name for name in table.column_names if name == "score" or name.startswith("score_")]


def _coded(table: pa.Table, name: str) -> Coded:
    try:
        return code_names(table[name], name)
    except InputError as error:
        raise Refusal(str(error), f'its column "{name}" cannot be used as it is') from error


def codes_among(column: Coded, name: str, known: Sequence[str], what: str) -> NDArray[np.int64]:
    """Code a column into the names agreed on; refuse any other name, and say in which row."""
    codes = np.asarray(column.among(known), np.int64)
    if (codes < 0).any():
        row = int(np.argmax(codes < 0))
        raise Refusal(
            f'column "{name}", data row {row + 1:,} holds '
            f'"{shown(column.names[column.codes[row]])}", which was not agreed on '
            f"({listed(known)}); correct the row, or agree on other names.",
            f"its {what} are not those agreed on",
        )
    return codes


def check_groups(group: Coded) -> None:
    """Refuse people who are all of one group."""
    if len(group.names) < 2:
        raise Refusal(
            f'all {len(group.codes):,} people are of one group ("{shown(group.names[0])}"), and '
            "fairness compares at least two; add people of another group, or take no part.",
            "its people are all of one group",
        )


def _scores(table: pa.Table, names: Names) -> NDArray[np.float64] | None:
    """A probability of each label, in their order; None for a table of answers."""
    columns = _score_columns(table)
    if not columns:
        return None
    labels = names.labels
    if columns == ["score"]:
        if len(labels) != 2:
            raise Refusal(
                f'one column "score" serves two labels, and there are {len(labels)} '
                f'({listed(labels)}); give "score_LABEL" for each of them.',
                _LACKS,
            )
        score = _numbers(table, "score")
        of = labels.index(names.favourable)
        return np.stack([score, 1 - score] if of == 0 else [1 - score, score], axis=1)
    wanted = [f"score_{label}" for label in labels]
    if sorted(columns) != sorted(wanted):
        raise Refusal(
            f"the score columns are {listed(columns)}, and the labels {listed(labels)}; give "
            f"{listed(wanted)}.",
            "its scores are not of the labels agreed on",
        )
    return np.stack([_numbers(table, name) for name in wanted], axis=1)


def _numbers(table: pa.Table, name: str) -> NDArray[np.float64]:
    values = as_numbers(table[name])
    wrong = ~((values >= 0) & (values <= 1))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise Refusal(
            f'column "{name}", data row {row + 1:,} holds {table[name][row].as_py()}, which is no '
            "probability; correct it or leave the row out.",
            "a score in its table is not a probability",
        )
    return values
