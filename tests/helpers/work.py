"""Work counted, not timed: a count is the same on a quick machine, a slow one and a busy one."""

import sys
from collections.abc import Callable, Iterable
from types import FrameType
from typing import Any

import numpy as np


def bytecodes(act: Callable[[], Any]) -> int:
    """How many instructions Python itself executes for this.

    A loop over rows shows in it row by row; what numpy, pandas and Arrow do in one go does not.
    """
    count = 0

    def trace(frame, event, _):
        nonlocal count
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        count += event == "opcode"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        act()
    finally:
        sys.settrace(before)
    return count


def numbers(_: FrameType, found: Any) -> int:
    """How many numbers a function hands back."""
    parts = found if isinstance(found, tuple) else (found,)
    return sum(part.size for part in parts if isinstance(part, np.ndarray))


def calls(
    act: Callable[[], Any],
    modules: Iterable[str],
    weigh: Callable[[FrameType, Any], int] = numbers,
) -> dict[str, list[int]]:
    """Which functions of some modules this calls: how often, and what their answers weigh in all.

    What is done twice, for more than is needed or in another way shows in it, though the answer is
    the same. Comprehensions are left out: they are functions in some versions of Python only.
    """
    counted: dict[str, list[int]] = {}
    looked_at = tuple(modules)

    def profile(frame, event, found):
        module, name = frame.f_globals.get("__name__", ""), frame.f_code.co_qualname
        if module.startswith(looked_at) and not name.endswith((">", "__")):
            tally = counted.setdefault(f"{module.partition('.')[2]}: {name}", [0, 0])
            tally[0] += event == "call"
            tally[1] += weigh(frame, found) if event == "return" else 0

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        act()
    finally:
        sys.setprofile(before)
    return dict(sorted(counted.items()))
