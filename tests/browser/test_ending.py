"""A server ends when it is told to, whatever its visitors compute; and their work ends with them."""

import signal
import time

import numpy as np

from fairfl_core.people.counts import ClientCounts
from pages.components.your_data.text import READING
from tests.browser.driving import Visitor
from tests.helpers.serving import Server

SECONDS = 3  # in a row, after the file is read


def long_work(folder):
    """Counts whose solution takes minutes."""
    rng = np.random.default_rng(0)
    clients, groups, labels = 15_000, 3, 3
    share = rng.dirichlet(np.ones(labels**2), (clients, groups))
    table = (share * rng.integers(30, 400, (clients, groups, 1))).astype(int)
    names = [
        tuple(f"{kind}{i}" for i in range(n)) for kind, n in (("c", clients), ("g", 3), ("l", 3))
    ]
    counts = ClientCounts(table.reshape(clients, groups, labels, labels), *names)
    return counts.write(folder / "long.json")


def busy(server):
    """Seconds of work of the server in the last second."""

    def worked():
        with open(f"/proc/{server.process.pid}/stat") as file:
            user, system = file.read().rsplit(")", 1)[1].split()[11:13]
        return (int(user) + int(system)) / 100

    before = worked()
    time.sleep(1)
    return worked() - before


def test_work_ends_with_its_visitor_and_a_server_when_told(browser, tmp_path):
    work = long_work(tmp_path)
    with Server() as server:
        for leaves in (True, False):
            visitor = Visitor(browser, server)
            page = visitor.open("your_data").page
            page.get_by_text("Counts only", exact=True).click()
            visitor.settle()
            page.get_by_test_id("stFileUploaderDropzoneInput").set_input_files(work)
            page.get_by_role("button", name="Take it in and check it").click()
            page.get_by_text(READING).wait_for()
            page.get_by_text(READING).wait_for(state="detached")
            in_a_row, end = 0, time.monotonic() + 90
            while in_a_row < SECONDS and time.monotonic() < end:
                in_a_row = in_a_row + 1 if busy(server) > 0.15 else 0
            assert in_a_row == SECONDS  # it is at work
            if leaves:
                visitor.close()
                end = time.monotonic() + 20  # the budget alone would let it go on for a minute
                while busy(server) > 0.12 and time.monotonic() < end:
                    pass
                assert busy(server) <= 0.12
        server.process.send_signal(signal.SIGTERM)
        server.process.wait(30)  # where the work would take minutes
        visitor.close()
