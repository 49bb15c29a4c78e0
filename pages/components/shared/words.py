"""From results to sentences and formatted numbers. No computation beyond choosing words."""

import re
from collections.abc import Callable, Sequence

import numpy as np

from fairfl_core.evaluation.evaluation import Evaluation
from fairfl_core.evaluation.study import Study
from fairfl_core.fairness.notions import Rate
from fairfl_core.solving.regions import AnswerRules
from pages.components.shared.direction import isolated

__all__ = [
    "NOTIONS", "NO_CHECK", "RATES", "REGIONS", "approximation", "count", "epsilon", "gap", "headline", "hundred", "lottery", "people", "percent", "plain", "points",
    "price_sentences", "rate", "sure", "who_pays", "worst_client", "worst_gap",
]  # fmt: skip

NO_CHECK = "no held-out check possible"
NOTIONS = {
    "sp": (
        "Statistical parity",
        "Every group gets each answer equally often, whatever is true of them.",
    ),
    "eop": (
        "Equal opportunity",
        "Among people who truly are “{favourable}”, every group is recognised equally often.",
    ),
    "eo": (
        "Equalized odds",
        "For each true answer, every group is recognised equally often.",
    ),
    "eo-full": (
        "Equalized odds, all errors",
        "For each true answer, every group gets each answer, right or wrong, equally often.",
    ),
}
REGIONS = {
    "simplex": (
        "simplex (the paper's)",
        "The lottery keeps the model's answer or gives a fixed one.",
    ),
    "kernel": (
        "kernel (more freedom)",
        "The lottery may look at the model's answer before it gives another.",
    ),
    "exact": (
        "exact (every rule of the scores)",
        "The lottery may look at the model's scores: the most accuracy the limits allow.",
    ),
}
RATES = {
    "labels": ("counted labels", "As counted on validation; exact there, noisy in small clients."),
    "scores": (
        "recalibrated scores",
        "Every person counts for each label by how likely it is; steadier in small clients.",
    ),
    "shrunk": (
        "labels, shrunk",
        "A small client's rates borrow from its group in the other clients.",
    ),
}


EQUAL = 0.02  # gaps closer than this are called equal when regions are compared


def plain(text: str, longest: int = 60) -> str:
    """Names are text: nothing in them is taken as Markdown or HTML, and none is endless."""
    text = " ".join(str(text).split())
    text = text if len(text) <= longest else text[: longest - 1] + "…"
    return isolated(re.sub(r"([\\`*_{}\[\]()#+\-.!|<>$:~^&@=])", r"\\\1", text))


def percent(share: float) -> str:
    """A share with one decimal."""
    return "–" if np.isnan(share) else f"{100 * share:.1f} %"


def points(difference: float) -> str:
    """A difference of shares in percentage points."""
    size = abs(100 * difference)
    digits = 1 if size >= 0.95 else 2
    return f"{size:.{digits}f} points"


def gap(value: float) -> str:
    """A gap with three decimals."""
    return "none" if np.isnan(value) else f"{value:.3f}"


def count(n: float) -> str:
    """A number of people with thousands separators."""
    return f"{n:,.0f}"


def epsilon(value: float) -> str:
    """A tolerance; 1 asks for nothing."""
    return "no limit" if value >= 1 else f"{value:.4f}".rstrip("0").ljust(4, "0")


def people(study: Study) -> str:
    """On whom a result is judged; said where nobody was held out."""
    return "unseen people" if study.has_held_out else f"the people it was fitted on ({NO_CHECK})"


def worst_client(study: Study) -> int | None:
    """Position of the client with the largest gap on unseen people (else on the fitted)."""
    gaps = study.client_mean(lambda e: e.gaps.local, unseen=study.has_held_out)
    return None if np.isnan(gaps).all() else int(np.nanargmax(gaps))


def worst_gap(study: Study, *, unseen: bool) -> float:
    """The gap of the worst client, each client's gap being its mean over runs."""
    gaps = study.client_mean(lambda e: e.gaps.local, unseen=unseen)
    return float("nan") if np.isnan(gaps).all() else float(np.nanmax(gaps))


def headline(study: Study) -> str:
    """The page in one sentence: what it costs, what is left, who is worst off."""
    unseen = study.has_held_out
    after = study.over(lambda e: e.accuracy, unseen=unseen).mean
    before = study.over(lambda e: e.before.accuracy, unseen=unseen).mean
    overall = study.over(lambda e: e.gaps.overall, unseen=unseen).mean
    solution = study.first.solution
    asked = _asked(solution.eps_global, solution.eps_local)
    cost = before - after
    verb = "costs" if cost >= 0 else "gains"
    worst = worst_client(study)
    last = "no client can be compared"
    if worst is not None:
        name = solution.counts.clients[worst]
        n = study.client_mean(lambda e: e.counts.n_client.astype(float), unseen=unseen)[worst]
        local = study.client_mean(lambda e: e.gaps.local, unseen=unseen)[worst]
        low, high = (
            study.client_mean(lambda e, i=i: e.local_interval[i], unseen=unseen)[worst]
            for i in (0, 1)
        )
        floor = study.client_mean(lambda e: e.noise_floor, unseen=unseen)[worst]
        doubt = ": within noise" if local <= floor else ""
        last = (
            f"worst client **{plain(name)}** (gap {gap(local)}, between {gap(low)} and "
            f"{gap(high)}, n = {count(n)}{doubt})"
        )
    people = "unseen people" if unseen else "the people it was fitted on"
    return (
        f"{asked} {verb} **{points(cost)}** of accuracy on {people}: "
        f"{percent(before)} → **{percent(after)}**; overall gap {gap(overall)}, {last}."
    )


