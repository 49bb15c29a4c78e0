"""What the Explore page says."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from fairfl_core._io import numbers as format
from fairfl_core.evaluation.advice import Advice
from fairfl_core.evaluation.alarms import Alarm
from fairfl_core.evaluation.gap_decomposition import ClosedGap
from fairfl_core.evaluation.harm import Harm
from fairfl_core.evaluation.summary import Figures, Summary
from fairfl_core.evaluation.verdict import HARMFUL, MET, NOT_MET, NOT_SURE
from fairfl_core.lp.guarantee import Guarantee
from fairfl_core.lp.policy import Policy
from pages.shared import text
from pages.shared.outside_text import plain
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
LESSON = "New here? Learn"
KEEP, KEEP_TIP = "Keep for Compare", "Up to four settings, compared on the page Compare."
TAKE_ALONG = "Take along"
PLAY, STOP = "▶", "■"
PLAY_TIP = "Watch the limit tighten, from none to zero"
PLAYING = "Solving twelve limits"
PICTURES = {"gaps": "Gaps", "map": "Map", "found": "Found", "price": "Price"}
PICTURE, LABEL = "Picture", "Label"
DRAW_MAP = "Draw the map: 36 pairs of limits, one run"
DRAW_MAP_TIP = "Here each pair takes a while to solve."
COARSE = "coarse: one run"
NO_LIMIT, INSIDE_ALONE, NOW = "no limit", "in each alone", "now"
FITTED = "people it was set on"
FLAT = "flat: fairness is nearly free"
SCREENS = ("map", "gaps", "found", "compare")
WORST_OF_MANY = "the {drawn} widest of {many:,}"
MOST_LOST = "{drawn} of {many:,} where most lose it"

_COLOURS = {MET: "green", NOT_SURE: "orange", NOT_MET: "red", HARMFUL: "red"}


class Number(NamedTuple):
    """One of the four numbers: its name, before, after, a note below, and what a hover tells."""

    label: str
    was: str
    now: str
    note: str
    tone: str
    tip: str


# -------------------------------------------------------------------- chips


def verdict_chip(summary: Summary) -> str:
    """The verdict's shape and word in its colour, as Markdown."""
    verdict = summary.verdict
    if verdict is None:
        return ":gray-badge[no limit asked]"
    return f":{_COLOURS[verdict.word]}-badge[{verdict.shape} {verdict.word}]"


def harm_chip(harm: Harm) -> str:
    """How many groups of clients lose (or of everyone, where no client's do), as Markdown."""
    sure = _where(harm.proved)
    maybe = _where(harm.alarms) - sure
    if sure:
        return f":red-badge[▼ {_groups(len(sure))} {'loses' if len(sure) == 1 else 'lose'}]"
    if maybe:
        return f":orange-badge[▽ {_groups(len(maybe))} may lose]"
    return ":gray-badge[no group loses]"


def _where(alarms: Sequence[Alarm]) -> set[tuple[str | None, str]]:
    """Clients and groups; everyone together is counted only where no client is."""
    found = {(one.client, one.group) for one in alarms}
    return {(client, group) for client, group in found if client is not None} or found


def _groups(n: int) -> str:
    return format.plural(n, "group")


def verdict_why(summary: Summary) -> str:
    """The verdict's reason; names in it are only text."""
    if summary.verdict is None:
        return "No limit is asked: there is nothing to be met."
    return plain(" ".join([summary.verdict.why, *summary.remarks]), 1200)


def harm_lines(harm: Harm, most: int = 6) -> str:
    """Who loses, those beyond chance first, one line each."""
    if not harm.alarms:
        return "Nobody is recognised less often by more than 5 points, or half as often."
    shown = sorted(harm.alarms, key=lambda one: not one.beyond_chance)[:most]
    lines = "\n".join(f"- {_alarm(one)}" for one in shown)
    return f"{lines}\n\n{plain(harm.counted(), 300)}"


def _alarm(alarm: Alarm) -> str:
    return plain(alarm.sentence(), 400)


# -------------------------------------------------------------------- numbers and sentence


def people(summary: Summary) -> str:
    """Who is judged."""
    return "new people" if summary.unseen else "the people the rule was set on"


def numbers(summary: Summary, noun: str) -> list[Number]:
    """The four numbers, before and after."""
    judged, worst = summary.judged, summary.judged.worst
    on = f"on {format.count(judged.n)} {people(summary)}"
    cost = format.round_signed_points(-judged.cost)
    accuracy = Number(
        "Accuracy",
        *_before_after(judged.accuracy_before, judged.accuracy, format.round_percent, cost),
        tone="bad" if judged.cost >= 5e-4 else "",
        tip=f"{on}; on those the rule was set on {format.round_percent(summary.reached.accuracy)}",
    )
    overall = Number(
        "Gap overall",
        *_before_after(
            judged.overall_before, judged.overall, format.round_gap, _asked(summary.eps_global)
        ),
        tone="",
        tip=f"{format.round_gaps(judged.overall_low, judged.overall_high)}, {on}",
    )
    by_group = [f"{group} {format.round_percent(of)}" for group, of in summary.changed_by_group]
    changed = Number(
        "Answers changed",
        "",
        format.round_percent(summary.changed),
        note=" · ".join(by_group) if len(by_group) == 2 else "",
        tone="",
        tip=f"{on}: {', '.join(by_group)}",
    )
    if worst is None:
        inside = Number(f"Worst {noun}", "", format.UNKNOWN, "nobody to compare", "", "")
    else:
        asked = _asked(summary.eps_local[0])
        doubt = f"{asked} · may be chance" if worst.within_noise else asked
        inside = Number(
            f"Worst: {worst.client}",
            *_before_after(worst.gap_before, worst.gap, format.round_gap, doubt),
            tone="",
            tip=f"{worst.client}: {format.round_gaps(worst.gap_low, worst.gap_high)}, on "
            f"{format.count(worst.n)} people{_of(worst.worst_of)}",
        )
    return [accuracy, overall, inside, changed]


