"""Every code block of the tutorial and the commands runs, in order, in a folder of its own."""

import re
import shlex
import shutil
from pathlib import Path

import pytest

import fairfl_core
from tests.cli.running import run

DOCS = Path(__file__).resolve().parents[2] / "docs"
BLOCK = re.compile(r"^```(sh|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", ["tutorial.md", "commands.md"])
def test_every_block_runs(page, tmp_path, monkeypatch, capsys):
    for name in ("two-clinics.csv", "two-clinics-review.json"):
        shutil.copy(DOCS / "teaching" / name, tmp_path)
    monkeypatch.chdir(tmp_path)
    space: dict = {}
    blocks = BLOCK.findall((DOCS / page).read_text("utf-8"))
    assert len(blocks) >= 7
    for kind, block in blocks:
        if kind == "python":
            exec(block, space)
            continue
        for line in block.splitlines():
            program, *words = shlex.split(line)
            ended = run(*words)
            assert program == "fairfl" and ended.code == 0, (line, ended.err)
    if page == "tutorial.md":
        assert (tmp_path / "fair.csv").read_text().count("\n") == 201
        assert "81.5% before" in capsys.readouterr().out


def test_the_api_page_has_every_promised_name():
    named = re.findall(r"^::: fairfl_core\.(\w+)$", (DOCS / "api.md").read_text(), re.MULTILINE)
    assert sorted(named) == sorted(fairfl_core.__all__)


def test_every_page_is_in_the_navigation():
    listed = (DOCS.parent / "mkdocs.yml").read_text()
    for page in DOCS.rglob("*.md"):
        assert str(page.relative_to(DOCS)) in listed, page
