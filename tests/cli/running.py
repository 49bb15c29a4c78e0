"""How commands are run in tests, and on which files."""

import contextlib
import io
import json
import math
import os
import subprocess
import sys
import warnings
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest

from fairfl_core.data.counts import ClientCounts
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.predictors.kinds import FairPredictor

with warnings.catch_warnings():  # Typer 0.20 touches a name that click 8.5 calls deprecated
    warnings.simplefilter("ignore", DeprecationWarning)
    from fairfl_core.cli import main
    from research.__main__ import main as research

REPO = Path(__file__).parents[2]
COMMANDS = ("count", "solve", "map", "evaluate", "predict", "privatize")
COLUMNS = ("--client", "clinic", "--group", "sex", "--label", "diagnosis")
ANSWERED = ("--client", "clinic", "--group", "sex", "--prediction", "model")


@dataclass(frozen=True)
class Ended:
    """How a run ended."""

    code: int
    out: str
    err: str

    @property
    def went_well(self):
        return self.code == 0 and not self.err.strip()

    @property
    def json(self):
        """The one object on standard output; fails when there is anything else."""
        assert self.went_well, self
        value = json.loads(self.out)
        assert isinstance(value, dict)
        return value


def run(*argv, stdin=b"", main=main):
    """Run a command in this process, with the streams a real one has."""
    out = io.TextIOWrapper(io.BytesIO(), "utf-8")
    err = io.TextIOWrapper(io.BytesIO(), "utf-8", errors="backslashreplace")
    given = io.TextIOWrapper(io.BytesIO(stdin), "utf-8")
    words = ["fairfl", *(str(word) for word in argv)]
    with (
        patch.object(sys, "argv", words),
        patch.object(sys, "stdin", given),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        pytest.raises(SystemExit) as stop,
    ):
        main()
    texts = []
    for stream in (out, err):
        stream.flush()
        texts.append(stream.buffer.getvalue().decode())
    return Ended(stop.value.code or 0, *texts)


def run_research(*argv):
    """Run a command of `python -m research` in this process."""
    return run(*argv, main=research)


def shell(*argv, env=None, **options):
    """Run a command as a process of its own."""
    options = {"capture_output": True, "timeout": 60} | options
    return subprocess.run(
        [sys.executable, "-m", "fairfl_core", *(str(word) for word in argv)],
        env=os.environ | {"PYTHONPATH": str(REPO)} | (env or {}),
        **options,
    )


def people(n=600, seed=0, labels=("no", "yes"), groups=("f", "m")):
    """Rows of three clinics; the model errs more for one group, and differs between clinics."""
    rng = np.random.default_rng(seed)
    clinic = rng.choice(3, n, p=[0.5, 0.3, 0.2])
    sex = rng.integers(len(groups), size=n)
    diagnosis = rng.choice(len(labels), n)
    wrong = rng.random(n) < np.array([0.1, 0.2, 0.3])[clinic] + 0.2 * (sex == 0)
    model = np.where(wrong, (diagnosis + 1 + (clinic == 2)) % len(labels), diagnosis)
    scores = rng.dirichlet(np.ones(len(labels)), n)
    scores[np.arange(n), model] += 1
    names = np.array(["north", "south", "east"], dtype=object)[clinic]
    columns = {
        "patient": np.arange(n) + 1000,
        "clinic": names,
        "sex": np.array(groups, dtype=object)[sex],
        "diagnosis": np.array(labels, dtype=object)[diagnosis],
        "model": np.array(labels, dtype=object)[model],
    }
    for place, label in enumerate(labels):
        columns[f"score_{label}"] = scores[:, place]
    return pd.DataFrame(columns)


@dataclass(frozen=True)
class Files:
    """A folder with rows, the counts of them, and a predictor fitted on these."""

    folder: Path

    def __truediv__(self, name):
        return self.folder / name

    @property
    def rows(self):
        return self / "rows.csv"

    @property
    def counts(self):
        return self / "counts.json"

    @property
    def predictor(self):
        return self / "predictor.json"


@cache
def contents():
    rows = people()
    counts = ClientCounts.from_table(
        rows, client="clinic", group="sex", label="diagnosis", prediction="model"
    )
    predictor = FairPredictor.from_solution(FairnessProgram(counts).solve(0.02, 0.05))
    return {
        "rows.csv": rows.to_csv(index=False),
        "counts.json": json.dumps(counts.to_json()) + "\n",
        "predictor.json": json.dumps(predictor.to_json()) + "\n",
    }


def make_files(folder):
    for name, content in contents().items():
        (folder / name).write_text(content, "utf-8")
    return Files(folder)


def is_number(value):
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def each_for_people(files, counts=None):
    counts = counts or files.counts
    yield (
        "count",
        run("count", files.rows, *COLUMNS, "--prediction", "model", "--out", files / "c"),
    )
    yield "solve", run("solve", counts, "--eps-local", "0.02", "--out", files / "p.json")
    yield "map", run("map", counts, "--epsilons", "0.1,0.2")
    yield "evaluate", run("evaluate", files.predictor, counts)
    given = (files.predictor, files.rows, *ANSWERED, "--out", files / "o.csv", "--seed", "1")
    yield "predict", run("predict", *given)
    yield "privatize", run("privatize", counts, "--epsilon", "1", "--out", files / "n.json")


def read_table(path):
    if path.suffix == ".parquet":
        return pd.read_parquet(path)
    return pd.read_csv(path, dtype=str, keep_default_na=False)
