"""What the lesson says: its frame, its ten steps, the words of the app, what no metric settles."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairfl_core._io import numbers as format
from fairfl_core._io.files import APP_ROOT
from fairfl_core.evaluation.evaluation import Evaluation
from fairfl_core.evaluation.study import Figures
from fairfl_core.teaching import hospitals as lesson


@dataclass(frozen=True)
class Question:
    """What a step asks: its options, which of them is right, and why."""

    step: int
    text: str
    options: tuple[str, ...]
    right: int
    because: str

    @property
    def answer(self) -> str:
        """The right option."""
        return self.options[self.right]

    @property
    def answer_within(self) -> str:
        """The right option within a sentence."""
        return self.answer[0].lower() + self.answer[1:]


# -------------------------------------------------------------------- the frame

STEP, BACK = "Step", "Back"
EXPLAINED = ("Words", "Caveats")  # sections of docs/words.md
CHOOSE_FIRST = "Guess first."
STEPS = {  # what a step is called on the ladder, and above its picture
    "Network": "One model, two kinds of fair",
    "Notions": "Three ways to say fair",
    "Paradox": "Fair in each, unfair in all",
    "Lottery": "What a lottery can reach",
    "Space": "The same with three answers",
    "Dice": "Why the answer is a lottery",
    "Chance": "What a limit on 100 people is worth",
    "Cost": "What it costs",
    "Precision": "Why not everything can be equal",
    "Choice": "Which notion?",
}
NAMES, TITLES = tuple(STEPS), tuple(STEPS.values())
GAP_ALLOWED = "Gap allowed between women and men, ε"
ANEW, NOW_EXPLORE = "Start anew", "Now Explore"


STEP_OF, NEXT = "{} of {}", "Next: {}"  # to a hall; the button to the next step
RIGHT = "**Right.** {.because}"
NOT_QUITE = "**Not quite: {0.answer_within}.** {0.because}"


def score(guessed_right: int, answered: int) -> str:
    """The end of the lesson."""
    missing = len(TITLES) - answered
    if missing:
        return f"**{guessed_right} of {answered} guessed right**, {missing} not guessed."
    return f"**{guessed_right} of {answered} guessed right.**"


# -------------------------------------------------------------------- 1: the network

NETWORK = (
    "Three hospitals train one model, records stay at home: a **federated** model, each hospital a "
    "**client**.\n\n"
    "Is it fair to women and men *inside each hospital* (**local**)? *Over all together* "
    "(**global**)?"
)
NETWORK_QUESTION = Question(
    1,
    "What does a hospital send to the server?",
    (
        "Its patients' records",
        "The model's numbers and a small table of counts",
        "Nothing at all",
    ),
    1,
    "A server averages what each has learned. The table says how many people of each group were ill or healthy and "
    "what the model said: here eight numbers a hospital. They are enough to read every gap and to "
    "set up the fair answers.",
)
NETWORK_SPOKEN = "Three hospitals and a server, joined by arrows."
NETWORK_COLUMNS = (
    "hospital",
    "group",
    "healthy, told healthy",
    "healthy, told ill",
    "ill, told healthy",
    "ill, told ill",
    "share of ill found",
)
HOSPITAL, PEOPLE, EIGHT_COUNTS, UNKNOWN = "hospital", "people", "8 counts", "?"
TRAVELLED = "The real messages of such a run"
TRAVELLED_COLUMNS = ("way", "message", "bytes", "purpose", "tables in it")
WAYS = {"sent": "to the server", "received": "from the server"}
TRAVELLED_OF = (
    "In a real run ({0.study}, {0.rounds} rounds) the client “{0.client}” has {0.rows:,} people. "
    "It sent {0.sent:,} bytes in all: models and small tables, no row of any person."
)


def tables(message: Mapping[str, Any]) -> str:
    """The tables in a message, with their shapes."""
    return ", ".join(
        f"{name.replace('_', ' ')} ({' × '.join(map(str, shape)) or 'one number'})"
        for name, shape in message["arrays"].items()
    )


def network_after(judged: Evaluation) -> str:
    """Both gaps, read from the counts."""
    return (
        "**From those counts the server reads both gaps**: how much more often ill people of one "
        f"group are found than of the other. Inside hospitals up to "
        f"{format.round_gap(judged.gaps.local_worst)}, overall {format.round_gap(judged.gaps.overall)}."
    )


def hospital(name: str, people: float, gap: float | None) -> str:
    """A hospital in the picture."""
    said = f"<b>{name}</b><br>{format.count(people)} people"
    return said if gap is None else f"{said}<br>local gap {format.round_gap(gap)}"


def server(gap: float | None) -> str:
    """The server in the picture."""
    return (
        "<b>Server</b>" if gap is None else f"<b>Server</b><br>global gap {format.round_gap(gap)}"
    )


# -------------------------------------------------------------------- 2: four people

NOTION_LINES = {
    "sp": "**Statistical parity**{}: each group is told “ill” equally often.",
    "eop": "**Equal opportunity**{}: of those *truly ill*, each group is found equally often.",
    "eo": "**Equalized odds**{}: the same, and of those *truly healthy*, too.",
}
FOUR_QUESTION = Question(
    2,
    "Call healthy Bea ill as well: which notion still holds?",
    ("Statistical parity", "Equal opportunity", "Equalized odds"),
    1,
    "Equal opportunity looks only at people who are ill, and both are still found. Now two of two "
    "women but one of two men are told “ill”, and a healthy woman is wronged where a healthy man is "
    "not: the other two break.",
)
FLIP = "**Whom does the model tell “ill”?**"
DAN_ILL = "Dan is truly ill, too"
FOUR_RATES = ("Of all, told ill", "Of the ill, told ill", "Of the healthy, told healthy")
NOTHING_TO_COMPARE = "(no healthy man: nothing to compare)"
FOUR_READING = "Where two marks part, groups are treated differently."
AXIS_OF_GROUP, SHARE = "share of the group, %", "share"


def person(name: str, group: str, *, ill: bool) -> str:
    """A person's switch."""
    one = {"women": "woman", "men": "man"}[group]
    return f"{name} ({one}, {'ill' if ill else 'healthy'})"


