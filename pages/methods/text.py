"""What the Methods page says."""

from collections.abc import Sequence

import numpy as np

from fairfl_core._io import numbers as format
from fairfl_core.evaluation.methods import GAPS
from fairfl_core.paper.differences import CHOICES, DIFFERENCES
from fairfl_core.paper.method_tables import RULE
from fairfl_core.paper.printed import TABLE_1, Measured
from pages.methods.results import Able, Beaten, Beside, Compared, Line
from pages.shared import text as shared
from pages.shared.outside_text import plain

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
FRONT = "Pareto front: no method beats it"
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
    "bytes_per_client": "KB a client sends and receives",
}
RANK_COLUMNS = (
    "method",
    "accuracy there",
    "± over runs (points)",
    "ours less this (points)",
    "verdict",
)
NEVER = "never gets there"
VERDICTS = {
    "better": "ours is better",
    "worse": "**ours is worse**",
    "alike": "cannot be told apart",
}


def axis_gap(which: str) -> str:
    """What the horizontal axis shows."""
    return f"gap on unseen people, {GAPS[which]} (0 to 1)"


def gap_choice(which: str) -> str:
    """A gap in the select box."""
    return GAP_TITLES[which]


def headline(found: Compared, which: str, runs: Sequence[int]) -> str:
    """Who is ahead at the gap compared, in a sentence that praises nobody too much."""
    place = f"At a gap of {format.gap(found.gap)} ({GAPS[which]}, unseen people)"
    best = found.best
    if best is None:
        return f"{place} **none of our settings gets there**: choose a wider gap."
    ours = f"the best of ours is right for {format.percent(best.mean)}, the mean of {_runs(runs)}"
    ahead = _titled(found, "worse")
    if ahead:
        return f"{place} {ours}: **{_joined(ahead)} {_is(ahead)} more accurate**."
    if any(line.difference is not None for line in found.lines):
        return f"{place} {ours}: nobody is more accurate beyond chance."
    return f"{place} {ours}: no rival gets there."


def reading(
    found: Compared, which: str, elsewhere: Sequence[Beaten], gaps: Sequence[float]
) -> list[str]:
    """How everybody fares beside the best of ours, in sentences; where it is beaten at other gaps."""
    if found.best is None:
        return []
    said = [_how_chosen(found)]
    for verdict, words in (
        ("worse", "**Ours is beaten by {}**, beyond two standard errors."),
        ("better", "It beats {} beyond two standard errors."),
        ("alike", "It cannot be told apart from {}."),
    ):
        if names := _titled(found, verdict):
            said.append(words.format(_joined(names)))
    if never := [plain(line.title) for line in found.lines if not line.ours and line.at is None]:
        said.append(f"{_joined(never)} never got there.")
    said.append(_at_all_gaps(which, elsewhere, gaps))
    return said


def _titled(found: Compared, verdict: str, *, fixed: bool = False) -> list[str]:
    """Rivals by how ours compares with them."""
    apart = [(line, line.from_fixed if fixed else line.difference) for line in found.lines]
    return [plain(line.title) for line, one in apart if one is not None and one.verdict == verdict]


def _how_chosen(found: Compared) -> str:
    """Which of ours is compared, that its choice flatters it, and what one fixed before would do."""
    best, fixed = found.best, found.fixed
    assert best is not None
    several = sum(line.ours for line in found.lines)
    if several == 1:
        return f"Ours here: “{plain(best.title)}”."
    said = (
        f"The best of ours here is “{plain(best.title)}”: the best of {several} on these very "
        "people, which flatters it a little."
    )
    if fixed is None or fixed is best:
        return said
    ahead = _titled(found, "worse", fixed=True)
    beaten = f"is beaten by {_joined(ahead)}" if ahead else "is beaten by nobody"
    return (
        f"{said} “{plain(fixed.title)}”, whatever the others reach, is right for "
        f"{format.percent(fixed.mean)} and {beaten}."
    )


def _at_all_gaps(which: str, elsewhere: Sequence[Beaten], gaps: Sequence[float]) -> str:
    """Where ours is not at least as accurate as every rival, over all gaps one can choose."""
    span = f"Over gaps ({GAPS[which]}) from {min(gaps):g} to {max(gaps):g}"
    if not elsewhere:
        return f"{span} no rival beats the best of ours beyond two standard errors."
    told = "; ".join(
        f"{plain(one.title)} at {_levels(one.gaps, gaps)} (by {format.points(one.most)} at most)"
        for one in elsewhere
    )
    return f"{span} the best of ours is beaten, beyond two standard errors, by {told}."


def _levels(some: Sequence[float], gaps: Sequence[float]) -> str:
    """Some of the gaps one can choose: from one to another where none between them is missing."""
    between = [gap for gap in gaps if some[0] <= gap <= some[-1]]
    if len(some) > 2 and list(some) == between:
        return f"{some[0]:g} to {some[-1]:g}"
    return _joined([f"{gap:g}" for gap in some])


def _is(names: Sequence[str]) -> str:
    return "is" if len(names) == 1 else "are"


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
        "" if np.isnan(spread) else f"{100 * spread:.2f}",
        "" if apart is None else f"{100 * apart.mean:+.2f} ± {100 * apart.standard_error:.2f}",
        "ours" if line.ours else "" if apart is None else VERDICTS[apart.verdict],
    )


