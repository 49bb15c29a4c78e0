"""The notions that come with us, one file each, in the order in which they are offered."""

from fairfl_core.fairness.kinds import (  # isort: skip
    statistical_parity,
    equal_opportunity,
    equalized_odds,
    equalized_odds_full,
)

__all__ = [
    "equal_opportunity",
    "equalized_odds",
    "equalized_odds_full",
    "statistical_parity",
]
