"""What the Explore screen says, on the page and in the file that is taken along.

Names in it are as they are: whoever shows it makes them safe.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from fairfl_core._io import numbers as format
from fairfl_core.evaluation.harm import groups_of
from fairfl_core.evaluation.study import Summary
from fairfl_core.evaluation.verdict import HARMFUL, MET, NOT_MET, NOT_SURE
from fairfl_core.report.text import policy as policy_text

__all__ = [
    "Chip",
    "Number",
    "PICTURES",
    "alone",
    "clients_note",
    "clients_spoken",
    "gap_axis",
    "harm_chip",
    "harm_lines",
    "map_note",
    "map_spoken",
    "model_numbers",
    "numbers",
    "people",
    "sentence",
    "verdict_chip",
    "verdict_why",
]

PICTURES = {"gaps": "Gaps", "map": "Map", "found": "Found", "price": "Price"}
COARSE, ONE_RUN = "coarse: one run", "one run"
FITTED = "people it was set on"
FLAT = "flat: fairness is nearly free"
WORST_OF_MANY = "the {drawn} widest of {many:,}"
MOST_LOST = "worst {drawn} of {many:,}"

_COLOURS = {MET: "green", NOT_SURE: "orange", NOT_MET: "red", HARMFUL: "red"}


class Chip(NamedTuple):
    """A word in a colour: green, orange, red or gray."""

    colour: str
    text: str


class Number(NamedTuple):
    """One of the four numbers: its name, before, after, a note below, and what a hover tells."""

    label: str
    was: str
    now: str
    note: str
    tone: str
    tip: str


# -------------------------------------------------------------------- chips


def verdict_chip(summary: Summary) -> Chip:
    """The verdict's shape and word in its colour."""
    verdict = summary.verdict
    if verdict is None:
        return Chip("gray", "no limit asked")
    return Chip(_COLOURS[verdict.word], f"{verdict.shape} {verdict.word}")


def harm_chip(summary: Summary) -> Chip:
    """How many groups of clients lose (or of everyone, where no client's do)."""
    harm = summary.harm
    if summary.verdict is None:
        return Chip("gray", "losses not judged")
    sure = groups_of(harm.proved)
    maybe = groups_of(harm.alarms) - sure
    if sure:
        return Chip("red", f"▼ {_groups(len(sure))} {'loses' if len(sure) == 1 else 'lose'}")
    if maybe:
        return Chip("orange", f"▽ {_groups(len(maybe))} may lose")
    return Chip("gray", "no group loses")


def _groups(n: int) -> str:
    return format.plural(n, "group")


def verdict_why(summary: Summary) -> str:
    """The verdict's reason."""
    if summary.verdict is None:
        return "No limit is asked: there is nothing to be met."
    return " ".join([summary.verdict.why, *summary.remarks])


def harm_lines(summary: Summary, most: int = 6) -> list[str]:
    """Who loses, those beyond chance first, a sentence each; then how many there are."""
    harm = summary.harm
    if summary.verdict is None:
        return ["No limit is asked, so nobody's loss is judged."]
    if not harm.alarms:
        return ["Nobody is recognised less often by more than 5 points, or half as often."]
    shown = sorted(harm.alarms, key=lambda one: not one.beyond_chance)[:most]
    return [*(one.sentence() for one in shown), harm.counted()]


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
        *_before_after(judged.before.accuracy, judged.accuracy, format.round_percent, cost),
        tone="bad" if judged.cost >= 5e-4 else "",
        tip=f"{on}; on those the rule was set on {format.round_percent(summary.reached.accuracy)}",
    )
    overall = Number(
        "Gap overall",
        *_before_after(judged.before.overall, judged.overall, format.round_gap, ""),
        tone="",
        tip=f"{format.round_gaps(*judged.overall_interval)}, {on}",
    )
    by_group = [f"{group} {format.round_percent(of)}" for group, of in summary.changed_by_group]
    changed = Number(
        "Answers changed",
        "",
        format.round_percent(summary.changed),
        note="",
        tone="",
        tip=f"{on}: {', '.join(by_group)}",
    )
    if worst is None:
        inside = Number(f"Worst {noun}", "", format.UNKNOWN, "nobody to compare", "", "")
    else:
        doubt = "may be chance" if worst.within_noise else ""
        limits = summary.verdict.limits if summary.verdict else ()
        behind = next((one.behind for one in limits if one.client == worst.client), None)
        inside = Number(
            f"Worst {noun}",
            *_before_after(worst.gap_before, worst.gap, format.round_gap, doubt),
            tone="",
            tip=f"{worst.client}: {format.round_gaps(worst.gap_low, worst.gap_high)}, on "
            f"{format.count(worst.n)} people{_of(worst.worst_of)}"
            + ("" if behind is None else f"; behind the gap: {behind}"),
        )
    return [accuracy, overall, inside, changed]


