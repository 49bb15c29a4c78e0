"""Limits with a confidence hold where few people stand behind a rate, and over many clients.

Populations are grids of scores whose true rates are known; every draw is fitted anew. A few draws of
the hardest cases: how often limits hold is measured by `benchmarks/coverage.py`.
"""

import numpy as np
import pytest

from fairfl_core.data.scored import ScoredData
from fairfl_core.lp.guarantee import Guarantee
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.predictors.kinds import predictor_of

GRID = 200
EACH = Guarantee(0.95, "each", "measured")


class Population:
    """People of two groups and labels: their shares in a client, and a grid of scores each."""

    def __init__(self, shares, separation, shift):
        self.shares = shares  # (clients, groups, labels), one a client
        u = np.linspace(-3, 3, GRID)
        sign = np.array([-0.5, 0.5])
        logit = separation[..., None] * sign + shift[..., None]
        self.score = 1 / (1 + np.exp(-(logit[..., None] + u)))

    def people(self, client, group, label, place):
        score = self.score[client, group, label, place]
        return ScoredData(
            client=client,
            group=group,
            label=label,
            scores=np.column_stack([1 - score, score]),
            predicted=(score > 0.5).astype(np.int64),
            clients=tuple(f"c{c:03d}" for c in range(len(self.shares))),
            groups=("f", "m"),
            labels=("no", "yes"),
            favourable="yes",
        )

    def draw(self, size, rng):
        counts = np.stack([rng.multinomial(size, own.ravel()) for own in self.shares])
        cell = np.repeat(np.arange(counts.size), counts.ravel())
        client, group, label = np.unravel_index(cell, self.shares.shape)
        return self.people(client, group, label, rng.integers(0, GRID, len(cell)))

    def recognition(self, predictor):
        """Pr(answer = label | client, group, label), over the whole grid."""
        whole = self.people(*np.indices(self.score.shape).reshape(4, -1))
        if predictor.needs_scores:
            scores = predictor.calibration.apply(whole.client, whole.group, whole.scores)
            chance = predictor.chances(whole.client, whole.group, scores, whole.predicted)
        else:
            chance = predictor.lottery[whole.client, whole.group, whole.predicted]
        right = chance[np.arange(len(whole)), whole.label]
        return right.reshape(self.score.shape).mean(axis=3)


def rates_of(recognition, notion):
    return recognition[..., 1:] if notion == "eop" else recognition


@pytest.mark.parametrize(("region", "notion"), [("exact", "eop"), ("kernel", "eo")])
def test_few_people_behind_a_rate(region, notion):
    """One client of 2,000 + 40 people, of whom one of the small group has the label, on average."""
    rare = 1 / 40
    shares = np.array([[[1200, 800], [40 * (1 - rare), 40 * rare]]]) / 2040
    population = Population(shares, np.full((1, 2), 1.6), np.array([[0.0, -2.5]]))
    held = []
    for draw in range(40):
        sample = population.draw(2040, np.random.default_rng([5, draw]))
        program = FairnessProgram(sample, notion, region, rates="labels", guarantee=EACH)
        predictor = predictor_of(program.solve(1.0, 0.1))
        rates = rates_of(population.recognition(predictor), notion)
        held.append(np.ptp(rates[0], axis=0).max() <= 0.1 + 1e-6)
    assert np.mean(held) >= 0.94  # .71 to .92 with widths of empty rates added in quadrature


def test_the_overall_limit_over_many_clients():
    """Answers adapt to the rates in every client, and to how many people it happens to have."""
    clients, size, minority, limit = 50, 100, 0.35, 0.05
    rng = np.random.default_rng(1)
    of_first = np.clip(minority * np.exp(rng.normal(0, 0.25, clients)), 0.01, 0.95)
    base = np.clip(np.array([0.3, 0.4]) + rng.normal(0, 0.08, (clients, 2)), 0.05, 0.9)
    part = np.stack([of_first, 1 - of_first], axis=1)
    shares = np.stack([part * (1 - base), part * base], axis=2)
    shift = rng.normal(0, 0.3, (clients, 2)) + np.array([-0.8, -0.2])
    population = Population(shares, rng.normal(1.6, 0.2, (clients, 2)), shift)
    held = []
    for draw in range(8):
        sample = population.draw(size, np.random.default_rng([6, draw]))
        program = FairnessProgram(sample, "eop", "exact", rates="labels", guarantee=EACH)
        predictor = predictor_of(program.solve(limit, 1.0))
        pooled = (shares * population.recognition(predictor)).sum(axis=0) / shares.sum(axis=0)
        held.append(np.ptp(rates_of(pooled, "eop"), axis=0).max() <= limit + 1e-6)
    assert np.mean(held) >= 0.88  # .27 to .73 of draws without either adaptation in the margin