def notion_line(notion: str, gap: float) -> str:
    """A notion, and whether it holds."""
    return NOTION_LINES[notion].format(
        " (holds)" if gap < 1e-9 else f" (**broken**, gap {format.round_gap(gap)})"
    )


OF_GROUP = "{0}, {1}"


# -------------------------------------------------------------------- 3: a pair of hospitals

PAIR = (
    "**Local** fairness compares women and men inside one hospital, **global** fairness over all. "
    "If each hospital is fair, is the whole?"
)
PAIR_QUESTION = Question(
    3,
    "Each hospital finds its ill women and men equally often. Most women go to South, most men to "
    "North. And over both together?",
    ("Women and men equally often", "Women more often", "Men more often"),
    2,
    "Most men are in the hospital that finds many, most women in the one that finds few. Nobody is "
    "treated differently inside either hospital, yet overall 82 in 100 ill men are found and 58 in "
    "100 ill women. This is **Simpson's paradox**.",
)
PAIR_TRY = (
    "Try: equal shares of women in both hospitals. Then *each unfair, the whole fair*, and "
    "*turned round*, where women are ahead in each and behind in the whole."
)
PAIR_EXAMPLE = "Example"
PAIR_CASES = {
    "fair": "Each fair, the whole not",
    "unfair": "Each unfair, the whole fair",
    "reversed": "Turned round",
}
PAIR_BEFORE = "Thin bars: 95 % intervals."
AXIS_FOUND = "ill people found, %"
PAIR_COLUMNS = {"n": "ill people", "rate": "found", "rate_low": "low", "rate_high": "high"}
WOMEN_OF = "Women among the people of {}"


def pair_after(inside: NDArray[np.float64], overall: float) -> str:
    """The gaps inside, and over both."""
    north, south, both = (format.round_gap(float(one)) for one in (*inside, overall))
    return (
        f"**Inside the hospitals the gaps are {north} and {south}; over both it is {both}.** Thin "
        "bars: 95 % intervals."
    )


def ill_people(people: Sequence[tuple[str, float]], gap: float) -> str:
    """Who stands behind a row, and its gap."""
    said = ", ".join(f"{n:.0f} ill {group}" for group, n in people)
    return f"{said}; gap {format.round_gap(gap)}"


HOVER_SHARE = "{}: %{{x:.1f}} % of %{{customdata}} people<extra></extra>"


# -------------------------------------------------------------------- 4: under the curve

