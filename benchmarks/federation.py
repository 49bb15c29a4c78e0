"""A federation against its number of clients: bytes, the server's seconds and memory a round.

The server is the real one: Flower's FedAvg, then the fair rounds. Clients replay messages: each
answers at once with arrays of the shapes that the protocol names, so that what is measured is the
wire and the server, not training (which happens on the clients' own machines, all at once).

    python -m benchmarks.federation    # 3 to 1,000 clients
"""

import argparse
import logging
import os
import resource
import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

os.environ["FLWR_TELEMETRY_ENABLED"] = "0"

import numpy as np
from flwr.app import Message, RecordDict
from flwr.serverapp import Grid
from flwr.supercore.task_identity import TaskIdentity

from benchmarks.compared import Rows
from fairfl_core.federation.question import Question
from fairfl_core.federation.study import Features, Study
from fairfl_core.federation.training_server import run_study
from fairfl_core.federation.wire import ARRAYS, WireMessage, to_records

ROWS, ROUNDS = 500, 3
QUESTION = Question("eo", "simplex", 0.05, 0.1)
STUDY = Study(
    title="replay",
    labels=("no", "yes"),
    favourable="yes",
    groups=("a", "b"),
    clients=("one",),
    features=Features(numbers=tuple(f"x{place}" for place in range(99))),
).trained(model="mlp", rounds=ROUNDS, client_input=False)


def study_of(clients: int) -> Study:
    """The study of so many clients."""
    return replace(STUDY, clients=tuple(f"client {place}" for place in range(clients)))


def size_of(record: RecordDict) -> int:
    """How many bytes a message carries: its arrays, and its words and numbers."""
    arrays = sum(len(one.data) for part in record.array_records.values() for one in part.values())
    words = [value for part in record.config_records.values() for value in part.values()]
    figures = 8 * sum(len(part) for part in record.metric_records.values())
    return arrays + figures + sum(len(one) if isinstance(one, str) else 8 for one in words)


def replayed(study: Study, node: int, kind: str, content: RecordDict) -> RecordDict:
    """What a client with `ROWS` people would send, made up."""
    rng = np.random.default_rng(node)
    header: dict[str, Any] = {"client": study.clients[node]}
    arrays: dict[str, Any] = {}
    table = rng.multinomial(ROWS // 5, np.full(8, 1 / 8)).reshape(2, 2, 2)
    if kind == "train":
        arrays["theta"] = content.array_records[ARRAYS]["theta"].numpy().astype(float) + 0.001
        arrays["num-examples"] = 300
    elif kind == "evaluate":
        arrays |= {"loss": 0.6, "accuracy": 0.7, "num-examples": 100}
    elif kind == "moments":
        arrays["label_rows"] = np.array([[150, 150]])
        arrays["moments"] = np.concatenate([[300.0], np.zeros(99), np.full(99, 300.0)])[None]
    elif kind == "join":
        header |= {"labels": ["no", "yes"], "groups": ["a", "b"], "fit": 100, "new": 100}
        header |= {"folds": 1, "scores": True}
    else:
        arrays["counts"] = table
        if kind == "predictor":
            for who in ("fair", "own"):
                arrays[f"{who}/confusion"] = arrays[f"{who}/squares"] = table.astype(float)
                arrays[f"{who}/turned"] = np.zeros(2)
                arrays[f"{who}/both_right"] = np.einsum("ayy->ay", table).astype(float)
    return to_records(WireMessage(kind, header, arrays))


class ReplayGrid(Grid):
    """Clients that answer at once."""

    def __init__(self, study: Study) -> None:
        self._study, self.bytes, self.asked = study, Counter[str](), Counter[str]()
        self.made = 0.0

    def get_node_ids(self) -> Iterable[int]:
        """All of them."""
        return range(len(self._study.clients))

    def send_and_receive(
        self, messages: Iterable[Message], *, timeout: float | None = None
    ) -> Iterable[Message]:
        """Ask one after the other."""
        replies = []
        for message in messages:
            before = time.process_time()
            kind = message.metadata.message_type.removeprefix("query.fairfl_")
            content = replayed(self._study, message.metadata.dst_node_id, kind, message.content)
            self.bytes[kind] += size_of(message.content) + size_of(content)
            replies.append(Message(content, reply_to=message))
            self.made += time.process_time() - before  # the client's time, not the server's
        self.asked[kind] += 1
        return replies

    run = None
    set_run = create_message = push_messages = pull_messages = None


def measured(clients: int) -> list[str]:
    """One row of the table: a whole run by replay."""
    grid = ReplayGrid(study_of(clients))
    with tempfile.TemporaryDirectory() as folder:
        begun = time.process_time()
        run_study(grid, study_of(clients), QUESTION, Path(folder), say=lambda sentence: None)
        whole = time.process_time() - begun - grid.made
    rounds = grid.bytes["train"] + grid.bytes["evaluate"]
    fair = sum(grid.bytes[kind] for kind in ("join", "counts", "predictor"))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return [
        f"{clients:,}",
        f"{rounds / ROUNDS / clients / 1e3:.1f}",
        f"{rounds / ROUNDS / 1e6:.2f}",
        f"{fair / clients / 1e3:.1f}",
        f"{whole:.1f}",
        f"{memory:.0f}",
    ]


def main() -> None:
    """Print one table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--clients", type=int, nargs="+", default=[3, 30, 100, 300, 1000])
    given = parser.parse_args()
    logging.getLogger("flwr").setLevel(logging.WARNING)
    TaskIdentity.run_id, TaskIdentity.node_id, TaskIdentity.task_id = 1, 0, 1
    head = ("clients", "kB a client and round", "MB a round", "kB a client, fair rounds")
    table = Rows("A federation by replay", *head, "server's seconds, whole run", "server's MB")
    for clients in given.clients:
        table.add(*measured(clients))
    table.show()


if __name__ == "__main__":
    main()
