"""What the lesson says: its frame, and steps 1 to 3 on what fair means."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fairfl_core._io import numbers as format
from fairfl_core.evaluation.evaluation import Evaluation
from fairfl_core.teaching.messages import DemoLog
from pages.learn.question import Question

STEP, ABOUT_LESSON = (
    "Step",
    "A lesson of about 20 minutes. Its people are made up, but for step 8.",
)
BACK, WORDS, UNSETTLED = "Back", "The words used here", "What no metric settles"
CHOOSE_FIRST = "Choose first; then the picture answers."
TITLES = (
    "One model, two kinds of fair",
    "Three ways to say fair",
    "Fair in each, unfair in all",
    "What a lottery can reach",
    "The same with three answers",
    "Why the answer is a lottery",
    "What a limit on 100 people is worth",
    "What it costs",
    "Why not everything can be equal",
    "Which notion?",
)
PICTURES = (  # as they are named where one fails
    "The picture of the network",
    "The four people",
    "The pair of hospitals",
    "The region under the curve",
    "The region in space",
    "The draws",
    "What a limit is worth",
    "The map",
    "The precision of two groups",
)
GAP_ALLOWED = "Gap allowed between women and men, ε"


def step_title(step: int) -> str:
    """The heading of a step."""
    return f"{step}. {TITLES[step - 1]}"


def step_of(step: int) -> str:
    """Which step is shown, to a hall."""
    return f"{step} of {len(TITLES)}"


def step_name(step: int) -> str:
    """A step, where it fails."""
    return f"Step {step}"


def onward(step: int) -> str:
    """The button to the next step."""
    return f"Next: {TITLES[step].lower()}"


def right(question: Question) -> str:
    """Said to a right answer."""
    return f"**Right.** {question.because}"


def not_quite(question: Question) -> str:
    """Said to another answer."""
    answer = question.answer
    return f"**Not quite: {answer[0].lower()}{answer[1:]}.** {question.because}"


# -------------------------------------------------------------------- 1: the network

NETWORK = (
    "Three hospitals want one model that tells who is ill. None may hand out its records. So each "
    "trains at home, a server averages what they learned, and all get the same model back: a "
    "**federated** model, and each hospital is a **client**.\n\n"
    "Is it fair to women and men? That is two questions. **Local**: are they treated alike *inside "
    "each hospital*? **Global**: are they treated alike *over all hospitals together*?"
)
NETWORK_QUESTION = Question(
    1,
    "What does a hospital send to the server?",
    (
        "The records of its patients",
        "The model's numbers and one small table of counts",
        "Nothing at all",
    ),
    1,
    "Records stay at home. The table says how many people of each group were ill or healthy and "
    "what the model said: here eight numbers a hospital. They are enough to read every gap and to "
    "set up the fair answers.",
)
NETWORK_BEFORE = "**Three hospitals and a server.** What travels along the arrows?"
NETWORK_COLUMNS = (
    "hospital",
    "group",
    "healthy, told healthy",
    "healthy, told ill",
    "ill, told healthy",
    "ill, told ill",
    "share of ill recognised",
)
HOSPITAL, PEOPLE, EIGHT_COUNTS, UNKNOWN = "hospital", "people", "8 counts", "?"


TRAVELLED = "The real messages of such a run"
TRAVELLED_COLUMNS = ("way", "message", "bytes", "purpose", "tables in it")
WAYS = {"sent": "to the server", "received": "from the server"}


def travelled(log: DemoLog) -> str:
    """What a client of a real run sent, in one sentence."""
    return (
        f"In a real run ({log.study}, {log.rounds} rounds) the client “{log.client}” has "
        f"{log.rows:,} people. It sent {log.sent:,} bytes in all: models and small tables, no row "
        "of any person."
    )


def network_after(judged: Evaluation) -> str:
    """Both gaps, read from the counts."""
    return (
        "**From those counts the server reads both gaps**: how much more often ill people of one "
        f"group are recognised than of the other. Inside hospitals up to "
        f"{format.gap(judged.gaps.local_worst)}, overall {format.gap(judged.gaps.overall)}."
    )


def hospital(name: str, people: float, gap: float | None) -> str:
    """A hospital in the picture."""
    said = f"<b>{name}</b><br>{format.count(people)} people"
    return said if gap is None else f"{said}<br>local gap {format.gap(gap)}"


def server(gap: float | None) -> str:
    """The server in the picture."""
    return "<b>Server</b>" if gap is None else f"<b>Server</b><br>global gap {format.gap(gap)}"


# -------------------------------------------------------------------- 2: four people

FOUR_PEOPLE = (
    "- **Statistical parity**: each group is told “ill” equally often.\n"
    "- **Equal opportunity**: of those *truly ill*, each group is recognised equally often.\n"
    "- **Equalized odds**: the same, and of those *truly healthy* too."
)
FOUR_QUESTION = Question(
    2,
    "Bea is healthy. Let the model call her ill as well. Which notion still holds?",
    ("Statistical parity", "Equal opportunity", "Equalized odds"),
    1,
    "Equal opportunity looks only at people who are ill, and both are still recognised. Now two "
    "of two women but one of two men are told “ill”, and a healthy woman is wronged where a "
    "healthy man is not: the other two break.",
)
FLIP = "**Whom does the model tell “ill”?** Flip the switches and see what breaks."
DAN_ILL = "Dan is truly ill too: more men than women are ill"
FOUR_RATES = ("Of all, told ill", "Of the ill, told ill", "Of the healthy, told healthy")
NOTHING_TO_COMPARE = "(no healthy man: nothing to compare)"
FOUR_READING = (
    "**Where the two marks part, the groups are treated differently.** With one person behind most "
    "marks this is an example, not evidence."
)
AXIS_OF_GROUP, SHARE = "share of the group's people, %", "share"


def person(name: str, group: str, *, ill: bool) -> str:
    """A person's switch."""
    one = {"women": "woman", "men": "man"}[group]
    return f"{name} ({one}, {'ill' if ill else 'healthy'})"


