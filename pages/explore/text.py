"""What the Explore page says."""

from collections.abc import Sequence

from fairfl_core._io import numbers as format
from fairfl_core.evaluation.advice import Advice
from fairfl_core.evaluation.summary import Figures, Summary
from fairfl_core.solving.guarantee import Guarantee
from pages.shared import text
from pages.shared.outside_text import plain
from pages.shared.view import View

EQUAL = 0.02  # gaps closer than this are called equal when regions are compared

# Parts of the page, as they are named where one fails.
HEADLINE, SUMMARY, MAP = "The headline", "The summary", "The map"
COMPARISON = "The comparison of asked, reached and unseen"
CLIENTS, REGIONS = "The clients' gaps", "What the region costs"
PREDICTOR = "The predictor"
OTHER_REGION = "What another region would do"
SCREENS = ("the map", "each client", "recognition", "asked, reached, unseen")

LESSON = "New here? Start with the lesson (20 min)"
DISMISS, DISMISS_TIP = "✕", "Do not show this line"
ACCURACY_UNSEEN, ACCURACY = "Accuracy, unseen people", "Accuracy"
OVERALL, CHANGED = "Overall gap", "Answers changed"
NOBODY_TO_COMPARE = ("Worst client", "none to compare")
DRAW_MAP = "Draw the map (36 pairs of limits; with so many clients this takes minutes)"
THREE_NUMBERS = "**Asked, reached, and what held on people it had not seen**"
PRICES = "**Who pays, what binds, and its price**"
KEEP, LET_GO, AS_SET_NOW = "Keep as an option", "Let all go", "as set now"
KEEP_TIP = "Up to four settings; they are compared here and on the page Review."
TO_REVIEW = "Compare and report"
ORDER = "Order of the clients"
ORDERS = {
    "gap": "largest gap after",
    "gap_before": "largest gap before",
    "n": "largest client",
    "price": "dearest",
    "client": "name",
}
REGIONS_TITLE = "**What the region costs**, at an equal gap on unseen people"
DRAW_REGIONS = "Draw it (solves every region at eight limits)"
SOLVING_REGIONS = "Solving every region at eight limits"
REGIONS_READING = (
    "Up is more accurate, left is fairer: **a line further up and left is the better region**. "
    "Each point is one limit, the same overall and inside each client; gaps and accuracy are of "
    "unseen people."
)
REGION_COLUMNS = {
    "region": "region",
    "limit": "limit",
    "accuracy": "accuracy",
    "gap_global": "overall gap",
    "gap_local_mean": "mean client's gap",
}
HOVER_CERTAINTY = "%{x:,.0f} people: %{y:.2f} points<extra></extra>"
AXIS_MEAN_GAP = "mean client's gap on unseen people"
AXIS_ACCURACY = "accuracy on unseen people, %"
HOVER_REGION = (
    "limit %{customdata[0]:g}: accuracy %{y:.1f} %, mean client gap %{x:.3f}, overall "
    "%{customdata[1]:.3f}<extra></extra>"
)


ADVICE, CERTAINTY = "What to ask for", "The price of certainty"
ADVICE_POINTS = "Points you would pay"
ADVICE_TIP = "Accuracy that may be lost, on the fitted people, against no limit at all."
CERTAINTY_TITLE = "**The price of certainty**, by people per client"
DRAW_CERTAINTY = "Draw it (what more data would buy, or less would cost)"
NOTHING_TO_BE_SURE_OF = "No limit is asked for: there is nothing to be sure of."
CERTAINTY_READING = (
    "**What certainty costs if each client had more people, or fewer**, at these limits and with "
    "the rates seen here; fitted people, one run. The mark is the median client as it is."
)
AXIS_PEOPLE = "people of the median client"
AXIS_COST = "accuracy that certainty costs, points"
AS_IT_IS = "as it is"


WORTH_SAYING = 0.01  # accuracy that another region must save to be suggested


def suggested(region: str, saved: float, *, unseen: bool) -> str:
    """Another region that would save accuracy at the same limits."""
    people = text.UNSEEN if unseen else text.FITTED
    return (
        f"The region *{region}* looks at the scores: at these limits it would keep "
        f"**{format.points(saved)}** more accuracy on {people}."
    )


def take_region(region: str) -> str:
    """The button that takes the region."""
    return f"Take {region}"


def use_advice(advice: Advice) -> str:
    """The button that takes the advice."""
    return f"Use {format.epsilon(advice.eps)} with confidence"


def advice(found: Advice, points: float, guarantee: Guarantee) -> str:
    """The tightest limits within a price, in one sentence."""
    sure = f"{guarantee.confidence:.0%}".replace("%", " %")
    scope = "all limits at once" if guarantee.scope == "all" else "each limit"
    return (
        f"The tightest limit, overall and inside each client, that holds with {sure} confidence "
        f"({scope}) at no more than {points:g} points is **{format.epsilon(found.eps)}**; it "
        f"costs {format.points(found.cost)} (fitted people, mean over runs)."
    )


def was(value: float) -> str:
    """What a gap was before."""
    return f"was {format.gap(value)}"


def worst_client(name: str) -> str:
    """The worst client, named."""
    return f"{text.worst(name).capitalize()}: {plain(name, 24)}"


def changed_by_group(shares: Sequence[tuple[str, float]]) -> str:
    """How many answers change in each group."""
    return " · ".join(f"{format.percent(share)} {plain(group, 18)}" for group, share in shares)


def map_reading(*, own_limits: bool, collides: bool) -> str:
    """How to read the map."""
    alike = " Clients' own limits are not in it." if own_limits else ""
    alike += " Where it is blank, limits and floors collide in some run." if collides else ""
    return (
        "**What each pair of limits leaves of accuracy**, on the fitted people. Lighter is more "
        "accurate; inside the dotted line fairness costs nothing against no limit at all. Click a "
        "cell to go there." + alike
    )


