"""Scores of people as plain values, and how they are rounded."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

__all__ = ["UNITS", "FoldScores", "Scores", "SeedScores", "round_scores"]

UNITS = 2**14  # scores are whole multiples of 1/16,384: four decimals, and exact in binary


@dataclass(frozen=True, eq=False)
class Scores:
    """People with one score each: client, group and label as codes, and R(x, a, c).

    Attributes
    ----------
    client, group, label : ndarray of int, shape (people,)
    scores : ndarray, shape (people, labels)
    fold : ndarray of int, shape (people,), or None
        When cross-fitted, the fold whose model gave the score; None with one model.
    """

    client: NDArray[np.integer]
    group: NDArray[np.integer]
    label: NDArray[np.integer]
    scores: NDArray[np.floating]
    fold: NDArray[np.integer] | None = field(default=None, kw_only=True)

    def __len__(self) -> int:
        return len(self.label)

    @property
    def prediction(self) -> NDArray[np.intp]:
        """The model's own answer: argmax of the score (the paper's Y_1)."""
        return self.scores.argmax(axis=1)


@dataclass(frozen=True, eq=False)
class FoldScores:
    """People with one score from each model that may answer them.

    Deployed, one of the models is drawn for each person, all with the same chance; so what is
    expected of the people is the mean over the first axis of what holds for each model.

    Attributes
    ----------
    client, group, label : ndarray of int, shape (people,)
    fold_scores : ndarray, shape (folds, people, labels)
    """

    client: NDArray[np.integer]
    group: NDArray[np.integer]
    label: NDArray[np.integer]
    fold_scores: NDArray[np.floating]

    def __len__(self) -> int:
        return len(self.label)

    @property
    def predictions(self) -> NDArray[np.intp]:
        """Each model's own answer, shape (folds, people)."""
        return self.fold_scores.argmax(axis=2)


@dataclass(frozen=True, eq=False)
class SeedScores(Scores):
    """What training one model gives: the scores of the people it did not train on.

    Attributes
    ----------
    split : ndarray of int
        0 for people held out (validation, or the left-out fold), 1 for test people.
    clients : tuple of str
        Names of the clients; a scenario draws its own.
    chosen : int
        The round taken, from 1.
    loss, accuracy : ndarray
        On the people held out, after each round.
    person : ndarray of int, optional
        Who each is, so that scores of several models can be paired; never written.
    """

    seed: int
    split: NDArray[np.int8]
    clients: tuple[str, ...]
    chosen: int
    loss: NDArray[np.float64]
    accuracy: NDArray[np.float64]
    person: NDArray[np.integer] | None = field(default=None, kw_only=True)


def round_scores(scores: NDArray[np.floating], units: int = UNITS) -> NDArray[np.float32]:
    """Round scores so that rows still sum to 1 and the argmax is kept, alone at the top.

    Units are handed out by largest remainder; where that ties or turns the winner, one unit moves
    to it from the runner-up (two can be needed, never more).
    """
    exact = scores / scores.sum(axis=1, keepdims=True) * units
    whole = np.floor(exact).astype(np.int64)
    rank = np.argsort(np.argsort(-(exact - whole), axis=1, kind="stable"), axis=1)
    whole += rank < (units - whole.sum(axis=1, keepdims=True))
    winner = scores.argmax(axis=1)
    everyone = np.arange(len(scores))
    while True:
        others = whole.copy()
        others[everyone, winner] = -1
        rival = others.argmax(axis=1)
        wrong = whole[everyone, winner] <= others.max(axis=1)
        if not wrong.any():
            return (whole / units).astype(np.float32)
        rows = everyone[wrong]
        whole[rows, winner[wrong]] += 1
        whole[rows, rival[wrong]] -= 1
