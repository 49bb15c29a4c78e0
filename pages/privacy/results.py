"""Noise studies behind bounded caches."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from fairfl_core.fairness.notions import Notion
from fairfl_core.lp.policy import Policy
from fairfl_core.lp.rate_estimates import rate_names
from fairfl_core.lp.regions import region_names
from fairfl_core.privacy.mechanisms import Mechanism
from fairfl_core.privacy.noise_study import (
    Band,
    Judged,
    NoiseStudy,
    Runs,
    band,
    noise_study,
    spending,
    without_noise,
)
from pages.shared.catalogue import cached, experiment_of
from pages.shared.results import counts_of
from pages.shared.view import PAPERS_REGION, View

BUDGETS = (10.0, 5.0, 2.0, 1.0, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01)
SEED = 0
OnProgress = Callable[[float], None]


def on_counts(view: View) -> View:
    """The view as noisy counts can serve it: a region and rates that look at counts alone."""
    notion = _notion(view)
    regions = region_names(scores=False, notion=notion)
    rates = rate_names(scores=False)
    return replace(
        view,
        region=view.region if view.region in regions else regions[-1],
        rates=view.rates if view.rates in rates else rates[0],
        guarantee=None,  # a promise about counted labels, not about noisy ones
        policy=Policy(),  # floors on noisy counts would collide by chance alone
    )


def _notion(view: View) -> Notion:
    experiment = experiment_of(view.experiment)
    return Notion.of(view.notion, experiment.labels, experiment.favourable)


def sums_suffice(view: View) -> bool:
    """Whether the sum of wrong answers, which the paper's mechanism sends, says everything.

    With two labels it does; else only to the paper's region with rates of right answers.
    """
    notion = _notion(view)
    right = all(rate.label == rate.answer for rate in notion.rates)
    return len(notion.labels) <= 2 or (right and view.region == PAPERS_REGION)


def _runs(view: View) -> Runs:
    """Counts of every seed, validation and test."""
    pairs = [
        (
            counts_of(view.data, seed, experiment_of(view.data).fit_split),
            counts_of(view.data, seed, "test"),
        )
        for seed in view.seeds
    ]
    return [(validation, test) for validation, test in pairs if validation is not None]


@cached(400)
def _at_budget(view: View, mechanism: Mechanism, draws: int) -> NoiseStudy:
    return noise_study(
        _runs(view),
        [mechanism],
        view.notion,
        view.region,
        rates=view.rates,
        draws=draws,
        seed=SEED,
        **view.limits(experiment_of(view.experiment).clients),
    )


@cached(100)
def _without_noise(view: View) -> Judged:
    """The same without noise, on the people whose counts are sent."""
    limits = view.limits(experiment_of(view.experiment).clients)
    return without_noise(_runs(view), view.notion, view.region, rates=view.rates, **limits)[0]


# -------------------------------------------------------------------- ready to tell


@dataclass(frozen=True, eq=False)
class NoiseResult:
    """What the page tells of: a study over all budgets, and the same without noise.

    `at` is the current budget's place in `study`.
    """

    study: NoiseStudy
    noiseless: Judged
    at: int

    @property
    def budget(self) -> float:
        """The budget that is really spent."""
        return float(self.study.spent[self.at])

    def band(self, figure: str) -> tuple[float, float, float]:
        """A figure of the draws at this budget: where 9 of 10 lie from, the median, and to."""
        spread = band(getattr(self.study.reached, figure))
        low, middle, high = (
            float(part[self.at]) for part in (spread.low, spread.middle, spread.high)
        )
        return low, middle, high

    def without_noise(self, figure: str) -> float:
        """The median over runs of a figure without noise."""
        return float(band(getattr(self.noiseless, figure)).middle[0])

    def over_budgets(self, figure: str) -> tuple[Band, np.ndarray | None]:
        """A figure at every budget: its band, and medians on new people."""
        held_out = self.study.held_out
        unseen = None if held_out is None else band(getattr(held_out, figure)).middle
        return band(getattr(self.study.reached, figure)), unseen

    @property
    def lost(self) -> float:
        """Accuracy that noise costs, in the mean of draws."""
        return float(self.noiseless.accuracy.mean() - self.study.reached.accuracy[self.at].mean())

    @property
    def paper_epsilons(self) -> list[float]:
        """What the paper would call each budget."""
        neighbours = self.study.mechanisms[0].neighbours
        return [spending("paper", float(spent), neighbours).epsilon for spent in self.study.spent]

    def client_table(self) -> pd.DataFrame:
        """How often each client fails at this budget, most often first."""
        study = self.study
        table = pd.DataFrame(
            {
                "client": study.clients,
                "n": study.n_client.round(),
                "eps_local": study.eps_local,
                "fails": study.fails[self.at],
                "gap_median": band(study.reached.local[self.at].T).middle,
            }
        )
        return table.sort_values(["fails", "gap_median"], ascending=False, kind="stable")


def noise_result(
    view: View, mechanism: Mechanism, draws: int, on_progress: OnProgress | None = None
) -> NoiseResult:
    """A mechanism at budgets that it really spends; `on_progress` hears the share done."""
    view, parts = on_counts(view), []
    for place, budget in enumerate(BUDGETS, 1):
        spent = spending(mechanism.name, budget, mechanism.neighbours)
        parts.append(_at_budget(view, spent, draws))
        if on_progress is not None:
            on_progress(place / len(BUDGETS))
    study = NoiseStudy.joined(parts)
    return NoiseResult(
        study=study,
        noiseless=_without_noise(view),
        at=int(np.abs(study.spent - mechanism.spent).argmin()),
    )
