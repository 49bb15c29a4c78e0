"""The same files again, taken in as they were."""

from collections.abc import Sequence

from fairfl_core.data.tables.tables import open_table
from fairfl_core.errors import InputError
from fairfl_core.intake._from_counts import experiment_from_counts
from fairfl_core.intake._from_table import experiment_from_table
from fairfl_core.intake._reading import Reading
from fairfl_core.intake._uploaded import Intake

__all__ = ["take_in"]


def take_in(files: Sequence[tuple[str, bytes]], reading: Reading) -> Intake:
    """Take files in, given as pairs of name and content, as they were read before."""
    if reading.columns is None:
        return experiment_from_counts(files, favourable=reading.favourable)
    if len(files) != 1:
        raise InputError(f"{len(files)} files were given, and one table was read; give that.")
    return experiment_from_table(
        open_table(*files[0]), reading.columns, favourable=reading.favourable, join=reading.join
    )
