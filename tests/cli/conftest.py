"""Good files for every test of a command."""

import pytest

from tests.cli.refusing import PRECIOUS
from tests.cli.running import make_files


@pytest.fixture
def files(tmp_path):
    """Rows, counts and a predictor, and earlier outputs that no refused run may touch."""
    made = make_files(tmp_path)
    for name in ("out.json", "out.csv", "out.parquet"):
        (tmp_path / name).write_bytes(PRECIOUS)
    return made
