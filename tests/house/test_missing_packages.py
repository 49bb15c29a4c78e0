"""The base install works without the extras, and without what Windows lacks."""

import os
import subprocess
import sys

import pytest

from fairfl_core.intake import example_table
from tests.package.conftest import TOP

EXTRAS = "pandas streamlit plotly segno jinja2 markupsafe typst opendp tensorflow keras flwr"
WINDOWS = "fcntl resource"
COLUMNS = "--client hospital --group sex"
LABEL = "--label diagnosis --labels healthy,ill"

HIDE = """
import sys
hidden = set(sys.argv.pop(1).split())
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in hidden:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Finder())
"""


@pytest.fixture
def without(tmp_path):
    """Run Python in a process that cannot find some packages."""
    (tmp_path / "people.csv").write_text(example_table())

    def run(hidden, code, *words):
        return subprocess.run(
            [sys.executable, "-c", HIDE + code, hidden, *words],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(TOP)},
        )

    return run


COMMANDS = """
from fairfl_core.__main__ import main
for line in sys.argv[1:]:
    sys.argv = ["fairfl", *line.split()]
    try:
        main()
    except SystemExit as ended:
        print(line, "ended with", ended.code)
"""


@pytest.fixture
def shell(without):
    """Run commands of ours where no extra is installed, and no system's own module."""
    return lambda *lines: without(f"{EXTRAS} {WINDOWS}", COMMANDS, *lines)


def test_every_promised_name_is_there(without):
    code = "import fairfl_core; print([getattr(fairfl_core, n).__name__ for n in fairfl_core.__all__])"
    done = without(f"{EXTRAS} {WINDOWS}", code)
    assert done.returncode == 0, done.stderr


def test_files_are_written_whole_without_locks(without, tmp_path):
    code = (
        "from fairfl_core._io.files import write_whole; "
        "write_whole('a.txt', 'one'); write_whole('a.txt', 'two')"
    )
    assert without(WINDOWS, code).returncode == 0
    assert (tmp_path / "a.txt").read_text() == "two"
    assert {path.name for path in tmp_path.iterdir()} == {"a.txt", "people.csv"}


def test_counting_solving_judging_and_predicting_need_no_extra(shell, tmp_path):
    lines = (
        f"count people.csv {COLUMNS} {LABEL} --prediction prediction --out counts.json",
        "solve counts.json --notion eop --eps-local 0.1 --out fair.json",
        f"solve people.csv {COLUMNS} {LABEL} --scores score_healthy,score_ill --confidence 0.9",
        "map counts.json --notion eop --epsilons 0.1,1",
        "evaluate fair.json counts.json",
        "evaluate fair.json counts.json --json",
        f"predict fair.json people.csv {COLUMNS} --prediction prediction --row-id patient "
        "--out answers.csv",
    )
    done = shell(*lines)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("ended with 0") == len(lines), done.stderr
    assert len((tmp_path / "answers.csv").read_text().splitlines()) == 2101


def test_a_command_names_the_extra_it_lacks(shell):
    lacking = {
        "app": ("streamlit", "app"),
        "privatize counts.json --epsilon 1 --out noisy.json": ("opendp", "privacy"),
        "federation server nowhere": ("flwr", "federation"),
    }
    count = f"count people.csv {COLUMNS} {LABEL} --prediction prediction --out counts.json"
    done = shell(count, *lacking)
    assert "Traceback" not in done.stderr
    said = " ".join(done.stderr.split())
    for line, (package, extra) in lacking.items():
        assert f"{line} ended with 2" in done.stdout
        assert (
            f'this needs {package}, which is not installed: pip install "fairfl[{extra}]".' in said
        )


def test_a_report_and_a_table_name_their_extras(without):
    code = (
        "from fairfl_core import ClientCounts\n"
        "from fairfl_core.errors import InputError\n"
        "from fairfl_core.report.render import environment\n"
        "counts = ClientCounts([[[[3, 1], [1, 3]], [[2, 1], [1, 2]]]], ('a',), ('f', 'm'), ('n', 'y'))\n"
        "for act in (counts.to_frame, environment):\n"
        "    try: act()\n"
        "    except InputError as error: print(error)\n"
    )
    done = without(EXTRAS, code)
    assert 'pip install "fairfl[app]"' in done.stdout, done.stderr
    assert 'pip install "fairfl[report]"' in done.stdout
