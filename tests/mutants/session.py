"""A pytest session in a forked process: which tests reach which lines, or who catches a mutant.

Forked, because the parent has imported what is slow to import and never changes; with limits on
time and memory, because a changed line may loop or grow for ever.
"""

import builtins
import json
import os
import resource
import signal
import sys
from pathlib import Path

MEMORY = 8 << 30
PROBE = "__reached__"
OPTIONS = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--assert=plain", "--tb=no"]


def fork(tree: Path, tests, plugin, *options: str) -> int:
    """Run tests in a process of its own inside `tree`; what the plugin notes stands beside it."""
    notes = tree.with_suffix(".json")
    notes.unlink(missing_ok=True)
    if pid := os.fork():
        return pid
    try:
        os.chdir(tree)
        os.dup2(os.open(os.devnull, os.O_RDWR), 1)
        os.dup2(1, 2)
        os.environ |= {"CI": "1", "PYTHONPATH": str(tree)}  # CI: the same examples every time
        sys.path[0] = str(tree)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        import pytest

        code = pytest.main([*OPTIONS, *options, *tests], plugins=[plugin])
        notes.write_text(json.dumps(plugin.noted))
        os._exit(code)
    finally:
        os._exit(70)


def allow(seconds: float) -> None:
    """End this process after so much work, or after waiting long even for a busy machine."""
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.setitimer(signal.ITIMER_REAL, 20 * seconds)


def _work() -> float:
    """Seconds of work so far, of this process and of those it has started and seen end."""
    return sum(os.times()[:4])


class Reach:
    """Notes for every test the places (numbers, told by probes) it reaches, and its seconds."""

    def __init__(self):
        self.noted, self.seen = {}, set()
        builtins.__dict__[PROBE] = lambda place: self.seen.add(place)

    def pytest_runtest_logstart(self, nodeid):
        self.seen, self.start = set(), _work()
        self.noted[nodeid] = {"passed": True}

    def pytest_runtest_logreport(self, report):
        self.noted[report.nodeid]["passed"] &= report.passed

    def pytest_runtest_logfinish(self, nodeid):
        self.noted[nodeid] |= {"seconds": _work() - self.start, "places": sorted(self.seen)}


class Catch:
    """Runs tests in the order given, each for several times its seconds; notes who fails."""

    def __init__(self, seconds: dict[str, float]):
        self.seconds, self.order = seconds, list(seconds)
        self.noted = "an import"

    def pytest_sessionstart(self):
        from hypothesis import Phase, settings

        # Hypothesis is to find what fails, not to make it small.
        phases = [Phase.explicit, Phase.generate]
        settings.register_profile("mutants", settings.get_profile("ci"), phases=phases)
        settings.load_profile("mutants")
        allow(60)

    def pytest_collection_modifyitems(self, items):
        items[:] = [item for item in items if item.nodeid in self.seconds]
        items.sort(key=lambda item: self.order.index(item.nodeid))

    def pytest_runtest_logstart(self, nodeid):
        allow(10 + 4 * self.seconds[nodeid])

    def pytest_runtest_logreport(self, report):
        if report.failed:
            self.noted = report.nodeid
