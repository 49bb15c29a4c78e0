"""A notion and a region that do not come with us: one file each, as anybody might write them."""

from collections.abc import Iterator
from contextlib import contextmanager

from fairfl_core.fairness import notions
from fairfl_core.lp import regions
from tests.helpers.own_kinds.equal_misses import EqualMisses
from tests.helpers.own_kinds.keep_or_turn import KeepOrTurn


@contextmanager
def registered() -> Iterator[None]:
    """Have both among the others for a while."""
    notions.notion_names(), regions.region_names()  # the ones that come with us are there first
    notions.register_notion(EqualMisses)
    regions.register_region(KeepOrTurn)
    try:
        yield
    finally:
        notions._KINDS.pop(EqualMisses.name)
        regions._KINDS.pop(KeepOrTurn.name)
