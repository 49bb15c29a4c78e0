"""Break lines on purpose and see whether a test notices: `make mutants FILES="..."`.

A sample of mutants (one changed expression each) is drawn from the files. Each is put into a copy
of the tree, and the tests that reach it are run there until one fails.
"""

import argparse
import importlib
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable
from functools import partial
from itertools import accumulate, chain, pairwise
from pathlib import Path

from mutations import Mutant, mutants, probed, source_of
from session import PROBE, Catch, Reach, fork

TOP = Path(__file__).resolve().parents[2]
EQUIVALENT = Path(__file__).with_name("equivalent.toml")
SLOW_TO_IMPORT = (
    "pytest hypothesis.extra.numpy scipy.optimize scipy.stats pandas pyarrow.parquet highspy "
    "sklearn.linear_model streamlit.testing.v1 plotly.graph_objects opendp.prelude typer.testing"
)
BESIDE = "shared"  # where some tests look for the raw datasets and the paper
APART = {"browser", "package", "pages", "house", "mutants"}  # run for their own room only


def main() -> None:
    parser = argparse.ArgumentParser(prog="mutants", description=__doc__)
    parser.add_argument("files", nargs="+", help="files or folders to break")
    parser.add_argument("--sample", type=int, default=50, help="how many mutants to try")
    parser.add_argument("--seed", type=int, default=0, help="of the draw")
    parser.add_argument("--seconds", type=float, default=60, help="of tests for one mutant")
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time")
    options = parser.parse_args()
    paths = [path for name in options.files for path in python_files(name)]
    every = [mutant for path in paths for mutant in mutants(TOP, path)]
    draw = random.Random(options.seed)
    drawn = spread(every, options.sample, draw)
    known = tomllib.loads(EQUIVALENT.read_text(encoding="utf-8")).get("mutant", [])
    same = {(entry["file"], entry["code"], entry["change"]) for entry in known}
    tried = [mutant for mutant in drawn if mutant.name not in same]
    draw.shuffle(tried)  # so that a run that is cut short is a sample, too
    print(f"{len(drawn)} of {len(every)} mutants, seed {options.seed}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        results = run(tried, Path(folder).resolve(), options.jobs, options.seconds)
        survived = sum(tell(*result) for result in results)
    caught = len(tried) - survived
    print(f"{caught} of {len(tried)} caught ({caught / max(len(tried), 1):.1%}); ", end="")
    print(f"{len(drawn) - len(tried)} more change nothing ({EQUIVALENT.name})")


def spread(every: list[Mutant], sample: int, draw: random.Random) -> list[Mutant]:
    """One mutant from each of `sample` stretches of equal length: every room has its share."""
    sample = min(sample, len(every))
    edges = [place * len(every) // sample for place in range(sample + 1)]
    return [every[draw.randrange(*edge)] for edge in pairwise(edges)]


def tell(mutant: Mutant, by: str | None) -> bool:
    """Print one row of the table; whether the mutant survived."""
    print(f"{f'caught by {by}' if by else 'SURVIVED'}: {mutant.path}:{mutant.line}")
    print(f"    {mutant.change}\n    in: {mutant.code}", flush=True)
    return by is None


def python_files(name: str) -> list[str]:
    """The file, or those below the folder, named from the top of the repository."""
    path = TOP / name
    return [str(file.relative_to(TOP)) for file in sorted(path.rglob("*.py")) or [path]]


def room_of(path: str) -> str:
    """The room as it is imported: `fairfl_core.people`, `pages`."""
    parts = Path(path).with_suffix("").parts
    return ".".join(parts[:2]) if parts[0] == "fairfl_core" else parts[0]


def tests_of(room: str) -> list[str]:
    """The test files of the room; for one of the core, also those of its other rooms."""
    files = [path.relative_to(TOP) for path in sorted((TOP / "tests").rglob("test_*.py"))]
    rooms = {room.split(".")[-1]}
    if room.startswith("fairfl_core"):
        rooms |= {path.parts[1] for path in files} - APART
    return [str(path) for path in files if path.parts[1] in rooms]


def copy_tree(tree: Path) -> Path:
    """A copy of all that git knows or would take in."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=TOP, capture_output=True, text=True, check=True).stdout
    for name in listed.splitlines():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(TOP / name, tree / name)
    return tree


def run(tried: list[Mutant], folder: Path, jobs: int, budget: float):
    """Yield (mutant, the test that caught it or None), as they are done."""
    sys.dont_write_bytecode = True  # a changed file must not meet the bytecode of another
    for name in SLOW_TO_IMPORT.split():
        importlib.import_module(name)
    if (TOP.parent / BESIDE).exists():
        (folder / BESIDE).symlink_to(TOP.parent / BESIDE)
    free, running = [copy_tree(folder / f"tree{job}") for job in range(jobs)], {}
    tests = {room: tests_of(room) for room in {room_of(mutant.path) for mutant in tried}}
    reach = reach_of(free[0], sorted({mutant.path for mutant in tried}), tests.values())
    for mutant in tried:
        if not free:
            yield finish(running, free)
        tree = free.pop()
        original = (tree / mutant.path).read_bytes()
        (tree / mutant.path).write_text(source_of(tree, mutant), encoding="utf-8")
        seconds = in_order(mutant, reach, tests[room_of(mutant.path)], budget)
        files = dict.fromkeys(test.split("::")[0] for test in seconds)
        running[fork(tree, files, Catch(seconds), "-x")] = mutant, tree, original
    while running:
        yield finish(running, free)


def reach_of(tree: Path, paths: list[str], tests: Iterable[list[str]]) -> dict[str, dict]:
    """For each test that passes on the unbroken tree: its seconds, and the lines it runs."""
    originals = {path: (tree / path).read_bytes() for path in paths}
    places: list[tuple[str, int]] = []

    def probe(path: str, line: int) -> str:
        places.append((path, line))
        return f"{PROBE}({len(places) - 1})"

    for path in paths:
        (tree / path).write_text(probed(tree, path, partial(probe, path)), encoding="utf-8")
    elsewhere = tree / "sitecustomize.py"  # in processes that tests start nobody listens
    elsewhere.write_text(f"import builtins\nbuiltins.{PROBE} = lambda place: None\n")
    os.waitpid(fork(tree, dict.fromkeys(chain(*tests)), Reach()), 0)
    elsewhere.unlink()
    for path, original in originals.items():
        (tree / path).write_bytes(original)
    reached = json.loads(tree.with_suffix(".json").read_text())
    passing = {test: note for test, note in reached.items() if note["passed"]}
    print(f"{len(passing)} of {len(reached)} tests pass unbroken", flush=True)
    return {
        test: note | {"lines": {places[place] for place in note["places"]}}
        for test, note in passing.items()
    }


def in_order(
    mutant: Mutant, reach: dict[str, dict], files: list[str], budget: float
) -> dict[str, float]:
    """Seconds of the tests to run: the quick ones that reach the change first.

    The other tests of its own room come last: they may see what another test has left in a cache.
    What is over when the budget is spent is not run, and cannot catch anything.
    """
    own = f"tests/{room_of(mutant.path).split('.')[-1]}/"
    lines = {(mutant.path, line) for line in mutant.reached_by}
    order = []
    for test, note in reach.items():
        passes_by = lines.isdisjoint(note["lines"])
        if test.split("::")[0] in files and (test.startswith(own) or not passes_by):
            order.append((passes_by, note["seconds"], test))
    order.sort()
    spent = accumulate(seconds for _, seconds, _ in order)
    return {
        test: seconds
        for (_, seconds, test), total in zip(order, spent, strict=True)
        if total <= budget
    }


def finish(running: dict, free: list[Path]) -> tuple[Mutant, str | None]:
    """Wait for the next one to end, mend its tree, and say who caught the mutant, if anyone."""
    pid, status = os.wait()
    mutant, tree, original = running.pop(pid)
    free.append(tree)
    (tree / mutant.path).write_bytes(original)
    if os.waitstatus_to_exitcode(status) in (0, 5):  # all passed, or there were none
        return mutant, None
    notes = tree.with_suffix(".json")
    return mutant, json.loads(notes.read_text()) if notes.exists() else "the clock, or a crash"


if __name__ == "__main__":
    main()
