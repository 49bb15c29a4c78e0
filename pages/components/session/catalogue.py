"""The experiments of this session: those that are bundled, and the visitor's own set."""

import time
from collections.abc import Callable, Sequence
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
    names = _names(int(time.monotonic()), experiments.list_experiments)
    return Catalogue(names, experiment_of, _cross_fitted)


@lru_cache(1)  # asked for several times by every page; a new experiment is seen a second later
def _names(second: int, listed: Callable[[], Sequence[str]]) -> tuple[str, ...]:
    return tuple(listed())


def _cross_fitted(name: str) -> str | None:
    """The cross-fitted companion of a bundled experiment."""
    return None if own_data.is_own(name) else experiments.cross_fitted_of(name)


@cached(16)
def experiment_of(name: str) -> Experiment:
    """An experiment, its hash checked once; or the visitor's own set."""
    if own_data.is_own(name):
        return own_data.find(name).intake.experiment
    return experiments.open(name)
