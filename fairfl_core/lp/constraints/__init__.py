"""All rows of a program: those of the gaps, and below them what the policy asks."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairfl_core.data.counts import ClientCounts
from fairfl_core.errors import InputError
from fairfl_core.fairness.notions import Notion
from fairfl_core.lp.constraints.base import Constraints, Stacked
from fairfl_core.lp.constraints.floors import FloorConstraints
from fairfl_core.lp.constraints.gaps import (
    Merged,
    gap_constraints,
    ratio_constraints,
    share_constraints,
)
from fairfl_core.lp.constraints.margins import MarginConstraints
from fairfl_core.lp.constraints.unknown_groups import UnknownGroupConstraints
from fairfl_core.lp.guarantee import Guarantee
from fairfl_core.lp.policy import Policy

__all__ = ["constraints_for"]

Floats = NDArray[np.float64]


def constraints_for(
    counts: ClientCounts,
    notion: Notion,
    guarantee: Guarantee | None,
    policy: Policy,
    *,
    cuts: bool,
    optimism: Floats | None = None,
    inside: bool = True,
    soft: bool = False,
) -> Stacked:
    """Lay out what is asked of these people.

    Parameters
    ----------
    counts : ClientCounts
    notion : Notion
    guarantee : Guarantee or None
        With what confidence gaps and floors are to be kept.
    policy : Policy
    cuts : bool
        Whether rules are cuts of a score: see `MarginConstraints`.
    optimism : ndarray, shape (groups, rates), optional
        See `MarginConstraints`.
    inside : bool
        Whether margins are wanted inside clients, too.
    soft : bool
        Whether what is missing to a floor may be made up for: see `FloorConstraints`.
    """
    bounded = counts.missing is not None and counts.missing.table is not None
    if bounded and (guarantee is not None or policy.has_ratios or policy.limits):
        raise InputError(
            "the worst case over missing groups can be had for the two limits, not beside a "
            "confidence, ratios or other groupings; choose --missing-group drop or own."
        )
    behind = notion.people(counts.n_label)
    if guarantee is not None and guarantee.scope == "all" and policy.floors:
        # Gaps and floors hold together: each has half of the chance of error.
        guarantee = replace(guarantee, confidence=(1 + guarantee.confidence) / 2)
    parts: list[Constraints] = []
    if guarantee is not None:
        how: dict[str, Any] = {"cuts": cuts, "optimism": optimism, "inside": inside}
        parts.append(MarginConstraints.of(notion, behind, guarantee, **how))
    elif bounded:
        parts.append(UnknownGroupConstraints.of(notion, counts))
    else:
        parts.append(gap_constraints(notion, behind))
    for limit in policy.limits:
        merged = Merged(limit.grouping, *counts.coarsen(limit.grouping))
        inside = limit.scope == "local"
        scopes = {"overall": not inside, "inside": inside}
        parts.append(gap_constraints(notion, behind, merged=merged, eps=limit.eps, **scopes))
    if policy.has_ratios:
        parts.append(ratio_constraints(notion, behind, policy, counts.favourable))
    parts += share_constraints(policy, counts)
    if policy.floors:
        floors = FloorConstraints.of(policy.floors, counts, guarantee, cuts=cuts, soft=soft)
        parts.append(floors)
    return Stacked.of(parts)
