"""What the report and the model card say."""

from collections.abc import Mapping
from typing import Any

from fairfl_core._io import numbers as format
from fairfl_core.datasets import DATASETS
from fairfl_core.evaluation.summary import Summary
from fairfl_core.people.experiments import Experiment
from pages.shared import text
from pages.shared.view import View

SETTINGS = "Settings and data"
MAP = "Accuracy over both limits"
MAP_TOO_LONG = "Not drawn: with so many clients every pair of limits takes long to solve."
CLIENTS = "Each client, before and after"
NUMBERS = "The clients in numbers"
NONE = "none"
NO_LINK = "none: an uploaded set lives in one session, and this machine's own server on it alone"
CAVEATS_TITLE = "What this does not say"
CAVEATS = (
    "Limits are met in expectation on the people the lottery was fitted on. On unseen people gaps "
    "are larger, most of all in small clients; the report gives both.",
    "The answer is a lottery: two people alike in everything may get different answers. Decided "
    "by row id, the same person always gets the same one.",
    "The group of each person must be known when the answer is given.",
    "The notion chosen here cannot settle whether labels themselves are fair, nor which notion "
    "a case calls for. Other notions may be violated while this one holds.",
    "Prices are local: they hold for a small change from this setting.",
)


def rows_of(experiment: Experiment) -> str:
    """How many rows there are, and what a row is: people, unless the dataset says otherwise."""
    dataset = experiment.manifest["dataset"]
    declared = DATASETS.get(dataset.get("dataset", ""))
    what = "people" if declared is None else declared.rows_are
    return f"{format.count(dataset['rows_used'])} {what}"


def title(experiment: str) -> str:
    """The report's title."""
    return f"What fairness costs: {experiment}"


def map_reading(*, own_limits: bool) -> str:
    """How to read the map."""
    alike = " Every client has the same limit in it, none its own." if own_limits else ""
    return (
        "On the fitted people, mean over runs. Lighter is more accurate; inside the dotted line "
        f"fairness costs nothing against no limit at all.{alike}"
    )


def shown(most: int, clients: int) -> str:
    """Said where a figure does not show all clients."""
    return f"The {most} worst and the {most} largest of {clients:,} clients."


def settings(
    view: View,
    summary: Summary,
    manifest: Mapping[str, Any],
    *,
    protocol: str,
    link: str,
    made: str,
) -> dict[str, str]:
    """Everything the results depend on, by its name."""
    dataset = manifest["dataset"]
    people = [format.count(summary.reached.n)]
    people += [format.count(summary.unseen.n) if summary.unseen else f"none ({text.NO_CHECK})"]
    own = ", ".join(f"{client} {format.epsilon(limit)}" for client, limit in view.own_limits)
    return {
        "Experiment": f"{manifest['title']} ({dataset['sample']})",
        "Notion": text.notion_title(view.notion),
        "Region": text.region_title(view.region),
        "Rates": text.RATES[view.rates][0],
        "Split": protocol,
        "Certainty": text.certainty(view.guarantee),
        "Asked beyond the two limits": text.policy(view.policy),
        "Runs": ", ".join(map(str, view.seeds)),
        "Gap allowed overall": format.epsilon(view.eps_global),
        "Gap allowed inside each client": format.epsilon(view.eps_local),
        "Clients with a limit of their own": own or NONE,
        "People (fitted on, unseen)": " and ".join(people),
        "Data": f"{dataset['source']}, {dataset['licence']}",
        "Scores, sha256": manifest["scores"]["sha256"],
        "Made": made,
        "Link": link or NO_LINK,
    }
