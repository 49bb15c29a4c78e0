"""How much faster one compiled epoch is than rebuilding and fitting a Keras model each time.

The authors' way: for each client and round, build a Keras model, compile it, set its weights,
`fit` one epoch. Ours: one compiled epoch over tensors, reused. Same first weights, same rounds,
same batches in the same order; compiling counts as part of our time.

    python benchmarks/training.py [--rounds-adult 10] [--rounds-coverage 2]
"""

import argparse
import os
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from fairfl_core import datasets  # noqa: E402
from fairfl_core.errors import InputError  # noqa: E402
from fairfl_core.federated import recipes  # noqa: E402
from fairfl_core.federated.data import TEST, TRAINING, Federation, federate  # noqa: E402

Theta = list[np.ndarray]


def orders(federation: Federation, rounds: int) -> list[list[np.ndarray]]:
    """The same order of rows for both ways: [round][client]."""
    return [
        [
            np.random.default_rng([number, client]).permutation(rows)
            for client, rows in enumerate(federation.client_rows(TRAINING))
        ]
        for number in range(rounds)
    ]


def side_by_side(federation: Federation) -> np.ndarray:
    """All inputs of the MLP in one table: features, group and client as one-hots."""
    people = federation.people
    group = np.eye(len(people.groups), dtype=np.float32)[people.group]
    client = np.eye(len(people.clients), dtype=np.float32)[people.client]
    return np.concatenate([people.inputs, group, client], axis=1)


def average(thetas: list[Theta], sizes: np.ndarray) -> Theta:
    shares = sizes / sizes.sum()
    return [
        sum(share * part for share, part in zip(shares, parts, strict=True))
        for parts in zip(*thetas, strict=True)
    ]


def authors_way(
    federation: Federation, recipe: recipes.Recipe, turns: list[list[np.ndarray]], first: Theta
) -> tuple[float, float]:
    import keras

    def build() -> "keras.Model":
        layers = [keras.layers.Dense(width, activation="relu") for width in (64, 32)]
        last = keras.layers.Dense(len(federation.people.labels), activation="softmax")
        return keras.Sequential([keras.layers.Input((x.shape[1],)), *layers, last])

    x, y = side_by_side(federation), federation.people.label
    theta, start = first, time.perf_counter()
    for clients in turns:
        trained = []
        for rows in clients:
            model = build()
            model.compile(
                keras.optimizers.Adam(recipe.learning_rate), "sparse_categorical_crossentropy"
            )
            model.set_weights(theta)
            model.fit(x[rows], y[rows], batch_size=recipe.batch, shuffle=False, verbose=0)
            trained.append(model.get_weights())
        theta = average(trained, np.array([len(rows) for rows in clients]))
    seconds = time.perf_counter() - start
    model = build()
    model.set_weights(theta)
    test = federation.rows(TEST)
    scores = model.predict(x[test], batch_size=8192, verbose=0)
    return seconds, float((scores.argmax(axis=1) == y[test]).mean())


def our_way(
    federation: Federation,
    recipe: recipes.Recipe,
    turns: list[list[np.ndarray]],
    first: np.ndarray,
) -> tuple[float, float]:
    from fairfl_core.federated.method import Reply, weighted_mean
    from fairfl_core.federated.work import Work

    start = time.perf_counter()
    work, theta = Work(federation, recipe), first
    sizes = np.array([len(rows) for rows in turns[0]], float)
    for clients in turns:
        replies = [
            Reply(work.epoch(theta, rows, np.ones(len(rows), np.float32), 0), len(rows))
            for rows in clients
        ]
        theta = weighted_mean(replies, sizes)
    seconds = time.perf_counter() - start
    test = federation.rows(TEST)
    predictions = work.scores(theta, test).argmax(axis=1)
    return seconds, float((predictions == federation.people.label[test]).mean())


def compare(name: str, rounds: int) -> None:
    """Run both ways once and print a line."""
    from fairfl_core.federated.work import Work

    recipe = replace(recipes.recipe(name), rounds=rounds)
    federation = federate(datasets.open(recipe.dataset), recipe, seed=0)
    turns = orders(federation, rounds)
    model = Work(federation, recipe).model
    first = model.initial(0)
    parts = np.split(first, np.cumsum([int(np.prod(shape)) for shape in model.shapes])[:-1])
    shaped = [part.reshape(shape) for part, shape in zip(parts, model.shapes, strict=True)]
    ours, our_accuracy = our_way(federation, recipe, turns, first)
    theirs, their_accuracy = authors_way(federation, recipe, turns, shaped)
    clients = len(federation.people.clients)
    print(
        f"{name:<16} {rounds:>6} {clients:>7} {theirs:>11.1f} s {ours:>6.1f} s {theirs / ours:>6.1f}x "
        f"{their_accuracy:>9.2%} {our_accuracy:>9.2%}"
    )


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--rounds-adult", type=int, default=10)
    options.add_argument("--rounds-coverage", type=int, default=2)
    chosen = options.parse_args()
    print(f"{'':<16} rounds clients  rebuild+fit     ours  ratio  accuracy  accuracy")
    try:
        compare("adult", chosen.rounds_adult)
        compare("public_coverage", chosen.rounds_coverage)
    except InputError as error:
        print(f"Not measured: {error}")


if __name__ == "__main__":
    main()
