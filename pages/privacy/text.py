"""What the Privacy page says: noise studies in sentences, and what noise does not protect."""

import numpy as np

from fairfl_core._io import numbers as format
from fairfl_core.lp.frontier import FREE
from fairfl_core.privacy.mechanisms import Mechanism
from pages.privacy.results import NoiseResult
from pages.shared import text as shared
from pages.shared.view import View

# Parts of the page, as they are named where one fails.
STUDY = "The study of noise"
CURVE, FAILING = "The curve", "The failing clients"

DRAWING = "Drawing noise and solving anew"
TOO_MANY_CLIENTS = (
    "with so many clients hundreds of programs would take an hour; try fewer clients, or make "
    "noisy counts with `fairfl privatize` and upload those."
)
TITLE = "What does noise cost?"
MECHANISMS = {
    "histogram": ("histogram (each person in one bin)", "the histogram"),
    "paper": ("the paper's statistics", "the paper's mechanism"),
}
NEIGHBOURS = {
    "replace-one": "one person replaced by another",
    "add-remove": "one person more or fewer",
}
BUDGET = "Privacy budget"
BUDGET_TIP = (
    "Less is more private. Spent by each client: how far one person can change the odds of what is sent: by a factor of at most e to the "
    "power of the budget. 10 protects little; 0.01 drowns small clients in noise. In brackets: where "
    "9 of 10 draws of noise lie, and the median on new people."
)
DRAWS, MECHANISM = "Draws of noise for each budget", "Mechanism: what gets the noise"
NEIGHBOUR = "Neighbours: what must look alike"
CURVES = {"local": "In each", "overall": "Overall", "accuracy": "Accuracy"}
CURVE_CHOICE = "What is drawn against the budget"

AXIS_BUDGET = "budget (more noise →)"
AXIS = {"local": "gap", "overall": "gap overall", "accuracy": "accuracy, %"}
HOVER_FAILS = "%{customdata}: %{x:.0f} %<extra></extra>"
AXIS_FAILS = "draws above what was asked, %"
SERIES = {
    "local_worst": "largest",
    "local_mean": "mean",
    "overall": "overall",
    "accuracy": "accuracy",
}
ASKED, WITHOUT_NOISE, NEW_PEOPLE = "asked", "without noise", "new people"
BUDGET_COLUMN, PAPER_COLUMN = "budget really spent", "the paper's epsilon"

PAPER_TABLE = "The paper's own table, beside ours"
PROTECTION_TITLE = "What is protected, what is not, and how to release"
PROTECTED = (
    "**Protected**\n"
    "- The table of counts a client sends after training: from it nobody can tell much "
    "better than the budget allows whether one person is in it, or what is true of them.\n"
    "- Whatever the server computes from the noisy tables: the lottery, its figures, the maps. "
    "Computing on noisy numbers costs no further privacy.\n"
    "- Each person once: clients hold different people, so budgets of clients do not add up."
)
NOT_PROTECTED = (
    "**Not protected**\n"
    "- **Training.** Federated training sends weights made from the raw data; nothing here makes that "
    "private, and there is no end-to-end promise.\n"
    "- **The client's size.** The paper's mechanism sends it as it is, and the promise of "
    "replace-one neighbours does not cover it.\n"
    "- **A second table.** Sending a new one spends the budget again. Regions that ask "
    "clients in several rounds (column generation) are left out here for that reason.\n"
    "- **Fairness itself.** The client must apply the server's lottery as it is. Solving "
    "again with its own true rates breaks the limits in more than nine of ten draws."
)
REHEARSAL = (
    "What is shown here is a rehearsal: its noise comes from a seeded generator (seed 0), so that the page shows the same "
    "twice; who knows the seed can take the noise off. A real release uses OpenDP, whose noise "
    "cannot be seeded. In each client:"
)


