"""Sentences about options, in words for people who decide; numbers are given to it."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from fairfl_core._io import numbers
from fairfl_core.data.datasets import DATASETS
from fairfl_core.data.experiments import Experiment
from fairfl_core.evaluation.checks import Check, LimitCheck
from fairfl_core.evaluation.harm import FEW, LostLabel, groups_of
from fairfl_core.evaluation.study import Summary
from fairfl_core.evaluation.verdict import Verdict
from fairfl_core.fairness.notions import notion_kind
from fairfl_core.lp.frontier import FREE
from fairfl_core.lp.guarantee import Guarantee
from fairfl_core.lp.policy import Policy
from fairfl_core.lp.regions import region_kind
from fairfl_core.lp.utility import Utility
from fairfl_core.report.review import Option, Result

gap, gaps = numbers.round_gap, numbers.round_gaps
percent, points, signed = numbers.round_percent, numbers.round_points, numbers.round_signed_points

# What a shell prints of an option, and the keys of `fairfl-review-result/1`.
ROWS = (
    ("asked", "Asked"),
    ("verdict", "Verdict on unseen people"),
    ("worst", "Worst client's gap (95 %)"),
    ("overall", "Overall gap (95 %)"),
    ("found", "Found, worst group"),
    ("accuracy", "Accuracy, unseen people"),
    ("cost", "Cost against the model as it is"),
    ("pays", "Who pays most"),
    ("worse_off", "Who is worse off"),
    ("changed", "Answers changed"),
)
AS_IT_IS = "The model as it is"
NOTHING_ASKED, NOTHING_TO_SAY = "nothing asked", "–"
NONE_OF_THESE = "None of these can be recommended"
TOO_FEW = f"fewer than {FEW} people"
NOBODY = "nobody beyond chance"
DEFAULT_QUESTION = "Which limits on unfairness should this model be used with?"
ORDER = "Harm outranks limits, limits outrank cost; people may decide otherwise."
WORDS = (
    ("Gap", "how far apart the groups' rates lie, from 0 (alike) to 1; worst: inside one client."),
    ("Client", "a place that keeps its own data: a hospital, a state, an age band."),
    ("Found", "of those who truly have a label, the share that is answered so."),
    ("New people", "neither the model nor the fair answers were fitted on them."),
    ("95 %", "the true value lies between these in 95 of 100 such checks, all limits at once."),
    ("Beyond chance", "chance alone would hardly show it on so many people."),
)
CAVEATS = (
    "Answers are drawn: two people alike in everything may get different answers. Decided by row "
    "id, the same person always gets the same one. Each person's group must be known.",
    "Limits are met in expectation on the people the answers were fitted on; this report judges "
    "on new people.",
    "Which notion of fairness a case calls for, and whether labels are fair themselves, no number "
    f"settles. Of fewer than {FEW} people nothing is said here.",
)


# -------------------------------------------------------------------- names


def noun_of(experiment: Experiment) -> str:
    """What a client is called here: state, age band; else client."""
    dataset = DATASETS.get(experiment.manifest["dataset"].get("dataset", ""))
    if dataset is None or any(client.startswith("client") for client in experiment.clients):
        return "client"
    return dataset.noun


def titles(options: Sequence[Option], noun: str) -> list[str]:
    """Name each option by what differs between them: its limits, and whatever else does."""
    parts = [_parts(option, noun) | {"limits": _brief(option)} for option in options]
    differs = {name for name in parts[0] if len({one[name] for one in parts}) > 1} or {"limits"}
    named = (", ".join(one[n] for n in one if n in differs and one[n]) for one in parts)
    return [title or one["limits"] for title, one in zip(named, parts, strict=True)]


def _parts(option: Option, noun: str) -> dict[str, str]:
    """Everything an option asks for, by what it is about."""
    own = ", ".join(f"{client} {numbers.epsilon(eps)}" for client, eps in option.own_limits[:2])
    return {
        "limits": limits(option, noun),
        "own": own + (" …" if len(option.own_limits) > 2 else ""),
        "policy": "" if option.policy.is_plain else policy(option.policy),
        "guarantee": "" if option.guarantee is None else sure(option.guarantee),
        "notion": notion_kind(option.notion).title,
        "region": region_kind(option.region).title,
        "rates": f"rates by {option.rates}",
        "data": "cross-fitted" if "cross_fitted" in option.data else "one split",
        "seeds": numbers.plural(len(option.seeds), "run")
        if len(option.seeds) > 1
        else f"run {option.seeds[0]}",
    }


def limits(option: Option, noun: str) -> str:
    """The two limits of an option."""
    overall, inside = numbers.epsilon(option.eps_global), numbers.epsilon(option.eps_local)
    if min(option.eps_global, option.eps_local) >= 1:
        return "no limit"
    if option.eps_global >= 1:
        return f"{inside} in each {noun}"
    if option.eps_local >= 1:
        return f"{overall} overall"
    if overall == inside:
        return f"{overall} overall and in each {noun}"
    return f"{overall} overall, {inside} in each {noun}"


def _brief(option: Option) -> str:
    """The two limits in as few words as tell them apart."""
    overall, inside = numbers.epsilon(option.eps_global), numbers.epsilon(option.eps_local)
    if option.eps_global == option.eps_local:
        return "no limit" if option.eps_global >= 1 else f"{overall} both"
    both = [
        f"{overall} overall" * (option.eps_global < 1),
        f"{inside} inside" * (option.eps_local < 1),
    ]
    return ", ".join(filter(None, both))


def asked(option: Option, noun: str) -> str:
    """All that an option asks for."""
    parts = _parts(option, noun)
    return ", ".join(parts[n] for n in ("limits", "own", "policy", "guarantee") if parts[n])


def sure(guarantee: Guarantee | None) -> str:
    """With what confidence limits were to hold."""
    if guarantee is None:
        return "no confidence asked for"
    scope = "all at once" if guarantee.scope == "all" else "each limit"
    return f"{100 * guarantee.confidence:g} % confidence, {scope}, {guarantee.proof}"


def utility_name(utility: Utility) -> str:
    """What is made as large as can be, in words."""
    names = {"accuracy": "accuracy", "balanced": "balanced accuracy"}
    return names.get(utility.name, f"gain less cost ({utility.name})")


def policy(asked_for: Policy) -> str:
    """What is asked beyond the two limits."""
    ratios = asked_for.ratio_global, asked_for.ratio_local
    capacities = asked_for.capacity_global, asked_for.capacity_local
    where = "overall", "inside each client"
    pairs = list(zip(ratios, capacities, where, strict=True))
    parts = [
        *map(str, asked_for.floors),
        *(f"ratio at least {least:g} {place}" for least, _, place in pairs if least is not None),
        *(f"limit {limit}" for limit in asked_for.limits),
        *(f"precision {one}" for one in asked_for.precision),
        *(
            f"at most {most:g} answered favourably {place}"
            for _, most, place in pairs
            if most is not None
        ),
    ]
    if not asked_for.utility.is_accuracy:
        parts.append(f"{utility_name(asked_for.utility)} as large as can be")
    parts += ["one rule for all groups"] if asked_for.without_group else []
    return "; ".join(parts) or "nothing"


# -------------------------------------------------------------------- the verdict and the decision


def word(verdict: Verdict | None) -> str:
    """The verdict's shape and word."""
    return NOTHING_ASKED if verdict is None else f"{verdict.shape} {verdict.word}"


