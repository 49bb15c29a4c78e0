"""What a visitor brought is gone once their session has ended, by Streamlit's own clock.

Streamlit looks for sessions past `server.disconnectedSessionTTL` when somebody comes or goes.
"""

import asyncio
import time

from tests.helpers.protocol import Visitor, metric
from tests.helpers.serving import Server

PATIENCE = 120  # seconds, on a machine that is busy


def test_an_uploaded_file_is_gone_when_its_session_has_ended():
    with Server("", "--server.disconnectedSessionTTL=1") as server:
        assert asyncio.run(leave_with_a_file(server.address)) >= 1_000_000
        end = time.monotonic() + PATIENCE
        while metric(server.address, "UploadedFileManager") and time.monotonic() < end:
            asyncio.run(come_and_go(server.address))
            time.sleep(0.5)
        assert not metric(server.address, "UploadedFileManager")


async def leave_with_a_file(address):
    visitor = await Visitor(address).open("your_data", bring="table")
    await visitor.upload("people.csv", b"x" * 1_000_000)
    held = metric(address, "UploadedFileManager")
    await visitor.close()
    return held


async def come_and_go(address):
    visitor = await Visitor(address).open("your_data")
    await visitor.close()
