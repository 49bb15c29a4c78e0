"""Protocols: who is scored by which model, and on whom the fair predictor is fitted."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fairfl_core.errors import InputError

__all__ = ["CROSS_FITTED", "PAPER_SPLIT", "SPLITS", "Protocol"]

PAPER_SPLIT = "the paper's split"
CROSS_FITTED = "cross-fitted"
SPLITS = ("validation", "test")  # of the paper's split; an experiment knows its own


@dataclass(frozen=True)
class Protocol:
    """How people are parted.

    Attributes
    ----------
    name : {"the paper's split", "cross-fitted"}
    splits : pair of str
        Those the fair predictor is fitted on, and those it is tested on.
    folds : int
        How many models score a test person: J when cross-fitted, else 1.
    """

    name: str
    splits: tuple[str, str]
    folds: int

    @classmethod
    def paper_split(cls) -> "Protocol":
        """One model; the fair predictor is fitted on validation people."""
        return cls(PAPER_SPLIT, ("validation", "test"), 1)

    @classmethod
    def cross_fitted(cls, folds: int) -> "Protocol":
        """One model a fold, trained without it; fitted on all people but the test people."""
        if folds < 2:
            raise InputError(f"cross-fitting needs at least 2 folds, not {folds}; 4 are usual.")
        return cls(CROSS_FITTED, ("fit", "test"), folds)

    @classmethod
    def of(cls, folds: int) -> "Protocol":
        """The protocol of so many models: cross-fitted if there are several."""
        return cls.paper_split() if folds == 1 else cls.cross_fitted(folds)

    @classmethod
    def from_manifest(cls, manifest: Mapping[str, Any]) -> "Protocol":
        """The protocol a manifest tells; the paper's split where it tells none."""
        entry = manifest.get("protocol", {"name": PAPER_SPLIT})
        name = entry.get("name") if isinstance(entry, Mapping) else entry
        if name == PAPER_SPLIT:
            return cls.paper_split()
        if name != CROSS_FITTED:
            raise InputError(f'"protocol" is neither {PAPER_SPLIT} nor {CROSS_FITTED}.')
        folds = entry.get("folds")
        if not isinstance(folds, int) or isinstance(folds, bool):
            raise InputError('"protocol" does not tell how many "folds" there are.')
        return cls.cross_fitted(folds)

    def to_json(self) -> dict[str, Any]:
        """The form that stands in a manifest."""
        return {"name": self.name} | ({"folds": self.folds} if self.folds > 1 else {})

    def row_group(self, seed_place: int, split: str, fold: int) -> int:
        """Which row group of the file holds a seed (by its place), split and fold."""
        return (seed_place * len(self.splits) + self.splits.index(split)) * self.folds + fold

    def row_groups(self, seeds: int) -> int:
        """How many row groups a file of so many seeds has."""
        return seeds * len(self.splits) * self.folds
