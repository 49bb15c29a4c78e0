"""Find what stands beside the package: `app.py`, `pages/`, `data/`."""

from pathlib import Path

__all__ = ["APP_ROOT"]

_PACKAGE = Path(__file__).resolve().parents[1]
_IN_A_WHEEL = _PACKAGE / "_app"  # pyproject.toml puts them there, so that a wheel is whole

APP_ROOT = _IN_A_WHEEL if _IN_A_WHEEL.is_dir() else _PACKAGE.parent
"""The folder that holds them: the repository in a checkout, a folder of the package in a wheel."""
