"""Other people's programs on the same people: fairlearn, OxonFair and declearn beside ours.

Adult, statistical parity. fairlearn and OxonFair set thresholds on the shipped FedAvg scores: on
everyone's at once (pooled: they know nothing of clients), or client by client. declearn trains its
own methods on the same splits, with its own server, clients and websockets: Adam .001, batches of
512, an epoch a round; its answers are those of the last round's weights, not of the round with the
least loss that it would send (before a method has become fair its loss is least).

They need an environment of their own, as declearn needs pandas < 3:

    python -m venv .venvs/outside
    .venvs/outside/bin/pip install -e .[train] declearn[websockets]==2.9.1 fairlearn==0.15.0 oxonfair==0.3
    .venvs/outside/bin/python -m benchmarks.outside_rivals [--seeds 0-9] [--source DATASETS]
    python -m benchmarks.outside_rivals --only-write    # docs/outside_rivals.md, from data/methods

Answers are written like every method's, to data/methods/adult. declearn's runs are kept in
runs/outside, so that what was stopped goes on, and seeds can be trained by several processes.
"""

import argparse
import asyncio
import logging
import os
import socket
import time
import warnings
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.outside_document import document
from fairfl_core._io.files import write_whole
from fairfl_core.cli.train import seeds_from
from fairfl_core.data import datasets, experiments
from fairfl_core.data.experiments import METHODS_FOLDER, SPLITS, Answered
from fairfl_core.data.scored import ScoredData
from fairfl_core.training.data import TRAINING, federate
from fairfl_core.training.recipes import recipe
from research.post_processed import EPSILONS
from research.shipping import save_method
from research.sweep import TRIALS, Trial, choose
from research.trained.gaps import rates_of

TOP = Path(__file__).resolve().parents[1]
EXPERIMENT, NOTION = experiments.open("adult"), "sp"
RUNS = TOP / "runs" / "outside"
TUNING_SEEDS, ROUNDS = (0, 1), 15
PROTOCOL = (
    f"{TRIALS} trials, one a value of its one knob, judged on validation people of the tuning seeds "
    "only: the least global plus mean local gap among those at most six points of accuracy below "
    "FedAvg, as every method here. From first weights, 15 rounds, last-round weights; `seconds` is "
    "processor time of server and clients together."
)


@dataclass(frozen=True)
class Rival:
    """A method of somebody else's program: its title, what it is, and the knob that is swept."""

    title: str
    level: str
    approach: str
    knob: str = "eps"
    values: tuple[float, ...] = EPSILONS
    pooled: bool = False

    def setting(self, value: float) -> str:
        """What a setting is called."""
        return f"{NOTION} {self.knob}={value:g}"


# -------------------------------------------------------------------- thresholds


def fairlearn(people: ScoredData, epsilon: float) -> Any:
    """Group thresholds with a lottery at them, for a gap of at most epsilon."""
    from fairlearn.postprocessing import ThresholdOptimizer
    from sklearn.dummy import DummyClassifier

    class Given(DummyClassifier):
        """A model that was fitted elsewhere: its input is its score."""

        def predict_proba(self, scores: np.ndarray) -> np.ndarray:
            """Chances of both labels."""
            return np.column_stack([1 - scores[:, 0], scores[:, 0]])

    optimizer = ThresholdOptimizer(
        estimator=Given().fit(people.scores[:, 1:], people.label),
        constraints="demographic_parity",
        objective="accuracy_score",
        prefit=True,
        predict_method="predict_proba",
        tol=epsilon or None,
    )
    optimizer.fit(people.scores[:, 1:], people.label, sensitive_features=people.group)
    return lambda some: optimizer._pmf_predict(some.scores[:, 1:], sensitive_features=some.group)


def some_of(people: ScoredData, rows: np.ndarray) -> ScoredData:
    """The people of these rows."""
    columns = ("client", "group", "label", "scores", "predicted")
    return replace(people, **{name: getattr(people, name)[rows] for name in columns})


