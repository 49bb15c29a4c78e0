"""The public API is closed in itself: what a promised name takes or returns is on its page, too."""

import dataclasses
import importlib
import inspect
import re
import typing
from functools import cached_property
from pathlib import Path

import pytest
import yaml

PAGE = Path(__file__).resolve().parents[2] / "docs" / "api.md"
ENTRY = re.compile(r"^::: (fairfl_core[\w.]*)\n((?: {4}.*\n)*)", re.MULTILINE)
TYPED_IMPORT = re.compile(r"^ {4}from (fairfl_core[\w.]+) import (.+)$", re.MULTILINE)


def entries():
    """Each name on the page: the object, and its members that are shown."""
    for path, options in ENTRY.findall(PAGE.read_text(encoding="utf-8") + "\n"):
        room, _, name = path.rpartition(".")
        found = getattr(importlib.import_module(room), name)
        members = yaml.safe_load(options)["options"]["members"] if options else []
        yield pytest.param(found, members, id=path)


ENTRIES = list(entries())
CLASSES = [entry.values[0] for entry in ENTRIES if inspect.isclass(entry.values[0])]


def is_promised(one):
    """Whether a class is on the page, or is a kind of one that is, or the other way round."""
    return any(one in known.__mro__ or known in one.__mro__ for known in CLASSES)


def classes_in(hint):
    """Our own classes that an annotation names, inside unions and containers too."""
    if inspect.isclass(hint) and hint.__module__.startswith("fairfl_core"):
        yield hint
    for part in typing.get_args(hint):
        yield from classes_in(part)


def annotations(thing, owner):
    """The annotations of a function, property or class, by name."""
    module = importlib.import_module(owner.__module__)
    space = vars(typing) | vars(module)
    for room, names in TYPED_IMPORT.findall(inspect.getsource(module)):
        for name in re.findall(r"\w+", names.partition("#")[0]):
            space.setdefault(name, getattr(importlib.import_module(room), name, None))
    thing = getattr(thing, "__func__", None) or getattr(thing, "fget", None) or thing
    thing = thing.func if isinstance(thing, cached_property) else thing
    for name, hint in getattr(thing, "__annotations__", {}).items():
        if isinstance(hint, str) and re.search(r"\bpd\.", hint):
            continue  # a table of pandas
        yield name, eval(hint, space) if isinstance(hint, str) else hint


def hints(found, members):
    """Every annotation of a name: of a function, a class's fields, and the members shown."""
    if not inspect.isclass(found):
        yield from annotations(found, found)
        return
    for owner in found.__mro__:
        if owner.__module__.startswith("fairfl_core"):
            if dataclasses.is_dataclass(owner):
                yield from annotations(owner, owner)
            elif "__init__" in vars(owner):
                yield from annotations(vars(owner)["__init__"], owner)
            for name in set(members) & set(vars(owner)):
                yield from annotations(vars(owner)[name], owner)


@pytest.mark.parametrize(("found", "members"), ENTRIES)
def test_what_it_takes_and_returns_is_on_the_page(found, members):
    missing = {
        f"{each.__module__}.{each.__name__} ({name})"
        for name, hint in hints(found, members)
        for each in classes_in(hint)
        if not is_promised(each)
    }
    assert not missing


@pytest.mark.parametrize(("found", "members"), ENTRIES)
def test_it_and_its_members_are_documented(found, members):
    assert inspect.getdoc(found)
    fields = (
        {field.name for field in dataclasses.fields(found)}
        if dataclasses.is_dataclass(found)
        else ()
    )
    for name in members:
        assert name in fields or inspect.getdoc(inspect.getattr_static(found, name)), name
