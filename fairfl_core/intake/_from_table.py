"""From rows to an experiment: drop what cannot be used, split inside each client, count."""

import hashlib
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairfl_core._io.names import in_order, listed, shown
from fairfl_core._io.tables import TableFile
from fairfl_core.errors import InputError
from fairfl_core.intake._checks import NEITHER, Check, of_counts, of_rows
from fairfl_core.intake._coding import CodedRows, code_rows
from fairfl_core.intake._roles import ColumnRoles, guess_scores
from fairfl_core.intake._uploaded import SEED, Intake, manifest_of, uploaded_experiment
from fairfl_core.people.coding import check_two
from fairfl_core.people.counts import ClientCounts, count_people, table_shape
from fairfl_core.people.experiments import SPLITS, Scores
from fairfl_core.people.scored import check_scores

__all__ = ["experiment_from_table"]

_SPLIT_NAMES = {
    "validation": {"validation", "val", "valid", "dev", "development", "calibration", "fit"},
    "test": {"test", "testing", "held-out", "heldout", "holdout", "hold-out", "unseen", "eval"},
}
_MOST_CELLS = 20_000_000  # entries of the table of counts
Bools = NDArray[np.bool_]


def experiment_from_table(
    upload: TableFile, roles: ColumnRoles, *, favourable: str = "", join: bool = False
) -> Intake:
    """Make an experiment of an uploaded table.

    Parameters
    ----------
    upload : TableFile
    roles : ColumnRoles
        Which column is what, as a person confirmed it.
    favourable : str
        The label that equal opportunity looks at; the last one unless said.
    join : bool
        Take names that differ only in case or spaces as one.
    """
    rows = code_rows(upload, roles, join=join)
    usable, dropped = _usable(rows)
    split, split_check = _split(rows, roles, usable)
    dropped.append((NEITHER, int((usable & (split < 0)).sum())))
    clients, keep, lost = _whole_clients(rows, split)
    dropped.append(lost)
    groups = check_two(_seen(rows.group.names, rows.group.codes[keep]), roles.group, "group")
    split[~keep] = -1
    tables, people = _counted(rows, split, (clients, groups), favourable)
    n = int(keep.sum())
    checks = [*of_rows(rows, n, dropped), split_check, *_scores_check(upload, rows, people)]
    counts = tables["validation"]
    everyone = replace(counts, table=counts.table + tables["test"].table)
    experiment = uploaded_experiment(tables, people, _manifest(upload, roles, counts, n))
    return Intake(experiment, (*checks, *of_counts(everyone, counts)), roles)


def _manifest(
    upload: TableFile, roles: ColumnRoles, counts: ClientCounts, n: int
) -> dict[str, Any]:
    sample = f"split inside each client with seed {SEED}"
    if roles.split:
        sample = f"split by the column {shown(roles.split)}"
    sha256 = hashlib.sha256(upload.data).hexdigest()
    return manifest_of(counts, files=upload.name, sha256=sha256, rows=n, sample=sample)


# -------------------------------------------------------------------- who is kept


def _usable(rows: CodedRows) -> tuple[Bools, list[tuple[str, int]]]:
    """Which rows are whole, and why the others are not; each counts for one reason."""
    usable = np.ones(len(rows), bool)
    dropped = [("with too few or too many cells", rows.malformed)]
    no_answer = "without an answer" if rows.scores is None else "with a score that is no number"
    for codes, why in (
        (rows.client.codes, "without a client"),
        (rows.group.codes, "without a group"),
        (rows.label.codes, "without a label"),
        (rows.prediction, no_answer),
    ):
        dropped.append((why, int((usable & (codes < 0)).sum())))
        usable &= codes >= 0
    if not usable.any():
        raise InputError(
            "no row can be used: each lacks its client, group, label or the model's answer; "
            "check which column is which."
        )
    return usable, dropped


