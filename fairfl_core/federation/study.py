"""What all parties of a federation agreed on before it begins; the same file on every machine."""

import hashlib
import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import tomli_w

from fairfl_core._io.files import read_whole, write_whole
from fairfl_core._io.names import check_names, check_readable, listed
from fairfl_core.errors import InputError
from fairfl_core.training.method import USUAL, make_method
from fairfl_core.training.recipes import Recipe
from fairfl_core.training.trainers import Shapes, parameter_shapes, size_of

__all__ = ["STATISTICS", "STUDY", "Features", "Study", "read_toml"]

STUDY = "study.toml"
STATISTICS = ("counts", "histogram")  # what a client may be asked for
FORMAT = "fairfl-study/1"
_MODELS = ("linear", "mlp")


@dataclass(frozen=True)
class Features:
    """What the model sees of a person, as columns of every client's table.

    Attributes
    ----------
    numbers : tuple of str
        Columns of quantities; they are standardised over all clients.
    categories : mapping of str to tuple of str
        Columns of names, each with all the names it may hold; they become one-hots.
    """

    numbers: tuple[str, ...] = ()
    categories: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def inputs(self) -> int:
        """How many numbers the model sees."""
        return len(self.numbers) + sum(len(names) for names in self.categories.values())


# What `[training]` of a study says where it says nothing.
_TRAINING = Recipe(
    "federation", "tables", "", model="linear", rounds=10, batch=64, learning_rate=0.01
)
_CHOICES = (
    *("model", "method", "method_settings", "rounds", "batch", "learning_rate", "split", "folds"),
    *("group_input", "client_input", "class_weighting", "threads"),
)


@dataclass(frozen=True)
class Study:
    """The agreement: who, what is predicted from what, and how it is trained.

    What is asked of the result (notion, limits, confidence) is chosen when it is run: it needs no
    more of the clients than the statistics each of them allows.
    """

    title: str
    labels: tuple[str, ...]
    favourable: str
    groups: tuple[str, ...]
    clients: tuple[str, ...]
    features: Features
    recipe: Recipe = _TRAINING
    seed: int = 0

    def __post_init__(self) -> None:
        for what in ("labels", "groups", "clients"):
            check_names(getattr(self, what), what)
            check_readable(getattr(self, what), what)
        recipe = self.recipe
        if self.favourable not in self.labels:
            raise InputError(
                f'the favourable label "{self.favourable}" is not one of the labels '
                f"({listed(self.labels)}); choose one of them."
            )
        if recipe.model not in _MODELS:
            raise InputError(
                f'there is no model "{recipe.model}" for tables; choose one of: '
                f"{', '.join(_MODELS)}."
            )
        if not self.features.inputs:
            raise InputError(
                "the study names no features; list columns under [features], as numbers or "
                "categories."
            )
        if recipe.rounds < 1 or recipe.batch < 1 or recipe.folds == 1 or recipe.folds < 0:
            raise InputError(
                "rounds and batch must be at least 1, folds 0 (none) or at least 2; correct the "
                "study."
            )
        split = recipe.split
        if len(split) != 3 or min(split) <= 0 or abs(sum(split) - 1) > 1e-9:
            raise InputError(
                "split must be three shares above 0 that sum to one (training, validation, test)."
            )
        if recipe.method != USUAL:
            raise InputError(
                f'a federation trains by {USUAL}, not by "{recipe.method}"; train by other methods '
                "in one place (`fairfl train`), or with a Flower app of your own that calls "
                "fair_rounds (docs/federation.md)."
            )
        make_method(recipe.method, recipe.method_settings)

    def trained(self, seed: int | None = None, **choices: Any) -> "Study":
        """The same study with other choices of training, those that are given."""
        given = {name: value for name, value in choices.items() if value is not None}
        recipe = replace(self.recipe, **given)
        return replace(self, recipe=recipe, seed=self.seed if seed is None else seed)

    # ---------------------------------------------------------------- what follows from it

    @property
    def models(self) -> int:
        """How many models are trained: one, or one a fold."""
        return max(self.recipe.folds, 1)

    @property
    def is_uniform(self) -> bool:
        """Whether the server weighs all clients alike, however many people they have."""
        return bool(self.recipe.method_settings.get("weighting") == "uniform")

    @property
    def shapes(self) -> Shapes:
        """The parts of theta."""
        recipe = self.recipe
        side = len(self.groups) * recipe.group_input + len(self.clients) * recipe.client_input
        return parameter_shapes(recipe.model, self.features.inputs, side, len(self.labels))

    @property
    def lengths(self) -> dict[str, int]:
        """How long each axis of the arrays is that travel in training."""
        return {
            "groups": len(self.groups),
            "labels": len(self.labels),
            "models": self.models,
            "quantities": 1 + 2 * len(self.features.numbers),
            "parameters": size_of(self.shapes),
        }

    @cached_property
    def fingerprint(self) -> str:
        """A hash of every word of it: who has another one agreed to something else."""
        return hashlib.sha256(json.dumps(self.to_json(), sort_keys=True).encode()).hexdigest()

    # ---------------------------------------------------------------- file

    def to_json(self) -> dict[str, Any]:
        """Plain values, as the file has them."""
        names = ("title", "labels", "favourable", "groups", "clients")
        training = {name: getattr(self.recipe, name) for name in _CHOICES} | {"seed": self.seed}
        training["settings"] = training.pop("method_settings")
        whole = {"format": FORMAT, **{name: getattr(self, name) for name in names}}
        whole |= {"features": asdict(self.features), "training": training}
        return dict(json.loads(json.dumps(whole)))

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Study":
        """Check and take what a file says."""
        if value.get("format") != FORMAT:
            raise InputError(f'"format" is not "{FORMAT}"; make it with `fairfl federation init`.')
        try:
            features, training = value["features"], _tuples(value["training"])
            categories = features.get("categories", {})
            training["method_settings"] = training.pop("settings", {})
            return cls(
                title=str(value["title"]),
                labels=_texts(value["labels"]),
                favourable=str(value["favourable"]),
                groups=_texts(value["groups"]),
                clients=_texts(value["clients"]),
                features=Features(
                    _texts(features.get("numbers", ())),
                    {name: _texts(its) for name, its in categories.items()},
                ),
                seed=training.pop("seed", 0),
                recipe=replace(_TRAINING, title=str(value["title"]), **training),
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise InputError(
                f"the study lacks or misnames something ({error}); compare it with one that "
                "`fairfl federation init` writes."
            ) from error

    @classmethod
    def read(cls, folder: Path) -> "Study":
        """Read the study of a folder."""
        path = folder / STUDY
        try:
            return cls.from_json(read_toml(path))
        except InputError as error:
            raise InputError(f"{path}: {str(error).removeprefix(f'{path}: ')}") from error

    def write(self, folder: Path) -> Path:
        """Write it to a folder, whole or not at all."""
        return write_whole(folder / STUDY, tomli_w.dumps(self.to_json()))


def _texts(values: Sequence[Any]) -> tuple[str, ...]:
    return tuple(str(value) for value in values)


def _tuples(value: Mapping[str, Any]) -> dict[str, Any]:
    """The same with lists as tuples."""
    return {name: tuple(its) if isinstance(its, list) else its for name, its in value.items()}


def read_toml(path: Path) -> dict[str, Any]:
    """One TOML file."""
    try:
        return tomllib.loads(read_whole(path).decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: is not TOML that can be read ({error}).") from error
