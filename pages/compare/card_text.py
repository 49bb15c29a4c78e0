"""What the model card says."""

from collections.abc import Callable, Sequence

from fairfl_core._io import numbers as format
from fairfl_core.evaluation.summary import ClientRow, Figures, Summary
from fairfl_core.fairness.notions import NotAssessable
from pages.shared import text
from pages.shared.view import View

WHAT_IT_IS, REQUESTED = "What it is", "Requested, reached, held out"
GROUPS, CLIENTS = "Groups", "Clients"
NOT_JUDGED, DATA = "What could not be judged", "The data"
LIMITS_OF_USE, HOW = "Limits of use", "How a client applies it"
GROUP_HEADER = ("group", "n", "accuracy, the model's own", "accuracy, fair", "answers changed")
CLIENT_HEADER = (
    "client",
    "n",
    "gap, the model's own",
    "gap, fair",
    "95 % interval",
    "chance alone",
)
COMMAND = "fairfl predict"
WITH_SCORES = "With {command}, which looks at the model's scores."
WITHOUT_PACKAGE = "With {command}, or in Python without any package:"
WHICH_MODEL = 'int({folds} * draw(client, f"fold\\x1f{{row_id}}"))'
_CELLS = 20  # cells that cannot be judged, listed by name


def title(experiment: str) -> str:
    """The card's title."""
    return f"Model card: a fair predictor. {experiment}"


VERDICT = "Verdict"


def verdict(summary: Summary) -> list[str]:
    """The verdict: its word, its sentence, and what certainty was bought with."""
    found = summary.verdict
    said = (
        "No limit was asked for." if found is None else f"{found.word.capitalize()}. {found.why}"
    )
    return [said, *summary.remarks]


def what_it_is(view: View, favourable: str) -> list[str]:
    """The predictor and its settings in sentences."""
    rates = text.RATES[view.rates]
    by_labels = (
        ""
        if view.rates == "labels"
        else " What was reached is counted by labels all the same, so it may lie above what was "
        "requested."
    )
    return [
        "A lottery that stands behind a model. It takes the client, the group and the model's "
        "answer for a person and gives the answer that person gets. Decided by row id, the same "
        "person always gets the same answer. The model itself is not changed.",
        f"Notion: {text.notion_title(view.notion)}. {text.notion_meaning(view.notion, favourable)}",
        f"Region: {text.region_title(view.region)}. {text.region_meaning(view.region)}",
        f"Rates: {rates[0]}. {rates[1]}{by_labels}",
    ]


def requested_header(*, held_out: bool) -> tuple[str, ...]:
    """Headings of the table of what was requested, reached, and held."""
    return "", "requested", "reached (fitted)", "held out (test)" if held_out else "held out"


def which_model(folds: int) -> str:
    """Which of several models' answers is the one to give to the lottery."""
    return (
        f"There are {folds} fold models; the one whose answer is given for a person has the number "
        f"`{WHICH_MODEL.format(folds=folds)}`, counted from 0 in the order of the folds."
    )


def requested_rows(summary: Summary) -> list[tuple[str, ...]]:
    """What was requested, what was reached on the fitted people, what held on test."""
    low, high = summary.eps_local
    local = format.epsilon(high)
    if low < high:
        local = f"{format.epsilon(low)} to {local}"
    rows: dict[str, tuple[str, Callable[[Figures], str]]] = {
        "People": ("", lambda f: format.count(f.n)),
        "Accuracy, the model's own": ("", lambda f: format.percent(f.accuracy_before)),
        "Accuracy, fair": ("most within the limits", lambda f: format.percent(f.accuracy)),
        "Overall gap, the model's own": ("", lambda f: format.gap(f.overall_before)),
        "Overall gap, fair": (format.epsilon(summary.eps_global), _overall),
        "Worst client's gap, fair": (local, _worst),
        "Mean client's gap, the model's own": ("", lambda f: format.gap(f.local_mean_before)),
        "Mean client's gap, fair": ("", lambda f: format.gap(f.local_mean)),
    }
    return [
        (
            name,
            asked,
            tell(summary.reached),
            tell(summary.unseen) if summary.unseen else text.NO_CHECK,
        )
        for name, (asked, tell) in rows.items()
    ]


def _overall(figures: Figures) -> str:
    limits = format.gaps(figures.overall_low, figures.overall_high)
    return f"{format.gap(figures.overall)} (95 %: {limits})"


def _worst(figures: Figures) -> str:
    worst = figures.worst
    if worst is None:
        return "no client has two groups"
    return (
        f"{format.gap(worst.gap)} (95 %: {format.gaps(worst.gap_low, worst.gap_high)}) in "
        f"{worst.client}{text.worst_of(worst)}, n = {format.count(worst.n)}"
    )


def groups_on(*, held_out: bool) -> str:
    """On whom the groups are judged."""
    return "On held-out people." if held_out else f"On {text.FITTED}; {text.NO_CHECK}."


def client_cells(row: ClientRow) -> tuple[str, ...]:
    """A row of the clients' table."""
    return (
        row.client,
        format.count(row.n),
        format.gap(row.gap_before),
        format.gap(row.gap),
        format.gaps(row.gap_low, row.gap_high),
        format.gap(row.noise_floor),
    )


def shown(most: int, clients: int) -> str:
    """Said where not all clients are listed."""
    return f"The {most} worst and the {most} largest of {clients:,}."


def not_assessable(cells: Sequence[NotAssessable]) -> str:
    """Comparisons with nobody behind them."""
    if not cells:
        return "Every comparison has people behind it."
    said = [
        f"nobody of group “{cell.group}”"
        + (f" with label “{cell.label}”" if cell.label else "")
        + f" in “{cell.client}”"
        for cell in cells[:_CELLS]
    ]
    more = f"; and {len(cells) - _CELLS:,} more" if len(cells) > _CELLS else ""
    sentence = "; ".join(said) + more
    return f"{sentence[0].upper()}{sentence[1:]}."
