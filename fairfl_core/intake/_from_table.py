"""From rows to an experiment: drop what cannot be used, part inside each client, count."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairfl_core._io.names import in_order, listed, shown
from fairfl_core.data.coding import check_two
from fairfl_core.data.counts import ClientCounts, count_people, table_shape
from fairfl_core.data.experiments import Protocol, Scores
from fairfl_core.data.grouping import Grouping
from fairfl_core.data.score_columns import SCORE_KINDS
from fairfl_core.data.scored import SUM, check_scores, scores_of_answers
from fairfl_core.data.tables.tables import TableFile, open_table
from fairfl_core.errors import InputError
from fairfl_core.intake._checks import Check, of_counts, of_rows
from fairfl_core.intake._coding import CodedRows
from fairfl_core.intake._from_counts import experiment_from_counts
from fairfl_core.intake._models import Model, code_models, name_of, roles_of_models
from fairfl_core.intake._parting import Parting, part_rows
from fairfl_core.intake._reading import Reading
from fairfl_core.intake._roles import ColumnRoles, guess_scores
from fairfl_core.intake._uploaded import (
    SEED,
    Intake,
    UploadedExperiment,
    manifest_of,
    uploaded_experiment,
)

__all__ = ["experiment_from_table", "take_in"]

_MOST_CELLS = 20_000_000  # entries of the table of counts
People = Mapping[str, tuple[Scores, ...]]


def experiment_from_table(
    upload: TableFile,
    roles: ColumnRoles,
    *,
    favourable: str = "",
    join: bool = False,
    missing: str = "drop",
) -> Intake:
    """Make an experiment of an uploaded table.

    Parameters
    ----------
    upload : TableFile
    roles : ColumnRoles
        Which column is what, as a person confirmed it. With `fold` it is cross-fitted: it needs
        `split` and `row_id` too.
    favourable : str
        The label that equal opportunity looks at; the last one unless said.
    join : bool
        Take names that differ only in case or spaces as one.
    missing : {"drop", "own"}
        Whether rows without a group are left out, or a group of their own.

    With further `roles.models` each is an experiment too, all of the same people: those whom
    every model answers.
    """
    others = roles_of_models(upload, roles, favourable, join=join)
    models = [replace(roles, models=()), *others] if roles.has_model else others or [roles]
    coded, compared = code_models(upload, models, join=join, missing=missing)
    made = [
        _experiment(upload, own, rows, favourable) for own, rows in zip(models, coded, strict=True)
    ]
    experiment, checks = made[0]
    named = [Model(name_of(own), each) for own, (each, _) in zip(models, made, strict=True)]
    several = tuple(named) if len(named) > 1 else ()
    reading = Reading(experiment.favourable, roles, join)
    return Intake(experiment, (*compared, *checks), reading, models[0], models=several)


def _experiment(
    upload: TableFile, roles: ColumnRoles, rows: CodedRows, favourable: str
) -> tuple[UploadedExperiment, list[Check]]:
    """One model's answers as an experiment, and what to know of it."""
    parting = part_rows(rows, roles)
    favourable = favourable if favourable in rows.labels else rows.labels[-1]
    fitted, tested = _counted(rows, parting, roles, favourable)
    protocol = Protocol.of(fitted.folds)
    people = _people(rows, parting, fitted, protocol)
    tables = {protocol.splits[0]: fitted}
    if protocol.folds == 1:
        tables[protocol.splits[1]] = tested
    checks = [
        *of_rows(rows, len(parting.rows), parting.dropped),
        *parting.checks,
        *_scores_check(upload, rows, roles),
        *of_counts(replace(tested, table=fitted.table + tested.table), fitted),
    ]
    manifest = _manifest(upload, roles, fitted, parting.people)
    return uploaded_experiment(tables, people, manifest), checks


def _manifest(
    upload: TableFile, roles: ColumnRoles, fitted: ClientCounts, n: int
) -> dict[str, Any]:
    sample = f"split inside each client with seed {SEED}"
    if roles.split:
        sample = f"split by the column {shown(roles.split)}"
    if roles.fold:
        sample += f", cross-fitted by the {fitted.folds} models of the column {shown(roles.fold)}"
    sha256 = hashlib.sha256(upload.data).hexdigest()
    return manifest_of(fitted, files=upload.name, sha256=sha256, rows=n, sample=sample)


# -------------------------------------------------------------------- counts and people


