"""Reproduce the paper, compare other methods, measure whether limits hold; not in the wheel."""
