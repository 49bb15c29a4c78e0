"""Write what a method answered as `fairfl_core.data.experiments` reads it, in an order that says nothing."""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from fairfl_core._io.files import write_json, write_whole
from fairfl_core.data.experiments import (
    METHOD_FORMAT,
    METHODS_FOLDER,
    SPLITS,
    Answered,
    MethodAnswers,
    open_method,
)

__all__ = ["save_method"]

_NAMES = ("client", "group", "label")


def save_method(
    manifest: Mapping[str, Any],
    answers: Mapping[str, Mapping[int, Mapping[str, Answered]]],
    folder: str | Path = METHODS_FOLDER,
) -> MethodAnswers:
    """Write a method's answers and manifest, each file whole or not at all.

    Parameters
    ----------
    manifest : mapping
        ``method``, ``title``, ``experiment``, ``clients``, ``groups``, ``labels``, ``settings``
        (by name, in the order of `answers`) and whatever else the manifest is to say.
    answers : mapping
        By setting, seed and split.
    """
    home = Path(folder) / str(manifest["experiment"])
    home.mkdir(parents=True, exist_ok=True)
    path = home / f"{manifest['method']}.parquet"
    drawn = any(
        answered.drawn
        for by_seed in answers.values()
        for by_split in by_seed.values()
        for answered in by_split.values()
    )
    blocks = [
        _block(manifest, setting, split, by_seed, drawn)
        for setting, by_seed in answers.items()
        for split in SPLITS
    ]
    data = _written(blocks)
    write_whole(path, data)
    whole = {
        "format": METHOD_FORMAT,
        **manifest,
        "file": path.name,
        "sha256": hashlib.sha256(data).hexdigest(),
        "rows": sum(len(block) for block in blocks),
        "drawn": drawn,
    }
    write_json(home / f"{manifest['method']}.json", whole)
    return open_method(str(manifest["experiment"]), str(manifest["method"]), folder)


def _block(
    manifest: Mapping[str, Any],
    setting: str,
    split: str,
    by_seed: Mapping[int, Mapping[str, Answered]],
    drawn: bool,
) -> pa.Table:
    """One row group: a setting and a split, every seed."""
    columns: dict[str, list[NDArray[Any]]] = {}
    for seed, by_split in sorted(by_seed.items()):
        answered = by_split[split]
        cells = np.nonzero(answered.confusion)
        people, squares = answered.confusion[cells], answered.squares[cells]
        many = np.ones(len(people), int) if drawn else people.round().astype(int)
        parts: dict[str, NDArray[Any]] = {"seed": np.full(len(people), seed, np.int16)}
        parts |= dict(zip((*_NAMES, "prediction"), cells, strict=True))
        for name, part in parts.items():
            columns.setdefault(name, []).append(np.repeat(part, many))
        if drawn:
            columns.setdefault("people", []).append(people)
            columns.setdefault("squares", []).append(squares)
    whole = {name: np.concatenate(parts) for name, parts in columns.items()}
    rows = len(whole["seed"])
    named = {
        name: _named(whole[name], manifest["labels" if name == "prediction" else f"{name}s"])
        for name in (*_NAMES, "prediction")
    }
    return pa.table(
        {
            "setting": _named(np.zeros(rows, int), [setting]),
            "seed": pa.array(whole["seed"]),
            "split": _named(np.full(rows, SPLITS.index(split)), SPLITS),
            **named,
            **{
                name: pa.array(whole[name].astype(np.float32))
                for name in ("people", "squares")
                if drawn
            },
        }
    )


def _named(codes: NDArray[np.integer], names: Sequence[str]) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int8)), pa.array(list(names)))


def _written(blocks: Sequence[pa.Table]) -> bytes:
    sink = pa.BufferOutputStream()
    schema = blocks[0].schema
    numbers = [name for name in ("people", "squares") if name in schema.names]
    with pq.ParquetWriter(
        sink,
        schema,
        compression="zstd",
        compression_level=19,
        use_dictionary=[name for name in schema.names if name not in numbers],
        write_statistics=False,
    ) as writer:
        for block in blocks:
            writer.write_table(block, row_group_size=max(len(block), 1))
    return sink.getvalue().to_pybytes()
