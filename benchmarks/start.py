"""How soon something happens: a command on counts, and the first page of a server that just started.

Processor time of whole processes, each beside its yardstick in the same run (the least of
several): `fairfl solve` beside `import numpy, highspy`; the dashboard, until its first page is
whole, beside a Streamlit page with one slider and one chart. No browser takes part: a visitor
speaks Streamlit's own protocol.
"""

import argparse
import asyncio
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from fairfl_core.people import experiments  # noqa: E402
from tests.helpers.protocol import Visitor  # noqa: E402
from tests.helpers.serving import Server  # noqa: E402

ONE_CHART = "benchmarks/pages/one_chart.py"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=5)
    times = parser.parse_args().times
    table = Table(title="starting, processor seconds")
    for column in ("what", "yardstick", "ours", "ratio", "wanted"):
        table.add_column(column, justify="left" if column == "what" else "right")
    row(table, "`solve` on counts beside numpy and highspy", *commands(times), 4.0)
    for what, link in (
        ("server to first whole page, as it starts", {}),
        ("the same, 50 states, simplex, all runs", STATES | {"region": "simplex"}),
        ("the same, 50 states, exact, all runs", STATES | {"region": "exact"}),
    ):
        row(table, what, *pages(max(times // 2, 1), link), 2.5)
    Console(width=110).print(table)


STATES = {"experiment": "public_coverage"}


def row(table: Table, what: str, yardstick: float, ours: float, wanted: float) -> None:
    ratio = ours / yardstick
    missed = "" if ratio <= wanted else " missed"
    table.add_row(what, f"{yardstick:.2f}", f"{ours:.2f}", f"{ratio:.1f}{missed}", f"{wanted:g}")


def commands(times: int) -> tuple[float, float]:
    """Both commands in turn, so that they meet the same machine."""
    with tempfile.TemporaryDirectory() as folder:
        counts = Path(folder) / "counts.json"
        experiments.open("adult").counts(0, "validation").write(counts)
        yardstick = [sys.executable, "-c", "import numpy, highspy"]
        ours = [sys.executable, "-m", "fairfl_core", "solve", str(counts), "--json"]
        took = [(spent(yardstick), spent(ours)) for _ in range(times)]
    return min(one for one, _ in took), min(other for _, other in took)


def spent(command: list[str]) -> float:
    """Processor seconds of a command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def pages(times: int, link: dict[str, str]) -> tuple[float, float]:
    """The yardstick's page and ours, in turn."""
    took = [(first_page(ONE_CHART, {}), first_page("app.py", link)) for _ in range(times)]
    return min(one for one, _ in took), min(other for _, other in took)


def first_page(script: str, link: dict[str, str]) -> float:
    """Processor seconds of a server from its start until its first page is whole."""
    with Server(script) as server:
        asyncio.run(visit(server.address, link))
        return server.processor_seconds


async def visit(address: str, link: dict[str, str]) -> None:
    visitor = await Visitor(address).open(**link)
    await visitor.close()


if __name__ == "__main__":
    main()
