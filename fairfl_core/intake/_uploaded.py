"""An uploaded set: an experiment like the bundled ones, held in memory only."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fairfl_core._io.names import listed
from fairfl_core.data.columns import same_name
from fairfl_core.data.counts import ClientCounts
from fairfl_core.data.experiments import Experiment, Protocol, Scores
from fairfl_core.data.weighting import MissingGroup
from fairfl_core.errors import InputError
from fairfl_core.fairness.notions import Notion, not_assessable
from fairfl_core.intake._roles import ColumnRoles, Reading

if TYPE_CHECKING:
    from fairfl_core.intake._from_counts import Travelled
    from fairfl_core.intake._from_table import Model, UploadedRows
    from fairfl_core.predictors.predictor import Predictor

NEITHER = "in neither validation nor test"  # why a row is dropped that was meant to be
FEW = 30  # people in a group of a client, below which a rate says little
_MANY = 12  # groups, more than one reads in a sentence
_FEW_ROWS = 3  # rows of a client: fewer on average, and it looks like a person


@dataclass(frozen=True)
class Check:
    """One sentence; `look` where a person should look before going on."""

    sentence: str
    look: bool = False


def of_rows(rows: "UploadedRows", kept: int, dropped: Sequence[tuple[str, int]]) -> list[Check]:
    """Checks on a table: rows read and dropped, names, clients, labels, class order."""
    read = len(rows) + rows.malformed
    sentence = f"{read:,} rows read, {kept:,} kept."
    ids = people_as_clients(len(rows.people.clients), len(rows))
    reasons = "; ".join(f"{n:,} {why}" for why, n in dropped if n)
    if reasons:
        sentence += f" Dropped: {reasons}. Correct them in the file if they should count."
    unexpected = sum(n for why, n in dropped if why != NEITHER)
    return [
        Check(sentence, look=unexpected > 0.05 * read),
        *_alike(rows),
        *([] if ids is None else [Check(ids, look=True)]),
        *_continuous(rows),
        *_class_order(rows),
    ]


def of_counts(
    counts: ClientCounts, fitted: ClientCounts | None = None, *, whom: str = "people"
) -> list[Check]:
    """Checks on counts: clients and groups with n, cells nobody is in, the favourable label.

    `fitted` are those of them that the lottery is made on, if not all; `whom` is what is counted.
    """
    n = counts.n_client
    low, high = int(np.argmin(n)), int(np.argmax(n))
    size = f"{n[low]:,.0f} ({counts.clients[low]}) to {n[high]:,.0f} ({counts.clients[high]})"
    checks = [
        Check(f"{len(n):,} clients of {size} {whom} each. {_groups(counts)}"),
        Check(
            f"The model is right for {counts.model_accuracy:.1%}; labels in this order: "
            f"{listed(counts.labels)}. Equal opportunity looks at the favourable label "
            f'"{counts.favourable}": choose another with the columns if that is not the good '
            "outcome."
        ),
    ]
    return checks + _cells(fitted or counts, whom) + _small(fitted or counts, whom)


def of_folds(fitted: int, tested: int, folds: Sequence[str], training: int) -> Check:
    """How many people stand behind the limits, and how many could by cross-fitting.

    `folds` are the names of the folds, none with one model; `training` people of the table are
    those its model was trained on.
    """
    if folds:
        return Check(
            f"Cross-fitted: {fitted:,} people make the lottery, each scored by the one of "
            f"{len(folds)} models (folds {listed(folds)}) that never saw them; {tested:,} test "
            "people are scored by all of them, and judged by the mean over the model drawn."
        )
    if training:
        many = (
            f"they would be {fitted + training:,}, {1 + training / fitted:.1f} times as many, as "
            "those it was trained on would count too"
        )
    else:
        many = (
            "everyone the model was trained on would count too: four times as many people where "
            "60 % are for training and 20 % for validation"
        )
    return Check(
        f"{fitted:,} people make the lottery and stand behind its limits; with cross-fitting {many} "
        "(train a model without each of four folds, let it score the people of that fold, and "
        "give a column called fold)."
    )


def _alike(rows: "UploadedRows") -> list[Check]:
    """Names that differ only in case or spaces."""
    people, checks = rows.people, []
    columns = {"groups": people.groups, "clients": people.clients, "labels": people.labels}
    for what, names in columns.items():
        alike: dict[str, list[str]] = {}
        for name in names:
            alike.setdefault(same_name(name), []).append(name)
        checks += [
            Check(
                f"The {what} {listed(group)} differ only in case or spaces and are counted apart: "
                "switch on “Join names that differ only in case or spaces” (--join), or correct the "
                "file.",
                look=True,
            )
            for group in alike.values()
            if len(group) > 1
        ]
    return checks[:5]


def people_as_clients(clients: int, rows: float) -> str | None:
    """Say so where clients have so few rows that they look like people."""
    if clients < 100 or rows / clients >= _FEW_ROWS:
        return None
    return (
        f"There are {clients:,} clients with {rows / clients:.1f} rows each: the column looks like the "
        "id of a person; choose the column of the hospital or site."
    )


def _continuous(rows: "UploadedRows") -> list[Check]:
    labels = rows.people.labels
    numbers = sum(name.lstrip("-").replace(".", "", 1).isdigit() for name in labels)
    if len(labels) <= 10 or numbers < len(labels):
        return []
    return [
        Check(
            f"The label has {len(labels)} different numbers and looks continuous: put it "
            "into a few bins, or choose the column of the class.",
            look=True,
        )
    ]


def _class_order(rows: "UploadedRows") -> list[Check]:
    """With scores, which label each is of; an order that people contradict is refused."""
    if rows.scores is None:
        return []
    return [Check(f"Scores are read in this order of labels: {', '.join(rows.people.labels)}.")]


def _groups(counts: ClientCounts) -> str:
    """The groups with their people; of many, the smallest and the largest."""
    people = counts.table.sum(axis=(0, 2, 3))
    sizes = [f"{name} {n:,.0f}" for name, n in zip(counts.groups, people, strict=True)]
    if len(sizes) <= _MANY:
        return f"Groups: {', '.join(sizes)}."
    order = np.argsort(people, kind="stable")
    few, many = (", ".join(sizes[place] for place in part) for part in (order[:3], order[:-4:-1]))
    return f"{len(sizes)} groups; the smallest: {few}; the largest: {many}."


def _cells(counts: ClientCounts, whom: str) -> list[Check]:
    notion = Notion.of("eo", counts.labels, counts.favourable)
    empty = not_assessable(notion, counts)
    if not empty:
        return [Check(f"Every group has {whom} of every label in every client.")]
    first = "; ".join(
        f"{cell.group} with label {cell.label} in {cell.client}" for cell in empty[:3]
    )
    rest = f"; and {len(empty) - 3:,} more" if len(empty) > 3 else ""
    cells = f"{len(empty):,} cells are" if len(empty) > 1 else "One cell is"
    return [
        Check(
            f"{cells} not assessable, nobody being there ({first}{rest}): left out of the "
            "comparison and of the limits; join small clients or groups if that matters.",
            look=True,
        )
    ]


def _small(counts: ClientCounts, whom: str) -> list[Check]:
    people = counts.table.sum(axis=(2, 3))
    small = (people > 0) & (people < FEW)
    if not small.any():
        return []
    c, a = np.argwhere(small)[0]
    return [
        Check(
            f"In {int(small.sum()):,} of {small.size:,} cells a group has fewer than {FEW} "
            f"{whom} to make the lottery on "
            f"(first: {counts.groups[a]} in {counts.clients[c]}, {people[c, a]:,.0f}): a limit met "
            "on so few does not carry over to others; widen it there or join clients."
        )
    ]


NOTION = "eo"  # what a set starts with; a person chooses
SEED = 0
NOWHERE = Path("/nowhere")  # an uploaded set has no folder


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

    `reading` is all that a person chose for the file. `roles` are those of the columns of the table
    it came from, of the first model where it has several; None for counts. `messages` are
    what travelled, where it is the result of a federation's run, and `predictor` what the run
    handed out. `models` are all models of the table, the first among them, where it has several.
    `rows` a table has, and `missing` tells of those without a group.
    """

    experiment: UploadedExperiment
    checks: tuple[Check, ...]
    reading: Reading
    roles: ColumnRoles | None = None
    messages: tuple["Travelled", ...] = ()
    predictor: "Predictor | None" = None
    models: tuple["Model", ...] = ()
    rows: int = 0
    missing: MissingGroup | None = None


def manifest_of(
    counts: ClientCounts, files: str, data: bytes, rows: float, sample: str
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
        "scores": {"sha256": hashlib.sha256(data).hexdigest()},
        "protocol": Protocol(counts.folds).to_json(),
    }
