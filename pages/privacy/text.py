"""What the Privacy page says: noise studies in sentences, and what noise does not protect."""

from collections.abc import Sequence

import numpy as np

from fairfl_core._io import numbers as format
from fairfl_core.evaluation.summary import FREE
from fairfl_core.privacy.mechanisms import Mechanism
from pages.privacy.results import NoiseResult, PaperRow, Three
from pages.shared import text as shared
from pages.shared.outside_text import plain
from pages.shared.view import View

# Parts of the page, as they are named where one fails.
STUDY, PAPER_TABLE = "The study of noise", "The paper's table"
LOCAL, OVERALL = "The local gaps", "The overall gap"
ACCURACY, FAILING = "The accuracy", "The failing clients"

DRAWING = "Drawing noise and solving anew"
REPEATING = "Repeating the paper's table"
TOO_MANY_CLIENTS = (
    "with so many clients hundreds of programs would take an hour; try fewer clients, or make "
    "noisy counts with `fairfl privatize` and upload those."
)
MECHANISMS = {
    "histogram": ("histogram (each person in one bin)", "the histogram"),
    "paper": ("the paper's statistics", "the paper's mechanism"),
}
NEIGHBOURS = {
    "replace-one": "one person replaced by another",
    "add-remove": "one person more or fewer",
}
FIGURES = {
    "local_worst": "Largest true gap of a client",
    "local_mean": "Mean client's true gap",
    "overall": "Overall true gap",
    "accuracy": "Accuracy",
}
FIGURES_TIP = (
    "Median over draws, and where 90 in 100 draws lie. The largest gap of a client is that of "
    "whichever client is worst in each draw."
)
BUDGET = "Privacy budget ε that each client really spends"
BUDGET_TIP = (
    "How far one person can change the odds of what is sent: by a factor of at most e to the "
    "power ε. 10 protects little; 0.01 drowns small clients in noise."
)
DRAWS, MECHANISM = "Draws of noise for each budget", "Mechanism: what gets the noise"
NEIGHBOUR, BOTH = "Neighbours: what must look alike", "Draw both"
BOTH_TIP = "Add the other mechanism at the same true budget."

AXIS_BUDGET = "budget ε really spent<br>per client (more noise →)"
AXIS_LOCAL = "gap inside clients (difference of rates)"
AXIS_OVERALL, AXIS_ACCURACY = "overall gap (difference of rates)", "accuracy, %"
AXIS_FAILS = "draws in which its gap<br>is above the asked, %"
SERIES = {
    "local_worst": "largest",
    "local_mean": "mean",
    "overall": "overall",
    "accuracy": "accuracy",
}
ASKED, WITHOUT_NOISE = "asked", "without noise"
BUDGET_COLUMN, PAPER_COLUMN = "budget really spent", "the paper's epsilon"
CLIENT_COLUMNS = {
    "client": "client",
    "n": "people",
    "eps_local": "gap asked",
    "fails": "fails, share of draws",
    "gap_median": "median true gap",
}

PAPER_TITLE = "#### The paper's own table, beside ours"
PROTECTION_TITLE = "#### What is protected, and what is not"
RELEASE_TITLE = "**What is shown here is a rehearsal; this is the release**"
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
    "The noise above comes from a seeded generator (seed 0), so that the page shows the same "
    "twice; who knows the seed can take the noise off. A real release uses OpenDP, whose noise "
    "cannot be seeded. In each client:"
)


def draws(option: str, automatic: int) -> str:
    """A number of draws, or the page's own choice."""
    return f"{automatic} (quick)" if option == "auto" else option


def neighbours(name: str) -> str:
    """A neighbour relation with its meaning."""
    return f"{name}: {NEIGHBOURS[name]}"


