"""Import what an extra brings, or say which extra that is."""

from collections.abc import Iterator
from contextlib import contextmanager

from fairfl_core.errors import InputError

__all__ = ["extra"]


@contextmanager
def extra(name: str) -> Iterator[None]:
    """Import optional packages inside; a missing one is an `InputError` that names the extra.

    Parameters
    ----------
    name : {"app", "report", "privacy", "train", "federation"}
        Whose packages are imported inside the block: ``with extra("app"): import pandas``.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        raise InputError(
            f'this needs {package}, which is not installed: pip install "fairfl[{name}]".'
        ) from error
