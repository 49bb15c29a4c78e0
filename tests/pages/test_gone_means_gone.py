"""An uploaded file is let go soon after its page was closed, whoever else comes or leaves."""

import asyncio
import time

from tests.helpers.protocol import Visitor, metric
from tests.helpers.serving import Server

PROMISED = 10.0  # seconds


def test_an_uploaded_file_is_gone_ten_seconds_after_its_page():
    with Server() as server:
        held = asyncio.run(leave_with_a_file(server.address))
        assert held >= 1_000_000
        begun = time.monotonic()
        while metric(server.address, "UploadedFileManager") and time.monotonic() < begun + 30:
            time.sleep(0.2)
        assert time.monotonic() - begun < PROMISED


async def leave_with_a_file(address):
    visitor = await Visitor(address).open("your_data", bring="table")
    await visitor.upload("people.csv", b"x" * 1_000_000)
    held = metric(address, "UploadedFileManager")
    await visitor.close()
    return held
