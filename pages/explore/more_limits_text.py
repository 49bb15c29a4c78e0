"""What is said of limits beyond the two: floors, ratios, groupings, aims, collisions."""

import math
from collections.abc import Sequence

from fairfl_core._io import numbers as format
from fairfl_core._io.names import plain
from fairfl_core.lp.policy import Floor
from pages.shared.results import Collided, PolicyCost

# -------------------------------------------------------------------- beyond the two limits

FLOORS, RATIOS, GOOD = "Nobody may be left worse off", "Ratios", "What counts as good"
POLICY_COST = "The price of what is asked"
FLOORS_MEANING = (
    "A gap can be closed by making those better off worse: levelling down. A floor forbids it, in "
    "every client and group that has people of the label."
)
FLOOR_LABEL, EVERY_LABEL = "Label", "every label"
KEEP = "Recognised less often than by the model, at most"
FLOOR = "Recognised at least"
RATIOS_MEANING = (
    "No group's rate may be below this share of the highest group's. Four fifths is a rule of "
    "thumb for screening; meeting it is not compliance with any law."
)
NO_SURE_RATIOS = (
    "A confidence can be had for gaps and floors, not for ratios: choose “as set” under How sure to ask "
    "for a ratio."
)
RATIO_OVERALL, RATIO_INSIDE = "Ratio at least, overall", "Ratio at least, inside each client"
FOUR_FIFTHS = "Four-fifths rule (screening, not compliance)"
GROUPINGS = "Limits between other groups"
GROUPINGS_MEANING = (
    "Groups are crossed of several columns, and the two limits above compare the crossings. Here "
    "the groups of one column are compared, pooled over the others."
)
WITHOUT_GROUP = "Decide without the group"
WITHOUT_GROUP_TIP = (
    "Where the group may not be used or is not known at the decision: one rule for all groups of a "
    "client. Gaps are still measured by group. The model itself may have seen the group in training."
)
UTILITY = "Made as large as can be"
UTILITIES = {
    "accuracy": "accuracy",
    "balanced": "balanced accuracy",
    "table": "gains and costs",
}
UTILITY_MEANING = {
    "accuracy": "Every right answer counts the same, so the commonest label counts most.",
    "balanced": "Every label counts the same, however rare: the mean of their recognitions.",
    "table": "What each answer is worth for each true label; below zero is a cost. Prices are in "
    "this unit.",
}
OWN_TABLE = "own table"
COLLIDES = ":red-badge[✕ limits and floors collide]"
EXACT = "The two limits as numbers"
POLICY_FILE = "From a policy file"
POLICY_UPLOAD = "Limits that somebody decided (policy.toml)"
POLICY_TAKEN = "Taken from the policy file."
POLICY_BY = "Decided by {by}{on}."
_PARTS = {
    "floors": "the floors",
    "ratios": "the ratios",
    "limits": "the limits between other groups",
    "shares": "precision and capacity",
    "utility": "another aim than accuracy",
    "without_group": "not using the group",
}


def floor_step(value: float) -> str:
    """A step of a slider over floors or ratios."""
    return "off" if value < 0 else f"{value:g}"


def floors_asked(floors: Sequence[Floor]) -> str:
    """All floors that are asked, of every label."""
    return "Asked in every client and group: " + "; ".join(_floor(one) for one in floors) + "."


def _floor(floor: Floor) -> str:
    if floor.keeps is None:
        return f"at least {floor.rate:g} of “{plain(floor.label)}” recognised"
    return (
        f"“{plain(floor.label)}” recognised at most {floor.keeps:g} less often than by the model"
    )


def grouping_limit(grouping: str, scope: str) -> str:
    """The label of a limit between the groups of one column."""
    where = "overall" if scope == "global" else "inside each client"
    return f"Gap allowed by {grouping}, {where}"


def missed(label: str) -> str:
    """The label of the number that begins a table of costs."""
    return f"A missed “{label}” is as bad as so many other mistakes"


def truly(label: str) -> str:
    """A row of the table of gains."""
    return f"truly {label}"


def answered(label: str) -> str:
    """A column of the table of gains."""
    return f"answered {label}"


def refused(why: str) -> str:
    """An edit that cannot be."""
    return f"Not taken: {plain(why, 300)}"


def policy_cost(cost: PolicyCost) -> str:
    """What each part costs, all else equal."""
    if math.isnan(cost.accuracy):
        return "What is asked collides with the limits; see above."
    words = [
        f"{_PARTS[name]} {'cost' if without >= cost.accuracy else 'gain'} "
        f"{format.points(without - cost.accuracy)} of accuracy"
        for name, without in cost.without
        if not math.isnan(without)
    ]
    return (
        "At these limits, on the fitted people of one run: "
        + "; ".join(words)
        + f" ({format.percent(cost.accuracy)} with all that is asked)."
    )


def collision(met: Collided) -> str:
    """Who stands against whom."""
    named = [
        f"{plain(client, 24)}, {plain(group, 24)} (“{plain(label, 24)}”)"
        for client, group, label in met.who[:3]
    ]
    more = f" and {len(met.who) - 3} more" if len(met.who) > 3 else ""
    none = "No lottery keeps both" if met.certain else "No lottery was found that keeps both"
    words = f"{none}: the floors stand against the limits in {'; '.join(named)}{more}."
    if met.least_local is None:
        words += (
            " No wider gap would help: in this region the floors are out of reach."
            if met.certain
            else " None was found with wider gaps, either."
        )
    return words


def widen(eps_local: float, eps_global: float) -> str:
    """The button that widens the limits as far as the floors need."""
    inside, overall = format.epsilon(eps_local), format.epsilon(eps_global)
    return f"Keep the floors, allow {inside} inside and {overall} overall"


def lower(floors: Sequence[Floor]) -> str:
    """The button that lowers the floors as far as the limits need."""
    words = [
        f"{floor.rate:g} of “{floor.label}”"
        if floor.keeps is None
        else f"a loss of {floor.keeps:g} of “{floor.label}”"
        for floor in floors
    ]
    return plain(f"Keep the limits, floors of {', '.join(words)}", 160)
