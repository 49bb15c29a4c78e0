"""What others bring: tables of predictions and counts files, read with suspicion.

    bytes -> TableFile -> (Columns, guessed then confirmed) -> Taken: an experiment, and its checks

Nothing here writes a file, and whatever a file holds, the worst that comes of it is an
`InputError` with one sentence.
"""

from fairfl_core._io.tables import TableFile, open_table
from fairfl_core.intake._checks import Check
from fairfl_core.intake._coding import labels_of
from fairfl_core.intake._example import EXAMPLE, example_counts, example_table
from fairfl_core.intake._from_counts import take_in_counts
from fairfl_core.intake._from_table import take_in
from fairfl_core.intake._roles import Columns, guess, guess_scores
from fairfl_core.intake._uploaded import Taken, UploadedSet

__all__ = [
    "Check",
    "Columns",
    "EXAMPLE",
    "TableFile",
    "Taken",
    "UploadedSet",
    "example_counts",
    "example_table",
    "guess",
    "guess_scores",
    "labels_of",
    "open_table",
    "take_in",
    "take_in_counts",
]