def approximation(view: Summary, papers: Figures) -> str:
    """Two prices apart: of fairness, and of the paper's approximation; at what gaps is said."""
    ours = view.judged
    people = text.UNSEEN if view.unseen else text.FITTED
    costs = f"{view.effect.word} {format.points(ours.cost)}"
    more = "more" if ours.accuracy >= papers.accuracy else "less"
    said = (
        f"On {people} this {costs}; the paper's simplex would cost "
        f"**{format.points(ours.accuracy - papers.accuracy)} {more}**. Gaps left: "
        f"{format.gap(ours.overall)} overall and {format.gap(ours.local_mean)} in the mean "
        f"client, with the simplex {format.gap(papers.overall)} and "
        f"{format.gap(papers.local_mean)}"
    )
    if ours.local_mean > papers.local_mean + EQUAL or ours.overall > papers.overall + EQUAL:
        return said + ": not equal, so the difference is not all the price of its approximation."
    return said + ": the difference is the price of its approximation, not of fairness."


def three_numbers(summary: Summary) -> tuple[dict[str, list[str]], list[str]]:
    """Rows and headings of the table of what was asked, reached, and held."""
    columns = [each for each in (summary.reached, summary.unseen) if each is not None]
    asked = {
        "Overall gap (ε0)": format.epsilon(summary.eps_global),
        "Worst client (εc)": format.epsilon(summary.eps_local[1]),
    }
    rows = {
        "Accuracy": [format.percent(each.accuracy) for each in columns],
        "The model's own accuracy": [format.percent(each.accuracy_before) for each in columns],
        "Overall gap (ε0)": [format.gap(each.overall) for each in columns],
        "Worst client (εc)": [_worst_gap(each) for each in columns],
        "Mean client": [format.gap(each.local_mean) for each in columns],
        "Larger half, chance taken out": [format.debiased(each.debiased) for each in columns],
    }
    if not summary.policy.utility.is_accuracy:
        name = text.utility_name(summary.policy.utility)
        rows[name.capitalize()] = [f"{each.utility:.3f}" for each in columns]
        rows["The model's own"] = [f"{each.utility_before:.3f}" for each in columns]
    n = [format.count(each.n) for each in columns]
    headings = ["asked", f"reached (fitted, n = {n[0]})"]
    headings += [f"unseen (test, n = {n[1]})"] if summary.unseen else []
    return {name: [asked.get(name, ""), *cells] for name, cells in rows.items()}, headings


def _worst_gap(figures: Figures) -> str:
    return format.gap(figures.worst.gap) if figures.worst else format.gap(float("nan"))


def not_held(summary: Summary) -> str | None:
    """What is above the limit on unseen people, and why that happens; None where nothing is."""
    if summary.unseen is None:
        return text.NO_CHECK_HERE
    worst = summary.unseen.worst
    pairs = [("the overall gap", summary.unseen.overall, summary.eps_global)]
    pairs += [("the worst client's gap", worst.gap, summary.eps_local[1])] if worst else []
    above = [
        f"{what} is {format.gap(value)}, above the {format.epsilon(asked)} asked"
        for what, value, asked in pairs
        if value > asked + 0.0005
    ]
    if not above:
        return None
    return (
        f"On unseen people {' and '.join(above)}: a limit met on few people does not carry over "
        "to others, the less the smaller the client."
    )


def other_rates(rates: str) -> str:
    """Said where the program's rates are not the counted ones."""
    return (
        f"The limits hold for the program's own rates ({text.RATES[rates][0]}); counted by "
        "labels, even the fitted people may exceed them."
    )


def own_limits(view: View) -> str:
    """Which clients have a limit of their own."""
    said = ", ".join(f"{plain(name)} {format.epsilon(limit)}" for name, limit in view.own_limits)
    return f"Own limits set on the Clients page: {said}."


def option(place: int) -> str:
    """An option's letter."""
    return "ABCD"[place]


def kept(place: int, one: View, now: View, protocol: str) -> str:
    """An option in few words: what it asks, and in what else it differs from now.

    `protocol` is how its people are parted.
    """
    parts = [
        one.notion,
        one.region,
        *([text.RATES[one.rates][0]] if one.rates != now.rates else []),
        *([protocol] if one.data != now.data else []),
        *([text.certainty(one.guarantee)] if one.guarantee != now.guarantee else []),
        *([plain(text.policy(one.policy), 120)] if one.policy != now.policy else []),
        *([f"runs {', '.join(map(str, one.seeds))}"] if one.seeds != now.seeds else []),
        f"ε0 {format.epsilon(one.eps_global)}",
        f"εc {format.epsilon(one.eps_local)}",
        *(f"{plain(name, 18)} {format.epsilon(limit)}" for name, limit in one.own_limits[:3]),
        *(["…"] if len(one.own_limits) > 3 else []),
    ]
    return f"{option(place)}: {', '.join(parts)}"


def option_rows(summaries: Sequence[Summary]) -> dict[str, list[str]]:
    """What is compared between options."""
    judged = [summary.judged for summary in summaries]
    return {
        "Accuracy": [format.percent(each.accuracy) for each in judged],
        "Overall gap": [format.gap(each.overall) for each in judged],
        "Worst client": [_named_worst(each) for each in judged],
        "Mean client": [format.gap(each.local_mean) for each in judged],
    }


def _named_worst(figures: Figures) -> str:
    worst = figures.worst
    return f"{format.gap(worst.gap)} ({plain(worst.client, 24)})" if worst else "none"