def _asked(eps_global: float, eps_local: np.ndarray) -> str:
    low, high = float(eps_local.min()), float(eps_local.max())
    inside = f"at most {epsilon(high)}" if low == high else f"{epsilon(low)} to {epsilon(high)}"
    if eps_global >= 1 and low >= 1:
        return "No limit on unfairness"
    if eps_global >= 1:
        return f"Allowing a gap of {inside} inside every client"
    if low >= 1:
        return f"Allowing a gap of at most {epsilon(eps_global)} overall"
    return f"Allowing a gap of {inside} inside every client and {epsilon(eps_global)} overall"


def sure(value: float, low: float, high: float, floor: float, n: float) -> str:
    """How sure a client's gap is, in words."""
    if np.isnan(value):
        return "nobody to compare"
    said = f"between {gap(low)} and {gap(high)}, on {count(n)} people"
    if value <= floor:
        return f"{said}: within noise"
    return f"{said}: too few to tell it from none" if low < 0.0005 else said


def who_pays(study: Study) -> str:
    """Which client loses most accuracy, and which gains, on unseen people."""
    unseen = study.has_held_out
    clients = study.first.solution.counts.clients
    change = study.client_mean(lambda e: e.client_accuracy, unseen=unseen) - study.client_mean(
        lambda e: e.before.client_accuracy, unseen=unseen
    )
    low, high = int(np.nanargmin(change)), int(np.nanargmax(change))
    if change[low] > -0.0005:
        return "No client loses accuracy."
    said = f"**{plain(clients[low])}** loses most accuracy: {points(change[low])}"
    if change[high] > 0.0005:
        said += f"; **{plain(clients[high])}** gains {points(change[high])}"
    return said + "."


def rate(of: Rate) -> str:
    """A rate as a person would say it."""
    answer = f"“{of.answer}”"
    if of.label is None:
        return f"answered {answer}"
    return f"{answer} recognised" if of.label == of.answer else f"“{of.label}” answered {answer}"


def approximation(exact: Study, simplex: Study) -> str:
    """Two prices apart: of fairness, and of the paper's approximation; at what gaps is said."""
    unseen = exact.has_held_out

    def both(figure: Callable[[Evaluation], float]) -> list[float]:
        return [study.over(figure, unseen=unseen).mean for study in (exact, simplex)]

    before, _ = both(lambda e: e.before.accuracy)
    best, paper = both(lambda e: e.accuracy)
    overall, local = both(lambda e: e.gaps.overall), both(lambda e: e.gaps.local_mean)
    people = "unseen people" if unseen else "the people it was fitted on"
    costs = f"{'costs' if best <= before else 'gains'} {points(before - best)}"
    more = f"{points(best - paper)} {'more' if best >= paper else 'less'}"
    said = (
        f"On {people} this {costs}; the paper's simplex would cost **{more}**. Gaps left: "
        f"{gap(overall[0])} overall and {gap(local[0])} in the mean client, with the simplex "
        f"{gap(overall[1])} and {gap(local[1])}"
    )
    if local[0] > local[1] + EQUAL or overall[0] > overall[1] + EQUAL:
        return said + ": not equal, so the difference is not all the price of its approximation."
    return said + ": the difference is the price of its approximation, not of fairness."


def price_sentences(study: Study, most: int = 3) -> list[str]:
    """What one more hundredth of tolerance buys, dearest clients first."""
    asked = study.first.solution
    at_most = ["at most " if value == 0 else "" for value in (*asked.eps_local, asked.eps_global)]
    clients = study.first.solution.counts.clients
    said = []
    if study.price_global > 1e-7:
        said.append(
            f"One more hundredth of overall tolerance buys {at_most[-1]}"
            f"{_bought(study.price_global)} points."
        )
    order = np.argsort(-study.price_local)
    said += [
        f"One more hundredth of local tolerance in **{plain(clients[c])}** buys {at_most[c]}"
        f"{_bought(study.price_local[c])} points."
        for c in order[:most]
        if study.price_local[c] > 1e-7
    ]
    return said or ["Nothing binds here: more tolerance would buy no accuracy."]


def _bought(price: float) -> str:
    # d accuracy / d epsilon is points per hundredth: both are hundredths.
    return f"{price:.2f}" if price >= 0.005 else "less than 0.01"


def lottery(weights: np.ndarray, rules: AnswerRules, group: str) -> list[str]:
    """A cell's lottery as sentences: who keeps the model's answer, who gets which other."""
    who = f"**{plain(group)}**"
    if rules.blocks == 1:
        return [_mix(f"Keeps the model's answer for {{}} in 100 {who}", weights, rules.labels)]
    labels = len(rules.labels)
    said = []
    for j, answer in enumerate(rules.labels):
        row = weights[j * labels : (j + 1) * labels]
        order = [j, *(k for k in range(labels) if k != j)]
        rest = [rules.labels[k] for k in order[1:]]
        said.append(
            _mix(
                f"When the model says “{plain(answer)}”, keeps it for {{}} in 100 {who}",
                row[order],
                rest,
            )
        )
    return said


def _mix(start: str, weights: np.ndarray, answers: Sequence[str]) -> str:
    """`weights` begin with the share that keeps; the others belong to `answers`."""
    others = [
        f"answers “{plain(answer)}” for {hundred(share)}"
        for answer, share in zip(answers, weights[1:], strict=True)
        if share >= 0.0005
    ]
    return (
        start.format(hundred(weights[0])) + (", else " + ", ".join(others) if others else "") + "."
    )


def hundred(share: float) -> str:
    """How many in a hundred, with a decimal where it matters."""
    value = 100 * share
    if value < 0.05:
        return "0"
    return f"{value:.0f}" if value >= 1 and abs(value - round(value)) < 0.05 else f"{value:.1f}"
