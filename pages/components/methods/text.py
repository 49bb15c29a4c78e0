"""What the Methods page says."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fairfl_core._io import numbers as format
from fairfl_core.evaluation.methods import GAPS
from fairfl_core.paper.printed import TABLE_1
from pages.components.methods.results import Compared, Line
from pages.components.shared import text as shared
from pages.components.shared.outside_text import plain

TITLE = "### Methods: every rival run here, compared where it is fair to compare"
INTRO = (
    "Methods ask for fairness in different ways, and some do not hold what they ask. So none is "
    "compared at the tolerance it was given: each is drawn by what it reaches on **unseen people**, "
    "accuracy against gap, and compared where the gaps agree."
)
EXPERIMENT, NOTION, GAP, AT = "Experiment", "Fairness notion", "Gap", "Compare at a gap of"
AT_TIP = "On unseen people. A method that never gets there is said not to."
GAP_TITLES = {name: words.capitalize() for name, words in GAPS.items()}
# Parts of the page, as they are named where one fails.
RANKING, PICTURE, COSTS = "The ranking", "The picture of all methods", "The paper's tables"
ABILITIES = "What each method can do"
PICTURE_KEY = "methods"
FRONT = "no method beats this"
AXIS_ACCURACY = "accuracy on unseen people (%)"
HEADINGS = {
    "method": "method",
    "setting": "setting",
    "seeds": "runs",
    "accuracy": "accuracy",
    "accuracy_sd": "accuracy, sd over runs",
    "gap_global": "gap, overall",
    "gap_local_mean": "gap, mean client",
    "gap_local_worst": "gap, worst client",
    "gap_local_debiased": "gap inside clients, chance taken out",
    "rounds": "rounds",
    "seconds": "seconds",
    "bytes_per_client": "bytes a client",
}
RANK_COLUMNS = ("method", "accuracy there", "± over runs", "ours less this", "verdict")
NEVER = "never gets there"
VERDICTS = {"better": "ours is better", "worse": "**ours is worse**", "alike": "cannot be told"}


def axis_gap(which: str) -> str:
    """What the horizontal axis shows."""
    return f"gap on unseen people, {GAPS[which]}"


def gap_choice(which: str) -> str:
    """A gap in the select box."""
    return GAP_TITLES[which]


def headline(found: Compared, which: str, runs: Sequence[int]) -> str:
    """Who is ahead at the gap compared, in words that praise nobody too much."""
    place = f"At a gap of {format.gap(found.gap)} ({GAPS[which]}, unseen people)"
    if found.best is None:
        return f"{place} **none of our settings gets there**: choose a wider gap."
    best = found.best
    names: dict[str, list[str]] = {"better": [], "worse": [], "alike": []}
    for line in found.lines:
        if line.difference is not None:
            names[line.difference.verdict].append(plain(line.title))
    never = [plain(line.title) for line in found.lines if not line.ours and line.at is None]
    said = [
        f"{place} the best of ours ({plain(best.title)}) is right for "
        f"**{format.percent(best.mean)}**, the mean of {_runs(runs)}."
    ]
    for verdict, words in (
        ("worse", "**Ours is beaten by {}**, beyond two standard errors."),
        ("better", "It beats {} beyond two standard errors."),
        ("alike", "It cannot be told apart from {}."),
    ):
        if names[verdict]:
            said.append(words.format(_joined(names[verdict])))
    if never:
        said.append(f"{_joined(never)} never got there.")
    return " ".join(said)


def _joined(names: Sequence[str]) -> str:
    between = "; " if any("," in name for name in names) else ", "
    return names[0] if len(names) == 1 else f"{between.join(names[:-1])} and {names[-1]}"


def _runs(seeds: Sequence[int]) -> str:
    return f"{len(seeds)} run{'s' if len(seeds) != 1 else ''}"


def rank_cells(line: Line) -> tuple[str, ...]:
    """A method's row in the ranking."""
    if line.at is None:
        return (plain(line.title), NEVER, "", "", "")
    spread = float(line.at.std(ddof=1)) if len(line.at) > 1 else float("nan")
    apart = line.difference
    return (
        plain(line.title),
        format.percent(line.mean),
        "" if np.isnan(spread) else f"{100 * spread:.2f} points",
        ""
        if apart is None
        else f"{format.signed_points(apart.mean, 2)} (± {100 * apart.standard_error:.2f})",
        "ours" if line.ours else "" if apart is None else VERDICTS[apart.verdict],
    )


