"""From rows to an experiment: drop what cannot be used, split inside each client, count."""

import hashlib
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from fairfl_core._io.names import in_order, listed, shown
from fairfl_core._io.tables import TableFile
from fairfl_core.errors import InputError
from fairfl_core.intake._checks import NEITHER, Check, of_counts, of_rows
from fairfl_core.intake._columns import Columns, guess_scores
from fairfl_core.intake._rows import Rows, code_rows
from fairfl_core.intake._set import SEED, Taken, make_set, manifest_of
from fairfl_core.people.coding import check_two
from fairfl_core.people.counts import ClientCounts, count_people, table_shape
from fairfl_core.people.experiments import SPLITS, Scores
from fairfl_core.people.scored import check_scores

__all__ = ["take_in"]

_SAID = {
    "validation": {"validation", "val", "valid", "dev", "development", "calibration", "fit"},
    "test": {"test", "testing", "held-out", "heldout", "holdout", "hold-out", "unseen", "eval"},
}
_MOST_CELLS = 20_000_000  # entries of the table of counts
Bools = NDArray[np.bool_]


def take_in(
    upload: TableFile, columns: Columns, *, favourable: str = "", join: bool = False
) -> Taken:
    """Make an experiment of an uploaded table.

    Parameters
    ----------
    upload : TableFile
    columns : Columns
        Which column is what, as a person confirmed it.
    favourable : str
        The label that equal opportunity looks at; the last one unless said.
    join : bool
        Take names that differ only in case or spaces as one.
    """
    rows = code_rows(upload, columns, join=join)
    split, told = _split(rows, columns)
    keep, dropped = _keep(rows, split)
    clients, keep, lost = _whole_clients(rows, split, keep)
    dropped += lost
    groups = check_two(_seen(rows.group.names, rows.group.codes[keep]), columns.group, "group")
    tables, people = _counted(rows, split, keep, clients, groups, favourable)
    kept = int(keep.sum())
    checks = of_rows(rows, kept, dropped) + [told, *_scores_said(upload, rows, people)]
    counts = tables["validation"]
    sample = f"split inside each client with seed {SEED}"
    if columns.split:
        sample = f"split by the column {shown(columns.split)}"
    sha256 = hashlib.sha256(upload.data).hexdigest()
    manifest = manifest_of(counts, files=upload.name, sha256=sha256, rows=kept, sample=sample)
    everyone = replace(counts, table=counts.table + tables["test"].table)
    return Taken(
        make_set(tables, people, manifest), (*checks, *of_counts(everyone, counts)), columns
    )


def _split(rows: Rows, columns: Columns) -> tuple[NDArray[np.int8], Check]:
    """A code into SPLITS for each row, -1 for neither; and what was done, in words."""
    if rows.split is None:
        return _seeded(rows.client.codes), Check(
            f"Half of each client's people, drawn with seed {SEED}, make the lottery "
            "(validation) and the other half check it (test); give a column called split to "
            "choose them yourself."
        )
    named = [name.casefold() for name in rows.split.names]
    codes = [next((i for i, s in enumerate(SPLITS) if name in _SAID[s]), -1) for name in named]
    found = np.append(np.array(codes, np.int8), np.int8(-1))[rows.split.codes]
    for code, name in enumerate(SPLITS):
        if not (found == code).any():
            raise InputError(
                f'column "{shown(columns.split)}" has no rows of "{name}" (it holds '
                f"{listed(rows.split.names, 4)}); write validation and test in it, or choose no "
                "split column."
            )
    return found, Check(
        f'Validation and test as the column "{shown(columns.split)}" says; people of neither '
        "(training) are left out, as a model flatters those it was trained on."
    )


