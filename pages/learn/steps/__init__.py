"""The ten steps of the lesson, each a module that lays itself out by `show`."""

from pages.learn.steps import (
    chance,
    cost,
    draws,
    network,
    people,
    precision,
    roc,
    simpson,
    solid,
    which_notion,
)

STEPS = (network, people, simpson, roc, solid, draws, chance, cost, precision, which_notion)
