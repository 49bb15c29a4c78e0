"""From noise studies to sentences, and what noise does and does not protect."""

import numpy as np

from fairfl_core.privacy.mechanisms import Mechanism
from fairfl_core.privacy.noise_study import NoiseStudy, band
from pages.components.privacy.results import Found
from pages.components.shared import words
from pages.components.shared.results import Choice

__all__ = [
    "MECHANISMS", "NEIGHBOURS", "NOT_PROTECTED", "PROTECTED", "REHEARSAL", "comparison",
    "failing", "headline", "what_it_is",
]  # fmt: skip

MECHANISMS = {
    "histogram": ("histogram (each person in one bin)", "the histogram"),
    "paper": ("the paper's statistics", "the paper's mechanism"),
}
NEIGHBOURS = {
    "replace-one": "one person replaced by another",
    "add-remove": "one person more or fewer",
}

HARDLY = 0.0005  # a twentieth of a point, as on the maps
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
    "- **Training.** FedAvg sends weights made from the raw data; nothing here makes that "
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


def what_it_is(mechanism: Mechanism, choice: Choice, labels: tuple[str, ...]) -> str:
    """The noise in words, with the paper's name for its budget."""
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
    enough = choice.region == "simplex" and choice.notion in ("eo", "eop")
    if len(labels) > 2 and not enough:
        said += (
            " Of wrong answers it sends only the sum, so here they are taken as evenly spread: "
            "it is meant for the simplex with equalized odds or equal opportunity."
        )
    return said


def headline(found: Found) -> str:
    """The page in a few words: the worst client's true gap, the cost, who fails."""
    study, at = found.study, found.at
    worst = band(study.reached.local_worst)
    lost = float(found.exact.accuracy.mean() - study.reached.accuracy[at].mean())
    cost = f"Noise {'costs' if lost >= 0 else 'gains'} {words.points(lost)} of accuracy."
    if abs(lost) < HARDLY:
        cost = "Noise hardly changes accuracy."
    if np.isnan(worst.middle[at]):
        return f"No client has two groups to compare. {cost}"
    asked = words.epsilon(float(study.eps_local.max()))
    return (
        f"At a privacy budget of {study.spent[at]:g} the worst client's true gap is "
        f"**{words.gap(worst.middle[at])}** (asked: {asked}; in 90 of 100 draws between "
        f"{words.gap(worst.low[at])} and {words.gap(worst.high[at])}). {cost} {failing(study, at)}"
    )


def failing(study: NoiseStudy, at: int) -> str:
    """The client that breaks its limit most often, by name."""
    if study.eps_local.min() >= 1:
        return "No local limit is asked, so no client can fail it."
    worst = study.failing(at)
    if worst is None:
        return "No client's true gap is above what was asked in any draw."
    return (
        f"**{words.plain(study.clients[worst])}** (n = {words.count(study.n_client[worst])}) fails "
        f"most often: in {100 * study.fails[at, worst]:.0f} of 100 draws."
    )


def comparison(found: Found) -> str:
    """The other mechanism at the same true budget."""
    ours, theirs = (
        float(band(study.reached.local_worst).middle[place])
        for study, place in ((found.study, found.at), (found.other, found.other_at))
    )
    name = found.other_name
    called = f" (which the paper calls {found.other.mechanisms[found.other_at].epsilon:g})"
    return (
        f"At the same true budget{called if name == 'paper' else ''} {MECHANISMS[name][1]} would "
        f"leave the worst client at {words.gap(theirs)} instead of {words.gap(ours)} (medians)."
    )
