"""Frozen values as plain JSON and back, by the types of their fields, to the last digit.

For dataclasses of texts, numbers, tuples, arrays of floats and other such dataclasses. What is
not a number (NaN) is null. A dataclass that stands for an abstract one tells its name.
"""

import inspect
import math
from dataclasses import fields, is_dataclass
from functools import cache
from types import NoneType
from typing import Any, TypeVar, cast, get_args, get_origin, get_type_hints

import numpy as np

from fairfl_core.errors import InputError

__all__ = ["from_plain", "to_plain"]

T = TypeVar("T")
_CLASS = "class"


def to_plain(value: Any) -> Any:
    """The lists, objects and numbers that JSON has for a value."""
    if is_dataclass(value):
        kind = type(value)
        name = {_CLASS: kind.__name__} if any(map(inspect.isabstract, kind.__bases__)) else {}
        return name | {one.name: to_plain(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, tuple | list):
        return [to_plain(one) for one in value]
    return None if isinstance(value, float) and math.isnan(value) else value


def from_plain(kind: type[T], value: Any) -> T:
    """The value of a type that `to_plain` gave; anything else is refused."""
    try:
        return cast(T, _read(kind, value))
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise InputError(f"is not a {kind.__name__} ({error}); make it anew.") from error


def _read(kind: Any, value: Any) -> Any:
    origin, parts = get_origin(kind), get_args(kind)
    if origin is tuple:
        if parts[-1] is Ellipsis:
            return tuple(_read(parts[0], one) for one in value)
        return tuple(_read(part, one) for part, one in zip(parts, value, strict=True))
    if origin is np.ndarray:
        return np.array(value, float)
    if NoneType in parts:
        return None if value is None else _read(parts[0], value)
    if is_dataclass(kind):
        return _read_fields(kind, value)
    if kind is float:
        return math.nan if value is None else float(value)
    if not isinstance(value, kind):
        raise TypeError(f"{value!r:.40} is no {kind.__name__}")
    return value


def _read_fields(kind: Any, value: dict[str, Any]) -> Any:
    value = dict(value)
    if inspect.isabstract(kind):
        name = value.pop(_CLASS)
        kind = next((one for one in kind.__subclasses__() if one.__name__ == name), kind)
    types = _types(kind)
    return kind(**{name: _read(types[name], one) for name, one in value.items()})


@cache
def _types(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind)
