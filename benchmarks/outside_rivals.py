"""Other people's programs on the same people: fairlearn, OxonFair and declearn beside ours.

Adult, statistical parity. fairlearn and OxonFair set thresholds on the shipped FedAvg scores: on
everyone's at once (pooled: they know nothing of clients), or client by client. declearn trains
its own methods on the same splits. They live in an environment of their own, made here under
.venvs/ (declearn needs pandas < 3); where it cannot be made that is predicted and nothing is measured.

Answers are written like every method's, to data/methods/adult, so that the Methods page and
`python -m research methods` have them, and docs/outside_rivals.md is written from them.

    python benchmarks/outside_rivals.py [--declearn-seeds 0-1] [--anew] [--only-write]

declearn's settings that are shipped with these seeds are not trained again unless `--anew` says so.
"""

import argparse
import subprocess
import sys
import venv
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

TOP = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TOP))

from benchmarks.outside.document import document  # noqa: E402
from fairfl_core._io.files import write_whole  # noqa: E402
from fairfl_core.cli.train import seeds_from  # noqa: E402
from fairfl_core.data import datasets, experiments  # noqa: E402
from fairfl_core.data.method_answers import (  # noqa: E402
    FOLDER,
    SPLITS,
    Answered,
    list_methods,
    open_method,
)
from fairfl_core.data.scored import ScoredData  # noqa: E402
from fairfl_core.errors import InputError  # noqa: E402
from fairfl_core.training.data import federate  # noqa: E402
from fairfl_core.training.recipes import recipe  # noqa: E402
from research.method_files import save_method  # noqa: E402
from research.post_processed import EPSILONS  # noqa: E402
from research.sweep import Trial, choose  # noqa: E402
from research.sweeps import TRIALS  # noqa: E402

EXPERIMENT, NOTION = "adult", "sp"
ENVIRONMENT = TOP / ".venvs" / "outside"
NEEDS = (
    "declearn[websockets]==2.9.1",
    "fairlearn==0.15.0",
    "oxonfair==0.3",
    "pandas<3",
    "tensorflow-cpu==2.21.0",
)
RUNS = TOP / "runs" / "outside"
AT_ONCE = 10  # seeds that declearn trains side by side: 0.8 GB each
SCRIPTS = Path(__file__).parent / "outside"
TUNING_SEEDS = (0, 1)


@dataclass(frozen=True)
class Rival:
    """A method of somebody else's program: its title, what it is, and the knob that is swept."""

    title: str
    level: str
    approach: str
    pooled: bool = False
    knob: str = "eps"
    values: tuple[float, ...] = EPSILONS


THRESHOLDS = {
    "fairlearn_pooled": Rival("fairlearn, pooled", "global", "post-processing", pooled=True),
    "fairlearn_by_client": Rival("fairlearn, client by client", "local", "post-processing"),
    "oxonfair_pooled": Rival("OxonFair, pooled", "global", "post-processing", pooled=True),
}
# As many trials as every other method has; the knob is all there is to tune.
ALPHAS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2)
ETAS = (0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0, 2.0)
# It weighs clients by rows, not by shares, so that beta has to be of the size of rows.
BETAS = (1.0, 100.0, 1000.0, 3000.0, 10_000.0, 30_000.0, 100_000.0, 300_000.0)
PROTOCOL = (
    f"{TRIALS} trials, one a value of its one knob, judged on validation people of the tuning seeds "
    "only: the least global plus mean local gap among those at most six points of accuracy below "
    "FedAvg, as every method here. From first weights, 15 rounds, last-round weights; `seconds` is "
    "processor time of server and clients together."
)
TRAINED = {
    "fairfed": Rival("declearn's FairFed", "global", "aggregation", knob="beta", values=BETAS),
    "fedfb": Rival("declearn's FedFB", "global", "in-processing", knob="alpha", values=ALPHAS),
    "fairbatch": Rival(
        "declearn's Fed-FairBatch", "global", "in-processing", knob="alpha", values=ALPHAS
    ),
    "fairgrad": Rival(
        "declearn's Fed-FairGrad", "global", "in-processing", knob="eta", values=ETAS
    ),
}


# ---------------------------------------------------------------- the environment


def environment() -> Path | None:
    """The Python that has the rivals; made once, and None with a sentence where it cannot be."""
    python = ENVIRONMENT / "bin" / "python"
    ready = ENVIRONMENT / "ready"
    if ready.is_file() and ready.read_text() == "\n".join(NEEDS):
        return python
    print(f"Making {ENVIRONMENT} (about 1.5 GB) ...", flush=True)
    try:
        venv.create(ENVIRONMENT, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *NEEDS], check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"Not measured: {ENVIRONMENT} cannot be made ({error}).")
        return None
    ready.write_text("\n".join(NEEDS))
    return python


def run(python: Path, script: str, *arguments: Any) -> None:
    words = [str(word) for word in (python, SCRIPTS / script, *arguments)]
    subprocess.run(words, check=True, stderr=subprocess.DEVNULL)


