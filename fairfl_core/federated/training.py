"""Training an experiment: rounds, the choice of a round, checkpoints, progress."""

import hashlib
import io
import json
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairfl_core._io.whole import write_whole
from fairfl_core.datasets import People
from fairfl_core.errors import InputError
from fairfl_core.federated.data import TEST, TRAINING, VALIDATION, Federation, federate
from fairfl_core.federated.method import Method, State, Turn
from fairfl_core.federated.recipes import Recipe
from fairfl_core.federated.work import Work, prepare_tensorflow
from fairfl_core.people.experiments import SeedScores

__all__ = ["Run", "method_of", "train_seed"]


@dataclass(frozen=True, eq=False)
class Run:
    """Where the training of one seed stands after `round` rounds; all that a checkpoint holds.

    `best_theta` is the model of the round with the least pooled validation loss so far.
    """

    state: State
    best_theta: NDArray[np.float32]
    loss: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    accuracy: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))

    @property
    def round(self) -> int:
        """Rounds done."""
        return len(self.loss)

    @property
    def chosen(self) -> int:
        """The round (from 1) with the least validation loss, the first of equals."""
        return int(np.argmin(self.loss)) + 1


def method_of(recipe: Recipe) -> Method:
    """The method a recipe names: `from_recipe` of the file of that name beside this one."""
    room = __name__.rpartition(".")[0]
    try:
        made: Method = import_module(f"{room}.{recipe.method}").from_recipe(recipe)
    except (ModuleNotFoundError, AttributeError) as error:
        raise InputError(
            f'there is no method "{recipe.method}"; a method is a file in fairfl_core/federated '
            "with a function from_recipe, such as fedavg."
        ) from error
    return made


def train_seed(
    people: People,
    recipe: Recipe,
    seed: int,
    *,
    fold: int | None = None,
    folder: Path | None = None,
    told: Callable[[Run], None] = lambda run: None,
) -> SeedScores:
    """Train one seed, from its checkpoint if there is one, and score validation and test rows.

    Parameters
    ----------
    people : People
        The dataset, opened.
    recipe : Recipe
        Every choice.
    seed : int
        Decides the scenario's draw, the split, the first weights and every order of rows.
    folder : path, optional
        Where to keep a checkpoint after every round; none is kept unless said.
    told : callable
        Called with the `Run` before the first round and after each.
    """
    prepare_tensorflow(recipe.threads)
    federation = federate(people, recipe, seed, fold)
    work = Work(federation, recipe)
    method = method_of(recipe)
    path = folder / _checkpoint_name(seed, fold) if folder else None
    mark = fingerprint(people, recipe, seed, fold)
    run = _resumed(path, mark, recipe.rounds) if path and path.is_file() else None
    if run is None:
        theta = work.model.initial(seed)
        run = Run(method.begin(theta, len(federation.people.clients)), theta)
    told(run)
    while run.round < recipe.rounds:
        run = _one_round(run, federation, recipe, work, method, seed)
        if path:
            _save(path, run, mark)
        told(run)
    return _scored(run, federation, work, seed)


def _one_round(
    run: Run, federation: Federation, recipe: Recipe, work: Work, method: Method, seed: int
) -> Run:
    weight = _row_weights(federation, recipe)
    replies = []
    for client, rows in enumerate(federation.training_rows()):
        # one stream of random numbers for each (seed, round, client): no memory to save
        rng = np.random.default_rng([seed, 4, run.round, client])
        order = rng.permutation(rows)
        turn = Turn(client, order, weight[order], int(rng.integers(2**30)))
        replies.append(method.client(run.state, turn, work))
    state = method.server(run.state, replies)
    rows = federation.rows(VALIDATION)
    scores = work.scores(state.theta, rows)
    label = federation.people.label[rows]
    loss = float(-np.log(scores[np.arange(len(rows)), label] + 1e-12).mean())
    accuracy = float((scores.argmax(axis=1) == label).mean())
    best = run.best_theta if run.round and loss >= run.loss.min() else state.theta
    return Run(state, best, np.append(run.loss, loss), np.append(run.accuracy, accuracy))


def _row_weights(federation: Federation, recipe: Recipe) -> NDArray[np.float32]:
    """1 for each row; with class weighting n / (N n_y), from the pooled training rows."""
    people = federation.people
    if not recipe.class_weighting:
        return np.ones(len(people), np.float32)
    counts = np.bincount(people.label[federation.rows(TRAINING)], minlength=len(people.labels))
    each = counts.sum() / (len(counts) * np.maximum(counts, 1))
    return each[people.label].astype(np.float32)


def _scored(run: Run, federation: Federation, work: Work, seed: int) -> SeedScores:
    rows = np.concatenate([federation.rows(VALIDATION), federation.rows(TEST)])
    people = federation.people
    return SeedScores(
        seed=seed,
        split=(federation.split[rows] == TEST).astype(np.int8),
        client=people.client[rows],
        group=people.group[rows],
        label=people.label[rows],
        scores=work.scores(run.best_theta, rows),
        chosen=run.chosen,
        loss=run.loss,
        accuracy=run.accuracy,
        clients=people.clients,
    )


def _checkpoint_name(seed: int, fold: int | None) -> str:
    return f"seed_{seed}.npz" if fold is None else f"seed_{seed}_fold_{fold}.npz"


def fingerprint(people: People, recipe: Recipe, seed: int, fold: int | None = None) -> str:
    """A hash of all that decides a run except its length, so that a run can be lengthened."""
    settings = replace(recipe, rounds=0, title="").settings()
    decisive = {
        **settings,
        "seed": seed,
        "fold": fold,
        "rows": len(people),
        "grouping": people.origin.get("grouping"),
        "files": people.origin.get("files"),
    }
    return hashlib.sha256(json.dumps(decisive, sort_keys=True).encode()).hexdigest()


def _save(path: Path, run: Run, mark: str) -> None:
    arrays: dict[str, Any] = {f"memory/{name}": value for name, value in run.state.memory.items()}
    file = io.BytesIO()
    np.savez(
        file,
        mark=np.array(mark),
        theta=run.state.theta,
        best_theta=run.best_theta,
        loss=run.loss,
        accuracy=run.accuracy,
        **arrays,
    )
    write_whole(path, file.getvalue())


def _resumed(path: Path, mark: str, rounds: int) -> Run:
    try:
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        memory = {
            name.removeprefix("memory/"): value
            for name, value in arrays.items()
            if name.startswith("memory/")
        }
        run = Run(
            State(arrays["theta"], memory),
            arrays["best_theta"],
            arrays["loss"],
            arrays["accuracy"],
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
