"""A command on counts starts with what it needs, and nothing that starts slowly."""

import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.helpers.strategies import synthetic

TOP = Path(__file__).resolve().parents[2]
SLOW = {"pandas", "streamlit", "plotly", "tensorflow", "sklearn", "opendp"}
COMMANDS = """
import sys
counts = sys.argv[1]
from fairfl_core.cli import main
for words in (["solve", "--help"], ["solve", counts, "--json"]):
    sys.argv = ["fairfl", *words]
    try:
        main()
    except SystemExit:
        print(*sorted({name.split(".")[0] for name in sys.modules}), file=sys.stderr)
"""


def test_help_and_solve_on_counts_import_nothing_slow(tmp_path):
    synthetic(3, 2, 2).write(tmp_path / "counts.json")
    command = [sys.executable, "-c", COMMANDS, str(tmp_path / "counts.json")]
    ended = subprocess.run(command, cwd=TOP, capture_output=True, text=True)
    assert '"accuracy"' in ended.stdout
    helped, solved = (set(line.split()) for line in ended.stderr.splitlines())
    assert not SLOW & helped and not SLOW & solved


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


def interrupted(code, once):
    """How a process ends that is interrupted once it has said so."""
    quiet = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "cwd": TOP}
    with subprocess.Popen([sys.executable, "-c", code], preexec_fn=heard, **quiet) as started:
        while once not in started.stdout.readline():
            pass
        time.sleep(0.3)
        started.send_signal(signal.SIGINT)
        _, said = started.communicate()
    return started.returncode, said


def test_ctrl_c_while_the_dashboard_starts_prints_no_traceback():
    """Streamlit, interrupted before it serves, stumbles over what it has not made yet."""
    assert interrupted(STARTING, b"starting") == (130, b"fairfl: Stopped.\n")


ENDING = """
import threading, time
import fairfl_core.cli
def run():
    threading.Thread(target=time.sleep, args=(60,)).start()
    print("ending", flush=True)
fairfl_core.cli.main = run
from fairfl_core.__main__ import main
main()
"""


def test_ctrl_c_while_python_waits_for_threads_prints_no_traceback():
    assert interrupted(ENDING, b"ending") == (-signal.SIGINT, b"")
