"""An uploaded set: an experiment like the bundled ones, held in memory only."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairfl_core.data.counts import ClientCounts
from fairfl_core.data.experiments import Experiment, Protocol, Scores
from fairfl_core.errors import InputError
from fairfl_core.intake._checks import Check
from fairfl_core.intake._reading import Reading
from fairfl_core.intake._roles import ColumnRoles

if TYPE_CHECKING:
    from fairfl_core.intake._from_federation import Travelled
    from fairfl_core.intake._models import Model
    from fairfl_core.predictors.predictor import Predictor

__all__ = ["NOTION", "SEED", "Intake", "UploadedExperiment", "uploaded_experiment", "manifest_of"]

NOTION = "eo"  # what a set starts with; a person chooses
SEED = 0
_NOWHERE = Path("/nowhere")  # an uploaded set has no folder


@dataclass(frozen=True, eq=False)
class UploadedExperiment(Experiment):
    """What was uploaded, as an experiment of one run.

    Attributes
    ----------
    tables : mapping from split to ClientCounts
        Of those it is fitted on and, with one model, of those it is tested on; without them
        where only counts came: then no held-out check is possible.
    people : mapping from split to tuple of Scores
        The people of each fold (one, with one model), where the table has scores that are
        probabilities. Cross-fitted test people are always here: where a model tells only its
        answers, these stand for scores, and nobody is there to fit by scores.
    """

    tables: Mapping[str, ClientCounts]
    people: Mapping[str, tuple[Scores, ...]]

    @property
    def has_held_out(self) -> bool:
        """Whether there are people to check on whom nothing was fitted."""
        return "test" in self.tables or "test" in self.people

    @property
    def has_scores(self) -> bool:
        """Whether people come with a probability for each label."""
        return self.fit_split in self.people

    def counts(  # type: ignore[override]
        self, seed: int, split: str, fold: int | None = None
    ) -> ClientCounts | None:
        """The counts of a split; None for "test" where no held-out check is possible."""
        self._check_asked(seed, split, fold)
        if split == "test" and not self.has_held_out:
            return None
        if fold is None and split in self.tables:
            return self.tables[split]
        return super().counts(seed, split, fold)

    def _block(self, seed: int, split: str, fold: int) -> Scores:
        if split not in self.people:
            raise InputError(
                "this set has no score for each label, and the exact region needs one; upload a "
                "table with a column of probabilities for each label."
            )
        return self.people[split][fold]


@dataclass(frozen=True, eq=False)
class Intake:
    """A set that was taken in, and what a person would want to know before trusting it.

    `reading` is all that a person said of the file. `roles` are those of the columns of the table
    it came from, of the first model where it has several; None for counts. `messages` are
    what travelled, where it is the result of a federation's run, and `predictor` what the run
    handed out. `models` are all models of the table, the first among them, where it has several.
    """

    experiment: UploadedExperiment
    checks: tuple[Check, ...]
    reading: Reading
    roles: ColumnRoles | None = None
    messages: tuple["Travelled", ...] = ()
    predictor: "Predictor | None" = None
    models: tuple["Model", ...] = ()


def manifest_of(
    counts: ClientCounts, *, files: str, sha256: str, rows: float, sample: str
) -> dict[str, Any]:
    """What pages and reports tell of a set, in the words of a bundled one's manifest.

    `counts` are of the people it is fitted on.
    """
    grouping = {} if counts.grouping is None else {"grouping": counts.grouping.to_json()}
    return grouping | {
        "name": "uploaded",
        "title": f"Your data: {files}",
        "labels": list(counts.labels),
        "groups": list(counts.groups),
        "clients": list(counts.clients),
        "favourable": counts.favourable,
        "notion": NOTION,
        "seeds": [SEED],
        "dataset": {
            "dataset": "uploaded",
            "source": f"uploaded: {files}",
            "licence": "as its owner says",
            "sample": sample,
            "rows_used": rows,
        },
        "scores": {"sha256": sha256},
        "protocol": Protocol.of(counts.folds).to_json(),
    }


def uploaded_experiment(
    tables: Mapping[str, ClientCounts],
    people: Mapping[str, tuple[Scores, ...]],
    manifest: Mapping[str, Any],
) -> UploadedExperiment:
    """Put the pieces together."""
    return UploadedExperiment(path=_NOWHERE, manifest=manifest, tables=tables, people=people)
