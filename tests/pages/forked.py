"""One nursery's life: a page is opened once or not at all, then by two workers who may compute nothing.

    python -m tests.pages.forked warm|cold

Says what each worker showed. A process of its own, for forks of a process full of tests are none
of the app's.
"""

import logging
import os
import sys

from pages.components.session.nursery import open_page
from pages.components.shared import results

from fairfl_core.errors import SolveError

LINK = {"experiment": "adult", "split": "paper", "region": "simplex", "seed": "0"}


def refuse(*_, **__):
    raise SolveError("it is computed again.")


def headline():
    app = open_page("explore", **LINK)
    (said,) = [one.value for one in app.markdown if one.value.startswith("#### ")] or [""]
    return said


def worker():
    results.run_study = results.build_program = refuse
    print(headline() or "nothing", flush=True)
    os._exit(0)


if __name__ == "__main__":
    logging.disable(logging.WARNING)
    if sys.argv[1] == "warm":
        print(headline(), flush=True)
    for _ in range(2):
        pid = os.fork()
        if not pid:
            worker()
        os.waitpid(pid, 0)
