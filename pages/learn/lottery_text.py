"""What the lesson says: steps 4 to 6, on what a lottery can do."""

from collections.abc import Sequence

from fairfl_core._io import numbers as format
from fairfl_core.teaching import hospitals as lesson
from pages.learn.question import Question

# -------------------------------------------------------------------- 4: under the curve

CURVE = (
    "The model gives a score; a **threshold** turns it into an answer. Each threshold is a dot: "
    "ill people recognised against healthy people alarmed. The dots make the **ROC curve**.\n\n"
    "Afterwards we may still throw dice: keep the model's answer, or say “ill” or “healthy” "
    "regardless. That reaches any point of the **triangle** between the model's own point and the "
    "two corners, and nothing outside."
)
CURVE_QUESTION = Question(
    4,
    "Now ask for a gap of 0: women and men must sit on the same spot. Which one?",
    (
        "The spot of the model's answers for women",
        "The spot of the model's answers for men",
        "A third spot that both triangles reach",
    ),
    2,
    "Neither group can reach the other's corner. The best common spot lies where the triangles "
    "overlap: on the edge of the women's, to the right of their corner (more false alarms for "
    "hardly more recognition), and inside the men's, below theirs (fewer recognised). Move the "
    "limit and see the two marks part again, never farther than the dashed square.",
)
CURVE_KERNEL = (
    "Dotted: what the kernel region adds. With two answers these points are all worse than the "
    "triangle's; with more answers some are better."
)
WHY_NOT_THRESHOLD = "Why not move the threshold?"


def moved_thresholds(exact: float, triangle: float) -> str:
    """What each group's own thresholds would reach, beside dice over answers alone."""
    return (
        "Where the scores are at hand, do. A threshold moves along its group's own curve, above "
        "the triangle; a throw of dice between two thresholds reaches everything under the curve. "
        "That is the region *exact* of the other pages. Here, at a gap of 0, it keeps "
        f"{format.percent(exact)} of the answers right; dice over the model's answers alone, the "
        f"triangle, keep {format.percent(triangle)}. The triangle is for those who have the "
        "answers but not the scores. Either way women and men are treated by different rules."
    )


CURVE_COLUMNS = (
    "group",
    "model: false alarms, %",
    "model: recognised, %",
    "lottery: false alarms, %",
    "lottery: recognised, %",
)
AXIS_ALARMED = "healthy people alarmed, %"
TRIANGLE, KERNEL_ADDS = "simplex (triangle)", "kernel adds"
HOVER_THRESHOLD = "threshold: %{x:.0f} % alarmed, %{y:.0f} % recognised<extra></extra>"


def curve_reading(limit: float, reach: lesson.Reach) -> str:
    """What a limit leaves."""
    cost = reach.model_accuracy - reach.accuracy
    said = (
        f"**Limit {format.epsilon(limit)}: accuracy {format.percent(reach.accuracy)}, "
        f"{format.points(cost)} less than the model's own.**"
        if cost > 1e-6
        else f"**The model's own answers: accuracy {format.percent(reach.accuracy)}, gap "
        f"{format.gap(reach.gap)}.**"
    )
    return f"{said} Up is better for the ill, left is better for the healthy."


def thresholds(group: str) -> str:
    """A group's dots."""
    return f"{group}: thresholds"


def by_lottery(group: str) -> str:
    """A group's mark by the lottery."""
    return f"{group}: lottery"


def by_model(group: str) -> str:
    """A group's mark by the model."""
    return f"{group}: model"


def hover_mark(group: str, whose: str) -> str:
    """What a mark says under the pointer."""
    return f"{group}: {whose}<br>%{{x:.1f}} % alarmed, %{{y:.1f}} % recognised<extra></extra>"


MODELS_OWN, THE_LOTTERY = "the model's own", "the lottery"

# -------------------------------------------------------------------- 5: in space

SPACE = (
    "A skin clinic's model says *leave*, *watch* or *treat*. Now each group is a point in space: "
    "how many of those to be left, watched and treated are recognised as such. The lottery keeps "
    "the model's answer, or gives one of the three to everybody."
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
SPACE_BEFORE = (
    "**Each group's share of right answers in the three kinds of cases** (hollow marks)."
)


def space_after(limit: float, reach: lesson.Reach) -> str:
    """What a limit leaves, with three answers."""
    lost = format.points(reach.model_accuracy - reach.accuracy)
    return (
        f"**Limit {format.epsilon(limit)}: accuracy {format.percent(reach.accuracy)}, {lost} less "
        "than the model's own.** Filled marks: the lottery; hollow: the model."
    )


def space_columns(label: str) -> tuple[str, str]:
    """Columns of a label: the model's, the lottery's."""
    return f"{label}: model, %", f"{label}: lottery, %"


def always(label: str) -> str:
    """A corner of the region."""
    return f"always {label}"


# -------------------------------------------------------------------- 6: the draws

DRAWS_QUESTION = Question(
    6,
    "Tomorrow the same 100 men come again and the model says “ill” again. Who hears another "
    "answer than the model's?",
    ("The same men as today", "Other men, about as many", "Nobody"),
    1,
    "Each time the dice are thrown anew. Who may not like that lets the dice depend on the "
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
        "A fixed rule sits on a corner of the region. The fair spot of step 4 lies *between* "
        "corners, and only a mixture gets there.\n\n"
        f"So in that hospital, when the model says “ill” of a man, {kept:.0f} in 100 keep that "
        f"answer and {100 - kept:.0f} in 100 are told “healthy” by the throw of dice. Two men "
        "with the same file may get different answers: that is a price too."
    )


def draws_reading(turned: Sequence[int], differ: int | None) -> str:
    """How many are told otherwise; how many hear something else on the second day."""
    said = f"**Today {turned[0]} of 100 men are told “healthy” although the model says “ill”**"
    if differ is not None:
        said += (
            f"; tomorrow {turned[1]}. **{differ} of the 100 hear something else than the day "
            "before** (rings)"
        )
    return f"{said}. One square is one man."


def told(answer: str) -> str:
    """What a square means."""
    return f"told “{answer}”"


def patient(number: int) -> str:
    """A person's id."""
    return f"patient {number:03d}"