def _split(rows: CodedRows, roles: ColumnRoles, usable: Bools) -> tuple[NDArray[np.int8], Check]:
    """A code into SPLITS for each usable row, else -1; and what was done, in words."""
    if rows.split is None:
        return _halves(np.where(usable, rows.client.codes, -1)), Check(
            f"Half of each client's people, drawn with seed {SEED}, make the lottery "
            "(validation) and the other half check it (test); give a column called split to "
            "choose them yourself."
        )
    names = [name.casefold() for name in rows.split.names]
    codes = [
        next((code for code, split in enumerate(SPLITS) if name in _SPLIT_NAMES[split]), -1)
        for name in names
    ]
    split = np.append(np.array(codes, np.int8), np.int8(-1))[rows.split.codes]
    for code, name in enumerate(SPLITS):
        if not (split == code).any():
            raise InputError(
                f'column "{shown(roles.split)}" has no rows of "{name}" (it holds '
                f"{listed(rows.split.names, 4)}); write validation and test in it, or choose no "
                "split column."
            )
    return np.where(usable, split, np.int8(-1)), Check(
        f'Validation and test as the column "{shown(roles.split)}" says; people of neither '
        "(training) are left out, as a model flatters those it was trained on."
    )


def _halves(client: NDArray[np.int32]) -> NDArray[np.int8]:
    """Half of each client's people to validation (the odd one too), the rest to test.

    People of no client (-1) are in neither.
    """
    shuffled = np.random.default_rng(SEED).permutation(len(client)).astype(np.int32)
    # At most 20,000 clients: 16 bits, which numpy sorts without comparing.
    order = shuffled[np.argsort(client[shuffled].astype(np.int16), kind="stable")]
    size = np.bincount(client + 1)
    rank = np.arange(len(client)) - np.repeat(np.cumsum(size) - size, size)
    split = np.empty(len(client), np.int8)
    split[order] = rank >= np.repeat((size + 1) // 2, size)
    split[client < 0] = -1
    return split


def _whole_clients(
    rows: CodedRows, split: NDArray[np.int8]
) -> tuple[tuple[str, ...], Bools, tuple[str, int]]:
    """Leave out clients without people in both splits: nothing could be checked there."""
    size = len(rows.client.names)
    whole = np.ones(size, bool)
    for code in range(len(SPLITS)):
        whole &= np.bincount(rows.client.codes[split == code], minlength=size) > 0
    if not whole.any():
        raise InputError(
            "no client has people in both validation and test; choose the column of the hospital "
            "or site as client, and one with few different values."
        )
    keep = (split >= 0) & whole[rows.client.codes]
    n = int((split >= 0).sum() - keep.sum())
    lost = int((~whole).sum())
    why = f"of {lost:,} clients without people in both validation and test"
    names = np.array(rows.client.names, dtype=object)[whole]
    return in_order(names.tolist()), keep, (why, n)


def _seen(names: tuple[str, ...], codes: NDArray[np.int32]) -> tuple[str, ...]:
    return in_order([names[code] for code in np.unique(codes)])


# -------------------------------------------------------------------- counts and people


def _counted(
    rows: CodedRows,
    split: NDArray[np.int8],
    names: tuple[tuple[str, ...], tuple[str, ...]],
    favourable: str,
) -> tuple[dict[str, ClientCounts], dict[str, Scores]]:
    """Counts of both splits, and their people where scores are probabilities."""
    (clients, groups), labels = names, rows.labels
    shape = table_shape(clients, groups, labels)
    if np.prod(shape, dtype=float) > _MOST_CELLS:
        raise InputError(
            f"{shape[0]:,} clients, {shape[1]} groups and {shape[2]} labels make a table too large "
            "to solve; join clients, groups or labels."
        )
    client, group = rows.client.among(clients), rows.group.among(groups)
    label = rows.label.among(labels)
    favourable = favourable if favourable in labels else labels[-1]
    probable = _probable(rows, split >= 0)
    tables, people = {}, {}
    for code, name in enumerate(SPLITS):
        inside = split == code
        codes = client[inside], group[inside], label[inside]
        table = count_people(*codes, rows.prediction[inside], shape)
        tables[name] = ClientCounts(table, clients, groups, labels, favourable)
        if probable and rows.scores is not None:
            people[name] = Scores(*codes, rows.scores[inside])
    return tables, people


def _probable(rows: CodedRows, keep: Bools) -> bool:
    if rows.scores is None:
        return False
    try:
        check_scores(rows.scores[keep], rows.labels)
    except InputError:
        return False
    return True


def _scores_check(upload: TableFile, rows: CodedRows, people: dict[str, Scores]) -> list[Check]:
    """What is made of scores, and what could be."""
    if rows.scores is not None and not people:
        return [
            Check(
                "The scores of a person do not sum to one, so only their order is used: the "
                "largest is the model's answer. Give probabilities for more."
            )
        ]
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
