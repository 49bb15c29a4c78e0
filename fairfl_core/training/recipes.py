"""The recipe of each experiment: every choice that training takes, in one place."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from fairfl_core.errors import InputError
from fairfl_core.training.method import USUAL, make_method, method_class

__all__ = ["RECIPES", "SCENARIOS", "Recipe", "recipe"]

# Share of women in each of five clients of 1,500 (the paper's section on heterogeneity).
SCENARIOS: dict[str, tuple[float, ...]] = {
    "scenario1": (0.4, 0.4, 0.4, 0.4, 0.4),
    "scenario2": (0.2, 0.3, 0.4, 0.5, 0.6),
    "scenario3": (0.1, 0.3, 0.5, 0.7, 0.9),
}
_NETWORKS = {
    "linear": "softmax of linear functions",
    "mlp": "dense 64 and 32 with ReLU, softmax",
    "cnn": (
        "3 x 3 convolutions of 32, 64 and 128 filters without padding, with ReLU, 2 x 2 maximum "
        "pooling after the first two, global average pooling, dense 128 and 32 with ReLU, softmax"
    ),
}
_SCALING = {
    "linear": "quantities standardised on all clients' training rows, categories as one-hots",
    "mlp": "quantities standardised on all clients' training rows, categories as one-hots",
    "cnn": "pixels standardised for each colour on all clients' training rows",
}


@dataclass(frozen=True)
class Recipe:
    """How an experiment is trained (paper, appendix "Experimental Details").

    Attributes
    ----------
    experiment, dataset : str
        Name of the experiment, and of the dataset it uses.
    title : str
        What it is, in a few words.
    model : {"linear", "mlp", "cnn"}
        See `fairfl_core.training.trainers`.
    rounds, batch, learning_rate
        Rounds to run (the best is chosen on validation rows), rows in a step, Adam's rate. Adam
        starts afresh each round, as in the authors' code.
    method : str
        What clients and server do in a round; see `fairfl_core.training.method`.
    method_settings : mapping
        The method's own settings where they are not its usual ones.
    group_input, client_input : bool
        Whether the score R(x, a, c) sees the group a and the client c.
    class_weighting : bool
        Whether rare labels count more in the loss.
    augment : bool
        Whether images are flipped, turned and slightly changed in brightness and contrast.
    split : tuple of float
        Shares of training, validation and test rows inside each client.
    folds : int
        Cross-fitting: how many models are trained, each without one fold of the people of
        training and validation. 0 trains one model on the training rows (the paper's split).
    shares, size
        For a scenario: share of the first group in each client, and rows of a client.
    grouping : str or None
        How groups are formed; the dataset's first way unless given.
    threads : int
        Threads TensorFlow may use for a client's step; sums in another order give other last
        digits. The number of clients trained in parallel changes none, and is no choice of a recipe.
    """

    experiment: str
    dataset: str
    title: str
    model: str
    rounds: int
    batch: int
    learning_rate: float = 0.001
    method: str = USUAL
    method_settings: Mapping[str, Any] = field(default_factory=dict)
    group_input: bool = True
    client_input: bool = True
    class_weighting: bool = False
    augment: bool = False
    split: tuple[float, float, float] = (0.6, 0.2, 0.2)
    folds: int = 0
    shares: tuple[float, ...] | None = None
    size: int = 0
    grouping: str | None = None
    threads: int = 1

    def to_json(self) -> dict[str, Any]:
        """Every choice, as plain values; all of the method's settings, the usual ones too."""
        values = {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in asdict(self).items()
        }
        method: Any = make_method(self.method, self.method_settings)
        return values | {"method_settings": asdict(method)}

    def in_words(self) -> dict[str, str]:
        """What the settings mean, for the manifest."""
        seen = [name for name in ("group", "client") if getattr(self, f"{name}_input")]
        held_out = "the held-out fold" if self.folds else "validation rows"
        return {
            "method_title": method_class(self.method).title,
            "network": _NETWORKS[self.model],
            "first_weights": "Glorot uniform, biases zero",
            "loss": "cross-entropy",
            "optimiser": "Adam (0.9, 0.999, 1e-7), re-created each round",
            "round_choice": f"least {method_class(self.method).criterion_title} on {held_out}",
            "inputs": _SCALING[self.model]
            + (f"; {' and '.join(seen)} as one-hots, joined before the dense layers" * bool(seen)),
            "augmentation": (
                "one of the eight mirrorings and quarter turns, contrast by up to a tenth, "
                "brightness by up to half a standard deviation, anew each time"
                if self.augment
                else "none"
            ),
        }


def _ham10000(name: str, title: str, shares: tuple[float, ...] | None = None) -> Recipe:
    return Recipe(
        experiment=name,
        dataset="ham10000",
        title=title,
        model="cnn",
        rounds=100,
        batch=32,
        augment=True,
        shares=shares,
        size=1500 if shares else 0,
    )


def _scenario(name: str, shares: tuple[float, ...]) -> Recipe:
    women = ", ".join(f"{round(100 * share)} %" for share in shares)
    return _ham10000(
        f"ham10000_{name}", f"Skin lesions, {name[:-1]} {name[-1]}: women's shares {women}", shares
    )


RECIPES: dict[str, Recipe] = {
    made.experiment: made
    for made in (
        Recipe(
            experiment="adult",
            dataset="adult",
            title="Income, doctorate or not, by sex",
            model="mlp",
            rounds=50,
            batch=512,
        ),
        Recipe(
            experiment="public_coverage",
            dataset="public_coverage",
            title="Public health insurance, 50 states, white or not",
            model="mlp",
            rounds=100,
            batch=256,
        ),
        _ham10000("ham10000", "Skin lesions, five age bands, by sex"),
        *(_scenario(name, shares) for name, shares in SCENARIOS.items()),
    )
}


def recipe(experiment: str) -> Recipe:
    """The recipe of an experiment by its name."""
    if experiment not in RECIPES:
        raise InputError(
            f'there is no experiment "{experiment}"; choose one of: {", ".join(RECIPES)}.'
        )
    return RECIPES[experiment]
