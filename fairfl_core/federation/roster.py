"""Who takes part: nodes by their clients' names, what they are asked, who is left out and why.

Every reply is read with suspicion. A client that is silent, refuses, or sends what cannot be is
left out: the run goes on without it or stops, as the operator chose.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flwr.app import ArrayRecord, Message
from flwr.serverapp import Grid

from fairfl_core._io.names import check_readable, in_order, shown
from fairfl_core.errors import InputError
from fairfl_core.federation.message_log import MessageLog
from fairfl_core.federation.wire import (
    REFUSAL,
    FederationStopped,
    HostileReply,
    WireMessage,
    check_reply,
    from_records,
    to_records,
)

__all__ = ["Expected", "Lost", "Roster"]

_POLL = 0.5
_FAILED = "its machine could not be reached, or failed"


@dataclass(frozen=True)
class Lost:
    """A client that was left out, when and why."""

    client: str
    when: str
    reason: str

    def sentence(self) -> str:
        """One sentence for the operator."""
        return f'Client "{self.client}" is left out ({self.when}): {self.reason}.'


@dataclass(frozen=True)
class Expected:
    """What a client's reply must be.

    Attributes
    ----------
    kind : str
        One of `wire.KINDS`.
    when : str
        Where the run stands, for whoever is left out.
    lengths : mapping of str to int
        How long each axis of the arrays is.
    people : mapping of str to int, optional
        How many people each client may count; any number where it is not known yet.
    noisy : bool
        Whether counts may be reals.
    check : callable
        Raises `HostileReply` where a reply does not go with what is known of the client.
    """

    kind: str
    when: str
    lengths: Mapping[str, int]
    people: Mapping[str, int] | None = None
    noisy: bool = False
    check: Callable[[str, WireMessage], None] = lambda name, reply: None

    def check_reply(self, name: str, reply: WireMessage) -> None:
        """Refuse a reply that cannot be what this client was asked for."""
        claimed = shown(str(reply.header.get("client", "")))
        if claimed != name:
            raise HostileReply(f'it answered in the name of "{claimed}"')
        if reply.kind == REFUSAL:
            raise HostileReply(f"it takes no part: {shown(str(reply.header.get('public', '')))}")
        people = float("inf") if self.people is None else float(self.people[name])
        check_reply(reply, self.kind, self.lengths, people=people, noisy=self.noisy)
        self.check(name, reply)


class Roster:
    """The clients of a run.

    Parameters
    ----------
    grid : Grid
        Flower's.
    log : MessageLog
        The server's.
    clients : sequence of str
        Those expected; empty where anybody may take part.
    min_clients : int
        The run stops when fewer are left; 0 asks for all that are expected, or that were there.
    patience : float
        Seconds that one answer may take, and that missing clients are waited for.
    say : callable
        Gets a sentence whenever a client is left out.

    Attributes
    ----------
    lost : list of Lost
        Who was left out so far.
    bytes : dict of str to int
        What each client sent and received so far.
    """

    def __init__(
        self,
        grid: Grid,
        log: MessageLog,
        *,
        clients: Sequence[str] = (),
        min_clients: int = 0,
        patience: float = 600.0,
        say: Callable[[str], None] = print,
    ) -> None:
        self.grid, self.log, self.patience, self.say = grid, log, patience, say
        self._expected = tuple(clients)
        self.least = min_clients or len(clients)
        self._node: dict[str, int] = {}
        self.lost: list[Lost] = []
        self.bytes: dict[str, int] = {}

    @property
    def clients(self) -> tuple[str, ...]:
        """Those who take part, in order."""
        if self._expected:
            return tuple(name for name in self._expected if name in self._node)
        return in_order(list(self._node))

    # ---------------------------------------------------------------- asking

    def join(
        self, header: Mapping[str, Any], expected: Expected, model: ArrayRecord | None = None
    ) -> dict[str, WireMessage]:
        """Ask every node who it is; return the replies that can be believed, by name.

        All who are expected are waited for the first time; later, who is gone is gone.
        """
        everybody = len(self._expected) if not self._node else 0
        nodes = self.wait_for_nodes(max(self.least, everybody, 1))
        self.least = self.least or len(nodes)
        self._node = {}
        found = self._exchange(dict.fromkeys(nodes, header), expected, model)
        refused = {one.client for one in self.lost if one.when == expected.when}
        for name in self._expected:
            if name not in found and name not in refused:
                there = len(nodes) >= len(self._expected)
                reason = "it did not answer" if there else "it is not there"
                self._lose(name, expected.when, reason)
        self.check_enough(len(found), expected.when)
        return found

    def ask(
        self, header: Callable[[str], Mapping[str, Any]], expected: Expected
    ) -> dict[str, WireMessage]:
        """Ask every client; return the replies that can be believed, by name."""
        asked = {self._node[name]: header(name) for name in self.clients}
        found = self._exchange(asked, expected, None)
        for name in set(self._node) - set(found):
            del self._node[name]
        self.check_enough(len(found), expected.when)
        return found

    def _exchange(
        self,
        headers: Mapping[int, Mapping[str, Any]],
        expected: Expected,
        model: ArrayRecord | None,
    ) -> dict[str, WireMessage]:
        asked = {
            node: WireMessage(expected.kind, header, model=model)
            for node, header in headers.items()
        }
        messages = [
            Message(
                to_records(one),
                dst_node_id=node,
                message_type=f"query.fairfl_{expected.kind}",
                ttl=self.patience + 60,
            )
            for node, one in asked.items()
        ]
        self.log_asked(asked)
        replies = self.grid.send_and_receive(messages, timeout=self.patience)
        found = self.believe(asked, replies, expected)
        return {name: reply for name, (_, reply) in found.items()}

    def log_asked(self, asked: Mapping[int, WireMessage]) -> None:
        """Write down what each node is about to be sent."""
        names = {node: name for name, node in self._node.items()}
        for node, one in asked.items():
            self.log.add(one, "sent", names.get(node, f"node {node}"), reply=False)

    # ---------------------------------------------------------------- believing

    def believe(
        self,
        asked: Mapping[int, WireMessage],
        replies: Iterable[Message],
        expected: Expected,
    ) -> dict[str, tuple[Message, WireMessage]]:
        """Return the replies that can be believed, by name, in the order of the clients.

        Whoever is silent or cannot be believed is said to be left out.
        """
        names = {node: name for name, node in self._node.items()}
        by_name = bool(self._expected) and not names  # joining: who is missing shows by its name
        found: dict[str, tuple[Message, WireMessage]] = {}
        silent, silence = set(asked), f"no answer in {self.patience:g} s"
        for message in replies:
            node = message.metadata.src_node_id
            if node not in silent:  # of a node that is gone the SuperLink itself says so
                silence = _FAILED
                continue
            name = names.get(node, "")
            try:
                reply = _read(message)
                name = name or self._introduced(reply, found)
                self.log.add(reply, "received", name, reply=True)
                size = asked[node].bytes + reply.bytes
                self.bytes[name] = self.bytes.get(name, 0) + size
                expected.check_reply(name, reply)
                found[name], self._node[name] = (message, reply), node
            except HostileReply as error:
                if by_name and message.has_error():
                    continue
                self._lose(name or f"node {node}", expected.when, str(error))
            silent.discard(node)
        for node in () if by_name else sorted(silent):
            self._lose(names.get(node, f"node {node}"), expected.when, silence)
        return {name: found[name] for name in self.clients if name in found}

    def _introduced(self, reply: WireMessage, found: Mapping[str, Any]) -> str:
        """The name a new node goes by: one of those expected, and nobody else's."""
        name = str(reply.header.get("client", ""))
        try:
            check_readable([name], "client")
        except InputError as error:
            raise HostileReply("its name cannot be read") from error
        if not name or (self._expected and name not in self._expected):
            raise HostileReply(f'it goes by "{shown(name)}", which is no name of this study')
        if name in found:
            raise HostileReply(f'it goes by "{shown(name)}", as another node does')
        return name

    # ---------------------------------------------------------------- who is there

    def wait_for_nodes(self, least: int) -> list[int]:
        """Wait until so many nodes are connected; return those there when patience ends."""
        end = time.monotonic() + self.patience
        while len(nodes := sorted(self.grid.get_node_ids())) < least and time.monotonic() < end:
            time.sleep(_POLL)
        return nodes

    def _lose(self, name: str, when: str, reason: str) -> None:
        """Say that a client is left out."""
        lost = Lost(name, when, reason)
        if lost not in self.lost:
            self.lost.append(lost)
        self.log.say(lost.sentence())
        self.say(lost.sentence())

    def check_enough(self, left: int, when: str) -> None:
        """Stop the run where too few clients are left."""
        if left < max(self.least, 1):
            why = " ".join(lost.sentence() for lost in self.lost)
            many = len(self._expected) or left + len({lost.client for lost in self.lost})
            raise FederationStopped(
                f"Stopped ({when}): {left} of {many} clients are left and at "
                f"least {max(self.least, 1)} were asked for. {why} What was done so far is kept: "
                "run the same command again when they are back, or allow fewer (min_clients, "
                "--min-clients)."
            )


def _read(message: Message) -> WireMessage:
    """Read a reply, or say why there is none."""
    if message.has_error():
        raise HostileReply(_FAILED)
    try:
        return from_records(message.content)
    except InputError as error:
        raise HostileReply("its reply cannot be read") from error
