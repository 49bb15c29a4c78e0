"""What the Scenarios page says."""

from collections.abc import Callable, Sequence

from fairfl_core._io import numbers as format
from fairfl_core.evaluation.summary import Figures, Summary
from fairfl_core.people.experiments import Experiment
from pages.scenarios.results import NARROW, WIDE, Loss, OwnClients, Scenario
from pages.shared import text
from pages.shared.outside_text import plain
from pages.shared.view import View

# Parts of the page, as they are named where one fails.
PAPERS, LOSSES = "The paper's scenarios", "The losses"
COMPOSITION, OWN = "The composition of the clients", "Clients of your own"
OWN_MAP, BESIDE_EVEN = "The map of your clients", "The comparison with even clients"
OWN_GAPS = "The clients' gaps"

SOLVING = "Solving every pair of a map"
LOSSES_TITLE = (
    "**What is lost, ours and the paper's.** Both limits from 0.30 to 0.05; then only the overall "
    "one, with the one inside clients at 0.05."
)
OWN_TITLE = "#### Make your own"
CLIENTS, SIZE, SIZE_TIP = (
    "Clients",
    "People in each client",
    "In validation, and as many in test.",
)
DRAW, DRAW_TIP = (
    "Draw",
    "Who comes into which client is drawn with this seed: the same number, the same clients.",
)
SPREADS = {"alike": "All alike", "little": "A little apart", "far": "Far apart"}
AS_DRAWN, EVEN = "as drawn", "spread evenly"
SMALL_OVERALL = "gap allowed<br>overall, ε<sub>0</sub>"
SMALL_INSIDE = "gap allowed inside<br>each client, ε<sub>c</sub>"
AXIS_CLIENT, AXIS_SHARE = "client", "share of people, %"
SCENARIO, CLIENT, N_HELD_OUT, FIGURE = "scenario", "client", "n held out", "figure"


def not_here(names: Sequence[str]) -> str:
    """Which scenarios are missing, and how they come."""
    return (
        f"Not among the experiments here: {', '.join(map(plain, names))}. Train one with "
        "`fairfl train`, and it appears in this place."
    )


def number(scenario: Scenario) -> str:
    """A scenario's name."""
    return f"Scenario {scenario.number}"


def headline(scenarios: Sequence[Scenario]) -> str:
    """What tightening both limits costs in each scenario."""
    ours = ", ".join(
        f"**{format.percent(each.unseen.share)}** in {number(each).lower()}" for each in scenarios
    )
    theirs = ", ".join(format.percent(each.paper.loss) for each in scenarios)
    return (
        f"Tightening both limits from {format.epsilon(WIDE)} to {format.epsilon(NARROW)} costs, "
        f"of the accuracy on unseen people, {ours} (the paper: {theirs})."
    )


def about(view: View, experiment: Experiment) -> str:
    """Whose people the scenarios are made of, and what is called fair."""
    dataset = experiment.manifest["dataset"]
    return (
        f"**{plain(dataset.get('title', experiment.manifest['title']), 90)}**: "
        f"{plain(dataset.get('client', 'clients as trained'), 200)}; groups: "
        f"{', '.join(plain(group) for group in experiment.groups)}. Fair is called "
        f"**{text.notion_title(view.notion).lower()}**: "
        f"{text.notion_meaning(view.notion, plain(experiment.favourable))}"
    )


def maps_reading(view: View, *, inside: bool) -> str:
    """How to read the maps; `inside` tells whether the limits set lie on them."""
    notion = text.notion_title(view.notion).lower()
    runs = ", mean over runs" if len(view.seeds) > 1 else ""
    rates = "" if view.rates == "labels" else f", rates: {text.RATES[view.rates][0]}"
    frame = (
        "The frame is where the limits are set."
        if inside
        else "The limits set now lie off these maps, so no frame is drawn."
    )
    return (
        f"**What each pair of limits leaves of accuracy, %** ({notion}, region {view.region}"
        f"{rates}, fitted on validation{runs}). All maps share one scale: lighter is more "
        "accurate; inside the dotted line fairness costs nothing against no limit. " + frame
    )


def map_spoken(scenario: Scenario) -> str:
    """The map for those who hear it."""
    return f"Accuracy over both limits, {number(scenario)}"


def now_label(scenario: Scenario) -> str:
    """The label of a scenario's accuracy."""
    return f"{number(scenario)}, unseen people"


def against_no_limit(judged: Figures) -> str:
    """What the limits change of accuracy."""
    return f"{format.signed_points(-judged.cost)} against no limit"


def gaps_now(judged: Figures) -> str:
    """The gaps at the limits set."""
    worst = judged.worst
    named = f"; worst {plain(worst.client)}: {format.gap(worst.gap)}" if worst else ""
    return f"Overall gap {format.gap(judged.overall)}{named}."


