"""What every predictor's file begins with: whom it knows, what was asked, what was reached."""

import re
from dataclasses import dataclass
from datetime import date
from typing import Any

import fairfl_core
from fairfl_core._io.files import check_keys, nested_numbers
from fairfl_core._io.names import check_names
from fairfl_core.errors import InputError
from fairfl_core.fairness.notions import number_or_none
from fairfl_core.lp.guarantee import Guarantee
from fairfl_core.lp.policy import Policy, check_epsilon
from fairfl_core.lp.solution import Solution
from fairfl_core.predictors.verify_predictor import fingerprint

__all__ = ["FORMAT", "FittedOn", "Made", "Reached", "heading_of", "read_draw", "read_heading"]

FORMAT = "fairfl-predictor/1"
_LONGEST = 200  # letters of a text in "fitted_on"
_KEYS = {
    "format",
    "notion",
    "region",
    "epsilon",
    "reached",
    "labels",
    "favourable",
    "groups",
    "clients",
}


@dataclass(frozen=True, eq=False)
class Reached:
    """What the lottery does on the counts it was fitted on; gaps are None where undefined."""

    n: float
    accuracy: float
    model_accuracy: float
    gap_global: float | None
    gap_local: tuple[float | None, ...]


@dataclass(frozen=True)
class FittedOn:
    """Whose people a predictor was fitted on, where it is one of several runs.

    Attributes
    ----------
    experiment : str
    sha256 : str
        Of the experiment's scores, or of the uploaded file.
    seed : int
        Of the run: each has its own split and its own model.
    split : str
        Those of the run's people that it was fitted on.
    """

    experiment: str
    sha256: str
    seed: int
    split: str

    @classmethod
    def from_json(cls, value: Any) -> "FittedOn | None":
        """Read it back; None where the file does not tell."""
        if value is None:
            return None
        part = _object(value, {"experiment", "sha256", "seed", "split"}, '"fitted_on"')
        texts = [part[key] for key in ("experiment", "sha256", "split")]
        if not all(isinstance(text, str) and len(text) <= _LONGEST for text in texts):
            raise InputError(
                '"fitted_on" must name the experiment, sha256 and split in short texts.'
            )
        if not isinstance(part["seed"], int) or isinstance(part["seed"], bool):
            raise InputError('"fitted_on", "seed" must be a whole number: the run.')
        return cls(**part)


@dataclass(frozen=True)
class Made:
    """When a predictor was made, by which fairfl, and from which counts.

    Attributes
    ----------
    fairfl : str
        The version.
    date : str
        The day, as 2026-11-18.
    counts_sha256 : str
        Of the `fairfl-counts/1` file of the people it was fitted on; see `ClientCounts.sha256`.
    """

    fairfl: str
    date: str
    counts_sha256: str

    @classmethod
    def from_json(cls, value: Any) -> "Made | None":
        """Read it back; None where an earlier version made the file."""
        if value is None:
            return None
        part = _object(value, {"fairfl", "date", "counts_sha256"}, '"made"')
        if not all(isinstance(text, str) and len(text) <= _LONGEST for text in part.values()):
            raise InputError(
                '"made" must tell the version of fairfl, the date and the sha256 of the counts in '
                "short texts."
            )
        return cls(**part)


def read_draw(value: Any) -> str | None:
    """The fingerprint of the salt of a predictor's draw, from JSON; None for a public draw."""
    if value is None:
        return None
    part = _object(value, {"hash", "salt_check", "note"}, '"draw"')
    check = part["salt_check"]
    if check is not None and not (isinstance(check, str) and re.fullmatch("[0-9a-f]{16}", check)):
        raise InputError(
            '"draw", "salt_check" must be null or 16 hexadecimal digits; fit the predictor again.'
        )
    return check


def heading_of(solution: Solution) -> dict[str, Any]:
    """The shared fields of a predictor from what a program found."""
    counts = solution.counts
    return {
        "clients": counts.clients,
        "groups": counts.groups,
        "labels": counts.labels,
        "favourable": counts.favourable,
        "notion": solution.notion.name,
        "region": solution.region,
        "guarantee": solution.guarantee,
        "policy": solution.policy,
        "folds": counts.folds,
        "score_columns": counts.score_columns,
        "made": Made(fairfl_core.__version__, date.today().isoformat(), counts.sha256),
        "eps_global": solution.eps_global,
        "eps_local": tuple(solution.eps_local.tolist()),
        "reached": Reached(
            round(counts.n, 6),
            solution.accuracy,
            solution.model_accuracy,
            number_or_none(solution.gaps.overall),
            tuple(number_or_none(gap) for gap in solution.gaps.local),
        ),
    }


