"""A federation against its number of clients: bytes, the server's seconds and memory a round.

The server is the real one. Clients replay messages: each answers at once with arrays of the shapes
that the protocol names, so that what is measured is the wire and the server, not training (which
happens on the clients' own machines, all at once). Bytes are those of Flower's own records.

    python benchmarks/federation.py                    # K = 3 ... 1,000 by replay
    python benchmarks/federation.py --simulate 3 30    # the same through Flower's simulation engine
"""

import argparse
import resource
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from fairfl_core.federation.codec import parcel_of, record_of  # noqa: E402
from fairfl_core.federation.messages import KINDS, Parcel  # noqa: E402
from fairfl_core.federation.question import Question  # noqa: E402
from fairfl_core.federation.server import Server  # noqa: E402
from fairfl_core.federation.study import Features, Study  # noqa: E402

ROWS, ROUNDS = 500, 3
STUDY = Study(
    title="replay",
    labels=("no", "yes"),
    favourable="yes",
    groups=("a", "b"),
    clients=("one",),
    features=Features(numbers=tuple(f"x{place}" for place in range(99))),
    model="mlp",
    rounds=ROUNDS,
    client_input=False,
)
QUESTION = Question("eo", "simplex", 0.05, 0.1)


def study_of(clients: int) -> Study:
    return replace(STUDY, clients=tuple(f"client {place}" for place in range(clients)))


