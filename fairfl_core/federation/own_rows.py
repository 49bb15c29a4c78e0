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
    scaled,
    split_people,
)
from fairfl_core.training.trainers import make_trainer

__all__ = ["OwnRows", "pooled_scalers"]

_PARTS = {TRAINING: "training", VALIDATION: "validation", TEST: "test"}


def _read_table(folder: ClientFolder, study: Study) -> tuple[People, list[str]]:
    """Read the people of a client's table, and their row ids; refuse what the study cannot use."""
    named, features = folder.data, study.features
    label, group, unit, row_id = map(named.get, ("label", "group", "unit", "row_id"))
    try:
        names = [str(label), str(group), *features.categories, *([unit] if unit else [])]
        wanted = [*names, *([row_id] if row_id else [])]
        table = read_rows(open_table_at(folder.path / named["table"]), wanted, features.numbers)
        coded = {name: code_names(table[name], name) for name in names}
        columns = []
        for name in features.numbers:
            columns.append(as_numbers(table[name])[:, None])
            if np.isnan(columns[-1]).any():
                raise InputError(
                    f'column "{name}", data row {int(np.isnan(columns[-1]).argmax()) + 1:,} is '
                    "not a finite number; correct it or leave the row out."
                )
    except InputError as error:
        raise Refusal(str(error), "its table lacks what the study needs") from error
    check_groups(coded[str(group)])
    for name, known in features.categories.items():
        columns.append(np.eye(len(known))[codes_among(coded[name], name, known, "features")])
    rows = table.num_rows
    people = People(
        inputs=np.concatenate(columns, axis=1).astype(np.float32),
        scaled=len(features.numbers),
        label=codes_among(coded[str(label)], str(label), study.labels, "labels").astype(np.int16),
        group=codes_among(coded[str(group)], str(group), study.groups, "groups").astype(np.int16),
        client=np.full(rows, study.clients.index(folder.name), np.int16),
        unit=(coded[unit].codes if unit else np.arange(rows)).astype(np.int32),
        labels=study.labels,
        groups=study.groups,
        clients=study.clients,
        favourable=study.favourable,
    )
    ids = table[row_id].to_pylist() if row_id else range(1, rows + 1)
    return people, [str(one) for one in ids]


class OwnRows:
    """The people of one client's folder.

    Parameters
    ----------
    folder : ClientFolder
    study : Study
    """

    def __init__(self, folder: ClientFolder, study: Study) -> None:
        if folder.name not in study.clients:
            raise Refusal(
                f'{folder.path / CLIENT}: the client "{folder.name}" is not one of the study '
                f"({listed(study.clients)}); correct the name.",
                "its name is not one of the study",
            )
        self.folder, self.study = folder, study
        self.people, self.row_id = _read_table(folder, study)

    @cached_property
    def splits(self) -> list[NDArray[np.int8]]:
        """Training, validation or test for each row: of the model, or of that of each fold."""
        recipe, seed = self.study.recipe, self.study.seed
        split = split_people(self.people, recipe, seed)
        for part, name in _PARTS.items():
            if not (split == part).any():
                raise Refusal(
                    f"{self.folder.path}: {len(split):,} rows leave nobody for {name}; it takes "
                    "more people to take part.",
                    "it has too few people",
                )
        folds = range(recipe.folds)
        return [split_people(self.people, recipe, seed, fold) for fold in folds] or [split]

    def label_rows(self) -> NDArray[np.int64]:
        """Training rows of each label, shape (models, labels)."""
        label, labels = self.people.label, len(self.study.labels)
        return np.stack(
            [np.bincount(label[split == TRAINING], minlength=labels) for split in self.splits]
        )

    def moments(self) -> NDArray[np.float64]:
        """Values, sums and squares of each model's training rows, shape (models, 1 + 2 q)."""
        quantities = self.people.inputs[:, : self.people.scaled]
        parts = [Moments.of(quantities[split == TRAINING]) for split in self.splits]
        return np.stack([np.concatenate([[of.rows], of.total, of.squares]) for of in parts])

    def federation(self, model: int, scaler: Scaler) -> Federation:
        """The client's rows as one model's training sees them."""
        return Federation(scaled(self.people, scaler), self.splits[model])

    def scored(self, model: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """Score each person by the models that were not trained on them, as `read_scores` has it.

        Parameters
        ----------
        model : mapping of str to ndarray
            ``0/theta``, ``0/shift`` and ``0/spread``, and so on for each fold.
        """
        parts = []
        for place, split in enumerate(self.splits):
            scaler = Scaler(model[f"{place}/shift"], model[f"{place}/spread"])
            trainer = make_trainer(self.federation(place, scaler), self.study.recipe)
            rows = np.flatnonzero(split != TRAINING).astype(np.int32)
            scores = trainer.scores(model[f"{place}/theta"].astype(np.float32), rows)
            parts.append((np.full(len(rows), place), rows, scores))
        fold, rows, scores = (np.concatenate(part) for part in zip(*parts, strict=True))
        study, people = self.study, self.people
        table = {
            "label": np.array(study.labels)[people.label[rows]],
            "group": np.array(study.groups)[people.group[rows]],
            "split": np.where(self.splits[0][rows] == TEST, "new", "fit"),
            "row_id": np.array(self.row_id)[rows],
            **{f"score_{label}": scores[:, place] for place, label in enumerate(study.labels)},
        }
        return table | ({"fold": fold} if study.recipe.folds else {})


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
