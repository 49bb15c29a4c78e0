"""Flower's Grid in this process: every node is a ClientApp that answers at once."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from flwr.app import Context, Error, Message, RecordDict
from flwr.clientapp import ClientApp
from flwr.serverapp import Grid
from flwr.supercore.task_identity import TaskIdentity

__all__ = ["LocalGrid", "context_of"]

TaskIdentity.run_id, TaskIdentity.node_id, TaskIdentity.task_id = 1, 0, 1


def context_of(node: int, config: Mapping[str, Any]) -> Context:
    """Flower's context of a node with this configuration."""
    return Context(
        run_id=1, node_id=node, node_config=dict(config), state=RecordDict(), run_config={}
    )


class LocalGrid(Grid):
    """Nodes by number, each with an app and its configuration.

    Attributes
    ----------
    sent, replies : list of Message
        Everything that travelled.
    spoil : callable
        May change a reply on its way, or drop it (None), or make it an error (an exception).
    """

    def __init__(self, nodes: Mapping[int, tuple[ClientApp, Mapping[str, Any]]]) -> None:
        self.apps = {node: app for node, (app, _) in nodes.items()}
        self.contexts = {node: context_of(node, config) for node, (_, config) in nodes.items()}
        self.sent: list[Message] = []
        self.replies: list[Message] = []
        self.spoil: Callable[[Message], Message | None] = lambda reply: reply

    def set_run(self, run: Any) -> None:
        raise NotImplementedError

    @property
    def run(self) -> Any:
        raise NotImplementedError

    def create_message(self, *args: Any, **kwargs: Any) -> Message:
        raise NotImplementedError

    def push_messages(self, messages: Iterable[Message]) -> Iterable[str]:
        raise NotImplementedError

    def pull_messages(self, message_ids: Iterable[str]) -> Iterable[Message]:
        raise NotImplementedError

    def get_node_ids(self) -> Iterable[int]:
        return list(self.apps)

    def send_and_receive(
        self, messages: Iterable[Message], *, timeout: float | None = None
    ) -> Iterable[Message]:
        replies = []
        for message in messages:
            self.sent.append(message)
            node = message.metadata.dst_node_id
            if node not in self.apps:
                replies.append(Message(Error(3, "node unavailable"), reply_to=message))
                continue
            try:
                reply = self.apps[node](message, self.contexts[node])
            except Exception as error:
                reply = Message(Error(0, str(error)), reply_to=message)
            spoilt = self.spoil(reply)
            if spoilt is not None:
                self.replies.append(spoilt)
                replies.append(spoilt)
        return replies
