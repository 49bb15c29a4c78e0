"""The experiments of this session: those that are bundled, and the visitor's own set."""

import time
from dataclasses import replace
from functools import lru_cache

from fairfl_core.people import experiments
from fairfl_core.people.experiments import Experiment
from pages.components.session import own_data
from pages.components.session.cache import cached
from pages.components.view import Catalogue

__all__ = ["bundled", "catalogue", "experiment_of"]


def catalogue() -> Catalogue:
    """What this visitor can choose; their own set stands first."""
    held = own_data.current()
    everybodys = bundled()
    return (
        everybodys if held is None else replace(everybodys, names=(held.name, *everybodys.names))
    )


def bundled() -> Catalogue:
    """What everybody can choose."""
    return _bundled(int(time.monotonic()))


@lru_cache(1)  # asked for several times by every page; a new experiment is seen a second later
def _bundled(second: int) -> Catalogue:
    return Catalogue(tuple(experiments.list_experiments()), experiment_of, _cross_fitted)


def _cross_fitted(name: str) -> str | None:
    """The cross-fitted companion of a bundled experiment."""
    return None if own_data.is_own(name) else experiments.cross_fitted_of(name)


@cached(16)
def experiment_of(name: str) -> Experiment:
    """An experiment, its hash checked once; or the visitor's own set."""
    if own_data.is_own(name):
        return own_data.find(name).intake.experiment
    return experiments.open(name)