# ---------------------------------------------------------------- what is answered

Codes = dict[str, np.ndarray]
# By method and setting.
Shipped = dict[tuple[str, str], tuple[dict[int, dict[str, Answered]], float]]


def tables(people: Codes, chance: np.ndarray, cells: tuple[int, ...]) -> dict[str, Answered]:
    """Expected answers by split, from everyone's chance of the favourable one (the second)."""
    answered = {}
    for place, split in enumerate(SPLITS):
        rows = people["split"] == place
        cell = tuple(people[name][rows] for name in ("client", "group", "label"))
        confusion, squares = np.zeros((2, *cells, 2))
        for answer, chances in enumerate((1 - chance[rows], chance[rows])):
            where = (*cell, np.full(len(chances), answer))
            np.add.at(confusion, where, chances)
            np.add.at(squares, where, chances**2)
        answered[split] = Answered(confusion, squares)
    return answered


def thresholds(python: Path, seeds: tuple[int, ...]) -> None:
    """Thresholds of fairlearn and OxonFair on the shipped scores of every seed."""
    experiment = experiments.open(EXPERIMENT)
    answers: dict[str, dict[str, dict[int, Any]]] = {name: {} for name in THRESHOLDS}
    for seed in seeds:
        parts = [ScoredData.from_experiment(experiment, seed, split) for split in SPLITS]
        people = {
            name: np.concatenate([getattr(part, name) for part in parts])
            for name in ("group", "client", "label")
        }
        people["score"] = np.concatenate([part.scores[:, 1] for part in parts])
        people["split"] = np.repeat([0, 1], [len(part) for part in parts])
        given, answers_file = RUNS / f"scores_{seed}.npz", RUNS / f"thresholds_{seed}.npz"
        np.savez_compressed(given, **people)
        run(python, "thresholds.py", given, answers_file, *EPSILONS)
        with np.load(answers_file, allow_pickle=False) as file:
            for name in THRESHOLDS:
                for epsilon, chance in zip(EPSILONS, file[name], strict=True):
                    by_seed = answers[name].setdefault(f"{NOTION} eps={epsilon:g}", {})
                    by_seed[seed] = tables(people, chance, shape())
    for name, rival in THRESHOLDS.items():
        ship(name, rival, answers[name])


def train(python: Path, seeds: tuple[int, ...], source: Path | None, there: Shipped) -> None:
    """Train declearn's methods with every value of their knob that is neither shipped nor kept.

    Its server and clients wait for each other nine tenths of the time, so seeds go side by side.
    """
    people = datasets.open(recipe(EXPERIMENT).dataset, source=source)
    new = [
        (method, value)
        for method, rival in TRAINED.items()
        for value in rival.values
        if (method, setting_of(rival, value)) not in there
    ]

    def of_seed(seed: int) -> None:
        missing = [pair for pair in new if not run_path(*pair, seed).is_file()]
        if missing:
            words = [f"{method}={value:g}" for method, value in missing]
            path = RUNS / f"federation_{seed}.npz"
            run(python, "declearn_methods.py", path, RUNS / f"seed_{seed}", *words)

    for seed in seeds if new else ():
        path = RUNS / f"federation_{seed}.npz"
        if not path.is_file():
            write_federation(people, seed, path)
    with ThreadPoolExecutor(AT_ONCE) as side_by_side:
        list(side_by_side.map(of_seed, seeds))


def setting_of(rival: Rival, value: float) -> str:
    return f"{NOTION} {rival.knob}={value:g}"


def run_path(method: str, value: float, seed: int) -> Path:
    return RUNS / f"seed_{seed}" / f"{method}_{value:g}.npz"


def shipped(seeds: tuple[int, ...]) -> Shipped:
    """Answers by seed and split, and seconds, of declearn's settings shipped with these seeds."""
    found: Shipped = {}
    for method in TRAINED:
        if f"declearn_{method}" not in list_methods(EXPERIMENT):
            continue
        there = open_method(EXPERIMENT, f"declearn_{method}")
        for name, setting in there.settings.items():
            if tuple(setting["seeds"]) == seeds:
                by_split = {split: there.answered(name, split) for split in SPLITS}
                answers = {s: {split: by_split[split][s] for split in SPLITS} for s in seeds}
                found[method, name] = answers, float(setting["seconds"])
    return found


def write_federation(people: datasets.People, seed: int, path: Path) -> None:
    """The seed's split, features scaled, group and client joined as one-hots: FedAvg's inputs."""
    federation = federate(people, recipe(EXPERIMENT), seed)
    own = federation.people
    codes = {name: getattr(own, name) for name in ("group", "client", "label")}
    joined = [np.eye(len(getattr(own, f"{name}s")))[codes[name]] for name in ("group", "client")]
    inputs = np.hstack([own.inputs, *joined]).astype(np.float32)
    np.savez_compressed(path, inputs=inputs, split=federation.split, **codes)


