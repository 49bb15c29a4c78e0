"""Which worker trains a recipe's model: plain numpy for the linear one, TensorFlow for networks."""

from typing import Protocol

from fairfl_core.errors import InputError
from fairfl_core.training.at_once import turns_at_once
from fairfl_core.training.data import TRAINING, Federation
from fairfl_core.training.method import Worker
from fairfl_core.training.parameters import Shapes
from fairfl_core.training.recipes import Recipe

__all__ = ["MODELS", "LocalWorker", "make_worker"]

MODELS = ("linear", "mlp", "cnn")


class LocalWorker(Worker, Protocol):
    """A worker beside its rows, who knows the parts of theta, and how many turns it takes at once."""

    shapes: Shapes
    at_once: int


def make_worker(federation: Federation, recipe: Recipe) -> LocalWorker:
    """The worker of a recipe on these people; TensorFlow is loaded only where it is needed."""
    if recipe.model not in MODELS:
        raise InputError(
            f'there is no model "{recipe.model}"; choose one of: {", ".join(MODELS)}.'
        )
    if recipe.model == "linear":
        from fairfl_core.training.linear import LinearWork

        return LinearWork(federation, recipe)
    from fairfl_core.training.work import Work, prepare_tensorflow

    clients = sum(len(rows) > 0 for rows in federation.client_rows(TRAINING))
    at_once = turns_at_once(clients, recipe.threads)
    prepare_tensorflow(recipe.threads, at_once)
    return Work(federation, recipe, at_once)
