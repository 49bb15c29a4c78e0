"""Flower's skin: messages survive its records, and its grid is asked with patience."""

import socket
import time
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("flwr", reason="a federation needs Flower: pip install flwr==1.41.0")

from flwr.app import ConfigRecord, Context, Error, Message, RecordDict
from flwr.supercore.task_identity import TaskIdentity

from fairfl_core.errors import InputError
from fairfl_core.federation import server_app
from fairfl_core.federation.client_app import answer
from fairfl_core.federation.codec import parcel_of, record_of
from fairfl_core.federation.jobs import Job
from fairfl_core.federation.messages import Parcel
from fairfl_core.federation.processes import Processes
from fairfl_core.federation.roster import Silence
from fairfl_core.federation.server_app import FlowerGrid
from fairfl_core.federation.server_folder import ServerFolder
from fairfl_core.federation.superlink import start_server
from tests.federation.hospitals import QUESTION, STUDY, open_hospitals

PARCEL = Parcel(
    "turn",
    {"client": "Zürich", "rows": 3, "deep": {"a": [1, None, 2.5]}},
    {
        "theta": np.arange(5, dtype=np.float32),
        "held_out_loss": np.array(0.1),
        "counts": np.arange(8).reshape(2, 2, 2)[:, ::-1],
        "nobody": np.zeros((0, 2)),
    },
)


@pytest.fixture
def in_a_task(monkeypatch):
    """What Flower sets in its own processes."""
    for part in ("_run_id", "_node_id", "_task_id"):
        monkeypatch.setattr(TaskIdentity, part, 1)


def test_a_message_survives_flowers_records():
    found = parcel_of(record_of(PARCEL))
    assert (found.kind, found.header) == (PARCEL.kind, PARCEL.header)
    assert list(found.arrays) == list(PARCEL.arrays)
    for name, array in PARCEL.arrays.items():
        assert found.arrays[name].dtype == array.dtype
        assert found.arrays[name].shape == array.shape
        assert np.array_equal(found.arrays[name], array)
    assert found.bytes == PARCEL.bytes


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"kind": "turn", "header": 3}'])
def test_what_is_no_message_of_ours_is_refused(text):
    for record in (RecordDict(), RecordDict({"words": ConfigRecord({"json": text})})):
        with pytest.raises(InputError, match="cannot be read"):
            parcel_of(record)


class Nodes:
    """Flower's grid with four nodes: one answers late, one fails, one babbles, one is silent."""

    def __init__(self):
        self._sent = {}
        self._asked = time.monotonic()

    def get_node_ids(self):
        return [1, 2, 3, 4]

    def push_messages(self, messages):
        self._sent = {f"id {m.metadata.dst_node_id}": m for m in messages}
        return list(self._sent)

    def pull_messages(self, ids):
        late = time.monotonic() - self._asked > 0.3
        for key in ids:
            asked = self._sent[key]
            asked.metadata.__dict__["_message_id"] = key
            if key == "id 1" and late:
                yield Message(record_of(PARCEL), reply_to=asked)
            elif key == "id 2":
                yield Message(Error(code=2, reason="secret words"), reply_to=asked)
            elif key == "id 3":
                yield Message(RecordDict(), reply_to=asked)


def test_late_failing_babbling_and_silent_nodes(in_a_task):
    replies = FlowerGrid(Nodes()).ask(dict.fromkeys((1, 2, 3, 4), PARCEL), 1.0)
    assert replies[1].header == PARCEL.header
    assert replies[2] == Silence("its machine could not be reached, or failed")
    assert replies[3] == Silence("its reply cannot be read")
    assert 4 not in replies


class Hospitals:
    """Flower's grid whose nodes are hospitals: each message goes to the ClientApp of one."""

    def __init__(self, paths):
        self.paths, self.sent, self.calls = dict(enumerate(paths, 5)), [], 0

    def get_node_ids(self):
        return list(self.paths)

    def push_messages(self, messages):
        first = len(self.sent)
        self.sent += messages
        return [str(key) for key in range(first, len(self.sent))]

    def pull_messages(self, ids):
        self.calls += 1
        for key in ids:
            asked = self.sent[int(key)]
            asked.metadata.__dict__["_message_id"] = key
            node = asked.metadata.dst_node_id
            yield answer(asked, context(node, {"folder": str(self.paths[node])}, {}))


def context(node, node_config, run_config):
    return Context(1, node, node_config, RecordDict(), run_config)


def test_the_server_app_does_the_job_that_was_written_down(tmp_path, monkeypatch, in_a_task):
    monkeypatch.setattr(server_app, "_POLL", 0.0)
    study = replace(STUDY, rounds=1)
    study.write(tmp_path)
    nodes = Hospitals(open_hospitals(tmp_path / "at", study, (90, 81, 77)))
    job = Job(tmp_path, tmp_path / "results", QUESTION, patience=30.0)
    server_app.main(nodes, context(1, {}, {"job": str(job.write())}))
    assert job.outcome()["ok"] and job.events()[0].endswith("248 rows.")
    assert {asked.metadata.ttl for asked in nodes.sent} == {
        90.0
    }  # more than the server's patience
    actions = [asked.metadata.message_type for asked in nodes.sent[::3]]
    assert actions == ["query", "query", "train", "evaluate", "query", "evaluate"]
    assert nodes.calls == len(actions)


def test_who_cannot_be_sent_a_message_is_not_waited_for(in_a_task):
    nodes = Hospitals([])
    nodes.push_messages = lambda messages: [None for _ in messages]
    assert FlowerGrid(nodes).ask({5: PARCEL, 6: PARCEL}, 600.0) == {}
    assert nodes.calls == 0 and FlowerGrid(Nodes()).nodes() == [1, 2, 3, 4]


def test_another_programs_port_is_not_taken_for_ours(tmp_path):
    with socket.socket() as other, Processes() as processes:
        other.bind(("127.0.0.1", 0))
        other.listen()
        folder = ServerFolder(tmp_path, f"127.0.0.1:{other.getsockname()[1]}")
        with pytest.raises(InputError, match="is taken by another program"):
            start_server(folder, processes)
