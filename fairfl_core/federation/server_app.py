"""The ServerApp: Flower's thin skin around `server.Server`.

What is to be done stands in the job file that `fairfl federation run` wrote, and what came of it
goes beside it: events line by line, the outcome at the end.
"""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from flwr.app import Context, Message
from flwr.serverapp import Grid as FlowerNodes
from flwr.serverapp import ServerApp

from fairfl_core.errors import InputError
from fairfl_core.federation.codec import parcel_of, record_of
from fairfl_core.federation.jobs import Job
from fairfl_core.federation.messages import KINDS, Parcel
from fairfl_core.federation.roster import Silence

__all__ = ["FlowerGrid", "app"]

app = ServerApp()
_POLL = 0.2


class FlowerGrid:
    """Flower's nodes as `roster.Grid` asks them."""

    def __init__(self, nodes: FlowerNodes) -> None:
        self._nodes = nodes

    def nodes(self) -> Sequence[int]:
        """The nodes that are connected."""
        return list(self._nodes.get_node_ids())

    def ask(self, parcels: Mapping[int, Parcel], patience: float) -> dict[int, Parcel | Silence]:
        """Send all messages, then pull until every reply is there or patience ends."""
        messages = [
            Message(
                record_of(parcel),
                dst_node_id=node,
                message_type=KINDS[parcel.kind].action,
                ttl=patience + 60,
            )
            for node, parcel in parcels.items()
        ]
        sent = list(self._nodes.push_messages(messages))
        waiting = {key: node for key, node in zip(sent, parcels, strict=True) if key}
        replies: dict[int, Parcel | Silence] = {}
        end = time.monotonic() + patience
        while waiting and time.monotonic() < end:
            for message in self._nodes.pull_messages(list(waiting)):
                node = waiting.pop(message.metadata.reply_to_message_id, None)
                if node is not None:
                    replies[node] = _read(message)
            if waiting:
                time.sleep(_POLL)
        return replies


def _read(message: Message) -> Parcel | Silence:
    if message.has_error():
        return Silence("its machine could not be reached, or failed")
    try:
        return parcel_of(message.content)
    except InputError:
        return Silence("its reply cannot be read")


@app.main()
def main(grid: FlowerNodes, context: Context) -> None:
    """Do the job that was written down."""
    Job.read(Path(str(context.run_config["job"]))).run(FlowerGrid(grid))
