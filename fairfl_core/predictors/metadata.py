"""What every predictor's file begins with: whom it knows, what was asked, what was reached."""

import re
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import date
from typing import Any

import fairfl_core
from fairfl_core._io.files import check_keys, nested_numbers
from fairfl_core._io.names import read_names
from fairfl_core.errors import InputError
from fairfl_core.fairness.notions import number_or_none
from fairfl_core.lp.guarantee import Guarantee
from fairfl_core.lp.policy import Policy, check_epsilon
from fairfl_core.lp.solution import Solution
from fairfl_core.predictors.verify_predictor import fingerprint

__all__ = ["FORMAT", "FittedOn", "Made", "Reached", "heading_of", "read_heading"]

FORMAT = "fairfl-predictor/1"
_LONGEST = 1000  # letters of a text
_KEYS = {
    *("format", "notion", "region", "epsilon", "reached"),
    *("labels", "favourable", "groups", "clients"),
}
_NEWER = {  # earlier files lack these
    *("guarantee", "policy", "folds", "fitted_on", "score_columns", "columns"),
    *("made", "draw", "certificate"),
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
    check_keys(value, _KEYS | more | _NEWER, _NEWER, "the file")
    folds = value.get("folds", 1)
    if not isinstance(folds, int) or isinstance(folds, bool) or folds < 1:
        raise InputError('"folds" must be a whole number of fold models, 1 or more.')
    labels, groups = (read_names(value[key], key) for key in ("labels", "groups"))
    if not isinstance(value["clients"], list):
        raise InputError(f'"clients" must be a list of objects with "name" and "{lists}".')
    entries = [
        _object(entry, {"name", lists}, f"clients[{place}]")
        for place, entry in enumerate(value["clients"])
    ]
    clients = read_names([entry["name"] for entry in entries], "clients")
    eps_global, eps_local = _by_scope(value["epsilon"], clients, '"epsilon"')
    columns = _texts(value.get("score_columns"), set(labels), '"score_columns"')
    client_columns = {"client", "group", "label"}
    made = _texts(value.get("made"), {"fairfl", "date", "counts_sha256"}, '"made"')
    fields = {
        "clients": clients,
        "groups": groups,
        "labels": labels,
        "favourable": str(value["favourable"]),
        "notion": str(value["notion"]),
        "region": str(value["region"]),
        "eps_global": check_epsilon(eps_global, "epsilon global"),
        "eps_local": tuple(
            check_epsilon(eps, f'epsilon of "{name}"')
            for name, eps in zip(clients, eps_local, strict=True)
        ),
        "reached": _reached(value["reached"], clients),
        "guarantee": Guarantee.from_json(value.get("guarantee")),
        "policy": Policy.from_json(value.get("policy")),
        "folds": folds,
        "fitted_on": _fitted_on(value.get("fitted_on")),
        "score_columns": None if columns is None else tuple(columns[label] for label in labels),
        "columns": _texts(value.get("columns"), client_columns, '"columns"', client_columns),
        "made": None if made is None else Made(**made),
        "salt_check": _salt_check(value.get("draw")),
        "certificate": _certificate(value),
    }
    return fields, [entry[lists] for entry in entries]


def _object(
    value: Any, keys: set[str], where: str, optional: AbstractSet[str] = frozenset()
) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InputError(f"{where} must be an object; fit the predictor again.")
    check_keys(value, keys | optional, set(optional), where)
    return value


def _texts(
    value: Any, keys: set[str], where: str, optional: AbstractSet[str] = frozenset()
) -> dict[str, str] | None:
    """An object of short texts; None where an earlier version made the file."""
    if value is None:
        return None
    part = _object(value, keys, where, optional)
    if not all(isinstance(text, str) and len(text) <= _LONGEST for text in part.values()):
        raise InputError(f"{where} must hold short texts ({', '.join(sorted(keys))}); correct it.")
    return part


def _fitted_on(value: Any) -> FittedOn | None:
    if value is None:
        return None
    part = dict(_object(value, {"experiment", "sha256", "seed", "split"}, '"fitted_on"'))
    seed = part.pop("seed")
    if not isinstance(seed, int) or isinstance(seed, bool):
        raise InputError('"fitted_on", "seed" must be a whole number: the run.')
    texts = _texts(part, {"experiment", "sha256", "split"}, '"fitted_on"')
    return FittedOn(**(texts or {}), seed=seed)


def _salt_check(draw: Any) -> str | None:
    """The fingerprint of the salt of a predictor's draw; None for a public draw."""
    if draw is None:
        return None
    check = _object(draw, {"hash", "salt_check", "note"}, '"draw"')["salt_check"]
    if check is not None and not (isinstance(check, str) and re.fullmatch("[0-9a-f]{16}", check)):
        raise InputError(
            '"draw", "salt_check" must be null or 16 hexadecimal digits; fit the predictor again.'
        )
    return check


def _certificate(value: dict[str, Any]) -> dict[str, Any] | None:
    """The certificate without its fingerprint; None where the file was changed after it was sealed."""
    if value.get("certificate") is None:
        return None
    keys = {"rates", "counts", "duals", "fingerprint"}
    part = dict(_object(value["certificate"], keys, '"certificate"', {"rows"}))
    return part if part.pop("fingerprint") == fingerprint(value) else None


def _by_scope(value: Any, clients: tuple[str, ...], where: str) -> tuple[Any, list[Any]]:
    """What an object has under "global", and for every client under "local"."""
    scopes = _object(value, {"global", "local"}, where)
    local = _object(scopes["local"], set(clients), f'{where}, "local"')
    return scopes["global"], [local[name] for name in clients]


def _reached(value: Any, clients: tuple[str, ...]) -> Reached:
    part = _object(value, {"n", "accuracy", "model_accuracy", "gap"}, '"reached"')
    overall, local = _by_scope(part["gap"], clients, '"reached", "gap"')
    n, accuracy, model_accuracy = (
        nested_numbers(part[name], (), f'"reached", "{name}"')[0]
        for name in ("n", "accuracy", "model_accuracy")
    )
    gaps = [
        None if gap is None else nested_numbers(gap, (), '"reached", "gap"')[0]
        for gap in (overall, *local)
    ]
    return Reached(n, accuracy, model_accuracy, gaps[0], tuple(gaps[1:]))
