"""What the lesson says: steps 7 and 8, on what a limit is worth and what it costs."""

from fairfl_core._io import numbers as format
from fairfl_core.evaluation.summary import Figures
from fairfl_core.teaching import hospitals as lesson
from pages.learn.question import Question
from pages.shared.outside_text import plain

# -------------------------------------------------------------------- 7: chance

CHANCE = (
    "The lottery is fitted on people whose truth is known (**validation**). It will be used on "
    "others. So we keep some people aside and look at them only at the end: the **unseen people** "
    "(test).\n\n"
    "Even a perfectly fair rule shows some gap on few people, by chance alone: the **noise "
    "floor**. A gap below it is no evidence, neither for nor against."
)
CHANCE_QUESTION = Question(
    7,
    "On 100 people we meet a limit of 0.01 exactly. How large is the gap, typically, on people "
    "not seen before?",
    ("About 0.01", "About 0.02", "About 0.08"),
    2,
    "Among 100 people there are some 20 ill women and 20 ill men. One man more or less moves the "
    "gap by 0.05. The lottery was tuned to these forty, and their luck does not carry over.",
)
CHANCE_PEOPLE, CHANCE_LIMIT = "People the limit was met on", "Gap allowed, ε"
CHANCE_BEFORE = "**The limit asked, and met on the people it was fitted on.** And on others?"
CHANCE_COLUMNS = (
    "people it was met on",
    "asked",
    "whole population, median draw",
    "whole population, 1 draw in 20 below",
    "whole population, 1 draw in 20 above",
    "chance alone, on as many people",
    "95 % interval on as many people, low",
    "95 % interval on as many people, high",
)
ASKED_AND_MET, CHANCE_ALONE = "asked, and met", "chance alone"
UNSEEN_BARS = "whole population (bar: nine of ten draws)"
AXIS_MET_ON, AXIS_WOMEN_MEN = "people the limit was met on", "gap between women and men"
HOVER_CHANCE = "%{x:,} people: chance alone %{y:.3f}<extra></extra>"
HOVER_UNSEEN = "met on %{x:,} people: %{y:.3f} in the whole population<extra></extra>"


def chance_after(n: int, limit: float, carried: lesson.Carried) -> str:
    """What a limit met on some people is worth."""
    low, high = carried.range
    women, men = carried.ill
    draws = len(carried.true)
    return (
        f"**Met on {format.count(n)} people (about {format.count(women)} ill women and "
        f"{format.count(men)} ill men), a limit of {format.epsilon(limit)} is a gap of "
        f"{format.gap(carried.typical)} on everybody else**: measured on the whole made-up "
        f"population, the median over {draws} draws of {format.count(n)}; in nine of ten draws "
        f"between {format.gap(low)} and {format.gap(high)}. A perfectly fair rule would show "
        f"{format.gap(carried.floor)} on {format.count(n)} people, on average. Whoever sees "
        f"{format.epsilon(limit)} on {format.count(n)} people cannot rule out a gap of up to "
        f"{format.gap(carried.high)} (95 % interval of {format.count(n)} people)."
    )


# -------------------------------------------------------------------- 8: the cost

COST = (
    "Now real people. Each cell of the map is one pair of limits, solved: the accuracy that the "
    "best lottery keeps on the people it was fitted on. Top right asks for little, bottom left for "
    "much. Where the map stays light, fairness is free."
)
ALIKE = 0.2  # points: costs that are no further apart are called about the same
COST_OPTIONS = (
    "The limit inside each client (local)",
    "The limit overall (global)",
    "Both cost about the same",
)
COST_CAVEAT = "Before you rely on any of it: *What no metric settles*, below."
GO_EXPLORE = "**Go and explore**: move both limits yourself"
EXPERIMENT = "Whose people"
ANEW, SOLVING = "Start the lesson anew", "Solving the map"
TAKES_LONG = "with so many clients it takes long; choose another experiment."
GLOBAL_ALONE, LOCAL_ALONE, HARDLY = "global limit alone", "local limit alone", "hardly a limit"


def cost_question(tight: float, local: Figures, overall: Figures, people: str) -> Question:
    """Which limit costs more, from what both cost on these people: as Explore tells it."""
    costs = [round(100 * one.cost, 1) for one in (local, overall)]  # as they are read
    alike = abs(costs[0] - costs[1]) < ALIKE + 0.05
    return Question(
        8,
        f"In this experiment, which costs more accuracy: at most {tight} inside each client, or "
        f"at most {tight} overall?",
        COST_OPTIONS,
        2 if alike else 0 if costs[0] > costs[1] else 1,
        f"On {people} (n = {format.count(local.n)}) local alone {_costs(local)}, global alone "
        f"{_costs(overall)}, against no limit; up to {ALIKE:g} points apart is called the same. "
        "Both marks are on the map, which shows the fitted people. For whom it holds, and at "
        "whose cost, is on the Explore page.",
    )


def _costs(figures: Figures) -> str:
    return f"{'costs' if figures.cost >= 0 else 'gains'} {format.points(figures.cost)}"


def cost_reading(title: str, notion: str) -> str:
    """How to read the map."""
    return (
        f"**{plain(title, 90)}**, {notion.lower()}: accuracy for each pair of limits, on "
        "validation."
    )
