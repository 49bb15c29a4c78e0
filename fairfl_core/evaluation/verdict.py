"""Does a limit hold on unseen people? One word, one sentence, one rule for chance.

The rule, on every page and in every file: a gap is *above* its limit beyond chance when the lower
end of its interval is, the interval widened so that all of a verdict's gaps are covered at once
(Bonferroni). It is *told* when its people suffice for an interval of about +- the limit; where
they do not, nothing can be said either way. A gap is *within chance* when the lower end of its
own 95 % interval is zero.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from fairfl_core.evaluation.evaluation import LEVEL, Evaluation
from fairfl_core.evaluation.run_means import run_mean
from fairfl_core.fairness.intervals import gap_interval
from fairfl_core.fairness.notions import Rate, number_or_none
from fairfl_core.solving.guarantee import Guarantee

__all__ = [
    "BROKEN",
    "CHANCE",
    "HOLDS",
    "UNTOLD",
    "Finding",
    "PeopleBehind",
    "Verdict",
    "verdict_of",
    "within_chance",
]

HOLDS, BROKEN, UNTOLD = "holds", "does not hold", "cannot be told"
CHANCE = 0.0005  # a lower end below this is none, at the three decimals that gaps are shown with
_SLACK = 5e-4  # a gap shown with three decimals equals its limit up to this
Floats = NDArray[np.float64]


def within_chance(low: ArrayLike) -> NDArray[np.bool_]:
    """Whether gaps cannot be told from none, by the lower ends of their own 95 % intervals."""
    return np.less(low, CHANCE)


@dataclass(frozen=True)
class PeopleBehind:
    """The people behind a gap: the two groups that lie farthest apart in its worst rate."""

    rate: Rate
    lower_group: str
    lower_n: int
    lower_rate: float
    higher_group: str
    higher_n: int
    higher_rate: float

    def __str__(self) -> str:
        whom = "" if self.rate.label is None else f" with “{self.rate.label}”"
        return (
            f"{self.lower_n:,} {self.lower_group} and {self.higher_n:,} {self.higher_group}{whom}"
        )


@dataclass(frozen=True)
class Finding:
    """One limit on unseen people: overall (`client` None) or inside a client.

    Attributes
    ----------
    gap, before : float
        The gap of the fair answers and of the model's own, mean over runs.
    low, high : float
        Its own 95 % interval.
    floor : float
        The lower end of the interval that covers all of a verdict's gaps at once.
    eps : float
        What was asked.
    width : float
        Half of the interval of the difference of the two groups behind the gap.
    n : int
        People of the client (or all).
    behind : PeopleBehind
        Who stands behind the gap.
    needed : int
        People of the smaller group behind it that an interval of +- eps would take.
    """

    client: str | None
    gap: float
    before: float
    low: float
    high: float
    floor: float
    eps: float
    width: float
    n: int
    behind: PeopleBehind
    needed: int

    @property
    def above(self) -> bool:
        """Whether the limit is broken beyond chance."""
        return self.floor > self.eps + _SLACK

    @property
    def told(self) -> bool:
        """Whether its people suffice for an interval of about +- the limit."""
        return self.width <= max(self.eps, CHANCE)

    @property
    def worse(self) -> bool:
        """Whether the gap is larger than the model's own."""
        return self.gap > self.before + CHANCE

    def to_json(self) -> dict[str, Any]:
        """The form that evaluations carry."""
        rate = self.behind.rate
        return {
            "client": self.client,
            "gap": self.gap,
            "gap_before": number_or_none(self.before),
            "interval": [self.low, self.high],
            "eps": self.eps,
            "n": self.n,
            "label": rate.label,
            "answer": rate.answer,
            "behind": {
                self.behind.lower_group: self.behind.lower_n,
                self.behind.higher_group: self.behind.higher_n,
            },
            "needed": self.needed,
            "worse_than_before": self.worse,
        }


