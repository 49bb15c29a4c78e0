"""What the lesson says: steps 9 and 10, on what cannot be equal together, and which notion to take."""

from fairfl_core._io import numbers as format
from pages.learn.question import Question

# -------------------------------------------------------------------- 9: precision

PRECISION = (
    "A doctor asks another question: of those the model calls ill, how many are? That is the "
    "**precision**. A score is **calibrated** if among people it gives 70 % to, 70 % are ill: then "
    "what it says means the same for everybody.\n\n"
    "We have made the errors equal: the ill are recognised equally often in both groups, the "
    "healthy called ill equally often."
)
PRECISION_QUESTION = Question(
    9,
    "Of the men 40 % are ill, of the women 20 %. Both errors are equally frequent in both groups. "
    "And the precision?",
    ("It is equal too", "It is higher for women", "It is higher for men"),
    2,
    "Among many ill people, someone called ill is more often ill. The errors say nothing of how many "
    "ill people there are; precision does. All three can be equal only if both groups have the same "
    "share of ill people, or nobody healthy is called ill.",
)
ILL_WOMEN, ILL_MEN = "Ill among women", "Ill among men"
RECOGNISED, FALSE_ALARMS = "Of the ill, called ill", "Of the healthy, called ill"
PRECISION_BEFORE = "**Both error rates, equal for women and men.** And the precision?"
AXIS_PRECISION = "share, %"
PRECISION_COLUMNS = (
    "group",
    "ill",
    "of the ill, called ill",
    "of the healthy, called ill",
    "precision",
)
WOMEN, MEN = "women", "men"
BARS = ("of the ill, called ill", "of the healthy, called ill", "precision")


def share(value: float) -> str:
    """A slider's value."""
    return f"{100 * value:.0f} %"


def precision_after(women: float, men: float, needed: float) -> str:
    """What equal errors do to precision, and what equal precision would ask of the errors."""
    if women != women or men != men:
        return "**Nobody is called ill, so there is no precision to compare.**"
    said = (
        f"**Equal errors: of those called ill, {format.percent(women)} of the women and "
        f"{format.percent(men)} of the men are.** "
    )
    if abs(women - men) < 5e-4:
        return said + "All three are equal here: the shares of ill people are, or nobody errs."
    if needed != needed:
        return said + "No false-alarm rate for women would make precision equal."
    return said + (
        f"For women's precision to be the men's, {format.percent(needed)} of healthy women would "
        "have to be called ill: another error rate than the men's."
    )


# -------------------------------------------------------------------- 10: which notion

WHICH = (
    "No notion is right for everything; each protects somebody against something. Answer for a case "
    "you know: a loan, a scan, a place at a school."
)
WHICH_QUESTION = Question(
    10,
    "A bank's old decisions were themselves unfair, and the model learnt them as the truth. Which "
    "notion does not build on that truth?",
    ("Equal opportunity", "Equalised odds", "Statistical parity"),
    2,
    "It compares how often each group is chosen and never asks who deserved it. The others compare "
    "people with the same recorded truth: if that was unfair, they inherit it.",
)
TREE = {
    "truth": (
        "Can the recorded truth be trusted (a biopsy, a repaid loan), or was it somebody's judgement?",
        {"no": "It was a judgement, maybe an unfair one", "yes": "It can be trusted"},
    ),
    "harm": (
        "What hurts?",
        {
            "missed": "Being missed: those who need it do not get it",
            "both": "Being missed and being wrongly chosen",
            "kind": "Which wrong answer one gets (several answers, some worse)",
            "meaning": "That “yes” means something else for another group",
        },
    ),
}
ADVICE = {
    "sp": (
        "**Statistical parity**: each group gets the good answer equally often. It ignores the truth, "
        "so it can be met by choosing badly; watch who is recognised less often."
    ),
    "eop": (
        "**Equal opportunity**: those who truly need it get it equally often in every group. It says "
        "nothing of those who are wrongly chosen."
    ),
    "eo": ("**Equalised odds**: every label is recognised equally often in every group."),
    "eo-full": (
        "**All errors**: every kind of wrong answer is equally frequent in every group. It asks for "
        "most, and costs most."
    ),
    "precision": (
        "**Equal precision** (or calibration): “yes” means the same for everybody. It is shown on "
        "Clients under *Every rate*, and cannot be had together with equal errors where the groups "
        "differ in how many truly are: the last step. Limits on it are not linear, so no slider here "
        "enforces it."
    ),
}
TO_EXPLORE = "Try it on Explore"
