"""What the lesson says: steps 7 and 8, on what a limit is worth and what it costs."""

from fairfl_core.teaching import hospitals as lesson
from pages.components.learn.question import Question
from pages.components.shared import format
from pages.components.shared.format import plain
from pages.components.shared.summary import FREE

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
    "people",
    "asked",
    "unseen, typical",
    "unseen, low",
    "unseen, high",
    "chance alone",
    "interval of the gap seen, low",
    "interval of the gap seen, high",
)
ASKED_AND_MET, CHANCE_ALONE = "asked, and met", "chance alone"
UNSEEN_BARS = "unseen people (bar: nine in ten)"
AXIS_MET_ON, AXIS_WOMEN_MEN = "people the limit was met on", "gap between women and men"
HOVER_CHANCE = "%{x:,} people: chance alone %{y:.3f}<extra></extra>"
HOVER_UNSEEN = "%{x:,} people: %{y:.3f} on unseen people<extra></extra>"


def chance_after(n: int, limit: float, carried: lesson.Carried) -> str:
    """What a limit met on some people is worth."""
    low, high = carried.range
    return (
        f"**Met on {format.count(n)} people, a limit of {format.epsilon(limit)} is a gap of "
        f"{format.gap(carried.typical)} on unseen ones**, nine times in ten between "
        f"{format.gap(low)} and {format.gap(high)}. A perfectly fair rule would show "
        f"{format.gap(carried.floor)} on {format.count(n)} people; seeing {format.epsilon(limit)} "
        f"there, the true gap may be anything up to {format.gap(carried.high)} (95 % interval)."
    )


# -------------------------------------------------------------------- 8: the cost

COST = (
    "Now real people. Each cell of the map is one pair of limits, solved: the accuracy that the "
    "best lottery keeps on the people it was fitted on. Top right asks for little, bottom left for "
    "much. Where the map stays light, fairness is free."
)
COST_OPTIONS = (
    "The limit inside each client (local)",
    "The limit overall (global)",
    "Both cost about the same",
)
COST_CAVEAT = "Before you rely on any of it: *What no metric settles*, below."
GO_EXPLORE = "**Go and explore**: move both limits yourself"
ANEW, SOLVING = "Start the lesson anew", "Solving the map"
TAKES_LONG = "with so many clients it takes long; choose another experiment in the sidebar."
GLOBAL_ALONE, LOCAL_ALONE, HARDLY = "global limit alone", "local limit alone", "hardly a limit"


def cost_question(tight: float, local: float, overall: float) -> Question:
    """Which limit costs more, from what both cost."""
    alike = abs(local - overall) <= FREE
    return Question(
        8,
        f"In this experiment, which costs more accuracy: at most {tight} inside each client, or "
        f"at most {tight} overall?",
        COST_OPTIONS,
        2 if alike else 0 if local > overall else 1,
        f"Local alone costs {format.points(local)}, global alone {format.points(overall)}. Both "
        "marks are on the map. What holds on unseen people, and for whom, is on the Explore page.",
    )


def cost_reading(title: str, notion: str) -> str:
    """How to read the map."""
    return (
        f"**{plain(title, 90)}**, {notion.lower()}: accuracy for each pair of limits, on "
        "validation. The sidebar chooses another."
    )
