"""What a report says, in words for people who decide; numbers are given to it."""

from collections.abc import Sequence

from fairfl_core._io import numbers
from fairfl_core.evaluation.harm import Harm, effect_of
from fairfl_core.evaluation.limit_check import LimitCheck
from fairfl_core.evaluation.summary import FREE, Figures, Summary
from fairfl_core.review.file import Option
from fairfl_core.solving.guarantee import Guarantee
from fairfl_core.solving.policy import Policy

NOTHING_ASKED = "nothing was asked"
ROWS = (
    ("asked", "Asked"),
    ("verdict", "Verdict on unseen people"),
    ("accuracy", "Accuracy, unseen people"),
    ("cost", "Cost against the model as it is"),
    ("overall", "Overall gap (95 %)"),
    ("worst", "Worst client's gap (95 %)"),
    ("pays", "Who pays most"),
    ("worse_off", "Who is worse off"),
    ("changed", "Answers changed"),
)
NO_LIMIT, AS_SET = "No limit", "As set"
WITH_FLOORS = "As set, nobody left worse off"
TWICE, FOUR_TIMES = "Twice the limits", "Four times the limits"
NONE_OF_THESE = "None of these can be recommended."
NOBODY_WORSE = "nobody by our alarms"
ORDER = "(Harm outranks limits, limits outrank cost; people may decide otherwise.)"
DEFAULT_QUESTION = "Which limits on unfairness should this model be used with?"
WORDS = (
    ("Client", "a place that keeps its own data: a hospital, a state, an age band."),
    ("Gap", "how far apart the groups' rates lie, from 0 (alike) to 1."),
    ("Overall gap", "all clients taken together; the worst client's gap is inside one client."),
    ("Recognised", "of those who truly have a label, the share that is answered so."),
    ("Lottery", "with a stated chance the model's answer is kept, else another is given."),
    ("Limit", "the largest gap that is asked for; no limit asks for nothing."),
    ("Unseen people", "neither the model nor the lottery was fitted on them."),
    (
        "95 %",
        "between these values a number lies in 95 of 100 such checks; the worst client’s and "
        "the limits’ do so all at once.",
    ),
    ("Worse off", "a label is recognised less often by more than 5 points, or by more than half."),
    ("Beyond chance", "chance alone would hardly show it on so many people."),
)
CAVEATS = (
    "Limits are met in expectation on the people the lottery was fitted on; this report judges on "
    "unseen people. Which notion of fairness a case calls for, and whether labels are fair "
    "themselves, no number settles.",
    "The answer is a lottery: two people alike in everything may get different answers.",
)


def asked(option: Option) -> str:
    """What an option asks for."""
    several = len(option.own_limits)
    own = f" ({numbers.plural(several, 'client')} {'its' if several == 1 else 'their'} own)"
    said = (
        f"overall {numbers.epsilon(option.eps_global)}, inside each client "
        f"{numbers.epsilon(option.eps_local)}{own * bool(several)}"
    )
    if min(option.eps_global, option.eps_local) >= 1 and not option.own_limits:
        said = "no limit"
    more = [
        *([sure(option.guarantee)] if option.guarantee else []),
        *([policy(option.policy)] if not option.policy.is_plain else []),
    ]
    return "; ".join([said, *more])


def sure(guarantee: Guarantee | None) -> str:
    """With what confidence limits were to hold."""
    if guarantee is None:
        return "as fitted, no confidence asked for"
    scope = "all at once" if guarantee.scope == "all" else "each limit"
    return f"{100 * guarantee.confidence:g} % confidence, {scope}, {guarantee.proof}"


def policy(asked_for: Policy) -> str:
    """What is asked beyond the two limits."""
    said = [str(floor) for floor in asked_for.floors]
    said += [
        f"ratio at least {ratio:g}"
        for ratio in (asked_for.ratio_global, asked_for.ratio_local)
        if ratio is not None
    ]
    said += [f"limit {limit}" for limit in asked_for.limits]
    said += [] if asked_for.utility.is_accuracy else [f"aim: {asked_for.utility.name}"]
    said += ["one rule for all groups"] if asked_for.without_group else []
    return "; ".join(said) or "nothing"


def verdict(summary: Summary) -> str:
    """The verdict's shape and word."""
    found = summary.verdict
    return NOTHING_ASKED if found is None else f"{found.shape} {found.word}"


def why(summary: Summary) -> str:
    """The verdict's reason."""
    return "No limit was asked for." if summary.verdict is None else summary.verdict.why


def decision(chosen: Option | None) -> str:
    """Which option is recommended, if any."""
    return NONE_OF_THESE if chosen is None else f"Recommended: {chosen.name} ({asked(chosen)})."


def refused(name: str, summary: Summary) -> str:
    """Why an option is not recommended, in a few words."""
    found = summary.verdict
    if found is None:
        return f"{name}: {NOTHING_ASKED}."
    causes = [
        f"{len(found.broken)} of {numbers.plural(len(found.limits), 'limit')} broken beyond chance"
        * bool(found.broken),
        f"{numbers.plural(len(found.hurt), 'alarm')} beyond chance" * bool(found.hurt),
        "the worst gap is no smaller than before" * bool(found.grown),
    ]
    return f"{name}: {verdict(summary)} ({'; '.join(filter(None, causes))})."


def cost(figures: Figures) -> str:
    """What is lost of the accuracy of the model as it is, or gained."""
    said = numbers.points(figures.cost)
    return said if figures.cost > -5e-5 else f"gains {said}"


