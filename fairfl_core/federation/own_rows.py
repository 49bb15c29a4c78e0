"""A client's rows as our own training sees them: split, scaled, and never sent."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairfl_core.federation.loader import ClientFolder, load_people
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


class OwnRows:
    """The people of one client's folder, split by a stream of its own.

    Parameters
    ----------
    folder : ClientFolder
    study : Study
    """

    def __init__(self, folder: ClientFolder, study: Study) -> None:
        self.folder, self.study = folder, study
        self.own = load_people(folder, study)
        self.place = study.clients.index(folder.name)

    @cached_property
    def base_split(self) -> NDArray[np.int8]:
        """Training, validation or test for each row."""
        unit = self.own.people.unit
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
        dealt[fitted] = deal_units(self.own.people.unit[fitted], shares, self._stream(_FOLD))
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
        label, labels = self.own.people.label, len(self.study.labels)
        return np.stack(
            [np.bincount(label[split == TRAINING], minlength=labels) for split in self.splits]
        )

    def moments(self) -> NDArray[np.float64]:
        """Values, sums and squares of each model's training rows, shape (models, 1 + 2 q)."""
        found = []
        for split in self.splits:
            of = Moments.of(self.own.people.inputs[split == TRAINING, : self.own.people.scaled])
            found.append(np.concatenate([[of.rows], of.total, of.squares]))
        return np.stack(found)

    def federation(self, model: int, scaler: Scaler) -> Federation:
        """The client's rows as one model's training sees them."""
        return Federation(scaled(self.own.people, scaler), self.splits[model])

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