@dataclass(frozen=True)
class Verdict:
    """Whether the limits asked hold on unseen people.

    Attributes
    ----------
    word : {"holds", "does not hold", "cannot be told"}
    findings : tuple of Finding
        Every limit that was asked and can be assessed, worst first.
    guarantee : Guarantee or None
        What the program was asked to make sure of.
    """

    word: str
    findings: tuple[Finding, ...]
    guarantee: Guarantee | None
    unseen: bool = True

    @property
    def above(self) -> tuple[Finding, ...]:
        """Limits broken beyond chance, by how much they are."""
        return tuple(finding for finding in self.findings if finding.above)

    @property
    def untold(self) -> tuple[Finding, ...]:
        """Limits whose people are too few."""
        return tuple(finding for finding in self.findings if not finding.told)

    @property
    def worse(self) -> tuple[Finding, ...]:
        """Gaps that are larger than the model's own, beyond what three decimals hide."""
        return tuple(finding for finding in self.findings if finding.worse)

    def sentence(self) -> str:
        """The verdict in one sentence (or two), for a person; names are plain text."""
        if not self.findings:
            return "No limit was asked for that these people can be judged by."
        if not self.unseen:
            return "There are no unseen people to judge it on." + self._promise()
        if self.word == BROKEN:
            return self._broken()
        if self.word == UNTOLD:
            return self._untold()
        return self._holding()

    def _promise(self) -> str:
        if self.guarantee is None:
            return ""
        sure, all_at_once = _percent(self.guarantee.confidence), self.guarantee.scope == "all"
        asked = max(finding.eps for finding in self.findings)
        whom = "all limits at once are kept" if all_at_once else "each limit is kept"
        how = "proved" if self.guarantee.proof == "proved" else "by measured margins"
        return f" It was fitted so that with {sure} confidence {whom} (at most {asked:g}; {how})."

    def _holding(self) -> str:
        told = len(self.findings) - len(self.untold)
        clients = [finding for finding in self.findings if finding.client is not None]
        if self.guarantee is not None and clients:
            asked = max(finding.eps for finding in clients)
            scope = "all at once" if self.guarantee.scope == "all" else "each on its own"
            said = (
                f"With {_percent(self.guarantee.confidence)} confidence no client's gap exceeds "
                f"{asked:g} ({scope}), and no unseen people contradict it."
            )
        else:
            said = "Unseen people are compatible with every limit asked."
        if self.untold:
            said += (
                f" For {told} of {len(self.findings)} limits unseen people are enough to tell on "
                f"their own; else too few stand behind the gap (in {_name(self.untold[0])}: "
                f"{self.untold[0].behind})."
            )
        return said

    def _broken(self) -> str:
        worst = self.above[0]
        said = (
            f"{_start(worst)}: gap {worst.gap:.3f} on unseen people where {worst.eps:g} was asked, "
            f"beyond chance ({worst.low:.3f} to {worst.high:.3f}; {worst.behind} stand behind it)"
        )
        if worst.worse:
            said += f"; that is worse than before ({worst.before:.3f})"
        others = len(self.above) - 1
        if others:
            names = ", ".join(_name(one) for one in self.above[1:4])
            said += f". So do {others} more: {names}{' ...' if others > 3 else ''}"
        return said + "."

    def _untold(self) -> str:
        worst = max(self.untold, key=lambda finding: finding.gap)
        said = (
            f"Too few people: the gap {_where(worst)} is {worst.gap:.3f}, which may be anything "
            f"from {worst.low:.3f} to {worst.high:.3f} ({worst.behind} stand behind it; about "
            f"{worst.needed:,} of the smaller group would be needed to tell it to "
            f"± {worst.eps:g})"
        )
        if worst.worse:
            said += f"; before it was {worst.before:.3f}"
        return said + "." + self._promise()

    def to_json(self) -> dict[str, Any]:
        """The form that evaluations carry."""
        return {
            "verdict": self.word,
            "sentence": self.sentence(),
            "above": [finding.to_json() for finding in self.above],
            "untold": len(self.untold),
            "limits": len(self.findings),
        }


def _percent(share: float) -> str:
    return f"{100 * share:g} %"


def _name(finding: Finding) -> str:
    return "the overall gap" if finding.client is None else finding.client


def _where(finding: Finding) -> str:
    return "overall" if finding.client is None else f"in {finding.client}"


def _start(finding: Finding) -> str:
    return "Overall" if finding.client is None else finding.client


def verdict_of(
    evaluations: Sequence[Evaluation],
    eps_global: float,
    eps_local: Floats,
    guarantee: Guarantee | None = None,
    *,
    unseen: bool = True,
) -> Verdict:
    """Judge limits on people; several runs of one setting are averaged.

    Parameters
    ----------
    evaluations : sequence of Evaluation
        Of the same predictor's setting, one a run.
    eps_global, eps_local
        What was asked; 1 asks for nothing and is not judged.
    guarantee : Guarantee, optional
        What the program was asked to make sure of.
    unseen : bool
        Whether the people are unseen; those it was fitted on can settle nothing.
    """
    asked = int((np.asarray(eps_local) < 1).sum()) + int(eps_global < 1)
    level = 1 - (1 - LEVEL) / max(asked, 1)
    findings = []
    if eps_global < 1:
        findings += _findings(evaluations, level, np.array([eps_global]), overall=True)
    findings += _findings(evaluations, level, np.asarray(eps_local, float), overall=False)
    ordered = tuple(sorted(findings, key=lambda one: (one.eps - one.floor, -one.gap)))
    return Verdict(_word(ordered, guarantee, unseen), ordered, guarantee, unseen)


