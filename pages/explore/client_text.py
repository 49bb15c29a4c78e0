"""What a client's panel says, and what is said of every rate."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fairfl_core._io import numbers as format
from fairfl_core._io.names import plain
from fairfl_core.evaluation.all_rates import FOUR_FIFTHS, ImpactRatios
from fairfl_core.evaluation.before_after import FEWEST, NOT_ASSESSABLE
from fairfl_core.evaluation.harm import ClientHarm, Effect
from fairfl_core.evaluation.study import ClientRow, Payer, Summary
from fairfl_core.fairness.notions import NotAssessable
from fairfl_core.lp.solution import RuleShare
from pages.explore.client_results import LimitEffect
from pages.shared import text

# Parts of the panel, as they are named where one fails.
RATES, LOTTERY = "The client's rates", "The client's rule"
EFFECT = "The effect on the others"
EVERY_RATE, RATIOS = "Every rate", "Impact ratios"
EVERYBODY = "overall"
LEAVE_OUT = "Leave out groups under 2 % of all people"
EVERY_RATE_COLUMNS = {
    "client": "where",
    "label": "label",
    "rate": "rate",
    "group": "group",
    "n_before": "people, before",
    "before": "before",
    "before_low": "before, 95 % from",
    "before_high": "before, 95 % to",
    "n": "people",
    "after": "after",
    "after_low": "after, 95 % from",
    "after_high": "after, 95 % to",
    "assessable": "assessable",
}
RATIO_COLUMNS = ("where", "group", "people", "selected before", "selected", "impact ratio")

OWN_LIMIT, OWN_LIMIT_TIP = (
    "Its own limit εc",
    "A limit for this client alone; the others keep theirs.",
)
RATE_COLUMNS = {
    "rate_of": "rate",
    "group": "group",
    "n": "people",
    "rate_before": "before",
    "rate": "after",
    "rate_low": "95 % from",
    "rate_high": "95 % to",
}
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


def allowed_inside(client: str) -> str:
    """The label of the client's own slider."""
    return f"Gap allowed inside {plain(client)}"


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


def lottery_title(seed: int, *, runs: int) -> str:
    """Whose lottery it is."""
    return "**Its lottery, in words**" + (f" (run {seed})" if runs > 1 else "")


def lottery(group: str, shares: Sequence[RuleShare]) -> str:
    """A cell's lottery: what it does, and in how many of a hundred cases."""
    shown = [
        f"{plain(one.rule, 160)}: {format.hundred(one.share)} in 100"
        for one in shares
        if one.share >= 0.0005
    ]
    return f"**{plain(group)}** – {'; '.join(shown)}."


def effect(of: LimitEffect, summary: Summary, noun: str) -> str:
    """What one client's own limit does to everyone."""
    gap = format.round_gap(abs(of.overall))
    overall = format.NO_CHANGE if gap == "0" else f"{'−' if of.overall < 0 else '+'}{gap}"
    others = format.plural(of.others, f"other {noun}")
    return (
        f"**What its own limit does to everyone**, on {text.judged_on(summary)}: accuracy "
        f"{format.round_signed_points(of.accuracy)}, overall gap {overall}; another gap in "
        f"{others}."
    )


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


def why_not_all(words: str) -> str:
    """Why not all rates can be equal, in the core's words."""
    return plain(words, 1200)
