"""The one thing a client sends: n[client, group, label, prediction], a table of counts."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairfl_core._io.files import (
    LARGEST,
    check_keys,
    json_text,
    nested_numbers,
    read_json,
    write_json,
)
from fairfl_core._io.frames import notebook_html
from fairfl_core._io.names import as_name, check_names, listed
from fairfl_core._io.numbers import count, percent
from fairfl_core.data.answers import Answers, of_lottery, unchanged
from fairfl_core.data.columns import Grouping
from fairfl_core.data.weighting import MissingGroup, Weighting
from fairfl_core.errors import InputError, about, extra

if TYPE_CHECKING:
    import pandas as pd

    from fairfl_core.data.coding import CodedPeople

FORMAT = "fairfl-counts/1"
MOST_LABELS = 200
Codes = NDArray[np.integer[Any]]
_OPTIONAL = {
    "noisy",
    "folds",
    "grouping",
    "weights",
    "missing_group",
    "note",
}  # a note is for people, and not kept
_KEYS = {"format", "labels", "favourable", "groups", "clients", *_OPTIONAL}


def check_most_labels(labels: Sequence[str]) -> None:
    """Refuse more labels than a program can compare: a table has a number for each two of them."""
    if len(labels) > MOST_LABELS:
        raise InputError(
            f"there are {len(labels):,} labels; at most {MOST_LABELS} can be compared: put them "
            "into fewer classes, or choose the column of the label."
        )


def table_shape(
    clients: Sequence[str], groups: Sequence[str], labels: Sequence[str]
) -> tuple[int, int, int, int]:
    """The shape of a table of counts: clients, groups, labels, predictions."""
    return len(clients), len(groups), len(labels), len(labels)


def count_people(
    client: Codes,
    group: Codes,
    label: Codes | int,
    prediction: Codes,
    shape: tuple[int, int, int, int],
    weight: ArrayLike | None = None,
) -> NDArray[Any]:
    """The table n[client, group, label, prediction] of people given as codes.

    Parameters
    ----------
    client, group, label, prediction : array of int
        One code a person; a label that holds for everybody may be given once.
    shape : tuple of int
        How many clients, groups, labels and predictions there are; see `table_shape`.
    weight : array of float, optional
        What each person counts for; one unless given.
    """
    cell = np.ravel_multi_index((client, group, label, prediction), shape)
    return np.bincount(cell, weight, minlength=int(np.prod(shape))).reshape(shape)


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
        The label that equal opportunity (`eop`) looks at; the last one unless given.
    noisy : bool
        Whether noise was added for privacy, so that the counts may be reals.
    estimated : bool
        Whether they are reals without noise: means over fold models, or rates from scores.
    folds : int
        How many models answered: J when cross-fitted, each person by the one of them that never
        saw them; else 1.
    grouping : Grouping or None
        Of which columns the groups are crossed; None for groups of one column.
    score_columns : tuple of str or None
        Of which columns, one a label, the predictions are the largest; not written to files.
    weighting : Weighting or None
        How people were weighted: then the table holds reals that add up to the effective number.
    missing : MissingGroup or None
        What was made of rows whose group is missing; None where there were none.
    """

    table: NDArray[Any]
    clients: tuple[str, ...]
    groups: tuple[str, ...]
    labels: tuple[str, ...]
    favourable: str = ""
    noisy: bool = False
    estimated: bool = field(default=False, kw_only=True)
    folds: int = field(default=1, kw_only=True)
    grouping: Grouping | None = field(default=None, kw_only=True)
    score_columns: tuple[str, ...] | None = field(default=None, kw_only=True)
    weighting: Weighting | None = field(default=None, kw_only=True)
    missing: MissingGroup | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        for axis in ("clients", "groups", "labels"):
            given = getattr(self, axis)
            if isinstance(given, str) or not isinstance(given, Iterable):
                raise InputError(f"{axis} must be a list of names, not {given!r:.40}; give one.")
            names = tuple(str(name) for name in given)
            check_names(names, axis)
            object.__setattr__(self, axis, names)
        check_most_labels(self.labels)
        favourable = self.favourable or self.labels[-1]
        if favourable not in self.labels:
            raise InputError(
                f'the favourable label "{favourable}" is not one of the labels '
                f"({listed(self.labels)}); choose one of them."
            )
        object.__setattr__(self, "favourable", favourable)
        if not isinstance(self.folds, int) or isinstance(self.folds, bool) or self.folds < 1:
            raise InputError('"folds" must be a whole number of fold models, 1 or more.')
        if self.grouping is not None and len(self.grouping.groups) != len(self.groups):
            raise InputError(
                f'"grouping" tells of {len(self.grouping.groups)} groups, but there are '
                f"{len(self.groups)} ({listed(self.groups)}); give the values of each."
            )
        object.__setattr__(self, "table", self._checked_table())

    def _checked_table(self) -> NDArray[Any]:
        shape = table_shape(self.clients, self.groups, self.labels)
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
            (values % 1 != 0 if self._is_whole else np.zeros(shape, bool), "not a whole number"),
        ):
            if wrong.any():
                c, a, y, j = (int(i) for i in np.argwhere(wrong)[0])
                raise InputError(
                    f'the count of client "{self.clients[c]}", group "{self.groups[a]}", label '
                    f'"{self.labels[y]}", prediction "{self.labels[j]}" is {values[c, a, y, j]:g}, '
                    f"{what}; counts are non-negative integers (reals only with "
                    '"noisy": true).'
                )
        rows = values.sum(axis=(1, 2, 3))
        if rows.sum() > LARGEST:
            raise InputError("the counts add up to more people than can be counted exactly.")
        if not rows.all() and not self.noisy:  # noise may take a small client's every row
            empty = self.clients[int(np.argmin(rows))]
            raise InputError(f'client "{empty}" has no rows; leave it out or give its counts.')
        checked = values.astype(np.int64) if self._is_whole else values
        checked.setflags(write=False)
        return checked

    @property
    def _is_whole(self) -> bool:
        """Whether they are whole numbers: counted people without noise or weights."""
        return not self.noisy and self.weighting is None

    # ---------------------------------------------------------------- what follows from it

    @property
    def has_noise(self) -> bool:
        """Whether they carry noise, which no interval contains."""
        return self.noisy and not self.estimated

    @property
    def whom(self) -> str:
        """What is counted, for a sentence: noised counts are no people, nor are weighted ones."""
        if self.has_noise:
            return "noised counts"
        return "people" if self.weighting is None else "people (the effective number)"

    @cached_property
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

    @property
    def counts(self) -> "ClientCounts":
        """Themselves: people of every kind have counts."""
        return self

    def under_lottery(self, lottery: NDArray[np.float64]) -> Answers:
        """Answers under Pr(answer k | model says j), shape (clients, groups, labels, labels)."""
        return of_lottery(self.table, lottery)

    @cached_property
    def own_answers(self) -> Answers:
        """What the model itself answers."""
        return self.under_lottery(unchanged(self.table.shape))

    def under_chances(self, chances_of: Any, cuts_of: Any = None) -> Answers:
        """Counts hold no scores: say so."""
        raise InputError(
            "a predictor of the exact region looks at scores, which counts do not hold; "
            "judge it on the table of scores."
        )

    def coarsen(self, grouping: str) -> tuple[NDArray[np.int64], tuple[str, ...]]:
        """Each group's place among those of some of its columns; see `Grouping.coarsen`."""
        if self.grouping is None:
            raise InputError(
                f'the grouping "{grouping}" needs groups that are crossed of several columns, and '
                "these counts do not say of which; count them again with --group COLUMN,COLUMN."
            )
        return self.grouping.coarsen(grouping)

    def select_clients(self, clients: Sequence[str]) -> "ClientCounts":
        """Return the counts of some clients only, in the order given."""
        place = {name: row for row, name in enumerate(self.clients)}
        missing = [name for name in clients if name not in place]
        if missing:
            raise InputError(
                f'there is no client "{missing[0]}" in the counts; they hold {listed(self.clients)}.'
            )
        rows = [place[name] for name in clients]
        unknown = self.missing
        if unknown is not None and unknown.table is not None:
            unknown = replace(unknown, table=unknown.table[rows])
        return replace(
            self,
            table=self.table[rows],
            clients=tuple(clients),
            weighting=None if self.weighting is None else self.weighting.of_clients(rows),
            missing=unknown,
        )

    def remarks(self) -> list[str]:
        """What a person should know of how these people were counted, in sentences."""
        kinds = (self.weighting, self.missing)
        return [one.sentence(self.n) for one in kinds if one is not None]

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
        """Count rows given as arrays, one entry a person; see `from_table`.

        The columns of `scores` are in the order of `labels`, sorted unless given.
        """
        from fairfl_core.data.coding import columns_of_arrays

        arrays = {"client": client, "group": group, "label": label, "prediction": prediction}
        columns, score_columns = columns_of_arrays(arrays, scores, labels)
        counted = cls.from_table(
            columns,
            client="client",
            group="group",
            label="label",
            prediction=None if prediction is None else "prediction",
            scores=score_columns,
            clients=clients,
            groups=groups,
            labels=labels,
            favourable=favourable,
        )
        return replace(counted, score_columns=None)  # an array's columns have no names

    # ---------------------------------------------------------------- tables, notebooks

    def to_frame(self) -> "pd.DataFrame":
        """One row a client, group, label and prediction, with the number of people, ``n``."""
        with extra("app"):
            import pandas as pd

        axes = [self.clients, self.groups, self.labels, self.labels]
        index = pd.MultiIndex.from_product(axes, names=["client", "group", "label", "prediction"])
        return pd.DataFrame({"n": self.table.ravel()}, index=index).reset_index()

    def _repr_html_(self) -> str:
        by_group = self.table.sum(axis=(2, 3))
        right = np.einsum("cajj->c", self.table)
        return notebook_html(
            f"Counts of {count(self.n)} people in {len(self.clients):,} clients",
            [
                f"Labels: {', '.join(self.labels)}; favourable: {self.favourable}. The model is "
                f"right for {percent(self.model_accuracy)}."
            ],
            ["client", "people", *self.groups, "model right"],
            (
                [
                    name,
                    count(by_group[c].sum()),
                    *map(count, by_group[c]),
                    percent(right[c] / max(by_group[c].sum(), 1e-12)),
                ]
                for c, name in enumerate(self.clients)
            ),
            len(self.clients),
        )

    @classmethod
    def from_table(
        cls,
        rows: Any,
        *,
        client: str,
        group: str | Sequence[str],
        label: str,
        prediction: str | None = None,
        scores: Sequence[str] | Mapping[str, str] | None = None,
        clients: Sequence[str] | None = None,
        groups: Sequence[str] | None = None,
        labels: Sequence[str] | None = None,
        favourable: str | None = None,
        fold: str | None = None,
        row_id: str | None = None,
        probability: str | None = None,
        probability_of: str | None = None,
        threshold: float = 0.5,
        weight: str | None = None,
        missing_group: str | None = None,
    ) -> "ClientCounts":
        """Count the rows of a predictions table.

        Parameters
        ----------
        rows : table of pandas, polars or Arrow, or mapping from names to columns
            One row a person.
        client, group, label : str
            The columns that hold them. Several columns of the group are crossed: every
            combination that a row has is a group, like ``female · Black``.
        prediction : str, optional
            The column of the model's answers; or
        scores : sequence of str, or mapping from label to column, optional
            One column of scores per label. Which is whose follows from their names (``ill``,
            ``p_ill``, ``P(ill)``), by the mapping, or else by the order of `labels`, which must
            then be given. The largest score is the prediction; of equal ones, the first.
        clients, groups, labels : sequence of str, optional
            The names to expect and their order. Default: those seen, sorted.
        favourable : str, optional
            Default: the last label.
        fold, row_id : str, optional
            Of cross-fitted predictions: the column of the fold whose model, which never saw the
            person, gave them; and the column that names the person inside a client.
        probability, probability_of, threshold
            Of two labels, instead of scores: the column of the probability of one of them, which
            it is, and from which number on the model answers it.
        weight : str, optional
            The column of what each person counts for (a survey's weights); see `Weighting`.
        missing_group : {"drop", "own", "bound"}, optional
            What becomes of rows whose group is missing: left out, a group of their own, or gaps
            are the worst of what they may be. Refused unless given.
        """
        from fairfl_core.data.coding import TableColumns, code_people

        columns = TableColumns(
            client=client,
            group=group,
            label=label,
            prediction=prediction,
            scores=scores,
            clients=clients,
            groups=groups,
            labels=labels,
            fold=fold,
            row_id=row_id,
            probability=probability,
            probability_of=probability_of,
            threshold=threshold,
            weight=weight,
            missing_group=missing_group,
        )
        return cls.from_people(code_people(rows, columns), favourable)

    @classmethod
    def from_people(cls, people: "CodedPeople", favourable: str | None = None) -> "ClientCounts":
        """Count people whose rows are coded already."""
        names = people.clients, people.groups, people.labels
        shape = table_shape(*names)
        who = people.client, people.group, people.label, people.prediction
        favourable = "" if favourable is None else as_name(favourable)
        weighting, missing, weight = None, people.missing, people.weight
        if weight is None:
            table = count_people(*who, shape)
        else:
            if people.folds > 1:
                raise InputError("weights are for one model, not for fold models; leave one out.")
            ratio = weight / weight.max()  # squares of very small numbers are 0
            scaled = ratio * (ratio.sum() / (ratio**2).sum())
            table = count_people(*who, shape, scaled)
            squares = count_people(*who, shape, scaled**2).sum(axis=3)
            weighting = Weighting(int((weight > 0).sum()), float(weight.sum()), squares)
            if missing is not None and missing.table is not None:
                missing = replace(missing, table=missing.table * (scaled.sum() / weight.sum()))
        return cls(
            table,
            *names,
            favourable,
            folds=people.folds,
            grouping=people.grouping,
            score_columns=people.score_columns,
            weighting=weighting,
            missing=missing,
        )

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
        if self.noisy:
            value["noisy"] = True
        if self.folds > 1:
            value["folds"] = self.folds
        if self.grouping is not None:
            value["grouping"] = self.grouping.to_json()
        if self.weighting is not None:
            value["weights"] = self.weighting.to_json()
        if self.missing is not None:
            value["missing_group"] = self.missing.to_json()
        return value

    @classmethod
    def from_json(cls, value: Any) -> "ClientCounts":
        """Check and take a `fairfl-counts/1` object."""
        if not isinstance(value, dict) or value.get("format") != FORMAT:
            raise InputError(f'"format" is not "{FORMAT}"; make the file with `fairfl count`.')
        check_keys(value, _KEYS, _OPTIONAL, "the file")
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
            labels = value["labels"]
            axes = ("group", value["groups"]), ("label", labels), ("prediction", labels)
            tables.append(nested_numbers(entry["counts"], axes, f"{where}, counts"))
        shape = (len(names), len(value["groups"]), len(value["labels"]), len(value["labels"]))
        table = np.array(tables, dtype=float).reshape(shape)
        fields = tuple(names), tuple(value["groups"]), tuple(value["labels"])
        grouping = Grouping.from_json(value["grouping"]) if "grouping" in value else None
        more = {"folds": value.get("folds", 1), "grouping": grouping}
        if "weights" in value:
            axes_of = (names, value["groups"], value["labels"])
            more["weighting"] = Weighting.from_json(value["weights"], *axes_of)
        if "missing_group" in value:
            given = value["missing_group"]
            more["missing"] = MissingGroup.from_json(given, names, value["labels"])
        return cls(table, *fields, value["favourable"], noisy, **more)

    @classmethod
    def read(cls, path: str | Path) -> "ClientCounts":
        """Read a `fairfl-counts/1` file."""
        value = read_json(path)
        with about(path):
            return cls.from_json(value)

    @cached_property
    def sha256(self) -> str:
        """The hash of its `fairfl-counts/1` file, as `sha256sum` tells it."""
        return hashlib.sha256(json_text(self.to_json()).encode()).hexdigest()

    def write(self, path: str | Path) -> Path:
        """Write a `fairfl-counts/1` file, whole or not at all."""
        return write_json(path, self.to_json())


def _is_list_of(value: Any, kind: type) -> bool:
    return isinstance(value, list) and all(isinstance(item, kind) for item in value)
