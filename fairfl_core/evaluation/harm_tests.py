"""Whether chance alone may have cost people their recognition, or made their answers alike."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairfl_core.evaluation.alarms import ALIKE, UNLIKELY, allowed_fall
from fairfl_core.evaluation.before_after import BeforeAfter, with_overall
from fairfl_core.evaluation.evaluation import Evaluation
from fairfl_core.evaluation.run_means import run_mean
from fairfl_core.fairness.intervals import holm, sign_test

__all__ = ["Alike", "diagonal", "harm_tests"]

Floats = NDArray[np.float64]


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
