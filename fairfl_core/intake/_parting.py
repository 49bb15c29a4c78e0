"""Which rows a lottery is made on and which check it: dropped, parted inside each client, paired."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairfl_core._io.names import in_order, shown
from fairfl_core.data.splits import FIT, TEST, TRAINING, code_splits
from fairfl_core.errors import InputError
from fairfl_core.intake._checks import NEITHER, Check, of_folds
from fairfl_core.intake._coding import CodedRows
from fairfl_core.intake._roles import ColumnRoles
from fairfl_core.intake._uploaded import SEED

__all__ = ["Parting", "part_rows"]

Bools = NDArray[np.bool_]
Rows = NDArray[np.intp]
Splits = NDArray[np.int8]


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


def part_rows(rows: CodedRows, roles: ColumnRoles) -> Parting:
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


# -------------------------------------------------------------------- validation and test


def _split(rows: CodedRows, roles: ColumnRoles, usable: Bools) -> tuple[Splits, Check]:
    """FIT, TEST or TRAINING for each usable row, else -1; and what was done, in words."""
    if rows.split is None:
        return _halves(np.where(usable, rows.client.codes, -1)), Check(
            f"Half of each client's people, drawn with seed {SEED}, make the lottery "
            "(validation) and the other half check it (test); give a column called split to "
            "choose them yourself."
        )
    cross_fitted = rows.dealt is not None
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
    rows: CodedRows, split: Splits
) -> tuple[tuple[str, ...], Bools, tuple[str, int]]:
    """Leave out clients without people in both splits: nothing could be checked there."""
    size = len(rows.client.names)
    whole = np.ones(size, bool)
    for code in (FIT, TEST):
        whole &= np.bincount(rows.client.codes[split == code], minlength=size) > 0
    both = "both validation and test" if rows.dealt is None else "both fit and test"
    if not whole.any():
        raise InputError(
            f"no client has people in {both}; choose the column of the hospital or site as "
            "client, and one with few different values."
        )
    keep = (split >= 0) & whole[rows.client.codes]
    n = int((split >= 0).sum() - keep.sum())
    why = f"of {int((~whole).sum()):,} clients without people in {both}"
    names = np.array(rows.client.names, dtype=object)[whole]
    return in_order(names.tolist()), keep, (why, n)


# -------------------------------------------------------------------- models


def _by_model(
    rows: CodedRows, fit: Bools, test: Bools
) -> tuple[tuple[str, ...], tuple[Rows, ...], tuple[Rows, ...]]:
    """Names of the folds, the rows held out in each, and the test rows of each, paired.

    With one model there is no fold to name.
    """
    dealt = rows.dealt
    if dealt is None:
        return (), (np.flatnonzero(fit),), (np.flatnonzero(test),)
    names = dealt.fitted(fit)
    pairs = dealt.paired(test, names, {"group": rows.group, "label": rows.label})
    dealt.check_apart(fit, test)
    fold = dealt.fold.among(names)
    held_out = tuple(np.flatnonzero(fit & (fold == code)) for code in range(len(names)))
    return names, held_out, tuple(pairs)
