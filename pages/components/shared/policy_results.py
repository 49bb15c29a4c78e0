"""What a policy costs, and what to do where it collides with the limits."""

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fairfl_core.errors import CollisionError
from fairfl_core.solving.policy import Floor, Policy
from fairfl_core.solving.utility import ACCURACY
from pages.components.session.cache import cached
from pages.components.session.catalogue import experiment_of
from pages.components.shared.results import accuracy_within, programs_of
from pages.components.view import View

if TYPE_CHECKING:
    from fairfl_core.solving.collision import Collision  # starts slowly

__all__ = ["Collided", "PolicyCost", "collision_of", "policy_cost"]


@dataclass(frozen=True)
class PolicyCost:
    """Accuracy on the fitted people of one run, with everything asked and with parts left out.

    Attributes
    ----------
    accuracy : float
        NaN where limits and floors collide.
    without : tuple of (str, float)
        By part (``floors``, ``ratios``, ``utility``, ``limits``, ``without_group``): accuracy
        with the same limits and everything else, but without it.
    """

    accuracy: float
    without: tuple[tuple[str, float], ...]


def parts_of(policy: Policy) -> dict[str, Policy]:
    """The policy without each of the parts that it has."""
    parts = {
        "floors": replace(policy, floors=()),
        "ratios": replace(policy, ratio_global=None, ratio_local=None),
        "limits": replace(policy, limits=()),
        "utility": replace(policy, utility=ACCURACY),
        "without_group": replace(policy, without_group=False),
    }
    return {name: less for name, less in parts.items() if less != policy}


@cached(200)
def policy_cost(view: View) -> PolicyCost:
    """What each part of the view's policy costs, all else equal."""
    one = view.of_seed(view.seeds[0])
    limits = view.limits(experiment_of(view.data).clients)
    without = tuple(
        (name, accuracy_within(replace(one, policy=less), limits))
        for name, less in parts_of(view.policy).items()
    )
    return PolicyCost(accuracy_within(one, limits), without)


@dataclass(frozen=True)
class Collided:
    """A collision over all runs of a view: what would do in every one of them.

    Attributes
    ----------
    who : tuple of (client, group, label)
    least_global, least_local : float or None
        Limits that these floors allow; None where no gap would do.
    lowered : Policy
        Floors that these limits allow.
    certain : bool
        Whether no rule can have been overlooked.
    """

    who: tuple[tuple[str, str, str], ...]
    least_global: float | None
    least_local: float | None
    lowered: Policy
    certain: bool = True


@cached(60)
def collision_of(view: View) -> Collided:
    """Who collides in some run, and what would do in all."""
    limits = view.limits(experiment_of(view.data).clients)
    met: list[Collision] = []
    for program in programs_of(view):
        try:
            program.solve(**limits)
        except CollisionError as error:
            met.append(error.collision)
    overall = [one.least_global for one in met if one.least_global is not None]
    inside = [one.least_local for one in met if one.least_local is not None]
    every = len(overall) == len(inside) == len(met)
    return Collided(
        who=tuple(dict.fromkeys(place for one in met for place in one.who)),
        least_global=_up(max(overall)) if every else None,
        least_local=_up(max(inside)) if every else None,
        lowered=replace(view.policy, floors=tuple(_lowered(view.policy.floors, met))),
        certain=all(one.certain for one in met),
    )


def _lowered(floors: tuple[Floor, ...], met: "list[Collision]") -> list[Floor]:
    """Each floor as low as it must be in some run, on the safe side of three decimals."""
    return [
        Floor(floor.label, min(_down(one.highest_floor[floor.label]) for one in met))
        if floor.keeps is None
        else Floor(floor.label, keeps=max(_up(one.highest_keep[floor.label], 1000) for one in met))
        for floor in floors
    ]


def _up(value: float, steps: int = 10_000) -> float:
    return min(math.ceil(value * steps - 1e-6) / steps, 1.0)


def _down(value: float) -> float:
    return math.floor(value * 1000 + 1e-6) / 1000
