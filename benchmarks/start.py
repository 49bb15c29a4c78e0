"""How long `fairfl solve` takes on a small table of counts, beside importing numpy and highspy alone.

Both commands in turn, each with bytecode of its own that the first round makes. First pages of the
dashboard are measured by `benchmarks/browser.py`.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from fairfl_core.data import experiments  # noqa: E402

WANTED = 4.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=5)
    times = parser.parse_args().times
    with tempfile.TemporaryDirectory() as folder:
        os.environ["PYTHONPYCACHEPREFIX"] = folder
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        counts = Path(folder) / "counts.json"
        experiments.open("adult").counts(0, "validation").write(counts)
        imports = [sys.executable, "-c", "import numpy, highspy"]
        solve = [sys.executable, "-m", "fairfl_core", "solve", str(counts), "--json"]
        rounds = [(spent(imports), spent(solve)) for _ in range(times + 1)][1:]
    yardstick, ours = (min(took) for took in zip(*rounds, strict=True))
    ratio = ours / yardstick
    missed = "" if ratio <= WANTED else ", missed"
    print(f"imports {yardstick:.2f} s of processor, `fairfl solve` {ours:.2f} s: ", end="")
    print(f"{ratio:.1f}x (wanted {WANTED:g}x{missed})")


def spent(command: list[str]) -> float:
    """Processor seconds of a command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
