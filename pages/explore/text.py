"""What the Explore page says."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fairfl_core._io import numbers as format
from fairfl_core._io.names import plain
from fairfl_core.evaluation.advice import Advice
from fairfl_core.evaluation.all_rates import FOUR_FIFTHS, ImpactRatios
from fairfl_core.evaluation.before_after import FEWEST, NOT_ASSESSABLE, ClosedGap
from fairfl_core.evaluation.harm import FEW, ClientHarm
from fairfl_core.evaluation.study import ClientRow, Effect, Figures, Payer, Summary
from fairfl_core.explore import text as core
from fairfl_core.fairness.notions import NotAssessable
from fairfl_core.lp.guarantee import Guarantee
from fairfl_core.lp.policy import Floor
from fairfl_core.lp.rules import RuleShare
from fairfl_core.monitoring.plan import Plan
from fairfl_core.report import text as asked_text
from pages.shared import text
from pages.shared.results import Collided
from pages.shared.view import View

# Parts of the page, as they are named where one fails.
RESULTS, MAP, CLIENTS = "The results", "The map", "The clients' picture"
# What stands below the pictures; also how a part is named where it fails.
BELOW = "Below the pictures"
TABS = {
    "reached": "Reached",
    "pays": "Who pays",
    "sure": "How sure",
    "more": "More limits",
    "rates": "Every rate",
}
LESSON = "New here?"
KEEP, KEEP_TIP = "Keep", "Up to four settings, compared on the page Compare."
FILES = "Files"
PLAY, STOP = "▶", "■"
PLAY_TIP = "Watch the limit tighten, from none to zero"
PLAYING = "Solving twelve limits"
PICTURE, LABEL = "Picture", "Label"
NUMBERS = "The numbers"
REFINE_MAP = "Refine the map"
REFINE_MAP_TIP = "484 pairs of limits, one run: here each pair takes a while to solve."
COARSE_MAP = "Back to the coarse map"
COARSE_MAP_TIP = "Stops refining; what is solved is kept."
AS_IT_IS, NOW, NOTHING_ASKED = "as it is", "now", "nothing asked"
SCREENS = ("map", "gaps", "found", "compare")


# -------------------------------------------------------------------- chips


BADGE = ":{0.colour}-badge[{0.text}]"


def harm_lines(summary: Summary) -> str:
    """Who loses as Markdown, one line each."""
    *lines, last = core.harm_lines(summary)
    return "\n".join(f"- {plain(line, 400)}" for line in lines) + f"\n\n{plain(last, 300)}"


# -------------------------------------------------------------------- asked, reached, held


def three_numbers(summary: Summary) -> tuple[dict[str, list[str]], list[str]]:
    """Rows and headings of the table of what was asked, reached, and held."""
    columns = [each for each in (summary.reached, summary.unseen) if each is not None]
    asked = {
        "Overall gap (ε₀)": format.epsilon(summary.eps_global),
        "Worst client (εc)": format.epsilon(summary.eps_local[1]),
    }
    rows = {
        "Accuracy": [format.percent(each.accuracy) for each in columns],
        "The model as it is": [format.percent(each.before.accuracy) for each in columns],
        "Overall gap (ε₀)": [format.gap(each.overall) for each in columns],
        "Worst client (εc)": [_worst_gap(each) for each in columns],
        "Mean client": [format.gap(each.local_mean) for each in columns],
        "Larger half, chance taken out": [format.debiased(each.debiased) for each in columns],
    }
    if not summary.policy.utility.is_accuracy:
        name = asked_text.utility_name(summary.policy.utility)
        rows[name.capitalize()] = [f"{each.utility:.3f}" for each in columns]
        rows["The model's own"] = [f"{each.before.utility:.3f}" for each in columns]
    n = [format.count(each.n) for each in columns]
    headings = ["asked", f"reached (set on, n = {n[0]})"]
    headings += [f"held (new people, n = {n[1]})"] if summary.unseen else []
    return {name: [asked.get(name, ""), *cells] for name, cells in rows.items()}, headings


def _worst_gap(figures: Figures) -> str:
    worst = figures.worst
    if worst is None:
        return format.UNKNOWN
    return f"{format.gap(worst.gap)} ({worst.client})"


def other_rates(rates: str) -> str:
    """Said where the program's rates are not the counted ones."""
    return (
        f"The limits hold for the program's own rates ({text.RATE_KINDS[rates][0]}); counted by "
        "labels, even the people the rule was set on may exceed them."
    )


