"""Research's methods are known by name wherever its tests are."""

from research.trained import register_all
from tests.training.conftest import plain, prepared, recipe, tiny

__all__ = ["plain", "prepared", "recipe", "tiny"]
register_all()
