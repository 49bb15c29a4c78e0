"""FCFL in its released set-up, beside what its authors report.

Adult with categorical columns only, the sensitive ones removed, the official split, a linear model,
plain gradient steps: what the paper's FCFL row was probably made with. Sex is the group, doctorate
or not the client. The same `FCFL` as everywhere, on the plain worker of the linear model.

    python -m benchmarks.fcfl_released [--steps 1020]

Its figures are kept in data/methods/fcfl_released.json, which `python -m research reproduce` reads.
"""

import argparse
import time
from pathlib import Path

import numpy as np
import pandas as pd

from fairfl_core._io.files import write_json
from fairfl_core.data.datasets import People
from fairfl_core.training.data import TEST, TRAINING, Federation
from fairfl_core.training.method import LocalRound, Plan, Rows
from fairfl_core.training.parameters import first_parameters
from fairfl_core.training.recipes import Recipe
from fairfl_core.training.training import count_cells
from research.paper.fcfl_released import RELEASED, RELEASED_FORMAT, released_table
from research.trained.fcfl import FCFL
from research.trained.gradients import LinearGradients

CATEGORICAL = (
    "workclass",
    "education",
    "marital-status",
    "occupation",
    "relationship",
    "native-country",
)
SHARED = Path(__file__).resolve().parents[2] / "shared" / "datasets"


def released(table: pd.DataFrame) -> Federation:
    """The official split with categorical columns as one-hots."""
    inputs = pd.get_dummies(table[list(CATEGORICAL)], dtype=np.float32).to_numpy()
    people = People(
        inputs=inputs,
        label=(table["income"] == ">50K").to_numpy(np.int16),
        group=(table["sex"] == "Male").to_numpy(np.int16),
        client=(table["education"] != "Doctorate").to_numpy(np.int16),
        unit=np.arange(len(table), dtype=np.int32),
        labels=("<=50K", ">50K"),
        groups=("women", "men"),
        clients=("doctorate", "no doctorate"),
        scaled=0,
    )
    return Federation(people, np.where(table["split"] == "train", TRAINING, TEST).astype(np.int8))


class Clients:
    """What FCFL's server asks for: only what all know."""

    def __init__(self, plan: Plan, number: int) -> None:
        self.plan, self.round = plan, number


def run(
    federation: Federation, notion: str, epsilon: float, rate: float, steps: int
) -> dict[str, object]:
    """Train with full-batch steps from Glorot weights; answers of test people are counted."""
    recipe = Recipe(
        "adult", "adult", "", "linear", steps, 512, group_input=False, client_input=False
    )
    people = federation.people
    trainer = LinearGradients(federation, recipe)
    rows = federation.rows(TRAINING)
    counts = count_cells(people, rows, np.zeros(len(rows), int), 1)[..., 0].astype(int)
    plan = Plan(counts, 1, trainer.shapes)
    method = FCFL(
        notion=notion,
        epsilon=epsilon,
        rate=rate,
        warm=0,
        min_max=round(0.8 * steps),
        bound=np.inf,
    )
    state = method.begin(first_parameters(trainer.shapes, 0), plan)
    mine = federation.client_rows(TRAINING)
    start = time.perf_counter()
    for number in range(steps):
        replies = []
        for client, own in enumerate(mine):
            local = LocalRound(
                own,
                people.group[own],
                people.label[own],
                client=client,
                round=number,
                weight=np.ones(len(own), np.float32),
                seed=0,
                validation=Rows(own[:0], own[:0], own[:0]),
                memory={},
                plan=plan,
            )
            replies.append(method.client(state, local, trainer))
        state = method.server(state, replies, Clients(plan, number))
    seconds = time.perf_counter() - start
    test = federation.rows(TEST)
    table = count_cells(people, test, trainer.scores(state.theta, test).argmax(axis=1), 2)
    print(f"{notion} eps {epsilon:g}: {steps} steps, {seconds:.0f} s", flush=True)
    return {
        "notion": notion,
        "epsilon": epsilon,
        "rate": rate,
        "steps": steps,
        "seconds": round(seconds, 1),
        "confusion": table.astype(int).tolist(),
    }


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--steps", type=int, default=1020)
    options.add_argument("--source", type=Path, default=SHARED)
    chosen = options.parse_args()
    path = chosen.source / "adult.parquet"
    if not path.is_file():
        print(f"Not measured: {path} is not here; name a folder with --source.")
        return
    federation = released(pd.read_parquet(path))
    people = federation.people
    settings = (("sp", 1.0, 0.13), ("sp", 0.05, 0.03), ("sp", 0.01, 0.015), ("eop", 0.05, 0.1))
    rows = [run(federation, *setting, chosen.steps) for setting in settings]
    names = {"clients": people.clients, "groups": people.groups, "labels": people.labels}
    write_json(RELEASED, {"format": RELEASED_FORMAT, **names, "rows": rows})
    print("\n".join(released_table()))


if __name__ == "__main__":
    main()
