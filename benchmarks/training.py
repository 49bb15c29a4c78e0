"""How much faster one compiled epoch is than rebuilding and fitting a Keras model each time.

The authors' way: for each client and round, build a Keras model, compile it, set its weights,
`fit` one epoch. Ours: one compiled epoch over tensors, reused. Same first weights, same rounds,
same batches in the same order; compiling counts as part of our time. FairFed and FedFB likewise,
each round with the rows' weights that the method asks for, and its pass over the training rows.

With --limit a round is taken apart, and its arithmetic set against what this core can do.
With --cores whole rounds are taken in turn by a process that has one core and by one that has all, and,
with --before, by one of an earlier checkout.

    python benchmarks/training.py [--rounds-adult 10] [--rounds-coverage 2] [--limit]
    python benchmarks/training.py --cores [--before ../earlier]
"""

import argparse
import hashlib
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
HERE = Path(__file__).resolve().parents[1]
sys.path.insert(0, os.environ.get("FAIRFL_TREE", str(HERE)))

from fairfl_core.data import datasets  # noqa: E402
from fairfl_core.errors import InputError  # noqa: E402
from fairfl_core.training import recipes  # noqa: E402
from fairfl_core.training.data import TEST, TRAINING, Federation, federate  # noqa: E402

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
    federation: Federation,
    recipe: recipes.Recipe,
    local_rounds: list[list[np.ndarray]],
    first: Theta,
) -> tuple[float, float]:
    import keras

    def build() -> "keras.Model":
        layers = [keras.layers.Dense(width, activation="relu") for width in (64, 32)]
        last = keras.layers.Dense(len(federation.people.labels), activation="softmax")
        return keras.Sequential([keras.layers.Input((x.shape[1],)), *layers, last])

    x, y = side_by_side(federation), federation.people.label
    theta, start = first, time.perf_counter()
    for clients in local_rounds:
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
    local_rounds: list[list[np.ndarray]],
    first: np.ndarray,
) -> tuple[float, float]:
    from fairfl_core.training.method import Reply, weighted_mean
    from fairfl_core.training.tensorflow_trainer import TensorFlowTrainer

    start = time.perf_counter()
    trainer, theta = TensorFlowTrainer(federation, recipe), first
    sizes = np.array([len(rows) for rows in local_rounds[0]], float)
    for clients in local_rounds:
        replies = [
            Reply(trainer.epoch(theta, rows, np.ones(len(rows), np.float32), 0), len(rows))
            for rows in clients
        ]
        theta = weighted_mean(replies, sizes)
    seconds = time.perf_counter() - start
    test = federation.rows(TEST)
    predictions = trainer.scores(theta, test).argmax(axis=1)
    return seconds, float((predictions == federation.people.label[test]).mean())


def compare(name: str, rounds: int) -> None:
    """Run both ways once and print a line."""
    from fairfl_core.training.tensorflow_trainer import TensorFlowTrainer

    recipe = replace(recipes.recipe(name), rounds=rounds)
    federation = federate(datasets.open(recipe.dataset), recipe, seed=0)
    local_rounds = orders(federation, rounds)
    model = TensorFlowTrainer(federation, recipe).model
    first = model.initial(0)
    parts = np.split(first, np.cumsum([int(np.prod(shape)) for shape in model.shapes])[:-1])
    shaped = [part.reshape(shape) for part, shape in zip(parts, model.shapes, strict=True)]
    ours, our_accuracy = our_way(federation, recipe, local_rounds, first)
    theirs, their_accuracy = authors_way(federation, recipe, local_rounds, shaped)
    clients = len(federation.people.clients)
    print(
        f"{name:<16} {rounds:>6} {clients:>7} {theirs:>11.1f} s {ours:>6.1f} s {theirs / ours:>6.1f}x "
        f"{their_accuracy:>9.2%} {our_accuracy:>9.2%}"
    )


