"""The methods by name. Looking a name up imports nothing; making one imports its file."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from importlib import import_module
from math import isfinite
from typing import Any

from fairfl_core.errors import InputError
from fairfl_core.training.method import Method

__all__ = ["METHODS", "USUAL", "make_method", "method_class", "register", "settings_from"]

# A method's name, and the module and class that is it.
METHODS: dict[str, str] = {"fedavg": "fairfl_core.training.fedavg:FedAvg"}
USUAL = next(iter(METHODS))


def register(name: str, target: str) -> None:
    """Make a method known by name; `target` is written ``package.module:Class``."""
    if METHODS.setdefault(name, target) != target:
        raise InputError(f'the method "{name}" is {METHODS[name]} already; choose another name.')


def method_class(name: str) -> type[Method]:
    """The class of the method of that name."""
    if name not in METHODS:
        raise InputError(f'there is no method "{name}"; choose one of: {", ".join(METHODS)}.')
    module, _, attribute = METHODS[name].partition(":")
    cls: type[Method] = getattr(import_module(module), attribute)
    return cls


def make_method(name: str, settings: Mapping[str, Any]) -> Method:
    """The method of that name with these settings, the others as the method has them."""
    cls = method_class(name)
    known = [field.name for field in fields(cls)]  # type: ignore[arg-type]
    for setting in settings:
        if setting not in known:
            raise InputError(
                f'{cls.title} has no setting "{setting}"; '
                + (f"it has: {', '.join(known)}." if known else "it has none.")
            )
    return cls(**settings)


def settings_from(name: str, words: Sequence[str]) -> dict[str, Any]:
    """Settings written ``name=value``, each of the type that the method's default has."""
    cls = method_class(name)
    usual = {field.name: field.default for field in fields(cls)}  # type: ignore[arg-type]
    settings: dict[str, Any] = {}
    for word in words:
        setting, equals, value = word.partition("=")
        if not equals:
            raise InputError(f'--setting "{word}" is not like name=value.')
        if setting in settings:
            raise InputError(f'the setting "{setting}" is given twice; give it once.')
        settings[setting] = _value(setting, value, usual.get(setting, ""))
    make_method(name, settings)
    return settings


def _value(setting: str, text: str, usual: Any) -> Any:
    if isinstance(usual, bool):
        if text.lower() not in ("true", "false"):
            raise InputError(f'the setting {setting} is true or false, not "{text}".')
        return text.lower() == "true"
    if isinstance(usual, int | float):
        kind = "a whole number" if isinstance(usual, int) else "a number"
        try:
            number = type(usual)(text)
            if not isfinite(number):
                raise ValueError
        except ValueError as error:
            raise InputError(f'the setting {setting} is {kind}, not "{text}".') from error
        return number
    return text
