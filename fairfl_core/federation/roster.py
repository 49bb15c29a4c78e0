"""Who takes part: nodes by their clients' names, what they are asked, who is left out and why.

Every reply is read with suspicion. A client that is silent, refuses, or sends what cannot be is
left out: the run goes on without it or stops, as the operator chose.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from flwr.app import ArrayRecord, Message
from flwr.serverapp import Grid

from fairfl_core._io.names import check_readable, in_order, shown
from fairfl_core.errors import InputError
from fairfl_core.federation.message_log import MessageLog, entry_of
from fairfl_core.federation.wire import (
    REFUSAL,
    FederationStopped,
    HostileReply,
    WireMessage,
    check_reply,
    from_records,
    to_records,
)

__all__ = ["Lost", "Roster", "read_reply", "wait_for_nodes"]

_POLL = 0.5
Check = Callable[[str, WireMessage], None]


@dataclass(frozen=True)
class Lost:
    """A client that was left out, when and why."""

    client: str
    when: str
    reason: str

    def sentence(self) -> str:
        """One sentence for the operator."""
        return f'Client "{self.client}" is left out ({self.when}): {self.reason}.'


def wait_for_nodes(grid: Grid, least: int, patience: float) -> list[int]:
    """Wait until so many nodes are connected; return those that are there when patience ends."""
    end = time.monotonic() + patience
    while len(nodes := sorted(grid.get_node_ids())) < least and time.monotonic() < end:
        time.sleep(_POLL)
    return nodes


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
    lost, spent
        Who was left out before, and the bytes of each client so far.
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
        lost: Sequence[Lost] = (),
        spent: Mapping[str, int] = MappingProxyType({}),
    ) -> None:
        self.grid, self.log, self.patience = grid, log, patience
        self._expected, self._say = tuple(clients), say
        self.least = min_clients or len(clients)
        self._node: dict[str, int] = {}
        self.lost: list[Lost] = list(lost)
        self.bytes: dict[str, int] = dict(spent)

    @property
    def clients(self) -> tuple[str, ...]:
        """Those who take part, in order."""
        if self._expected:
            return tuple(name for name in self._expected if name in self._node)
        return in_order(list(self._node))

    @property
    def names(self) -> dict[int, str]:
        """The client of each node."""
        return {node: name for name, node in self._node.items()}

    def join(
        self,
        kind: str,
        header: Mapping[str, Any],
        *,
        model: ArrayRecord | None = None,
        lengths: Mapping[str, int] = MappingProxyType({}),
        needs: Iterable[str] = (),
        check: Check = lambda name, reply: None,
    ) -> dict[str, WireMessage]:
        """Ask every node who it is; return the replies that can be believed, by name."""
        nodes = wait_for_nodes(self.grid, max(self.least, len(self._expected), 1), self.patience)
        self.least = self.least or len(nodes)
        self._node, replies = {}, {}
        found = self._exchange(kind, {node: WireMessage(kind, header) for node in nodes}, model)
        silent = False
        for node in nodes:
            name = f"node {node}"
            if self._expected and not isinstance(found.get(node), WireMessage):
                silent = True  # whose node it is shows below: by the name that is missing
                continue
            try:
                name, reply = self._named(found.get(node))
                self._node[name] = node
                replies[name] = self.believed(
                    name, reply, kind, lengths, float("inf"), needs, False, check
                )
            except HostileReply as error:
                self.lose(name, "joining", str(error))
        refused = {one.client for one in self.lost if one.when == "joining"}
        for name in self._expected:
            if name not in self._node and name not in refused:
                reason = "it did not answer" if silent else "it is not there"
                self.lose(name, "joining", reason)
        self.check_enough("joining")
        return replies

    def _named(self, reply: WireMessage | str | None) -> tuple[str, WireMessage]:
        """The name a node goes by: a new one, and one of those expected."""
        if not isinstance(reply, WireMessage):
            raise HostileReply(reply or "it did not answer in time")
        name = str(reply.header.get("client", ""))
        try:
            check_readable([name], "client")
        except InputError as error:
            raise HostileReply("its name cannot be read") from error
        if not name or (self._expected and name not in self._expected):
            raise HostileReply(f'it goes by "{shown(name)}", which is no name of this study')
        if name in self._node:
            raise HostileReply(f'it goes by "{shown(name)}", as another node does')
        return name, reply

    def ask(
        self,
        kind: str,
        make: Callable[[str], Mapping[str, Any]],
        *,
        when: str,
        lengths: Mapping[str, int],
        people: Mapping[str, float],
        needs: Iterable[str] = (),
        noisy: bool = False,
        check: Check = lambda name, reply: None,
    ) -> dict[str, WireMessage]:
        """Ask every client; return the replies that can be believed, by name.

        Parameters
        ----------
        kind : str
            One of `wire.KINDS`.
        make : callable
            The header of one client's message.
        when : str
            Where the run stands, for whoever is left out.
        lengths : mapping of str to int
            How long each axis of the arrays is.
        people : mapping of str to float
            How many people each client may count.
        needs : iterable of str
            Arrays that a reply must have.
        noisy : bool
            Whether counts may be reals.
        check : callable
            Raises `HostileReply` where a reply does not go with what is known of the client.
        """
        names = {self._node[name]: name for name in self.clients}
        asked = {node: WireMessage(kind, make(name)) for node, name in names.items()}
        found = self._exchange(kind, asked, None)
        replies = {}
        for node, name in names.items():
            reply = found.get(node, f"no answer in {self.patience:g} s")
            try:
                if not isinstance(reply, WireMessage):
                    raise HostileReply(reply)
                replies[name] = self.believed(
                    name, reply, kind, lengths, people[name], needs, noisy, check
                )
            except HostileReply as error:
                self.lose(name, when, str(error))
        self.check_enough(when)
        return replies

    def believed(
        self,
        name: str,
        reply: WireMessage,
        kind: str,
        lengths: Mapping[str, int],
        people: float,
        needs: Iterable[str],
        noisy: bool,
        check: Check,
    ) -> WireMessage:
        """Return a reply that can be what the client was asked for; refuse any other."""
        claimed = shown(str(reply.header.get("client", "")))
        if claimed != name:
            raise HostileReply(f'it answered in the name of "{claimed}"')
        if reply.kind == REFUSAL:
            raise HostileReply(f"it takes no part: {shown(str(reply.header.get('public', '')))}")
        check_reply(reply, kind, lengths, people=people, noisy=noisy)
        missing = [array for array in needs if array not in reply.arrays]
        if missing:
            raise HostileReply(f'its reply lacks "{missing[0]}"')
        check(name, reply)
        return reply

    def _exchange(
        self, kind: str, asked: Mapping[int, WireMessage], model: ArrayRecord | None
    ) -> dict[int, WireMessage | str]:
        """Send all messages and read the replies, by node; a text says why one is missing."""
        known = {node: name for name, node in self._node.items()}
        messages = []
        for node, one in asked.items():
            self.log.add(
                entry_of(one, "sent", known.get(node, f"node {node}"), reply=False, note="")
            )
            messages.append(
                Message(
                    to_records(one, model),
                    dst_node_id=node,
                    message_type=f"query.fairfl_{kind}",
                    ttl=self.patience + 60,
                )
            )
        found: dict[int, WireMessage | str] = {}
        for message in self.grid.send_and_receive(messages, timeout=self.patience):
            node = message.metadata.src_node_id
            found[node] = read_reply(message)
            reply = found[node]
            if isinstance(reply, WireMessage):
                name = known.get(node) or shown(str(reply.header.get("client", "")))
                self.log.add(entry_of(reply, "received", name, reply=True))
                more = 0 if model is None else sum(len(one.data) for one in model.values())
                self.account(name, asked[node].bytes + reply.bytes + more)
        return found

    def account(self, name: str, size: int) -> None:
        """Add to the bytes that a client sent and received."""
        self.bytes[name] = self.bytes.get(name, 0) + size

    def missed(self, name: str, when: str, reason: str) -> None:
        """Say that a client missed one round; it is asked again in the next."""
        lost = Lost(name, when, reason)
        if lost not in self.lost:
            self.lost.append(lost)
        self.log.say(lost.sentence())
        self._say(lost.sentence())

    def lose(self, name: str, when: str, reason: str) -> None:
        """Leave a client out, and say so."""
        self._node.pop(name, None)
        self.missed(name, when, reason)

    def check_enough(self, when: str) -> None:
        """Stop the run where too few clients are left."""
        left = len(self.clients)
        if left < max(self.least, 1):
            why = " ".join(lost.sentence() for lost in self.lost)
            many = len(self._expected) or left + len({lost.client for lost in self.lost})
            raise FederationStopped(
                f"Stopped ({when}): {left} of {many} clients are left and at "
                f"least {max(self.least, 1)} were asked for. {why} What was done so far is kept: "
                "run the same command again when they are back, or allow fewer (min_clients, "
                "--min-clients)."
            )


def read_reply(message: Message) -> WireMessage | str:
    """Read a reply, or say why there is none."""
    if message.has_error():
        return "its machine could not be reached, or failed"
    try:
        return from_records(message.content)
    except InputError:
        return "its reply cannot be read"
