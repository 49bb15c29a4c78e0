"""What `lint-imports` (pyproject.toml) cannot say: what is loaded, promised, and asked by name."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from fairfl_core.fairness.notions import notion_names
from fairfl_core.lp.regions import region_names

TOP = Path(__file__).resolve().parents[2]
# A certificate is checked from its file.
KNOWS_NAMES = {
    "fairfl_core/predictors/certificate.py",
    "fairfl_core/predictors/verify_predictor.py",
}


def sources(*folders):
    found = [path for folder in folders for path in sorted((TOP / folder).rglob("*.py"))]
    assert found
    return found


def test_the_package_promises_its_names_and_loads_them_late():
    code = (
        "import sys, fairfl_core; "
        "heavy = sorted({'scipy.stats', 'pandas', 'highspy', 'numpy'} & set(sys.modules)); "
        "print(heavy, [name for name in fairfl_core.__all__ if not hasattr(fairfl_core, name)])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=TOP
    )
    assert done.stdout.strip() == "[] []"


def test_names_that_are_no_longer_promised_warn_for_one_release():
    import fairfl_core

    for name in (
        "ScoredPeople",
        "FairPredictor",
        "ScorePredictor",
        "ExactProgram",
        "build_program",
    ):
        with pytest.warns(
            FutureWarning, match=f"fairfl_core.{name} goes in the next release; use"
        ):
            assert getattr(fairfl_core, name) is not None
        assert name not in dir(fairfl_core)


def test_nobody_asks_for_a_region_by_name():
    """Ask what a notion or a region can do: in core and pages nothing is compared with a name."""
    names = {*notion_names(), *region_names()}
    for path in sources("fairfl_core", "pages"):
        if path.relative_to(TOP).as_posix() in KNOWS_NAMES:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Compare | ast.MatchValue):
                compared = {c.value for c in ast.walk(node) if isinstance(c, ast.Constant)}
                assert not compared & names, f"{path}:{node.lineno}: {ast.unparse(node)}"
