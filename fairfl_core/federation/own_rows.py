"""A client's rows as our own training sees them: split, scaled, and never sent."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairfl_core._io.names import listed
from fairfl_core.data.columns import as_numbers, code_names
from fairfl_core.data.datasets import People
from fairfl_core.data.tables import open_table_at, read_rows
from fairfl_core.errors import InputError
from fairfl_core.federation.folders import CLIENT, ClientFolder
from fairfl_core.federation.scores import check_groups, codes_among
from fairfl_core.federation.study import Study
from fairfl_core.federation.wire import Refusal
from fairfl_core.training.data import (
    TEST,
    TRAINING,
    VALIDATION,
    Federation,
    Moments,
    Scaler,
    deal_units,
    scaled,
)
from fairfl_core.training.trainers import make_trainer

__all__ = ["OwnRows", "pooled_scalers"]

_PARTS = {TRAINING: "training", VALIDATION: "validation", TEST: "test"}
_SPLIT, _FOLD = 1, 2  # streams of random numbers: the seed comes first, then one of these


def _read_table(folder: ClientFolder, study: Study) -> tuple[People, tuple[str, ...]]:
    """Read the people of a client's table, and their row ids; refuse what the study cannot use."""
    if folder.name not in study.clients:
        raise Refusal(
            f'{folder.path / CLIENT}: the client "{folder.name}" is not one of the study '
            f"({listed(study.clients)}); correct the name.",
            "its name is not one of the study",
        )
    named, features = folder.data, study.features
    for needed in ("table", "label", "group"):
        if needed not in named:
            raise Refusal(
                f'{folder.path / CLIENT}: [data] lacks "{needed}"; name it.',
                "its folder does not name all columns",
            )
    label, group = named["label"], named["group"]
    unit, row_id = named.get("unit"), named.get("row_id")
    names = [label, group, *features.categories, *([unit] if unit else [])]
    try:
        wanted = [*names, *([row_id] if row_id else [])]
        table = read_rows(open_table_at(folder.path / named["table"]), wanted, features.numbers)
        coded = {name: code_names(table[name], name) for name in names}
    except InputError as error:
        rows = "no rows" in str(error)
        raise Refusal(
            str(error),
            "its table has no rows" if rows else "its table lacks what the study needs",
        ) from error
    check_groups(coded[group])
    columns = [_numbers(table[name], name)[:, None] for name in features.numbers]
    for name, known in features.categories.items():
        columns.append(np.eye(len(known))[codes_among(coded[name], name, known, "features")])
    rows = table.num_rows
    people = People(
        inputs=np.concatenate(columns, axis=1).astype(np.float32),
        scaled=len(features.numbers),
        label=codes_among(coded[label], label, study.labels, "labels").astype(np.int16),
        group=codes_among(coded[group], group, study.groups, "groups").astype(np.int16),
        client=np.full(rows, study.clients.index(folder.name), np.int16),
        unit=(coded[unit].codes if unit else np.arange(rows)).astype(np.int32),
        labels=study.labels,
        groups=study.groups,
        clients=study.clients,
        favourable=study.favourable,
    )
    ids = table[row_id].to_pylist() if row_id else range(1, rows + 1)
    return people, tuple(map(str, ids))


def _numbers(column: Any, name: str) -> NDArray[np.float64]:
    values = as_numbers(column)
    wrong = np.isnan(values)
    if wrong.any():
        raise Refusal(
            f'column "{name}", data row {int(np.argmax(wrong)) + 1:,} is not a finite number; '
            "correct it or leave the row out.",
            "a quantity in its table is not a number",
        )
    return values


class OwnRows:
    """The people of one client's folder, split by a stream of its own.

    Parameters
    ----------
    folder : ClientFolder
    study : Study
    """

    def __init__(self, folder: ClientFolder, study: Study) -> None:
        self.folder, self.study = folder, study
        self.people, self.row_id = _read_table(folder, study)
        self.place = study.clients.index(folder.name)

    @cached_property
    def base_split(self) -> NDArray[np.int8]:
        """Training, validation or test for each row."""
        unit = self.people.unit
        split = deal_units(unit, self.study.split, self._stream(_SPLIT))
        for part, name in _PARTS.items():
            if not (split == part).any():
                raise Refusal(
                    f"{self.folder.path}: {len(unit):,} rows leave nobody for {name}; it takes "
                    "more people to take part.",
                    "it has too few people",
                )
        return split

    @cached_property
    def splits(self) -> list[NDArray[np.int8]]:
        """The split of each model: as it is, or one with each fold held out."""
        split, folds = self.base_split, self.study.folds
        if not folds:
            return [split]
        fitted = split != TEST
        dealt = np.full(len(split), -1, np.int8)
        shares = (1 / folds,) * folds
        dealt[fitted] = deal_units(self.people.unit[fitted], shares, self._stream(_FOLD))
        if len(np.unique(dealt[fitted])) < folds:
            raise Refusal(
                f"{self.folder.path}: {int(fitted.sum()):,} rows to train on leave one of {folds} "
                "folds empty; ask for fewer folds.",
                "it has too few people for so many folds",
            )
        parts = [np.where(dealt == fold, VALIDATION, TRAINING) for fold in range(folds)]
        return [np.where(split == TEST, TEST, part).astype(np.int8) for part in parts]

    def _stream(self, which: int) -> np.random.Generator:
        return np.random.default_rng([self.study.seed, which, self.place])

    def label_rows(self) -> NDArray[np.int64]:
        """Training rows of each label, shape (models, labels)."""
        label, labels = self.people.label, len(self.study.labels)
        return np.stack(
            [np.bincount(label[split == TRAINING], minlength=labels) for split in self.splits]
        )

    def moments(self) -> NDArray[np.float64]:
        """Values, sums and squares of each model's training rows, shape (models, 1 + 2 q)."""
        found = []
        for split in self.splits:
            of = Moments.of(self.people.inputs[split == TRAINING, : self.people.scaled])
            found.append(np.concatenate([[of.rows], of.total, of.squares]))
        return np.stack(found)

    def federation(self, model: int, scaler: Scaler) -> Federation:
        """The client's rows as one model's training sees them."""
        return Federation(scaled(self.people, scaler), self.splits[model])

    def scores(
        self, model: int, arrays: Mapping[str, NDArray[Any]]
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Score the rows that a model was not trained on: their numbers, and their scores.

        `arrays` are the model's theta, shift and spread.
        """
        federation = self.federation(model, Scaler(arrays["shift"], arrays["spread"]))
        rows = np.flatnonzero(self.splits[model] != TRAINING).astype(np.int32)
        trainer = make_trainer(federation, self.study.recipe)
        return rows, trainer.scores(arrays["theta"].astype(np.float32), rows)


def pooled_scalers(study: Study, moments: Sequence[NDArray[np.float64]]) -> list[Scaler]:
    """The scaler of each model, of all clients' training rows together."""
    scalers = []
    for model in range(study.models):
        parts = []
        for own in moments:
            total, squares = np.split(own[model][1:], 2)
            parts.append(Moments(int(own[model][0]), total, squares))
        scalers.append(Moments.pooled(parts).scaler())
    return scalers