def overall(figures: Figures) -> str:
    """The overall gap with its limits."""
    limits = numbers.gaps(figures.overall_low, figures.overall_high)
    return f"{numbers.gap(figures.overall)} ({limits})"


def worst(figures: Figures) -> str:
    """The worst client with its gap and limits."""
    row = figures.worst
    if row is None:
        return "none to compare"
    limits = numbers.gaps(row.gap_low, row.gap_high)
    several = f"worst of {row.worst_of:,}, " if row.worst_of > 1 else ""
    return f"{row.client}: {numbers.gap(row.gap)} ({limits}), {several}n = {numbers.count(row.n)}"


def pays(summary: Summary) -> str:
    """The client that loses most accuracy against the model as it is."""
    loser = summary.loses_most
    if not -loser.change > FREE:
        return "no client"
    return f"{loser.client}: {numbers.points(loser.change)}"


def worse_off(harm: Harm) -> str:
    """How many are worse off, and where."""
    if not harm.alarms:
        return NOBODY_WORSE
    sure_of = sum(alarm.beyond_chance for alarm in harm.alarms)
    where = ", ".join(harm.clients[:2]) + (" …" if len(harm.clients) > 2 else "")
    alarms = numbers.plural(len(harm.alarms), "alarm")
    return f"{alarms}, {sure_of or 'none'} beyond chance ({where or 'overall'})"


def headline(summary: Summary, rows: str) -> str:
    """What the setting costs, in one sentence."""
    judged = summary.judged
    people = f"unseen {rows}" if summary.unseen else f"the {rows} it was fitted on"
    return (
        f"On {numbers.count(judged.n)} {people}: accuracy of the model as it is "
        f"{numbers.percent(judged.accuracy_before)}, with this setting "
        f"{numbers.percent(judged.accuracy)}; overall gap {overall(judged)}, before "
        f"{numbers.gap(judged.overall_before)}; worst client {worst(judged)}."
    )


def reasons(chosen: Summary, others: Sequence[tuple[str, Summary]]) -> list[str]:
    """Why an option is recommended: harm first, then whether it holds, then what it costs."""
    sure_of = [alarm for alarm in chosen.harm.alarms if alarm.beyond_chance]
    said = [
        f"Harm: {worse_off(chosen.harm)}."
        if chosen.harm.alarms
        else "Harm: nobody is recognised less often by more than 5 points or half, in any client or group."
    ]
    if sure_of:
        said[0] += " No option with limits here has fewer beyond chance."
    said.append(f"Limits: {verdict(chosen)}. {why(chosen)}")
    said.append(f"Cost: {cost(chosen.judged)} of accuracy against the model as it is. {ORDER}")
    for name, other in others:
        said.append(f"Rather than {name}: {_rather(chosen, other)}.")
    return said


def _rather(chosen: Summary, other: Summary) -> str:
    mine, theirs = (
        sum(alarm.beyond_chance for alarm in one.harm.alarms) for one in (chosen, other)
    )
    if mine != theirs:
        return f"{numbers.plural(mine, 'alarm')} beyond chance instead of {theirs}"
    if verdict(chosen) != verdict(other):
        return f"its limits: {verdict(chosen)}; there: {verdict(other)}"
    change = other.judged.accuracy - chosen.judged.accuracy
    said = f"{numbers.points(change)} {'less' if change > 0 else 'more'} accuracy"
    if abs(change) <= FREE:
        said = "about the same accuracy"
    loosest = [max(one.eps_global, one.eps_local[1]) for one in (chosen, other)]
    return said + (", for tighter limits" if loosest[0] < loosest[1] else "")


def who_pays(summary: Summary) -> list[str]:
    """Who pays and who is helped, in sentences."""
    loser, gainer = summary.loses_most, summary.gains_most
    said = [
        f"{loser.client} loses most accuracy against the model as it is: "
        f"{numbers.points(loser.change)}."
        if -loser.change > FREE
        else "No client loses accuracy against the model as it is."
    ]
    if gainer.change > FREE:
        effect = effect_of(gainer.change, summary.harm, gainer.client)
        said.append(f"{gainer.client} {effect.told(numbers.points(gainer.change))}.")
    said += [gap.sentence() for gap in summary.harm.closed[:3]]
    changed = ", ".join(f"{numbers.percent(s)} of {g}" for g, s in summary.changed_by_group)
    said.append(f"Answers change for {changed}.")
    return said


def recognised(change: float, *, alarm: bool, beyond_chance: bool) -> str:
    """What became of a label in a group."""
    if alarm:
        return "▼ worse off, beyond chance" if beyond_chance else "▽ may be worse off"
    if abs(change) < FREE:
        return "as before"
    return "▲ more" if change > 0 else "fewer"


def told(check: LimitCheck) -> str:
    """Whether the people behind a gap suffice."""
    if check.is_broken:
        return "above its limit, beyond chance"
    if check.is_kept:
        return "within its limit and margin"
    return f"too few; about {check.needed:,} of the smaller group needed"


def how_sure(summary: Summary, option: Option) -> list[str]:
    """How sure all this is."""
    runs = f"Means over {summary.runs} runs" if summary.runs > 1 else "One run"
    found = summary.verdict
    return [
        f"{runs}, each with its own split and training; certainty: {sure(option.guarantee)}.",
        "No limit was asked for."
        if found is None
        else f"Of {numbers.plural(len(found.limits), 'limit')}, "
        f"{len(found.inconclusive) or 'none'} "
        f"{'has' if len(found.inconclusive) == 1 else 'have'} too few people behind "
        f"{'it' if len(found.inconclusive) == 1 else 'them'} to be told on unseen people alone.",
    ]
