"""Where a training stands, and how it is kept on disk so that it can be killed and go on."""

import hashlib
import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairfl_core._io.files import write_whole
from fairfl_core.data.datasets import People
from fairfl_core.errors import InputError
from fairfl_core.training.method import Memory, State
from fairfl_core.training.recipes import Recipe

__all__ = ["Run", "checkpoint_name", "fingerprint", "read_checkpoint", "write_checkpoint"]


@dataclass(frozen=True, eq=False)
class Run:
    """Where the training of one model stands after `round` rounds; all that a checkpoint holds.

    Attributes
    ----------
    state : State
        What the server holds.
    memories : tuple of mapping
        What each client keeps to itself.
    best : ndarray, shape (1, p) or (clients, p)
        The parameters of the round to keep: one model for all, or one a client.
    loss, accuracy, criterion : ndarray, shape (rounds,)
        On the people held out, after each round; the round with the least criterion is kept.
    """

    state: State
    memories: tuple[Memory, ...]
    best: NDArray[np.float32]
    loss: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    accuracy: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    criterion: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))

    @property
    def round(self) -> int:
        """Rounds done."""
        return len(self.loss)

    @property
    def chosen(self) -> int:
        """The round (from 1) with the least criterion, the first of equals."""
        return int(np.argmin(self.criterion)) + 1

    def after(
        self,
        state: State,
        memories: tuple[Memory, ...],
        models: NDArray[np.float32],
        *,
        loss: float,
        accuracy: float,
        criterion: float,
    ) -> "Run":
        """Add a round; keep its `models` if its criterion is less than any before."""
        worse = self.round > 0 and criterion >= self.criterion.min()
        return Run(
            state,
            memories,
            self.best if worse else models,
            np.append(self.loss, loss),
            np.append(self.accuracy, accuracy),
            np.append(self.criterion, criterion),
        )


def checkpoint_name(seed: int, fold: int | None) -> str:
    """The file of one training."""
    return f"seed_{seed}.npz" if fold is None else f"seed_{seed}_fold_{fold}.npz"


def fingerprint(people: People, recipe: Recipe, seed: int, fold: int | None = None) -> str:
    """A hash of all that decides a run except its length, so that a run can be lengthened."""
    decisive = {
        **replace(recipe, rounds=0, title="").to_json(),
        "seed": seed,
        "fold": fold,
        "rows": len(people),
        "grouping": people.origin.get("grouping"),
        "files": people.origin.get("files"),
    }
    return hashlib.sha256(json.dumps(decisive, sort_keys=True).encode()).hexdigest()


def write_checkpoint(path: Path, run: Run, mark: str) -> None:
    """Keep a run, marked with the `fingerprint` of what decides it."""
    arrays: dict[str, Any] = {f"memory/{name}": value for name, value in run.state.memory.items()}
    for client, memory in enumerate(run.memories):
        arrays |= {f"client {client}/{name}": value for name, value in memory.items()}
    file = io.BytesIO()
    np.savez(
        file,
        mark=np.array(mark),
        theta=run.state.theta,
        best=run.best,
        loss=run.loss,
        accuracy=run.accuracy,
        criterion=run.criterion,
        **arrays,
    )
    write_whole(path, file.getvalue())


def read_checkpoint(path: Path, mark: str, rounds: int, clients: int) -> Run:
    """The run a checkpoint holds, if it is of the same settings and not longer than `rounds`."""
    try:
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        run = Run(
            State(arrays["theta"], _under("memory", arrays)),
            tuple(_under(f"client {client}", arrays) for client in range(clients)),
            *(arrays[name] for name in ("best", "loss", "accuracy", "criterion")),
        )
        same = str(arrays["mark"]) == mark
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise InputError(
            f"{path}: is not a checkpoint that can be read ({error}); remove it to start anew."
        ) from error
    if not same:
        raise InputError(
            f"{path}: is a checkpoint of other settings or other data; "
            "remove it to start anew, or choose another folder with --out."
        )
    if run.round > rounds:
        raise InputError(
            f"{path}: has {run.round} rounds, more than the {rounds} asked for; "
            "ask for as many, or choose another folder with --out."
        )
    return run


def _under(prefix: str, arrays: Mapping[str, NDArray[Any]]) -> Memory:
    start = f"{prefix}/"
    return {
        name.removeprefix(start): value for name, value in arrays.items() if name.startswith(start)
    }
