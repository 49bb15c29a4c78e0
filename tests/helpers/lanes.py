"""Which worker runs which file: every other one begins with tests that wait, the rest with work.

So at every moment some wait for a browser or a server while others use the processors meanwhile. A
file stays on one worker, for its tests share what they have prepared, and the browser's files stay
on few, for each worker that opens pages starts a server and a Chromium of its own.
"""

from xdist.scheduler import LoadFileScheduling
from xdist.workermanage import WorkerController

# They wait for a browser, a server or another process more than they work; the longest first.
WAITING = (
    "tests/browser/",
    "tests/federation/test_agreement.py",
    "tests/federation/test_nodes.py",
    "tests/pages/test_gone_means_gone.py",
    "tests/deploy/",
    "tests/chaos/",
    "tests/training/test_train_cli.py",
    "tests/pages/test_same_question.py",
)


def turn(nodeid: str) -> int:
    """The turn of a test: those who wait in the order above, then all others."""
    places = (place for place, start in enumerate(WAITING) if nodeid.startswith(start))
    return next(places, len(WAITING))


class Lanes(LoadFileScheduling):
    """Files to workers, each from its own lane while there is something in it."""

    def _assign_work_unit(self, node: WorkerController) -> None:
        waits = int(node.gateway.id.removeprefix("gw")) % 2 == 0
        lane = (file for file in self.workqueue if file.startswith(WAITING) == waits)
        self.workqueue.move_to_end(next(lane, next(iter(self.workqueue))), last=False)
        super()._assign_work_unit(node)
