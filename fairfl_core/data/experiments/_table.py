"""`scores.parquet`: blocks of people in, blocks of people out, one row group each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from fairfl_core.data.experiments._protocol import Protocol
from fairfl_core.data.experiments._scores import Scores
from fairfl_core.errors import InputError

__all__ = ["Block", "check_row_groups", "read_block", "written"]


@dataclass(frozen=True, eq=False)
class Block:
    """The people of one row group: a seed, a split (as a code) and a fold."""

    seed: int
    split: int
    fold: int
    people: Scores


def written(blocks: Sequence[Block], description: Mapping[str, Any], protocol: Protocol) -> bytes:
    """The file's bytes.

    A cross-fitted file has eight times the rows, so it leaves out the first label's score, which
    is exactly what the others leave of 1; that halves it for two labels.
    """
    labels = range(1 if protocol.folds > 1 else 0, len(description["labels"]))
    tables = [_table(block, description, protocol, labels) for block in blocks]
    sink = pa.BufferOutputStream()
    with pq.ParquetWriter(
        sink,
        tables[0].schema,
        compression="zstd",
        compression_level=19,
        use_dictionary=["split", "client", "group", "label"],
        column_encoding={f"score_{y}": "BYTE_STREAM_SPLIT" for y in labels},
    ) as writer:
        for table in tables:
            writer.write_table(table, row_group_size=max(len(table), 1))
    return sink.getvalue().to_pybytes()


def _table(
    block: Block, description: Mapping[str, Any], protocol: Protocol, labels: range
) -> pa.Table:
    people = block.people
    columns: dict[str, Any] = {
        "seed": pa.array(np.full(len(people), block.seed, np.int16)),
        "split": _named(np.full(len(people), block.split), protocol.splits),
    }
    if protocol.folds > 1:
        columns["fold"] = pa.array(np.full(len(people), block.fold, np.int8))
    for name in ("client", "group", "label"):
        columns[name] = _named(getattr(people, name), description[f"{name}s"])
    for y in labels:
        columns[f"score_{y}"] = pa.array(people.scores[:, y])
    return pa.table(columns)


def _named(codes: NDArray[np.integer], names: Sequence[str]) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int8)), pa.array(list(names)))


def check_row_groups(path: Path, protocol: Protocol, seeds: int) -> None:
    """Refuse a file that does not hold every seed, split and fold, or not all test people."""
    try:
        meta = pq.ParquetFile(path).metadata
    except (pa.ArrowException, OSError) as error:
        reason = " ".join(str(error).split())[:200]
        raise InputError(f"{path}: is not a Parquet file that can be read ({reason}).") from error
    if meta.num_row_groups != protocol.row_groups(seeds):
        raise InputError(
            f"{path}: has {meta.num_row_groups} row groups, but {seeds} seeds with "
            f"{protocol.name} need {protocol.row_groups(seeds)}; a seed or a fold is missing, "
            "so train it anew."
        )
    for place in range(seeds):
        groups = [protocol.row_group(place, "test", fold) for fold in range(protocol.folds)]
        rows = {meta.row_group(group).num_rows for group in groups}
        if len(rows) > 1:
            raise InputError(
                f"{path}: the folds have different numbers of test people "
                f"({', '.join(map(str, sorted(rows)))}); each test person needs one row in every "
                "fold, so train it anew."
            )


def read_block(path: Path, group: int, names: Mapping[str, Sequence[str]]) -> Scores:
    """The people of one row group; `names` are those of clients, groups and labels."""
    table = pq.ParquetFile(path).read_row_group(group)
    columns = [
        _values(table.column(f"score_{y}"))
        for y in range(len(names["label"]))
        if f"score_{y}" in table.column_names
    ]
    scores = np.stack(columns, axis=1)
    if len(columns) < len(names["label"]):  # whole units: what is left of 1 is exact
        scores = np.column_stack([1 - scores.sum(axis=1), scores])
    return Scores(
        **{name: _codes(table.column(name), names[name]) for name in ("client", "group", "label")},
        scores=scores,
        fold=_values(table.column("fold")) if "fold" in table.column_names else None,
    )


def _values(column: pa.ChunkedArray) -> NDArray[Any]:
    """A column of one row group as numpy; Arrow's own to_numpy would import pandas (0.3 s)."""
    return np.from_dlpack(column.chunk(0)) if column.num_chunks else np.empty(0)


def _codes(column: pa.ChunkedArray, names: Sequence[str]) -> NDArray[np.int64]:
    """Codes into `names`, whatever order the file's own dictionary has."""
    if not column.num_chunks:
        return np.empty(0, np.int64)
    array = column.chunk(0)
    place = {name: code for code, name in enumerate(names)}
    order = np.array([place[name] for name in array.dictionary.to_pylist()], np.int64)
    return order[np.from_dlpack(array.indices)]
