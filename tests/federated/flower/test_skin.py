"""Flower's skin: messages survive its records, and its grid is asked with patience."""

import socket
import time

import numpy as np
import pytest

pytest.importorskip("flwr", reason="a federation needs Flower: pip install flwr==1.41.0")

from flwr.app import ConfigRecord, Error, Message, RecordDict
from flwr.supercore.task_identity import TaskIdentity

from fairfl_core.errors import InputError
from fairfl_core.federated.flower.codec import parcel_of, record_of
from fairfl_core.federated.flower.messages import Parcel
from fairfl_core.federated.flower.processes import Processes
from fairfl_core.federated.flower.roster import Silence
from fairfl_core.federated.flower.server_app import FlowerGrid
from fairfl_core.federated.flower.server_folder import ServerFolder
from fairfl_core.federated.flower.superlink import start_server

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


def test_late_failing_babbling_and_silent_nodes(monkeypatch):
    for part in ("_run_id", "_node_id", "_task_id"):  # Flower sets them in its own processes
        monkeypatch.setattr(TaskIdentity, part, 1)
    replies = FlowerGrid(Nodes()).ask(dict.fromkeys((1, 2, 3, 4), PARCEL), 1.0)
    assert replies[1].header == PARCEL.header
    assert replies[2] == Silence("its machine could not be reached, or failed")
    assert replies[3] == Silence("its reply cannot be read")
    assert 4 not in replies


def test_another_programs_port_is_not_taken_for_ours(tmp_path):
    with socket.socket() as other, Processes() as processes:
        other.bind(("127.0.0.1", 0))
        other.listen()
        folder = ServerFolder(tmp_path, f"127.0.0.1:{other.getsockname()[1]}")
        with pytest.raises(InputError, match="is taken by another program"):
            start_server(folder, processes)