def brief_why(verdict: Verdict | None) -> str:
    """The rule that made the word, in a few words: what a cell of the table has room for."""
    if verdict is None:
        return ""
    many = numbers.plural(len(verdict.asked), "limit")
    broken = len(verdict.broken) + len(verdict.broken_besides)
    undecided = sum(not one.is_conclusive for one in verdict.asked)
    if verdict.noisy:
        return "counts carry noise"
    if not verdict.unseen:
        return "no new people"
    if broken:
        return f"{broken:,} of {many} broken"
    if verdict.is_harmful:
        hurt = len(groups_of(verdict.hurt))
        return f"{numbers.plural(hurt, 'group')} {'loses' if hurt == 1 else 'lose'}"
    if verdict.grown:
        return "worst gap no smaller than before"
    if verdict.alike:
        return f"{numbers.plural(len(verdict.alike), 'group')} answered alike"
    if undecided and not verdict.is_evident:
        return f"too few people for {undecided:,} of {many}"
    return f"{many} kept"


def why(summary: Summary) -> str:
    """The verdict's reason; nothing in it is about fewer than 10 people."""
    verdict = summary.verdict
    if verdict is None:
        return "No limit was asked for."
    listed_alarms = without_few(verdict)
    if listed_alarms.word != verdict.word:
        return f"{brief_why(verdict).capitalize()}; it rests on {TOO_FEW} somewhere."
    return listed_alarms.why


