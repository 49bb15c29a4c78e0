"""What must not be overlooked: a label that is no longer recognised, a lottery that is blind.

The rules are the same on every page and in every file. A label's recognition Pr(answer y | label y)
raises an alarm where it falls by more than 5 points or below half of what it was; a lottery where
it looks at the model for fewer than 1 in 10. An alarm on three people is an alarm all the same, and
says that they are three.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

__all__ = [
    "HARDLY",
    "SHOWN",
    "UNLIKELY",
    "Alarm",
    "BlindLottery",
    "LostLabel",
    "blindness",
    "is_lost",
]

MOST_POINTS = 0.05  # a larger fall is an alarm
LEAST_SHARE = 0.5  # of what it was; less is an alarm
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
    label : str or None
        The label that is lost; None where it is the model that hardly counts.
    """

    client: str | None
    group: str
    n: int
    label: str | None = None

    kind: ClassVar[str]

    @property
    @abstractmethod
    def beyond_chance(self) -> bool:
        """Whether it cannot be put down to the few people it is seen on."""

    @property
    @abstractmethod
    def order(self) -> tuple[float, ...]:
        """Worst first: blind lotteries, what is beyond chance, collapses, larger falls."""

    @property
    @abstractmethod
    def collapse(self) -> bool:
        """Whether a label, or the model, hardly counts any longer."""

    @abstractmethod
    def told(self) -> str:
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
        return f"{self.where}: {self.told()}."

    def to_json(self) -> dict[str, Any]:
        """The form that evaluations carry."""
        return {
            "kind": self.kind,
            "client": self.client,
            "group": self.group,
            "label": self.label,
            "n": self.n,
            "beyond_chance": self.beyond_chance,
            "sentence": self.sentence(),
        }


@dataclass(frozen=True, kw_only=True)
class LostLabel(Alarm):
    """A label is recognised less often than the model alone recognises it.

    Attributes
    ----------
    before, after : float
        Pr(answer = label | label), of the model and of the lottery.
    low, high : float
        95 % limits of `after`.
    p_value : float
        Of the sign test: how likely chance alone is to cost so many more people their
        recognition than it gives.
    """

    before: float
    after: float
    low: float
    high: float
    p_value: float

    kind = "recognition"

    @property
    def fall(self) -> float:
        """How much less often, as a share of the group's people with the label."""
        return self.before - self.after

    @property
    def beyond_chance(self) -> bool:
        """Whether so many lose their recognition that it is no coin's toss."""
        return self.p_value < UNLIKELY

    @property
    def collapse(self) -> bool:
        """Whether less than half of its recognition is left."""
        return self.after < LEAST_SHARE * self.before

    @property
    def order(self) -> tuple[float, ...]:
        """After blind lotteries; beyond chance first, then collapses, then by the fall."""
        return 1.0, float(not self.beyond_chance), float(not self.collapse), -self.fall

    def told(self) -> str:
        """The label's recognition before and after, on whom, and how sure."""
        limits = f"95 % between {_percent(self.low)} and {_percent(self.high)}"
        return f"{self._fact()} (n = {self.n:,}, {limits}: {self._sure()})"

    def brief(self) -> str:
        """The same without limits."""
        return f"{self._fact()} (n = {self.n:,}: {self._sure()})"

    def _sure(self) -> str:
        return "beyond chance" if self.beyond_chance else "too few people to rule out chance"

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
            "p_value": self.p_value,
            "collapse": self.collapse,
        }


@dataclass(frozen=True, kw_only=True)
class BlindLottery(Alarm):
    """A group is answered almost without looking at the model.

    Attributes
    ----------
    attention : float
        The share of its lottery that looks at the model.
    answer : str
        What most of the group are answered.
    share : float
        How many of them.
    """

    attention: float
    answer: str
    share: float

    kind = "attention"
    beyond_chance = True  # it is how the lottery is made, whoever comes
    collapse = True

    @property
    def order(self) -> tuple[float, ...]:
        """Before all others; the blindest and the largest groups first."""
        return 0.0, self.attention, -float(self.n)

    def told(self) -> str:
        """What the group is answered, and for how many the model counts."""
        return blindness([self])

    def brief(self) -> str:
        """The same: it is how the lottery is made, and sure."""
        return self.told()

    def to_json(self) -> dict[str, Any]:
        """The form that evaluations carry."""
        return super().to_json() | {
            "attention": self.attention,
            "answer": self.answer,
            "answer_share": self.share,
        }


def blindness(alarms: Sequence[BlindLottery]) -> str:
    """What groups are answered almost whatever the model says, in one sentence."""
    whom = [f"{_percent(one.share)} of {one.group} (n = {one.n:,})" for one in alarms]
    answers = [f"“{one.answer}”" for one in alarms]
    if len(set(answers)) == 1:
        said = f"{' and '.join(whom)} are answered {answers[0]}"
    else:
        pairs = zip(whom, answers, strict=True)
        said = " and ".join(f"{who} are answered {answer}" for who, answer in pairs)
    counts = " and ".join(_of_100(one.attention) for one in alarms)
    return f"almost whatever the model says, {said}: its answer counts for {counts} in 100"


def is_lost(before: Any, after: Any) -> Any:
    """Whether a recognition that was `before` and is `after` raises an alarm; arrays or numbers."""
    fall = before - after
    less = (fall > MOST_POINTS + 1e-9) | (after < LEAST_SHARE * before - 1e-9)
    return less & (fall > SHOWN)


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _of_100(share: float) -> str:
    hundred = 100 * share
    return f"{hundred:.0f}" if hundred >= 0.95 else "0" if hundred < 0.05 else f"{hundred:.1f}"
