"""How far overall rates that a lottery was fitted on lie above the true ones.

Every cell (client, group) picks, on its own people, the rules that look best there: the rates it
counts are too high, and over many clients these errors add up where chance averages out. How much
that is, is measured by cross-validation of the whole fit: the program is fitted without one part of
the people, whose rates are then compared with those it was fitted on.

It is told in units of 1 / (2 sqrt n), a rate's largest standard error, for each group and rate, and
measured once a program, at one setting. The dearer a rule is, the fewer cells take one, those in
which it looks best: so it is measured again with twice what was found in force, and the larger
counts. Only what one group's rate is too high by beyond another's moves a gap; twice that is
charged, for limits and parts of people differ.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fairfl_core.data.counts import ClientCounts
from fairfl_core.data.scored import ScoredData
from fairfl_core.errors import InputError

if TYPE_CHECKING:
    from fairfl_core.lp.program import FairnessProgram

__all__ = ["measure_optimism"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
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
    charged = np.zeros((len(program.counts.groups), len(program.notion.rates)))
    for _ in range(_ROUNDS):
        charged = np.maximum(charged, np.minimum(_SAFETY * _measured(program, charged), _MOST))
    return charged


def _measured(program: "FairnessProgram", charged: Floats) -> Floats:
    """What rates are too high by beyond the least group's, with so much charged for it."""
    notion = program.notion
    people = program.people if program.needs_scores else program.counts
    fitted_rates, hits, left_out, unit = [], 0.0, 0.0, []
    for part in range(_PARTS):
        kept = without_part(people, part)
        fitted = program.fitted_on(kept, charged)
        solution = fitted.solve(_EPS_GLOBAL, 1.0)
        expected = solution.expected_counts(kept)
        behind = notion.people(expected.sum(axis=3))
        share = behind / np.maximum(behind.sum(axis=0), 1)
        fitted_rates.append(_rate(notion.answered(expected).sum(axis=0), behind.sum(axis=0)))
        looks = solution.attention[..., None]
        unit.append((share * looks / (2 * np.sqrt(np.maximum(behind, 1)))).sum(axis=0))
        others = solution.expected_counts(people) - expected
        hits = hits + notion.answered(others).sum(axis=0)
        left_out = left_out + notion.people(others.sum(axis=3)).sum(axis=0)
    too_high = np.mean(fitted_rates, axis=0) - _rate(np.asarray(hits), np.asarray(left_out))
    # What all groups' rates are too high by leaves their gaps as they are.
    net = too_high - too_high.min(axis=0)
    scale = np.mean(unit, axis=0)
    return np.divide(net, scale, out=np.full(scale.shape, _MOST), where=scale > 1e-6)


def _rate(answered: Floats, people: Floats) -> Floats:
    return np.divide(answered, people, out=np.zeros_like(people), where=people > 0)


def without_part(people: ScoredData | ClientCounts, part: int) -> ScoredData | ClientCounts:
    """Leave out one part of the people of every client, group and label.

    Who is in which part is a function of the people alone: a generator with a fixed seed. A client
    that would lose everybody keeps them.
    """
    if isinstance(people, ScoredData):
        kept = _kept(people.cell * len(people.labels) + people.label, people.client, part)
        names = ("client", "group", "label", "scores", "predicted")
        return replace(people, **{name: getattr(people, name)[kept] for name in names})
    table = people.table
    cell = np.repeat(np.arange(table.size), table.ravel())
    kept = _kept(cell // table.shape[3], cell // table[0].size, part)
    return replace(
        people, table=np.bincount(cell[kept], minlength=table.size).reshape(table.shape)
    )


def _kept(stratum: Ints, client: Ints, part: int) -> NDArray[np.bool_]:
    kept = _parts(stratum) != part
    left = np.bincount(client[kept], minlength=int(client.max()) + 1)
    return np.asarray(kept | (left[client] == 0))


def _parts(stratum: Ints) -> Ints:
    """The part of each person: even within a stratum, which begins with any of them."""
    rng = np.random.default_rng(0)
    order = rng.permutation(len(stratum))
    order = order[np.argsort(stratum[order], kind="stable")]
    sizes = np.bincount(stratum)
    first = np.cumsum(sizes) - sizes
    start = rng.integers(0, _PARTS, len(sizes))
    sorted_stratum = stratum[order]
    rank = np.arange(len(order)) - first[sorted_stratum] + start[sorted_stratum]
    part = np.empty(len(stratum), np.int64)
    part[order] = rank % _PARTS
    return part
