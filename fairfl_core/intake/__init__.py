"""What others bring: tables of predictions and counts files, read with suspicion.

    bytes -> TableFile -> (ColumnRoles, guessed then confirmed) -> Intake: an experiment, and its checks

Nothing here writes a file, and whatever a file holds, the worst that comes of it is an
`InputError` with one sentence.
"""

from fairfl_core.data.tables import TableFile, open_table
from fairfl_core.intake._example import (
    EXAMPLE,
    EXAMPLE_FOLDS,
    example_counts,
    example_folds,
    example_table,
)
from fairfl_core.intake._from_counts import Travelled, experiment_from_counts
from fairfl_core.intake._from_table import (
    MOST_MODELS,
    Model,
    experiment_from_table,
    labels_of,
    take_in,
)
from fairfl_core.intake._roles import ColumnRoles, Reading, guess_roles, guess_scores
from fairfl_core.intake._sandbox import apart, refused_by
from fairfl_core.intake._uploaded import (
    Check,
    Intake,
    UploadedExperiment,
    people_as_clients,
)

__all__ = [
    "Check",
    "ColumnRoles",
    "EXAMPLE",
    "EXAMPLE_FOLDS",
    "MOST_MODELS",
    "Model",
    "TableFile",
    "Travelled",
    "Intake",
    "Reading",
    "UploadedExperiment",
    "apart",
    "example_counts",
    "example_folds",
    "example_table",
    "guess_roles",
    "guess_scores",
    "labels_of",
    "open_table",
    "people_as_clients",
    "refused_by",
    "experiment_from_table",
    "experiment_from_counts",
    "take_in",
]
