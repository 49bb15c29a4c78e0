"""From rows to an experiment: drop what cannot be used, part inside each client, count."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairfl_core._io.names import as_name, in_order, listed, shown
from fairfl_core._io.numbers import plural
from fairfl_core.data.coding import CodedPeople, TableColumns, check_two, code_people
from fairfl_core.data.columns import Coded, Grouping, code_column, encode, same_name
from fairfl_core.data.counts import ClientCounts, count_people, table_shape
from fairfl_core.data.experiments import Protocol, Scores
from fairfl_core.data.score_columns import SCORE_KINDS, event_of, label_by_name
from fairfl_core.data.scored import check_scores, scores_of_answers
from fairfl_core.data.splits import FIT, TEST, TRAINING, code_splits
from fairfl_core.data.tables import TableFile, open_table, read_columns
from fairfl_core.errors import InputError
from fairfl_core.intake._from_counts import experiment_from_counts
from fairfl_core.intake._roles import ColumnRoles, Reading, guess_scores
from fairfl_core.intake._uploaded import (
    NEITHER,
    NOWHERE,
    SEED,
    Check,
    Intake,
    UploadedExperiment,
    manifest_of,
    of_counts,
    of_folds,
    of_rows,
)

Bools = NDArray[np.bool_]
Rows = NDArray[np.intp]
Splits = NDArray[np.int8]
Codes = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class UploadedRows:
    """Everything that is taken from a table.

    `people` has one entry a row, -1 where it lacks something; `malformed` rows had too few or too
    many cells and are not among these.
    """

    people: CodedPeople
    split: Coded | None
    malformed: int

    def __len__(self) -> int:
        return len(self.people.label)

    @property
    def scores(self) -> NDArray[np.float64] | None:
        """A score of each label, where the table has them."""
        return self.people.scores if self.people.scores.shape[1] else None

    def among(
        self, clients: Sequence[str], groups: Sequence[str]
    ) -> tuple[Codes, Codes, NDArray[Any]]:
        """Each row's client and group as codes into these names, and its label."""
        people = self.people
        client = Coded(people.client, people.clients).among(clients)
        return client, Coded(people.group, people.groups).among(groups), people.label


def labels_of(upload: TableFile, column: str) -> tuple[str, ...]:
    """The different values of a column, in order; for a person to pair with scores."""
    table, _ = read_columns(upload, [column])
    return in_order(code_column(table.column(column), column, "label").names)


def code_rows(upload: TableFile, roles: ColumnRoles, *, join: bool, missing: str) -> UploadedRows:
    """Read and code the chosen columns; `experiment_from_table` tells the parameters."""
    _check_named(roles)
    columns = TableColumns(
        client=roles.client,
        group=roles.group_columns,
        label=roles.label,
        prediction=roles.prediction or None,
        scores=dict(roles.scores) or None,
        scores_are=roles.scores_are,
        probability=roles.probability or None,
        probability_of=roles.probability_of,
        threshold=roles.threshold,
        labels=[label for label, _ in roles.scores] or None,
        fold=roles.fold or None,
        row_id=roles.row_id,
        missing_group=missing,
    )
    names = [*columns.names, *filter(None, [roles.split])]
    alone = [roles.row_id] if roles.row_id and not roles.fold else []
    _check_chosen([*names, *columns.numbers, *alone])
    table, malformed = read_columns(upload, names, columns.numbers)
    people = code_people(table, columns, forgiving=True, join=join)
    split = None
    if roles.split:
        split = code_column(table.column(roles.split), roles.split, join=True)
    return UploadedRows(people, split, malformed)


