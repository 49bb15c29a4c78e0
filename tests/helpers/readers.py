"""Processes that read uploads, looked at from outside; and a file that keeps one busy."""

import time
from pathlib import Path

import pytest

LINUX = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="looks into /proc")
LONG = b"[" + b"[[[]]]," * 3_850_000 + b"[]]"  # seconds of work, and nothing of use


def until(holds, patience=600):
    """Wait for a condition; the patience is that of a test that would otherwise never end."""
    end = time.monotonic() + patience
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)


def readers(parent):
    """Readers that a process has started and that live."""
    threads = Path(f"/proc/{parent}/task")
    children = [one for thread in threads.glob("*/children") for one in thread.read_text().split()]
    return [pid for pid in map(int, children) if b"_reader" in command(pid)]


def command(pid):
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""
