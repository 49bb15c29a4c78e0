"""The process that reads a file, in this one: what it is bound to, what it answers, when it ends."""

import io
import os
import resource
import subprocess
import sys
from types import SimpleNamespace

import pyarrow as pa
import pytest

from fairfl_core.budget import MEGABYTE, Budget, within
from fairfl_core.errors import Abandoned, InputError, OverBudgetError
from fairfl_core.intake import _reader, open_table, refused_by
from fairfl_core.intake import _sandbox as _apart
from fairfl_core.intake._sandbox import AT_ONCE, INSTEAD, MEMORY, REFUSED, apart
from fairfl_core.intake._wire import read_value, write_value
from tests.helpers.readers import LINUX

TABLE = b"client,group\nA,f\nB,m\n"


def written(value):
    stream = io.BytesIO()
    write_value(stream, value)
    return stream.getvalue()


@pytest.fixture
def bound(monkeypatch):
    """What the reader binds itself to; this process stays free."""
    noted = {}
    monkeypatch.setattr(pa, "set_cpu_count", lambda many: noted.update(cores=many))
    monkeypatch.setattr(resource, "setrlimit", lambda what, most: noted.update({what: most}))
    monkeypatch.setattr(os, "nice", lambda step: noted.update(nice=step))
    monkeypatch.setattr(_reader, "_end_with", lambda parent: noted.update(ends_with=parent))
    return noted


def answer_to(monkeypatch, *question):
    out = io.BytesIO()
    monkeypatch.setattr(sys, "argv", ["reader", "7", "300"])
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(written(question))))
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", SimpleNamespace(buffer=out))
        _reader.main()
    out.seek(0)
    return read_value(out)


def test_a_reader_binds_itself_and_answers(monkeypatch, bound):
    kind, table = answer_to(monkeypatch, "open_table", ("people.csv", TABLE), {})
    assert kind == "" and table.columns == open_table("people.csv", TABLE).columns
    assert bound == {
        "cores": 1,
        "nice": 5,
        "ends_with": os.getppid(),
        resource.RLIMIT_CPU: (7, 8),
        resource.RLIMIT_DATA: (600 * 2**20, 600 * 2**20),
    }


def test_a_reader_that_refuses_says_by_which_check(monkeypatch, bound):
    kind, (sentence, check) = answer_to(monkeypatch, "open_table", ("people.csv", b"a,b\n\0"), {})
    assert kind == REFUSED and check.endswith("csv_tables._check_text")
    with pytest.raises(InputError) as refusal:
        open_table("people.csv", b"a,b\n\0")
    assert sentence == str(refusal.value)


def test_a_reader_without_memory_says_so(monkeypatch, bound):
    def endless():
        raise MemoryError

    monkeypatch.setattr(_reader, "functions", lambda: {"endless": endless})
    assert answer_to(monkeypatch, "endless", (), {}) == (MEMORY, None)


def test_a_reader_ends_once_it_has_another_parent(monkeypatch):
    parents, naps, ends = iter([5, 5, 1]), [], []
    monkeypatch.setattr(os, "getppid", lambda: next(parents))
    monkeypatch.setattr(_reader.time, "sleep", naps.append)
    monkeypatch.setattr(os, "_exit", ends.append)
    _reader._end_with(5)
    assert naps == [0.5, 0.5] and ends == [1]


# -------------------------------------------------------------------- whoever asks


def asked(monkeypatch):
    """What a process of its own would be asked."""
    heard = []
    monkeypatch.setattr(
        _apart, "_ask", lambda seconds, megabytes, what: heard.append((seconds, megabytes, what))
    )
    return heard


def open_name(name, data):
    return name