def _check_named(roles: ColumnRoles) -> None:
    """That everything needed is chosen, and that the model gave one thing."""
    for column, what in (
        (roles.client, "the client (hospital, site)"),
        (roles.group, "the group"),
        (roles.label, "the true label"),
    ):
        if not column:
            raise InputError(f"choose the column of {what}.")
    for label, column in roles.scores:
        if not column:
            raise InputError(
                f'choose the score column of the label "{shown(label)}"; names like p_LABEL or '
                "score_LABEL would tell."
            )
    if roles.probability and not roles.probability_of:
        raise InputError(
            f'choose the label that the column "{shown(roles.probability)}" is the probability of '
            "(--probability-of); a name like p_LABEL would tell."
        )
    if sum(map(bool, (roles.prediction, roles.scores, roles.probability))) != 1:
        raise InputError(
            "choose one of these, and no other beside it: the column of the model's answer, a score "
            "for each label, or one probability."
        )
    for column, needed in (
        (roles.split, "the split (fit and test)"),
        (roles.row_id, "the row id (which rows are one test person's)"),
    ):
        if roles.fold and not column:
            raise InputError(
                f'the fold column "{shown(roles.fold)}" needs a column of {needed} beside it; '
                "choose one, or no fold column."
            )


def _check_chosen(columns: Sequence[str]) -> None:
    for column in columns:
        if columns.count(column) > 1:
            raise InputError(
                f'the column "{shown(column)}" is chosen for two things; choose another for one.'
            )


@dataclass(frozen=True, eq=False)
class Parting:
    """Rows by what they are for.

    Attributes
    ----------
    fit, test : tuple of ndarray
        Places of rows, one array a model: those it never saw of the people the lottery is made
        on, and the test people, the same in the same order for each model.
    clients : tuple of str
        Those with people in both.
    dropped : tuple of (str, int)
        Why rows are left out, and how many.
    checks : tuple of Check
        How people were parted, and by how many models they are scored.
    """

    fit: tuple[Rows, ...]
    test: tuple[Rows, ...]
    clients: tuple[str, ...]
    dropped: tuple[tuple[str, int], ...]
    checks: tuple[Check, ...]

    @property
    def rows(self) -> Rows:
        """Every row that is used."""
        return np.concatenate([*self.fit, *self.test])

    @property
    def people(self) -> int:
        """How many people there are; test people of several models count once."""
        return sum(map(len, self.fit)) + len(self.test[0])


def part_rows(rows: UploadedRows, roles: ColumnRoles) -> Parting:
    """Drop the rows that cannot be used and part the others, inside each client."""
    usable, dropped = _usable(rows)
    split, check = _split(rows, roles, usable)
    training = int((split == TRAINING).sum())
    split[split == TRAINING] = -1
    dropped.append((NEITHER, int((usable & (split < 0)).sum())))
    clients, keep, lost = _whole_clients(rows, split)
    dropped.append(lost)
    fit, test = (keep & (split == code) for code in (FIT, TEST))
    names, fit_rows, test_rows = _by_model(rows, fit, test)
    scored = of_folds(int(fit.sum()), len(test_rows[0]), names, training)
    return Parting(fit_rows, test_rows, clients, tuple(dropped), (check, scored))


def _usable(rows: UploadedRows) -> tuple[Bools, list[tuple[str, int]]]:
    """Which rows are whole, and why the others are not; each counts for one reason."""
    usable, people = np.ones(len(rows), bool), rows.people
    dropped = [("with too few or too many cells", rows.malformed)]
    no_answer = "without an answer" if rows.scores is None else "with a score that is no number"
    for codes, why in (
        (people.client, "without a client"),
        (people.group, "without a group"),
        (people.label, "without a label"),
        (people.prediction, no_answer),
    ):
        dropped.append((why, int((usable & (codes < 0)).sum())))
        usable &= codes >= 0
    if not usable.any():
        raise InputError(
            "no row can be used: each lacks its client, group, label or the model's answer; "
            "check which column is which."
        )
    return usable, dropped


# -------------------------------------------------------------------- validation and test


def _split(rows: UploadedRows, roles: ColumnRoles, usable: Bools) -> tuple[Splits, Check]:
    """FIT, TEST or TRAINING for each usable row, else -1; and what was done, in words."""
    if rows.split is None:
        return _halves(np.where(usable, rows.people.client, -1)), Check(
            f"Half of each client's people, drawn with seed {SEED}, make the lottery "
            "(validation) and the other half check it (test); give a column called split to "
            "choose them yourself."
        )
    cross_fitted = rows.people.dealt is not None
    split = code_splits(rows.split, roles.split, cross_fitted=cross_fitted)
    source = f'as the column "{shown(roles.split)}" says; people of neither'
    return np.where(usable, split, np.int8(-1)), Check(
        f"Fit and test {source} are left out."
        if cross_fitted
        else f"Validation and test {source} (training) are left out, as a model flatters those it "
        "was trained on."
    )


