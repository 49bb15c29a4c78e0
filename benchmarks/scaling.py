"""How cost grows with clients and labels: exponents, and 20,000 clients in memory.

Equalized odds on the `biased` network. A solve is cold: from counts to a solution. CPU seconds of
one process; an exponent is the slope of log time over log size.
"""

import os
import resource
import sys
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.solve import AT, seconds, whole_map, written  # noqa: E402
from fairfl_core.lp.program import FairnessProgram  # noqa: E402
from tests.helpers.strategies import biased  # noqa: E402

CLIENTS = (50, 200, 1000, 5000, 20000)
LABELS = (2, 3, 5, 7, 10)


def grown(sizes, make, times=1):
    """Seconds of a cold solve and of a map at every size."""
    solve, whole = [], []
    for size in sizes:
        counts = make(size)
        solve.append(seconds(lambda c=counts: FairnessProgram(c, "eo").solve(*AT), 3)[0])
        whole.append(seconds(lambda c=counts: whole_map(c), times)[0])
        print(
            f"{size:>7,}  solve {written(solve[-1]):>8}  map {written(whole[-1]):>8}", flush=True
        )
    return {"solve": solve, "map": whole}


def exponent(sizes, times):
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])


def twenty_thousand():
    """Every notion of two labels on both regions: a solve and a map, and the memory of it all."""
    counts = biased(20_000, 2, rows=400)
    for region in ("simplex", "kernel"):
        for notion in ("sp", "eop", "eo", "eo-full"):
            if (notion, region) == ("eo-full", "simplex"):
                continue
            cold, _ = seconds(lambda n=notion, r=region: FairnessProgram(counts, n, r).solve(*AT))
            whole, _ = seconds(lambda n=notion, r=region: whole_map(counts, n, r))
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
            row = f"{region:>8} {notion:>8}  solve {written(cold):>8}  map {written(whole):>8}"
            print(f"{row}  peak so far {peak:.2f} GB", flush=True)


def main():
    clients = grown(CLIENTS, lambda size: biased(size, 2, rows=400))
    labels = grown(LABELS, lambda size: biased(50, size))
    for name, sizes, curves in (("clients", CLIENTS, clients), ("labels", LABELS, labels)):
        for what, times in curves.items():
            print(f"{what} grows with {name} to the power {exponent(sizes, times):.2f}")
    twenty_thousand()


if __name__ == "__main__":
    main()
