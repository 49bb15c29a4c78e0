"""Who is worse off: recognition of every label before and after, alarms, and the word for it.

Equal gaps alone can be had by levelling down: answer everybody the same, and all groups are
treated alike. So what happens to each label in each client and group is always reported, asked or not.

The rules are the same on every page and in every file. A label's recognition Pr(answer y | label y)
raises an alarm where it falls by more than 5 points or below half of what it was. A lottery does
where it looks at the model for fewer than 1 in 10, or gives more than 95 in 100 of a group one
answer, unless the model itself answered them alike before. Alarms are ordered by how many people
are hurt beyond chance; those on fewer than 10 people come last.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fairfl_core._io.frames import long_table, records
from fairfl_core._io.numbers import hundred, percent, plural
from fairfl_core.data.counts import ClientCounts
from fairfl_core.evaluation.before_after import (
    SHOWN,
    BeforeAfter,
    ClosedGap,
    closed_gaps,
    run_mean,
    with_overall,
)
from fairfl_core.evaluation.evaluation import Evaluation
from fairfl_core.fairness.intervals import holm, sign_test
from fairfl_core.fairness.notions import number_or_none

Floats = NDArray[np.float64]
MOST_POINTS = 0.05  # a larger fall is an alarm
LEAST_SHARE = 0.5  # of what it was; less is an alarm
ALIKE = 0.95  # a group more of whom get one answer is answered alike
FEW = 10  # an alarm on fewer people never leads
HARDLY = 0.1  # a lottery that looks at the model for fewer is an alarm
UNLIKELY = 0.05  # chance alone does less likely than this what is called beyond chance


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

    def brief(self) -> str:
        """The same in fewer words."""
        return self.describe()

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
        limits = f"95 % between {percent(self.low)} and {percent(self.high)}"
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
        now, was = percent(self.after), percent(self.before)
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
    def is_constant(self) -> bool:
        """Whether (almost) everybody is answered alike."""
        return self.share > ALIKE

    def describe(self) -> str:
        """What the group is answered, and for how many the model counts."""
        return blindness([self])

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
    whom = [f"{percent(one.share)} of {one.group} (n = {one.n:,})" for one in alarms]
    answers = [f"“{one.answer}”" for one in alarms]
    if len(set(answers)) == 1:
        text = f"{' and '.join(whom)} are answered {answers[0]}"
    else:
        pairs = zip(whom, answers, strict=True)
        text = " and ".join(f"{who} are answered {answer}" for who, answer in pairs)
    if not all(one.attention is not None and one.attention < HARDLY for one in alarms):
        return f"{text}; the model: {' and '.join(percent(one.before) for one in alarms)}"
    counts = " and ".join(hundred(one.attention or 0.0) for one in alarms)
    return f"almost whatever the model says, {text}: its answer counts for {counts} in 100"


def is_lost(before: Any, after: Any) -> Any:
    """Whether a recognition that was `before` and is `after` raises an alarm; arrays or numbers."""
    fall = before - after
    return (fall > allowed_fall(before) + 1e-9) & (fall > SHOWN)


def allowed_fall(before: Any) -> Any:
    """How far a recognition that was `before` may fall without an alarm; arrays or numbers."""
    return np.minimum(MOST_POINTS, (1 - LEAST_SHARE) * before)


@dataclass(frozen=True)
class ClientHarm:
    """The alarms of one client (or of everyone), worst first; the favourable label's lead."""

    client: str | None
    alarms: tuple[Alarm, ...]

    @property
    def beyond_chance(self) -> bool:
        """Whether some alarm is."""
        return any(alarm.beyond_chance for alarm in self.alarms)

    @property
    def lost(self) -> tuple[LostLabel, ...]:
        """Those in which a label is lost."""
        return tuple(alarm for alarm in self.alarms if isinstance(alarm, LostLabel))

    def describe(self, most: int = 2) -> str:
        """What happens there, at most so many labels of it, and how many more."""
        blind = [alarm for alarm in self.alarms if isinstance(alarm, BlindLottery)]
        parts = [blindness(blind)] if blind else []
        lost = [alarm.brief() for alarm in self.lost[:most]]
        few = blind and max(alarm.n for alarm in blind) < FEW  # they do not lead
        parts = [*lost, *parts] if few else [*parts, *lost]
        more = len(self.lost) - most
        if more > 0:
            places = "group and label" if more == 1 else "of its groups and labels"
            parts.append(f"Recognition falls in {more} more {places}")
        return f"{'. '.join(parts)}."

    def sentence(self, most: int = 2) -> str:
        """The same with the client's name; names are plain text."""
        return f"{self.client or 'Overall'}: {self.describe(most)}"


