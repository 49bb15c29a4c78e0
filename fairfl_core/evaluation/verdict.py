"""Does a limit hold on unseen people? One word and one sentence for all limits together.

When a gap counts as above its limit, and when its people are too few to tell, is the rule of
`evaluation.finding`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairfl_core.evaluation.evaluation import LEVEL, Evaluation
from fairfl_core.evaluation.finding import Finding, findings_of
from fairfl_core.solving.guarantee import Guarantee

__all__ = ["BROKEN", "HOLDS", "UNTOLD", "Verdict", "verdict_of"]

HOLDS, BROKEN, UNTOLD = "holds", "does not hold", "cannot be told"
Floats = NDArray[np.float64]


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
        findings += findings_of(evaluations, level, np.array([eps_global]), overall=True)
    findings += findings_of(evaluations, level, np.asarray(eps_local, float), overall=False)
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