def what_it_is(mechanism: Mechanism, *, sums_suffice: bool) -> str:
    """The noise in words, with the paper's name for its budget.

    `sums_suffice` tells whether the sum of wrong answers is all that the program looks at.
    """
    said = (
        f"Spends ε = {mechanism.spent:g} ({NEIGHBOURS[mechanism.neighbours]}): noise of scale "
        f"{mechanism.scale:,.3g} people on every number."
    )
    if mechanism.name == "histogram":
        return said
    said += (
        f" **The paper would call this ε = {mechanism.epsilon:g}**: a rightly answered person is "
        "counted twice in what it sends, and the client's size is sent as it is."
    )
    if not sums_suffice:
        said += (
            " Of wrong answers it sends only the sum, so here they are taken as evenly spread: "
            "it is meant for the simplex with equalized odds or equal opportunity."
        )
    return said


def shown_instead(view: View, shown: View) -> str:
    """Said where the view looks at scores, which a table of counts does not hold."""
    return (
        f"Noise is put on tables of counts. The view set looks at scores (region {view.region}, "
        f"rates: {shared.RATES[view.rates][0]}), so this page shows region {shown.region}, rates: "
        f"{shared.RATES[shown.rates][0]}."
    )


def headline(result: NoiseResult) -> str:
    """The page in a few words: the largest true gap, the cost, who fails."""
    low, middle, high = result.band("local_worst")
    lost = result.lost
    cost = f"Noise {'costs' if lost >= 0 else 'gains'} {format.points(lost)} of accuracy."
    if abs(lost) < FREE:
        cost = "Noise hardly changes accuracy."
    if np.isnan(middle):
        return f"No client has two groups to compare. {cost}"
    asked = format.epsilon(float(result.study.eps_local.max()))
    return (
        f"At a privacy budget of {result.budget:g} the largest true gap of a client is "
        f"**{format.gap(middle)}** (asked: {asked}; in 90 of 100 draws between {format.gap(low)} "
        f"and {format.gap(high)}). {cost} {failing(result)}"
    )


def failing(result: NoiseResult) -> str:
    """The client that breaks its limit most often, by name."""
    study = result.study
    if study.eps_local.min() >= 1:
        return "No local limit is asked, so no client can fail it."
    worst = study.failing(result.at)
    if worst is None:
        return "No client's true gap is above what was asked in any draw."
    return (
        f"**{plain(study.clients[worst])}** (n = {format.count(study.n_client[worst])}) fails "
        f"most often: in {100 * study.fails[result.at, worst]:.0f} of 100 draws."
    )


def comparison(result: NoiseResult) -> str:
    """The other mechanism at the same true budget."""
    other = result.other_mechanism
    called = f" (which the paper calls {other.epsilon:g})" if other.name == "paper" else ""
    return (
        f"At the same true budget{called} {MECHANISMS[other.name][1]} would leave the largest "
        f"gap of a client at {format.gap(result.other_median)} instead of "
        f"{format.gap(result.band('local_worst')[1])} (medians)."
    )


def shown(figure: str, value: float) -> str:
    """A figure with its unit."""
    return format.percent(value) if figure == "accuracy" else format.gap(value)


def between(figure: str, low: float, high: float) -> str:
    """Where 90 in 100 draws lie."""
    return f"{shown(figure, low)} to {shown(figure, high)}"


def true_means(result: NoiseResult) -> str:
    """What “true” is, and the same figures without noise."""
    noiseless = ", ".join(
        f"{name.lower()} {shown(figure, result.without_noise(figure))}"
        for figure, name in FIGURES.items()
    )
    return (
        "“True” means on the people the lottery was made for (validation), counted without noise. "
        f"Without noise (medians over runs): {noiseless}."
    )


# -------------------------------------------------------------------- charts


def local_reading(*, unseen: bool) -> str:
    """How to read the chart of local gaps."""
    dots = "dots: people the lottery has not seen" if unseen else shared.NO_CHECK
    return f"**True gap inside clients.** Band: 90 in 100 draws; line: median; {dots}."