def fairlearn_by_client(people: ScoredData, epsilon: float) -> Any:
    """Each client fits thresholds of its own on its own people."""
    codes = range(len(people.clients))
    rules = [fairlearn(some_of(people, people.client == client), epsilon) for client in codes]

    def chances(some: ScoredData) -> np.ndarray:
        found = np.zeros(some.scores.shape)
        for client, rule in enumerate(rules):
            mine = some.client == client
            found[mine] = rule(some_of(some, mine))
        return found

    return chances


def oxonfair(people: ScoredData, epsilon: float) -> Any:
    """The most accurate group thresholds whose gap is at most epsilon; nothing is drawn."""
    from oxonfair import FairPredictor, group_metrics

    def table(some: ScoredData) -> dict[str, np.ndarray]:
        return {"data": some.scores, "target": some.label, "groups": some.group}

    predictor = FairPredictor(None, table(people))
    predictor.fit(group_metrics.accuracy, group_metrics.demographic_parity, epsilon)
    return lambda some: np.eye(2)[np.asarray(predictor.predict(table(some)), int)]


THRESHOLDS = {
    "fairlearn_pooled": (
        Rival("fairlearn, pooled", "global", "post-processing", pooled=True),
        fairlearn,
    ),
    "fairlearn_by_client": (
        Rival("fairlearn, client by client", "local", "post-processing"),
        fairlearn_by_client,
    ),
    "oxonfair_pooled": (
        Rival("OxonFair, pooled", "global", "post-processing", pooled=True),
        oxonfair,
    ),
}


def set_thresholds() -> None:
    """Ship what both answer on every seed, at every epsilon."""
    seeds = EXPERIMENT.seeds
    people = {
        seed: {split: ScoredData.from_experiment(EXPERIMENT, seed, split) for split in SPLITS}
        for seed in seeds
    }
    for name, (rival, fit) in THRESHOLDS.items():
        answers: dict[str, dict[int, Any]] = {}
        for epsilon in EPSILONS:
            for seed in seeds:
                rule = fit(people[seed]["validation"], epsilon)
                found = {split: each.under_chances(rule) for split, each in people[seed].items()}
                answers.setdefault(rival.setting(epsilon), {})[seed] = {
                    split: Answered(one.confusion, one.squares) for split, one in found.items()
                }
        ship(name, rival, answers)


# -------------------------------------------------------------------- declearn

# As many trials as every other method has; the knob is all there is to tune.
ALPHAS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2)
ETAS = (0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0, 2.0)
# It weighs clients by rows, not by shares, so that beta has to be of the size of rows.
BETAS = (1.0, 100.0, 1000.0, 3000.0, 10_000.0, 30_000.0, 100_000.0, 300_000.0)
INSIDE = ("global", "in-processing")
TRAINED = {
    "fairfed": Rival("declearn's FairFed", "global", "aggregation", "beta", BETAS),
    "fedfb": Rival("declearn's FedFB", *INSIDE, "alpha", ALPHAS),
    "fairbatch": Rival("declearn's Fed-FairBatch", *INSIDE, "alpha", ALPHAS),
    "fairgrad": Rival("declearn's Fed-FairGrad", *INSIDE, "eta", ETAS),
}