RANK_READING = (
    "Accuracy at that gap is interpolated between two settings of a method: who draws one of two "
    "models by chance reaches it. “Ours less this” is paired run by run, with its standard error; "
    "better or worse is said beyond two of them. Runs split the same people anew, so that these are too "
    "small if anything."
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
        "broad grey line below them is the Pareto front, what no method beats; the dashed line is the gap "
        "compared at. Up and to the left is better. What lies far below the front is told in the "
        "table alone."
    )


HOVER = "%{customdata[0]}<br>%{customdata[1]}<br>gap %{x:.3f}, %{y:.2f} %<extra></extra>"

# -------------------------------------------------------------------- the paper's tables

TABLE_2_TITLE = "**The paper's Table 2 beside ours**: accuracy and gaps on unseen people"
TABLE_2_READING = (
    "Mean ± standard deviation over runs. “paper” is the paper's own setting, run here from first "
    "weights; “tuned” is what eight trials on validation people chose. Where a method has no row of the "
    "paper's own setting the paper names none. Settings are called as `fairfl methods` calls them."
)
TABLE_2_COLUMNS = (
    "method",
    "setting",
    "accuracy (%)",
    "paper",
    "gap overall",
    "paper",
    "gap, mean client",
    "paper",
)
DIFFERS = "What differs from the paper's set-up"
TABLE_3_TITLE = (
    "**The paper's Table 3 beside ours**: rounds and seconds to convergence, and what travels"
)
TABLE_3_READING = RULE
TABLE_3_COLUMNS = (
    "method",
    "setting",
    "rounds",
    "paper",
    "seconds",
    "paper",
    "a client sends and receives",
)


def table_2_cells(beside: Beside) -> tuple[str, ...]:
    """A row of Table 2, ours beside the paper's."""
    row, printed = beside.row, beside.printed
    assert printed is not None
    return (
        beside.framework,
        setting(beside),
        _spread(100 * row.accuracy, 1),
        _measured(printed.accuracy, 100, 1),
        _spread(row.gap_global, 3),
        _measured(printed.overall, 1, 3),
        _spread(row.gap_local_mean, 3),
        _measured(printed.local, 1, 3),
    )


def table_3_cells(beside: Beside) -> tuple[str, ...]:
    """A row of Table 3, ours beside the paper's."""
    row, cost = beside.row, beside.cost
    return (
        beside.framework,
        setting(beside),
        f"{row.rounds_to_converge:,.0f}",
        "–" if cost is None else cost.rounds_printed,
        f"{row.seconds_to_converge:,.1f}",
        "–" if cost is None else f"{cost.seconds:,.1f}",
        _size(row.bytes_per_client),
    )


def setting(beside: Beside) -> str:
    """A setting in the words of its file, and whether it was tuned."""
    row = beside.row
    bare = row.setting.removeprefix(row.notion).strip()
    return plain(f"{bare}, tuned" if row.role == "chosen" and bare else bare or "as trained")


def differences(experiment: str) -> str:
    """What differs from the paper, and what was chosen where it is silent, as a list."""
    return "\n".join(f"- {plain(one)}" for one in (*DIFFERENCES.get(experiment, ()), *CHOICES))


_GIVE_OR_TAKE = "\N{NO-BREAK SPACE}±\N{NO-BREAK SPACE}"  # on a telephone one scrolls instead


def _spread(values: np.ndarray, digits: int) -> str:
    deviation = f"{_GIVE_OR_TAKE}{values.std(ddof=1):.{digits}f}" if len(values) > 1 else ""
    return f"{values.mean():.{digits}f}{deviation}"


def _measured(printed: Measured, unit: int, digits: int) -> str:
    mean = f"{unit * printed.mean:.{digits}f}"
    if printed.deviation is None:
        return mean
    return f"{mean}{_GIVE_OR_TAKE}{unit * printed.deviation:.{digits}f}"


def _size(size: float) -> str:
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{size / 1e3:.0f} KB"


ABILITIES_TITLE = "**The paper's Table 1, by what runs here**: every tick is tested"
ABILITIES_READING = (
    "✓ is what the method does here, and a test trains or fits it so; “(paper: –)” and “(paper: ✓)” "
    "where the paper says otherwise. The last three stand in none of its tables."
)
NOTIONS = ("sp", "eop", "eo")
ABILITY_COLUMNS = (
    "method",
    "fair",
    "more than two labels",
    *(shared.notion_title(name).lower() for name in NOTIONS),
    "by",
)
LEVELS = {
    "local": "inside clients",
    "global": "overall",
    "local and global": "both",
    "local or global": "either",
}


def ability_cells(able: Able) -> tuple[str, ...]:
    """A row of Table 1, by what was tested; with the paper's word where it is another."""
    paper = TABLE_1.get(able.name)

    def tick(does: bool, printed: bool | None) -> str:
        other = "" if printed is None or printed == does else f" (paper: {_sign(printed)})"
        return _sign(does) + other

    fair = LEVELS[able.level]
    if paper is not None and paper.level != able.level:
        fair += f" (paper: {LEVELS[paper.level]})"
    labels = None if paper is None else paper.multi_class
    notions = {name: None if paper is None else name in paper.notions for name in NOTIONS}
    return (
        plain(able.name),
        fair,
        tick(able.multi_class, labels),
        *(tick(name in able.notions, printed) for name, printed in notions.items()),
        able.approach,
    )


def _sign(does: bool) -> str:
    return "✓" if does else "–"
