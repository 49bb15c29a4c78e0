"""Choose the trainer of a recipe's model: numpy for the linear one, TensorFlow for networks."""

from typing import Protocol

from fairfl_core.errors import InputError
from fairfl_core.training.data import TRAINING, Federation
from fairfl_core.training.method import Trainer
from fairfl_core.training.parallel import parallel_clients
from fairfl_core.training.parameters import Shapes
from fairfl_core.training.recipes import Recipe

__all__ = ["MODELS", "LocalTrainer", "make_trainer"]

MODELS = ("linear", "mlp", "cnn")


class LocalTrainer(Trainer, Protocol):
    """A trainer with its rows: the shapes of theta, and how many clients it trains in parallel."""

    shapes: Shapes
    parallel: int


def make_trainer(federation: Federation, recipe: Recipe) -> LocalTrainer:
    """Make the trainer of a recipe on these people; TensorFlow is loaded only where it is needed."""
    if recipe.model not in MODELS:
        raise InputError(
            f'there is no model "{recipe.model}"; choose one of: {", ".join(MODELS)}.'
        )
    if recipe.model == "linear":
        from fairfl_core.training.linear_trainer import LinearTrainer

        return LinearTrainer(federation, recipe)
    from fairfl_core.training.tensorflow_trainer import TensorFlowTrainer, prepare_tensorflow

    clients = sum(len(rows) > 0 for rows in federation.client_rows(TRAINING))
    parallel = parallel_clients(clients, recipe.threads)
    prepare_tensorflow(recipe.threads, parallel)
    return TensorFlowTrainer(federation, recipe, parallel)