def test_small_files_are_read_here_and_what_unpacks_never_is(monkeypatch):
    heard = asked(monkeypatch)
    assert apart(open_name, "small", bytes(AT_ONCE - 1)) == "small"
    assert AT_ONCE == 512 * 1024 and not heard
    apart(open_name, "large", bytes(AT_ONCE))
    apart(open_name, "packed", b"PAR1")
    apart(open_name, "both", [("one", bytes(AT_ONCE // 2)), ("other", bytes(AT_ONCE // 2))])
    apart(open_name, "opened", data=b"")  # what is named is not looked at
    assert [what[1][0] for _, _, what in heard] == ["large", "packed", "both"]


@pytest.mark.parametrize(
    ("data", "limits"),
    [
        (b"x" * 20 * MEGABYTE, (30, 640)),
        (b"\xef\xbb\xbf \r\n[" + b" " * (20 * MEGABYTE), (30, 1100)),
        (b"{" + b" " * (20 * MEGABYTE), (30, 1100)),
        (b"PAR1" + b" " * (20 * MEGABYTE), (30, 2000)),
    ],
)
def test_what_reading_may_take_grows_with_the_file(monkeypatch, data, limits):
    heard = asked(monkeypatch)
    apart(open_name, "file", data)
    apart(open_name, "files", [b"a,b", data])  # one of them is enough
    assert [(seconds, megabytes) for seconds, megabytes, _ in heard] == [limits] * 2
    assert heard[0][2] == ("open_name", ("file", data), {})


def test_what_is_not_allowed_is_told_with_its_size(monkeypatch):
    asked(monkeypatch)
    refused = pytest.raises(OverBudgetError, match=r"^reading 20 MB needs about 640 MB of memory")
    with within(Budget(megabytes=639)), refused as error:
        apart(open_name, "file", b"x" * 20 * MEGABYTE)
    assert str(error.value).endswith(f"; {INSTEAD}.")
    with within(Budget(megabytes=640)):
        apart(open_name, "file", b"x" * 20 * MEGABYTE)


def test_two_files_are_read_at_a_time_and_whoever_waits_may_leave(monkeypatch):
    def fails(*_):
        raise OverBudgetError("no")

    monkeypatch.setattr(_apart, "_ask", fails)
    for _ in range(3):  # each gives its turn back
        with pytest.raises(OverBudgetError):
            apart(open_name, "packed", b"PAR1")
    monkeypatch.setattr(_apart, "_LOOK", 0.01)
    looks = iter([False, False, False, True])
    try:
        assert [_apart._TURNS.acquire(blocking=False) for _ in range(3)] == [True, True, False]
        with within(Budget(left=lambda: next(looks))), pytest.raises(Abandoned):
            apart(open_name, "packed", b"PAR1")
        assert next(looks, "asked all the time") == "asked all the time"
    finally:
        _apart._TURNS.release(2)


def answering(monkeypatch, script, *words):
    """A script in the reader's place."""
    monkeypatch.setattr(
        _apart,
        "_start",
        lambda *_: subprocess.Popen(
            ["sh", "-c", script, "sh", *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ),
    )


@pytest.mark.parametrize(
    ("script", "kind", "sentence"),
    [
        ("kill -KILL $$", OverBudgetError, "reading this needs more than the 3,000 MB of memory"),
        ("kill -ABRT $$", OverBudgetError, "reading this needs more than the 3,000 MB of memory"),
        ("kill -XCPU $$", OverBudgetError, "reading this takes longer than the 7 seconds of work"),
        ("exit 3", RuntimeError, "the process that read a file ended with 3"),
    ],
)
def test_a_reader_that_ended_without_a_word_is_told(monkeypatch, script, kind, sentence):
    answering(monkeypatch, f"ulimit -c 0; {script}")
    with pytest.raises(kind) as told:
        _apart._ask(7, 3000, ("open_table", (), {}))
    assert str(told.value).startswith(sentence)
    assert kind is RuntimeError or str(told.value).endswith(f"it has here; {INSTEAD}.")


def test_answers_of_a_reader_are_taken_for_what_they_are(monkeypatch, tmp_path):
    def ask(answer):
        (tmp_path / "answer").write_bytes(written(answer))
        answering(monkeypatch, 'cat "$1"; cat > /dev/null', str(tmp_path / "answer"))
        return _apart._ask(7, 3000, ("open_table", (), {}))

    assert ask(("", ("a", 1))) == ("a", 1)
    with pytest.raises(OverBudgetError, match="more than the 3,000 MB"):
        ask((MEMORY, None))
    with pytest.raises(InputError, match="^it is wrong$") as refusal:
        ask((REFUSED, ("it is wrong", "some.check")))
    assert refused_by(refusal.value) == "some.check"


def test_a_reader_finds_us_first_and_uses_one_core(monkeypatch):
    started = {}
    monkeypatch.setenv("PYTHONPATH", "theirs")
    monkeypatch.setattr(
        subprocess, "Popen", lambda words, **more: started.update(words=words, **more)
    )
    _apart._start(7, 300)
    assert started["words"] == [
        sys.executable,
        "-m",
        "fairfl_core.intake._reader",
        "7",
        "300",
    ]
    ours, theirs = started["env"]["PYTHONPATH"].split(os.pathsep)
    assert os.path.isdir(os.path.join(ours, "fairfl_core")) and theirs == "theirs"
    assert {started["env"][f"{name}_NUM_THREADS"] for name in ("OMP", "OPENBLAS")} == {"1"}
    assert started["start_new_session"]  # Ctrl+C is for the server


@LINUX
def test_memory_is_what_the_system_says_a_process_holds():
    with open("/proc/self/status") as file:
        (held,) = [int(line.split()[1]) / 1024 for line in file if line.startswith("VmRSS")]
    assert _apart._used(os.getpid()) == pytest.approx(held, rel=0.2)
    assert _apart._used(2**22 + 1) == 0.0


def test_a_refusal_is_of_the_check_that_was_first():
    def first():
        raise InputError("one")

    def second():
        try:
            first()
        except InputError as error:
            raise InputError("other") from error

    def third():
        try:
            second()
        except InputError as error:
            raise KeyError("of another kind") from error

    with pytest.raises(InputError) as refusal:
        second()
    assert refused_by(refusal.value).endswith(".first")
    with pytest.raises(KeyError) as other:
        third()
    assert refused_by(other.value).endswith(".third")
    assert refused_by(ValueError("never raised")) == "ValueError"
