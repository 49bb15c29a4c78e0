"""Several models in one table: each a column of answers or of probabilities, on the same people."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from fairfl_core._io.names import as_name, in_order, listed, shown
from fairfl_core.data.score_columns import event_of, label_by_name
from fairfl_core.data.tables.columns import encode
from fairfl_core.data.tables.tables import TableFile, read_columns
from fairfl_core.errors import InputError
from fairfl_core.intake._checks import Check
from fairfl_core.intake._coding import CodedRows, code_rows, same_name
from fairfl_core.intake._roles import ColumnRoles
from fairfl_core.intake._uploaded import UploadedExperiment

__all__ = ["MOST_MODELS", "Model", "code_models", "name_of", "roles_of_models"]

MOST_MODELS = 8  # so many lines a person can tell apart
_LOOKED_AT = 1000  # different values of a column


@dataclass(frozen=True, eq=False)
class Model:
    """One model of a table: its column's name, and its answers as an experiment of their own.

    All models of a table have the same people, parted alike.
    """

    name: str
    experiment: UploadedExperiment


def roles_of_models(
    upload: TableFile, roles: ColumnRoles, favourable: str, *, join: bool
) -> list[ColumnRoles]:
    """The roles with each of the further models in the first one's place.

    A column whose values are labels is a model's answer; one of numbers is, where there are two
    labels, the probability of the label it is named after, else of the favourable one, which must
    then be said.
    """
    first = _columns_of(roles)
    for column in roles.models:
        if column in first or roles.models.count(column) > 1:
            raise InputError(
                f'the column "{shown(column)}" is chosen for two things; choose another for one.'
            )
    if len(roles.models) >= MOST_MODELS:
        raise InputError(
            f"{1 + len(roles.models)} models are more than a picture can show; choose at most "
            f"{MOST_MODELS}."
        )
    if not roles.models:
        return []
    labels = _values(upload, roles.label)
    of = favourable or roles.probability_of
    bare = replace(roles, models=(), prediction="", scores=(), probability="", probability_of=of)
    return [_role(upload, bare, column, labels, join) for column in roles.models]


def _columns_of(roles: ColumnRoles) -> set[str]:
    """Every column that is something else already."""
    scores = [column for _, column in roles.scores]
    named = (roles.client, roles.label, roles.prediction, roles.probability, roles.split)
    return {*named, *roles.group_columns, *scores, roles.fold, roles.row_id} - {""}


def _role(
    upload: TableFile, bare: ColumnRoles, column: str, labels: set[str], join: bool
) -> ColumnRoles:
    """What a column is: answers, or the probability of one of two labels."""
    said = _values(upload, column)
    alike = same_name if join else str
    unknown = {name for name in said if alike(name) not in set(map(alike, labels))}
    if not unknown:
        return replace(bare, prediction=column)
    if not all(map(_is_number, unknown)):
        stranger = sorted(name for name in unknown if not _is_number(name))[0]
        raise InputError(
            f'the column "{shown(column)}" says "{shown(stranger)}", which is no label of '
            f'"{shown(bare.label)}", nor a probability; choose a column of answers or of '
            "probabilities."
        )
    if len(labels) != 2:
        raise InputError(
            f'the column "{shown(column)}" has numbers, which say what a model answers where there '
            f"are two labels, and here are {len(labels)}; choose its column of answers."
        )
    of = label_by_name(column, list(labels)) or bare.probability_of or event_of(list(labels))
    if not of:
        raise InputError(
            f'the column "{shown(column)}" has numbers, and its name does not tell which of '
            f"{listed(in_order(list(labels)))} they are the probability of; say the favourable "
            "label (--favourable), whose it is then, or name the column after its label."
        )
    return replace(bare, probability=column, probability_of=of, threshold=0.5)


def _values(upload: TableFile, column: str) -> set[str]:
    """Different values of a column: the first many, which tell labels from numbers."""
    table, _ = read_columns(upload, [column])
    _, values = encode(table.column(column), column)
    first = values[:_LOOKED_AT].to_pylist()
    return {as_name(value) for value in first if value is not None and value == value} - {""}


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def code_models(
    upload: TableFile, models: Sequence[ColumnRoles], *, join: bool, missing: str
) -> tuple[list[CodedRows], list[Check]]:
    """Each model's rows, coded; those that some model does not answer are left out for all."""
    coded = [code_rows(upload, roles, join=join, missing=missing) for roles in models]
    if len(coded) == 1:
        return coded, []
    answered = np.all([rows.prediction >= 0 for rows in coded], axis=0)
    lost = int((coded[0].prediction >= 0).sum() - answered.sum())
    coded = [
        replace(rows, prediction=np.where(answered, rows.prediction, np.int32(-1)))
        for rows in coded
    ]
    names = listed([shown(name_of(roles)) for roles in models])
    said = f"{len(models)} models are compared on the same people: {names}."
    for roles in models:
        if roles.probability:
            said += (
                f' "{shown(roles.probability)}" is read as the probability of '
                f'"{shown(as_name(roles.probability_of))}".'
            )
    if lost:
        said += f" {lost:,} rows that not all of them answer are left out."
    return coded, [Check(said, look=lost > 0)]


def name_of(roles: ColumnRoles) -> str:
    """A model's name: its column's, or its scores' columns."""
    return roles.prediction or roles.probability or listed([column for _, column in roles.scores])
