"""A server ends when it is told to, whatever its visitors compute; and their work ends with them.

Both are told in the server's own work, which is the same however slow or busy this machine is.
"""

import resource
import signal
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
from pages.components.your_data.text import ANOTHER_SET

from fairfl_core.people.counts import ClientCounts
from tests.browser.driving import Visitor
from tests.helpers.serving import Server


def long_work(folder):
    """Counts whose page takes some ten seconds of work."""
    rng = np.random.default_rng(0)
    clients, groups, labels = 5_000, 3, 3
    share = rng.dirichlet(np.ones(labels**2), (clients, groups))
    table = (share * rng.integers(30, 400, (clients, groups, 1))).astype(int)
    names = [
        tuple(f"{kind}{i}" for i in range(n)) for kind, n in (("c", clients), ("g", 3), ("l", 3))
    ]
    counts = ClientCounts(table.reshape(clients, groups, labels, labels), *names)
    return counts.write(folder / "long.json")


def busy(server):
    """The share of moments of a second in which a thread of the server has something to do.

    It need not get a processor for it, so other people's work on this machine is not seen.
    """
    moments = []
    for _ in range(20):
        moments.append(any(state == "R" for state in states(server.process.pid)))
        time.sleep(0.05)
    return sum(moments) / len(moments)


def states(pid):
    for stat in Path(f"/proc/{pid}/task").glob("*/stat"):
        with suppress(OSError):  # a thread that has just ended
            yield stat.read_text().rsplit(")", 1)[1].split()[0]


def test_work_ends_with_its_visitor_and_a_server_when_told(browser, tmp_path):
    """Somebody stays, which tells how much work it is; then it is left when a quarter is done."""
    work = long_work(tmp_path)
    with Server() as server:
        somebody = Visitor(browser, server)
        visitor, before = begun(somebody.tab(), work)
        visitor.page.get_by_text(ANOTHER_SET).wait_for()
        part = (server.processor_seconds_with_ended - before) / 4
        visitor.page.close()
        visitor, before = begun(somebody.tab(), work)
        worked = at_work(server, before + part)
        visitor.page.close()
        while busy(server) > 0.2:
            assert server.processor_seconds_with_ended - worked < part
        visitor, before = begun(somebody.tab(), work)
        others = of_ended_processes()
        worked = at_work(server, before + part)
        server.process.send_signal(signal.SIGTERM)
        server.process.wait(60)
        assert of_ended_processes() - others - worked < part
        somebody.close()


def begun(visitor, work):
    """The visitor has asked for the work; and what the server had done until then."""
    page = visitor.open("your_data").page
    page.get_by_text("Counts only", exact=True).click()
    visitor.settle()
    before = visitor.server.processor_seconds_with_ended
    page.get_by_test_id("stFileUploaderDropzoneInput").set_input_files(work)
    page.get_by_role("button", name="Take it in and check it").click()
    return visitor, before


def at_work(server, until):
    """Wait until the server has worked so long, and is still at it."""
    while server.processor_seconds_with_ended < until:
        time.sleep(0.05)
    assert busy(server) > 0.5
    return server.processor_seconds_with_ended


def of_ended_processes():
    """Seconds of work of all processes that were started here and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