def trained(inputs: np.ndarray, people: datasets.People, rows: np.ndarray, controller: Any) -> Any:
    """The server's model after the last round."""
    import keras
    from declearn.communication import NetworkClientConfig, NetworkServerConfig
    from declearn.fairness.core import FairnessInMemoryDataset
    from declearn.main import FederatedClient, FederatedServer
    from declearn.main.config import FLOptimConfig, FLRunConfig
    from declearn.model.tensorflow import TensorflowModel

    keras.utils.set_random_seed(0)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = int(taken.getsockname()[1])
    hidden = [keras.layers.Dense(size, "relu") for size in (64, 32)]
    layers = [keras.layers.Input((inputs.shape[1],)), *hidden, keras.layers.Dense(1, "sigmoid")]
    server = FederatedServer(
        TensorflowModel(keras.Sequential(layers), loss="binary_crossentropy"),
        NetworkServerConfig(protocol="websockets", host="127.0.0.1", port=port),
        FLOptimConfig.from_params(
            aggregator="averaging",
            client_opt={"lrate": 0.001, "modules": ["adam"]},
            server_opt=1.0,
            fairness=controller,
        ),
    )
    clients = []
    for client in range(len(people.clients)):
        mine = rows[people.client[rows] == client]
        data = FairnessInMemoryDataset(
            inputs[mine],
            s_attr=people.group[mine][:, None],
            target=people.label[mine].astype(np.float32),
            expose_classes=True,
            seed=0,
        )
        where = {"server_uri": f"ws://127.0.0.1:{port}", "name": f"client{client}"}
        config = NetworkClientConfig(protocol="websockets", **where)
        clients.append(FederatedClient(config, train_data=data))
    run = FLRunConfig.from_params(
        rounds=ROUNDS,
        register={"min_clients": len(clients), "max_clients": len(clients), "timeout": 60},
        training={"batch_size": 512, "n_epoch": 1, "drop_remainder": False},
        evaluate={"batch_size": 8192, "frequency": 10 * ROUNDS},
        fairness={"batch_size": 8192},
    )

    async def together() -> None:
        await asyncio.gather(server.async_run(run), *(one.async_run() for one in clients))

    asyncio.run(together())
    return server.model


def train(people: datasets.People, seed: int) -> dict[tuple[str, float], tuple[Any, float]]:
    """Answers by split and seconds, by method and value of its knob; what is kept is not made anew."""
    from declearn.fairness.fairbatch import FairbatchControllerServer
    from declearn.fairness.fairfed import FairfedControllerServer
    from declearn.fairness.fairgrad import FairgradControllerServer

    parity = "demographic_parity"
    controllers = {
        "fairfed": lambda beta: FairfedControllerServer(parity, beta=beta),
        "fedfb": lambda alpha: FairbatchControllerServer(parity, alpha=alpha, fedfb=True),
        "fairbatch": lambda alpha: FairbatchControllerServer(parity, alpha=alpha),
        "fairgrad": lambda eta: FairgradControllerServer(parity, eta=eta),
    }
    federation = federate(people, recipe(EXPERIMENT.name), seed)
    own = federation.people
    joined = [np.eye(2)[own.group], np.eye(len(own.clients))[own.client]]
    inputs = np.hstack([own.inputs, *joined]).astype(np.float32)
    held_out = np.flatnonzero(federation.split > 0)
    batch = (inputs[held_out], own.label[held_out].astype(np.float32), None)
    found = {}
    for method, rival in TRAINED.items():
        for value in rival.values:
            path = RUNS / f"{method}_{value:g}_{seed}.npz"
            if not path.is_file():
                begun = time.process_time()
                rows = federation.rows(TRAINING)
                model = trained(inputs, own, rows, controllers[method](value))
                chance = model.compute_batch_predictions(batch)[1].ravel()
                kept = {"answer": (chance >= 0.5) + 0, "seconds": time.process_time() - begun}
                np.savez_compressed(path.with_suffix(".tmp.npz"), **kept)
                path.with_suffix(".tmp.npz").rename(path)
                print(f"{path}: {kept['seconds']:.1f} s", flush=True)
            with np.load(path, allow_pickle=False) as file:
                answer, seconds = file["answer"], float(file["seconds"])
            tables = np.zeros((2, len(own.clients), 2, 2, 2))
            codes = (own.client, own.group, own.label)
            which = federation.split[held_out] - 1
            np.add.at(tables, (which, *(code[held_out] for code in codes), answer), 1)
            by_split = {
                split: Answered(one, one) for split, one in zip(SPLITS, tables, strict=True)
            }
            found[method, value] = by_split, seconds
    return found


