"""Files that cannot be written: a sentence, and old files stay whole (killed: tests/chaos)."""

import os
import subprocess

import pytest

from tests.cli.refusing import (
    PRECIOUS,
    count_of,
    loaded,
    predict_of,
    refused,
)
from tests.cli.running import run, shell


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


@pytest.mark.parametrize("out", OUT.values(), ids=OUT)
def test_an_output_that_cannot_be_written(files, out, monkeypatch):
    (files / "folder").mkdir()
    monkeypatch.chdir(files.folder)
    refused(files, *writers(files, out)["privatize"], says=[out[:40], "cannot be written"])


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


def test_an_output_is_written_over_an_older_one(files):
    for command, argv in writers(files, files / "out.csv").items():
        (files / "out.csv").write_bytes(PRECIOUS)
        assert run(*argv).code == 0, command
        assert (files / "out.csv").read_bytes() != PRECIOUS
        assert not [path for path in files.folder.iterdir() if path.name.startswith(".")]


# -------------------------------------------------------------------- in a real shell


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="only Linux has it")
def test_a_standard_output_that_is_full(files):
    with open("/dev/full", "wb") as full:
        ended = shell(
            "solve", files.counts, capture_output=False, stdout=full, stderr=subprocess.PIPE
        )
    assert ended.returncode == 2
    assert len(ended.stderr.splitlines()) == 1
    assert b"Traceback" not in ended.stderr and b"No space left" in ended.stderr
