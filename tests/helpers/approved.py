"""What the core prints and computes, as a person last approved it.

    APPROVE=1 pytest tests/cli/test_as_printed.py      # or any test_as_computed.py

writes what is said now into the folder beside the test; git then tells what has changed, and whoever commits
it has looked at it. An approved number says nothing of being right, which is the other tests' matter: it
notices that a line changed. A number is compared to what another machine's arithmetic may change.
"""

import ast
import dataclasses
import importlib
import inspect
import json
import os
import pkgutil
import re
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from functools import cached_property
from itertools import zip_longest
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd

from fairfl_core.errors import FairflError

NUMBER = re.compile(r"(?<![\w#])[-+]?\d+\.?\d*(?:e[-+]?\d+)?(?!\w)")
DIGITS = 10  # that are written
CLOSE = 1e-7  # of a number: what compiled arithmetic may change
FEW = 60  # numbers that are written one by one; of more their shape and two sums
WIDE = 400
ACTS = ("write", "solve", "fit", "close", "check")  # not asked of a thing that tells itself


def check(path: Path, shown: str, *, close: float = CLOSE) -> None:
    """Compare with what was approved, or approve it."""
    if os.environ.get("APPROVE"):
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(shown, encoding="utf-8")
    differs = differing(shown, path.read_text(encoding="utf-8"), close)
    assert not differs, differs[:5]


def differing(shown: str, approved: str, close: float = CLOSE) -> list[tuple[str, str]]:
    """Pairs of lines that differ by more than the last digits of a number."""
    pairs = zip_longest(shown.splitlines(), approved.splitlines(), fillvalue="(nothing)")
    return [pair for pair in pairs if pair[0] != pair[1] and not _close(*pair, close)]


def _close(one: str, other: str, close: float) -> bool:
    if NUMBER.sub("#", one) != NUMBER.sub("#", other):
        return False
    numbers = ([float(number) for number in NUMBER.findall(line)] for line in (one, other))
    return np.allclose(*numbers, rtol=close, atol=close / 100)


# -------------------------------------------------------------------- telling a value


def told(value: Any, **names: Any) -> str:
    """A value as lines `name = what it is`; of one of the core's own things, all it can tell.

    That is its public fields and properties, and what its public methods answer that need not be
    told anything.
    """
    parts = names or {"": value}
    lines = [line for name, part in parts.items() for line in _lines(name, part, ())]
    return "\n".join(lines) + "\n"


def tell(**names: Any) -> str:
    """Several values, each under its name."""
    return told(None, **names)


def refusal(attempt: Callable[[], object]) -> str:
    """The sentence with which something is refused, or that it is not."""
    try:
        found = attempt()
    except FairflError as error:
        return f"{type(error).__name__}: {error}"
    return f"taken: {type(found).__name__}"


def _lines(name: str, value: Any, seen: tuple[int, ...]) -> Iterator[str]:
    leaf = _leaf(value)
    if leaf is not None:
        yield f"{name} = {leaf}"
        return
    if id(value) in seen:
        return  # a thing that knows where it came from
    for key, part in _parts(value).items():
        inner = f"{name}.{key}" if name and not key.startswith("[") else f"{name}{key}"
        yield from _lines(inner, part, (*seen, id(value)))


def _leaf(value: Any) -> str | None:
    """What fits on a line."""
    match value:
        case float() | np.floating():
            return _number(float(value))
        case None | bool() | int() | str() | Path() | Enum() | type() | np.generic():
            return json.dumps(value if value is None else _scalar(value), ensure_ascii=False)
        case np.ndarray():
            return _array(value)
        case Mapping() | list() | tuple() | set() | frozenset() if _is_flat(value):
            return _flat(value)
        case _ if callable(value) and not dataclasses.is_dataclass(value):
            return getattr(value, "__qualname__", type(value).__name__)
    return None


def _scalar(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Path):
        return value.name  # where it lies is another matter on every machine
    return value if isinstance(value, bool | int | str) else str(value)


def _number(value: float) -> str:
    return f"{value + 0.0:.{DIGITS}g}"


def _array(values: np.ndarray) -> str:
    shape = "x".join(map(str, values.shape))
    if values.dtype.kind not in "biuf":
        return f"({shape}) {' '.join(map(str, values.ravel()[:FEW]))}"
    if values.size <= FEW:
        return f"({shape}) {' '.join(_number(float(one)) for one in values.ravel())}"
    # Of many numbers sums that change when two change places, and how many are missing.
    flat = values.astype(float).ravel()
    missing, flat = int((~np.isfinite(flat)).sum()), np.nan_to_num(flat, posinf=1, neginf=-1)
    places = flat @ np.cos(np.arange(flat.size) / 7)
    return f"({shape}) sum {_number(flat.sum())}, by place {places:.6g}, missing {missing}"


