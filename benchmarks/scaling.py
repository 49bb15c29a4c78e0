"""How cost grows with clients and labels: exponents, a picture, and 20,000 clients in memory.

    python benchmarks/scaling.py             # the table, and benchmarks/scaling.svg

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
PICTURE = Path(__file__).with_name("scaling.svg")
COLOURS = ("#2a6f97", "#c8553d")


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


def panel(left, title, sizes, curves):
    """One log-log panel as SVG: lines, points, and the exponent beside each."""
    width, height, top = 300, 220, 60
    low, high = np.log10(min(map(min, curves.values()))), np.log10(max(map(max, curves.values())))
    low, high = np.floor(low), np.ceil(high)
    first, last = np.log10(sizes[0]), np.log10(sizes[-1])

    def at(size, time):
        x = left + width * (np.log10(size) - first) / (last - first)
        return x, top + height * (high - np.log10(time)) / (high - low)

    parts = [f'<text x="{left}" y="36" class="title">{title}</text>']
    for power in range(int(low), int(high) + 1):
        _, y = at(sizes[0], 10.0**power)
        label = f"{10.0**power:g} s" if power >= 0 else f"{1000 * 10.0**power:g} ms"
        parts.append(f'<path d="M{left} {y:.1f}h{width}" class="grid"/>')
        parts.append(f'<text x="{left - 6}" y="{y + 4:.1f}" class="end">{label}</text>')
    for size in sizes:
        x, _ = at(size, 1.0)
        parts.append(f'<text x="{x:.1f}" y="{top + height + 18}" class="mid">{size:,}</text>')
    for (name, times), colour in zip(curves.items(), COLOURS, strict=True):
        points = [at(size, value) for size, value in zip(sizes, times, strict=True)]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(f'<polyline points="{line}" stroke="{colour}" class="line"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in points]
        x, y = points[-1]
        line = f"{name}: exponent {exponent(sizes, times):.2f}"
        parts.append(
            f'<text x="{x:.1f}" y="{y - 8:.1f}" class="end" fill="{colour}">{line}</text>'
        )
    return "\n".join(parts)


def drawn(clients, labels):
    style = (
        "text{font:12px sans-serif;fill:#444}.title{font-weight:600;font-size:13px;fill:#222}"
        ".end{text-anchor:end}.mid{text-anchor:middle}.grid{stroke:#ddd}"
        ".line{fill:none;stroke-width:2}"
    )
    panels = panel(70, "CPU seconds by clients (2 labels)", CLIENTS, clients) + panel(
        470, "CPU seconds by labels (50 clients)", LABELS, labels
    )
    PICTURE.write_text(
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 800 310" role="img">'
        "<title>How the cost of a solve and of a map grows with clients and with labels</title>"
        f'<style>{style}</style><rect width="800" height="310" fill="#fff"/>\n{panels}\n</svg>\n'
    )


def main():
    clients = grown(CLIENTS, lambda size: biased(size, 2, rows=400))
    labels = grown(LABELS, lambda size: biased(50, size))
    for name, sizes, curves in (("clients", CLIENTS, clients), ("labels", LABELS, labels)):
        for what, times in curves.items():
            print(f"{what} grows with {name} to the power {exponent(sizes, times):.2f}")
    drawn(clients, labels)
    twenty_thousand()


if __name__ == "__main__":
    main()
