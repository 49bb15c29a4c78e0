"""A command on counts starts with what it needs, and nothing that starts slowly."""

import subprocess
import sys
from pathlib import Path

from tests.helpers.strategies import synthetic

TOP = Path(__file__).resolve().parents[2]
SLOW = {"scipy", "pandas", "streamlit", "plotly", "tensorflow", "sklearn", "opendp"}
COMMAND = """
import sys
sys.argv = ["fairfl", "solve", sys.argv[1], "--json"]
from fairfl_core.cli import main
try:
    main()
finally:
    print(*sorted({name.split(".")[0] for name in sys.modules}), file=sys.stderr)
"""


def test_solve_on_counts_imports_nothing_slow(tmp_path):
    synthetic(3, 2, 2).write(tmp_path / "counts.json")
    command = [sys.executable, "-c", COMMAND, str(tmp_path / "counts.json")]
    ended = subprocess.run(command, cwd=TOP, capture_output=True, text=True)
    assert '"accuracy"' in ended.stdout
    assert not SLOW & set(ended.stderr.split())