def compare_method(method: str, rounds: int) -> None:
    """A fair method on Adult, both ways, and a line: processor seconds and the ratio."""
    import keras

    from fairfl_core.training.methods import make_method
    from fairfl_core.training.training import plan_of, prepare, train_prepared

    recipe = replace(recipes.recipe("adult"), rounds=rounds, method=method)
    people = datasets.open(recipe.dataset)
    start = time.process_time()
    prepared = prepare(people, recipe, 0)
    train_prepared(prepared, recipe)
    ours = time.process_time() - start
    federation, plan = prepared.federation, plan_of(prepared.federation, prepared.trainer)
    x, y = side_by_side(federation), federation.people.label
    local_rounds = orders(federation, rounds)

    class Fitted:
        """A client's work the authors' way: a Keras model built, compiled and fitted."""

        def epoch(self, theta: Theta, rows: np.ndarray, weight: np.ndarray, seed: int) -> Theta:
            layers = [keras.layers.Dense(width, activation="relu") for width in (64, 32)]
            last = keras.layers.Dense(len(federation.people.labels), activation="softmax")
            model = keras.Sequential([keras.layers.Input((x.shape[1],)), *layers, last])
            model.compile(
                keras.optimizers.Adam(recipe.learning_rate), "sparse_categorical_crossentropy"
            )
            cuts = np.cumsum([int(np.prod(shape)) for shape in plan.shapes])[:-1]
            parts = zip(np.split(theta, cuts), plan.shapes, strict=True)
            model.set_weights([part.reshape(shape) for part, shape in parts])
            model.fit(
                x[rows],
                y[rows],
                sample_weight=weight,
                batch_size=recipe.batch,
                shuffle=False,
                verbose=0,
            )
            self.model = model
            return np.concatenate([part.ravel() for part in model.get_weights()])

    made, trainer = make_method(method, {}), Fitted()
    start = time.process_time()
    state = made.begin(prepared.trainer.model.initial(0), plan)
    for number, clients in enumerate(local_rounds):
        replies = []
        for client, rows in enumerate(clients):
            local = _local_round(federation, plan, client, number, rows)
            replies.append(made.client(state, local, trainer))
        all_clients = _Predicted(federation, plan, number, trainer, x)
        state = made.server(state, replies, all_clients)
    theirs = time.process_time() - start
    print(
        f"{method:<16} {rounds:>6} {2:>7} {theirs:>11.1f} s {ours:>6.1f} s {theirs / ours:>6.1f}x"
    )


def _local_round(federation: Federation, plan: object, client: int, number: int, rows: np.ndarray):  # noqa: ANN202
    from fairfl_core.training.method import LocalRound, Rows

    people = federation.people
    nobody = Rows(rows[:0], people.group[:0], people.label[:0])
    return LocalRound(
        rows,
        people.group[rows],
        people.label[rows],
        client=client,
        round=number,
        weight=np.ones(len(rows), np.float32),
        seed=0,
        validation=nobody,
        memory={},
        plan=plan,
    )


class _Predicted:
    """All clients as the server asks them, answered by a Keras model's `predict`."""

    def __init__(self, federation: Federation, plan: object, number: int, trainer, x) -> None:  # noqa: ANN001
        self.plan, self.round = plan, number
        self._federation, self._trainer, self._x = federation, trainer, x

    def _scores(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        rows = self._federation.rows(TRAINING)
        return rows, self._trainer.model.predict(self._x[rows], batch_size=512, verbose=0)

    def counts(self, theta: np.ndarray, **_: object) -> np.ndarray:
        from fairfl_core.training.local_rounds import count_cells

        rows, scores = self._scores(theta)
        labels = self.plan.counts.shape[-1]
        return count_cells(self._federation.people, rows, scores.argmax(axis=1), labels).astype(
            int
        )

    def cell_losses(self, theta: np.ndarray) -> np.ndarray:
        from fairfl_core.training.local_rounds import count_cells

        rows, scores = self._scores(theta)
        people = self._federation.people
        loss = -np.log(scores[np.arange(len(rows)), people.label[rows]] + 1e-12)
        return count_cells(people, rows, np.zeros(len(rows), int), 1, loss)[..., 0]


def limit(name: str) -> None:
    """A round taken apart: processor time of each part, its arithmetic, and this core's best."""
    from fairfl_core.training.data import VALIDATION
    from fairfl_core.training.training import prepare

    recipe = recipes.recipe(name)
    prepared = prepare(datasets.open(recipe.dataset), recipe, 0)
    federation, trainer = prepared.federation, prepared.trainer
    theta = trainer.model.initial(0)
    clients, unseen = federation.client_rows(TRAINING), federation.rows(VALIDATION)
    ones = [np.ones(len(rows), np.float32) for rows in clients]
    epochs = lambda: [trainer.epoch(theta, r, o, 0) for r, o in zip(clients, ones, strict=True)]  # noqa: E731
    epoch_seconds, score_seconds = _least(epochs), _least(lambda: trainer.scores(theta, unseen))
    rows = sum(map(len, clients))
    forward = _multiplications(trainer.model.shapes, federation.people.inputs.shape[1:])
    first = forward[0]  # its inputs need no gradient
    arithmetic = 2 * rows * (3 * sum(forward) - first)
    square = np.ones((1024, 1024), np.float32)
    peak = 2 * 1024**3 / _least(lambda: square @ square)
    print(
        f"{name:<16} epochs {epoch_seconds:.2f} s, scores {score_seconds:.2f} s of processor; "
        f"{arithmetic / 1e9:.0f} GFLOP in the epochs, {arithmetic / epoch_seconds / 1e9:.0f} GFLOP/s: "
        f"{arithmetic / epoch_seconds / peak:.0%} of this core's {peak / 1e9:.0f} GFLOP/s (sgemm)"
    )


def _least(act) -> float:  # noqa: ANN001
    """Processor seconds, the least of three after one to compile."""
    act()
    seconds = []
    for _ in range(3):
        start = time.process_time()
        act()
        seconds.append(time.process_time() - start)
    return min(seconds)


def _multiplications(shapes: tuple, inputs: tuple) -> list[int]:  # noqa: ANN001
    """Multiplications a row of each layer: kernels times the places they are put at."""
    side = inputs[0] if len(inputs) > 1 else 0
    counted = []
    for shape in shapes:
        if len(shape) == 4:
            side -= 2
            counted.append(int(np.prod(shape)) * side**2)
            side //= 2
        elif len(shape) == 2:
            counted.append(int(np.prod(shape)))
    return counted


def compare_cores(name: str, before: Path | None, rounds: int = 10) -> None:
    """Rounds of FedAvg in turn: processes of one core, of all, of an earlier tree; least seconds."""
    one, every = str(min(os.sched_getaffinity(0))), ",".join(map(str, os.sched_getaffinity(0)))
    sides = {"one core": (HERE, one), f"{every.count(',') + 1} cores": (HERE, every)}
    if before:
        sides = {"before": (before.resolve(), every)} | sides
    running = {side: _rounds_apart(name, rounds, *where) for side, where in sides.items()}
    told = {side: [_told(process)] for side, process in running.items()}  # all are prepared
    for _ in range(rounds):
        for side, process in running.items():
            process.stdin.write("go\n")
            process.stdin.flush()
            told[side].append(_told(process))
    slowest = None
    for side, lines in told.items():
        clock, processor = (min(float(line[k]) for line in lines[2:]) for k in (0, 1))
        slowest = slowest or clock
        print(
            f"{name:<16} {side:<9} {clock:>6.3f} s by the clock {processor:>6.3f} s of processor "
            f"{slowest / clock:>5.2f}x  {float(lines[-1][2]):>5.0f} MB at most  theta {lines[-1][3]}"
        )
    for process in running.values():
        process.communicate()


def _rounds_apart(name: str, rounds: int, tree: Path, cores: str) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, __file__, "--take-rounds", name, str(rounds), cores],
        env={**os.environ, "FAIRFL_TREE": str(tree), "PYTHONPATH": str(tree)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )


