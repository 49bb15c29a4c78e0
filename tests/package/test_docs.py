"""Every code block of README, the tutorial and the commands runs, in order, in a folder of its own."""

import importlib.util
import re
import shlex
import shutil
import warnings
from pathlib import Path

import pandas as pd
import pytest

import fairfl_core
from tests.cli.running import run, run_research

DOCS = Path(__file__).resolve().parents[2] / "docs"
BLOCK = re.compile(
    r"^(?:<!-- needs: (\w+) -->\n)?```(sh|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL
)


def blocks(page):
    """Every block of a page, the package that it needs, and its language."""
    return BLOCK.findall((DOCS / page).read_text("utf-8"))


def write_rows(folder):
    """The patients that the pages are about, as predictions and as probabilities."""
    for name in ("two-clinics.csv", "two-clinics-review.json"):
        shutil.copy(DOCS / "teaching" / name, folder)
    rows = pd.read_csv(folder / "two-clinics.csv").rename(columns={"prediction": "said"})
    chance = 0.2 + 0.6 * rows["said"].eq("ill")
    rows.assign(p_well=1 - chance, p_ill=chance).to_csv(folder / "rows.csv", index=False)


@pytest.mark.parametrize(
    "page", ["../README.md", "tutorial.md", "commands.md", "how-to.md", "coming-from.md"]
)
def test_every_block_runs(page, tmp_path, monkeypatch, capsys):
    write_rows(tmp_path)
    monkeypatch.chdir(tmp_path)
    space: dict = {}
    assert blocks(page)
    for needs, kind, block in blocks(page):
        if needs and importlib.util.find_spec(needs) is None:
            continue  # a package that is shown beside ours, and not among what we install
        if kind == "python":
            with warnings.catch_warnings():
                if needs:
                    warnings.simplefilter("ignore")  # of packages that are not ours
                exec(block, space)
            continue
        for line in block.splitlines():
            program, _, words = line.partition(" ")
            if line.startswith("python -m research "):
                program, words = "fairfl", line.removeprefix("python -m research ")
                ended = run_research(*shlex.split(words, comments=True))
            else:
                ended = run(*shlex.split(words, comments=True))
            assert program == "fairfl" and ended.code == 0, (line, ended.err)
    if page == "tutorial.md":
        assert "81.5% before" in capsys.readouterr().out
    if page in ("../README.md", "tutorial.md"):
        assert (tmp_path / "fair.csv").read_text().count("\n") == 201


def test_the_api_page_has_every_promised_name():
    named = re.findall(r"^::: fairfl_core\.(\w+)$", (DOCS / "api.md").read_text(), re.MULTILINE)
    assert sorted(named) == sorted(fairfl_core.__all__)


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "benchmarks/README.md"])
def test_every_link_to_a_file_leads_somewhere(page):
    file = DOCS.parent / page
    for name in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", file.read_text("utf-8")):
        assert (file.parent / name).exists(), name


def test_every_page_is_in_the_navigation():
    listed = (DOCS.parent / "mkdocs.yml").read_text()
    for page in DOCS.rglob("*.md"):
        assert str(page.relative_to(DOCS)) in listed, page
