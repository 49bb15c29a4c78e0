"""The one thing a client sends: n[client, group, label, prediction], a table of counts."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairfl_core._io.json_files import LARGEST, check_keys, nested_numbers, read_json, write_json
from fairfl_core._io.names import (
    as_name,
    as_series,
    check_names,
    coded,
    declared_names,
    in_order,
    listed,
    positions,
)
from fairfl_core.errors import InputError

if TYPE_CHECKING:  # pandas takes half a second to import and JSON counts do not need it
    import pandas as pd

__all__ = ["FORMAT", "ClientCounts"]

FORMAT = "fairfl-counts/1"
_KEYS = {"format", "labels", "favourable", "groups", "clients", "noisy"}


@dataclass(frozen=True, eq=False)
class ClientCounts:
    """Rows of each client by group, true label and the model's prediction.

    Attributes
    ----------
    table : ndarray, shape (clients, groups, labels, labels)
        ``table[c, a, y, j]`` is the number of people of client c and group a whose label is y
        and for whom the model (argmax of its score, the paper's Y_1) says j. Integers; reals
        when `noisy`.
    clients, groups, labels : tuple of str
        Names, in the order of the table's axes.
    favourable : str
        The label that equal opportunity (`eop`) looks at; the last one unless said.
    noisy : bool
        Whether noise was added for privacy, so that the counts may be reals.
    """

    table: NDArray[Any]
    clients: tuple[str, ...]
    groups: tuple[str, ...]
    labels: tuple[str, ...]
    favourable: str = ""
    noisy: bool = False

    def __post_init__(self) -> None:
        for field in ("clients", "groups", "labels"):
            names = tuple(str(name) for name in getattr(self, field))
            check_names(names, field)
            object.__setattr__(self, field, names)
        favourable = self.favourable or self.labels[-1]
        if favourable not in self.labels:
            raise InputError(
                f'the favourable label "{favourable}" is not one of the labels '
                f"({listed(self.labels)}); choose one of them."
            )
        object.__setattr__(self, "favourable", favourable)
        object.__setattr__(self, "table", self._checked_table())

    def _checked_table(self) -> NDArray[Any]:
        shape = (len(self.clients), len(self.groups), len(self.labels), len(self.labels))
        table = np.asarray(self.table)
        if table.shape != shape:
            raise InputError(
                f"counts have the shape {table.shape}, but {shape[0]} clients, {shape[1]} groups "
                f"and {shape[2]} labels need {shape}; give one number for each."
            )
        values = np.array(table, dtype=float)
        for wrong, what in (
            (~np.isfinite(values), "not finite"),
            (values < 0, "negative"),
            (values > LARGEST, "too large"),
            (np.zeros(shape, bool) if self.noisy else values % 1 != 0, "not a whole number"),
        ):
            if wrong.any():
                c, a, y, j = (int(i) for i in np.argwhere(wrong)[0])
                raise InputError(
                    f"{self._place(c, a, y, j)} is {values[c, a, y, j]:g}, {what}; counts are "
                    'non-negative integers (reals only with "noisy": true).'
                )
        rows = values.sum(axis=(1, 2, 3))
        if rows.sum() > LARGEST:
            raise InputError("the counts add up to more people than can be counted exactly.")
        if not rows.all() and not self.noisy:  # noise may take a small client's every row
            empty = self.clients[int(np.argmin(rows))]
            raise InputError(f'client "{empty}" has no rows; leave it out or give its counts.')
        checked = values if self.noisy else values.astype(np.int64)
        checked.setflags(write=False)
        return checked

    def _place(self, c: int, a: int, y: int, j: int) -> str:
        return (
            f'the count of client "{self.clients[c]}", group "{self.groups[a]}", '
            f'label "{self.labels[y]}", prediction "{self.labels[j]}"'
        )

    # ---------------------------------------------------------------- what follows from it

    @property
    def n(self) -> float:
        """All people."""
        return cast(float, self.table.sum().item())

    @property
    def n_client(self) -> NDArray[Any]:
        """People of each client, shape (clients,)."""
        return cast(NDArray[Any], self.table.sum(axis=(1, 2, 3)))

    @property
    def n_label(self) -> NDArray[Any]:
        """People by client, group and true label: n[c, a, y, .] (the paper's p_ac^y times n)."""
        return cast(NDArray[Any], self.table.sum(axis=3))

    @property
    def model_accuracy(self) -> float:
        """Share of people for whom the model's own answer is right."""
        return float(np.einsum("cayy->", self.table) / self.n)

    def take(self, clients: Sequence[str]) -> "ClientCounts":
        """Return the counts of some clients only, in the order given."""
        missing = [name for name in clients if name not in self.clients]
        if missing:
            raise InputError(
                f'there is no client "{missing[0]}" in the counts; they hold {listed(self.clients)}.'
            )
        rows = [self.clients.index(name) for name in clients]
        return ClientCounts(
            self.table[rows], tuple(clients), self.groups, self.labels, self.favourable, self.noisy
        )

    # ---------------------------------------------------------------- from rows

    @classmethod
    def from_arrays(
        cls,
        client: ArrayLike,
        group: ArrayLike,
        label: ArrayLike,
        prediction: ArrayLike | None = None,
        *,
        scores: ArrayLike | None = None,
        clients: Sequence[str] | None = None,
        groups: Sequence[str] | None = None,
        labels: Sequence[str] | None = None,
        favourable: str | None = None,
    ) -> "ClientCounts":
        """Count rows given as arrays, one entry a person; see `from_table`."""
        import pandas as pd

        columns: dict[str, Any] = {
            "client": as_series(client).array,
            "group": as_series(group).array,
            "label": as_series(label).array,
        }
        score_columns: list[str] | None = None
        if scores is not None:
            matrix = np.asarray(scores)
            if matrix.ndim != 2:
                raise InputError("scores must be a matrix: one row a person, one column a label.")
            score_columns = [f"score_{i}" for i in range(matrix.shape[1])]
            columns |= {name: matrix[:, i] for i, name in enumerate(score_columns)}
        if prediction is not None:
            columns["prediction"] = as_series(prediction).array
        if len({len(column) for column in columns.values()}) > 1:
            raise InputError(
                "the arrays differ in length; give one entry a person in each of them."
            )
        return cls.from_table(
            pd.DataFrame(columns), client="client", group="group", label="label",
            prediction=None if prediction is None else "prediction", scores=score_columns,
            clients=clients, groups=groups, labels=labels, favourable=favourable,
        )  # fmt: skip

    @classmethod
    def from_table(
        cls,
        rows: "pd.DataFrame",
        *,
        client: str,
        group: str,
        label: str,
        prediction: str | None = None,
        scores: Sequence[str] | None = None,
        clients: Sequence[str] | None = None,
        groups: Sequence[str] | None = None,
        labels: Sequence[str] | None = None,
        favourable: str | None = None,
    ) -> "ClientCounts":
        """Count the rows of a predictions table.

        Parameters
        ----------
        rows : DataFrame
            One row a person.
        client, group, label : str
            The columns that hold them.
        prediction : str, optional
            The column of the model's answers; or
        scores : sequence of str, optional
            One column of scores per label, in the order of `labels`. The largest score is the
            prediction; of equal ones, the first.
        clients, groups, labels : sequence of str, optional
            The names to expect and their order. Default: those seen, sorted.
        favourable : str, optional
            Default: the last label.
        """
        clients, groups, labels = (
            None if names is None else tuple(map(as_name, names))
            for names in (clients, groups, labels)
        )
        _check_columns(rows, [client, group, label], prediction, scores)
        client_codes, client_names = coded(rows[client], client)
        group_codes, group_names = coded(rows[group], group)
        label_codes, label_names = coded(rows[label], label)
        clients = declared_names(
            clients, client_names, client_codes, client, "client", "--clients"
        )
        groups = declared_names(groups, group_names, group_codes, group, "group", "--groups")
        if prediction is not None:
            answer_codes, answer_names = coded(rows[prediction], prediction)
            seen = list(dict.fromkeys([*label_names, *answer_names]))
            labels = tuple(labels) if labels else in_order(seen)
            labels = declared_names(
                labels, answer_names, answer_codes, prediction, "label", "--labels"
            )
            answers = positions(answer_names, labels)[answer_codes]
        else:
            scores = list(scores or [])
            if len(set(scores)) < len(scores):
                twice = next(name for name in scores if scores.count(name) > 1)
                raise InputError(
                    f'the score column "{twice}" is given twice; give one column per label.'
                )
            labels = tuple(labels) if labels else in_order(label_names)
            if len(labels) != len(scores):
                raise InputError(
                    f"there are {len(scores)} score columns but {len(labels)} labels in column "
                    f'"{label}" ({listed(labels)}); give one score column per label, and name '
                    "the labels with --labels where the rows do not hold them all."
                )
            answers = _largest(rows, scores)
        labels = declared_names(labels, label_names, label_codes, label, "label", "--labels")
        shape = (len(clients), len(groups), len(labels), len(labels))
        codes = (
            positions(client_names, clients)[client_codes],
            positions(group_names, groups)[group_codes],
            positions(label_names, labels)[label_codes],
            answers,
        )
        flat = np.ravel_multi_index(codes, shape)
        table = np.bincount(flat, minlength=int(np.prod(shape))).reshape(shape)
        favourable = "" if favourable is None else as_name(favourable)
        return cls(table, clients, groups, labels, favourable)

    # ---------------------------------------------------------------- JSON

    def to_json(self) -> dict[str, Any]:
        """The `fairfl-counts/1` form, ready for `json.dumps`."""
        value: dict[str, Any] = {
            "format": FORMAT,
            "labels": list(self.labels),
            "favourable": self.favourable,
            "groups": list(self.groups),
            "clients": [
                {"name": name, "counts": counts.tolist()}
                for name, counts in zip(self.clients, self.table, strict=True)
            ],
        }
        return value | ({"noisy": True} if self.noisy else {})

    @classmethod
    def from_json(cls, value: Any) -> "ClientCounts":
        """Check and take a `fairfl-counts/1` object."""
        if not isinstance(value, dict) or value.get("format") != FORMAT:
            raise InputError(f'"format" is not "{FORMAT}"; make the file with `fairfl count`.')
        check_keys(value, _KEYS, {"noisy"}, "the file")
        for key in ("labels", "groups"):
            if not _is_list_of(value[key], str):
                raise InputError(f'"{key}" must be a list of names (strings).')
        noisy = value.get("noisy", False)
        if not isinstance(noisy, bool):
            raise InputError('"noisy" must be true or false.')
        if not isinstance(value["favourable"], str):
            raise InputError('"favourable" must be the name of a label (a string).')
        if not _is_list_of(value["clients"], dict):
            raise InputError('"clients" must be a list of objects with "name" and "counts".')
        names, tables = [], []
        for place, entry in enumerate(value["clients"]):
            check_keys(entry, {"name", "counts"}, set(), f"clients[{place}]")
            if not isinstance(entry["name"], str):
                raise InputError(f'clients[{place}]: "name" must be a string.')
            names.append(entry["name"])
            where = f'client "{entry["name"]}"'
            axes = (
                ("group", value["groups"]),
                ("label", value["labels"]),
                ("prediction", value["labels"]),
            )
            tables.append(nested_numbers(entry["counts"], axes, f"{where}, counts"))
        shape = (len(names), len(value["groups"]), len(value["labels"]), len(value["labels"]))
        if not noisy and any(isinstance(cell, float) for table in tables for cell in table):
            place = next(i for i, t in enumerate(tables) if any(isinstance(x, float) for x in t))
            raise InputError(
                f'client "{names[place]}": a count is a real number; counts are integers '
                'unless the file says "noisy": true.'
            )
        table = np.array(tables, dtype=float).reshape(shape)
        return cls(
            table, tuple(names), tuple(value["groups"]), tuple(value["labels"]),
            value["favourable"], noisy,
        )  # fmt: skip

    @classmethod
    def read(cls, path: str | Path) -> "ClientCounts":
        """Read a `fairfl-counts/1` file."""
        value = read_json(path)
        try:
            return cls.from_json(value)
        except InputError as error:
            raise InputError(f"{path}: {error}") from error

    def write(self, path: str | Path) -> Path:
        """Write a `fairfl-counts/1` file, whole or not at all."""
        return write_json(path, self.to_json())


# -------------------------------------------------------------------- columns


def _check_columns(
    rows: "pd.DataFrame", names: list[str], prediction: str | None, scores: Sequence[str] | None
) -> None:
    if (prediction is None) == (not scores):
        raise InputError("give either a prediction column or score columns, one of the two.")
    for name in [*names, *([prediction] if prediction else scores or [])]:
        found = list(rows.columns).count(name)
        if found != 1:
            raise InputError(
                f'there is no column "{name}"; the table has {listed(list(map(str, rows.columns)))}.'
                if found == 0
                else f'the column "{name}" stands {found} times; rename all but one.'
            )
    if not len(rows):
        raise InputError("the table has no rows; give at least one person.")


def _largest(rows: "pd.DataFrame", scores: Sequence[str]) -> NDArray[np.int64]:
    """Which label has the largest score in each row; of equal ones, the first."""
    import pandas as pd

    columns = []
    for name in scores:
        values = pd.to_numeric(rows[name], errors="coerce").to_numpy(dtype=float, na_value=np.nan)
        wrong = ~np.isfinite(values)
        if wrong.any():
            row = int(np.argmax(wrong))
            raise InputError(
                f'column "{name}", data row {row + 1}: the score "{rows[name].iloc[row]!s:.40}" is '
                "not a finite number; correct it or leave the row out."
            )
        columns.append(values)
    best, answer = columns[0], np.zeros(len(rows), dtype=np.int64)
    for place, column in enumerate(columns[1:], start=1):
        answer[column > best] = place
        best = np.maximum(best, column)
    return answer


# -------------------------------------------------------------------- JSON pieces


def _is_list_of(value: Any, kind: type) -> bool:
    return isinstance(value, list) and all(isinstance(item, kind) for item in value)
