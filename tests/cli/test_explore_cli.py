"""`explore`: one HTML file of counts or rows, judged on new people where there are some."""

import pytest

from fairfl_core.data.counts import ClientCounts
from tests.cli.running import run
from tests.explore.test_file import data_of, two_clinics


@pytest.fixture
def counts(tmp_path):
    path = tmp_path / "counts.json"
    two_clinics().write(path)
    return path


@pytest.fixture(autouse=True)
def few_limits(monkeypatch):
    """Take a coarse grid; tests/browser/test_study_file.py has the whole one."""
    monkeypatch.setattr("fairfl_core.explore.file.LIMITS", (0.0, 0.05, 1.0))


def test_a_file_says_whom_it_was_set_and_judged_on(counts, tmp_path):
    new, out = tmp_path / "new.json", tmp_path / "study.html"
    there = ClientCounts.read(counts)
    ClientCounts(there.table[::-1] + 2, there.clients, there.groups, there.labels, "ill").write(
        new
    )
    more = ("--noun", "clinic", "--title", "Ours", "--eps-global", "0.05", "--out", out)
    ended = run("explore", counts, "--new", new, *more)
    assert ended.code == 0 and str(out) in ended.out.replace("\n", "")
    study = data_of(out.read_text(encoding="utf-8"))
    assert (study["title"], study["noun"]) == ("Ours", "clinic")
    assert dict(study["rests"])["Judged on"] == "new.json"
    assert study["map"]["here"] == [1, 1]
    assert all("new people" in cell["sentence"] for cell in study["cells"])
    judged = {one["name"]: one["n"] for one in study["cells"][0]["gaps"]["clients"]}
    new_counts = ClientCounts.read(new)
    assert judged == dict(zip(new_counts.clients, new_counts.n_client, strict=True))


def test_without_new_people_it_says_so(counts, tmp_path):
    out = tmp_path / "study.html"
    assert run("explore", counts, "--out", out).code == 0
    study = data_of(out.read_text(encoding="utf-8"))
    assert "no new ones" in dict(study["rests"])["Judged on"]
    assert study["cells"][0]["verdict"][1].endswith("not sure yet")


@pytest.mark.parametrize(
    ("argv", "sentence"),
    [
        (("--out", "study.pdf"), "ends in .html"),
        (("--out", "study.html", "--eps-local", "2"), "eps-local"),
    ],
)
def test_bad_input_is_a_sentence(counts, argv, sentence):
    ended = run("explore", counts, *argv)
    assert ended.code == 2 and sentence in ended.err and "Traceback" not in ended.err
