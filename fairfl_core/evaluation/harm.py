"""Who is worse off: recognition of every label before and after, alarms, and the word for it.

Equal gaps alone can be had by levelling down: answer everybody the same, and all groups are
treated alike. So what happens to each label in each client and group is always reported, asked or not.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairfl_core._io.frames import long_table, records
from fairfl_core._io.numbers import plural
from fairfl_core.data.counts import ClientCounts
from fairfl_core.evaluation.alarms import (
    ALIKE,
    FEW,
    HARDLY,
    UNLIKELY,
    Alarm,
    BlindLottery,
    LostLabel,
    allowed_fall,
    blindness,
    is_lost,
)
from fairfl_core.evaluation.before_after import BeforeAfter, run_mean, with_overall
from fairfl_core.evaluation.evaluation import Evaluation
from fairfl_core.evaluation.gap_decomposition import ClosedGap, closed_gaps
from fairfl_core.fairness.intervals import holm, sign_test
from fairfl_core.fairness.notions import number_or_none

Floats = NDArray[np.float64]
EVERYONE = "Overall"


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
        return f"{EVERYONE if self.client is None else self.client}: {self.describe(most)}"


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
        """The alarms of everyone (None) and of each client that has any, worst client first."""
        found: dict[str | None, list[Alarm]] = {}
        for alarm in self.alarms:
            found.setdefault(alarm.client, []).append(alarm)
        return {client: ClientHarm(client, self._ordered(own)) for client, own in found.items()}

    def _ordered(self, alarms: Iterable[Alarm]) -> tuple[Alarm, ...]:
        """Inside a client the favourable label is reported first, as floors are about it first.

        What is seen on few people, or may be chance, is reported after what is beyond it.
        """
        return tuple(
            sorted(
                alarms,
                key=lambda alarm: (
                    alarm.n < FEW,
                    not alarm.beyond_chance,
                    alarm.label is not None,
                    alarm.label != self.favourable,
                ),
            )
        )

    @property
    def lost(self) -> tuple[LostLabel, ...]:
        """Those alarms in which a label is lost, worst first."""
        return tuple(alarm for alarm in self.alarms if isinstance(alarm, LostLabel))

    @property
    def clients(self) -> tuple[str, ...]:
        """Clients in which someone is worse off, worst first."""
        return tuple(client for client in self.by_client if client is not None)

    @property
    def beyond_chance(self) -> bool:
        """Whether some alarm is."""
        return any(alarm.beyond_chance for alarm in self.alarms)

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
        return "Someone is worse off" if self.beyond_chance else "Someone may be worse off"

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


# ------------------------------------------------------------------- tests


def diagonal(confusion: Floats) -> Floats:
    """People answered with their own label, from a confusion table."""
    return np.einsum("cayy->cay", confusion)


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
        after, before = (
            run_mean([part.confusion.sum(axis=2) for part in parts])
            for parts in (
                [one.answers for one in evaluations],
                [one.own for one in evaluations],
            )
        )
        people = after.sum(axis=2)
        answer = after.argmax(axis=2)
        size = np.maximum(people, 1e-9)
        now, was = (
            np.take_along_axis(part, answer[..., None], axis=2)[..., 0] for part in (after, before)
        )
        # Whoever leaves the answer is among those whose answer changes.
        turned = np.maximum(
            run_mean([one.answers.turned for one in evaluations]), np.abs(now - was)
        )
        looking = [one.attention for one in evaluations if one.attention is not None]
        return cls(
            people=people,
            answer=answer,
            share=now / size,
            before=was / size,
            towards=(turned + now - was) / 2,
            away=(turned - now + was) / 2,
            spoke=before.max(axis=2) <= ALIKE * people,
            attention=run_mean(looking) if looking else np.full(people.shape, np.nan),
        )


def harm_tests(
    evaluations: Sequence[Evaluation], recognised: BeforeAfter
) -> tuple[Floats, Floats, Alike]:
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
        only = [with_overall(diagonal(part) - both) for part in (one.own.confusion, one.confusion)]
        parted.append([np.where(there, np.maximum(part, 0.0), np.nan) for part in only])
    losing, gaining = np.nan_to_num(run_mean(parted))
    alike = Alike.of(evaluations)
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
    return lost, adjusted[labels:].reshape(alike.people.shape), alike


def harm_of(evaluations: Sequence[Evaluation]) -> Harm:
    """What becomes of every label; several runs of one setting are averaged."""
    counts = evaluations[0].counts
    people = [with_overall(one.counts.n_label) for one in evaluations]
    before, after = (
        [(with_overall(diagonal(part)), n) for part, n in zip(parts, people, strict=True)]
        for parts in (
            [one.own.confusion for one in evaluations],
            [one.confusion for one in evaluations],
        )
    )
    recognised = BeforeAfter.of(before, after)
    where = evaluations[0].scopes
    p_value, p_alike, blind = harm_tests(evaluations, recognised)
    lost = _lost_labels(recognised, p_value, where, counts)
    alarms = sorted([*_blind(blind, p_alike, counts), *lost], key=lambda alarm: alarm.order)
    asked = evaluations[0].asked
    return Harm(
        scopes=where,
        groups=counts.groups,
        labels=counts.labels,
        favourable=counts.favourable,
        recognition=recognised,
        p_value=p_value,
        # Alarms compare with the model as it is. A predictor that nobody asked for any limit may
        # differ from the model as well, where that is more accurate; it is a point on the map,
        # not an option to decide for, and raises none.
        alarms=() if asked is not None and asked.is_nothing else tuple(alarms),
        closed=closed_gaps(evaluations),
    )


def _lost_labels(
    recognised: BeforeAfter,
    p_value: Floats,
    where: tuple[str | None, ...],
    counts: ClientCounts,
) -> list[LostLabel]:
    before, after = recognised.before, recognised.after
    with np.errstate(invalid="ignore"):  # nobody behind a rate compares as no alarm
        lost = is_lost(before.share, after.share)
    places = np.argwhere(lost)
    parts = (before.n, before.share, after.share, after.low, after.high, p_value)
    figures = [part[lost].tolist() for part in parts]
    return [
        LostLabel(
            client=where[scope],
            group=counts.groups[a],
            label=counts.labels[y],
            n=max(round(n), 1),
            before=was,
            after=now,
            low=low,
            high=high,
            p_value=p,
            noisy=counts.has_noise,
        )
        for (scope, a, y), n, was, now, low, high, p in zip(places.tolist(), *figures, strict=True)
    ]


def _blind(alike: Alike, p_value: Floats, counts: ClientCounts) -> list[BlindLottery]:
    """Groups to whom the model spoke, and whose lottery hardly looks at it or answers alike."""
    with np.errstate(invalid="ignore"):  # no lottery has no attention
        blind = (alike.attention < HARDLY) | (alike.share > ALIKE)
    return [
        BlindLottery(
            client=counts.clients[c],
            group=counts.groups[a],
            n=max(round(float(alike.people[c, a])), 1),
            p_value=float(p_value[c, a]),
            noisy=counts.has_noise,
            attention=number_or_none(float(alike.attention[c, a])),
            answer=counts.labels[int(alike.answer[c, a])],
            share=float(alike.share[c, a]),
            before=float(alike.before[c, a]),
        )
        for c, a in np.argwhere(blind & alike.spoke & (alike.people > 0))
    ]


# -------------------------------------------------------------------- the word for it

COSTS, GAINS, ON_AVERAGE = "costs", "gains", "gains on average"


@dataclass(frozen=True)
class Effect:
    """How a change of accuracy may be spoken of.

    Attributes
    ----------
    word : {"costs", "gains", "gains on average"}
        The last where somebody is worse off all the same.
    but : str
        Who that is, to be written in the same sentence; empty where nobody is.
    colour : {"better", "worse", "mixed"}
        Green is for *better* alone; *mixed* is never green.
    """

    word: str
    but: str
    colour: str

    def describe(self, points: str) -> str:
        """The word with its points, and who is worse off all the same."""
        return f"{self.word} {points}" + (f", but {self.but}" if self.but else "")


def effect_of(change: float, harm: Harm, client: str | None = None) -> Effect:
    """The word for a change of accuracy in a client, or of everyone (None).

    Nobody gains where a label is lost: everyone's gain is one only if no client has an alarm.
    """
    if not change > 0:  # NaN too: what is not known is no gain
        return Effect(COSTS, "", "worse")
    own = harm.by_client.get(client)
    if client is None and harm.by_client:
        own = next(iter(harm.by_client.values()))
    if own is None:
        return Effect(GAINS, "", "better")
    where = "" if own.client in (None, client) else f"in {own.client} "
    named = next((alarm for alarm in own.lost if alarm.n >= FEW), own.alarms[0])
    return Effect(ON_AVERAGE, f"{where}{named.brief()}", "mixed")