def replayed(study: Study, place: int, parcel: Parcel) -> Parcel:
    """What a client with `ROWS` people would send, made up."""
    rng = np.random.default_rng(place)
    groups, labels, _ = study.table
    table = rng.multinomial(ROWS // 5, np.full(8, 1 / 8)).reshape(study.table)
    header = {"client": study.clients[place]}
    arrays = {}
    if parcel.kind == "join":
        header |= {"rows": ROWS, "units": ROWS}
    elif parcel.kind == "split":
        counts = rng.multinomial(300, np.full(4, 1 / 4)).reshape(1, groups, labels)
        moments = np.concatenate([np.zeros(99), np.full(99, 300.0)])[None]
        header |= {"fitted_units": 400, "per_row": 1}
        arrays = {"counts": counts, "moments": moments}
    elif parcel.kind in ("turn", "held-out"):
        arrays = {"held_out_counts": table, "held_out_loss": np.array(60.0)}
        if parcel.kind == "turn":
            header["rows"] = 300
            arrays["theta"] = parcel.arrays["state/theta"] + np.float32(0.001)
    elif parcel.kind == "counts":
        arrays = {"counts": table}
    else:
        arrays = {"counts": table}
        for who in ("fair", "own"):
            arrays |= {
                f"{who}/confusion": table.astype(float),
                f"{who}/squares": table.astype(float),
                f"{who}/turned": np.zeros(groups),
                f"{who}/both_right": np.einsum("ayy->ay", table).astype(float),
            }
    assert set(arrays) <= set(KINDS[parcel.kind].shapes(study))
    return Parcel(parcel.kind, header, arrays)


def wire(parcel: Parcel) -> bytes:
    """A message as Flower serialises it."""
    from flwr.common.serde import recorddict_to_proto

    return recorddict_to_proto(record_of(parcel)).SerializeToString()


class ReplayGrid:
    """Clients that answer at once; what travels is written and read as Flower does it."""

    def __init__(self, study: Study) -> None:
        self._study = study
        self.bytes: dict[str, int] = {}
        self.seconds: dict[str, float] = {}

    def nodes(self):
        """All of them."""
        return range(len(self._study.clients))

    def ask(self, parcels, patience):
        """Ask one after the other."""
        begun = time.process_time()
        replies, size = {}, 0
        made = 0.0
        for node, parcel in parcels.items():
            size += len(wire(parcel))
            before = time.process_time()
            reply = replayed(self._study, node, parcel)
            made += time.process_time() - before  # the client's time, not the server's
            size += len(wire(reply))
            replies[node] = parcel_of(record_of(reply))
        kind = next(iter(parcels.values())).kind
        self.bytes[kind] = self.bytes.get(kind, 0) + size
        passed = time.process_time() - begun - made
        self.seconds[kind] = self.seconds.get(kind, 0.0) + passed
        return replies


def measured(clients: int) -> dict[str, float]:
    study = study_of(clients)
    grid = ReplayGrid(study)
    with tempfile.TemporaryDirectory() as folder:
        server = Server(study, QUESTION, grid, Path(folder))
        begun = time.process_time()
        server.run()
        whole = time.process_time() - begun
        log = sum(path.stat().st_size for path in Path(folder).glob("log.*"))
    return {
        "clients": clients,
        "turn": grid.bytes["turn"] / ROUNDS / clients,
        "round": grid.bytes["turn"] / ROUNDS,
        "counts": grid.bytes["counts"] / clients,
        "predictor": grid.bytes["predictor"] / clients,
        "turn_seconds": grid.seconds["turn"] / ROUNDS,
        "whole": whole,
        "log": log,
        "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def simulated(clients: int) -> dict[str, float]:
    """The same through Flower's simulation engine (Ray): its own grid, its own virtual nodes."""
    from flwr.app import Context, Message
    from flwr.clientapp import ClientApp
    from flwr.serverapp import Grid, ServerApp
    from flwr.simulation import run_simulation

    from fairfl_core.federation.server_app import FlowerGrid

    study, found = study_of(clients), {}
    server_app, client_app = ServerApp(), ClientApp()

    @client_app.query()
    @client_app.train()
    @client_app.evaluate()
    def answer(message: Message, context: Context) -> Message:
        place = int(context.node_config["partition-id"])
        reply = replayed(study, place, parcel_of(message.content))
        return Message(record_of(reply), reply_to=message)

    @server_app.main()
    def main(grid: Grid, context: Context) -> None:
        with tempfile.TemporaryDirectory() as folder:
            begun = time.perf_counter()
            exchanges = Server(study, QUESTION, FlowerGrid(grid), Path(folder), patience=600)
            exchanges.run()
            found.update(clients=clients, whole=time.perf_counter() - begun)

    config = {"client_resources": {"num_cpus": 1, "num_gpus": 0.0}}
    run_simulation(server_app, client_app, num_supernodes=clients, backend_config=config)
    return found


def shown(rows: list[dict[str, float]]) -> None:
    table = Table(title=f"{ROUNDS} rounds, MLP of {len_theta():,} parameters, replayed clients")
    for name in (
        "clients",
        "kB a client and round",
        "MB a round",
        "server s a round",
        "bytes of statistics",
        "bytes of predictor",
        "whole run s",
        "log MB",
        "peak MB",
    ):
        table.add_column(name, justify="right")
    for row in rows:
        table.add_row(
            f"{row['clients']:,}",
            f"{row['turn'] / 1e3:.1f}",
            f"{row['round'] / 1e6:.2f}",
            f"{row['turn_seconds']:.3f}",
            f"{row['counts']:,.0f}",
            f"{row['predictor']:,.0f}",
            f"{row['whole']:.1f}",
            f"{row['log'] / 1e6:.2f}",
            f"{row['memory']:.0f}",
        )
    Console(width=130).print(table)


def len_theta() -> int:
    from fairfl_core.training.parameters import size_of

    return size_of(STUDY.shapes)


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--clients", type=int, nargs="*", default=[3, 10, 30, 100, 300, 1000])
    options.add_argument("--simulate", type=int, nargs="*", default=[])
    given = options.parse_args()
    if given.simulate:
        for size in given.simulate:
            row = simulated(size)
            print(
                f"simulation, {size:,} clients: {row['whole']:.1f} s for {ROUNDS} rounds and all"
            )
    else:
        shown([measured(size) for size in given.clients])