def _word(findings: tuple[Finding, ...], guarantee: Guarantee | None, unseen: bool) -> str:
    if not findings:
        return HOLDS
    if not unseen:
        return UNTOLD
    if any(finding.above for finding in findings):
        return BROKEN
    if guarantee is not None:  # its margins make sure, and nobody contradicts them
        return HOLDS
    # Clients too small to tell do not spoil a verdict that most people stand behind.
    overall = [finding for finding in findings if finding.client is None]
    inside = [finding for finding in findings if finding.client is not None]
    told = sum(finding.n for finding in inside if finding.told)
    enough = not inside or told >= sum(finding.n for finding in inside) / 2
    return HOLDS if enough and all(finding.told for finding in overall) else UNTOLD


def _findings(
    evaluations: Sequence[Evaluation], level: float, eps: Floats, *, overall: bool
) -> list[Finding]:
    """One finding for each scope that has a limit and a gap."""
    tables = [_Scope.of(one, overall=overall) for one in evaluations]
    before = [_Scope.of(one.before, overall=overall) for one in evaluations]
    own, joint = (
        [gap_interval(table.rate, table.people, each) for table in tables]
        for each in (LEVEL, level)
    )
    with np.errstate(invalid="ignore"):
        low, high = (run_mean([limit[side] for limit in own]) for side in (0, 1))
        floor = run_mean([limit[0] for limit in joint])
        gap, was = (run_mean([part.gap for part in parts]) for parts in (tables, before))
        rate = run_mean([table.rate_or_nan for table in tables])
        people = run_mean([table.people for table in tables])
    counts = evaluations[0].counts
    n = run_mean(
        [[e.counts.n] if overall else e.counts.n_client.astype(float) for e in evaluations]
    )
    found = []
    for place in np.flatnonzero((eps < 1) & ~np.isnan(gap)):
        behind, smaller = _behind(rate[place], people[place], evaluations[0])
        width = _half_width(behind)
        needed = int(np.ceil(smaller * (width / max(float(eps[place]), 0.01)) ** 2))
        found.append(
            Finding(
                client=None if overall else counts.clients[place],
                gap=float(gap[place]),
                before=float(was[place]),
                low=float(low[place]),
                high=float(high[place]),
                floor=float(floor[place]),
                eps=float(eps[place]),
                width=width,
                n=round(float(n[place])),
                behind=behind,
                needed=max(needed, 1),
            )
        )
    return found


@dataclass(frozen=True, eq=False)
class _Scope:
    """Rates and people of every scope of an evaluation: (scopes, groups, rates)."""

    rate: Floats
    people: Floats
    gap: Floats

    @classmethod
    def of(cls, one: Evaluation, *, overall: bool) -> "_Scope":
        answered, people = one.answered, one.people
        gap = one.gaps.local
        if overall:
            answered, people = answered.sum(axis=0)[None], people.sum(axis=0)[None]
            gap = np.array([one.gaps.overall])
        rate = np.divide(answered, people, out=np.zeros_like(people), where=people > 0)
        return cls(rate, people, gap)

    @property
    def rate_or_nan(self) -> Floats:
        return np.where(self.people > 0, self.rate, np.nan)


def _half_width(behind: PeopleBehind) -> float:
    """Half of the 95 % interval of the two groups' difference, around Wilson's middles."""
    z = float(ndtri(1 - (1 - LEVEL) / 2))
    variance = 0.0
    for rate, n in (
        (behind.lower_rate, behind.lower_n),
        (behind.higher_rate, behind.higher_n),
    ):
        middle = (n * rate + z**2 / 2) / (n + z**2)
        variance += middle * (1 - middle) / (n + z**2)
    return float(z * np.sqrt(variance))


def _behind(rate: Floats, people: Floats, one: Evaluation) -> tuple[PeopleBehind, float]:
    """The two groups that lie farthest apart in the worst rate, and the smaller one's people."""
    spread = np.nanmax(rate, axis=0, initial=-np.inf) - np.nanmin(rate, axis=0, initial=np.inf)
    compared = (~np.isnan(rate)).sum(axis=0) > 1
    worst = int(np.where(compared, spread, -np.inf).argmax())
    column = rate[:, worst]
    low, high = int(np.nanargmin(column)), int(np.nanargmax(column))
    if low == high:  # equal rates: any two groups
        low, high = np.flatnonzero(~np.isnan(column))[:2]
    groups = one.counts.groups
    behind = PeopleBehind(
        rate=one.notion.rates[worst],
        lower_group=groups[low],
        lower_n=round(float(people[low, worst])),
        lower_rate=float(column[low]),
        higher_group=groups[high],
        higher_n=round(float(people[high, worst])),
        higher_rate=float(column[high]),
    )
    return behind, float(min(people[low, worst], people[high, worst]))
