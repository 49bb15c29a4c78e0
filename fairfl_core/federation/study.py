"""What all parties of a federation agreed on before it begins; the same file on every machine."""

import hashlib
import json
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from fairfl_core._io.files import read_whole, write_whole
from fairfl_core._io.names import check_names, check_readable, listed
from fairfl_core.errors import InputError
from fairfl_core.training.methods import USUAL, make_method
from fairfl_core.training.parameters import Shapes, parameter_shapes, size_of
from fairfl_core.training.recipes import Recipe

__all__ = ["STATISTICS", "STUDY", "Features", "Study", "read_toml", "toml_of"]

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
    model: str = "linear"
    method: str = USUAL
    settings: Mapping[str, Any] = field(default_factory=dict)
    rounds: int = 10
    batch: int = 64
    learning_rate: float = 0.01
    split: tuple[float, float, float] = (0.6, 0.2, 0.2)
    folds: int = 0
    seed: int = 0
    group_input: bool = True
    client_input: bool = True
    class_weighting: bool = False
    threads: int = 1

    def __post_init__(self) -> None:
        for names, what in (
            (self.labels, "labels"),
            (self.groups, "groups"),
            (self.clients, "clients"),
        ):
            check_names(names, what)
            check_readable(names, what)
        if self.favourable not in self.labels:
            raise InputError(
                f'the favourable label "{self.favourable}" is not one of the labels '
                f"({listed(self.labels)}); choose one of them."
            )
        if self.model not in _MODELS:
            raise InputError(
                f'there is no model "{self.model}" for tables; choose one of: {", ".join(_MODELS)}.'
            )
        if not self.features.inputs:
            raise InputError(
                "the study names no features; list columns under [features], as numbers or "
                "categories."
            )
        if self.rounds < 1 or self.batch < 1 or self.folds == 1 or self.folds < 0:
            raise InputError(
                "rounds and batch must be at least 1, folds 0 (none) or at least 2; correct the "
                "study."
            )
        if len(self.split) != 3 or min(self.split) <= 0 or abs(sum(self.split) - 1) > 1e-9:
            raise InputError(
                "split must be three shares above 0 that sum to one (training, validation, test)."
            )
        if self.method != USUAL:
            raise InputError(
                f'a federation trains by {USUAL}, not by "{self.method}"; train by other methods '
                "in one place (`fairfl train`), or with a Flower app of your own that calls "
                "fair_rounds (docs/federation.md)."
            )
        make_method(self.method, self.settings)

    # ---------------------------------------------------------------- what follows from it

    @property
    def models(self) -> int:
        """How many models are trained: one, or one a fold."""
        return max(self.folds, 1)

    @property
    def shapes(self) -> Shapes:
        """The parts of theta."""
        side = len(self.groups) * self.group_input + len(self.clients) * self.client_input
        return parameter_shapes(self.model, self.features.inputs, side, len(self.labels))

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

    @property
    def recipe(self) -> Recipe:
        """The same choices as a one-process training takes them."""
        return Recipe(
            experiment="federation",
            dataset="tables",
            title=self.title,
            model=self.model,
            rounds=self.rounds,
            batch=self.batch,
            learning_rate=self.learning_rate,
            method=self.method,
            method_settings=self.settings,
            group_input=self.group_input,
            client_input=self.client_input,
            class_weighting=self.class_weighting,
            split=self.split,
            folds=self.folds,
            threads=self.threads,
        )

    @cached_property
    def fingerprint(self) -> str:
        """A hash of every word of it: who has another one agreed to something else."""
        return hashlib.sha256(json.dumps(self.to_json(), sort_keys=True).encode()).hexdigest()

    # ---------------------------------------------------------------- file

    def to_json(self) -> dict[str, Any]:
        """Plain values, as the file has them."""
        flat = asdict(self)
        names = ("title", "labels", "favourable", "groups", "clients")
        features = {name: value for name, value in flat.pop("features").items() if value}
        training = {name: value for name, value in flat.items() if name not in names}
        whole = {"format": FORMAT, **{name: flat[name] for name in names}}
        whole |= {"features": features, "training": training}
        return dict(json.loads(json.dumps(whole)))

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Study":
        """Check and take what a file says."""
        if value.get("format") != FORMAT:
            raise InputError(f'"format" is not "{FORMAT}"; make it with `fairfl federation init`.')
        try:
            features = _tuples(value["features"])
            categories = features.pop("categories", {})
            known = {name: tuple(map(str, its)) for name, its in categories.items()}
            names: dict[str, Any] = {
                key: tuple(str(name) for name in value[key])
                for key in ("labels", "groups", "clients")
            }
            return cls(
                title=str(value["title"]),
                favourable=str(value["favourable"]),
                features=Features(**features, categories=known),
                **names,
                **_tuples(value["training"]),
            )
        except (KeyError, TypeError) as error:
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
        return write_whole(folder / STUDY, toml_of(self.to_json()))


def _tuples(value: Mapping[str, Any]) -> dict[str, Any]:
    """The same with lists as tuples."""
    return {name: tuple(its) if isinstance(its, list) else its for name, its in value.items()}


def read_toml(path: Path) -> dict[str, Any]:
    """One TOML file."""
    try:
        return tomllib.loads(read_whole(path).decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: is not TOML that can be read ({error}).") from error


def toml_of(value: Mapping[str, Any], prefix: str = "") -> str:
    """A TOML document of plain values: what JSON writes in a line, TOML reads."""
    lines, tables = [], []
    for key, given in value.items():
        name = key if key.replace("_", "").isalnum() and key.isascii() else json.dumps(key)
        if isinstance(given, Mapping):
            tables.append(f"\n[{prefix}{name}]\n{toml_of(given, f'{prefix}{name}.')}")
        else:
            lines.append(f"{name} = {json.dumps(given, ensure_ascii=False)}\n")
    return "".join(lines) + "".join(tables)
