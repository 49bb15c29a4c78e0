"""What must not be overlooked: a label that is no longer recognised, a lottery that is blind.

The rules are the same on every page and in every file. A label's recognition Pr(answer y | label y)
raises an alarm where it falls by more than 5 points or below half of what it was. A lottery does
where it looks at the model for fewer than 1 in 10, or gives more than 95 in 100 of a group one
answer, unless the model itself answered them alike before. Alarms are ordered by how many people
are hurt beyond chance; those on fewer than 10 people come last.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

MOST_POINTS = 0.05  # a larger fall is an alarm
LEAST_SHARE = 0.5  # of what it was; less is an alarm
ALIKE = 0.95  # a group more of whom get one answer is answered alike
FEW = 10  # an alarm on fewer people never leads
HARDLY = 0.1  # a lottery that looks at the model for fewer is an alarm
UNLIKELY = 0.05  # chance alone does less likely than this what is called beyond chance
SHOWN = 0.0005  # half of what a percentage with one decimal shows: a smaller change is none


@dataclass(frozen=True, kw_only=True)
class Alarm(ABC):
    """Someone is worse off, or may be.

    Attributes
    ----------
    client : str or None
        None where it is about everyone.
    group : str
    n : int
        People behind it: mean over the runs that have any.
    p_value : float
        How likely chance alone is to show as much on so many people where nothing happened that
        is an alarm: of a lost label, where its recognition fell by no more than an alarm allows
        (so that a fall may be sure, and its p-value large); of answers alike, where as many leave
        the answer as get it. Adjusted for all cells that are looked at (`harm_tests`).
    label : str or None
        The label that is lost; None where it is the model that hardly counts.
    noisy : bool
        Whether it is seen on counts with noise, of which nothing is beyond chance.
    """

    client: str | None
    group: str
    n: int
    p_value: float
    label: str | None = None
    noisy: bool = False

    kind: ClassVar[str]

    @property
    def beyond_chance(self) -> bool:
        """Whether it cannot be put down to the people it is seen on; of one person, never."""
        return self.p_value < UNLIKELY and self.n > 1 and not self.noisy

    @property
    @abstractmethod
    def people(self) -> float:
        """How many people are hurt: those who lose what the model gave, less those who gain."""

    @property
    def order(self) -> tuple[float, ...]:
        """Worst first: beyond chance, by people hurt; on fewer than 10 people last."""
        return float(self.n < FEW), float(not self.beyond_chance), -self.people

    @property
    @abstractmethod
    def collapse(self) -> bool:
        """Whether a label, or the model, hardly counts any longer."""

    @abstractmethod
    def describe(self) -> str:
        """What happens to the group, on whom, and how sure; without the client's name."""

    @abstractmethod
    def brief(self) -> str:
        """The same in fewer words."""

    @property
    def where(self) -> str:
        """The client's name, or everyone."""
        return "Overall" if self.client is None else self.client

    def sentence(self) -> str:
        """The alarm in one sentence; names are plain text."""
        return f"{self.where}: {self.describe()}."

    def to_json(self) -> dict[str, Any]:
        """The form that evaluations carry."""
        return {
            "kind": self.kind,
            "client": self.client,
            "group": self.group,
            "label": self.label,
            "n": self.n,
            "beyond_chance": self.beyond_chance,
            "p_value": self.p_value,
            "people": self.people,
            "sentence": self.sentence(),
        }


def groups_of(alarms: Sequence[Alarm]) -> set[tuple[str | None, str]]:
    """The groups of clients that alarms are about; everyone together only where no client is."""
    found = {(one.client, one.group) for one in alarms}
    return {(client, group) for client, group in found if client is not None} or found