def _before_after(
    before: float, after: float, write: Callable[[float], str], note: str
) -> tuple[str, str, str]:
    """Before, after and the note below; what reads alike is written once, and said."""
    was, now = write(before), write(after)
    if was != now:
        return was.removesuffix(" %"), now, note
    said = note.split(" · ")[0]  # what was asked; that it may be chance matters less
    return "", now, said if said == format.NO_CHANGE else f"{format.NO_CHANGE} · {said}"


def _of(several: int) -> str:
    return f"; the worst of {several:,}, and the interval allows for that" if several > 1 else ""


def _asked(limit: float) -> str:
    return "no limit" if limit >= 1 else f"asked {limit:g}"


def sentence(summary: Summary, noun: str) -> str:
    """What was asked, then what was reached, then what it costs; names as they are."""
    judged, worst = summary.judged, summary.judged.worst
    on = f"on {people(summary)}"
    inside, overall = summary.eps_local[0] < 1, summary.eps_global < 1
    where = f"{format.round_gap(worst.gap)} ({worst.client})" if worst else "nobody to compare"
    if not inside and not overall:
        return f"No limit asked: {on} the widest gap is {where}."
    asked, reached = [], []
    if inside:
        asked.append(f"{_inside(summary.eps_local)} in every {noun}")
        reached.append(where)
    if overall:
        asked.append(f"{summary.eps_global:g} overall")
        reached.append(f"{format.round_gap(judged.overall)}{' overall' if inside else ''}")
    sure = "" if summary.verdict is None else _confidence(summary.verdict.guarantee)
    return (
        f"Asked {' and '.join(asked)}{sure}; {on} {' and '.join(reached)}. "
        f"{_cost(judged)}{_more(summary.policy)}"
    )


def _inside(limits: tuple[float, float]) -> str:
    low, high = limits
    return f"{low:g}" if low == high else f"{low:g} to {format.epsilon(high)}"


def _confidence(guarantee: Guarantee | None) -> str:
    if guarantee is None:
        return ""
    return f", with {guarantee.confidence:.0%} confidence".replace("%", " %")


def _cost(judged: Figures) -> str:
    told = format.round_signed_points(-judged.cost)
    if told == format.NO_CHANGE:
        return "Accuracy stays as it was."
    return f"{'Costs' if judged.cost > 0 else 'Gains'} {format.round_points(judged.cost)}."


def _more(policy: Policy) -> str:
    return "" if policy.is_plain else f" Also asked: {text.policy(policy)}."


# -------------------------------------------------------------------- pictures


def map_note(*, coarse: bool, flat: bool, own_limits: bool, collides: bool) -> str:
    """Whose accuracy the map shows, and what else must be said of it."""
    said = [COARSE if coarse else "", FLAT if flat else "", FITTED]
    said += ["without own limits" if own_limits else ""]
    said += ["blank: floors collide" if collides else ""]
    return " · ".join(filter(None, said))


def map_spoken(noun: str, costs: tuple[float, float]) -> str:
    """The map in a sentence."""
    inside, overall = (format.round_signed_points(cost / 100) for cost in costs)
    return (
        f"Accuracy for every pair of limits. Alone, the limit in each {noun}: {inside}; the "
        f"overall limit: {overall}."
    )


def alone(noun: str, costs: tuple[float, float]) -> list[tuple[str, float]]:
    """What each kind of fairness costs by itself."""
    inside, overall = (round(cost, 2) + 0.0 for cost in costs)  # no negative zero
    return [(f"in each {noun}", inside), ("overall", overall)]


def gap_axis(groups: Sequence[str]) -> str:
    """The axis of gaps."""
    if len(groups) == 2:
        return f"gap between {groups[0]} and {groups[1]}"
    return f"widest gap between {len(groups)} groups"


def clients_note(picture: str, drawn: int, clients: int) -> str:
    """Said above the clients' picture where not all are drawn."""
    if drawn >= clients:
        return ""
    return (MOST_LOST if picture == "found" else WORST_OF_MANY).format(drawn=drawn, many=clients)


def clients_spoken(picture: str, noun: str, label: str) -> str:
    """The clients' picture in a sentence."""
    return {
        "gaps": f"The gap of each {noun} before and after, with what was asked.",
        "map": f"The gap of each {noun} after, on a map.",
        "found": f"How many “{label}” are found in each {noun}, before and after.",
        "price": f"Points of accuracy that each {noun} gains or loses.",
    }[picture]


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
        name = text.utility_name(summary.policy.utility)
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
    said = ", ".join(f"{plain(name)} {format.epsilon(limit)}" for name, limit in view.own_limits)
    return f"Own limits: {said}."


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
    said = ", ".join(
        f"{CERTAINTIES[name]} {'collides' if cost != cost else format.round_points(cost)}"
        for name, cost in costs.items()
    )
    return f"Against “as set”, on the people the rule was set on, one run: {said}."


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