def without_few(verdict: Verdict) -> Verdict:
    """The verdict with only what is seen on at least 10 people."""
    return replace(
        verdict,
        limits=tuple(one for one in verdict.limits if enough(one)),
        hurt=tuple(alarm for alarm in verdict.hurt if alarm.n >= FEW),
        alike=tuple(alarm for alarm in verdict.alike if alarm.n >= FEW),
        besides=tuple(one for one in verdict.besides if one.n >= FEW),
    )


def enough(check: LimitCheck) -> bool:
    """Whether at least 10 people of each group stand behind a gap."""
    return min(check.behind.lower_n, check.behind.higher_n) >= FEW


def none_of(refused: Sequence[tuple[str, Summary]]) -> str:
    """The decision, where no option can be recommended."""
    causes = {_is(summary) for _, summary in refused}
    parts = ", ".join(f"{name} {_is(summary)}" for name, summary in refused)
    if len(causes) == 1 and len(refused) > 1:
        parts = f"each {causes.pop()}"
    return f"{NONE_OF_THESE}: {parts}."


def _is(summary: Summary) -> str:
    verdict = summary.verdict
    if verdict is None:
        return "asks for nothing"
    if verdict.shape == "✕":
        return f"is {verdict.word}"
    return "closes no gap" if not verdict.is_harmful else "hurts people"


# -------------------------------------------------------------------- cells of the table


def interval(low: float, high: float, eps: float) -> str:
    """How sure a gap is, and what was asked of it."""
    return between(low, high) + (f", asked {numbers.epsilon(eps)}" if eps < 1 else "")


def between(low: float, high: float) -> str:
    """The ends of a gap's interval, as a cell has room for."""
    return f"{gap(low)} – {gap(high)}"


def pays(result: Result) -> tuple[str, str]:
    """Who is hurt most beyond chance; else the client that loses most accuracy."""
    harm, columns = result.summary.harm, result.client_columns
    lost = [one for one in harm.proved if one.n >= FEW and isinstance(one, LostLabel)]
    if lost:
        one = max(lost, key=lambda alarm: (alarm.client is not None, alarm.people))
        change = numbers.before_after(one.before, one.after, percent)
        where = "overall" if one.client is None else one.client
        label = "" if one.label == harm.favourable else f"“{one.label}” "
        return f"{one.group}, {where}", f"{label}{change}"
    change_of = columns["accuracy"] - columns["accuracy_before"]
    loss = np.where(columns["n"] >= FEW, np.nan_to_num(change_of), 0.0)
    most = int(loss.argmin())
    if -loss[most] > FREE:
        return columns["client"][most], f"accuracy {signed(loss[most])}"
    return NOBODY if result.summary.verdict else NOTHING_TO_SAY, ""


def worse_off(summary: Summary) -> str:
    """How many are worse off beyond chance, and where; nobody's loss is judged without a limit."""
    if summary.verdict is None:
        return NOTHING_TO_SAY
    sure_of = [alarm for alarm in summary.harm.alarms if alarm.beyond_chance and alarm.n >= FEW]
    if not sure_of:
        return NOBODY
    places = dict.fromkeys("overall" if a.client is None else a.client for a in sure_of)
    where = ", ".join(list(places)[:2]) + (" …" if len(places) > 2 else "")
    return f"{numbers.plural(len(sure_of), 'alarm')} beyond chance ({where})"


# -------------------------------------------------------------------- details


def hurt(summary: Summary) -> list[str]:
    """Who else is hurt beyond chance, after whom the verdict names, in sentences."""
    listed_alarms = [alarm for alarm in summary.harm.proved if alarm.n >= FEW][1:]
    parts = [alarm.sentence() for alarm in listed_alarms[:3]]
    more = len(listed_alarms) - len(parts)
    return [
        *parts,
        *([f"{numbers.plural(more, 'more such alarm')} beyond chance."] if more else []),
    ]


def recognised(change: float, *, alarm: bool, beyond_chance: bool) -> str:
    """What became of a label in a group."""
    if alarm:
        return "▼ fewer, beyond chance" if beyond_chance else "▽ fewer, may be chance"
    if abs(change) < FREE:
        return "as before"
    return "▲ more" if change > 0 else "fewer"


def conclusion(check: Check) -> str:
    """Whether the people behind a gap, or behind what else is asked, suffice."""
    if check.is_broken:
        return "✕ beyond its limit, beyond chance"
    if check.is_kept:
        return "● within its limit and margin"
    if check.noisy:
        return "○ the counts carry noise"
    if not isinstance(check, LimitCheck):
        return "○ too few"
    return f"○ too few; it takes about {numbers.about(check.needed)} of the smaller group"
