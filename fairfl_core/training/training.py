"""Training an experiment: rounds, the choice of a round, progress."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fairfl_core.data.datasets import People
from fairfl_core.data.experiments import SeedScores
from fairfl_core.training.checkpoints import (
    Run,
    checkpoint_name,
    fingerprint,
    read_checkpoint,
    write_checkpoint,
)
from fairfl_core.training.data import TEST, TRAINING, VALIDATION, Federation, federate
from fairfl_core.training.method import (
    HeldOut,
    LocalRound,
    Memory,
    Method,
    Plan,
    Rows,
    make_method,
)
from fairfl_core.training.recipes import Recipe
from fairfl_core.training.trainers import (
    LocalTrainer,
    first_parameters,
    make_trainer,
    parallel_map,
)

__all__ = [
    "Prepared",
    "Run",
    "count_cells",
    "make_local_round",
    "plan_of",
    "prepare",
    "row_weights",
    "train_prepared",
    "train_seed",
    "with_cells",
]

_STREAM = 4  # this stream of random numbers; see `data`


@dataclass(frozen=True, eq=False)
class Prepared:
    """One seed's federation with its compiled trainer, on which any number of methods can train.

    Compiling takes longer than a round; it depends on the recipe but not on the method.
    """

    people: People
    recipe: Recipe
    seed: int
    fold: int | None
    federation: Federation
    trainer: LocalTrainer


def prepare(people: People, recipe: Recipe, seed: int, fold: int | None = None) -> Prepared:
    """Split and scale the people of one seed, and make the trainer its clients share."""
    federation = federate(people, recipe, seed, fold)
    return Prepared(people, recipe, seed, fold, federation, make_trainer(federation, recipe))


def train_seed(
    people: People,
    recipe: Recipe,
    seed: int,
    *,
    fold: int | None = None,
    folder: Path | None = None,
    on_progress: Callable[[Run], None] = lambda run: None,
) -> SeedScores:
    """Train one model, from its checkpoint if there is one, and score those it did not train on.

    Parameters
    ----------
    people : People
        The dataset, opened.
    recipe : Recipe
        Every choice.
    seed : int
        Decides the scenario's draw, the split, the first weights and every order of rows.
    fold : int, optional
        Cross-fitting: the fold of the people of training and validation that is held out.
    folder : path, optional
        Where to keep a checkpoint after every round; none is kept unless given.
    on_progress : callable
        Called with the `Run` before the first round and after each.
    """
    make_method(
        recipe.method, recipe.method_settings
    )  # a wrong setting is refused before any work
    return train_prepared(
        prepare(people, recipe, seed, fold), recipe, folder=folder, on_progress=on_progress
    )


def train_prepared(
    prepared: Prepared,
    recipe: Recipe,
    *,
    start: NDArray[np.float32] | None = None,
    folder: Path | None = None,
    on_progress: Callable[[Run], None] = lambda run: None,
) -> SeedScores:
    """`train_seed` on what is prepared, with a recipe of another method, settings or rounds.

    With `start` the method goes on from these parameters instead of the seed's first weights.
    """
    other = replace(
        recipe,
        method=prepared.recipe.method,
        method_settings=prepared.recipe.method_settings,
        rounds=prepared.recipe.rounds,
    )
    if other != prepared.recipe:
        raise ValueError("the recipe differs in more than method, settings and rounds")
    people, seed, fold = prepared.people, prepared.seed, prepared.fold
    method = make_method(recipe.method, recipe.method_settings)
    training = _Training(prepared, recipe, method)
    path = folder / checkpoint_name(seed, fold) if folder else None
    mark = fingerprint(people, recipe, seed, fold)
    run = training.first_run(start)
    if path and path.is_file():
        run = read_checkpoint(path, mark, recipe.rounds, len(run.memories))
    on_progress(run)
    while run.round < recipe.rounds:
        run = training.next_round(run)
        if path:
            write_checkpoint(path, run, mark)
        on_progress(run)
    return training.scored(run)


class _Training:
    """One federation under one method: the rounds of `train_seed`."""

    def __init__(self, prepared: Prepared, recipe: Recipe, method: Method) -> None:
        federation = prepared.federation
        self._federation, self._method, self._seed = federation, method, prepared.seed
        self._trainer = prepared.trainer
        self._weight = _row_weights(federation, recipe)
        self._plan = plan_of(federation, self._trainer)
        self._training = federation.client_rows(TRAINING)
        self._validation = [
            with_cells(federation.people, rows) for rows in federation.client_rows(VALIDATION)
        ]

    def first_run(self, start: NDArray[np.float32] | None = None) -> Run:
        """Nothing trained yet."""
        theta = first_parameters(self._trainer.shapes, self._seed) if start is None else start
        state = self._method.begin(theta, self._plan)
        return Run(state, ({},) * len(self._training), theta[None])

    def next_round(self, run: Run) -> Run:
        """Run every client's local round and the server's step, and evaluate the new model."""
        replies = parallel_map(
            lambda client: self._method.client(
                run.state, self._local_round(run, client), self._trainer
            ),
            self._plan.rows.tolist(),
            self._trainer.parallel,
        )
        clients = _AllClients(self._federation, self._trainer, self._plan, run.round)
        state = self._method.server(run.state, replies, clients)
        memories = tuple(reply.memory for reply in replies)
        models = self._models(Run(state, memories, run.best))
        held_out = self._held_out(models)
        criterion = float(np.nan_to_num(self._method.criterion(held_out), nan=np.inf))
        return run.after(
            state,
            memories,
            models,
            loss=held_out.loss,
            accuracy=held_out.accuracy,
            criterion=criterion,
        )

    def scored(self, run: Run) -> SeedScores:
        """The people held out and the test people, scored by the model of the round kept."""
        federation, people = self._federation, self._federation.people
        rows = np.concatenate([federation.rows(VALIDATION), federation.rows(TEST)])
        return SeedScores(
            seed=self._seed,
            split=(federation.split[rows] == TEST).astype(np.int8),
            client=people.client[rows],
            group=people.group[rows],
            label=people.label[rows],
            scores=self._scores(run.best, rows),
            chosen=run.chosen,
            loss=run.loss,
            accuracy=run.accuracy,
            clients=people.clients,
            person=rows,
        )

    def _local_round(self, run: Run, client: int) -> LocalRound:
        return make_local_round(
            self._federation.people,
            self._training[client],
            client=client,
            round=run.round,
            seed=self._seed,
            weight=self._weight,
            validation=self._validation[client],
            memory=run.memories[client],
            plan=self._plan,
        )

    def _models(self, run: Run) -> NDArray[np.float32]:
        """The model all clients predict with, shape (1, p); or each client's own."""
        models = [self._method.model(run.state, memory) for memory in run.memories]
        shared = all(model is models[0] for model in models)
        return np.stack(models[:1] if shared else models)

    def _scores(self, models: NDArray[np.float32], rows: NDArray[np.int32]) -> NDArray[np.float64]:
        if len(models) == 1:
            return self._trainer.scores(models[0], rows)
        client = self._federation.people.client[rows]
        scores = np.empty((len(rows), len(self._federation.people.labels)))
        for c, model in enumerate(models):
            scores[client == c] = self._trainer.scores(model, rows[client == c])
        return scores

    def _held_out(self, models: NDArray[np.float32]) -> HeldOut:
        rows, people = self._federation.rows(VALIDATION), self._federation.people
        return HeldOut(
            people.client[rows],
            people.group[rows],
            people.label[rows],
            self._scores(models, rows),
            self._plan,
        )