def own_limits(view: View) -> str:
    """Which clients have a limit of their own."""
    words = ", ".join(f"{plain(name)} {format.epsilon(limit)}" for name, limit in view.own_limits)
    return f"Own limits: {words}."


CLOSED = "**How gaps were closed**"
MAP_TABLE = "The map as a table"
NOTHING_CLOSED = "No gap was closed."
CLOSED_ON_FEW = "Gaps were closed only where fewer than 10 people stand behind them."


def closed_lines(closed: Sequence[ClosedGap], most: int = 6) -> str:
    """How gaps were closed, one line each; of fewer than 10 people nothing is said."""
    enough = [one for one in closed if min(one.lower.n, one.higher.n) >= FEW]
    lines = [f"- {plain(one.sentence(), 600)}" for one in enough[:most]]
    return "\n".join(lines) or (CLOSED_ON_FEW if closed else NOTHING_CLOSED)


# -------------------------------------------------------------------- how sure

CERTAINTY, CERTAINTY_TIP = (
    "Limits are met",
    "On the people the rule was set on only, or with a margin for chance, so that they hold on "
    "new people. More certainty costs more accuracy; more people make it cheaper.",
)
CERTAINTIES = {
    "none": "as set",
    "all": "with 95 % for all at once",
    "each": "with 95 % for each client",
    "proved": "with 95 % for each, proved",
}
NO_CERTAINTY = (
    "With three labels and more no bound holds for every rule of the scores: choose the region "
    "simplex or kernel in Settings to ask for a confidence."
)
CERTAINTY_COSTS = "What certainty costs here"
DRAW_CERTAINTY = "What more people would buy"
NOTHING_TO_BE_SURE_OF = "No limit is asked: there is nothing to be sure of."
CERTAINTY_SPOKEN = (
    "Accuracy that certainty costs if each client had more people, or fewer, at these limits and "
    "rates; one run. The mark is the median client as it is."
)
AXIS_PEOPLE = "people of the median client"
AXIS_COST = "accuracy that certainty costs, points"
AS_IT_IS = "as it is"
HOVER_CERTAINTY = "%{x:,.0f} people: %{y:.2f} points<extra></extra>"
SOLVING = "Solving …"
ADVICE = "What to ask for"
ADVICE_POINTS, ADVICE_TIP = (
    "Points you would pay",
    "Accuracy that may be lost on the people the rule is set on, against no limit at all.",
)
USE_ADVICE = "Ask for {}"
MOST_ADVISED = 0.3  # limits above it are not offered


def certainty_costs(costs: dict[str, float]) -> str:
    """What each certainty costs, in the order of the control."""
    words = ", ".join(
        f"{CERTAINTIES[name]} {'collides' if cost != cost else format.round_points(cost)}"
        for name, cost in costs.items()
    )
    return f"Against “as set”, on the people the rule was set on, one run: {words}."


def advice(found: Advice, points: float, guarantee: Guarantee) -> str:
    """The tightest limits within a price, in one sentence."""
    sure = f"{guarantee.confidence:.0%}".replace("%", " %")
    scope = "all limits at once" if guarantee.scope == "all" else "each limit"
    price = f"{points:g} point{'s' if points != 1 else ''}"
    if found.eps > MOST_ADVISED:
        return (
            f"No limit up to {MOST_ADVISED:g} holds with {sure} confidence ({scope}) for {price}."
        )
    return (
        f"**{format.epsilon(found.eps)}**, overall and in each client, is the tightest limit that "
        f"holds with {sure} confidence ({scope}) for {price} or less; it costs "
        f"{format.round_points(found.cost)} (mean over runs). Whom it hurts is shown once it is "
        "asked."
    )