@dataclass(frozen=True, kw_only=True)
class LostLabel(Alarm):
    """A label is recognised less often than the model alone recognises it.

    Attributes
    ----------
    before, after : float
        Pr(answer = label | label), of the model and of the lottery.
    low, high : float
        95 % limits of `after`.
    """

    before: float
    after: float
    low: float
    high: float

    kind = "recognition"

    @property
    def fall(self) -> float:
        """How much less often, as a share of the group's people with the label."""
        return self.before - self.after

    @property
    def people(self) -> float:
        """How many more people lose their recognition than gain it."""
        return self.fall * self.n

    @property
    def collapse(self) -> bool:
        """Whether less than half of its recognition is left."""
        return self.after < LEAST_SHARE * self.before

    def describe(self) -> str:
        """The label's recognition before and after, on whom, and how sure."""
        limits = f"95 % between {_percent(self.low)} and {_percent(self.high)}"
        return f"{self._fact()} (n = {self.n:,}, {limits}: {self._sure()})"

    def brief(self) -> str:
        """The same without limits."""
        return f"{self._fact()} (n = {self.n:,}: {self._sure()})"

    def _sure(self) -> str:
        if self.noisy:
            return "the counts carry noise, which may have done it"
        if self.beyond_chance:
            return "beyond chance"
        by_points = allowed_fall(self.before) >= MOST_POINTS
        allowed = f"{100 * MOST_POINTS:g} points" if by_points else "half"
        return f"that it fell by more than {allowed} may be chance"

    def _fact(self) -> str:
        now, was = _percent(self.after), _percent(self.before)
        return f"“{self.label}” is recognised in {now} of {self.group}, was {was}"

    def to_json(self) -> dict[str, Any]:
        """The form that evaluations carry."""
        return super().to_json() | {
            "before": self.before,
            "after": self.after,
            "interval": [self.low, self.high],
            "fall": self.fall,
            "collapse": self.collapse,
        }


@dataclass(frozen=True, kw_only=True)
class BlindLottery(Alarm):
    """A group is answered almost without looking at the model, or almost all of it alike.

    Attributes
    ----------
    attention : float or None
        The share of its lottery that looks at the model; None for answers of no lottery.
    answer : str
        What most of the group are answered.
    share, before : float
        How many of them, and how many the model itself answered so.
    """

    attention: float | None
    answer: str
    share: float
    before: float

    kind = "attention"
    collapse = True

    @property
    def people(self) -> float:
        """How many more people get the answer than the model gave it to."""
        return max(self.share - self.before, 0.0) * self.n

    @property
    def is_blind(self) -> bool:
        """Whether the lottery hardly looks at the model."""
        return self.attention is not None and self.attention < HARDLY

    @property
    def is_constant(self) -> bool:
        """Whether (almost) everybody is answered alike."""
        return self.share > ALIKE

    def describe(self) -> str:
        """What the group is answered, and for how many the model counts."""
        return blindness([self])

    def brief(self) -> str:
        """The same: it is how the lottery is made, and sure."""
        return self.describe()

    def to_json(self) -> dict[str, Any]:
        """The form that evaluations carry."""
        return super().to_json() | {
            "attention": self.attention,
            "answer": self.answer,
            "answer_share": self.share,
            "answer_share_before": self.before,
        }


def blindness(alarms: Sequence[BlindLottery]) -> str:
    """What groups are answered almost whatever the model says, in one sentence."""
    whom = [f"{_percent(one.share)} of {one.group} (n = {one.n:,})" for one in alarms]
    answers = [f"“{one.answer}”" for one in alarms]
    if len(set(answers)) == 1:
        text = f"{' and '.join(whom)} are answered {answers[0]}"
    else:
        pairs = zip(whom, answers, strict=True)
        text = " and ".join(f"{who} are answered {answer}" for who, answer in pairs)
    if not all(one.is_blind for one in alarms):
        return f"{text}; the model: {' and '.join(_percent(one.before) for one in alarms)}"
    counts = " and ".join(_of_100(one.attention or 0.0) for one in alarms)
    return f"almost whatever the model says, {text}: its answer counts for {counts} in 100"


def is_lost(before: Any, after: Any) -> Any:
    """Whether a recognition that was `before` and is `after` raises an alarm; arrays or numbers."""
    fall = before - after
    return (fall > allowed_fall(before) + 1e-9) & (fall > SHOWN)


def allowed_fall(before: Any) -> Any:
    """How far a recognition that was `before` may fall without an alarm; arrays or numbers."""
    return np.minimum(MOST_POINTS, (1 - LEAST_SHARE) * before)


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _of_100(share: float) -> str:
    hundred = 100 * share
    return f"{hundred:.0f}" if hundred >= 0.95 else "0" if hundred < 0.05 else f"{hundred:.1f}"
