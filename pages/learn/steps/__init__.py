"""The ten steps of the lesson: each function lays one out, its picture and the words beside it."""

from pages.learn.steps.lottery import (
    show_chance,
    show_draws,
    show_precision,
    show_roc,
    show_solid,
)
from pages.learn.steps.places import (
    show_cost,
    show_network,
    show_people,
    show_simpson,
    show_which_notion,
)

STEPS = (
    *(show_network, show_people, show_simpson, show_roc, show_solid),
    *(show_draws, show_chance, show_cost, show_precision, show_which_notion),
)
