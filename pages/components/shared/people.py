"""Whose people a view is fitted on and judged on."""

from fairfl_core.people.counts import ClientCounts
from fairfl_core.people.folded import FoldedPeople
from fairfl_core.people.scored import ScoredPeople
from pages.components.session.cache import cached
from pages.components.session.catalogue import experiment_of
from pages.components.view import View

__all__ = [
    "People",
    "Unseen",
    "counts_of",
    "folded_of",
    "people_of",
    "required",
    "unseen_of",
]

People = ClientCounts | ScoredPeople
Unseen = People | FoldedPeople


@cached(400)
def counts_of(name: str, seed: int, split: str) -> ClientCounts | None:
    """Counts of one seed and split; no "test" where no held-out check is possible.

    Test people of several fold models are counted as the mean over the models.
    """
    if split == "test":
        folded = folded_of(name, seed)
        if folded is not None:
            return folded.mean_counts
    return experiment_of(name).counts(seed, split)


@cached(48)
def people_of(name: str, seed: int, split: str) -> ScoredPeople | None:
    """People with scores of one seed and split; None where there is no such split."""
    if counts_of(name, seed, split) is None:
        return None
    return ScoredPeople.from_experiment(experiment_of(name), seed, split)


def folded_of(name: str, seed: int) -> FoldedPeople | None:
    """The test people of several fold models; None where one model answers, or nobody is there."""
    experiment = experiment_of(name)
    if experiment.folds == 1 or not experiment.has_held_out:
        return None  # not kept: it would take the place of people who are large
    return _folded(name, seed)


@cached(48)
def _folded(name: str, seed: int) -> FoldedPeople:
    return FoldedPeople.from_experiment(experiment_of(name), seed)


def unseen_of(view: View, seed: int) -> Unseen | None:
    """The unseen people of a run, as the view's lottery looks at them; None if there are none."""
    folded = folded_of(view.data, seed)
    if folded is not None:
        return folded
    return (people_of if view.answers_by_scores else counts_of)(view.data, seed, "test")


def required(people: People | None) -> People:
    """The people a lottery is fitted on: every set has some."""
    if people is None:
        raise TypeError("a set without people to fit on")
    return people
