"""What the Clients page says."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fairfl_core._io import numbers as format
from fairfl_core.evaluation.assessable import FEWEST, NOT_ASSESSABLE
from fairfl_core.evaluation.harm import Effect
from fairfl_core.evaluation.impact_ratios import FOUR_FIFTHS, ImpactRatios
from fairfl_core.evaluation.summary import FREE, ClientRow, Payer
from fairfl_core.fairness.notions import NotAssessable
from fairfl_core.solving.solution import RuleShare
from pages.explore.client_results import LimitEffect
from pages.shared import text
from pages.shared.outside_text import plain

# Parts of the page, as they are named where one fails.
HEADLINE, FIGURES = "The client's headline", "The client's figures"
RATES, LOTTERY = "The client's rates", "The client's lottery"
EFFECT = "The effect on the others"
RATIOS = "The impact ratios"
RATIOS_TITLE = "**Impact ratios**, as auditors publish them: screening, not compliance"
RATIOS_ALL = "Table of all clients"
LEAVE_OUT = "Leave out groups under 2 % of all people"
RATIO_COLUMNS = ("where", "group", "people", "selected before", "selected", "impact ratio")

CLIENT = "Client"
OWN_LIMIT, OWN_LIMIT_TIP = (
    "Its own limit εc",
    "A limit for this client alone; the others keep theirs.",
)
PEOPLE_BOTH, PEOPLE = "People (fitted · unseen)", "People"
ACCURACY = "Accuracy here"
CHANCE = "Chance alone"
CHANCE_TIP = (
    "The gap a perfectly fair predictor would show on so few people; and the gap to expect in "
    "one realised draw of the lottery, luck included."
)
PRICE, PRICE_OF = "Local price", "for one more hundredth here"
PRICE_TIP = (
    "Points of accuracy, over everyone, that one more hundredth of tolerance in this client "
    "would buy. One-sided at kinks."
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
EFFECT_COLUMNS = {
    "client": "client",
    "gap": "gap with its own limit",
    "gap_without": "gap without",
    "change": "change",
    "price": "price now",
}
AXIS_RATE = "rate, %"
HOVER_BEFORE = "before %{x:.1f} %<extra></extra>"
HOVER_AFTER = "after %{x:.1f} %, n = %{customdata[0]:,.0f}<extra></extra>"


def headline(row: ClientRow, payer: Payer, judged_on: str, effect: Effect) -> str:
    """The client in one or two sentences."""
    name = plain(row.client)
    accuracy = (
        f" Accuracy {format.percent(payer.before)} with no limit → "
        f"{format.percent(row.accuracy)} (the model's own answers: "
        f"{format.percent(row.accuracy_before)}): it {effect.word} "
        f"{format.points(payer.change)}{text.but(effect)}."
    )
    if np.isnan(row.gap):
        return f"**{name}** has no two groups to compare: it has no local gap.{accuracy}"
    return (
        f"**{name}**: gap {format.gap(row.gap_before)} → **{format.gap(row.gap)}** on "
        f"{judged_on} ({text.sure(row)}); asked {format.epsilon(row.eps_local)}.{accuracy}"
    )


def allowed_inside(client: str) -> str:
    """The label of the client's own slider."""
    return f"Gap allowed inside {plain(client)}"


def people(counts: Sequence[float]) -> str:
    """How many people there are, of each kind."""
    return " · ".join(format.count(n) for n in counts)


def one_draw(gap: float) -> str:
    """The gap of one realised draw."""
    return f"one draw of the lottery: {format.gap(gap)}"


def price(points: float) -> str:
    """The local price of the client's tolerance."""
    return f"{points:.3f} points" if points >= 0.0005 else "none"


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
    told = [
        f"{plain(one.rule, 160)}: {format.hundred(one.share)} in 100"
        for one in shares
        if one.share >= 0.0005
    ]
    return f"**{plain(group)}** – {'; '.join(told)}."


def effect(of: LimitEffect, judged_on: str) -> str:
    """What one client's own limit does to everyone."""
    others = f"{of.others} other client{'s' if of.others != 1 else ''}"
    return (
        f"**What its own limit does to everyone**: accuracy {format.signed_points(of.accuracy, 3)}, "
        f"overall gap {of.overall:+.4f}; {others} change{'s' if of.others == 1 else ''} by more "
        f"than {FREE:g} (on {judged_on})."
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
        "overall" if row["client"] is None else plain(row["client"], 24),
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
    said = (
        f"The favourable answer, on {text.UNSEEN if unseen else text.FITTED}, mean over runs; 95 % "
        "limits in brackets. A ratio is a group's rate by the highest one; ▼ is below four fifths."
    )
    if ratios.left_out:
        names = ", ".join(plain(name, 30) for name in ratios.left_out)
        said += f" Left out, as under 2 % of all people: {names}."
    if not all(one.assessable.all() for one in ratios.comparisons):
        said += f" A crossed group of fewer than {FEWEST} people is {NOT_ASSESSABLE}."
    if len(ratios.comparisons) > 1:
        said += " Each column of the crossing is compared on its own as well."
    return said