# -------------------------------------------------------------------- other regions

REGIONS = "Compare regions at equal reached gaps"
SOLVING_REGIONS = "Solving every region at eight limits"
REGIONS_SPOKEN = (
    "Accuracy against the mean client's gap, both on new people; a line a region. Further up and "
    "left is better; regions are compared at equal reached gaps only."
)
AXIS_MEAN_GAP = "mean client's gap on new people"
AXIS_ACCURACY = "accuracy on new people, %"
HOVER_REGION = (
    "limit %{customdata[0]:g}: accuracy %{y:.1f} %, mean client gap %{x:.3f}, overall "
    "%{customdata[1]:.3f}<extra></extra>"
)
PLAN, PLAN_AXES = "Whom to see next", ("people more", "limits settled")
NO_NEW_PEOPLE = "There are no new people here to plan from."


def plan(plan: Plan) -> str:
    """How many more people settle what is not sure yet."""
    if not plan.cells:
        return "Every limit is settled already: nobody more is needed."
    return (
        f"**{plan.total:,}** more people settle all {len(plan.cost)} limits that are not sure yet "
        f"({plan.people:,.0f} new people now)."
    )


# Parts of the panel, as they are named where one fails.
ITS_LOTTERY, OF_RUN = "**Its lottery, in words**", " (run {})"
CLIENT_RATES, LOTTERY = "The client's rates", "The client's rule"
IMPACT_RATIOS = "Impact ratios"
EVERYBODY = "overall"
LEAVE_OUT = "Leave out groups under 2 % of all people"
RATIO_COLUMNS = ("where", "group", "people", "selected before", "selected", "impact ratio")

ALLOWED_INSIDE = "Gap allowed inside {}"
OWN_LIMIT, OWN_LIMIT_TIP = (
    "Its own limit εc",
    "A limit for this client alone; the others keep theirs.",
)
AXIS_RATE = "rate, %"
HOVER_BEFORE = "before %{x:.1f} %<extra></extra>"
HOVER_AFTER = "after %{x:.1f} %, n = %{customdata[0]:,.0f}<extra></extra>"


def sentence(row: ClientRow, payer: Payer, judged_on: str, effect: Effect) -> str:
    """The client in one or two sentences: asked, reached, and its accuracy."""
    change = format.round_signed_points(payer.change)
    accuracy = (
        f"Accuracy {format.before_after(row.accuracy_before, row.accuracy, format.round_percent)}"
        + (f" ({change}){text.but(effect)}" if change != format.NO_CHANGE else "")
        + "."
    )
    if np.isnan(row.gap):
        return f"No two groups can be compared here, so there is no gap. {accuracy}"
    asked = "No limit asked" if row.eps_local >= 1 else f"Asked {format.epsilon(row.eps_local)}"
    return (
        f"{asked}; on {judged_on} the gap is "
        f"**{format.before_after(row.gap_before, row.gap, format.round_gap)}** "
        f"({text.sure(row)}). {accuracy}"
    )


def alarm(own: ClientHarm) -> str:
    """Who loses here, as Markdown."""
    colour, sign = ("red", "▼") if own.beyond_chance else ("orange", "▽")
    return f":{colour}-badge[{sign}] {plain(own.describe(2), 1200)}"


def rates_reading(*, unseen: bool) -> str:
    """How to read the chart of rates."""
    return (
        "**The rates that are compared, group by group**, with 95 % intervals, on "
        f"{text.UNSEEN if unseen else text.FITTED}. Hollow: the model's own answers; filled: "
        "after the lottery."
    )


def nobody(cell: NotAssessable) -> str:
    """A group with nobody behind a rate."""
    with_label = f" with label “{plain(cell.label)}”" if cell.label else ""
    return f"Nobody of group “{plain(cell.group)}”{with_label} here: not assessable."


def lottery(group: str, shares: Sequence[RuleShare]) -> str:
    """A cell's lottery: what it does, and in how many of a hundred cases."""
    shown = [
        f"{plain(one.rule, 160)}: {format.hundred(one.share)} in 100"
        for one in shares
        if one.share >= 0.0005
    ]
    return f"**{plain(group)}** – {'; '.join(shown)}."


