"""JSON in and out, strictly: no NaN, no key twice, every number where it belongs."""

import json
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from fairfl_core._io.atomic import read_whole, write_whole
from fairfl_core.errors import InputError

__all__ = [
    "LARGEST",
    "check_keys",
    "json_text",
    "nested_numbers",
    "parse_json",
    "read_json",
    "write_json",
]

LARGEST = 2**53  # beyond it a float64 no longer holds every integer
_HALF = re.compile(r"\\u[dD][89a-fA-F]")  # of a sign that takes two escapes


def write_json(path: str | Path, value: Any) -> Path:
    """Write one JSON document, whole."""
    return write_whole(path, json_text(value))


def json_text(value: Any) -> str:
    """One JSON document as `write_json` writes it."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False) + "\n"


def read_json(path: str | Path) -> Any:
    """Read one strict JSON document: no NaN, no key twice; "-" is standard input."""
    return parse_json(read_whole(path), str(path))


def parse_json(data: bytes, name: str) -> Any:
    """Take bytes as one strict JSON document; `name` says in errors whose bytes they are."""
    try:
        text = data.decode("utf-8-sig")
        value = json.loads(text, parse_constant=_no_constant, object_pairs_hook=_no_repeats)
        if _HALF.search(text):
            _no_halves(value)
        return value
    except UnicodeDecodeError as error:
        raise InputError(
            f"{name}: is not text in UTF-8, so it is not JSON; check the file."
        ) from error
    except json.JSONDecodeError as error:
        raise InputError(
            f"{name}: is not JSON (line {error.lineno}, column {error.colno}: {error.msg}); "
            "check the file."
        ) from error
    except InputError as error:
        raise InputError(f"{name}: {error}") from error
    except (RecursionError, ValueError) as error:
        raise InputError(
            f"{name}: is not JSON that can be read ({error}); check the file."
        ) from error


def _no_constant(token: str) -> NoReturn:
    raise InputError(f"{token} is not a finite number; replace it by one.")


def _no_halves(value: Any) -> None:
    r"""Refuse text that JSON can write and UTF-8 cannot: half of a sign, like "\\ud800"."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"holds \\u{ord(error.object[error.start]):x}, half of a sign, which is no text; remove it."
        ) from error


def _no_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        times = Counter(key for key, _ in pairs)
        twice = next(key for key in times if times[key] > 1)
        raise InputError(f'the key "{twice}" stands twice in one object; keep one of them.')
    return value


def check_keys(value: dict[str, Any], known: set[str], optional: set[str], where: str) -> None:
    """Refuse a key that is not known, and one that is missing."""
    for key in value:
        if key not in known:
            raise InputError(f'{where} has the unknown key "{key}"; remove it.')
    for key in sorted(known - optional):
        if key not in value:
            raise InputError(f'{where} lacks the key "{key}"; add it.')


def nested_numbers(
    value: Any, axes: Sequence[tuple[str, Sequence[str]]], where: str
) -> list[float]:
    """The numbers of nested lists, flat; `axes` says what each level lists, outermost first."""
    if not axes:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise InputError(f"{where}: {value!r:.40} is not a number; give one.")
        if not abs(value) <= LARGEST:  # nor not a number at all
            raise InputError(f"{where}: the number is too large; check the file.")
        return [value]
    kind, names = axes[0]
    if not isinstance(value, list) or len(value) != len(names):
        shape = "".join(f"[{level}]" for level, _ in axes)
        known = ", ".join(f'"{name}"' for name in names[:8])
        raise InputError(
            f"{where}: needs a list with one entry per {kind} ({len(names)}: {known}); "
            f"the form is {shape}."
        )
    return [
        number
        for name, item in zip(names, value, strict=True)
        for number in nested_numbers(item, axes[1:], f'{where}, {kind} "{name}"')
    ]
