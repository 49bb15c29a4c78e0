"""One list of needs (pyproject.toml) and one of exact versions (requirements*.txt): they agree."""

import re
import tomllib

import pytest
from packaging.requirements import Requirement

from tests.package.conftest import TOP

PROJECT = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def pinned(name):
    lines = (TOP / name).read_text(encoding="utf-8").splitlines()
    found = [Requirement(line) for line in lines if re.match(r"\w", line)]
    for requirement in found:
        assert re.fullmatch(r"==[\d.]+", str(requirement.specifier)), requirement
    return {one.name: next(iter(one.specifier)).version for one in found}


EXTRAS = ("app", "report", "privacy", "train", "federation")
EXACT = pinned("requirements.txt")
TOOLS = pinned("requirements-dev.txt")


def test_all_that_the_owner_named_is_there_in_an_exact_version():
    named = {"streamlit", "plotly", "numpy", "scipy", "pandas"}
    assert named <= set(EXACT)
    assert {"tensorflow", "tensorflow-cpu"} & set(EXACT)


@pytest.mark.parametrize(
    ("needs", "versions"),
    [
        (PROJECT["dependencies"], EXACT),
        *((PROJECT["optional-dependencies"][extra], EXACT) for extra in EXTRAS),
        (PROJECT["optional-dependencies"]["dev"], TOOLS),
    ],
    ids=["base", *EXTRAS, "dev"],
)
def test_every_need_has_an_exact_version_that_fulfils_it(needs, versions):
    for need in map(Requirement, needs):
        assert need.name in versions, f"{need.name} has no exact version in requirements*.txt"
        assert versions[need.name] in need.specifier, need


def test_no_version_of_a_tool_is_without_use():
    assert set(TOOLS) == {
        Requirement(need).name for need in PROJECT["optional-dependencies"]["dev"]
    }
