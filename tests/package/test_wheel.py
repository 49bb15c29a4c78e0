"""What is in the wheel: the core, the app with its pages and data, and nothing else."""

import re
import subprocess
import zipfile
from email import message_from_bytes

import pytest

from tests.package.conftest import TOP


@pytest.fixture(scope="module")
def inside(wheel):
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.fixture(scope="module")
def metadata(inside):
    (name,) = (name for name in inside if name.endswith(".dist-info/METADATA"))
    return message_from_bytes(inside[name])


def tracked(*paths):
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *paths],
        cwd=TOP,
        capture_output=True,
        text=True,
    )
    if listed.returncode:
        pytest.skip("not a checkout of git")
    return {name for name in listed.stdout.split("\0") if name and (TOP / name).is_file()}


def test_the_wheel_is_one_for_every_system(wheel):
    assert wheel.name.startswith("fairfl-")
    assert wheel.name.endswith("-py3-none-any.whl")


def test_every_paper_names_its_version(metadata):
    version = metadata["Version"]
    assert f"\nversion: {version}\n" in (TOP / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\n## {version}\n" in (TOP / "CHANGELOG.md").read_text(encoding="utf-8")


def test_it_holds_the_core_and_the_app_letter_by_letter_and_nothing_else(inside):
    """Every file of the repository that belongs there, and no file that does not."""
    core = {name: name for name in tracked("fairfl_core")}
    beside = tracked(
        *("app.py", "pages", "data", "docs/apply_predictor.py", "docs/reproduction.md"),
        *("docs/words.md", ".streamlit"),
    )
    wanted = core | {f"fairfl_core/_app/{name}": name for name in beside}
    packed = {name for name in inside if ".dist-info/" not in name}
    assert packed == set(wanted)
    for name, source in wanted.items():
        assert inside[name] == (TOP / source).read_bytes(), name


def test_it_is_typed_and_says_under_which_terms(inside, metadata):
    assert "fairfl_core/py.typed" in inside
    assert "fairfl_core/_app/pages/shared/style.css" in inside
    licences = {name.rsplit("/", 1)[1] for name in inside if ".dist-info/licenses/" in name}
    assert licences == {"LICENSE", "NOTICE"}
    assert "CC-BY-NC-4.0" in metadata["License-Expression"]


def test_what_a_stranger_need_not_have_is_an_extra(metadata):
    needs = metadata.get_all("Requires-Dist")
    base = {re.match(r"[\w-]+", need)[0] for need in needs if "extra ==" not in need}
    assert base == {
        *("numpy", "scipy", "highspy", "narwhals", "pyarrow", "scikit-learn"),
        *("typer", "rich", "click", "clarabel", "tomli-w"),
    }
    assert set(metadata.get_all("Provides-Extra")) == {
        *("app", "report", "privacy", "train", "federation", "sql", "all", "sign-in", "dev")
    }
    assert metadata["Requires-Python"] == ">=3.11"
