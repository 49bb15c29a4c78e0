"""Plain values over a pipe: JSON for what is small, raw bytes for arrays, and nothing that runs.

What comes back from reading a stranger's file must not be able to do anything: so a value is one
of a few known kinds, and each is built by its own constructor, which checks it again.
"""

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

from fairfl_core.data.counts import ClientCounts
from fairfl_core.data.experiments import Scores
from fairfl_core.data.grouping import Grouping
from fairfl_core.data.tables.table_file import Limits, TableFile
from fairfl_core.intake._checks import Check
from fairfl_core.intake._from_federation import Travelled
from fairfl_core.intake._models import Model
from fairfl_core.intake._reading import Reading
from fairfl_core.intake._roles import ColumnRoles
from fairfl_core.intake._uploaded import Intake, UploadedExperiment
from fairfl_core.predictors.load import predictor_from_json

__all__ = ["read_value", "write_value"]

_KINDS: dict[str, Any] = {
    kind.__name__: kind
    for kind in (
        *(Check, ClientCounts, ColumnRoles, Grouping, Intake, Limits, Model, Reading, Scores),
        *(TableFile, Travelled, UploadedExperiment),
    )
}


def write_value(stream: IO[bytes], value: Any) -> None:
    """Write one value: the length of its JSON, its JSON, then its arrays one after the other."""
    writer = _Writer()
    tree = json.dumps([writer.plain(value), [len(one) for one in writer.raw]]).encode()
    stream.write(len(tree).to_bytes(8, "big"))
    stream.write(tree)
    for one in writer.raw:
        stream.write(one)
    stream.flush()


def read_value(stream: IO[bytes]) -> Any:
    """Read one value; EOFError where the other end has gone."""
    tree, lengths = json.loads(_exactly(stream, int.from_bytes(_exactly(stream, 8), "big")))
    return _Reader([_exactly(stream, length) for length in lengths]).value(tree)


def _exactly(stream: IO[bytes], length: int) -> bytes:
    data = stream.read(length)
    if len(data) < length:
        raise EOFError
    return data


class _Writer:
    """A value as JSON, with what is large put aside; a dataclass that stands twice is sent once."""

    def __init__(self) -> None:
        self.raw: list[bytes | memoryview] = []
        self._sent: dict[int, int] = {}

    def plain(self, value: Any) -> Any:
        if value is None or isinstance(value, bool | int | float | str):
            return value
        if isinstance(value, np.generic):
            return value.item()
        if isinstance(value, list):
            return [self.plain(one) for one in value]
        if isinstance(value, tuple):
            return {"tuple": [self.plain(one) for one in value]}
        if isinstance(value, Mapping):
            return {"map": [[self.plain(key), self.plain(one)] for key, one in value.items()]}
        if isinstance(value, Path):
            return {"path": str(value)}
        if isinstance(value, bytes):
            self.raw.append(value)
            return {"bytes": len(self.raw) - 1}
        if isinstance(value, np.ndarray):
            return self._array(value)
        if is_dataclass(value) and type(value).__name__ in _KINDS:
            return self._dataclass(value)
        if hasattr(value, "to_dict"):  # the first rows of a table, as texts
            return {"frame": value.to_dict("list")}
        return {"predictor": value.to_json()}

    def _array(self, value: np.ndarray[Any, Any]) -> Any:
        self.raw.append(np.ascontiguousarray(value).reshape(-1).view(np.uint8).data)
        return {"array": [len(self.raw) - 1, value.dtype.str, list(value.shape)]}

    def _dataclass(self, value: Any) -> Any:
        if id(value) in self._sent:
            return {"again": self._sent[id(value)]}
        own = {field.name: self.plain(getattr(value, field.name)) for field in fields(value)}
        self._sent[id(value)] = len(self._sent)
        return {"of": [type(value).__name__, own]}


class _Reader:
    def __init__(self, raw: list[bytes]) -> None:
        self._raw = raw
        self._made: list[Any] = []

    def value(self, tree: Any) -> Any:
        if isinstance(tree, list):
            return [self.value(one) for one in tree]
        if not isinstance(tree, dict):
            return tree
        ((kind, content),) = tree.items()
        built: Any = getattr(self, f"_{kind}")(content)
        return built

    def _tuple(self, content: Any) -> Any:
        return tuple(self.value(content))

    def _map(self, content: Any) -> Any:
        return {self.value(key): self.value(one) for key, one in content}

    def _path(self, content: Any) -> Any:
        return Path(content)

    def _bytes(self, content: Any) -> Any:
        return self._raw[content]

    def _array(self, content: Any) -> Any:
        place, kind, shape = content
        return np.frombuffer(self._raw[place], np.dtype(kind)).reshape(shape)

    def _of(self, content: Any) -> Any:
        name, own = content
        made = _KINDS[name](**{field: self.value(one) for field, one in own.items()})
        self._made.append(made)
        return made

    def _again(self, content: Any) -> Any:
        return self._made[content]

    def _frame(self, content: Any) -> Any:
        import pandas as pd

        return pd.DataFrame(content, dtype=str)

    def _predictor(self, content: Any) -> Any:
        return predictor_from_json(content)
