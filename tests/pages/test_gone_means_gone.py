"""What a visitor brought, and the work on it, are gone soon after their page was closed.

Streamlit alone would keep a file for two minutes.
"""

import asyncio
import os
import signal
from pathlib import Path

import pytest
from pages.components.your_data import text

from tests.helpers.protocol import Visitor, metric
from tests.helpers.readers import LINUX, LONG, readers, until
from tests.helpers.serving import Server

SOON = 10  # seconds: what the page promises; the server's own clock asks for six


@pytest.fixture(scope="module")
def server():
    with Server() as started:
        yield started


@pytest.mark.flaky(reruns=2)  # a promise in seconds, on machines that may be busy
def test_an_uploaded_file_is_gone_soon_after_its_page(server):
    held = asyncio.run(leave_with_a_file(server.address))
    assert held >= 1_000_000
    until(lambda: not metric(server.address, "UploadedFileManager"), SOON)


async def leave_with_a_file(address):
    visitor = await Visitor(address).open("your_data", bring="table")
    await visitor.upload("people.csv", b"x" * 1_000_000)
    held = metric(address, "UploadedFileManager")
    await visitor.close()
    return held


@LINUX
def test_the_reading_of_a_file_ends_when_its_visitor_leaves(server):
    """The reader is stopped meanwhile: it cannot end by itself, only be ended."""
    reader = asyncio.run(leave_while_a_file_is_read(server))
    until(lambda: not Path(f"/proc/{reader}").exists())
    assert server.process.poll() is None


async def leave_while_a_file_is_read(server):
    visitor = await Visitor(server.address).open("your_data", bring="counts")
    await visitor.bring(text.COUNTS_FILES, "long.json", LONG, wait=False)
    await asyncio.to_thread(until, lambda: readers(server.process.pid))
    (reader,) = readers(server.process.pid)
    os.kill(reader, signal.SIGSTOP)
    await asyncio.sleep(0.5)  # while the visitor is here it is waited for
    assert readers(server.process.pid) == [reader]
    await visitor.close()
    return reader
