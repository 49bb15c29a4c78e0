"""Commands that are killed, interrupted, fed slowly, and given no room to write.

`STOPS=100 pytest tests/chaos` stops each command so often, at random moments.
"""

import os
import random
import re
import resource
import signal
import subprocess
import sys
import time

import pytest

from tests.cli.running import ANSWERED, COLUMNS, REPO, make_files

STOPS = int(os.environ.get("STOPS", "1"))
OLD = b"what was there before\n"
OURS = re.compile(rb"fairfl_core[/.](?!__init__|__main__)")  # lines that `main` has called
NAMES = ("count", "solve", "predict")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return make_files(tmp_path_factory.mktemp("trouble"))


@pytest.fixture(scope="module")
def whole(files):
    """What each command writes when nothing happens, and how many seconds it takes."""
    done = {}
    for name in NAMES:
        begun = time.monotonic()
        with start(files, name, files / "unbroken") as process:
            process.communicate()
        done[name] = ((files / "unbroken").read_bytes(), time.monotonic() - begun)
    return done


def start(files, name, out, rows=None, **options):
    """A command that writes a file, as a process of its own."""
    words = {
        "count": [rows or files.rows, *COLUMNS, "--prediction", "model"],
        "solve": [files.counts, "--eps-local", "0.02"],
        "predict": [files.predictor, files.rows, *ANSWERED, "--seed", "1"],
    }[name]
    return subprocess.Popen(
        [sys.executable, "-m", "fairfl_core", name, *map(str, words), "--out", str(out)],
        env=os.environ | {"PYTHONPATH": str(REPO), "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **options,
    )


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT], ids=["killed", "Ctrl-C"])
@pytest.mark.parametrize("name", NAMES)
def test_stopped_at_a_random_moment_it_leaves_the_old_file_or_the_new_one(files, whole, name, how):
    draw = random.Random()
    wanted, seconds = whole[name]
    out = files / f"{name}.out"
    for _ in range(STOPS):
        out.write_bytes(OLD)
        with start(files, name, out) as process:
            time.sleep(draw.uniform(0.05, 1.1) * seconds)
            process.send_signal(how)
            _, said = process.communicate()
        assert out.read_bytes() in (OLD, wanted)
        # Before `__main__.main` runs Python itself may say so: that is nobody's to mend here.
        assert how == signal.SIGKILL or b"Traceback" not in said or not OURS.search(said), said
    if how == signal.SIGKILL:  # the next run removes what is left
        with start(files, name, out) as process:
            process.communicate()
        assert out.read_bytes() == wanted
    assert not list(files.folder.glob("*fairfl-tmp"))


def test_on_a_full_disk_the_old_file_stays_and_a_sentence_says_why(files):
    out = files / "full.out"
    out.write_bytes(OLD)

    def small():
        resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))

    with start(files, "predict", out, preexec_fn=small) as process:
        _, said = process.communicate()
    assert process.returncode == 2 and out.read_bytes() == OLD
    assert b"cannot be written" in said and b"Traceback" not in said


def test_rows_that_come_in_drops_are_counted_alike(files, whole):
    rows = files.rows.read_bytes()
    out = files / "slow.out"
    with start(files, "count", out, rows="-", stdin=subprocess.PIPE) as process:
        for begin in range(0, len(rows), len(rows) // 7):
            process.stdin.write(rows[begin : begin + len(rows) // 7])
            process.stdin.flush()
            time.sleep(0.02)
        process.communicate()
    assert out.read_bytes() == whole["count"][0]
