"""The regions that come with us, one file each, from the paper's to the largest."""

from fairfl_core.lp.kinds import simplex, kernel, exact  # isort: skip

__all__ = ["exact", "kernel", "simplex"]