CURVE = (
    "A **threshold** turns a score into an answer. Each is a dot: ill people found against healthy "
    "people alarmed, the **ROC curve**.\n\n"
    "Dice over the model's answers reach its **triangle**, and nothing outside."
)
CURVE_QUESTION = Question(
    4,
    "Ask for a gap of 0: women and men must share one spot. Which?",
    ("The women's own", "The men's own", "A third that both triangles reach"),
    2,
    "Neither group can reach the other's corner. The best common spot lies where the triangles "
    "overlap: on the edge of the women's, to the right of their corner (more false alarms for "
    "hardly more found), and inside the men's, below theirs (fewer found). Move the limit and see "
    "the two marks part again, never farther than the dashed square.",
)
CURVE_KERNEL = (
    "Dotted: what the kernel region adds. With two answers these points are all worse than the "
    "triangle's; with more answers some are better."
)
WHY_NOT_THRESHOLD = "Why not move the threshold?"
CURVE_COLUMNS = (
    "group",
    "model: false alarms, %",
    "model: found, %",
    "lottery: false alarms, %",
    "lottery: found, %",
)
AXIS_ALARMED = "healthy people alarmed, %"
TRIANGLE, KERNEL_ADDS = "triangle", "kernel adds"
HOVER_THRESHOLD = "threshold: %{x:.0f} % alarmed, %{y:.0f} % found<extra></extra>"
MODELS_OWN, THE_LOTTERY = "the model's own", "the lottery"


def moved_thresholds(exact: float, triangle: float) -> str:
    """What each group's own thresholds would reach, beside dice over answers alone."""
    return (
        "Where the scores are at hand, do. A threshold moves along its group's own curve, above "
        "the triangle; a throw of dice between two thresholds reaches everything under the curve. "
        "That is the region *exact* of the other pages. Here, at a gap of 0, it keeps "
        f"{format.round_percent(exact)} of the answers right; dice over the model's answers alone, "
        f"the triangle, keep {format.round_percent(triangle)}. The triangle is for those who have "
        "the answers but not the scores. Either way women and men are treated by different rules."
    )


def curve_reading(limit: float, reach: lesson.Reach) -> str:
    """What a limit leaves."""
    if reach.model_accuracy - reach.accuracy > 1e-6:
        return f"{_limited(limit, reach)} Up is better for the ill, left for the healthy."
    return (
        f"**The model's own: accuracy {format.round_percent(reach.accuracy)}, gap "
        f"{format.round_gap(reach.gap)}.**"
    )


def _limited(limit: float, reach: lesson.Reach) -> str:
    cost = format.round_points(reach.model_accuracy - reach.accuracy)
    lost = "as the model's own" if cost == "0 points" else f"{cost} less than the model's own"
    return (
        f"**Limit {format.epsilon(limit)}: accuracy {format.round_percent(reach.accuracy)}, "
        f"{lost}.**"
    )


THRESHOLDS = "{}: thresholds"
BY_LOTTERY = "{}: lottery"
BY_MODEL = "{}: model"
HOVER_MARK = "{0}: {1}<br>%{{x:.1f}} % alarmed, %{{y:.1f}} % found<extra></extra>"


# -------------------------------------------------------------------- 5: in space

SPACE = (
    "A skin clinic's model says *leave*, *watch* or *treat*. Each group is a point in space: how "
    "many of each kind are found. The lottery keeps the model's answer, or gives one of the three "
    "to everybody."
)
SPACE_QUESTION = Question(
    5,
    "With two answers the region had three corners. How many has it with three?",
    ("Three", "Four", "Nine"),
    1,
    "The model's own answers, and one corner for each answer given to everybody: a tetrahedron "
    "for each group. Each further answer adds one corner and one dimension; the arithmetic stays "
    "the same. Turn the picture by dragging.",
)
SPACE_SPOKEN = "Each group's share of right answers in the three kinds of cases."


def space_after(limit: float, reach: lesson.Reach) -> str:
    """What a limit leaves, with three answers."""
    return f"{_limited(limit, reach)} Filled marks: the lottery; hollow: the model."


BY_MODEL_SHARE, BY_LOTTERY_SHARE = "{}: model, %", "{}: lottery, %"  # columns of a label
ALWAYS = "always {}"


# -------------------------------------------------------------------- 6: the draws

DRAWS_QUESTION = Question(
    6,
    "Tomorrow the same 100 men come again. Who is told “healthy” then?",
    ("The same men as today", "Other men, about as many", "Nobody"),
    1,
    "Each time the dice are thrown anew, and two men with the same file may hear different answers: "
    "a price, too. Who may not like that lets the dice depend on the "
    "person's id: the same person then always gets the same answer, and over many people the "
    "shares are the same. It is still chance who has which id.",
)
DRAWS_MODES = {"dice": "New dice each time", "id": "By each person's id"}
DRAWS_HOW, ASK_AGAIN = "How answers are drawn", "Ask once more"
DAYS = ("today", "tomorrow")
OTHER_THAN_BEFORE = "other than the day before"
PERSON, MODEL = "person", "model"


