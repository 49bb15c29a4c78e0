"""Files that cannot be written, and runs that end while they write: old files stay whole."""

import os
import signal
import subprocess
import sys

import pytest

from tests.cli.refusing import (
    PRECIOUS,
    check_sentence,
    count_of,
    loaded,
    predict_of,
    refused,
    tree,
)
from tests.cli.running import REPO, run, shell


def writers(files, out):
    return {
        "count": count_of(files, files.rows)[:-1] + (out,),
        "solve": ("solve", files.counts, "--json", "--out", out),
        "predict": predict_of(files, files.rows, "--seed", "1")[:-1] + (out,),
        "privatize": ("privatize", files.counts, "--epsilon", "1", "--seed", "1", "--out", out),
    }


OUT = {
    "a folder that is not there": "no/where.json",
    "a file for a folder": "rows.csv/out.json",
    "a folder": "folder",
    "this folder": ".",
    "the folder above": "folder/..",
    "nothing": "",
    "the root": "/",
    "a name too long": "x" * 300,
    "a system folder": "/proc/out.json",
}


@pytest.mark.parametrize("command", ["count", "solve", "predict", "privatize"])
@pytest.mark.parametrize("out", OUT.values(), ids=OUT)
def test_an_output_that_cannot_be_written(files, command, out, monkeypatch):
    (files / "folder").mkdir()
    monkeypatch.chdir(files.folder)
    refused(files, *writers(files, out)[command], says=[out[:40], "cannot be written"])


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write all")
def test_an_output_in_a_folder_one_may_not_write_to(files):
    folder = files / "closed"
    folder.mkdir()
    (folder / "out.json").write_bytes(PRECIOUS)
    folder.chmod(0o555)
    try:
        for argv in writers(files, folder / "out.json").values():
            refused(files, *argv, says=[folder, "cannot be written"])
    finally:
        folder.chmod(0o755)


def test_an_output_that_is_no_plain_file_is_left_alone(files):
    # Renaming over /dev/null or /dev/stdout would take it away from everybody.
    os.mkfifo(files / "pipe")
    for argv in writers(files, files / "pipe").values():
        refused(files, *argv, says=["pipe", "cannot be written"])


def test_a_name_that_just_fits_can_be_written(files):
    out = files / ("x" * 250 + ".json")
    assert run(*writers(files, out)["solve"]).code == 0
    assert loaded(out)["format"] == "fairfl-predictor/1"


# A file size limit is a disk that fills up in the middle of a write.
FULL = """
import resource, signal, sys
from fairfl_core.cli import main
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100, resource.RLIM_INFINITY))
main()
"""
KILLED = """
import os, signal, sys
from fairfl_core.cli import main
def kill(*_): os.kill(os.getpid(), signal.SIGKILL)
os.{moment} = kill
main()
"""


def python(code, argv):
    words = [sys.executable, "-c", code, *(str(word) for word in argv)]
    return subprocess.run(words, cwd=REPO, capture_output=True, timeout=60)


@pytest.mark.parametrize("command", ["solve", "predict"])
def test_a_disk_that_is_full_leaves_the_old_file_whole(files, command):
    out = files / "out.csv"
    before = tree(files.folder)
    ended = python(FULL, writers(files, out)[command])
    assert (ended.returncode, ended.stdout) == (2, b"")
    check_sentence(ended.stderr.decode(), [out, "cannot be written"])
    assert tree(files.folder) == before


@pytest.mark.parametrize(
    ("command", "moment", "name"),
    [
        ("count", "fsync", "out.json"),
        ("solve", "replace", "out.json"),
        ("predict", "fsync", "out.csv"),
        ("predict", "replace", "out.parquet"),
        ("privatize", "replace", "out.json"),
    ],
)
def test_a_run_killed_while_writing_leaves_the_old_file_whole(files, command, moment, name):
    before = tree(files.folder)
    argv = writers(files, files / name)[command]
    ended = python(KILLED.format(moment=moment), argv)
    assert ended.returncode == -signal.SIGKILL, ended
    after = tree(files.folder)
    assert {path: after.get(path) for path in before} == before
    left = [path for path in after if path not in before]
    assert len(left) == 1 and left[0].name.startswith("."), left
    assert run(*argv).code == 0  # and what is left behind is in nobody's way
    assert (files / name).read_bytes() != PRECIOUS


def test_an_output_is_written_over_an_older_one(files):
    for command, argv in writers(files, files / "out.csv").items():
        (files / "out.csv").write_bytes(PRECIOUS)
        assert run(*argv).code == 0, command
        assert (files / "out.csv").read_bytes() != PRECIOUS
        assert not [path for path in files.folder.iterdir() if path.name.startswith(".")]


# -------------------------------------------------------------------- in a real shell


def test_a_real_process_ends_the_same_way(files):
    ended = shell("solve", files / "nowhere.json", "--json", "--out", files / "out.json")
    assert (ended.returncode, ended.stdout) == (2, b"")
    check_sentence(ended.stderr.decode(), ["nowhere.json", "no such file"])
    assert (files / "out.json").read_bytes() == PRECIOUS


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="only Linux has it")
@pytest.mark.parametrize("more", [("--json",), ()])
def test_a_standard_output_that_is_full(files, more):
    with open("/dev/full", "wb") as full:
        ended = shell(
            "solve", files.counts, *more, capture_output=False, stdout=full, stderr=subprocess.PIPE
        )
    assert ended.returncode == 2
    assert len(ended.stderr.splitlines()) == 1
    assert b"Traceback" not in ended.stderr and b"No space left" in ended.stderr
