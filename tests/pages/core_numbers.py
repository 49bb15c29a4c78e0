"""A view's numbers from the core alone: what pages, reports and files are compared with.

Nothing of `pages` is used but the view itself, and every mean is written out here.
"""

from dataclasses import dataclass

import numpy as np

from fairfl_core.data import experiments
from fairfl_core.data.scored import ScoredData
from fairfl_core.evaluation.evaluation import evaluate
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.predictors.kinds import predictor_of


@dataclass
class CoreNumbers:
    """Solutions and evaluations of every seed of a view."""

    solutions: list
    fitted: list
    unseen: list

    @classmethod
    def of(cls, view):
        experiment = experiments.open(view.experiment)
        limits = dict.fromkeys(experiment.clients, view.eps_local) | dict(view.own_limits)
        numbers = cls([], [], [])
        for seed in view.seeds:
            people, test = (
                ScoredData.from_experiment(experiment, seed, split)
                for split in ("validation", "test")
            )
            program = FairnessProgram(people, view.notion, view.region, rates=view.rates)
            solution = program.solve(view.eps_global, limits)
            predictor = predictor_of(solution)
            numbers.solutions.append(solution)
            numbers.fitted.append(evaluate(predictor, people))
            numbers.unseen.append(evaluate(predictor, test))
        return numbers

    def mean(self, figure, people="unseen"):
        """The mean over seeds of a number or of one number a client."""
        return np.nanmean([figure(each) for each in getattr(self, people)], axis=0)

    @property
    def clients(self):
        return self.solutions[0].counts.clients

    @property
    def worst(self):
        return int(np.nanargmax(self.mean(lambda e: e.gaps.local)))

    @property
    def prices(self):
        return np.mean([solution.price_local for solution in self.solutions], axis=0)

    @property
    def price_global(self):
        return np.mean([solution.price_global for solution in self.solutions])