def draws(kept: float) -> str:
    """Why there are dice, and how many keep the model's answer."""
    return (
        "The fair spot of step 4 lies *between* corners; only dice get there.\n\n"
        f"When the model says “ill” of a man, {kept:.0f} in 100 keep that answer; "
        f"{100 - kept:.0f} are told “healthy”."
    )


def draws_reading(turned: Sequence[int], differ: int | None) -> str:
    """How many are told otherwise; how many hear something else on the second day."""
    said = f"**Today {turned[0]} of 100 men are told “healthy”**"
    if differ is not None:
        said += (
            f" although the model says “ill”; tomorrow {turned[1]}. **{differ} of the 100 hear "
            "something else than the day before** (rings)"
        )
    return f"{said}. One square is one man."


TOLD = "told “{}”"


# -------------------------------------------------------------------- 7: chance

CHANCE = (
    "A rule is fitted on some people and used on **new people**.\n\n"
    "Even a perfectly fair rule shows some gap on few people, by chance alone: the **noise floor**."
)
CHANCE_QUESTION = Question(
    7,
    "On 100 people a limit of 0.01 is met exactly. How large is the gap on new people, typically?",
    ("About 0.01", "About 0.02", "About 0.08"),
    2,
    "Among 100 people there are some 20 ill women and 20 ill men. One man more or less moves the "
    "gap by 0.05. The lottery was tuned to these forty, and their luck does not carry over. A gap "
    "below the noise floor is no evidence, neither for nor against.",
)
CHANCE_PEOPLE, CHANCE_LIMIT = "People the limit was met on", "Gap allowed, ε"
CHANCE_SPOKEN = "The limit, as it was met on the people it was fitted on."
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
EVERYBODY_BARS = "whole population (bar: nine of ten draws)"
AXIS_MET_ON, AXIS_WOMEN_MEN = "people the limit was met on", "gap between women and men"
HOVER_CHANCE = "%{x:,} people: chance alone %{y:.3f}<extra></extra>"
HOVER_EVERYBODY = "met on %{x:,} people: %{y:.3f} in the whole population<extra></extra>"


def chance_after(n: int, limit: float, carried: lesson.Carried) -> str:
    """What a limit met on some people is worth."""
    low, high = carried.range
    women, men = carried.ill
    return (
        f"**Met on {format.count(n)} people (about {format.count(women)} ill women and "
        f"{format.count(men)} ill men), a limit of {format.epsilon(limit)} is a gap of "
        f"{format.round_gap(carried.typical)} on everybody else**, the median of "
        f"{len(carried.true)} draws; in nine of ten {format.round_gaps(low, high)}. A perfectly fair "
        f"rule would show {format.round_gap(carried.floor)} on as many people. Whoever sees "
        f"{format.epsilon(limit)} there cannot rule out up to {format.round_gap(carried.high)} "
        "(95 % interval)."
    )


# -------------------------------------------------------------------- 8: the cost

COST = (
    "Real people. Each cell is one pair of limits: the accuracy that the best rule keeps. Where the "
    "map stays light, fairness is free."
)
ALIKE = 0.2  # points: costs that are no further apart are called about the same
COST_OPTIONS = ("Inside each (local)", "Overall (global)", "Both about the same")
SOLVING = "Solving the map"
MARKS = "L: local limit alone · G: global limit alone"


def cost_question(tight: float, local: Figures, overall: Figures, noun: str) -> Question:
    """Which limit costs more, from what both cost on these people: as Explore tells it."""
    costs = [round(100 * one.cost, 1) for one in (local, overall)]  # as they are read
    alike = abs(costs[0] - costs[1]) < ALIKE + 0.05
    return Question(
        8,
        f"Which costs more accuracy: at most {tight} inside each {noun}, or at most {tight} overall?",
        COST_OPTIONS,
        2 if alike else 0 if costs[0] > costs[1] else 1,
        f"On new people (n = {format.count(local.n)}) inside alone {_costs(local)}, overall alone "
        f"{_costs(overall)}, beside the model as it is; up to {ALIKE:g} points apart is called the "
        "same. Both are marked on the map, which shows the people it was fitted on.",
    )


def _costs(figures: Figures) -> str:
    said = format.round_points(figures.cost)
    if said == "0 points":
        return "costs nothing"
    return f"{'costs' if figures.cost >= 0 else 'gains'} {said}"


def cost_reading(notion: str, *, coarse: bool) -> str:
    """What the map shows."""
    few = " One run and few limits, as more take long here." if coarse else ""
    return f"Accuracy for each pair of limits, {notion.lower()}.{few}"


