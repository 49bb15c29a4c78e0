"""How far overall rates that a lottery was fitted on lie above the true ones.

Every cell (client, group) picks, on its own people, the rules that look best there: the rates it
counts are too high, and over many clients these errors add up where chance averages out. How much
that is, is measured by cross-validation of the whole fit: the program is fitted without one part of
the people, whose rates are then compared with those it was fitted on.

It is measured in units of 1 / (2 sqrt n), a rate's largest standard error, for each group and rate, and
measured once a program, at one setting. The dearer a rule is, the fewer cells take one, those in
which it looks best: so it is measured again with twice what was found in force, and the larger
counts. Only what one group's rate is too high by beyond another's moves a gap; twice that is
charged, for limits and parts of people differ.
"""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fairfl_core.budget import look
from fairfl_core.data.counts import ClientCounts
from fairfl_core.data.scored import ScoredData
from fairfl_core.errors import InputError
from fairfl_core.lp.rate_estimates import Measured
from fairfl_core.lp.rules import ranks

if TYPE_CHECKING:
    from fairfl_core.lp.program import FairnessProgram

__all__ = ["measure_optimism", "without_each_part"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Sample = ClientCounts | Measured | ScoredData
_PARTS = 5
_ROUNDS = 2
_SAFETY = 2.0  # the optimism of other limits, and on other parts of the people, differs
_MOST = 1.25  # of all cuts of a score the mean largest error is sqrt(pi / 8 n) (Massart, 1990)
_EPS_GLOBAL = 0.05  # the setting it is measured at; no local limit


def measure_optimism(program: "FairnessProgram") -> Floats:
    """Return the optimism of each group and rate beyond the least group's, (groups, rates)."""
    if program.needs_scores and not isinstance(program.people, ScoredData):
        raise InputError(
            "a measured confidence of the overall limit fits the program on parts of the people, "
            "whom a histogram does not hold; give the table of scores, or ask for a proved one "
            "(--confidence-proof proved)."
        )
    if program.counts.weighting is not None:
        raise InputError(
            "a measured confidence of the overall limit fits the program on parts of the people, "
            "who cannot be parted once they are weighted; ask for a proved one "
            "(--confidence-proof proved), or for limits inside clients alone."
        )
    everybody, samples = without_each_part(program.sample)
    charged = np.zeros((len(program.counts.groups), len(program.notion.rates)))
    for _ in range(_ROUNDS):
        fits = [program.fitted_on(sample, charged) for sample in samples]
        found = _measured(fits, samples, everybody)
        charged = np.maximum(charged, np.minimum(_SAFETY * found, _MOST))
    return charged


def _measured(fits: "list[FairnessProgram]", samples: list[Sample], everybody: Sample) -> Floats:
    """What fitted rates are too high by beyond the least group's, on the people left out."""
    notion = fits[0].notion
    fitted_rates, hits, left_out, unit = [], 0.0, 0.0, []
    for fit, sample in zip(fits, samples, strict=True):
        look()
        solution = fit.solve(_EPS_GLOBAL, 1.0)
        expected = solution.expected_counts(sample)
        behind = notion.people(expected.sum(axis=3))
        share = behind / np.maximum(behind.sum(axis=0), 1)
        fitted_rates.append(_rate(notion.answered(expected).sum(axis=0), behind.sum(axis=0)))
        looks = solution.attention[..., None]
        unit.append((share * looks / (2 * np.sqrt(np.maximum(behind, 1)))).sum(axis=0))
        others = solution.expected_counts(everybody) - expected
        hits = hits + notion.answered(others).sum(axis=0)
        left_out = left_out + notion.people(others.sum(axis=3)).sum(axis=0)
    too_high = np.mean(fitted_rates, axis=0) - _rate(np.asarray(hits), np.asarray(left_out))
    # What all groups' rates are too high by leaves their gaps as they are.
    net = too_high - too_high.min(axis=0)
    scale = np.mean(unit, axis=0)
    return np.divide(net, scale, out=np.full(scale.shape, _MOST), where=scale > 1e-6)


def _rate(answered: Floats, people: Floats) -> Floats:
    return np.divide(answered, people, out=np.zeros_like(people), where=people > 0)


# -------------------------------------------------------------------- parts of the people


def without_each_part(people: Sample) -> tuple[Sample, list[Sample]]:
    """Return the people, and the same without each part of every client, group and label.

    Who is in which part is a function of the people alone: a generator with a fixed seed. A client
    that would lose everybody keeps them.
    """
    if isinstance(people, Measured):
        return _points_without(people)
    samples: list[Sample] = []
    if isinstance(people, ClientCounts):  # people differ only by what is counted
        table = people.table
        entry = np.repeat(np.arange(table.size), table.ravel())
        parts = _parts(entry // table.shape[3])
        for part in range(_PARTS):
            gone = np.bincount(entry[parts == part], minlength=table.size)
            rest = table - gone.reshape(table.shape)
            left = rest.sum(axis=(1, 2, 3), keepdims=True) > 0
            samples.append(replace(people, table=np.where(left, rest, table)))
        return people, samples
    parts = _parts(people.cell * len(people.labels) + people.label)
    names = ("client", "group", "label", "scores", "predicted")
    for part in range(_PARTS):
        left = np.bincount(people.client[parts != part], minlength=len(people.clients)) > 0
        kept = (parts != part) | ~left[people.client]
        samples.append(replace(people, **{name: getattr(people, name)[kept] for name in names}))
    return people, samples


def _points_without(people: Measured) -> tuple[Measured, list[Sample]]:
    """Points of a score, each person one: people who are answered alike become one point.

    A recalibrated score has few values, so that few points are left.
    """
    counts, label = people.counts, people.amount.argmax(axis=1)
    clients, groups, labels = counts.table.shape[:3]
    part = _parts(people.cell * labels + label)
    order = np.lexsort((people.scores[:, 1], people.cell))
    cell, score = people.cell[order], people.scores[order, 1]
    step = np.cumsum((np.diff(cell, prepend=-1) != 0) | (np.diff(score, prepend=-1) != 0)) - 1
    point = step * labels + people.predicted[order]
    key = (point * labels + label[order]) * _PARTS + part[order]
    size = (int(step[-1]) + 1) * labels
    amount = np.bincount(key, minlength=size * labels * _PARTS).reshape(size, labels, _PARTS)
    first = np.flatnonzero(np.diff(step, prepend=-1))
    at = order[first].repeat(labels)
    predicted = np.tile(np.arange(labels), len(first))
    owner = cell[first].repeat(labels) // groups
    whole = amount.sum(axis=2)

    def points(amount: Ints) -> Measured:
        there = amount.any(axis=1)
        cell, answer, amount = people.cell[at[there]], predicted[there], amount[there]
        table = np.zeros(counts.table.shape, np.int64)
        where: tuple[Any, ...] = (*np.divmod(cell, groups), slice(None), answer)
        np.add.at(table, where, amount)
        counted, scores = replace(counts, table=table), people.scores[at[there]]
        return Measured(cell, scores, answer, amount.astype(float), counted, people.rates)

    samples: list[Sample] = []
    for number in range(_PARTS):
        rest = whole - amount[..., number]
        left = np.bincount(owner, rest.sum(axis=1), minlength=clients) > 0
        samples.append(points(np.where(left[owner, None], rest, whole)))
    return points(whole), samples


def _parts(stratum: Ints) -> Ints:
    """The part of each person: even within a stratum, which begins with any of them."""
    rng = np.random.default_rng(0)
    order = rng.permutation(len(stratum))
    start = rng.integers(0, _PARTS, int(stratum.max(initial=-1)) + 1)
    part = np.empty(len(stratum), np.int64)
    part[order] = (ranks(stratum[order]) + start[stratum[order]]) % _PARTS
    return part