def verdict(notion: str, gap: float) -> str:
    """Whether a notion holds."""
    return f"{notion}  \n**{'holds' if gap < 1e-9 else 'broken'}**, gap {format.gap(gap)}"


def of_group(group: str, what: str) -> str:
    """A column of a group's figures."""
    return f"{group}, {what}"


# -------------------------------------------------------------------- 3: a pair of hospitals

PAIR = (
    "**Local** fairness compares women and men inside one hospital, **global** fairness over all "
    "people. Surely if each hospital is fair, the whole is?"
)
PAIR_QUESTION = Question(
    3,
    "Each hospital recognises its ill women and men equally often. Most women go to South, most "
    "men to North. And over both hospitals together?",
    ("Women and men are recognised equally often", "Women more often", "Men more often"),
    2,
    "Most men are in the hospital that recognises many, most women in the one that recognises "
    "few. Nobody is treated differently inside either hospital, yet overall 82 in 100 ill men "
    "are recognised and 58 in 100 ill women. This is **Simpson's paradox**.",
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
PAIR_BEFORE = "**Ill people recognised in each hospital**; thin bars are 95 % intervals."
AXIS_RECOGNISED = "ill people recognised, %"
PAIR_COLUMNS = {
    "n": "ill people",
    "rate": "recognised",
    "rate_low": "low",
    "rate_high": "high",
}


def women_of(hospital: str) -> str:
    """The label of a hospital's slider."""
    return f"Women among the people of {hospital}"


def pair_after(inside: NDArray[np.float64], overall: float) -> str:
    """The gaps inside, and over both."""
    return (
        f"**Inside the hospitals the gaps are {format.gap(inside[0])} and {format.gap(inside[1])}; "
        f"over both it is {format.gap(overall)}.** Thin bars: 95 % intervals."
    )


def ill_people(people: Sequence[tuple[str, float]], gap: float) -> str:
    """Who stands behind a row, and its gap."""
    said = ", ".join(f"{n:.0f} ill {group}" for group, n in people)
    return f"{said}; gap {format.gap(gap)}"


def hover_share(group: str) -> str:
    """What a group's mark says under the pointer."""
    return f"{group}: %{{x:.1f}} % of %{{customdata}} people<extra></extra>"
