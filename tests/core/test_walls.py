"""The walls of the house: who may import what."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
VIEW = {"streamlit", "plotly"}
TRAINING = {"tensorflow", "keras"}


def imports_of(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def sources(*folders):
    found = [path for folder in folders for path in sorted((TOP / folder).rglob("*.py"))]
    assert found
    return found


@pytest.mark.parametrize("path", sources("fairfl_core"), ids=lambda p: str(p.relative_to(TOP)))
def test_the_core_imports_neither_the_view_nor_training(path):
    roots = {name.split(".")[0] for name in imports_of(path)}
    assert not roots & (VIEW | {"pages", "app"})
    assert "pickle" not in roots
    if "federated" not in path.parts:
        assert not roots & TRAINING


def test_pages_do_not_reach_the_solver_or_training():
    for path in [TOP / "app.py", *sorted((TOP / "pages").rglob("*.py"))]:
        names = set(imports_of(path))
        assert not {name.split(".")[0] for name in names} & (TRAINING | {"highspy"})
        assert not any(name.startswith("fairfl_core.federated") for name in names)


def test_data_flows_one_way():
    """Nobody reaches back: a module imports only what stands before it on the data's way."""
    way = [
        "errors", "files", "names", "counts", "experiments", "intervals", "calibration", "people", "notions",
        "regions", "rows", "solver", "program", "merge", "rates", "score_rules", "pricing",
        "columns", "frontier", "draws", "predictor", "score_predictor", "evaluate", "study",
    ]  # fmt: skip
    for place, module in enumerate(way):
        for name in imports_of(TOP / "fairfl_core" / f"{module}.py"):
            if name.startswith("fairfl_core."):
                assert way.index(name.split(".")[1]) < place, f"{module} imports {name}"


def test_solving_loads_neither_tensorflow_nor_streamlit():
    code = (
        "import sys; import fairfl_core.cli, fairfl_core.program, fairfl_core.frontier, "
        "fairfl_core.evaluate, fairfl_core.privacy, fairfl_core.experiments; "
        "print(sorted({'tensorflow', 'keras', 'streamlit', 'plotly', 'opendp'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=TOP
    )
    assert done.stdout.strip() == "[]"