@dataclass(frozen=True, eq=False)
class Harm:
    """Recognition of every label in every client and group, before and after; means over runs.

    Attributes
    ----------
    scopes : tuple of (str or None)
        Overall (None), then the clients: the first axis of `recognition`.
    groups, labels : tuple of str
    favourable : str
    recognition : BeforeAfter
        Pr(answer y | label y), shape (scopes, groups, labels).
    p_value : ndarray
        How likely chance alone is to show such a fall where the true one is no larger than an
        alarm allows; in the same shape, adjusted for all of them (Holm): see `harm_tests`.
    alarms : tuple of Alarm
        Worst first.
    closed : tuple of ClosedGap
        Every gap that was closed, and how.
    """

    scopes: tuple[str | None, ...]
    groups: tuple[str, ...]
    labels: tuple[str, ...]
    favourable: str
    recognition: BeforeAfter
    p_value: Floats
    alarms: tuple[Alarm, ...]
    closed: tuple[ClosedGap, ...]

    @cached_property
    def by_client(self) -> dict[str | None, ClientHarm]:
        """The alarms of everyone (None) and of each client that has any, worst client first.

        Inside a client the favourable label is reported first, as floors are about it first. What
        is seen on few people, or may be chance, is reported after what is beyond it.
        """

        def order(alarm: Alarm) -> tuple[bool, ...]:
            few, may_be_chance = alarm.n < FEW, not alarm.beyond_chance
            return few, may_be_chance, alarm.label is not None, alarm.label != self.favourable

        found: dict[str | None, list[Alarm]] = {}
        for alarm in self.alarms:
            found.setdefault(alarm.client, []).append(alarm)
        return {who: ClientHarm(who, tuple(sorted(own, key=order))) for who, own in found.items()}

    @property
    def lost(self) -> tuple[LostLabel, ...]:
        """Those alarms in which a label is lost, worst first."""
        return tuple(alarm for alarm in self.alarms if isinstance(alarm, LostLabel))

    @property
    def clients(self) -> tuple[str, ...]:
        """Clients in which someone is worse off, worst first."""
        return tuple(client for client in self.by_client if client is not None)

    @property
    def proved(self) -> tuple[Alarm, ...]:
        """What makes a setting harmful: labels lost, and groups answered alike, beyond chance."""
        return tuple(
            alarm
            for alarm in self.alarms
            if alarm.beyond_chance
            and not (isinstance(alarm, BlindLottery) and not alarm.is_constant)
        )

    @property
    def constant(self) -> tuple[BlindLottery, ...]:
        """Groups answered (almost) alike to whom the model spoke, on however few people."""
        return tuple(
            alarm for alarm in self.alarms if isinstance(alarm, BlindLottery) and alarm.is_constant
        )

    @property
    def title(self) -> str:
        """Whether someone is worse off, or may be: where all alarms may be chance."""
        sure = any(alarm.beyond_chance for alarm in self.alarms)
        return "Someone is worse off" if sure else "Someone may be worse off"

    def sentence(self) -> str:
        """The worst of it in a sentence or two; empty where there is no alarm.

        Where every alarm is on fewer than 10 people none of them leads: they are only counted.
        """
        if not self.alarms:
            return ""
        if self.alarms[0].n < FEW:
            return self.counted()
        worst = next(iter(self.by_client.values()))
        return f"{worst.sentence()} {self.counted()}"

    def counted(self) -> str:
        """How many alarms there are, where, and how many of them are beyond chance."""
        sure, many = sum(alarm.beyond_chance for alarm in self.alarms), len(self.alarms)
        hurt, clients = len(self.clients), plural(len(self.scopes) - 1, "client")
        alarms = f"{'In all ' * (many > 1)}{plural(many, 'alarm')}"
        where = f"in {hurt:,} of {clients}" if hurt else "over all clients together"
        few = self.alarms and self.alarms[0].n < FEW
        whom = f", {'each ' * (many > 1)}on fewer than {FEW} people" if few else ""
        if many == 1:
            chance = "" if sure else "not "
        else:
            chance = {0: "none of them ", many: "all of them "}.get(sure, f"{sure:,} of them ")
        return f"{alarms} {where}{whom}, {chance}beyond chance."

    def recognition_columns(self) -> dict[str, NDArray[Any]]:
        """One row a client (None: overall), group and label: people, before, after, limits."""
        before, after = self.recognition.before, self.recognition.after
        figures = {
            "n": before.n.round(),
            "before": before.share,
            "before_low": before.low,
            "before_high": before.high,
            "after": after.share,
            "after_low": after.low,
            "after_high": after.high,
            "change": self.recognition.change,
            "p_value": self.p_value,
            "beyond_chance": self.p_value < UNLIKELY,
            "alarm": is_lost(np.nan_to_num(before.share), np.nan_to_num(after.share)),
        }
        axes = {"client": self.scopes, "group": self.groups, "label": self.labels}
        return long_table(axes, figures)

    def to_json(self) -> dict[str, Any]:
        """The form that evaluations carry, but for the alarms."""
        return {
            "sentence": self.sentence(),
            "recognition": records(self.recognition_columns()),
            "closed_gaps": [gap.to_json() for gap in self.closed],
        }


