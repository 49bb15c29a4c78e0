"""Training that is killed: it goes on where it was, and what can be read is always whole."""

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from fairfl_core.data import experiments
from fairfl_core.errors import FairflError
from tests.chaos.table import Trouble
from tests.helpers.serving import ROOT

NAME = "tiny_toy_cross_fitted"  # what `tests.training.tiny` trains


def killed_training(folder: Path, times: int, seed: int) -> Trouble:
    """Kill a small training at random moments, then let it go on to its end."""
    trouble = Trouble(
        "training killed at a random moment",
        "nothing or a whole experiment; going on, the scores of an unbroken run",
    )
    draw = random.Random(seed)
    begun = time.monotonic()
    _start(folder / "whole-training").wait()
    seconds = time.monotonic() - begun
    want = _scores(folder / "whole-training")
    trouble.tried(kept=bool(want), otherwise="the unbroken run left no experiment")
    for place in range(times):
        out = folder / f"killed-{place}"
        process = _start(out)
        time.sleep(draw.uniform(0.3, 1.05) * seconds)
        process.send_signal(signal.SIGKILL)
        process.wait()
        try:
            meanwhile = _scores(out)
            _start(out).wait()
            kept = meanwhile in ("", want) and _scores(out) == want
            trouble.tried(kept=kept, otherwise="other scores")
        except FairflError as error:
            trouble.tried(kept=False, otherwise=str(error))
    return trouble


def _start(out: Path) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "tests.training.tiny", str(out)]
    quiet = subprocess.DEVNULL
    return subprocess.Popen(command, cwd=ROOT, stdout=quiet, stderr=quiet)


def _scores(out: Path) -> str:
    """The hash of an experiment's scores, which opening it compares; empty before there is one."""
    if not (out / NAME / "manifest.json").exists():
        return ""
    opened = experiments.open(NAME, out)
    opened.scores(5, "fit")
    return str(opened.manifest["scores"]["sha256"])
