"""The column that says whom a lottery is made on and who checks it, as people write it."""

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from fairfl_core._io.names import listed, shown
from fairfl_core.data.tables.columns import Coded
from fairfl_core.errors import InputError

__all__ = ["FIT", "TEST", "TRAINING", "code_splits", "is_split"]

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
