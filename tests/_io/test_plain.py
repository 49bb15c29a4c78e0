"""Frozen values as JSON and back: the same value, or a sentence."""

import json
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from numpy.typing import NDArray

from fairfl_core._io.plain import from_plain, to_plain
from fairfl_core.errors import InputError


@dataclass(frozen=True)
class Shape(ABC):
    name: str

    @abstractmethod
    def area(self) -> float: ...


@dataclass(frozen=True)
class Square(Shape):
    side: float

    def area(self) -> float:
        return self.side**2


@dataclass(frozen=True)
class Disc(Shape):
    radius: float

    def area(self) -> float:
        return math.pi * self.radius**2


@dataclass(frozen=True, eq=False)
class Drawer:
    title: str | None
    size: int
    open: bool
    ends: tuple[float, float]
    shapes: tuple[Shape, ...]
    table: NDArray[np.float64]


numbers = st.floats(allow_infinity=False)
shapes = st.builds(Square, st.text(), numbers) | st.builds(Disc, st.text(), numbers)
drawers = st.builds(
    Drawer,
    st.none() | st.text(),
    st.integers(-(2**53), 2**53),
    st.booleans(),
    st.tuples(numbers, numbers),
    st.lists(shapes, max_size=3).map(tuple),
    st.lists(st.tuples(numbers, numbers), min_size=1, max_size=3).map(np.array),
)


@given(drawers)
def test_a_value_comes_back_to_the_last_digit(drawer):
    text = json.dumps(to_plain(drawer), allow_nan=False)
    again = from_plain(Drawer, json.loads(text))
    assert json.dumps(to_plain(again), allow_nan=False) == text
    assert (again.title, again.size, again.open) == (drawer.title, drawer.size, drawer.open)
    assert [type(shape) for shape in again.shapes] == [type(shape) for shape in drawer.shapes]
    assert_array_equal(again.ends, drawer.ends)
    assert_array_equal(again.table, drawer.table)


@pytest.mark.parametrize(
    "name, wrong",
    [
        ("title", 1),
        ("size", "3"),
        ("open", None),
        ("ends", [0.1]),
        ("ends", ["left", "right"]),
        ("shapes", 2),
        ("shapes", [{"name": "a", "side": 1.0}]),
        ("shapes", [{"class": "Cube", "name": "a", "side": 1.0}]),
        ("shapes", [{"class": "Disc", "name": "a", "side": 1.0}]),
        ("shapes", [{"class": "Disc", "name": "a"}]),
        ("table", [["much"]]),
        ("table", [[1.0], [1.0, 2.0]]),
        ("colour", "red"),
    ],
)
def test_what_is_no_such_value_is_refused_with_a_sentence(name, wrong):
    drawer = Drawer("a", 1, True, (0.0, 1.0), (Disc("b", 1.0),), np.eye(2))
    with pytest.raises(InputError, match="is not a Drawer .*; make it anew"):
        from_plain(Drawer, to_plain(drawer) | {name: wrong})


def test_nor_is_a_list():
    with pytest.raises(InputError, match="is not a Drawer"):
        from_plain(Drawer, [1, 2])