def read_heading(value: Any, lists: str, more: set[str]) -> tuple[dict[str, Any], list[Any]]:
    """The shared fields from JSON, and what each client holds under the key `lists`."""
    if not isinstance(value, dict) or value.get("format") != FORMAT:
        raise InputError(f'"format" is not "{FORMAT}"; make the file with `fairfl solve`.')
    newer = {
        "guarantee",
        "policy",
        "folds",
        "fitted_on",
        "score_columns",
        "columns",
        "made",
        "draw",
        "certificate",
    }  # earlier files lack them
    check_keys(value, _KEYS | more | newer, newer, "the file")
    folds = value.get("folds", 1)
    if not isinstance(folds, int) or isinstance(folds, bool) or folds < 1:
        raise InputError('"folds" must be a whole number of fold models, 1 or more.')
    labels, groups = (_names(value[key], f'"{key}"') for key in ("labels", "groups"))
    if not isinstance(value["clients"], list):
        raise InputError(f'"clients" must be a list of objects with "name" and "{lists}".')
    entries = [
        _object(entry, {"name", lists}, f"clients[{place}]")
        for place, entry in enumerate(value["clients"])
    ]
    clients = _names([entry["name"] for entry in entries], '"clients"')
    for names, field in ((clients, "clients"), (groups, "groups"), (labels, "labels")):
        check_names(names, field)
    epsilon = _by_scope(value["epsilon"], clients, '"epsilon"')
    fields = {
        "clients": clients,
        "groups": groups,
        "labels": labels,
        "favourable": str(value["favourable"]),
        "notion": str(value["notion"]),
        "region": str(value["region"]),
        "eps_global": check_epsilon(epsilon["global"], "epsilon global"),
        "eps_local": tuple(
            check_epsilon(epsilon["local"][name], f'epsilon of "{name}"') for name in clients
        ),
        "reached": _reached(value["reached"], clients),
        "guarantee": Guarantee.from_json(value.get("guarantee")),
        "policy": Policy.from_json(value.get("policy")),
        "folds": folds,
        "fitted_on": FittedOn.from_json(value.get("fitted_on")),
        "score_columns": _score_columns(value.get("score_columns"), labels),
        "columns": _columns(value.get("columns")),
        "made": Made.from_json(value.get("made")),
        "salt_check": read_draw(value.get("draw")),
        "certificate": _certificate(value),
    }
    return fields, [entry[lists] for entry in entries]


def _object(
    value: Any, keys: set[str], where: str, optional: frozenset[str] = frozenset()
) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InputError(f"{where} must be an object; fit the predictor again.")
    check_keys(value, keys | optional, set(optional), where)
    return value


def _names(value: Any, where: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise InputError(f"{where} must be a list of names (strings).")
    return tuple(value)


def _score_columns(value: Any, labels: tuple[str, ...]) -> tuple[str, ...] | None:
    """The column of each label's score; None where the file does not tell."""
    if value is None:
        return None
    part = _object(value, set(labels), '"score_columns"')
    if not all(isinstance(column, str) for column in part.values()):
        raise InputError('"score_columns" must name one column (a string) for each label.')
    return tuple(part[label] for label in labels)


def _columns(value: Any) -> dict[str, str] | None:
    """The columns of client, group and label; None where the file does not tell."""
    if value is None:
        return None
    known = {"client", "group", "label"}
    if not isinstance(value, dict):
        raise InputError('"columns" must be null or an object.')
    check_keys(value, known, known, '"columns"')
    if not all(isinstance(column, str) for column in value.values()):
        raise InputError('"columns" must name the columns of client, group and label (strings).')
    return value


def _certificate(value: dict[str, Any]) -> dict[str, Any] | None:
    """The certificate without its fingerprint; None where the file was changed after it was sealed."""
    found = value.get("certificate")
    if found is None:
        return None
    part = _object(
        found, {"rates", "counts", "duals", "fingerprint"}, '"certificate"', frozenset({"rows"})
    )
    if part["fingerprint"] != fingerprint(value):
        return None
    return {key: part[key] for key in part if key != "fingerprint"}


def _by_scope(value: Any, clients: tuple[str, ...], where: str) -> dict[str, Any]:
    """An object with "global" and, for every client, "local"."""
    scopes = _object(value, {"global", "local"}, where)
    _object(scopes["local"], set(clients), f'{where}, "local"')
    return scopes


def _reached(value: Any, clients: tuple[str, ...]) -> Reached:
    part = _object(value, {"n", "accuracy", "model_accuracy", "gap"}, '"reached"')
    gap = _by_scope(part["gap"], clients, '"reached", "gap"')

    def number(given: Any, name: str) -> float:
        return nested_numbers(given, (), f'"reached", "{name}"')[0]

    def or_none(given: Any) -> float | None:
        return None if given is None else number(given, "gap")

    return Reached(
        number(part["n"], "n"),
        number(part["accuracy"], "accuracy"),
        number(part["model_accuracy"], "model_accuracy"),
        or_none(gap["global"]),
        tuple(or_none(gap["local"][name]) for name in clients),
    )
