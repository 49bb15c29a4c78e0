"""Sentences that several pages say. They choose words for numbers they are given.

A language is added by adding files like this one: no sentence of a page stands anywhere else.
"""

from collections.abc import Sequence

import numpy as np

from fairfl_core._io import numbers as format
from fairfl_core._io.names import plain
from fairfl_core.data.datasets import DATASETS
from fairfl_core.data.experiments import Experiment
from fairfl_core.evaluation.all_rates import NotionGap
from fairfl_core.evaluation.study import ClientRow, Effect, Price, Summary, effect_of
from fairfl_core.explore import text as core
from fairfl_core.fairness.notions import Rate, notion_kind
from fairfl_core.lp.frontier import FREE
from fairfl_core.lp.regions import region_kind
from fairfl_core.report import model_card as card_text
from fairfl_core.report import text as asked_text
from pages.shared.view import Ignored

# -------------------------------------------------------------------- names of things

NO_CHECK, FITTED, RATE_KINDS = card_text.NO_CHECK, card_text.FITTED, card_text.RATE_KINDS
NO_CHECK_HERE = "No check on new people is possible: this set has none."
UNSEEN = "new people"
_COLUMNS = {
    "n": "people",
    "gap_one_draw": "gap in one draw",
    "noise_floor": "chance alone",
    "gap_reached": "gap reached (fitted)",
    "gap_median": "median true gap",
    "gap_global": "gap, overall",
    "gap_local_mean": "gap, mean client",
    "gap_local_worst": "gap, worst client",
    "gap_local_debiased": "gap inside clients, chance taken out",
    "eps_local": "gap asked",
    "epsilon": "gap asked",
    "fails": "fails, share of draws",
    "price": "price of a hundredth, points",
    "seeds": "runs",
    "fitted": "made fair on (n)",
    "unseen": "new people (n)",
    "bytes_per_client": "KB a client sends and receives",
}
_ENDS = {
    "_before": ", before",
    "_low": ", 95 % from",
    "_high": ", 95 % to",
    "_sd": ", sd over runs",
}


def heading(column: str) -> str:
    """What a column of a table is called where people read it; one that is words stays."""
    if not column.isidentifier():
        return column
    for end, words in _ENDS.items():
        if column.endswith(end):
            return heading(column.removesuffix(end)) + words
    return _COLUMNS.get(column, column.replace("_", " "))


# -------------------------------------------------------------------- the frame of every page

EXPERIMENT, NOTION, REGION, RATES, SEEDS = (
    "Experiment",
    "Fairness notion",
    "Region",
    "Rates",
    "Seed",
)
REGION_TIP = "What the lottery may mix. On the fitted people a larger region is never worse."
RATES_TIP = (
    "Where the program takes its rates from. What was reached and what held on unseen people is "
    "always counted by labels."
)
SEEDS_TIP = "Each run splits the people anew, trains anew and is solved on its own."
SETTINGS, COPY_LINK = "Settings", "Copy link"
COPY_TIP = "Opens exactly this, for whoever can reach this server."
LARGE_TYPE, LARGE_TYPE_TIP = "Large type", "For a lecture hall."
NOTION_TIP = "What is called fair: which of the groups' rates are to be alike."
PRESENT, PRESENT_TIP = (
    "Present",
    "For a lecture hall: one idea a screen, next and back by arrow keys.",
)
BACKWARD, ONWARD, SCAN, LEAVE = "◀", "▶", "Scan", "✕"
BACKWARD_TIP, ONWARD_TIP = "Back (← or Page Up)", "Next (→ or Page Down)"
SCAN_TIP = "Opens this very setting on your own screen."
SCAN_ALT = "A code to scan: the link to this setting"
NOT_REACHABLE = (
    "This server is reached from this machine only, so there is nothing to scan. Start it so that "
    "others reach it (see Deployment in the README)."
)
NOTHING_TO_SCAN = "Your data lives in this session only: no link leads others to it."
SIGN_IN, SIGN_OUT = "Sign in", "Sign out"
SIGN_IN_FIRST = "#### Sign in to use this server\nWhoever runs it asks for that. Nothing you do here is kept with your name."
CANNOT_SIGN_IN = "Signing in is not set up as it must be; the server's log says what is missing."
THE_PAPERS, RECOMMENDED = " (the paper's)", " (recommended)"
OVERALL, INSIDE = "Gap allowed overall, ε₀", "In each {}, εc"  # beside each other
INSIDE_ALONE = "Gap allowed in each {}, εc"


def signed_in(who: str) -> str:
    """Whose session this is."""
    return f"Signed in as {who}." if who else "Signed in."


DATA_GONE = (
    "Your data is gone: upload it again. It lived in the session that the page was opened in, and "
    "that has ended (a reload ends it); nothing of it was kept. The limits of the link are set."
)
BRING_AGAIN = "Upload it again on the page Your data"
SHOW_ANOTHER = "Show a bundled experiment instead"
SPLIT, SPLIT_TIP = (
    "Split",
    "How people are parted into those the lottery is fitted on and those it is tested on.",
)
SCREEN = "{0} of {1}: {2}"


def split_meaning(experiment: Experiment) -> str:
    """What the split is, in one line."""
    if experiment.folds > 1:
        return (
            f"{experiment.folds} models, each trained without one fold: everybody but the test "
            "people is scored by a model that never saw them, and the lottery is fitted on all "
            "of them. A person is then answered by one of the models, drawn for good."
        )
    return "60 % train one model, 20 % fit the lottery, 20 % are unseen, inside each client."


