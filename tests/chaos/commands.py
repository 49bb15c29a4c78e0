"""Commands that are killed, interrupted, fed slowly, and given no room to write."""

import os
import random
import re
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from tests.chaos.table import Trouble
from tests.cli.running import ANSWERED, COLUMNS, REPO, Files, make_files

OLD = b"what was there before\n"


def commands(files: Files, out: Path) -> dict[str, list[str]]:
    """Commands that write a file."""
    given = {
        "count": [files.rows, *COLUMNS, "--prediction", "model"],
        "solve": [files.counts, "--eps-local", "0.02"],
        "predict": [files.predictor, files.rows, *ANSWERED, "--seed", "1"],
    }
    return {name: [name, *map(str, words), "--out", str(out)] for name, words in given.items()}


OURS = re.compile(rb"fairfl_core[/.](?!__init__|__main__)")  # lines that `main` has called


def start(words: list[str], **options) -> subprocess.Popen:
    """A command as a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "fairfl_core", *words],
        env=os.environ | {"PYTHONPATH": str(REPO), "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **options,
    )


def all_commands(folder: Path, times: int, seed: int) -> Iterator[Trouble]:
    """Every kind of trouble, `times` of it for each command."""
    draw = random.Random(seed)
    files = make_files(folder)
    whole, seconds = _unbroken(files, folder)
    yield _stopped(files, whole, seconds, times, draw, signal.SIGKILL)
    yield _stopped(files, whole, seconds, times, draw, signal.SIGINT)
    yield _no_room(files)
    yield _no_folder(files)
    yield _slowly(files, whole["count"], times)


def _unbroken(files: Files, folder: Path) -> tuple[dict[str, bytes], dict[str, float]]:
    """What each command writes when nothing happens, and how long it takes."""
    whole, seconds = {}, {}
    for name, words in commands(files, folder / "unbroken").items():
        began = time.monotonic()
        with start(words) as process:
            process.communicate()
        whole[name], seconds[name] = (folder / "unbroken").read_bytes(), time.monotonic() - began
    return whole, seconds


def _stopped(files, whole, seconds, times, draw, how: signal.Signals) -> Trouble:
    """Stopped at random moments: the old file or the new one, whole; and no traceback."""
    asked = how == signal.SIGINT
    trouble = Trouble(
        "Ctrl-C at a random moment" if asked else "killed at a random moment",
        "the old file or the new, whole" + ("; no traceback" if asked else "; nothing left over"),
    )
    for name in whole:
        for _ in range(times):
            out = files / f"{name}.out"
            out.write_bytes(OLD)
            with start(commands(files, out)[name]) as process:
                time.sleep(draw.uniform(0.05, 1.1) * seconds[name])
                process.send_signal(how)
                _, said = process.communicate()
            found = out.read_bytes()
            # Before `__main__.main` runs Python itself may say so: that is nobody's to mend here.
            ours = b"Traceback" in said and OURS.search(said)
            kept = found in (OLD, whole[name]) and not (asked and ours)
            trouble.tried(kept=kept, otherwise=f"{name}: {len(found)} bytes; {said[-200:]!r}")
        with start(commands(files, out)[name]) as process:
            process.communicate()
        left = [path.name for path in files.folder.iterdir() if path.name.endswith("fairfl-tmp")]
        trouble.tried(kept=out.read_bytes() == whole[name] and not left, otherwise=f"left {left}")
    return trouble


def _no_room(files: Files) -> Trouble:
    """No room for more than some bytes: the old file stays, and a sentence says why."""
    trouble = Trouble("a full disk", "the old file; one sentence, exit 2")

    def small() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))

    for name, words in commands(files, files / "full.out").items():
        (files / "full.out").write_bytes(OLD)
        with start(words, preexec_fn=small) as process:
            _, said = process.communicate()
        kept = process.returncode == 2 and (files / "full.out").read_bytes() == OLD
        trouble.tried(kept=kept and b"Traceback" not in said, otherwise=f"{name}: {said[-200:]!r}")
    return trouble


def _no_folder(files: Files) -> Trouble:
    """A folder in which nothing can be written, even by root."""
    trouble = Trouble("a read-only folder", "one sentence, exit 2")
    for name, words in commands(files, Path("/proc/fairfl.out")).items():
        with start(words) as process:
            _, said = process.communicate()
        kept = process.returncode == 2 and b"cannot be written" in said
        trouble.tried(kept=kept, otherwise=f"{name}: {said[-200:]!r}")
    return trouble


def _slowly(files: Files, whole: bytes, times: int) -> Trouble:
    """Rows that come in drops: the same counts."""
    trouble = Trouble("slow reads", "the same answer")
    words = ["count", "-", *COLUMNS, "--prediction", "model", "--out", str(files / "slow.out")]
    rows = files.rows.read_bytes()
    for _ in range(max(1, times // 5)):
        with start(words, stdin=subprocess.PIPE) as process:
            for begin in range(0, len(rows), len(rows) // 7):
                process.stdin.write(rows[begin : begin + len(rows) // 7])
                process.stdin.flush()
                time.sleep(0.02)
            process.communicate()
        trouble.tried(kept=(files / "slow.out").read_bytes() == whole, otherwise="other counts")
    return trouble