def judged(settings: dict[str, float], by_seed: dict[int, dict[str, Answered]]) -> Trial:
    """A value of the knob on validation people of the tuning seeds."""
    figures = []
    for seed in TUNING_SEEDS:
        table = by_seed[seed]["validation"].confusion
        right = np.einsum("cayy->", table) / table.sum()
        inside = rates_of(NOTION, table, 1).gap.mean()
        figures.append((right, rates_of(NOTION, table.sum(axis=0), 1).gap, inside))
    return Trial(settings, *(float(figure) for figure in np.mean(figures, axis=0)))


def train_all(people: datasets.People, seeds: list[int]) -> None:
    """Ship declearn's methods, with the value that the protocol chooses on validation people."""
    runs = {seed: train(people, seed) for seed in seeds}
    fedavg = [ScoredData.from_experiment(EXPERIMENT, s, "validation") for s in TUNING_SEEDS]
    accuracy = float(np.mean([(own.predicted == own.label).mean() for own in fedavg]))
    for method, rival in TRAINED.items():
        answers = {
            rival.setting(value): {seed: runs[seed][method, value][0] for seed in seeds}
            for value in rival.values
        }
        seconds = {
            rival.setting(value): float(np.mean([runs[seed][method, value][1] for seed in seeds]))
            for value in rival.values
        }
        trials = [judged({rival.knob: v}, answers[rival.setting(v)]) for v in rival.values]
        chosen = choose(trials, accuracy).settings
        tuning = {
            "seeds": list(TUNING_SEEDS),
            "chosen": chosen,
            "trials": list(map(asdict, trials)),
        }
        how = {"protocol": PROTOCOL, "tuning": {NOTION: tuning}}
        name = rival.setting(chosen[rival.knob])
        ship(f"declearn_{method}", rival, answers, name, seconds, how)


def ship(
    name: str,
    rival: Rival,
    answers: dict[str, dict[int, Any]],
    chosen: str = "",
    seconds: dict[str, float] | None = None,
    how: dict[str, Any] | None = None,
) -> None:
    """Write answers and manifest to data/methods."""
    settings = {
        setting: {
            "notion": NOTION,
            "role": "chosen" if setting == chosen else "swept",
            "seeds": list(by_seed),
            "settings": {rival.knob: float(setting.partition("=")[2])},
            "seconds": None if seconds is None else round(seconds[setting], 3),
        }
        for setting, by_seed in answers.items()
    }
    manifest = {
        "method": name,
        "title": rival.title,
        "ours": False,
        "pooled": rival.pooled,
        "experiment": EXPERIMENT.name,
        "made_by": "benchmarks/outside_rivals.py",
        "capabilities": {
            "level": rival.level,
            "approach": rival.approach,
            "notions": [NOTION],
            "multi_class": False,
        },
        "clients": list(EXPERIMENT.clients),
        "groups": list(EXPERIMENT.groups),
        "labels": list(EXPERIMENT.labels),
        "favourable": EXPERIMENT.favourable,
        "settings": settings,
    }
    save_method(manifest | (how or {}), answers, METHODS_FOLDER)
    print(f"{name}: {len(settings)} settings of {len(next(iter(answers.values())))} seeds")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--seeds", default="0-9", help="that declearn is trained on")
    options.add_argument("--source", type=Path, help="folder with a copy of the data")
    options.add_argument("--only-write", action="store_true", help="the document, from data/")
    chosen = options.parse_args()
    if not chosen.only_write:
        os.environ |= {"TF_CPP_MIN_LOG_LEVEL": "3", "TQDM_DISABLE": "1"}
        warnings.filterwarnings("ignore")
        logging.disable(logging.WARNING)
        RUNS.mkdir(parents=True, exist_ok=True)
        set_thresholds()
        people = datasets.open(recipe(EXPERIMENT.name).dataset, source=chosen.source)
        train_all(people, list(seeds_from(chosen.seeds)))
    out = write_whole(TOP / "docs" / "outside_rivals.md", document(EXPERIMENT.name, NOTION))
    print(f"{out}: written.")


if __name__ == "__main__":
    main()
