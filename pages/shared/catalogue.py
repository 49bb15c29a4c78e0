"""The experiments of this session: those that are bundled, and the visitor's own set."""

from dataclasses import replace

import streamlit as st

from fairfl_core.data import experiments
from fairfl_core.data.datasets import DATASETS
from fairfl_core.data.experiments import Experiment
from pages.shared import own_data
from pages.shared.caching import cached
from pages.shared.view import Catalogue


def catalogue() -> Catalogue:
    """What this visitor can choose; their own set stands first."""
    held, everybodys = own_data.current(), bundled()
    return (
        everybodys if held is None else replace(everybodys, names=(held.name, *everybodys.names))
    )


def bundled() -> Catalogue:
    """What everybody can choose."""
    return Catalogue(_names(), experiment_of, _cross_fitted)


@st.cache_resource(ttl=60, show_spinner=False)  # a new experiment is seen a minute later
def _names() -> tuple[str, ...]:
    return tuple(experiments.list_experiments())


def _cross_fitted(name: str) -> str | None:
    """The cross-fitted companion of a bundled experiment."""
    return None if own_data.is_own(name) else experiments.cross_fitted_of(name)


@cached(16)
def experiment_of(name: str) -> Experiment:
    """An experiment, its hash checked once; or the visitor's own set."""
    if own_data.is_own(name):
        return own_data.find(name).intake.experiment
    return experiments.open(name)


def noun_of(name: str) -> str:
    """What a client of this experiment is called: state, age band; else client."""
    experiment = experiment_of(name)
    dataset = DATASETS.get(experiment.manifest["dataset"].get("dataset", ""))
    if dataset is None or any(client.startswith("client") for client in experiment.clients):
        return "client"
    return dataset.noun
