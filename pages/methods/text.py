"""What the Methods page says."""

from collections.abc import Sequence

from fairfl_core._io import numbers as format
from fairfl_core._io.names import Target, only_text, plain
from fairfl_core.evaluation.methods import PAPER
from fairfl_core.lp.frontier import Frontier
from pages.methods.results import Compared, Line
from pages.shared import text as shared

EXPERIMENT, NOTION, GAP = "Experiment", "Fairness notion", "Which gap"
AT = "Compared at a gap of"
AT_TIP = "The gap reached on new people, not the one that a method was asked for."
LINES_TITLE, RANKING_TITLE = "Accuracy by gap", "Beside fairfl"
AXIS_ACCURACY = "accuracy, %"
AXIS_LESS = "points"
FAIRFL, UNREACHED = "fairfl", "–"
VERDICTS = {
    "more": "more accurate",
    "alike": "as accurate",
    "less": "less accurate",
    "unreached": "does not reach this gap",
    "fairfl": "",
}
HOVER_LINE = "%{customdata[0]}<br>%{customdata[1]}<br>gap %{x:.3f}, %{y:.1f} %<extra></extra>"
HOVER_RANK = "%{customdata[0]}: %{customdata[1]}<extra></extra>"
HOVER_CELL = "overall %{x}, inside %{y}: %{z:.1f} %<extra></extra>"
RANK_COLUMNS = (
    "method",
    "accuracy there",
    "± over runs, points",
    "less fairfl, points",
    "± standard error",
    "verdict",
)
# What stands below the pictures; also how a part is named where it fails.
TABS = {
    "compared": "How compared",
    "figure1": "Figure 1",
    "table1": "Table 1",
    "table2": "Table 2",
    "table3": "Table 3",
    "table4": "Table 4",
    "differs": "What differs",
}
BELOW, PICTURES = "The paper's figure and tables", "The comparison"


def title(name: str) -> str:
    """A method's title; those of this package are called by its name."""
    return name.replace("Ours", FAIRFL, 1)


def gap_names(noun: str) -> dict[str, str]:
    """The gaps methods can be compared at."""
    return {
        "gap_global": "overall",
        "gap_local_mean": f"average {noun}",
        "gap_local_worst": f"worst {noun}",
        "gap_local_debiased": f"inside {noun}s, chance taken out",
    }


AXIS_GAP = "gap on new people, {}"


def short_title(line: Line) -> str:
    """A method's title where there is little room; of fairfl's variants one is drawn."""
    return FAIRFL if line.is_fairfl else line.title.removesuffix(", post-processing")


def legend(found: Compared) -> str:
    """The signs of the ranking that occur in it."""
    signs = {"more": "▲", "alike": "●", "less": "○", "unreached": UNREACHED}
    there = [key for key in signs if found.with_verdict(key)]
    words = VERDICTS | {"unreached": "not reached"}
    return "  ".join(f"{signs[key]} {words[key]}" for key in there)


def sentence(found: Compared) -> str:
    """Who is how accurate at the gap compared."""
    if found.best is None:
        return "**fairfl does not reach this gap**: choose a wider one."
    more, alike, less, unreached = (
        found.with_verdict(verdict) for verdict in ("more", "alike", "less", "unreached")
    )
    of = f"{len(alike)} of {len(found.others)} other methods {_is(alike)}"
    words = [f"**{of if alike else 'no other method is'} as accurate as fairfl**"]
    if more:
        words.insert(0, f"**{_joined([plain(x.title) for x in more])} {_is(more)} more accurate**")
    if less:
        words.append(f"{len(less)} less accurate")
    if unreached:
        words.append(f"{len(unreached)} {'does' if len(unreached) == 1 else 'do'} not reach it")
    return f"At this gap {_joined(words)}."


def spoken_lines(found: Compared, gap_name: str) -> str:
    """The picture of all frontiers in a sentence."""
    names = _joined([title(line.title) for line in found.labelled])
    return f"Accuracy by the gap ({gap_name}) on new people, one line a method; named: {names}."