def _told(process: subprocess.Popen) -> list[str]:
    """What a process says of its last round: clock, processor, memory, and a mark of theta."""
    line = process.stdout.readline().split()
    if not line:
        raise SystemExit("a process that takes rounds has ended")
    return line


def take_rounds(name: str, rounds: int, cores: set[int]) -> None:
    """A round whenever a line comes in; what it took, and what it led to, goes out."""
    os.sched_setaffinity(0, cores)
    import resource

    from fairfl_core.training.training import prepare, train_prepared

    recipe = replace(recipes.recipe(name), rounds=rounds)
    prepared = prepare(datasets.open(recipe.dataset), recipe, 0)
    began = (time.perf_counter(), time.process_time())

    def on_progress(run) -> None:  # noqa: ANN001
        nonlocal began
        clock, processor = time.perf_counter() - began[0], time.process_time() - began[1]
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        mark = hashlib.sha256(run.state.theta.tobytes()).hexdigest()[:12]
        print(clock, processor, memory, mark, flush=True)
        if run.round < rounds:
            sys.stdin.readline()
        began = (time.perf_counter(), time.process_time())

    train_prepared(prepared, recipe, on_progress=on_progress)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--rounds-adult", type=int, default=10)
    options.add_argument("--rounds-coverage", type=int, default=2)
    options.add_argument("--limit", action="store_true", help="take a round apart")
    options.add_argument("--cores", action="store_true", help="rounds on one core and on all")
    options.add_argument("--before", type=Path, help="an earlier checkout, beside them")
    options.add_argument("--take-rounds", nargs=3, help=argparse.SUPPRESS)
    chosen = options.parse_args()
    if chosen.take_rounds:
        name, rounds, cores = chosen.take_rounds
        take_rounds(name, int(rounds), set(map(int, cores.split(","))))
        return
    if chosen.cores:
        for name in ("public_coverage", "ham10000"):
            compare_cores(name, chosen.before)
        return
    if chosen.limit:
        for name in ("public_coverage", "ham10000"):
            limit(name)
        return
    print(f"{'':<16} rounds clients  rebuild+fit     ours  ratio  accuracy  accuracy")
    try:
        compare("adult", chosen.rounds_adult)
        for method in ("fairfed", "fedfb"):
            compare_method(method, chosen.rounds_adult)
        compare("public_coverage", chosen.rounds_coverage)
    except InputError as error:
        print(f"Not measured: {error}")


if __name__ == "__main__":
    main()
