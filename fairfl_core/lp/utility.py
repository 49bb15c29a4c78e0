"""What counts as good: a gain for every label and answer, accuracy unless given."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairfl_core._io.files import check_keys, nested_numbers, read_json
from fairfl_core._io.names import listed
from fairfl_core.data.counts import ClientCounts
from fairfl_core.errors import InputError, about

__all__ = ["ACCURACY", "BALANCED", "Achieved", "Utility"]

Floats = NDArray[np.float64]
_LARGEST = 1e9


@dataclass(frozen=True)
class Utility:
    """sum over labels y and answers k of U[y, k] Pr(label y, answer k), to be as large as can be.

    Attributes
    ----------
    name : str
        ``accuracy`` (U is the identity), ``balanced`` (1 / (N Pr(y)) on the diagonal: the mean
        of the labels' recognitions), or what a table of gains and costs is called.
    labels : tuple of str
        The labels of a table; empty for the two that have none.
    gain : tuple of tuple of float
        U, a row a label, a column an answer.
    """

    name: str
    labels: tuple[str, ...] = ()
    gain: tuple[tuple[float, ...], ...] = ()

    def __post_init__(self) -> None:
        if not self.labels:
            if self.name not in ("accuracy", "balanced"):
                raise InputError(
                    f'there is no utility "{self.name}"; choose accuracy, balanced or a JSON file '
                    'with "labels" and "gain".'
                )
            return
        table = np.array(self.gain, float)
        shape = (len(self.labels), len(self.labels))
        if table.shape != shape:
            raise InputError(
                f"the utility has a table of {table.shape}, but its {shape[0]} labels need "
                f"{shape}: a row a label, a column an answer."
            )
        if not np.isfinite(table).all() or np.abs(table).max() > _LARGEST:
            raise InputError(
                f"the utility has an entry that is no number within {_LARGEST:g}; give the gain "
                "(or, below 0, the cost) of every label and answer."
            )
        if not (table.max(axis=1) > table.min(axis=1)).any():
            raise InputError(
                "the utility is the same for every answer, so nothing is better than anything "
                "else; give some answers more."
            )

    @property
    def is_accuracy(self) -> bool:
        """Whether every right answer counts one, and nothing else does."""
        return self == ACCURACY

    def of(self, counts: ClientCounts) -> Floats:
        """U for these people's labels."""
        size = len(counts.labels)
        if self.name == "balanced" and not self.labels:
            people = counts.n_label.sum(axis=(0, 1)).astype(float)
            there = people > 0
            share = np.divide(counts.n, people, out=np.zeros(size), where=there)
            return np.diag(share / there.sum())
        if not self.labels:
            return np.eye(size)
        if sorted(self.labels) != sorted(counts.labels):
            raise InputError(
                f"the utility is about the labels {listed(self.labels)}, the people have "
                f"{listed(counts.labels)}; give a row and a column for each of those."
            )
        order = [self.labels.index(name) for name in counts.labels]
        return np.array(self.gain, float)[np.ix_(order, order)]

    def achieved(self, confusion: NDArray[Any], counts: ClientCounts) -> float:
        """The utility of answers: `confusion` has these people's labels and answers last."""
        return float((confusion * self.of(counts)).sum() / counts.n)

    @classmethod
    def missing(cls, labels: tuple[str, ...], label: str, times: float) -> "Utility":
        """Every mistake costs one, but missing `label` costs `times` as much; right is nothing."""
        rows = [
            tuple(0.0 if y == k else -times if y == label else -1.0 for k in labels)
            for y in labels
        ]
        return cls(f"a missed {label} costs {times:g}", labels, tuple(rows))

    def to_json(self) -> Any:
        """A name, or the table."""
        if not self.labels:
            return self.name
        return {"name": self.name, "labels": list(self.labels), "gain": [*map(list, self.gain)]}

    @classmethod
    def from_json(cls, value: Any, name: str = "table") -> "Utility":
        """Check and take a name, or a table `{"labels": [...], "gain": [[...]]}`."""
        if isinstance(value, str):
            return cls(value)
        if not isinstance(value, dict):
            raise InputError(
                'a utility is "accuracy", "balanced" or an object with "labels" and "gain".'
            )
        check_keys(value, {"labels", "gain", "name"}, {"name"}, "the utility")
        labels = value["labels"]
        if not (isinstance(labels, list) and all(isinstance(one, str) for one in labels)):
            raise InputError('the utility: "labels" must be a list of names (strings).')
        if len(set(labels)) != len(labels) or len(labels) < 2:
            raise InputError("the utility: give two labels or more, each once.")
        axes = (("label", labels), ("answer", labels))
        numbers = np.array(nested_numbers(value["gain"], axes, "the utility, gain"), float)
        table = numbers.reshape(len(labels), len(labels))
        title = value.get("name", name)
        if not isinstance(title, str) or not title:
            raise InputError('the utility: "name" must be a name (a string).')
        return cls(title, tuple(labels), tuple(tuple(row) for row in table.tolist()))

    @classmethod
    def read(cls, given: str) -> "Utility":
        """The utility of a name, or of a JSON file."""
        if given in ("accuracy", "balanced"):
            return cls(given)
        path = Path(given)
        if not path.exists():
            raise InputError(
                f'there is no utility "{given}", and no such file; choose accuracy, balanced or a '
                'JSON file with "labels" and "gain".'
            )
        with about(path):
            return cls.from_json(read_json(path), path.stem)


ACCURACY, BALANCED = Utility("accuracy"), Utility("balanced")


@dataclass(frozen=True)
class Achieved:
    """The utility of a fair lottery, and of the model's own answers, on the same people."""

    name: str
    value: float
    model_value: float

    def to_json(self) -> dict[str, Any]:
        """The form that solutions and evaluations carry."""
        return vars(self).copy()