def _counted(
    rows: CodedRows, parting: Parting, roles: ColumnRoles, favourable: str
) -> tuple[ClientCounts, ClientCounts]:
    """Counts of the people fitted on, and of the test people: mean over the models."""
    columns = roles.group_columns
    seen = [rows.group.names[code] for code in np.unique(rows.group.codes[parting.rows])]
    groups = in_order(seen) if len(columns) == 1 else tuple(seen)  # crossings are in order
    check_two(groups, " and ".join(columns), "group")
    grouping = Grouping.of_names(columns, groups) if len(columns) > 1 else None
    names = parting.clients, groups, rows.labels
    shape = table_shape(*names)
    if np.prod(shape, dtype=float) > _MOST_CELLS:
        raise InputError(
            f"{shape[0]:,} clients, {shape[1]} groups and {shape[2]} labels make a table too large "
            "to solve; join clients, groups or labels."
        )
    client, group, label = _codes(rows, *names)

    def table(part: NDArray[np.intp]) -> NDArray[Any]:
        return count_people(client[part], group[part], label[part], rows.prediction[part], shape)

    folds = len(parting.fit)
    fitted = ClientCounts(
        table(np.concatenate(parting.fit)), *names, favourable, folds=folds, grouping=grouping
    )
    mean = np.mean([table(part) for part in parting.test], axis=0)
    return fitted, replace(fitted, table=mean, noisy=folds > 1, folds=1)


def _codes(
    rows: CodedRows, clients: tuple[str, ...], groups: tuple[str, ...], labels: tuple[str, ...]
) -> tuple[NDArray[np.int32], ...]:
    return rows.client.among(clients), rows.group.among(groups), rows.label.among(labels)


def _people(rows: CodedRows, parting: Parting, counts: ClientCounts, protocol: Protocol) -> People:
    """The people of each split and model, where there are scores; they must be probabilities.

    Of test people answered by several models only the mean over them says what is expected, so
    they are kept person by person, if need be with their answers for scores.
    """
    client, group, label = _codes(rows, counts.clients, counts.groups, counts.labels)
    fit, test = protocol.splits
    scores = rows.scores
    if scores is not None:
        _check_probable(scores, parting.rows, rows.labels)
        parts = {fit: parting.fit, test: parting.test}
    elif protocol.folds > 1:
        parts = {test: parting.test}
        scores = scores_of_answers(rows.prediction, rows.labels)
    else:
        return {}
    return {
        split: tuple(
            Scores(client[part], group[part], label[part], scores[part]) for part in by_fold
        )
        for split, by_fold in parts.items()
    }


def _check_probable(
    scores: NDArray[np.float64], looked_at: NDArray[np.intp], labels: tuple[str, ...]
) -> None:
    """Refuse scores that do not sum to one, with the first such row of those looked at."""
    off = np.abs(scores[looked_at].sum(axis=1) - 1) > SUM
    if off.any():
        row = int(looked_at[np.argmax(off)])
        given = ", ".join(f"{value:g}" for value in scores[row])
        raise InputError(
            f"data row {row + 1}: the scores {given} do not sum to one; say what they are "
            "(logits, votes), or correct them."
        )
    check_scores(scores[looked_at], labels)


def _scores_check(upload: TableFile, rows: CodedRows, roles: ColumnRoles) -> list[Check]:
    """What is made of scores, and what could be."""
    if roles.probability:
        return [
            Check(
                f'The column "{shown(roles.probability)}" is read as the probability of '
                f'"{shown(roles.probability_of)}", which the model answers from '
                f"{roles.threshold:g} on."
            )
        ]
    if rows.scores is not None and roles.scores_are != SCORE_KINDS[0]:
        return [Check(f"The scores are {roles.scores_are}, turned into probabilities.")]
    pairs = guess_scores(rows.labels, upload.columns) if rows.scores is None else ()
    if not pairs:
        return []
    columns = listed([shown(column) for _, column in pairs])
    return [
        Check(
            f"The table also has scores ({columns}): choose “a score for each label” with the "
            "columns and the exact region can be used, which costs less accuracy."
        )
    ]


def take_in(files: Sequence[tuple[str, bytes]], reading: Reading) -> Intake:
    """Take files in, given as pairs of name and content, as they were read before."""
    if reading.columns is None:
        return experiment_from_counts(files, favourable=reading.favourable)
    if len(files) != 1:
        raise InputError(f"{len(files)} files were given, and one table was read; give that.")
    return experiment_from_table(
        open_table(*files[0]), reading.columns, favourable=reading.favourable, join=reading.join
    )
