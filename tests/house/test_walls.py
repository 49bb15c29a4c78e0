"""The walls of the house: who may import what."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from fairfl_core.fairness.notions import notion_names
from fairfl_core.lp.regions import region_names

TOP = Path(__file__).resolve().parents[2]
VIEW = {"streamlit", "plotly"}
TRAINING = {"tensorflow", "keras"}
# The paper's own form has two notions only; gaps with a gradient are written out for three.
KNOWS_NAMES = {"research/paper/original_form.py", "fairfl_core/training/gaps.py"}


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
    if path.relative_to(TOP).as_posix() == "fairfl_core/report/figures.py":
        roots -= {"plotly"}  # for notebooks and pages alike; loaded when a figure is drawn
    assert not roots & (VIEW | {"pages", "app"})
    assert "pickle" not in roots
    if "training" not in path.parts:
        assert not roots & TRAINING


def test_pages_do_not_reach_the_solver_or_training():
    for path in [TOP / "app.py", *sorted((TOP / "pages").rglob("*.py"))]:
        names = set(imports_of(path))
        assert not {name.split(".")[0] for name in names} & (TRAINING | {"highspy"})
        assert not any(name.startswith("fairfl_core.training") for name in names)


# Each room, and the rooms it may import from: nobody reaches back.
ROOMS = {
    "errors": set(),
    "budget": {"errors"},
    "_io": {"errors"},
    "data": {"errors", "budget", "_io"},
    "fairness": {"errors", "budget", "_io", "data"},
    "lp": {"errors", "budget", "_io", "data", "fairness"},
    "predictors": {"errors", "_io", "data", "fairness", "lp"},
    "evaluation": {"errors", "budget", "_io", "data", "fairness", "lp", "predictors"},
}
BEHIND = {*ROOMS}
ROOMS |= {
    "privacy": BEHIND,
    "teaching": BEHIND,
    "training": {"errors", "_io", "data"},
    # Across machines a client applies its predictor and a server solves: the whole way.
    "federation": BEHIND | {"privacy", "training", "intake"},
    "intake": BEHIND,
    "report": BEHIND | {"intake"},
    "explore": BEHIND | {"report"},
    "cli": BEHIND | {"explore", "report", "privacy", "training", "federation", "intake"},
    "__main__": {"cli"},
    "__init__": BEHIND | {"privacy"},  # the promised names, loaded when asked for
}


def test_data_flows_one_way():
    """Every module of the core stands in a room, and imports only from rooms before its own."""
    core = TOP / "fairfl_core"
    for path in sorted(core.rglob("*.py")):
        parts = path.relative_to(core).parts
        room = parts[0].removesuffix(".py")
        assert room in ROOMS, f"{path} stands in no room of house.md"
        for name in imports_of(path):
            parts = name.split(".")
            if parts[0] == "fairfl_core" and len(parts) > 1:
                assert parts[1] in ROOMS[room] | {room}, f"{path} imports {name}"


def test_solving_loads_neither_tensorflow_nor_streamlit():
    code = (
        "import sys; import fairfl_core.cli, fairfl_core.lp.build, fairfl_core.lp.frontier, "
        "fairfl_core.evaluation.evaluation, fairfl_core.privacy.mechanisms, fairfl_core.data.experiments; "
        "print(sorted({'tensorflow', 'keras', 'streamlit', 'plotly', 'opendp', 'flwr'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=TOP
    )
    assert done.stdout.strip() == "[]"


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
        "FairnessProgram",
    ):
        with pytest.warns(
            FutureWarning, match=f"fairfl_core.{name} goes in the next release; use"
        ):
            assert getattr(fairfl_core, name) is not None
        assert name not in dir(fairfl_core)


def test_one_file_imports_highs():
    importers = [
        path.relative_to(TOP).as_posix()
        for path in sources("fairfl_core", "pages")
        if any(name.split(".")[0] == "highspy" for name in imports_of(path))
    ]
    assert importers == ["fairfl_core/lp/highs_model.py"]


def test_flower_is_a_thin_skin():
    """What a federation does is plain Python; only what Flower itself calls imports it."""
    importers = {
        path.name
        for path in sources("fairfl_core", "pages")
        if any(name.split(".")[0] == "flwr" for name in imports_of(path))
    }
    assert importers == {"codec.py", "client_app.py", "server_app.py"}


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


def test_nobody_asks_a_thing_for_its_class():
    """Programs, solutions, predictors and kinds share an interface; only their rooms look behind."""
    for path in sources("fairfl_core", "pages"):
        if path.relative_to(TOP).parts[1] in ("fairness", "lp", "predictors"):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("isinstance", "type"):
                asked = ast.unparse(node.args[-1])
                assert not re.search("Program|Solution|Predictor|Rules|Kind", asked), (
                    f"{path}: {asked}"
                )


def test_the_formatter_is_never_sent_away():
    """What it makes of a line is how the line reads; where that is ugly the line is too clever."""
    for path in sources("fairfl_core", "pages", "tests", "benchmarks"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"# fmt: ?(skip|off)", text), path
