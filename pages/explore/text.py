"""What the Explore page says."""

from collections.abc import Sequence

from fairfl_core._io import numbers as format
from fairfl_core._io.names import plain
from fairfl_core.evaluation.advice import Advice
from fairfl_core.evaluation.gap_decomposition import ClosedGap
from fairfl_core.evaluation.harm import Harm
from fairfl_core.evaluation.study import Figures, Summary
from fairfl_core.explore import text as core
from fairfl_core.explore.text import Chip
from fairfl_core.lp.guarantee import Guarantee
from fairfl_core.monitoring.plan import Plan
from fairfl_core.report import text as asked_text
from pages.shared import text
from pages.shared.view import View

# Parts of the page, as they are named where one fails.
RESULTS, MAP, CLIENTS = "The results", "The map", "The clients' picture"
HELD, PAYS, SURE, MORE, RATES = (
    "Reached",
    "Who pays",
    "How sure",
    "More limits",
    "Every rate",
)
MAP_TITLE = "Accuracy by pair of limits"
LESSON = "New here? Learn"
KEEP, KEEP_TIP = "Keep for Compare", "Up to four settings, compared on the page Compare."
TAKE_ALONG = "Take along"
PLAY, STOP = "▶", "■"
PLAY_TIP = "Watch the limit tighten, from none to zero"
PLAYING = "Solving twelve limits"
PICTURE, LABEL = "Picture", "Label"
DRAW_MAP = "Draw the map: 81 pairs of limits, one run"
DRAW_MAP_TIP = "Here each pair takes a while to solve."
REFINE_MAP = "Refine the map: 484 pairs of limits, one run"
COARSE_MAP = "Back to the coarse map"
COARSE_MAP_TIP = "Stops refining; what is solved is kept."
NO_LIMIT, INSIDE_ALONE, NOW = "no limit", "in each alone", "now"
SCREENS = ("map", "gaps", "found", "compare")


# -------------------------------------------------------------------- chips


def badge(chip: Chip) -> str:
    """A chip as Markdown."""
    return f":{chip.colour}-badge[{chip.text}]"


def verdict_why(summary: Summary) -> str:
    """The verdict's reason as Markdown; names in it are only text."""
    return plain(core.verdict_why(summary), 1200)


def harm_lines(harm: Harm) -> str:
    """Who loses as Markdown, one line each."""
    *lines, last = core.harm_lines(harm)
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
        "The model as it is": [format.percent(each.accuracy_before) for each in columns],
        "Overall gap (ε₀)": [format.gap(each.overall) for each in columns],
        "Worst client (εc)": [_worst_gap(each) for each in columns],
        "Mean client": [format.gap(each.local_mean) for each in columns],
        "Larger half, chance taken out": [format.debiased(each.debiased) for each in columns],
    }
    if not summary.policy.utility.is_accuracy:
        name = asked_text.utility_name(summary.policy.utility)
        rows[name.capitalize()] = [f"{each.utility:.3f}" for each in columns]
        rows["The model's own"] = [f"{each.utility_before:.3f}" for each in columns]
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
NOTHING_CLOSED = "No gap was closed."


def closed_lines(closed: Sequence[ClosedGap], most: int = 6) -> str:
    """How gaps were closed, one line each."""
    lines = [f"- {plain(one.sentence(), 600)}" for one in closed[:most]]
    return "\n".join(lines) or NOTHING_CLOSED


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
ADVICE = "What to ask for"
ADVICE_POINTS, ADVICE_TIP = (
    "Points you would pay",
    "Accuracy that may be lost on the people the rule is set on, against no limit at all.",
)
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
        f"{format.round_points(found.cost)} (mean over runs)."
    )


def use_advice(found: Advice) -> str:
    """The button that takes the advice."""
    return f"Ask for {format.epsilon(found.eps)}"


# -------------------------------------------------------------------- other regions

REGIONS = "Compare regions at equal reached gaps"
SOLVING_REGIONS = "Solving every region at eight limits"
REGIONS_SPOKEN = (
    "Accuracy against the mean client's gap, both on new people; a line a region. Further up and "
    "left is better; regions are compared at equal reached gaps only."
)
REGION_COLUMNS = {
    "region": "region",
    "limit": "limit",
    "accuracy": "accuracy",
    "gap_global": "overall gap",
    "gap_local_mean": "mean client's gap",
}
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
        return "Every limit can be told already: nobody more is needed."
    return (
        f"**{plan.total:,}** more people settle all {len(plan.cost)} limits that are not sure yet "
        f"({plan.people:,.0f} new people now)."
    )
