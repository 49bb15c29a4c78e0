"""Groups crossed of several columns, seen by fewer of them."""

from fairfl_core.data.counts import ClientCounts
from fairfl_core.lp.constraints.gaps import Merged

__all__ = ["merged_groups"]


def merged_groups(counts: ClientCounts, grouping: str) -> Merged:
    """The groups of these counts by the columns that `grouping` names, such as sex*race."""
    return Merged(grouping, *counts.coarsen(grouping))
