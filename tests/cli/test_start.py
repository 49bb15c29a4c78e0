"""A command on counts starts with what it needs, and nothing that starts slowly."""

import signal
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


STARTING = """
import runpy, sys
def run_module(*_, **__):
    try:
        print("starting", flush=True)
        __import__("time").sleep(60)
    finally:
        raise AttributeError("half started")
runpy.run_module = run_module
sys.argv = ["fairfl", "app", "--headless"]
from fairfl_core.cli import main
main()
"""


def heard():
    """Ctrl-C is heard, also where whoever runs the tests does not."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def test_ctrl_c_while_the_dashboard_starts_prints_no_traceback():
    """Streamlit, interrupted before it serves, stumbles over what it has not made yet."""
    quiet = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "cwd": TOP}
    with subprocess.Popen([sys.executable, "-c", STARTING], preexec_fn=heard, **quiet) as started:
        while b"starting" not in started.stdout.readline():
            pass
        started.send_signal(signal.SIGINT)
        _, said = started.communicate()
    assert (started.returncode, said) == (130, b"fairfl: Stopped.\n")
