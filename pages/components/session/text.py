"""What the sidebar and the tolerances say."""

from collections.abc import Mapping, Sequence

from fairfl_core.people.experiments import Experiment
from pages.components.shared import format
from pages.components.shared.format import plain

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
LARGE_TYPE, LARGE_TYPE_TIP = "Large type", "For a lecture hall."
THE_PAPERS, RECOMMENDED = " (the paper's)", " (recommended)"

OVERALL, OVERALL_TIP = "Gap allowed overall, ε0", "Between groups, all clients together."
INSIDE, INSIDE_TIP = "Gap allowed inside each client, εc", "Between groups, in every client."
PRESETS = {
    "none": "No limit",
    "local": "Local only",
    "global": "Global only",
    "both": "Both at 0.01",
}
RESET = "Reset"


SPLIT, SPLIT_TIP = (
    "Split",
    "How people are parted into those the lottery is fitted on and those it is tested on.",
)
CERTAINTY, CERTAINTY_TIP = (
    "How sure",
    "Whether the limits are met on the fitted people only, or with a margin for chance, so that "
    "they hold on unseen people. More certainty costs more accuracy; more people make it cheaper.",
)
CERTAINTIES = {
    "none": "as fitted",
    "each": "95 % for each client",
    "all": "95 % for all at once",
    "proved": "95 % for each, proved",
}
NO_CERTAINTY = (
    "With three labels and more no bound holds for every rule of the scores: choose the region "
    "simplex or kernel to ask for a confidence."
)


def split_meaning(experiment: Experiment) -> str:
    """What the split is, in one line."""
    if experiment.folds > 1:
        return (
            f"{experiment.folds} models, each trained without one fold: everybody but the test "
            "people is scored by a model that never saw them, and the lottery is fitted on all "
            "of them. A person is then answered by one of the models, drawn for good."
        )
    return "60 % train one model, 20 % fit the lottery, 20 % are unseen, inside each client."


def certainty_costs(costs: Mapping[str, float]) -> str:
    """What each certainty costs, before one chooses."""
    said = ", ".join(f"{CERTAINTIES[name]} {format.points(cost)}" for name, cost in costs.items())
    return f"What certainty costs here, against “as fitted” (fitted people, one run): {said}."


def about(experiment: Experiment) -> str:
    """Whose people these are, and under which terms they may be used."""
    dataset = experiment.manifest["dataset"]
    return plain(
        f"{format.count(dataset['rows_used'])} people in {len(experiment.clients)} clients; "
        f"{dataset['sample']}. Terms of the data: {dataset['licence']}. "
        f"Groups: {', '.join(experiment.groups)}.",
        longest=260,
    )


def runs(seeds: Sequence[int], every: Sequence[int]) -> str:
    """Which of the runs are shown."""
    if len(every) == 1:
        return "the only run"
    return f"all {len(every)} runs (mean)" if len(seeds) == len(every) else f"run {seeds[0]}"


def as_a_number(label: str) -> str:
    """The label of the box beside a slider."""
    return f"{label}, as a number"