def about(experiment: Experiment) -> str:
    """Whose people these are, and under which terms they may be used.

    By their whole name: the box above has one line for it.
    """
    dataset = experiment.manifest["dataset"]
    return f"**{plain(experiment.manifest['title'], longest=120)}**: " + plain(
        f"{rows_of(experiment)}, in {len(experiment.clients)} clients; "
        f"{dataset['sample']}. Terms of the data: {dataset['licence']}. "
        f"Groups: {', '.join(experiment.groups)}.",
        longest=360,
    )


def rows_of(experiment: Experiment) -> str:
    """How many rows there are, and what a row is: people, unless the dataset says otherwise."""
    dataset = experiment.manifest["dataset"]
    declared = DATASETS.get(dataset.get("dataset", ""))
    what = "people" if declared is None else declared.rows_are
    return f"{format.count(dataset['rows_used'])} {what}"


def runs(seeds: Sequence[int], every: Sequence[int]) -> str:
    """Which of the runs are shown."""
    if len(every) == 1:
        return "the only run"
    return f"all {len(every)} runs (mean)" if len(seeds) == len(every) else f"run {seeds[0]}"


# -------------------------------------------------------------------- pieces of a page

TABLE, DOWNLOAD_CSV = "Table", "Download as CSV"
MAP_TITLE = "Accuracy by pair of limits"
MAP_OVERALL, MAP_INSIDE = "overall", "inside each client"
SOLVING_MAP = "Solving every pair of the map"
CANNOT_BE_SHOWN = "{0} cannot be shown: {1}"
FAILED = "{} cannot be shown because of an error of ours; the rest is unaffected."


def ignored(unused: Sequence[Ignored]) -> str:
    """What a link said that could not be used, in one line."""
    words = "; ".join(
        f"{plain(one.name)} = “{plain(one.text, 40)}” (expected: {plain(one.expected, 120)})"
        for one in unused
    )
    return f"Ignored in the link: {words}."


# -------------------------------------------------------------------- what fairness costs


def notion_title(name: str) -> str:
    """A notion's name in words."""
    return notion_kind(name).title


def region_title(name: str) -> str:
    """A region's name in words."""
    return region_kind(name).title


def verdict(summary: Summary) -> str:
    """The verdict's reason as Markdown, and what certainty was bought with; names are only text."""
    return plain(core.verdict_why(summary), 1200)


def judged_on(summary: Summary) -> str:
    """On whom a result is judged; named where nobody was held out."""
    return UNSEEN if summary.unseen else f"{FITTED} ({NO_CHECK})"


def but(effect: Effect) -> str:
    """Who is worse off where accuracy rises, to be written in the same sentence."""
    return f", but {plain(effect.but, 400)}" if effect.but else ""


def sure(row: ClientRow) -> str:
    """How sure a client's gap is."""
    if np.isnan(row.gap):
        return "nobody to compare"
    words = (
        f"between {format.round_gap(row.gap_low)} and {format.round_gap(row.gap_high)}, on "
        f"{format.plural(row.n, 'person', 'people')}"
    )
    return f"{words}: may be chance" if row.within_noise else words


def who_pays(summary: Summary) -> str:
    """Which client loses most accuracy to the limits, and which gains most."""
    loser, gainer = summary.loses_most, summary.gains_most
    lost, gained = -loser.change, gainer.change
    if not lost > FREE:
        return "No client loses accuracy against the model as it is."
    words = f"Against the model as it is, **{plain(loser.client)}** loses most accuracy: {format.round_points(lost)}"
    if gained > FREE:
        effect = effect_of(gained, summary.harm, gainer.client)
        words += f"; **{plain(gainer.client)}** {effect.word} {format.round_points(gained)}{but(effect)}"
    return words + "."


def price_sentences(summary: Summary, most: int = 3) -> list[str]:
    """What one more hundredth of tolerance buys: overall, and in the dearest clients."""
    prices, unit = summary.prices, _unit(summary)
    overall = [price for price in prices if price.client is None]
    clients = [price for price in prices if price.client is not None]
    words = [f"One more hundredth of overall tolerance {_buys(price, unit)}." for price in overall]
    words += [
        f"One more hundredth of local tolerance in **{plain(price.client or '')}** "
        f"{_buys(price, unit)}."
        for price in clients[:most]
    ]
    return words or ["Nothing binds here: more tolerance would buy nothing."]


def _unit(summary: Summary) -> str:
    if summary.policy.utility.is_accuracy:
        return "points"
    return f"hundredths of {plain(asked_text.utility_name(summary.policy.utility))}"


def _buys(price: Price, unit: str) -> str:
    # d utility / d epsilon is hundredths per hundredth.
    bought = f"{price.points:.2f}" if price.points >= 0.005 else "less than 0.01"
    return f"buys {'at most ' if price.at_most else ''}{bought} {unit}"


NOTION_HEADER = card_text.NOTION_HEADER[1:]


def notion_cells(one: NotionGap) -> tuple[str, ...]:
    """A notion's row: its gap before and after with limits, and what becomes of it."""
    return card_text.notion_cells(one)[1:]


def rate(of: Rate) -> str:
    """A rate as a person would say it."""
    answer = f"“{of.answer}”"
    if of.label is None:
        return f"answered {answer}"
    return f"{answer} recognised" if of.label == of.answer else f"“{of.label}” answered {answer}"


YOU_ARE_HERE = "you are here"


def share(value: float) -> str:
    """A share in whole per cent."""
    return f"{100 * value:.0f} %"


def refused(why: str) -> str:
    """Why something is not taken."""
    return plain(f"Not taken: {why}", longest=700)
