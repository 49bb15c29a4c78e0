"""What the Scenarios page says."""

from collections.abc import Sequence

import numpy as np

from fairfl_core._io import numbers as format
from fairfl_core._io.names import plain
from fairfl_core.data.experiments import Experiment
from fairfl_core.evaluation.study import Summary
from fairfl_core.evaluation.verdict import NOT_MET, SHAPES
from fairfl_core.lp.frontier import FREE
from fairfl_core.report import text as asked_text
from pages.scenarios.results import OwnClients
from pages.shared import text
from pages.shared.view import View

# Parts of the page, as they are named where one fails.
PAPERS, CLIENTS_GAPS = "The three scenarios", "The clients' gaps"
OWN, OWN_MAP = "Clients of your own", "The map"

TITLE = "Do clients that differ cost more?"
KIND = "How far apart the clients are"
KINDS = {
    "alike": "alike",
    "little": "a little apart",
    "far": "far apart",
    "own": "your own",
}
SOLVING = "Solving every pair of the maps"
MAPS = "Bars: share of {}. Maps: people the rules were made for; dotted: free. Costs: new people."
OWN_MAP_KEY, FIRST_RUN = "Accuracy", " One run."
WHO = "Who is in which client"
SCENARIO, CLIENT, N_HELD_OUT = "scenario", "client", "n held out"


OF_SCALE = "{:.1f} %"
TABLE_OF = "Map: {}"
MAP_SPOKEN = "Clients {}: each client's share, and accuracy over both limits"
GAPS_TITLE = "**{}: each client's gap, before and after**, on new people"


def whose(view: View, experiment: Experiment) -> str:
    """Whose people and which settings the three scenarios show."""
    title = experiment.manifest["dataset"].get("title", experiment.manifest["title"])
    runs = format.plural(len(view.seeds), "run") if len(view.seeds) > 1 else f"run {view.seeds[0]}"
    return f"{plain(title)} · {text.notion_title(view.notion).lower()} · {runs}"


def about(experiment: Experiment) -> str:
    """How the clients of the three scenarios were made; in the settings."""
    return (
        f"{plain(experiment.manifest['dataset'].get('client', 'clients as trained'), 200)}. "
        "These settings are this page's own: Explore keeps others."
    )


def asked(view: View) -> str:
    """What is asked of the gaps, as the beginning of a sentence."""
    limits = {"in each": view.eps_local, "overall": view.eps_global}
    sentences = [f"{format.epsilon(eps)} {where}" for where, eps in limits.items() if eps < 1]
    return f"Asked {', '.join(sentences)}" if sentences else "Nothing asked"


def answer(more: float, error: float, runs: int) -> str:
    """Whether the same limits cost more far apart than alike, as far as runs can tell."""
    if np.isnan(error):
        word = "as much as" if abs(more) < FREE else "more than" if more > 0 else "less than"
        return f"Far apart costs {word} alike in this run (one cannot tell chance)."
    if abs(more) < max(2 * error, FREE):
        return f"Far apart costs no more than alike, as far as {runs} runs can tell."
    return f"Far apart costs {'more' if more > 0 else 'less'} than alike, beyond chance."


def result(summary: Summary) -> str:
    """What the limits cost against the model as it is, the gap reached, and the verdict."""
    judged = summary.judged
    cost = format.round_signed_points(-judged.cost)
    if summary.eps_local[0] >= 1 and summary.eps_global < 1:
        reached = f"overall {format.round_gap(judged.overall)}"
    else:
        reached = f"worst {format.round_gap(worst_gap(summary))}"
    return f"**{cost}**, {reached}{_verdict(summary)}"


def worst_gap(summary: Summary) -> float:
    """The largest gap of a client; NaN where none can be compared."""
    worst = summary.judged.worst
    return float("nan") if worst is None else worst.gap


def _verdict(summary: Summary) -> str:
    found = summary.verdict
    if found is None:
        return ""
    words = f"**{found.shape} {found.word}**"
    return f" :red[{words}]" if found.shape == SHAPES[NOT_MET] else f" {words}"


def run(seed: str, runs: int) -> str:
    """One run, or all of them."""
    return f"run {seed}" if seed.isdigit() else f"all {runs} runs (mean)"


def kind_title(kind: str, *, chosen: bool) -> str:
    """Which scenario stands above."""
    return f"**{KINDS[kind]}**:" if chosen else f"{KINDS[kind]}:"


SHARE_OF = "{}, %"


# -------------------------------------------------------------------- one's own

ONE_CLIENT, TAKE = "Client {}", "Take {} people in each client"
CLIENTS, SIZE, DRAW = "Clients", "People each", "Draw"
SIZE_TIP = "To make the rules, and as many new people."
DRAW_TIP = (
    "Who comes into which client is drawn with this seed: the same number, the same clients."
)
OWN_SPLIT = (
    "Clients of your own are drawn from people parted as in the paper, whatever split is set."
)


def shares_title(groups: Sequence[str]) -> str:
    """What the sliders are for."""
    return f"Share of **{plain(groups[0])}**"


def shares_tip(groups: Sequence[str]) -> str:
    """Who the rest of a client is."""
    rest = groups[1] if len(groups) == 2 else "the others, as they come"
    return f"The rest of a client: {plain(rest)}."


def impossible(why: str, most: int) -> str:
    """Why clients cannot be drawn, and what is possible."""
    possible = (
        f" With these shares {format.count(most)} people in each client are possible."
        if most
        else " With these shares no client can be drawn: choose others."
    )
    return plain(why[0].upper() + why[1:], longest=300) + possible


def own_sentence(view: View, summary: Summary) -> str:
    """Asked, then reached, by whom, and the verdict."""
    worst = summary.judged.worst
    who = "" if worst is None else f", in {plain(worst.client)}"
    people = "new people" if summary.unseen else text.FITTED
    reached = f"on {people} {format.round_gap(worst_gap(summary))}{who}"
    cost = format.round_signed_points(-summary.judged.cost)
    return f"{asked(view)}; {reached}. **{cost}**{_verdict(summary)}"


def own_note(own: OwnClients, *, held_out: bool) -> str:
    """Who was drawn, and that nothing is retrained."""
    also = " to make the rules, as many new ones" if held_out else f" ({text.NO_CHECK})"
    runs = len(own.view.seeds)
    sentences = (
        f"{len(own.shares)} clients of {format.count(own.size)} held-out people{also}"
        f"{f'; mean of {runs} runs' if runs > 1 else ''}. Nobody is trained again: each person keeps "
        "the model's answer. The map is of the people the rules were made for."
    )
    policy = own.view.policy
    return (
        sentences
        if policy.is_plain
        else f"{sentences} Also asked: {plain(asked_text.policy(policy), 300)}."
    )


def own_spoken(summary: Summary) -> str:
    """The chart of one's own clients for those who hear it."""
    return f"Each client's gap before and after, on {text.judged_on(summary)}"