def _is_flat(values: Any) -> bool:
    parts = values.values() if isinstance(values, Mapping) else values
    plain = (str, int, float, bool, np.generic, type(None))
    return (
        len(parts) <= FEW
        and all(isinstance(part, plain) for part in parts)
        and (len(str(values)) < WIDE)
    )


def _flat(values: Any) -> str:
    if isinstance(values, Mapping):
        return "{" + ", ".join(f"{key}: {_leaf(one)}" for key, one in values.items()) + "}"
    ordered = sorted(values, key=str) if isinstance(values, set | frozenset) else values
    return "[" + ", ".join(str(_leaf(one)) for one in ordered) + "]"


def _parts(value: Any) -> dict[str, Any]:
    match value:
        case pd.DataFrame():
            return {
                f"[{row}]": dict(zip(value, cells, strict=True))
                for row, cells in enumerate(value.itertuples(index=False, name=None))
            }
        case pd.Series():
            return {"": value.to_numpy()}
        case Mapping():
            return {str(key): part for key, part in value.items()}
        case list() | tuple():
            return {f"[{place}]": part for place, part in enumerate(value)}
        case set() | frozenset():
            return {f"[{part}]": part for part in sorted(value, key=str)}
    return _of_a_thing(value)


def _of_a_thing(value: Any) -> dict[str, Any]:
    parts: dict[str, Any] = {}
    if dataclasses.is_dataclass(value):
        parts = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    for name in dir(type(value)):
        if name.startswith(("_", *ACTS)) or name in parts:
            continue
        kind = inspect.getattr_static(value, name)
        if isinstance(kind, property | cached_property):
            parts[name] = getattr(value, name)
        elif inspect.isfunction(kind) and _needs_nothing(kind):
            parts[f"{name}()"] = getattr(value, name)()
    return parts


def _needs_nothing(method: Any) -> bool:
    _, *parameters = inspect.signature(method).parameters.values()
    return all(one.default is not one.empty for one in parameters)


# -------------------------------------------------------------------- what a room declares


def declared(room: str, *, without: tuple[str, ...] = ()) -> str:
    """Constants of a room's modules, and what its public functions take unless told.

    Limits, tolerances and patience are told though they begin with an underscore: they show at their edge
    only, which few computations touch. Other private things show in what is computed.
    """
    package = importlib.import_module(f"fairfl_core.{room}")
    found = {}
    for name in _modules(package):
        if name.rpartition(".")[2] in without:
            continue
        module = importlib.import_module(name)
        assigned = _assigned(module)
        for key, value in vars(module).items():
            if not key.startswith("__") and _is_own(value, module, assigned, key):
                found[f"{name.removeprefix('fairfl_core.')}: {key}"] = _declares(value)
    return tell(**{key: value for key, value in found.items() if not _is_empty(value)})


def _is_empty(value: Any) -> bool:
    return isinstance(value, dict | tuple) and not value


def _modules(package: ModuleType) -> Iterator[str]:
    yield package.__name__
    if hasattr(package, "__path__"):
        inside = pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
        yield from sorted(one.name for one in inside if not one.name.endswith("__main__"))


def _assigned(module: ModuleType) -> set[str]:
    """Names that the module itself gives a value, not those it imports."""
    body = ast.parse(inspect.getsource(module)).body
    stored = (
        node
        for part in body
        if isinstance(part, ast.Assign | ast.AnnAssign)
        for node in ast.walk(part)
    )
    return {
        node.id
        for node in stored
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }


def _is_own(value: Any, module: ModuleType, assigned: set[str], key: str) -> bool:
    if inspect.isfunction(value) or inspect.isclass(value):
        return not key.startswith("_") and value.__module__ == module.__name__
    plain = bool | int | float | str | tuple | list | dict | set | frozenset
    told = _has_numbers(value) if key.startswith("_") else isinstance(value, plain)
    return told and key.isupper() and key in assigned


def _has_numbers(value: Any) -> bool:
    match value:
        case Mapping():
            return any(map(_has_numbers, value.values()))
        case tuple() | list() | set() | frozenset():
            return any(map(_has_numbers, value))
    return isinstance(value, bool | int | float | np.ndarray)


def _declares(value: Any) -> Any:
    """Defaults of a function, of a class's methods and fields; else the constant itself."""
    if inspect.isfunction(value):
        parameters = inspect.signature(value).parameters.values()
        return {one.name: one.default for one in parameters if one.default is not one.empty}
    if not inspect.isclass(value):
        return value
    fields = dataclasses.fields(value) if dataclasses.is_dataclass(value) else ()
    parts = {one.name: one.default for one in fields if one.default is not dataclasses.MISSING}
    for name, one in vars(value).items():
        plain = isinstance(one, bool | int | float | str | tuple)
        if not name.startswith("_") and plain and name not in parts:
            parts[name] = one
        function = one.__func__ if isinstance(one, classmethod | staticmethod) else one
        if inspect.isfunction(function) and not name.startswith("_") and _declares(function):
            parts[f"{name}()"] = _declares(function)
    return parts