def ratio_cells(row: Mapping[str, Any]) -> list[str]:
    """A row of the table of impact ratios."""
    ratio = row["impact_ratio"]
    ends = [row[f"selection_rate{end}"] for end in ("", "_low", "_high")]
    rate, low, high = (format.percent(end) for end in ends)
    below = ratio < FOUR_FIFTHS
    # A third digit where two would round to four fifths what is below it.
    digits = 3 if below and round(ratio, 2) >= FOUR_FIFTHS else 2
    ratio_cell = "–" if np.isnan(ratio) else f"{ratio:.{digits}f}{' ▼' if below else ''}"
    return [
        EVERYBODY if row["client"] is None else plain(row["client"], 24),
        _group_compared(row),
        format.count(row["n"]),
        format.percent(row["selection_rate_before"]),
        f"{rate} ({low} to {high})" if row["n"] else "nobody",
        ratio_cell if row["assessable"] else NOT_ASSESSABLE,
    ]


def _group_compared(row: Mapping[str, Any]) -> str:
    """A group by its name; one of a crossing's columns alone is led by the column's."""
    alone = row["grouping"] is not None and "*" not in row["grouping"]
    return plain(f"{row['grouping']}: {row['group']}" if alone else row["group"], 60)


def ratios_reading(ratios: ImpactRatios, *, unseen: bool) -> str:
    """How to read the table of impact ratios, and who is not in it."""
    words = (
        f"The favourable answer, on {text.UNSEEN if unseen else text.FITTED}, mean over runs; 95 % "
        "limits in brackets. A ratio is a group's rate by the highest one; ▼ is below four fifths."
    )
    if ratios.left_out:
        names = ", ".join(plain(name, 30) for name in ratios.left_out)
        words += f" Left out, as under 2 % of all people: {names}."
    if not all(one.assessable.all() for one in ratios.comparisons):
        words += f" A crossed group of fewer than {FEWEST} people is {NOT_ASSESSABLE}."
    if len(ratios.comparisons) > 1:
        words += " Each column of the crossing is compared on its own as well."
    return words


# -------------------------------------------------------------------- every rate


def rates_spoken(label: str, client: str | None) -> str:
    """The picture of every rate in a sentence."""
    where = "overall" if client is None else f"in {client}"
    return f"Every rate of “{label}” {where}, by group, before and after, with 95 % intervals."


def not_assessable(groups: Sequence[str]) -> str:
    """Said of crossed groups with too few people to be judged."""
    names = ", ".join(plain(name, 40) for name in groups)
    return f"{NOT_ASSESSABLE.capitalize()}, with fewer than {FEWEST} people here: {names}."


# -------------------------------------------------------------------- beyond the two limits

FLOORS, RATIOS, GOOD = "Nobody may be left worse off", "Ratios", "What counts as good"
POLICY_COST = "The price of what is asked"
FLOORS_MEANING = (
    "A gap can be closed by making those better off worse: levelling down. A floor forbids it, in "
    "every client and group that has people of the label."
)
FLOOR_LABEL, EVERY_LABEL = "Label", "every label"
FLOOR_KEEP = "Recognised less often than by the model, at most"
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
FOUR_FIFTHS_RULE = "Four-fifths rule (screening, not compliance)"
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


MISSED = "A missed “{}” is as bad as so many other mistakes"
TRULY = "truly {}"
ANSWERED = "answered {}"


def policy_cost(accuracy: float, without: Mapping[str, float]) -> str:
    """What each part costs, all else equal."""
    if math.isnan(accuracy):
        return "What is asked collides with the limits; see above."
    words = [
        f"{_PARTS[name]} {'cost' if less >= accuracy else 'gain'} "
        f"{format.points(less - accuracy)} of accuracy"
        for name, less in without.items()
        if not math.isnan(less)
    ]
    return (
        "At these limits, on the fitted people of one run: "
        + "; ".join(words)
        + f" ({format.percent(accuracy)} with all that is asked)."
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