@dataclass(frozen=True, eq=False)
class _AllClients:
    """What the server may ask of all clients; here they are all in one process."""

    _federation: Federation
    _trainer: LocalTrainer
    plan: Plan
    round: int

    def counts(
        self, theta: NDArray[np.float32], *, held_out: bool = False, every: int = 1
    ) -> NDArray[np.int64]:
        """n[client, group, label, prediction] of each so-many-th training or validation row."""
        rows = self._federation.rows(VALIDATION if held_out else TRAINING)[::every]
        answer = self._trainer.scores(theta, rows).argmax(axis=1)
        labels = self.plan.counts.shape[-1]
        return count_cells(self._federation.people, rows, answer, labels).astype(np.int64)

    def cell_losses(self, theta: NDArray[np.float32]) -> NDArray[np.float64]:
        """L[client, group, label]: the loss summed over the training rows of each cell."""
        rows = self._federation.rows(TRAINING)
        label = self._federation.people.label[rows]
        truth = self._trainer.scores(theta, rows)[np.arange(len(rows)), label]
        loss = -np.log(truth + 1e-12)
        return count_cells(self._federation.people, rows, np.zeros(len(rows), int), 1, loss)[
            ..., 0
        ]


# -------------------------------------------------------------------- a client's round


def make_local_round(
    people: People,
    training: NDArray[np.int32],
    *,
    client: int,
    round: int,
    seed: int,
    weight: NDArray[np.float32],
    validation: Rows,
    memory: Memory,
    plan: Plan,
) -> LocalRound:
    """Make the round of a client with these training rows; `weight` has an entry a row of `people`."""
    # one stream of random numbers for each (seed, round, client): no memory to save
    rng = np.random.default_rng([seed, _STREAM, round, client])
    rows = with_cells(people, rng.permutation(training))
    return LocalRound(
        rows.rows,
        rows.group,
        rows.label,
        client=client,
        round=round,
        weight=weight[rows.rows],
        seed=int(rng.integers(2**30)),
        validation=validation,
        memory=memory,
        plan=plan,
    )