def trained(seeds: tuple[int, ...], there: Shipped) -> None:
    """Ship declearn's methods, with the value that the protocol chooses on validation people."""
    for method, rival in TRAINED.items():
        answers, seconds = {}, {}
        for value in rival.values:
            name = setting_of(rival, value)
            answers[name], seconds[name] = there.get((method, name)) or kept(method, value, seeds)
        values = dict(zip(answers, rival.values, strict=True))
        trials = [judged({rival.knob: values[name]}, answers[name]) for name in answers]
        chosen = choose(trials, fedavg_accuracy()).settings
        tuning = {
            "seeds": list(TUNING_SEEDS),
            "chosen": chosen,
            "trials": [asdict(trial) for trial in trials],
        }
        name = setting_of(rival, chosen[rival.knob])
        how = {"protocol": PROTOCOL, "tuning": {NOTION: tuning}}
        ship(f"declearn_{method}", rival, answers, name, seconds, how)


def kept(method: str, value: float, seeds: tuple[int, ...]) -> tuple[dict[int, Any], float]:
    """Answers by seed and split of the runs kept of one value, and their mean seconds."""
    by_seed, seconds = {}, []
    for seed in seeds:
        with np.load(run_path(method, value, seed), allow_pickle=False) as file:
            by_seed[seed] = tables(held_out(seed), file["answer"] * 1.0, shape())
            seconds.append(float(file["seconds"]))
    return by_seed, float(np.mean(seconds))


def held_out(seed: int) -> Codes:
    """Validation and test people of a seed."""
    with np.load(RUNS / f"federation_{seed}.npz", allow_pickle=False) as file:
        rows = file["split"] > 0
        people = {name: file[name][rows] for name in ("group", "client", "label", "split")}
    people["split"] -= 1
    return people


def shape() -> tuple[int, ...]:
    experiment = experiments.open(EXPERIMENT)
    return (len(experiment.clients), len(experiment.groups), len(experiment.labels))


def judged(settings: dict[str, float], by_seed: dict[int, dict[str, Answered]]) -> Trial:
    """A value of the knob on validation people of the tuning seeds."""
    figures = []
    for seed in TUNING_SEEDS:
        table = by_seed[seed]["validation"].confusion
        right = np.einsum("cayy->", table) / table.sum()
        figures.append((right, gap(table.sum(axis=0)), np.mean([gap(own) for own in table])))
    return Trial(settings, *(float(figure) for figure in np.mean(figures, axis=0)))


def gap(table: np.ndarray) -> float:
    """The gap of positive rates, from people by group, label and answer."""
    rates = table[:, :, 1].sum(axis=1) / table.sum(axis=(1, 2))
    return float(np.ptp(rates))


def fedavg_accuracy() -> float:
    experiment = experiments.open(EXPERIMENT)
    people = [ScoredData.from_experiment(experiment, s, "validation") for s in TUNING_SEEDS]
    return float(np.mean([(own.predicted == own.label).mean() for own in people]))


def ship(
    name: str,
    rival: Rival,
    answers: dict[str, dict[int, Any]],
    chosen: str = "",
    seconds: dict[str, float] | None = None,
    how: dict[str, Any] | None = None,
) -> None:
    experiment = experiments.open(EXPERIMENT)
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
    save_method(
        {
            "method": name,
            "title": rival.title,
            "ours": False,
            "pooled": rival.pooled,
            "experiment": EXPERIMENT,
            "made_by": f"benchmarks/outside_rivals.py, with {', '.join(NEEDS)}",
            "capabilities": {
                "level": rival.level,
                "approach": rival.approach,
                "notions": [NOTION],
                "multi_class": False,
            },
            "clients": list(experiment.clients),
            "groups": list(experiment.groups),
            "labels": list(experiment.labels),
            "favourable": experiment.favourable,
            "settings": settings,
            **(how or {}),
        },
        answers,
        FOLDER,
    )
    print(f"{name}: {len(settings)} settings of {len(next(iter(answers.values())))} seeds")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--declearn-seeds", default="0-9")
    options.add_argument("--source", type=Path, default=TOP.parent / "shared" / "datasets")
    options.add_argument("--anew", action="store_true", help="train what is shipped, too")
    options.add_argument("--only-write", action="store_true", help="the document, from data/")
    options.add_argument("--out", type=Path, default=TOP / "docs" / "outside_rivals.md")
    chosen = options.parse_args()
    if not chosen.only_write:
        python = environment()
        if python is None:
            return
        RUNS.mkdir(parents=True, exist_ok=True)
        thresholds(python, experiments.open(EXPERIMENT).seeds)
        seeds = tuple(seeds_from(chosen.declearn_seeds))
        there = {} if chosen.anew else shipped(seeds)
        try:
            train(python, seeds, chosen.source if chosen.source.is_dir() else None, there)
        except (InputError, subprocess.CalledProcessError) as error:
            print(f"declearn is not measured: {error}")
        else:
            trained(seeds, there)
    write_whole(chosen.out, document(EXPERIMENT, NOTION))
    print(f"{chosen.out}: written.")


if __name__ == "__main__":
    main()