def model_numbers(summary: Summary) -> list[str]:
    """The four numbers of the model as it is."""
    judged, before = summary.judged, summary.judged.before
    gaps = judged.study.client_mean(lambda e: e.before.gaps.local, unseen=judged.is_unseen)
    worst = format.UNKNOWN if np.isnan(gaps).all() else format.round_gap(np.nanmax(gaps))
    accuracy, overall = format.round_percent(before.accuracy), format.round_gap(before.overall)
    return [accuracy, overall, worst, format.round_percent(0.0)]


def _before_after(
    before: float, after: float, write: Callable[[float], str], note: str
) -> tuple[str, str, str]:
    """Before, after and the note below; what reads alike is written once."""
    was, now = write(before), write(after)
    if was != now:
        return was.removesuffix(" %"), now, note
    return "", now, format.NO_CHANGE


def _of(several: int) -> str:
    return f"; the worst of {several:,}, and the interval allows for that" if several > 1 else ""


def sentence(summary: Summary) -> str:
    """What was asked, then what was reached; names as they are."""
    judged, worst = summary.judged, summary.judged.worst
    inside, overall = summary.eps_local[0] < 1, summary.eps_global < 1
    where = f"{format.round_gap(worst.gap)} ({worst.client})" if worst else "nobody to compare"
    if not inside and not overall:
        return f"No limit asked: on {people(summary)} the widest gap is {where}."
    asked, reached = [], []
    if inside:
        low, high = summary.eps_local
        limit = f"{low:g}" if low == high else f"{low:g} to {format.epsilon(high)}"
        asked.append(f"{limit} in each")
        reached.append(where)
    if overall:
        asked.append(f"{summary.eps_global:g} overall")
        reached.append(f"{format.round_gap(judged.overall)}{' overall' if inside else ''}")
    guarantee = None if summary.verdict is None else summary.verdict.guarantee
    sure = "" if guarantee is None else f", with {100 * guarantee.confidence:.0f} % confidence"
    more = "" if summary.policy.is_plain else f" Also asked: {policy_text(summary.policy)}."
    return f"Asked {', '.join(asked)}{sure}; {people(summary)}: {', '.join(reached)}.{more}"


# -------------------------------------------------------------------- pictures


def map_note(
    *, coarse: bool, flat: bool, own_limits: bool, collides: bool, one_run: bool = False
) -> str:
    """Whose accuracy the map shows, and what else must be written of it."""
    runs = COARSE if coarse else ONE_RUN if one_run else ""
    notes = [runs, FLAT if flat else "", FITTED]
    notes += ["without own limits" if own_limits else ""]
    notes += ["blank: floors collide" if collides else ""]
    return " · ".join(filter(None, notes))


def map_spoken(noun: str, costs: tuple[float, float]) -> str:
    """The map in a sentence."""
    inside, overall = (
        "cannot be kept" if np.isnan(cost) else format.round_signed_points(cost / 100)
        for cost in costs
    )
    return (
        f"Accuracy for every pair of limits. Alone, the limit in each {noun}: {inside}; the "
        f"overall limit: {overall}."
    )


def alone(noun: str, costs: tuple[float, float]) -> list[tuple[str, float | None]]:
    """What each kind of fairness costs by itself; None where it collides with floors."""
    inside, overall = (  # no negative zero
        None if np.isnan(cost) else round(cost, 2) + 0.0 for cost in costs
    )
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
