"""The bundled experiments: list, open, verify, save. No TensorFlow.

An experiment is a folder with `scores.parquet` and `manifest.json` (everything needed to read the
scores, and how they were made). It follows one of two protocols: the paper's split, where the
fair predictor is fitted on a fifth of the people (`validation`), or cross-fitting, where it is
fitted on all who are not test people (`fit`), each scored by a model that never saw them.

>>> from fairfl_core.data import experiments
>>> adult = experiments.open("adult_cross_fitted")  # doctest: +SKIP
>>> counts = adult.counts(seed=0, split=adult.fit_split)  # doctest: +SKIP
"""

from fairfl_core.data.experiments._open import (
    CROSS_FITTED,
    FOLDER,
    PAPER_SPLIT,
    SPLITS,
    UNITS,
    Experiment,
    FoldScores,
    Protocol,
    Scores,
    SeedScores,
    cross_fitted_of,
    list_experiments,
    open,
    round_scores,
)
from fairfl_core.data.experiments._save import FORMAT, join, save, save_cross_fitted

__all__ = [
    "CROSS_FITTED",
    "FOLDER",
    "FORMAT",
    "PAPER_SPLIT",
    "SPLITS",
    "UNITS",
    "Experiment",
    "FoldScores",
    "Protocol",
    "Scores",
    "SeedScores",
    "cross_fitted_of",
    "join",
    "list_experiments",
    "open",
    "round_scores",
    "save",
    "save_cross_fitted",
]
