"""What to ask for, and what certainty costs."""

from dataclasses import replace

import numpy as np

from fairfl_core.evaluation.advice import (
    Advice,
    CertaintyPrice,
    price_of_certainty,
    tightest_limits,
)
from fairfl_core.solving.guarantee import Guarantee
from pages.components.session.cache import cached
from pages.components.session.catalogue import experiment_of
from pages.components.shared.results import accuracy_within, programs_of
from pages.components.shared.shipped_prices import price_at
from pages.components.view import View, can_be_sure

__all__ = [
    "CERTAINTIES",
    "SURE",
    "advice_of",
    "certainty_costs",
    "certainty_of",
    "certainty_possible",
    "computed_costs",
    "median_client",
    "priced",
]

SURE = Guarantee()  # 95 % for all limits at once: what is offered first
CERTAINTIES = {
    "none": None,
    "each": Guarantee(scope="each"),
    "all": SURE,
    "proved": Guarantee(scope="each", proof="proved"),
}


def advice_of(view: View, points: float) -> Advice:
    """The tightest limits that hold with the view's confidence (or 95 %) within a price."""
    return _advice(_sure(view.without_limits()), points)


@cached(200)
def _advice(view: View, points: float) -> Advice:
    return tightest_limits(programs_of(view), points)


def _sure(view: View) -> View:
    policy = replace(view.policy, ratio_global=None, ratio_local=None, limits=())
    return replace(view, guarantee=view.guarantee or SURE, rates="labels", policy=policy)


@cached(100)
def certainty_of(view: View) -> CertaintyPrice:
    """What certainty costs against people per client, at the view's limits; one run."""
    one = replace(view.of_seed(view.seeds[0]), own_limits=())
    plain = replace(_sure(one), guarantee=None)
    return price_of_certainty(
        programs_of(_sure(one)), programs_of(plain), view.eps_global, view.eps_local
    )


def certainty_possible(view: View) -> bool:
    """Whether limits can be asked for with a confidence here."""
    return can_be_sure(experiment_of(view.data), view.region)


def median_client(view: View) -> float:
    """People of the median client that a lottery is fitted on; one run."""
    program = programs_of(view.of_seed(view.seeds[0]))[0]
    return float(np.median(program.counts.n_client))


@cached(2000)
def certainty_costs(view: View) -> dict[str, float]:
    """Accuracy that each certainty costs at the view's limits, against none; one run, fitted.

    As shipped, for views that visits begin with at any stop of the sliders.
    """
    offered = [name for name, one in CERTAINTIES.items() if one is not None]
    shipped = None if view.own_limits else price_at(priced(view))
    return dict(zip(offered, shipped or computed_costs(view), strict=True))


def priced(view: View) -> View:
    """The view whose prices are told: its first run, by counted labels."""
    return replace(_sure(view).of_seed(view.seeds[0]), guarantee=None)


def computed_costs(view: View) -> list[float]:
    """The same, solved here."""
    limits = view.limits(experiment_of(view.data).clients)
    accuracy = [
        accuracy_within(replace(priced(view), guarantee=one), limits)
        for one in CERTAINTIES.values()
    ]
    return [accuracy[0] - one for one in accuracy[1:]]
