"""What a first page tells does not depend on the processor that computes it.

OpenBLAS and NumPy choose their arithmetic by the processor: their last bits differ. Here they are
told to behave as on others, as far as this one can.
"""

import json
import logging
import os
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest

from pages.shared.catalogue import bundled
from pages.shared.results import summary_of
from pages.shared.view import read_view

TOP = Path(__file__).resolve().parents[2]
NEEDS = {"Prescott": "sse3", "Haswell": "avx2", "SkylakeX": "avx512f"}


def core_types():
    """The core types of OpenBLAS that this processor can run."""
    try:
        output = Path("/proc/cpuinfo").read_text()
    except OSError:
        return []
    flags = {
        flag for line in output.splitlines() if line.startswith("flags") for flag in line.split()
    }
    flags |= {"sse3"} if "pni" in flags else set()
    return [name for name, flag in NEEDS.items() if flag in flags]


FIGURES = (
    "n",
    "accuracy",
    "overall",
    "overall_interval",
    "local_mean",
)


def told_of(summary):
    """Every number of a summary: figures are computed where they are read."""
    output = asdict(replace(summary, reached=None, unseen=None))
    for side in ("reached", "unseen"):
        figures = getattr(summary, side)
        output[side] = {name: getattr(figures, name) for name in FIGURES}
        output[side]["worst"] = asdict(figures.worst)
    return output


def leaves(value, where=""):
    """The texts and numbers of a JSON document, each by its place."""
    if isinstance(value, dict | list):
        parts = value.items() if isinstance(value, dict) else enumerate(value)
        found = [leaves(part, f"{where}/{key}") for key, part in parts]
        return {name: leaf for part in found for name, leaf in part.items()}
    return {where: value}


def computed(core_type, without=()):
    environment = {
        "OPENBLAS_CORETYPE": core_type,
        "OPENBLAS_NUM_THREADS": "1",
        "NPY_DISABLE_CPU_FEATURES": " ".join(without),
    }
    output = subprocess.run(
        [sys.executable, "-m", "tests.pages.test_other_processors"],
        cwd=TOP,
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return leaves(json.loads(output.stdout))


def test_every_processor_tells_the_same():
    config = np.show_config(mode="dicts")
    library = config["Build Dependencies"]["blas"]["name"]
    kinds = core_types()
    if "openblas" not in library or len(kinds) < 2:
        pytest.skip("NumPy is not built on OpenBLAS here, or the processor can play no other.")
    # The oldest one also does without NumPy's own newer instructions.
    newer = config["SIMD Extensions"].get("found", [])
    oldest, newest = computed(kinds[0], newer), computed(kinds[-1])
    assert newest == pytest.approx(oldest, abs=1e-9, nan_ok=True)


ALGEBRA = """
from streamlit.testing.v1 import AppTest
from threadpoolctl import threadpool_info

app = AppTest.from_file("app.py", default_timeout=120)
app.query_params.update(experiment="adult", region="simplex", seed="0")
assert not app.run().exception
print(*sorted(one["num_threads"] for one in threadpool_info()))
"""


def test_linear_algebra_leaves_the_other_cores_to_other_visitors():
    found = subprocess.run(
        [sys.executable, "-c", ALGEBRA],
        cwd=TOP,
        env={name: value for name, value in os.environ.items() if "NUM_THREADS" not in name},
        capture_output=True,
        text=True,
        check=True,
    )
    assert set(found.stdout.splitlines()[-1].split()) == {"1"}


def summaries():
    """The summary of views that visits begin with, of one run, as JSON."""
    logging.disable(logging.WARNING)  # Streamlit's, that no server runs
    names = ("adult", "public_coverage", "ham10000")
    views = [read_view({"experiment": name, "seed": "0"}, bundled())[0] for name in names]
    output = {repr(view): told_of(summary_of(view)) for view in views}
    json.dump(output, sys.stdout, default=lambda array: array.tolist())


if __name__ == "__main__":
    summaries()
