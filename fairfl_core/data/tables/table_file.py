"""A table as it came: looked at before it is read, and no larger than whoever reads it allows."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fairfl_core._io.names import LONGEST_SHOWN, shown
from fairfl_core.errors import InputError

__all__ = [
    "PAGE",
    "SAMPLE_ROWS",
    "SHELL",
    "Limits",
    "TableFile",
    "check_header",
    "preview",
    "stand_once",
]

SAMPLE_ROWS = 1_000  # shown and guessed from


@dataclass(frozen=True)
class Limits:
    """The largest table that is taken, and what to do with a larger one."""

    megabytes: int
    rows: int
    columns: int
    unpacked: int  # bytes of a Parquet table
    instead: str

    @property
    def bytes(self) -> int:
        """The most bytes, as any system counts megabytes."""
        return self.megabytes * 2**20


PAGE = Limits(
    megabytes=200,
    rows=10_000_000,
    columns=1_000,
    unpacked=1_500_000_000,
    instead="make counts of it with `fairfl count`",
)
SHELL = Limits(
    megabytes=2_000,
    rows=1_000_000_000,
    columns=100_000,
    unpacked=60_000_000_000,
    instead="count it in parts, one client at a time",
)


@dataclass(frozen=True, eq=False)
class TableFile:
    """A CSV or Parquet file whose header and first rows were looked at.

    Attributes
    ----------
    name : str
        What the file is called in sentences.
    data : bytes
    header : tuple of str
        The names of all columns, in the order of the file.
    columns : tuple of str
        Those of them that hold names or numbers; each name once.
    delimiter : str
        What parts the cells of a CSV; empty for Parquet.
    sample : dict of str to list of str
        Its first rows as text, long cells cut.
    limits : Limits
    """

    name: str
    data: bytes
    header: tuple[str, ...]
    columns: tuple[str, ...]
    delimiter: str
    sample: dict[str, list[str]]
    limits: Limits


def check_header(name: str, header: Sequence[str], limits: Limits) -> tuple[str, ...]:
    """Refuse too many columns and a name that stands twice; columns without a name may."""
    if len(header) > limits.columns:
        raise InputError(
            f"{name}: has {len(header):,} columns; keep client, group, label and the model's "
            f"answer or scores (at most {limits.columns:,} columns)."
        )
    times = Counter(header)
    for column in header:
        if column.strip() and times[column] > 1:
            raise InputError(
                f'{name}: the column "{shown(column)}" stands twice; rename one of them.'
            )
    return tuple(header)


def stand_once(header: Sequence[str]) -> tuple[str, ...]:
    """The names by which one column can be meant: not empty, and each once."""
    times = Counter(header)
    return tuple(name for name in header if name.strip() and times[name] == 1)


def preview(header: Sequence[str], cells: Sequence[Sequence[Any]]) -> dict[str, list[str]]:
    """Return the columns of the first rows for a person to look at: as text, long cells cut."""
    return {
        name: [_cut(cell) for cell in column] for name, column in zip(header, cells, strict=True)
    }


def _cut(cell: Any) -> str:
    text = "" if cell is None else str(cell)
    return text if len(text) <= LONGEST_SHOWN else text[: LONGEST_SHOWN - 1] + "…"