def _halves(client: NDArray[np.int32]) -> Splits:
    """Half of each client's people to validation (the odd one too), the rest to test.

    People of no client (-1) are in neither.
    """
    shuffled = np.random.default_rng(SEED).permutation(len(client)).astype(np.int32)
    # At most 20,000 clients: 16 bits, which numpy sorts without comparing.
    order = shuffled[np.argsort(client[shuffled].astype(np.int16), kind="stable")]
    size = np.bincount(client + 1)
    rank = np.arange(len(client)) - np.repeat(np.cumsum(size) - size, size)
    split = np.empty(len(client), np.int8)
    split[order] = np.where(rank >= np.repeat((size + 1) // 2, size), TEST, FIT)
    split[client < 0] = -1
    return split


def _whole_clients(
    rows: UploadedRows, split: Splits
) -> tuple[tuple[str, ...], Bools, tuple[str, int]]:
    """Leave out clients without people in both splits: nothing could be checked there."""
    people, size = rows.people, len(rows.people.clients)
    whole = np.ones(size, bool)
    for code in (FIT, TEST):
        whole &= np.bincount(people.client[split == code], minlength=size) > 0
    both = "both validation and test" if people.dealt is None else "both fit and test"
    if not whole.any():
        raise InputError(
            f"no client has people in {both}; choose the column of the hospital or site as "
            "client, and one with few different values."
        )
    keep = (split >= 0) & whole[people.client]
    n = int((split >= 0).sum() - keep.sum())
    why = f"of {plural((~whole).sum(), 'client')} without people in {both}"
    names = np.array(people.clients, dtype=object)[whole]
    return tuple(names.tolist()), keep, (why, n)


# -------------------------------------------------------------------- models


def _by_model(
    rows: UploadedRows, fit: Bools, test: Bools
) -> tuple[tuple[str, ...], tuple[Rows, ...], tuple[Rows, ...]]:
    """Names of the folds, the rows held out in each, and the test rows of each, paired.

    With one model there is no fold to name.
    """
    people, dealt = rows.people, rows.people.dealt
    if dealt is None:
        return (), (np.flatnonzero(fit),), (np.flatnonzero(test),)
    names = dealt.fitted(fit)
    pairs = dealt.paired(test, names, people.alike)
    dealt.check_apart(fit, test)
    fold = dealt.fold.among(names)
    held_out = tuple(np.flatnonzero(fit & (fold == code)) for code in range(len(names)))
    return names, held_out, tuple(pairs)


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
    then be given.
    """
    named = (roles.client, roles.label, roles.prediction, roles.probability, roles.split)
    scores = [column for _, column in roles.scores]
    taken = {*named, *roles.group_columns, *scores, roles.fold, roles.row_id} - {""}
    _check_chosen([*roles.models, *taken])
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


def _role(
    upload: TableFile, bare: ColumnRoles, column: str, labels: set[str], join: bool
) -> ColumnRoles:
    """What a column is: answers, or the probability of one of two labels."""
    answers = _values(upload, column)
    alike = same_name if join else str
    unknown = {name for name in answers if alike(name) not in set(map(alike, labels))}
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
) -> tuple[list[UploadedRows], list[Check]]:
    """Each model's rows, coded; those that some model does not answer are left out for all."""
    coded = [code_rows(upload, roles, join=join, missing=missing) for roles in models]
    if len(coded) == 1:
        return coded, []
    answers = [rows.people.prediction for rows in coded]
    answered = np.min(answers, axis=0) >= 0
    lost = int((answers[0] >= 0).sum() - answered.sum())
    coded = [
        replace(rows, people=replace(rows.people, prediction=np.where(answered, answer, -1)))
        for rows, answer in zip(coded, answers, strict=True)
    ]
    names = listed([shown(name_of(roles)) for roles in models])
    sentence = f"{len(models)} models are compared on the same people: {names}."
    for roles in models:
        if roles.probability:
            sentence += (
                f' "{shown(roles.probability)}" is read as the probability of '
                f'"{shown(as_name(roles.probability_of))}".'
            )
    if lost:
        sentence += f" {lost:,} rows that not all of them answer are left out."
    return coded, [Check(sentence, look=lost > 0)]


def name_of(roles: ColumnRoles) -> str:
    """A model's name: its column's, or its scores' columns."""
    return roles.prediction or roles.probability or listed([column for _, column in roles.scores])


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
        The label that equal opportunity looks at; the last one unless given.
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
    return Intake(
        experiment,
        (*compared, *checks),
        reading,
        models[0],
        models=several,
        rows=len(coded[0]),
        missing=coded[0].people.missing,
    )


def _experiment(
    upload: TableFile, roles: ColumnRoles, rows: UploadedRows, favourable: str
) -> tuple[UploadedExperiment, list[Check]]:
    """One model's answers as an experiment, and what to know of it."""
    parting = part_rows(rows, roles)
    labels = rows.people.labels
    favourable = favourable if favourable in labels else labels[-1]
    fitted, tested = _counted(rows, parting, roles, favourable)
    protocol = Protocol(fitted.folds)
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
    sample = f"split inside each client with seed {SEED}"
    if roles.split:
        sample = f"split by the column {shown(roles.split)}"
    if roles.fold:
        sample += f", cross-fitted by the {fitted.folds} models of the column {shown(roles.fold)}"
    manifest = manifest_of(fitted, upload.name, upload.data, parting.people, sample)
    return UploadedExperiment(NOWHERE, manifest, tables, people), checks


# -------------------------------------------------------------------- counts and people


def _counted(
    rows: UploadedRows, parting: Parting, roles: ColumnRoles, favourable: str
) -> tuple[ClientCounts, ClientCounts]:
    """Counts of the people fitted on, and of the test people: mean over the models."""
    columns, people = roles.group_columns, rows.people
    groups = tuple(people.groups[code] for code in np.unique(people.group[parting.rows]))
    check_two(groups, " and ".join(columns), "group")
    grouping = Grouping.of_names(columns, groups) if len(columns) > 1 else None
    names = parting.clients, groups, people.labels
    shape = table_shape(*names)
    if np.prod(shape, dtype=float) > _MOST_CELLS:
        raise InputError(
            f"{shape[0]:,} clients, {shape[1]} groups and {shape[2]} labels make a table too large "
            "to solve; join clients, groups or labels."
        )
    client, group, label = rows.among(parting.clients, groups)

    def table(part: NDArray[np.intp]) -> NDArray[Any]:
        return count_people(client[part], group[part], label[part], people.prediction[part], shape)

    folds = len(parting.fit)
    fitted = ClientCounts(
        table(np.concatenate(parting.fit)), *names, favourable, folds=folds, grouping=grouping
    )
    mean = np.mean([table(part) for part in parting.test], axis=0)
    return fitted, replace(fitted, table=mean, noisy=folds > 1, folds=1)


def _people(
    rows: UploadedRows, parting: Parting, counts: ClientCounts, protocol: Protocol
) -> People:
    """The people of each split and model, where there are scores; they must be probabilities.

    Of test people answered by several models only the mean over them says what is expected, so
    they are kept person by person, if need be with their answers for scores.
    """
    client, group, label = rows.among(counts.clients, counts.groups)
    fit, test = protocol.splits
    scores = rows.scores
    if scores is not None:
        looked_at = np.full_like(scores, 1 / scores.shape[1])
        looked_at[parting.rows] = scores[parting.rows]
        check_scores(looked_at, counts.labels)
        parts = {fit: parting.fit, test: parting.test}
    elif protocol.folds > 1:
        parts = {test: parting.test}
        scores = scores_of_answers(rows.people.prediction, counts.labels)
    else:
        return {}
    return {
        split: tuple(
            Scores(client[part], group[part], label[part], scores[part]) for part in by_fold
        )
        for split, by_fold in parts.items()
    }


def _scores_check(upload: TableFile, rows: UploadedRows, roles: ColumnRoles) -> list[Check]:
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
    pairs = guess_scores(rows.people.labels, upload.columns) if rows.scores is None else ()
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
