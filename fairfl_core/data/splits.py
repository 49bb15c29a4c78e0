"""The column that says whom a lottery is made on and who checks it, as people write it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fairfl_core._io.names import as_name, in_order, listed, shown
from fairfl_core.data.columns import Coded, code_column, encode, is_text, to_arrow
from fairfl_core.errors import InputError

FIT, TEST, TRAINING = 0, 1, 2  # codes of a row; -1 is none of them
_FIT = {"validation", "val", "valid", "dev", "development", "calibration", "fit"}
_TRAINING = {"train", "training"}
_TEST = {"test", "testing", "held-out", "heldout", "holdout", "hold-out", "unseen", "eval"}


def is_split(values: Collection[str]) -> bool:
    """Whether the values of a column are those of a split: test is among them."""
    return any(value.strip().casefold() in _TEST for value in values)


def code_splits(
    column: Coded, header: str, needed: Sequence[int] = (FIT, TEST), *, cross_fitted: bool = False
) -> NDArray[np.int8]:
    """FIT, TEST, TRAINING or -1 for each row of a split column.

    A model flatters those it was trained on; cross-fitted, also people of the training split were
    scored by a model that never saw them, and are to FIT on. A split that is `needed` and has no
    rows is refused.
    """
    words = dict.fromkeys(_FIT, FIT) | dict.fromkeys(_TEST, TEST)
    words |= dict.fromkeys(_TRAINING, FIT if cross_fitted else TRAINING)
    codes = [words.get(name.strip().casefold(), -1) for name in column.names]
    split = np.array([*codes, -1], np.int8)[column.codes]
    for code in needed:
        if not (split == code).any():
            name = "test" if code == TEST else "fit" if cross_fitted else "validation"
            raise InputError(
                f'column "{shown(header)}" has no rows of "{name}" (it holds '
                f"{listed(column.names, 4)}); write it there, or name no split column."
            )
    return split


Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class RowIds:
    """A column of row ids as codes into its values; -1 where a row has none.

    There are as many ids as people, so an id becomes a name only in a sentence.
    """

    header: str
    codes: NDArray[np.int32]
    values: pa.Array

    @classmethod
    def of(cls, column: Any, header: str) -> "RowIds":
        """Take a column of any kind."""
        import pyarrow.compute as pc

        codes, values = encode(to_arrow(column, header), header)
        text = values if is_text(values.type) else values.cast(pa.string())
        blank = pc.equal(pc.utf8_trim_whitespace(text), "").fill_null(True)
        if pa.types.is_floating(values.type):
            blank = pc.or_(blank, pc.is_nan(values).fill_null(True))
        lacking = np.append(blank.to_numpy(zero_copy_only=False), True)
        return cls(header, np.where(lacking[codes], -1, codes).astype(np.int32), values)

    def name(self, row: int) -> str:
        """The id of a row, for a sentence."""
        return shown(as_name(self.values[int(self.codes[row])].as_py()))


@dataclass(frozen=True, eq=False)
class FoldRows:
    """Whose row each is, and which fold's model scored it; one entry a row.

    Attributes
    ----------
    client : Coded
    row_id : RowIds
        A person is a client's row id: clients number their people alike.
    fold : Coded
    header : str
        The fold column's name, for sentences.
    """

    client: Coded
    row_id: RowIds
    fold: Coded
    header: str

    @classmethod
    def of(cls, rows: Any, *, client: str, row_id: str, fold: str) -> "FoldRows":
        """Take the columns of a table of any kind."""
        return cls(
            code_column(rows[client], client),
            RowIds.of(rows[row_id], row_id),
            code_column(rows[fold], fold),
            fold,
        )

    def among(self, rows: Bools) -> "FoldRows":
        """The same of some of the rows."""
        client, fold = (Coded(one.codes[rows], one.names) for one in (self.client, self.fold))
        row_id = replace(self.row_id, codes=self.row_id.codes[rows])
        return FoldRows(client, row_id, fold, self.header)

    @cached_property
    def _person(self) -> Ints:
        return self.client.codes.astype(np.int64) * len(self.row_id.values) + self.row_id.codes

    def _whose(self, row: int) -> str:
        client = self.client.names[self.client.codes[row]]
        return f'"{self.row_id.name(row)}" of client "{shown(client)}"'

    # ---------------------------------------------------------------- those it is fitted on

    def fitted(self, inside: Bools) -> tuple[str, ...]:
        """The folds, in order, of the rows a lottery is fitted on; refused where they are not.

        There are at least two, every client has people in each, and nobody is in two. A person
        may have several rows of their one fold.
        """
        rows = np.flatnonzero(inside)
        folds = self.folds(inside)
        fold = self.fold.among(folds)[rows]
        self._check_clients(rows, fold, folds)
        self._check_one_fold(rows, fold, folds)
        return folds

    def folds(self, inside: Bools) -> tuple[str, ...]:
        """The folds these rows are of, in order: at least two."""
        self._check_whole(inside)
        folds = in_order([self.fold.names[code] for code in np.unique(self.fold.codes[inside])])
        if len(folds) < 2:
            raise InputError(
                f'column "{shown(self.header)}" holds one fold ({listed(folds)}), but '
                "cross-fitting needs at least two; give the fold of every row, or name no fold "
                "column."
            )
        return folds

    def _check_whole(self, inside: Bools) -> None:
        """Every row has an id and a fold."""
        for codes, header, what in (
            (self.row_id.codes, self.row_id.header, "row id"),
            (self.fold.codes, self.header, "fold"),
        ):
            lacking = inside & (codes < 0)
            if lacking.any():
                raise InputError(
                    f'column "{shown(header)}", data row {int(np.argmax(lacking)) + 1:,} has no '
                    f"{what}; fill it in or leave the row out."
                )

    def _check_clients(self, rows: Ints, fold: NDArray[Any], folds: tuple[str, ...]) -> None:
        client = self.client.codes[rows]
        place = client.astype(np.int64) * len(folds) + fold
        size = len(self.client.names) * len(folds)
        people = np.bincount(place, minlength=size).reshape(-1, len(folds))
        lacking = (people == 0) & (people.sum(axis=1, keepdims=True) > 0)
        if lacking.any():
            c, j = np.argwhere(lacking)[0]
            raise InputError(
                f'client "{shown(self.client.names[c])}" has nobody in fold "{shown(folds[j])}" '
                f'(column "{shown(self.header)}"), but every client needs people in every fold; '
                "deal its people into the folds anew, or leave the client out."
            )

    def _check_one_fold(self, rows: Ints, fold: NDArray[Any], folds: tuple[str, ...]) -> None:
        person = self._person[rows]
        order = np.argsort(person, kind="stable")
        same = person[order][1:] == person[order][:-1]
        parted = same & (fold[order][1:] != fold[order][:-1])
        if parted.any():
            first, second = order[np.argmax(parted) + np.arange(2)]
            raise InputError(
                f"person {self._whose(rows[first])} is in two folds, "
                f"{listed([shown(folds[fold[first]]), shown(folds[fold[second]])])} (data rows "
                f"{rows[first] + 1:,} and {rows[second] + 1:,}), but belongs to the one whose "
                "model never saw them; keep that row, or name the split column if these are test "
                "rows."
            )

    # ---------------------------------------------------------------- those it is tested on

    def paired(
        self, inside: Bools, folds: tuple[str, ...], alike: Mapping[str, Coded]
    ) -> NDArray[np.intp]:
        """The rows of each test person, shape (folds, people): one of every fold, or refused.

        `alike` are the columns, by what they hold, in which a person's rows must agree.
        """
        self._check_whole(inside)
        rows = np.flatnonzero(inside)
        fold = self.fold.among(folds)[rows]
        if (fold < 0).any():
            row = rows[int(np.argmax(fold < 0))]
            raise InputError(
                f'person {self._whose(row)} has a row of fold "'
                f'{shown(self.fold.names[self.fold.codes[row]])}" (data row {row + 1:,}), which '
                f"nobody is fitted on (the folds are {listed(folds)}); correct it."
            )
        _, first, person = np.unique(self._person[rows], return_index=True, return_inverse=True)
        slot = person * len(folds) + fold
        many = np.bincount(slot, minlength=len(first) * len(folds)).reshape(-1, len(folds))
        if (many != 1).any():
            who, j = np.argwhere(many != 1)[0]
            wrong = "no row" if many[who, j] == 0 else f"{many[who, j]:,} rows"
            raise InputError(
                f"person {self._whose(rows[first[who]])} has {wrong} of fold "
                f'"{shown(folds[j])}"; give everyone who is tested or answered one row for each '
                f"fold ({listed(folds)}), scored by its model."
            )
        pairs = rows[np.argsort(slot)].reshape(-1, len(folds)).T
        self._check_alike(pairs, folds, alike)
        return pairs

    def _check_alike(
        self, pairs: NDArray[np.intp], folds: tuple[str, ...], alike: Mapping[str, Coded]
    ) -> None:
        for what, column in alike.items():
            codes = column.codes[pairs]
            differs = codes != codes[0]
            if differs.any():
                j, who = np.argwhere(differs)[0]
                names = [shown(column.names[code]) for code in (codes[0, who], codes[j, who])]
                raise InputError(
                    f"person {self._whose(pairs[0, who])} has the {what}s {listed(names)} in "
                    f"the folds {listed([shown(folds[0]), shown(folds[j])])} (data rows "
                    f"{pairs[0, who] + 1:,} and {pairs[j, who] + 1:,}); give the same {what} in "
                    "every fold, or each person an id of their own."
                )

    def check_apart(self, fit: Bools, test: Bools) -> None:
        """Refuse a person who is fitted on and tested on: they were seen by all but one model."""
        self._check_whole(fit | test)
        both = np.isin(self._person, self._person[fit]) & test & (self.client.codes >= 0)
        if both.any():
            row = int(np.argmax(both))
            raise InputError(
                f"person {self._whose(row)} is both fitted on and a test person (data row {row + 1:,}); "
                "leave one of the two out."
            )
