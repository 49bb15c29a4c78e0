"""Are the limits met on new people, and is anybody hurt? One verdict, in one of four words.

======================  ===========================================================================
``not met``             Some limit is broken beyond chance: the lower end of its gap's interval
                        lies above it. Or a floor, a ratio, a precision, a capacity or a limit of
                        another grouping is (`checks`). Or somebody is hurt beyond chance, and people are too few
                        to tell that the limits are met: harm outranks what is undecided.
``met but harmful``     There is evidence for every limit, but beyond chance a label is lost, or
                        almost everybody of a group is answered alike to whom the model spoke.
``met``                 There is evidence for every limit: the upper end of each interval lies
                        within the limit and its margin (a fifth of it, at least 0.02), or the
                        predictor was solved with a confidence that new people do not contradict
                        (of gaps and floors); what else is asked likewise, its margin being 0.02.
                        And no group is answered alike to whom the model spoke (on however few
                        people), and the worst gap is smaller than before, or nothing was to mend.
``not sure yet``        Everything else: too few people, no new people, counts with noise, or a
                        worst gap that is no smaller than before but not beyond chance above its
                        limit.
======================  ===========================================================================

All intervals hold at once with 95 %, and tests of harm are adjusted for all cells (Holm). So *not
met* where every true gap is within its limit, and *met* by evidence where some true gap is beyond
limit and margin, are each given in at most 5 of 100 samples (benchmarks/verdicts.py). Harm is reported
against the model as it is, whether or not a predictor of no limit would do the same.

That the worst gap is no smaller than before takes *met* and a recommendation away; it makes no
*not met* of its own, which chance would give too often: a true gap of 0.12 that is mended to the
0.10 asked is seen no smaller than before in .26 to .77 of samples of 10 to 30 people a group.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from fairfl_core._io.numbers import about, plural
from fairfl_core.errors import InputError
from fairfl_core.evaluation.before_after import LEVEL
from fairfl_core.evaluation.checks import CHANCE, Check, LimitCheck, asked_besides, check_limits
from fairfl_core.evaluation.evaluation import Evaluation
from fairfl_core.evaluation.harm import Alarm, Harm, harm_of
from fairfl_core.fairness.intervals import at_once
from fairfl_core.lp.guarantee import Guarantee
from fairfl_core.lp.policy import Policy

MET, NOT_SURE, NOT_MET, HARMFUL = "met", "not sure yet", "not met", "met but harmful"
PASSED, FAILED, UNSURE = 0, 1, 3  # exit codes of a gate
SHAPES = {MET: "●", NOT_SURE: "○", NOT_MET: "✕", HARMFUL: "✕"}
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Verdict:
    """Whether the limits asked are met on new people, and whether anybody is hurt.

    Attributes
    ----------
    limits : tuple of LimitCheck
        Every limit that was asked and can be assessed, worst first.
    guarantee : Guarantee or None
        With what confidence the predictor was solved.
    hurt : tuple of Alarm
        Who is hurt beyond chance, most people first.
    alike : tuple of Alarm
        Groups answered (almost) alike to whom the model spoke, on however few people.
    unseen : bool
        Whether the people are new; those it was fitted on settle nothing.
    noisy : bool
        Whether their counts carry noise, which the intervals do not contain.
    besides : tuple of Check
        What the policy asks beyond gaps, worst first: floors, ratios, precision, capacity, gaps of
        other groupings.
    """

    limits: tuple[LimitCheck, ...]
    guarantee: Guarantee | None
    hurt: tuple[Alarm, ...] = ()
    alike: tuple[Alarm, ...] = ()
    unseen: bool = True
    noisy: bool = False
    besides: tuple[Check, ...] = ()

    @property
    def word(self) -> str:
        """One of "met", "not sure yet", "not met", "met but harmful"."""
        if self.noisy or not self.unseen or not (self.limits or self.besides):
            return NOT_SURE
        if self.broken or self.broken_besides:
            return NOT_MET
        if self.is_harmful:
            return HARMFUL if self.is_evident else NOT_MET
        return MET if self.is_evident and not self.alike and self.is_smaller else NOT_SURE

    @property
    def is_evident(self) -> bool:
        """Whether there is evidence for all that is asked: enough people, or a confidence."""
        broken = self.broken or self.broken_besides
        return not broken and all(map(self.is_evident_of, self.asked))

    def is_evident_of(self, check: Check) -> bool:
        """Whether there is evidence that one thing is kept: enough people, or a confidence."""
        promised = check.is_promised and self.guarantee is not None
        return check.is_kept or (promised and not check.is_broken)

    @property
    def shape(self) -> str:
        """The sign that goes with the word."""
        return SHAPES[self.word]

    @property
    def broken(self) -> tuple[LimitCheck, ...]:
        """Limits broken beyond chance, worst first."""
        return tuple(one for one in self.limits if one.is_broken)

    @property
    def inconclusive(self) -> tuple[LimitCheck, ...]:
        """Limits whose people are too few to tell."""
        return tuple(one for one in self.limits if not one.is_conclusive)

    @property
    def broken_besides(self) -> tuple[Check, ...]:
        """What else is asked and broken beyond chance, worst first."""
        return tuple(one for one in self.besides if one.is_broken)

    @property
    def asked(self) -> tuple[Check, ...]:
        """All that is asked."""
        return *self.limits, *self.besides

    def interval_of(self, client: str | None, several: int = 1) -> tuple[float, float] | None:
        """The interval of a client's gap (None: the overall one); None where it is not judged.

        Of a client chosen from `several` because its gap is the largest it is None where fewer
        clients than these have a limit, as the intervals here hold at once for those alone.
        """
        if client is not None and sum(one.client is not None for one in self.limits) < several:
            return None
        return next(((one.low, one.high) for one in self.limits if one.client == client), None)

    @property
    def is_harmful(self) -> bool:
        """Whether somebody is hurt beyond chance."""
        return bool(self.hurt)

    @property
    def grown(self) -> tuple[LimitCheck, ...]:
        """The worst gap inside clients, and the overall one, where it is no smaller than before.

        None of either where the model itself was within all of its limits: nothing to mend. Never
        *met* and never recommended, but *not met* only where a limit is broken beyond chance.
        """
        kinds = ([one for one in self.limits if (one.client is None) == all_] for all_ in (0, 1))
        found = []
        for kind in kinds:
            known = [one for one in kind if not np.isnan(one.before)]
            if any(one.before > one.eps + CHANCE for one in known):
                worst = max(kind, key=lambda one: one.gap)
                if worst.gap >= max(one.before for one in known) - CHANCE:
                    found.append(worst)
        return tuple(found)

    @property
    def is_smaller(self) -> bool:
        """Whether the worst gap is smaller than before, or nothing was to mend."""
        return not self.grown

    @property
    def is_recommendable(self) -> bool:
        """Whether the setting may be recommended: not ✕, nobody hurt, the worst gap smaller."""
        return self.word in (MET, NOT_SURE) and not self.is_harmful and self.is_smaller

    # ---------------------------------------------------------------- in words

    @property
    def why(self) -> str:
        """The reason, in a sentence or two for a person; names are plain text."""
        if self.noisy:
            text = (
                "These counts carry noise for privacy, which no interval here contains, so that "
                "they settle nothing: judge it on counts without noise."
            )
            return text + self._promise()
        if not self.unseen:
            hurt = f" Of those it was fitted on, {self._hurt()}." if self.is_harmful else ""
            return f"There are no new people to judge it on.{hurt}{self._promise()}"
        if not self.asked:
            return "Nobody here can be judged by the limits asked: no gap can be computed."
        if self.broken or self.broken_besides:
            hurt = f" Besides, {self._hurt()}." if self.is_harmful else ""
            return f"{self._broken()} {self._broken_besides()}".strip() + hurt
        if self.is_harmful and self.is_evident:
            return f"{self._limits_stand()}, but {self._hurt()}."
        if self.is_harmful:
            return f"{_upper(self._hurt())}. {self._undecided()}".strip()
        if self.word == MET:
            return f"{self._limits_met()} {self._besides_met()}".strip()
        alike = f"{self.alike[0].sentence()} " if self.alike else ""
        return f"{self._not_smaller()}{alike}{self._undecided()}{self._promise()}".strip()

    def _promise(self) -> str:
        if self.guarantee is None or not self.limits:
            return ""
        return f" It was solved so that {self._promised()}."

    def _promised(self) -> str:
        if self.guarantee is None:
            return ""
        clients = [one.eps for one in self.limits if one.client is not None]
        overall = [one.eps for one in self.limits if one.client is None]
        return self.guarantee.promise(len(clients), max(clients or overall))

    def _limits_stand(self) -> str:
        """That the limits are met, or that this rests on the confidence; a clause."""
        if all(one.is_kept for one in self.asked) or self.guarantee is None:
            return "The limits are met"
        sure = f"{100 * self.guarantee.confidence:g} % confidence"
        return f"New people do not contradict the limits it was solved for with {sure}"

    def _besides_met(self) -> str:
        """Whether what is asked beside gaps is seen to be kept, or rests on the confidence."""
        if not self.besides:
            return ""
        nearest = max(self.besides, key=lambda one: one.excess).describe()
        if all(one.is_kept for one in self.besides):
            return f"All else that is asked is kept ({nearest})."
        assert self.guarantee is not None
        floors = [one for one in self.besides if one.is_promised]
        enough = sum(one.is_kept for one in floors)
        others = " All else that is asked is kept." if len(floors) < len(self.besides) else ""
        return (
            f"The floors were solved for with {100 * self.guarantee.confidence:g} % confidence; new "
            f"people do not contradict them (for {enough or 'none'} of {len(floors):,} they are "
            f"enough to tell on their own; {nearest}).{others}"
        )

    def _limits_met(self) -> str:
        if not self.limits:
            return ""
        if not self.inconclusive:
            largest = max(self.limits, key=lambda one: one.high - one.eps)
            return (
                f"With 95 % confidence every gap on new people is within its limit and a margin "
                f"of {largest.margin:g} ({_where(largest)}: {largest.gap:.3f}, at most "
                f"{largest.high:.3f} where {largest.eps:g} was asked)."
            )
        reason, many = len(self.limits) - len(self.inconclusive), len(self.limits)
        return (
            f"{_upper(self._promised())}; new people do not contradict it (for "
            f"{reason or 'none'} of {plural(many, 'limit')} they are enough to tell on their own)."
        )

    def _broken(self) -> str:
        if not self.broken:
            return ""
        worst = self.broken[0]
        text = (
            f"{worst.client or 'Overall'}: gap {worst.gap:.3f} on new people where {worst.eps:g} was "
            f"asked, beyond chance ({worst.low:.3f} to {worst.high:.3f}; {worst.behind} stand "
            "behind it)"
        )
        if worst.is_worse:
            text += f"; that is worse than before ({worst.before:.3f})"
        others = self.broken[1:]
        if others:
            names = ", ".join(_name(one) for one in others[:3])
            more = " and others" if len(others) > 3 else ""
            are = "is" if len(others) == 1 else "are"
            text += f". {len(others):,} more {are} broken: {names}{more}"
        return text + "."

    def _broken_besides(self) -> str:
        if not self.broken_besides:
            return ""
        worst, others = self.broken_besides[0], len(self.broken_besides) - 1
        more = f", and {others:,} more of what is asked {'are' if others > 1 else 'is'} broken"
        people = plural(worst.n, "person", "people")
        return f"{worst.describe()}, beyond chance ({people} behind it){more * (others > 0)}."

    def _hurt(self) -> str:
        """Who is hurt most, and how many more; a clause."""
        worst, others = self.hurt[0], len(self.hurt) - 1
        more = f", and {others:,} more such alarm{'s' * (others > 1)}" if others else ""
        where = "overall" if worst.client is None else f"in {worst.client}"
        reason = f"{worst.brief()}{more}"
        return f"people are hurt {where} compared with the model as it is: {reason}"

    def _not_smaller(self) -> str:
        if not self.grown:
            return ""
        worst = self.grown[0]
        before = max(
            one.before
            for one in self.limits
            if (one.client is None) == (worst.client is None) and not np.isnan(one.before)
        )
        which = "overall gap" if worst.client is None else "worst gap inside a client"
        return (
            f"The {which} is no smaller than before: {worst.gap:.3f} ({_name(worst)}), before "
            f"{before:.3f}. "
        )

    def _undecided(self) -> str:
        parts = []
        if self.inconclusive:
            parts.append(
                self._undecided_limits(max(self.inconclusive, key=lambda one: one.excess))
            )
        undecided = [one for one in self.besides if not one.is_conclusive]
        if undecided:
            worst = max(undecided, key=lambda one: one.excess)
            parts.append(
                f"Too few people to tell {len(undecided):,} of {len(self.besides):,} asked besides "
                f"gaps: {worst.describe()} ({plural(worst.n, 'person', 'people')} behind it)."
            )
        return " ".join(parts)

    def _undecided_limits(self, worst: LimitCheck) -> str:
        return (
            f"Too few people to tell {len(self.inconclusive):,} of "
            f"{plural(len(self.limits), 'limit')}: the gap {_where(worst)} is {worst.gap:.3f}, "
            f"between {worst.low:.3f} and {worst.high:.3f} where {worst.eps:g} was asked "
            f"({worst.behind} stand behind it; it takes about {about(worst.needed)} of the smaller "
            "group)."
        )

    def to_json(self) -> dict[str, Any]:
        """The form that evaluations carry."""
        more = {"besides": [one.to_json() for one in self.besides]} if self.besides else {}
        return more | {
            "word": self.word,
            "why": self.why,
            "harmful": self.is_harmful,
            "above": [one.to_json() for one in self.broken],
            "untold": len(self.inconclusive),
            "limits": len(self.limits),
        }


def _name(check: LimitCheck) -> str:
    return "overall" if check.client is None else check.client


def _where(check: LimitCheck) -> str:
    return "overall" if check.client is None else f"in {check.client}"


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]


def verdict_of(
    evaluations: Sequence[Evaluation],
    eps_global: float,
    eps_local: Floats,
    guarantee: Guarantee | None = None,
    *,
    policy: Policy = Policy(),
    unseen: bool = True,
    harm: Harm | None = None,
) -> Verdict | None:
    """Judge all that is asked on people; several runs of one setting are averaged.

    Parameters
    ----------
    evaluations : sequence of Evaluation
        Of the same predictor's setting, one a run.
    eps_global, eps_local
        What was asked; 1 asks for nothing and is not judged. None is returned where nothing is.
    guarantee : Guarantee, optional
        With what confidence the predictor was solved.
    policy : Policy
        What else was asked.
    unseen : bool
        Whether the people are new; those it was fitted on can settle nothing.
    harm : Harm, optional
        What becomes of every label, where it is known already.
    """
    eps = np.array([eps_global, *eps_local], float)
    asked = int((eps < 1).sum())
    if not asked and not policy.asks_for_rows:
        return None
    besides = asked_besides(evaluations, policy)
    level = at_once(LEVEL, asked + sum(int(one.is_there.sum()) for one in besides))
    found = check_limits(evaluations, level, eps) if asked else []
    harm = harm_of(evaluations) if harm is None else harm
    noisy = evaluations[0].counts.has_noise
    return Verdict(
        limits=tuple(sorted(found, key=lambda one: (one.eps - one.low, -one.gap))),
        guarantee=guarantee,
        hurt=harm.proved,
        alike=harm.constant,
        unseen=unseen,
        noisy=noisy,
        besides=tuple(
            sorted(
                (check for one in besides for check in one.checks(level, noisy=noisy)),
                key=lambda check: -check.excess,
            )
        ),
    )


# -------------------------------------------------------------------- as a gate of a build server


@dataclass(frozen=True)
class Gate:
    """Whether a verdict is the one required.

    Attributes
    ----------
    verdict : Verdict
    notion : str
    allow_unsure : bool
        Whether *not sure yet* passes.
    """

    verdict: Verdict
    notion: str
    allow_unsure: bool = False

    @classmethod
    def of(
        cls,
        verdict: Verdict | None,
        notion: str,
        require: str = MET,
        *,
        allow_unsure: bool = False,
    ) -> "Gate":
        """The gate of a verdict; refused where nothing was asked, so that nothing can be met."""
        if require != MET:
            raise InputError(f'--require takes "{MET}", not "{require}".')
        if verdict is None:
            raise InputError(
                "no limit was asked for, so there is nothing that could be met; give --policy with "
                "the limits, or a predictor that was solved within some."
            )
        return cls(verdict, notion, allow_unsure)

    @property
    def code(self) -> int:
        """How the process ends: 0 passed, 1 the verdict is worse, 3 undecided."""
        if self.verdict.word == NOT_SURE:
            return PASSED if self.allow_unsure else UNSURE
        return PASSED if self.verdict.word == MET else FAILED

    @property
    def _cases(self) -> list[tuple[str, int, str]]:
        """The verdict, and all that is asked: its name, its code and what there is to say of it."""
        verdict = self.verdict
        sentence = f"{verdict.word.upper()}. {verdict.why}"
        return [
            ("verdict", self.code, sentence),
            *((one.title, self._code_of(one), one.sentence()) for one in verdict.asked),
        ]

    def _code_of(self, check: Check) -> int:
        if check.is_broken:
            return FAILED
        passes = self.verdict.is_evident_of(check) or self.allow_unsure
        return PASSED if passes else UNSURE

    def to_junit(self) -> str:
        """JUnit XML: a test case for the verdict and for all that is asked.

        What failed is a failure, what is undecided an error.
        """
        cases = self._cases
        codes = [code for _, code, _ in cases]
        suite = ElementTree.Element(
            "testsuite",
            name=f"fairfl {self.notion}",
            tests=str(len(cases)),
            failures=str(codes.count(FAILED)),
            errors=str(codes.count(UNSURE)),
        )
        for name, code, sentence in cases:
            case = ElementTree.SubElement(suite, "testcase", classname="fairfl", name=_text(name))
            kind = {PASSED: "system-out", FAILED: "failure", UNSURE: "error"}[code]
            part = ElementTree.SubElement(case, kind)
            part.text = _text(sentence)
            if code != PASSED:
                part.set("message", part.text)
        ElementTree.indent(suite)
        return ElementTree.tostring(suite, "unicode", xml_declaration=True)

    def to_github(self, file: str = "") -> str:
        """Annotations of a GitHub workflow: the verdict, and whatever did not pass."""
        kinds = {PASSED: "notice", FAILED: "error", UNSURE: "warning"}
        where = f"file={_property(file)}," if file else ""
        return "\n".join(
            f"::{kinds[code]} {where}title={_property(f'fairfl: {name}')}::{_data(sentence)}"
            for name, code, sentence in self._cases
            if code != PASSED or name == "verdict"
        )


def _text(text: str) -> str:
    """Text that XML can hold: without letters that act, which it forbids."""
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else "\N{REPLACEMENT CHARACTER}" for one in text)


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