def what_it_is(mechanism: Mechanism, *, sums_suffice: bool) -> str:
    """The noise in words, with the paper's name for its budget.

    `sums_suffice` tells whether the sum of wrong answers is all that the program looks at.
    """
    words = (
        f"Spends a budget of {mechanism.spent:g} ({NEIGHBOURS[mechanism.neighbours]}): noise of scale "
        f"{mechanism.scale:,.3g} people on every number."
    )
    if mechanism.name == "histogram":
        return words
    words += (
        f" **The paper would call this {mechanism.epsilon:g}**: a rightly answered person is "
        "counted twice in what it sends, and the client's size is sent as it is."
    )
    if not sums_suffice:
        words += (
            " Of wrong answers it sends only the sum, so here they are taken as evenly spread: "
            "it is meant for the simplex with equalized odds or equal opportunity."
        )
    return words


def shown_instead(view: View, shown: View) -> str:
    """What of the view noisy counts cannot serve, stated first; empty where they serve it all."""
    words = []
    if view.needs_scores:
        words.append("Counts here; Explore uses scores.")
    if (view.guarantee, view.policy) != (shown.guarantee, shown.policy):
        words.append("Explore's confidence and further limits are left out.")
    return " ".join(words)


def settings_shown(shown: View) -> str:
    """The region and the rates that are shown, by name."""
    return (
        f"Shown: region {shared.region_title(shown.region)}, rates: "
        f"{shared.RATE_KINDS[shown.rates][0]}."
    )


def sentence(result: NoiseResult, noun: str) -> str:
    """The page in one sentence: asked, then what noise leaves and costs."""
    study, lost = result.study, result.lost
    low, high = float(study.eps_local.min()), float(study.eps_local.max())
    inside = low < 1
    figure = "local_worst" if inside or study.eps_global >= 1 else "overall"
    bottom, middle, top = result.band(figure)
    cost = f"{'costs' if lost >= 0 else 'gains'} {format.round_points(lost)} of accuracy"
    if abs(lost) < FREE:
        cost = "costs no accuracy"
    if np.isnan(middle):
        return f"No {noun} has two groups to compare; noise {cost}."
    where = "in the worst" if inside else f"in the worst {noun}"
    where = "" if figure == "overall" else f" {where}"
    _, unseen = result.over_budgets(figure)
    new = "" if unseen is None else f"; {NEW_PEOPLE}: {format.round_gap(unseen[result.at])}"
    return (
        f"{_asked(low, high, study.eps_global, noun)}; noise leaves **{format.round_gap(middle)}**"
        f"{where} ({format.round_gaps(bottom, top)}{new}) and {cost}."
    )


def _asked(low: float, high: float, overall: float, noun: str) -> str:
    if low < 1:
        limits = format.epsilon(low) if low == high else f"{format.epsilon(low)} or more"
        return f"Asked {limits} in each {noun}"
    return "Nothing asked" if overall >= 1 else f"Asked {format.epsilon(overall)} overall"


# -------------------------------------------------------------------- charts


def curve_spoken(curve: str, noun: str) -> str:
    """The curve for those who hear it."""
    what = {"local": f"Gap in each {noun}", "overall": "Overall gap", "accuracy": "Accuracy"}
    return f"{what[curve]} against the privacy budget: median draw and 9 of 10 draws"


def fails_title(result: NoiseResult, noun: str, most: int) -> str:
    """What the bars show."""
    study = result.study
    if study.eps_local.min() >= 1:
        return f"**No limit is asked in each {noun}**, so none can be broken."
    if not study.fails[result.at].any():
        return f"**No {noun} is above what was asked** in any draw."
    clients = len(study.clients)
    more = f", worst {most} of {clients}" if clients > most else ""
    return f"**How often broken**{more}"


def series_columns(figure: str) -> tuple[str, str, str, str]:
    """Columns of a chart's table: 5 %, median, 95 %, on unseen people."""
    name = SERIES[figure]
    return (
        f"{name}: 5 %",
        f"{name}: median",
        f"{name}: 95 %",
        f"{name}: median, unseen people",
    )


HOVER_BAND = (
    "{0}, budget %{{customdata[0]:g}}: %{{y:.{1}f}} (9 of 10 draws: %{{customdata[1]:.{1}f}} "
    "to %{{customdata[2]:.{1}f}})<extra></extra>"
)
HOVER_UNSEEN = "new people: %{{y:.{}f}}<extra></extra>"
RELEASE_COMMAND = (
    "fairfl privatize counts.json --mechanism {0.name} --epsilon {0.epsilon:g} --neighbours "
    "{0.neighbours} --out noisy.json"
)
