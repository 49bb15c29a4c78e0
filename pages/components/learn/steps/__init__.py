"""The eight steps of the lesson, each a module that lays itself out by `show`."""

from pages.components.learn.steps import (
    chance,
    cost,
    draws,
    network,
    people,
    roc,
    simpson,
    solid,
)

__all__ = ["STEPS"]

STEPS = (network, people, simpson, roc, solid, draws, chance, cost)
