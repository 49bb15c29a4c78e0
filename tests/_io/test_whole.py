"""Files written whole: modes, links, and what killed runs leave behind."""

import fcntl
import os
import stat
import subprocess
import sys
import threading

import pytest

from fairfl_core._io.files import read_whole, write_whole
from fairfl_core.errors import InputError

KILLED = """
import os, signal, sys
from fairfl_core._io.files import write_whole
os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL)
write_whole(sys.argv[1], "half")
"""


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("kept", [0o600, 0o640, 0o664, 0o755])
def test_a_file_keeps_its_mode(tmp_path, kept):
    path = tmp_path / "out.json"
    path.write_text("old")
    path.chmod(kept)
    write_whole(path, "new")
    assert (path.read_text(), mode(path)) == ("new", kept)


def test_a_new_file_has_the_mode_of_any_other(tmp_path):
    (tmp_path / "other").write_text("")
    write_whole(tmp_path / "out.json", "new")
    assert mode(tmp_path / "out.json") == mode(tmp_path / "other")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give a file away")
def test_a_file_keeps_its_owner(tmp_path):
    path = tmp_path / "out.json"
    path.write_text("old")
    os.chown(path, 1234, 2345)
    write_whole(path, "new")
    assert (path.stat().st_uid, path.stat().st_gid) == (1234, 2345)


def test_a_path_is_a_text():
    for call in (read_whole, lambda path: write_whole(path, "new")):
        with pytest.raises(InputError, match="the path is of type NoneType"):
            call(None)


def test_what_cannot_be_read_is_said_once_and_without_numbers_of_errors(tmp_path):
    with pytest.raises(InputError) as refused:
        read_whole(tmp_path)
    assert str(refused.value) == f"{tmp_path}: cannot be read (Is a directory); check the path."


def test_a_link_leads_to_the_same_place_afterwards(tmp_path):
    (tmp_path / "far").mkdir()
    target, link, second = tmp_path / "far" / "data.json", tmp_path / "link", tmp_path / "second"
    target.write_text("old")
    link.symlink_to(target)
    second.symlink_to("link")
    write_whole(second, "new")
    assert link.is_symlink() and second.is_symlink() and not target.is_symlink()
    assert target.read_text() == "new"
    assert names(tmp_path) == ["far", "link", "second"] and names(tmp_path / "far") == [
        "data.json"
    ]


def test_a_link_to_nothing_makes_what_it_leads_to(tmp_path):
    (tmp_path / "link").symlink_to("new.json")
    write_whole(tmp_path / "link", "new")
    assert (tmp_path / "new.json").read_text() == "new"
    (tmp_path / "round").symlink_to("round")
    with pytest.raises(InputError, match="round: cannot be written"):
        write_whole(tmp_path / "round", "new")


def test_the_next_run_removes_what_a_killed_one_left(tmp_path):
    path, other = tmp_path / "out.json", tmp_path / "other.json"
    for target in (path, path, other):
        subprocess.run([sys.executable, "-c", KILLED, str(target)], cwd=os.getcwd())
    left = names(tmp_path)
    assert len(left) == 3 and all(name.endswith(".fairfl-tmp") for name in left)
    write_whole(path, "new")
    assert [name for name in names(tmp_path) if not name.startswith(".other.json.")] == [
        "out.json"
    ]
    assert len(names(tmp_path)) == 2  # another file's leavings are not its business
    write_whole(other, "new")
    assert names(tmp_path) == ["other.json", "out.json"]


def test_what_is_being_written_is_left_alone(tmp_path):
    being_written = tmp_path / ".out.json.0123.fairfl-tmp"
    with open(being_written, "wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        write_whole(tmp_path / "out.json", "new")
        assert names(tmp_path) == [being_written.name, "out.json"]
    write_whole(tmp_path / "out.json", "newer")
    assert names(tmp_path) == ["out.json"]


def test_many_writers_of_one_file_leave_one_of_their_contents(tmp_path):
    path = tmp_path / "out.json"
    contents = [str(number) * 10_000 for number in range(8)]

    def write(content):
        for _ in range(5):
            write_whole(path, content)

    writers = [threading.Thread(target=write, args=(content,)) for content in contents]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert path.read_text() in contents and names(tmp_path) == ["out.json"]


def test_no_more_is_read_than_is_asked_for(tmp_path):
    path = tmp_path / "large"
    path.write_bytes(b"x" * 2**21)
    assert len(read_whole(path, 2**21)) == 2**21
    with pytest.raises(InputError, match="larger than 1 MB; count it in parts"):
        read_whole(path, 2**20, "count it in parts")
    with pytest.raises(InputError, match="larger than 3 MB"):
        read_whole("/dev/zero", 3 * 2**20)