def overall_reading(median: float, asked: float) -> str:
    """How to read the chart of the overall gap."""
    return (
        f"**True overall gap**, all clients together: {format.gap(median)} in the median draw at "
        f"this budget (asked: {format.epsilon(asked)})."
    )


def accuracy_reading(median: float, noiseless: float) -> str:
    """How to read the chart of accuracy."""
    return (
        f"**Accuracy**: {format.percent(median)} in the median draw at this budget, "
        f"{format.percent(noiseless)} without noise. It can rise where noise breaks the limits."
    )


def fails_reading(result: NoiseResult, most: int) -> str:
    """How to read the chart of failing clients."""
    clients = len(result.study.clients)
    more = f" The first {most} of {clients}." if clients > most else ""
    return f"**How often each client fails** at budget {result.budget:g}. {failing(result)}{more}"


def series_columns(figure: str) -> tuple[str, str, str, str, str]:
    """Columns of a chart's table: 5 %, median, 95 %, on unseen people, of the other mechanism."""
    name = SERIES[figure]
    return (
        f"{name}: 5 %",
        f"{name}: median",
        f"{name}: 95 %",
        f"{name}: median, unseen people",
        f"{name}: median, other mechanism",
    )


def hover_band(name: str, digits: int) -> str:
    """What a band says under the pointer."""
    return (
        f"{name}, budget %{{customdata[0]:g}}: %{{y:.{digits}f}} (90 in 100 draws: "
        f"%{{customdata[1]:.{digits}f}} to %{{customdata[2]:.{digits}f}})<extra></extra>"
    )


def hover_unseen(digits: int) -> str:
    """What a dot of unseen people says under the pointer."""
    return f"unseen people: %{{y:.{digits}f}}<extra></extra>"


# -------------------------------------------------------------------- the paper's table


def paper_introduction(rows: Sequence[PaperRow], asked: float, relation: str) -> str:
    """What the paper's table is of, and what its epsilon really spends."""
    times = rows[1].spent / rows[1].epsilon
    return (
        f"Adult, statistical parity, both limits {asked:g}, unseen people. **What the paper calls "
        f"ε really spends {times:g} ε** ({relation}); the histogram gets that same true budget. "
        "Each entry: mean client's gap · overall gap · accuracy. The paper's column is its Table "
        "4; for FedAvg its Table 2 prints other figures."
    )


def paper_row(row: PaperRow) -> dict[str, str]:
    """A row as people read it."""
    return {
        "the paper's ε": _epsilon(row),
        "really spends": _spent(row),
        "the paper": _three(row.paper),
        "ours, the paper's mechanism": _three(row.ours),
        "ours, histogram": _three(row.histogram),
    }


def paper_record(row: PaperRow) -> dict[str, object]:
    """A row in numbers, for a file."""
    record: dict[str, object] = {
        "the paper's epsilon": _epsilon(row),
        "really spends": _spent(row),
    }
    for who, three in (
        ("paper", row.paper),
        ("ours, paper's mechanism", row.ours),
        ("ours, histogram", row.histogram),
    ):
        record |= {f"{who}: {what}": round(value, 4) for what, value in vars(three).items()}
    return record


def _epsilon(row: PaperRow) -> str:
    return {float("inf"): "no noise", 0.0: "FedAvg"}.get(row.epsilon, f"{row.epsilon:g}")


def _spent(row: PaperRow) -> str:
    return "" if row.spent in (0, float("inf")) else f"{row.spent:g}"


def _three(three: Three) -> str:
    return f"{three.local:.3f} · {three.overall:.3f} · {format.percent(three.accuracy)}"


def release_command(mechanism: Mechanism) -> str:
    """The command that publishes noisy counts."""
    return (
        f"fairfl privatize counts.json --mechanism {mechanism.name} "
        f"--epsilon {mechanism.epsilon:g} --neighbours {mechanism.neighbours} --out noisy.json"
    )