RANK_READING = (
    "Accuracy at that gap is interpolated between two settings of a method: who draws one of two "
    "models by chance reaches it. “Ours less this” is paired run by run, with its standard error; "
    "better or worse is said beyond two of them."
)


def pooled_reading(found: Compared) -> str:
    """How methods fare that need everyone's rows in one place, where some are shipped."""
    pooled = [line for line in found.lines if line.pooled]
    if not pooled:
        return ""
    told = {
        "": "never get there",
        "alike": "are as accurate as the best of ours",
        "worse": "are **more accurate than the best of ours**",
        "better": "are less accurate than the best of ours",
    }
    fare: dict[str, list[str]] = {}
    for line in pooled:
        verdict = line.difference.verdict if line.difference else ""
        fare.setdefault(verdict, []).append(f"“{plain(line.title)}”")
    said = "; ".join(f"{_joined(names)} {told[verdict]}" for verdict, names in fare.items())
    return (
        "Other people's programs that see everyone's rows in one place and know nothing of "
        f"clients, at this gap: {said}."
    )


def picture_reading(which: str) -> str:
    """How to read the picture."""
    return (
        f"**Accuracy against the gap ({GAPS[which]}) on unseen people**: one line a method, its "
        "settings that none of its others beats; bars are one standard deviation over runs. The "
        "dotted line is what no method beats. Up and to the left is better."
    )


HOVER = "%{customdata[0]}<br>%{customdata[1]}<br>gap %{x:.3f}, %{y:.2f} %<extra></extra>"

# -------------------------------------------------------------------- the paper's tables

COSTS_TITLE = "**The paper's Tables 2 and 3 beside ours**: the paper's own settings, run here"
COSTS_READING = (
    "What differs: we train on the training rows alone, with one scaler, weight clients by their "
    "people, and judge on test people that no choice saw; seconds are processor time of one core "
    "of this machine until the kept round, the paper's are of 16 cores."
)
COST_COLUMNS = (
    "method",
    "accuracy",
    "paper",
    "gap overall",
    "paper",
    "gap, mean client",
    "paper",
    "rounds",
    "paper",
    "seconds",
    "paper",
    "sent a client",
)


def cost_cells(row: Mapping[str, Any]) -> tuple[str, ...]:
    """A row of Tables 2 and 3, ours beside the paper's."""
    cells = [plain(row["method"])]
    cells += [format.percent(row["accuracy"]), format.percent(row["accuracy_paper"])]
    for name in ("gap_global", "gap_local_mean"):
        cells += [format.gap(row[name]), format.gap(row[f"{name}_paper"])]
    for name, digits in (("rounds", 0), ("seconds", 1)):
        cells += [_amount(row[name], digits), _amount(row[f"{name}_paper"], digits)]
    return (*cells, "–" if np.isnan(row["bytes_per_client"]) else _size(row["bytes_per_client"]))


def _amount(value: float, digits: int) -> str:
    return "–" if np.isnan(value) else f"{value:,.{digits}f}"


def _size(size: float) -> str:
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{size / 1e3:.1f} KB"


ABILITIES_TITLE = "**The paper's Table 1**, and for which notions each was run here"
ABILITY_COLUMNS = (
    "method",
    "fair inside / overall",
    "more than two labels",
    "notions",
    "by",
    "run here",
)


def ability_cells(name: str, run_here: Sequence[str]) -> tuple[str, ...]:
    """A row of Table 1."""
    able = TABLE_1[name]
    return (
        name,
        able.level,
        "✓" if able.multi_class else "–",
        _notions(able.notions),
        able.approach,
        _notions(run_here) or "–",
    )


def _notions(names: Sequence[str]) -> str:
    return ", ".join(shared.notion_title(name).lower() for name in names)