def loss_rows(scenarios: Sequence[Scenario]) -> dict[str, list[str]]:
    """Rows of the table of losses, ours and the paper's."""

    def both(loss: Loss) -> str:
        return f"{format.percent(loss.share)} ({format.points(loss.lost)})"

    def overall(before: float, after: float) -> str:
        return f"{format.percent(before)} → {format.percent(after)}"

    ours: dict[str, Callable[[Scenario], Loss]]
    ours = {"unseen people": lambda s: s.unseen, "validation": lambda s: s.fitted}
    rows = {f"Both, {name}": [both(of(s)) for s in scenarios] for name, of in ours.items()}
    rows |= {"Both, the paper": [format.percent(s.paper.loss) for s in scenarios]}
    rows |= {
        f"Overall only, {name}": [overall(of(s).before, of(s).after) for s in scenarios]
        for name, of in ours.items()
    }
    rows |= {
        "Overall only, the paper": [overall(s.paper.before, s.paper.after) for s in scenarios]
    }
    return dict(sorted(rows.items()))


def loss_record(scenario: Scenario) -> dict[str, object]:
    """The same in numbers, for a file."""
    record: dict[str, object] = {SCENARIO: number(scenario)}
    for name, loss in (("unseen people", scenario.unseen), ("validation", scenario.fitted)):
        record |= {
            f"lost, points, {name}": round(100 * loss.lost, 3),
            f"lost, % of accuracy, {name}": round(100 * loss.share, 3),
            f"overall .3, {name}": round(loss.before, 5),
            f"overall .05, {name}": round(loss.after, 5),
        }
    return record | {
        "lost, % of accuracy, paper": 100 * scenario.paper.loss,
        "overall .3, paper": scenario.paper.before,
        "overall .05, paper": scenario.paper.after,
    }


def composition_reading(first: str) -> str:
    """How to read who is in which client."""
    return (
        f"**Who is in which client**: share of {plain(first)} and the rest. From left to right "
        "the clients grow apart."
    )


def share_of(group: str) -> str:
    """A column of shares."""
    return f"{group}, %"


# -------------------------------------------------------------------- one's own


def own_introduction(title: str) -> str:
    """Whose people are dealt anew, and that nothing is retrained."""
    return (
        f"New clients from the people of *{plain(title)}* that training held out: those of "
        "validation to make the lottery, those of test to judge it. **Scores are not retrained**: "
        "each person keeps the answer the model gave in the client they came from. The experiment "
        "is chosen in the sidebar."
    )


def shares_title(groups: Sequence[str]) -> str:
    """What the sliders are for."""
    rest = groups[1] if len(groups) == 2 else "the others, as they come"
    return f"Share of **{plain(groups[0])}** in each client, % (the rest: {plain(rest)})"


def client(place: int) -> str:
    """The label of a client's slider."""
    return f"Client {place + 1}"


def impossible(why: str, most: int) -> str:
    """Why clients cannot be drawn, and what is possible."""
    possible = (
        f" With these shares {format.count(most)} people in each client are possible."
        if most
        else " With these shares no client can be drawn: choose others."
    )
    return plain(why[0].upper() + why[1:], longest=300) + possible


def take(most: int) -> str:
    """The button that takes what is possible."""
    return f"Take {format.count(most)} people in each client"


def own_caption(own: OwnClients, *, held_out: bool) -> str:
    """Who was drawn."""
    also = " in validation and as many in test" if held_out else f" ({text.NO_CHECK})"
    runs = len(own.view.seeds)
    anew = f", drawn anew in each of {runs} runs; means." if runs > 1 else "."
    return (
        f"{len(own.shares)} clients of {format.count(own.size)} people{also}, draw {own.draw}"
        + anew
    )


def own_map_reading(*, inside: bool) -> str:
    """How to read the map of one's own clients."""
    frame = " The frame is where the limits are set." if inside else ""
    return (
        "**What each pair of limits leaves of accuracy in these clients, %**, fitted on "
        f"validation.{frame}"
    )


def beside_even(group: str, judged_on: str) -> str:
    """The title of the comparison with even clients."""
    return f"**As drawn, and with as many {plain(group)} spread evenly** ({judged_on})"


def even_rows(summaries: Sequence[Summary], losses: Sequence[float]) -> dict[str, list[str]]:
    """What is compared with even clients."""
    judged = [summary.judged for summary in summaries]

    def cost(summary: Summary) -> str:
        said = format.points(summary.judged.cost)
        return said if summary.judged.cost >= 0 else f"{summary.effect.word} {said}"

    def worst(figures: Figures) -> str:
        return format.gap(figures.worst.gap if figures.worst else float("nan"))

    return {
        "Accuracy, the model's own": [format.percent(each.accuracy_before) for each in judged],
        "Accuracy, no limit": [format.percent(each.accuracy_unlimited) for each in judged],
        "Accuracy, fair": [format.percent(each.accuracy) for each in judged],
        "Cost against no limit": [cost(summary) for summary in summaries],
        "Overall gap": [format.gap(each.overall) for each in judged],
        "Mean client's gap": [format.gap(each.local_mean) for each in judged],
        "Worst client's gap": [worst(each) for each in judged],
        "Lost from 0.30 to 0.05, both (validation)": [format.percent(loss) for loss in losses],
    }