def _seeded(client: NDArray[np.int32]) -> NDArray[np.int8]:
    """Half of each client's rows to validation (the odd one too), the rest to test."""
    shuffled = np.random.default_rng(SEED).permutation(len(client)).astype(np.int32)
    # At most 20,000 clients: 16 bits, which numpy sorts without comparing.
    order = shuffled[np.argsort(client[shuffled].astype(np.int16), kind="stable")]
    grouped = client[order]
    starts = np.flatnonzero(np.diff(grouped, prepend=grouped[:1] - 1))
    size = np.diff(np.append(starts, len(client)))
    rank = np.arange(len(client)) - np.repeat(starts, size)
    split = np.empty(len(client), np.int8)
    split[order] = rank >= np.repeat((size + 1) // 2, size)
    return split


def _keep(rows: Rows, split: NDArray[np.int8]) -> tuple[Bools, list[tuple[str, int]]]:
    """Which rows can be used, and why the others cannot; each counts for one reason."""
    keep = np.ones(len(rows.said), bool)
    dropped = [("with too few or too many cells", rows.skipped)]
    no_answer = "without an answer" if rows.scores is None else "with a score that is no number"
    for bad, why in (
        (rows.client.codes < 0, "without a client"),
        (rows.group.codes < 0, "without a group"),
        (rows.label.codes < 0, "without a label"),
        (rows.said < 0, no_answer),
        (split < 0, NEITHER),
    ):
        dropped.append((why, int((bad & keep).sum())))
        keep &= ~bad
    if not keep.any():
        raise InputError(
            "no row can be used: each lacks its client, group, label or the model's answer; "
            "check which column is which."
        )
    return keep, dropped


def _whole_clients(
    rows: Rows, split: NDArray[np.int8], keep: Bools
) -> tuple[tuple[str, ...], Bools, list[tuple[str, int]]]:
    """Leave out clients without people in both splits: nothing could be checked there."""
    size = len(rows.client.names)
    both = np.ones(size, bool)
    for code in range(len(SPLITS)):
        both &= np.bincount(rows.client.codes[keep & (split == code)], minlength=size) > 0
    if not both.any():
        raise InputError(
            "no client has people in both validation and test; choose the column of the hospital "
            "or site as client, and one with few different values."
        )
    stays = keep & both[rows.client.codes]
    n = int(keep.sum() - stays.sum())
    lost = int((~both).sum())
    why = f"of {lost:,} clients without people in both validation and test"
    clients = in_order([name for name, stay in zip(rows.client.names, both, strict=True) if stay])
    return clients, stays, [(why, n)]


def _seen(names: tuple[str, ...], codes: NDArray[np.int32]) -> tuple[str, ...]:
    return in_order([names[code] for code in np.unique(codes)])


def _counted(
    rows: Rows,
    split: NDArray[np.int8],
    keep: Bools,
    clients: tuple[str, ...],
    groups: tuple[str, ...],
    favourable: str,
) -> tuple[dict[str, ClientCounts], dict[str, Scores]]:
    """Counts of both splits, and their people where scores are probabilities."""
    labels = rows.labels
    shape = table_shape(clients, groups, labels)
    if np.prod(shape, dtype=float) > _MOST_CELLS:
        raise InputError(
            f"{shape[0]:,} clients, {shape[1]} groups and {shape[2]} labels make a table too large "
            "to solve; join clients, groups or labels."
        )
    client, group = rows.client.among(clients), rows.group.among(groups)
    label = rows.label.among(labels)
    favourable = favourable if favourable in labels else labels[-1]
    tables, people = {}, {}
    probable = _probable(rows, keep)
    for code, name in enumerate(SPLITS):
        mine = keep & (split == code)
        table = count_people(client[mine], group[mine], label[mine], rows.said[mine], shape)
        tables[name] = ClientCounts(table, clients, groups, labels, favourable)
        if probable and rows.scores is not None:
            people[name] = Scores(
                client[mine], group[mine], label[mine], rows.scores[mine].astype(np.float32)
            )
    return tables, people


def _probable(rows: Rows, keep: Bools) -> bool:
    if rows.scores is None:
        return False
    try:
        check_scores(rows.scores[keep], rows.labels)
    except InputError:
        return False
    return True


def _scores_said(upload: TableFile, rows: Rows, people: dict[str, Scores]) -> list[Check]:
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