@dataclass(frozen=True, eq=False)
class Alike:
    """Each cell's most frequent answer, of shape (clients, groups); means over runs."""

    people: Floats
    answer: NDArray[np.int64]
    share: Floats
    before: Floats
    towards: Floats  # people who now get it and did not before
    away: Floats
    spoke: NDArray[np.bool_]  # whether the model itself answered them differently
    attention: Floats  # NaN for answers of no lottery

    @classmethod
    def of(cls, evaluations: Sequence[Evaluation]) -> "Alike":
        """Count who is answered alike, from answers before and after."""
        after = run_mean([one.confusion.sum(axis=2) for one in evaluations])
        before = run_mean([one.own.confusion.sum(axis=2) for one in evaluations])
        people, answer = after.sum(axis=2), after.argmax(axis=2)
        now, was = (
            np.take_along_axis(part, answer[..., None], axis=2)[..., 0] for part in (after, before)
        )
        # Whoever leaves the answer is among those whose answer changes.
        turned = run_mean([one.answers.turned for one in evaluations])
        turned = np.maximum(turned, np.abs(now - was))
        looking = [one.attention for one in evaluations if one.attention is not None]
        return cls(
            people=people,
            answer=answer,
            share=now / np.maximum(people, 1e-9),
            before=was / np.maximum(people, 1e-9),
            towards=(turned + now - was) / 2,
            away=(turned - now + was) / 2,
            spoke=before.max(axis=2) <= ALIKE * people,
            attention=run_mean(looking) if looking else np.full(people.shape, np.nan),
        )