# -------------------------------------------------------------------- 9: precision

PRECISION = (
    "Of those called ill, how many are? That is the **precision**.\n\n"
    "Here both errors are equal: the ill are found equally often in both groups, the healthy called "
    "ill equally often."
)
PRECISION_QUESTION = Question(
    9,
    "Of the men 40 % are ill, of the women 20 %. And the precision?",
    ("It is equal, too", "It is higher for women", "It is higher for men"),
    2,
    "Among many ill people, someone called ill is more often ill. The errors say nothing of how many "
    "ill people there are; precision does. All three can be equal only if both groups have the same "
    "share of ill people, or nobody healthy is called ill. (A score is **calibrated** if among "
    "people it gives 70 % to, 70 % are ill: then it means the same for everybody.)",
)
ILL_WOMEN, ILL_MEN = "Ill among women", "Ill among men"
FOUND, FALSE_ALARMS = "Of the ill, called ill", "Of the healthy, called ill"
PRECISION_SPOKEN = "Both error rates, equal for women and men."
AXIS_PRECISION = "share, %"
PRECISION_COLUMNS = (
    "group",
    "ill",
    "of the ill, called ill",
    "of the healthy, called ill",
    "precision",
)
SEXES = ("women", "men")
BARS = ("of the ill, called ill", "of the healthy, called ill", "precision")


def precision_after(women: float, men: float, needed: float) -> str:
    """What equal errors do to precision, and what equal precision would ask of the errors."""
    if women != women or men != men:
        return "**Nobody is called ill, so there is no precision to compare.**"
    said = (
        f"**Equal errors: of those called ill, {format.round_percent(women)} of the women and "
        f"{format.round_percent(men)} of the men are.** "
    )
    if abs(women - men) < 5e-4:
        return said + "All three are equal here: the shares of ill people are, or nobody errs."
    if needed != needed:
        return said + "No false-alarm rate for women would make precision equal."
    return said + (
        f"For women's precision to be the men's, {format.round_percent(needed)} of healthy women "
        "would have to be called ill: another error rate than the men's."
    )


# -------------------------------------------------------------------- 10: which notion

WHICH = "No notion is right for everything; each protects somebody against something."
WHICH_QUESTION = Question(
    10,
    "A bank's old decisions were unfair, and the model learnt them as truth. Which notion does not "
    "build on it?",
    ("Equal opportunity", "Equalized odds", "Statistical parity"),
    2,
    "It compares how often each group is chosen and never asks who deserved it. The others compare "
    "people with the same recorded truth: if that was unfair, they inherit it.",
)
TREE = {
    "truth": (
        "Can the recorded truth be trusted?",
        {"no": "No, somebody judged", "yes": "Yes"},
    ),
    "harm": (
        "What hurts?",
        {
            "missed": "Being missed",
            "both": "Missed or wrongly chosen",
            "kind": "Which wrong answer",
            "meaning": "What “yes” means",
        },
    ),
}
BRANCHES = {  # what each end of the tree is called in it
    "sp": "Statistical parity",
    "eop": "Equal opportunity",
    "eo": "Equalized odds",
    "eo-full": "All errors",
    "precision": "Equal precision",
}
ADVICE = {
    "sp": (
        "**Statistical parity**: each group gets the good answer equally often. It ignores the "
        "truth, so it can be met by choosing badly; watch who is found less often."
    ),
    "eop": (
        "**Equal opportunity**: those who truly need it get it equally often in every group. It "
        "says nothing of those who are wrongly chosen."
    ),
    "eo": "**Equalized odds**: every label is found equally often in every group.",
    "eo-full": (
        "**All errors**: every kind of wrong answer is equally frequent in every group. It asks "
        "for most, and costs most."
    ),
    "precision": (
        "**Equal precision** (or calibration): “yes” means the same for everybody. Explore shows "
        "it under *Every rate*. With equal errors it cannot be had where the groups differ in how "
        "many truly are: the last step. Limits on it are not linear, so no slider enforces it."
    ),
}
FOR_YOURSELF = "For a case you know: a loan, a scan, a place at a school."
TREE_SPOKEN = "Two questions that lead to one of five notions."
TO_EXPLORE, WHICH_COLUMN = "Try it on Explore", "notion"


# -------------------------------------------------------------------- the words


def explained(title: str) -> str:
    """A section of docs/words.md: the words, or the caveats."""
    rest = (APP_ROOT / "docs" / "words.md").read_text(encoding="utf-8")
    return rest.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
