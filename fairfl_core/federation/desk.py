"""A client's desk: its people, split as they would be in one place, and what it keeps of a run.

Every message may come to a new process, so whatever a client remembers lies in its own folder,
under ``runs/`` and the run's name. None of it is ever sent.
"""

import io
import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fairfl_core._io.atomic import write_whole
from fairfl_core._io.json_files import read_json, write_json
from fairfl_core.errors import InputError
from fairfl_core.federation.loader import ClientFolder, OwnPeople, Refusal, load_people
from fairfl_core.federation.study import Study
from fairfl_core.training.data import (
    TEST,
    TRAINING,
    VALIDATION,
    Federation,
    deal_units,
    fold_stream,
    scaled,
    split_stream,
)
from fairfl_core.training.method import Memory
from fairfl_core.training.scaling import Moments, Scaler

if TYPE_CHECKING:  # not needed for a turn of training
    from fairfl_core.data.folded import FoldedData
    from fairfl_core.data.scored import ScoredData

__all__ = ["Desk"]

_PARTS = {TRAINING: "training", VALIDATION: "validation", TEST: "test"}
Floats = NDArray[np.float64]


class Desk:
    """The people of one client in one run."""

    def __init__(self, folder: ClientFolder, study: Study, run: str) -> None:
        if not re.fullmatch(r"[0-9a-f]{8,64}", run):
            raise InputError("the run has a name that is none; nothing was done.")
        self.folder, self.study = folder, study
        self.runs = folder.path / "runs" / run

    @cached_property
    def own(self) -> OwnPeople:
        """The rows of this client, checked."""
        return load_people(self.folder, self.study)

    @property
    def units(self) -> int:
        """How many people it has; some may have several rows."""
        return len(np.unique(self.own.people.unit))

    # ---------------------------------------------------------------- how people are split

    def begin(self, before: Sequence[int], fitted_before: Sequence[int] | None) -> None:
        """Keep where in the streams of random numbers this client begins."""
        self.runs.mkdir(parents=True, exist_ok=True)
        value = {"before": list(before), "fitted_before": fitted_before}
        write_json(self.runs / "split.json", value)
        for known in ("_begins", "base_split", "splits"):
            self.__dict__.pop(known, None)

    @cached_property
    def _begins(self) -> dict[str, Any]:
        path = self.runs / "split.json"
        if not path.is_file():
            raise InputError("this client was not told how to split its people; join first.")
        return dict(read_json(path))

    @cached_property
    def base_split(self) -> NDArray[np.int8]:
        """Training, validation or test for each row."""
        unit = self.own.people.unit
        rng = split_stream(self.study.seed, self._begins["before"])
        split = deal_units(unit, self.study.split, rng)
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
        rng = fold_stream(self.study.seed, self._begins["fitted_before"])
        dealt[fitted] = deal_units(self.own.people.unit[fitted], (1 / folds,) * folds, rng)
        if len(np.unique(dealt[fitted])) < folds:
            raise Refusal(
                f"{self.folder.path}: {int(fitted.sum()):,} rows to train on leave one of {folds} "
                "folds empty; ask for fewer folds.",
                "it has too few people for so many folds",
            )
        return [
            np.where(split == TEST, TEST, np.where(dealt == fold, VALIDATION, TRAINING)).astype(
                np.int8
            )
            for fold in range(folds)
        ]

    @property
    def fitted_units(self) -> int:
        """How many people are not test people."""
        return len(np.unique(self.own.people.unit[self.base_split != TEST]))

    def sizes(self) -> set[int]:
        """How many rows there are, in all and in every part: no array that leaves is so long."""
        people = self.own.people
        found = {len(people)}
        if (self.runs / "split.json").is_file():
            for split in self.splits if self._begins["fitted_before"] is not None else []:
                found |= {int((split == part).sum()) for part in _PARTS}
            found |= {int((self.base_split == part).sum()) for part in _PARTS}
            found.add(int((self.base_split != TEST).sum()))
        return found

    def training_counts(self) -> NDArray[np.int64]:
        """Training rows n[model, group, label]."""
        people, (groups, labels, _) = self.own.people, self.study.table
        counts = np.zeros((self.study.models, groups, labels), np.int64)
        for model, split in enumerate(self.splits):
            rows = split == TRAINING
            np.add.at(counts[model], (people.group[rows], people.label[rows]), 1)
        return counts

    def moments(self) -> Floats:
        """Sums, then squares, of each model's training rows, shape (models, 2 quantities)."""
        people, wide = self.own.people, self.study.features.moments
        found = np.zeros((self.study.models, 2 * wide))
        for model, split in enumerate(self.splits):
            values = people.inputs[split == TRAINING]
            values = values.reshape(-1, wide) if self._images else values[:, :wide]
            of = Moments.of(values)
            found[model] = np.concatenate([of.total, of.squares])
        return found

    @property
    def pixels(self) -> int:
        """How many values of each quantity a row has: one, or one a pixel."""
        shape = self.own.people.inputs.shape
        return int(np.prod(shape[1:-1])) if self._images else 1

    @property
    def _images(self) -> bool:
        return self.study.features.channels > 0

    def federation(self, model: int, scaler: Scaler) -> Federation:
        """The client's rows as one model's training sees them."""
        people, split = self.own.people, self.splits[model]
        if self._images:
            return Federation(people, split, scaler)
        return Federation(scaled(people, scaler) if people.scaled else people, split)

    # ---------------------------------------------------------------- what it keeps

    def memory(self, model: int, done: int) -> Memory:
        """What the method kept after so many rounds; nothing before the first."""
        if not done:
            return {}
        return self._read(f"memory_{model}_{done}.npz")

    def keep_memory(self, model: int, done: int, memory: Memory) -> None:
        """Keep what the method wants remembered after so many rounds."""
        self._write(f"memory_{model}_{done}.npz", memory)

    def keep_plan(self, model: int, counts: NDArray[np.int64]) -> None:
        """Keep all clients' training counts."""
        self._write(f"plan_{model}.npz", {"counts": counts})

    def plan(self, model: int) -> NDArray[np.int64]:
        """All clients' training counts, as the server last told them."""
        return self._read(f"plan_{model}.npz")["counts"]

    def keep_scores(self, scores: Sequence[Floats]) -> None:
        """Keep every row's scores by each model."""
        arrays = {f"model {model}": values for model, values in enumerate(scores)}
        self._write("scores.npz", arrays)

    def scores(self) -> list[Floats]:
        """Every row's scores by each model."""
        found = self._read("scores.npz")
        return [found[f"model {model}"] for model in range(self.study.models)]

    def released(self, question: str) -> Memory | None:
        """What was sent with noise before: asked again, the same is sent and nothing more spent."""
        name = f"released_{question}.npz"
        return self._read(name) if (self.runs / name).is_file() else None

    def keep_release(self, question: str, arrays: Memory) -> None:
        """Keep what is sent with noise."""
        self._write(f"released_{question}.npz", arrays)

    def _read(self, name: str) -> dict[str, NDArray[Any]]:
        path = self.runs / name
        try:
            with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as file:
                return {key: file[key] for key in file.files}
        except (OSError, ValueError) as error:
            raise Refusal(
                f"{path}: cannot be read ({error}); begin the run anew.",
                "what it kept of the run is gone",
            ) from error

    def _write(self, name: str, arrays: Mapping[str, NDArray[Any]]) -> None:
        self.runs.mkdir(parents=True, exist_ok=True)
        file = io.BytesIO()
        np.savez(file, **dict(arrays))  # type: ignore[arg-type]
        write_whole(self.runs / name, file.getvalue())

    def check_plain_tables(self) -> None:
        """Where this client sends tables with noise only, it sends none without."""
        if self.folder.largest_epsilon:
            raise Refusal(
                "the server asked for a table of held-out people without noise, and this client "
                "sends tables with noise only (largest_epsilon in client.toml).",
                "it sends tables with noise only; ask with --privacy-epsilon",
            )

    # ---------------------------------------------------------------- people with scores

    def fitted(self) -> "ScoredData":
        """Those fairness is solved on, each scored by a model that never saw them."""
        scores, splits = self.scores(), self.splits
        rows = [np.flatnonzero(split == VALIDATION) for split in splits]
        found = np.concatenate([by[mine] for by, mine in zip(scores, rows, strict=True)])
        return self._scored(np.concatenate(rows), found, self.study.models)

    def unseen(self) -> "ScoredData | FoldedData":
        """The test people, scored by the one model or by every fold model."""
        from fairfl_core.data.folded import FoldedData

        rows = np.flatnonzero(self.base_split == TEST)
        by_model = [self._scored(rows, scores[rows], 1) for scores in self.scores()]
        return FoldedData(tuple(by_model)) if self.study.folds else by_model[0]

    def _scored(self, rows: NDArray[np.intp], scores: Floats, folds: int) -> "ScoredData":
        from fairfl_core.data.scored import ScoredData

        people = self.own.people
        return ScoredData(
            client=np.zeros(len(rows), np.int64),
            group=people.group[rows].astype(np.int64),
            label=people.label[rows].astype(np.int64),
            scores=scores,
            predicted=scores.argmax(axis=1),
            clients=(self.folder.name,),
            groups=self.study.groups,
            labels=self.study.labels,
            favourable=self.study.favourable,
            folds=folds,
        )

    def write_answers(self, answers: NDArray[Any]) -> Path:
        """One line a row: its id, group, the model's answer and the fair one; stays here."""
        import pandas as pd

        people, scores = self.own.people, self.scores()
        said = np.array(self.study.labels, object)[np.mean(scores, axis=0).argmax(axis=1)]
        part = np.array(list(_PARTS.values()), object)[self.base_split]
        table = pd.DataFrame(
            {
                "row": self.own.row_id,
                "group": np.array(self.study.groups, object)[people.group],
                "part": part,
                "model": said,
                "fair_answer": answers,
            }
        )
        return write_whole(self.runs / "answers.csv", table.to_csv(index=False))
