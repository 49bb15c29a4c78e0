"""The tiny federation; run as a script it trains, so that a test can kill it."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

from fairfl_core.data.datasets import People
from fairfl_core.training.recipes import Recipe

RECIPE = Recipe("tiny", "tiny", "made up", "mlp", rounds=6, batch=16)


def people(rows: int = 600) -> People:
    """Label by the sign of two features, nudged by the group; client sizes 1 : 2 : 3."""
    rng = np.random.default_rng(0)
    group, client = rng.integers(0, 2, rows), rng.choice(3, rows, p=[1 / 6, 2 / 6, 3 / 6])
    inputs = rng.normal(3, 2, (rows, 4)).astype(np.float32)
    label = (inputs[:, 0] > 3).astype(int) + ((inputs[:, 1] > 3) | (group == 1)).astype(int)
    return People(
        inputs=inputs,
        label=label.astype(np.int16),
        group=group.astype(np.int16),
        client=client.astype(np.int16),
        unit=np.arange(rows, dtype=np.int32),
        labels=("low", "middle", "high"),
        groups=("a", "b"),
        clients=("north", "east", "south"),
        scaled=4,
    )


def pictures(rows: int = 120) -> People:
    """Small pictures whose brightness tells the label."""
    rng = np.random.default_rng(1)
    base = people(rows)
    level = np.array([40, 120, 200])[base.label][:, None, None, None]
    images = np.clip(level + rng.normal(0, 20, (rows, 28, 28, 3)), 0, 255).astype(np.uint8)
    return replace(base, inputs=images, scaled=0)


def as_adult() -> People:
    """The tiny people with two labels, so that they can stand in for Adult."""
    base = people()
    return replace(
        base,
        label=(base.label > 0).astype(np.int16),
        labels=("up to 50K", "over 50K"),
        origin={"sample": "made up", "rows_used": len(base), "grouping": "sex"},
    )


def train_tiny(model: str = "mlp", **options: object) -> None:
    """`fairfl train tiny ...`, as far as the tiny people can stand in for a dataset."""
    from fairfl_core.cli.train import train
    from fairfl_core.data import datasets
    from fairfl_core.training import recipes
    from tests.training import toy  # noqa: F401  (it makes itself known)

    real = datasets.open
    datasets.open = lambda name, source, grouping: as_adult()
    recipes.RECIPES["tiny"] = replace(RECIPE, dataset="adult", batch=64, model=model)
    try:
        train("tiny", **options)
    finally:
        datasets.open = real
        del recipes.RECIPES["tiny"]


if __name__ == "__main__":
    train_tiny(
        model="linear",  # which needs no TensorFlow
        seeds="5",
        rounds=3,
        folds=2,
        method="toy",
        setting=["strength=0", "pause=0.2"],
        out=Path(sys.argv[1]),
    )