def harm_tests(
    evaluations: Sequence[Evaluation], recognised: BeforeAfter, alike: Alike
) -> tuple[Floats, Floats]:
    """Test each label's loss in each scope and group, and each cell's most frequent answer.

    The p-value of a loss is the larger of two: that chance alone parts those who lose recognition
    and those who gain it so unevenly (sign test), and that a fall no larger than an alarm allows
    shows as this one (normal test of the paired difference). Of an answer it is the sign test of
    those who get it and those who no longer do. All are one family (Holm); with one client,
    everyone's are its own. Numbers of people are means over the runs in which the label has any:
    the runs share people, so that more runs make nothing surer.
    """
    from scipy.special import ndtr

    parted = []
    for one in evaluations:
        there = with_overall(one.counts.n_label) > 0
        both = one.answers.both_right
        only = [with_overall(part.right - both) for part in (one.own, one.answers)]
        parted.append([np.where(there, np.maximum(part, 0.0), np.nan) for part in only])
    losing, gaining = np.nan_to_num(run_mean(parted))
    alone = int(losing.shape[0] == 2)  # everyone, and one client: the same people
    more, fewer = (
        np.concatenate([part[alone:].ravel(), other.ravel()])
        for part, other in ((losing, alike.towards), (gaining, alike.away))
    )
    p_value = sign_test(more, fewer)
    n = np.maximum(np.nan_to_num(recognised.before.n), 1.0)
    fall = (losing - gaining) / n
    error = np.sqrt(np.maximum((losing + gaining) / n - fall**2, 1e-12) / n)
    beyond = ndtr((allowed_fall(np.nan_to_num(recognised.before.share)) - fall) / error)
    labels = losing[alone:].size
    p_value[:labels] = np.maximum(p_value[:labels], beyond[alone:].ravel())
    if evaluations[0].counts.has_noise:  # no test knows the noise
        p_value = np.ones_like(p_value)
    adjusted = holm(p_value, 2 * 0.5 ** (more + fewer), UNLIKELY)
    lost = adjusted[:labels].reshape(losing[alone:].shape)
    if alone:
        lost = np.concatenate([lost, lost])
    return lost, adjusted[labels:].reshape(alike.people.shape)


def harm_of(evaluations: Sequence[Evaluation]) -> Harm:
    """What becomes of every label; several runs of one setting are averaged."""
    first = evaluations[0]
    counts, people = first.counts, [with_overall(one.counts.n_label) for one in evaluations]
    recognised = BeforeAfter.of(
        *(
            [(with_overall(part.right), n) for part, n in zip(parts, people, strict=True)]
            for parts in ([one.own for one in evaluations], [one.answers for one in evaluations])
        )
    )
    alike = Alike.of(evaluations)
    p_value, p_alike = harm_tests(evaluations, recognised, alike)
    # Alarms compare with the model as it is. A predictor that nobody asked for any limit may
    # differ from the model as well, where that is more accurate; it is a point on the map,
    # not an option to decide for, and raises none.
    alarms: list[Alarm] = []
    if first.asked is None or not first.asked.is_nothing:
        alarms = [
            *_blind(alike, p_alike, counts),
            *_lost(recognised, p_value, first.scopes, counts),
        ]
    return Harm(
        scopes=first.scopes,
        groups=counts.groups,
        labels=counts.labels,
        favourable=counts.favourable,
        recognition=recognised,
        p_value=p_value,
        alarms=tuple(sorted(alarms, key=lambda alarm: alarm.order)),
        closed=closed_gaps(evaluations),
    )


def _lost(
    recognised: BeforeAfter,
    p_value: Floats,
    scopes: tuple[str | None, ...],
    counts: ClientCounts,
) -> list[LostLabel]:
    before, after = recognised.before, recognised.after
    with np.errstate(invalid="ignore"):  # nobody behind a rate compares as no alarm
        lost = is_lost(before.share, after.share)
    return [
        LostLabel(
            client=scopes[at[0]],
            group=counts.groups[at[1]],
            label=counts.labels[at[2]],
            n=max(round(before.n[at]), 1),
            before=float(before.share[at]),
            after=float(after.share[at]),
            low=float(after.low[at]),
            high=float(after.high[at]),
            p_value=float(p_value[at]),
            noisy=counts.has_noise,
        )
        for at in map(tuple, np.argwhere(lost).tolist())
    ]


def _blind(alike: Alike, p_value: Floats, counts: ClientCounts) -> list[BlindLottery]:
    """Groups to whom the model spoke, and whose lottery hardly looks at it or answers alike."""
    with np.errstate(invalid="ignore"):  # no lottery has no attention
        blind = (alike.attention < HARDLY) | (alike.share > ALIKE)
    return [
        BlindLottery(
            client=counts.clients[at[0]],
            group=counts.groups[at[1]],
            n=max(round(alike.people[at]), 1),
            p_value=float(p_value[at]),
            noisy=counts.has_noise,
            attention=number_or_none(alike.attention[at]),
            answer=counts.labels[alike.answer[at]],
            share=float(alike.share[at]),
            before=float(alike.before[at]),
        )
        for at in map(tuple, np.argwhere(blind & alike.spoke & (alike.people > 0)).tolist())
    ]