def with_cells(people: People, rows: NDArray[np.int32]) -> Rows:
    """Rows with their groups and labels."""
    return Rows(rows, people.group[rows], people.label[rows])


def row_weights(people: People, counts: NDArray[np.integer] | None) -> NDArray[np.float32]:
    """1 for each row; with the pooled training rows of each label, n / (N n_y)."""
    if counts is None:
        return np.ones(len(people), np.float32)
    by_label = counts.sum() / (len(counts) * np.maximum(counts, 1))
    return by_label[people.label].astype(np.float32)


def count_cells(
    people: People,
    rows: NDArray[np.int32],
    last: NDArray[np.integer],
    size: int,
    weight: NDArray[np.floating] | None = None,
) -> NDArray[np.float64]:
    """Rows counted (or weights summed) by client, group, label and one code more."""
    shape = (len(people.clients), len(people.groups), len(people.labels), size)
    cell = np.ravel_multi_index(
        (people.client[rows], people.group[rows], people.label[rows], last), shape
    )
    table = np.bincount(cell, weights=weight, minlength=int(np.prod(shape)))
    return table.reshape(shape).astype(float)


def plan_of(federation: Federation, trainer: LocalTrainer) -> Plan:
    """What all know before the first round."""
    rows, people = federation.rows(TRAINING), federation.people
    counts = count_cells(people, rows, np.zeros(len(rows), int), 1)[..., 0]
    favourable = people.labels.index(people.favourable or people.labels[-1])
    return Plan(counts.astype(np.int64), favourable, trainer.shapes)


def _row_weights(federation: Federation, recipe: Recipe) -> NDArray[np.float32]:
    """1 for each row; with class weighting n / (N n_y), from the pooled training rows."""
    people = federation.people
    label = people.label[federation.rows(TRAINING)]
    counts = np.bincount(label, minlength=len(people.labels)) if recipe.class_weighting else None
    return row_weights(people, counts)
