"""An uploaded file is let go soon after its page was closed, whoever else comes or leaves.

Streamlit alone would keep it for two minutes.
"""

import asyncio
import time

from tests.helpers.protocol import Visitor, metric
from tests.helpers.serving import Server

PATIENCE = 60  # seconds; half of what Streamlit takes


def test_an_uploaded_file_is_gone_soon_after_its_page():
    with Server() as server:
        held = asyncio.run(leave_with_a_file(server.address))
        assert held >= 1_000_000
        end = time.monotonic() + PATIENCE
        while (held := metric(server.address, "UploadedFileManager")) and time.monotonic() < end:
            time.sleep(0.2)
        assert not held


async def leave_with_a_file(address):
    visitor = await Visitor(address).open("your_data", bring="table")
    await visitor.upload("people.csv", b"x" * 1_000_000)
    held = metric(address, "UploadedFileManager")
    await visitor.close()
    return held