def spoken_ranking(found: Compared) -> str:
    """The ranking in a sentence."""
    words = [f"{title(x.title)} {VERDICTS[x.verdict]}".strip() for x in found.ranked]
    return f"Methods at a gap of {found.gap:g}, the most accurate first: {'; '.join(words)}."


def rank_cells(line: Line) -> tuple[object, ...]:
    """A method's row in the table of the ranking."""
    if line.at is None:
        return (title(line.title), None, None, None, None, VERDICTS["unreached"])
    apart = line.difference
    return (
        title(line.title),
        round(line.mean, 4),
        round(100 * float(line.at.std(ddof=1)), 2) if len(line.at) > 1 else None,
        None if apart is None else round(-100 * apart.mean, 2),
        None if apart is None else round(100 * apart.standard_error, 2),
        "a variant of fairfl" if line.is_fairfl else VERDICTS[line.verdict],
    )


# -------------------------------------------------------------------- how it is compared


def how_compared(found: Compared) -> list[str]:
    """What is behind the two pictures, in sentences."""
    words = [
        "Methods ask for fairness in different ways, and some do not hold what they ask. So each is "
        "drawn by what it reaches on **new people**, and compared where the gaps agree. Lines join the "
        "settings of a method that none of its others surpasses; named are fairfl, FedAvg and the most "
        "accurate method of each kind (acting before, in or after training, or seeing everyone's rows).",
        "Accuracy between two settings is interpolated: who draws one of two models by chance reaches "
        "it. Bars are two standard errors of the difference, paired run by run; a method whose bar "
        "covers fairfl's line is called as accurate. Runs split the same people anew, so that bars are "
        "too short if anything.",
    ]
    return words if found.best is None else [*words, _variant(found)]


def _variant(found: Compared) -> str:
    """Which variant of fairfl is compared, and that its choice flatters it."""
    best = found.best
    assert best is not None
    variants = sum(line.is_fairfl for line in found.lines)
    name = f"“{plain(title(best.title))}”"
    if variants == 1:
        return f"fairfl here is {name}."
    return (
        f"fairfl here is {name}: the most accurate of its {variants} variants on these very people, "
        "which flatters it a little."
    )


def _is(names: Sequence[object]) -> str:
    return "is" if len(names) == 1 else "are"


def _joined(names: Sequence[str]) -> str:
    between = "; " if any("," in name for name in names) else ", "
    return names[0] if len(names) == 1 else f"{between.join(names[:-1])} and {names[-1]}"


# -------------------------------------------------------------------- the paper's figure and tables

FIGURE_1_READING = (
    "Accuracy (%) for every pair of the paper's limits, on the people it was fitted on, mean of ten "
    "runs. The paper prints no numbers in its maps."
)


def alone(notion: str, heat: Frontier) -> str:
    """The notion of a map, and what each limit costs by itself from its widest to its tightest."""
    top = heat.accuracy[-1, -1]
    inside, overall = (_cost(top - one) for one in (heat.accuracy[0, -1], heat.accuracy[-1, 0]))
    return (
        f"{shared.notion_title(notion)}. From 0.30 to 0.05, inside alone costs {inside}, overall "
        f"alone {overall}."
    )


def _cost(lost: float) -> str:
    words = format.round_points(lost)
    return "nothing" if words == "0 points" else words


def spoken_map(dataset: str, heat: Frontier) -> str:
    """A map in a sentence."""
    low, high = (
        format.round_percent(float(one)) for one in (heat.accuracy.min(), heat.accuracy.max())
    )
    return f"{dataset}: accuracy for pairs of limits from 0.05 to 0.30, between {low} and {high}."


NO_TABLE = "The paper has no such table for these people and this notion: choose others above, or under Settings."


def differences(experiment: str) -> str:
    """What differs from the paper, and what was chosen where it is silent, as a list."""
    return "\n".join(
        f"- {only_text(one, Target.MARKDOWN)}"
        for one in (*PAPER["differences"].get(experiment, ()), *PAPER["choices"])
    )
