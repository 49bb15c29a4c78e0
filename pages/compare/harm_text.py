"""What is said of those who are worse off, and of rates that nobody asked about."""

from collections.abc import Sequence
from typing import Any

from fairfl_core._io import numbers as format
from fairfl_core.evaluation.all_rates import BREAKS, MENDS, UNCHANGED, UNTOLD, NotionGap
from fairfl_core.evaluation.assessable import FEWEST, NOT_ASSESSABLE
from fairfl_core.evaluation.closed_gaps import ClosedGap
from fairfl_core.evaluation.harm import ClientHarm, Harm
from pages.shared import text
from pages.shared.outside_text import plain

# Parts of a page, as they are named where one fails.
ALARMS, RECOGNITION, RATES = "Who is worse off", "Recognition before and after", "Every rate"

OVERALL = "overall"
EVERY_ALARM = "Everyone who is recognised less often"
LABEL = "Label"
LABEL_TIP = "Of whom the picture is: people who truly have this label."
_MOST = 3  # clients told in the first lines of a page
_LONG = 1200  # letters of a sentence that may hold several names

ALARM_COLUMNS = {
    "where": "where",
    "group": "group",
    "label": "label",
    "before": "recognised before",
    "after": "after",
    "low": "95 % from",
    "high": "95 % to",
    "n": "people",
    "beyond_chance": "beyond chance",
}
RECOGNITION_COLUMNS = {
    "client": "where",
    "group": "group",
    "label": "label",
    "n": "people",
    "before": "recognised before",
    "before_low": "before, 95 % from",
    "before_high": "before, 95 % to",
    "after": "after",
    "after_low": "after, 95 % from",
    "after_high": "after, 95 % to",
    "change": "change",
    "p_value": "p, sign test",
    "beyond_chance": "beyond chance",
    "alarm": "alarm",
}
RATE_COLUMNS = {
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
NOTION_HEADER = ("notion", "gap before (95 %)", "gap after (95 %)", "this setting")
NOTION_WORDS = {
    MENDS: "mends it",
    BREAKS: "breaks it",
    UNCHANGED: "leaves it",
    UNTOLD: "too few people to tell",
}
NOTIONS_PLAIN = "What this does to every notion, asked for or not:"
NOTIONS = "**What this does to every notion**, asked for or not"


# -------------------------------------------------------------------- alarms


def alarm_title(harm: Harm) -> str:
    """The alarm's shape and words."""
    return f"{'▼' if harm.beyond_chance else '▽'} {harm.title.upper()}"


def client_title(own: ClientHarm) -> str:
    """The alarm of one client: its shape and words."""
    title = "SOMEONE IS WORSE OFF HERE" if own.beyond_chance else "SOMEONE MAY BE WORSE OFF HERE"
    return f"{'▼' if own.beyond_chance else '▽'} {title}"


def alarm_lines(harm: Harm) -> list[str]:
    """The clients that are worst off, one line each, with the label that tells most of it."""
    places = list(harm.by_client.values())[:_MOST]
    return [client_line(own, 1, rest=False) for own in places]


def client_line(own: ClientHarm, most: int, *, rest: bool = True) -> str:
    """What happens to labels in one client."""
    where = OVERALL.capitalize() if own.client is None else own.client
    return f"**{plain(where)}**: {plain(own.told(most, rest=rest), _LONG)}"


def alarm_rest(harm: Harm) -> str:
    """How many alarms there are in all, and in which other clients."""
    others = [OVERALL if client is None else client for client in list(harm.by_client)[_MOST:]]
    more = ""
    if others:
        named = ", ".join(plain(name) for name in others[:6])
        more = f" Also {named}{' …' if len(others) > 6 else '.'}"
    return plain(harm.counted(), _LONG) + more


def elsewhere(harm: Harm, client: str) -> str | None:
    """In which other clients someone is worse off; None where nowhere."""
    others = [name for name in harm.clients if name != client]
    if not others:
        return None
    named = ", ".join(plain(name) for name in others[:6])
    return f"{harm.title} in other clients: {named}{' …' if len(others) > 6 else '.'}"


# -------------------------------------------------------------------- recognition


def recognition_reading(label: str, *, unseen: bool, runs: int) -> str:
    """How to read the picture of recognition."""
    return (
        f"**How often “{plain(label)}” is recognised, before and after**, on "
        f"{text.UNSEEN if unseen else text.FITTED}{', mean over runs' if runs > 1 else ''}. Ring: "
        "the model's own. A filled triangle to the right: recognised more; an empty one to the "
        "left, with a bar: recognised less. Thin lines are 95 % intervals; ▼ marks an alarm."
    )


def closed_lines(closed: Sequence[ClosedGap], most: int = 4) -> list[str]:
    """How gaps were closed, one line each, overall first."""
    return [plain(gap.sentence(), _LONG) for gap in closed[:most]]


NOTHING_CLOSED = "No gap of this label was closed."
CLOSED_PLAIN = "How gaps were closed, overall and the largest in clients:"
MOST_CLOSED = 12  # sentences of a file
CLOSED = "**How gaps were closed**: by recognising more of the one group, or fewer of the other"


def where(client: str | None) -> str:
    """A client's name in a table; everyone together has one, too."""
    return OVERALL if client is None else client


AXIS_RECOGNISED = "recognised, %"
BEFORE = "before (model's own)"
MORE, LESS, SAME = "recognised more", "recognised less", "as before"
HOVER = (
    "%{customdata[0]}, %{customdata[1]}: %{customdata[2]:.1f} % → %{x:.1f} % "
    "(n = %{customdata[3]:,.0f})<extra></extra>"
)
HOVER_BEFORE = "before %{x:.1f} %<extra></extra>"


# -------------------------------------------------------------------- every rate


def rates_reading(label: str, client: str | None, *, unseen: bool) -> str:
    """How to read the picture of every rate."""
    of = f"“{plain(label)}”"
    place = OVERALL if client is None else f"in {plain(client)}"
    return (
        f"**Every rate of {of} {place}**, on {text.UNSEEN if unseen else text.FITTED}. Selection "
        f"rate: answered {of}; true and false positives: so answered among those who have it and "
        "who have not; precision: right among those so answered."
    )


def not_assessable(groups: Sequence[str]) -> str:
    """Said of crossed groups with too few people to be judged."""
    names = ", ".join(plain(name, 40) for name in groups)
    return f"{NOT_ASSESSABLE.capitalize()}, with fewer than {FEWEST} people here: {names}."


def rate_cells(row: Any) -> tuple[str, ...]:
    """A rate's row in files: before and after with limits, each with its people."""
    sides = (("before", row.n_before), ("after", row.n))
    told = [
        limits(*(getattr(row, f"{side}{end}") for end in ("", "_low", "_high")))
        if row.assessable
        else NOT_ASSESSABLE
        for side, _ in sides
    ]
    people = [f"{n:,.0f}" for _, n in sides]
    return (row.rate, row.label or "", row.group, told[0], people[0], told[1], people[1])


def notion_cells(one: NotionGap) -> tuple[str, ...]:
    """A notion's row: its gap before and after with limits, and what becomes of it."""
    return (
        text.notion_title(one.notion),
        f"{format.gap(one.before)} ({format.gaps(*one.before_limits)})",
        f"{format.gap(one.after)} ({format.gaps(*one.limits)})",
        NOTION_WORDS[one.word],
    )


def why_not_all(sentence: str) -> str:
    """Why not all rates can be equal, in the core's words."""
    return plain(sentence, _LONG)


# -------------------------------------------------------------------- report and card

WHO_IS_WORSE_OFF = "Who is worse off"
RECOGNISED = "How often each label is recognised, before and after"
EVERY_RATE = "Every rate, overall"
NOBODY_WORSE = (
    "No label is recognised less often by more than 5 points, or less than half as often as the "
    "model alone does it, in any group of any client; and no lottery hardly looks at the model."
)
RECOGNITION_HEADER = ("where", "group", "label", "n", "before (95 %)", "after (95 %)", "alarm")
RATE_HEADER = ("rate", "label", "group", "before (95 %)", "n", "after (95 %)", "n")


def recognition_of(shown: int, rows: int) -> str:
    """Said where not every row is listed."""
    return f"Alarms first: {shown:,} of {rows:,} rows."


def alarm_cell(*, alarm: bool, beyond_chance: bool) -> str:
    """An alarm in a table, and whether chance is ruled out."""
    if not alarm:
        return ""
    return "▼ beyond chance" if beyond_chance else "▽ too few people"


def limits(share: float, low: float, high: float) -> str:
    """A share with its limits."""
    if share != share:
        return "nobody"
    return f"{format.percent(share)} ({format.percent(low)} to {format.percent(high)})"


def alarm_sentences(harm: Harm) -> list[str]:
    """The alarms of a file: its words, the worst clients, and how many there are in all."""
    if not harm.alarms:
        return [NOBODY_WORSE]
    worst = [own.sentence() for own in list(harm.by_client.values())[:_MOST]]
    return [f"{alarm_title(harm)}. {worst[0]}", *worst[1:], harm.counted()]
