"""Who takes part: clients by name and node, what they are asked, and who is left out and why.

Every reply is read with suspicion. A client that is silent, refuses, or sends what cannot be is
lost: the run goes on without it or stops, as the operator chose.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from fairfl_core._io.names import listed, shown
from fairfl_core.errors import FairflError
from fairfl_core.federation.log import MessageLog, entry_of
from fairfl_core.federation.messages import REFUSAL, HostileReply, Parcel, check_reply
from fairfl_core.federation.study import Study

__all__ = ["ClientsLost", "FederationStopped", "Grid", "Lost", "Roster", "Silence"]


@dataclass(frozen=True)
class Silence:
    """What came instead of a reply, in words."""

    reason: str


class Grid(Protocol):
    """The network as the server meets it: nodes with numbers, and one exchange at a time."""

    def nodes(self) -> Sequence[int]:
        """The nodes that are there now."""
        ...

    def ask(self, parcels: Mapping[int, Parcel], patience: float) -> dict[int, Parcel | Silence]:
        """Send each node its message and wait for the replies, `patience` seconds at most."""
        ...


@dataclass(frozen=True)
class Lost:
    """A client that was left out, when and why."""

    client: str
    when: str
    reason: str

    def sentence(self) -> str:
        """One sentence for the operator."""
        return f'Client "{self.client}" is left out ({self.when}): {self.reason}.'


class FederationStopped(FairflError):
    """The run cannot go on; what was done so far is kept."""


class ClientsLost(Exception):
    """Some clients were lost in an exchange, and enough are left; `replies` are of those."""

    def __init__(self, replies: dict[str, Parcel]) -> None:
        super().__init__()
        self.replies = replies


class Roster:
    """The clients of a run, in the order of the study."""

    def __init__(
        self,
        study: Study,
        grid: Grid,
        log: MessageLog,
        *,
        run: str,
        min_clients: int,
        patience: float,
        on_event: Callable[[str], None],
    ) -> None:
        self.study, self.run = study, run
        self._grid, self._log, self._on_event = grid, log, on_event
        self._least, self._patience = min_clients, patience
        self._node: dict[str, int] = {}
        self.rows: dict[str, int] = {}
        self.units: dict[str, int] = {}
        self.lost: list[Lost] = []
        self.bytes: dict[str, int] = {}

    @property
    def clients(self) -> tuple[str, ...]:
        """Those who take part now."""
        return tuple(name for name in self.study.clients if name in self._node)

    # ---------------------------------------------------------------- who is there

    def wait(self, wanted: int) -> None:
        """Wait until as many nodes are there as are wanted, or patience ends."""
        end, told = time.monotonic() + self._patience, -1
        while (there := len(self._grid.nodes())) < wanted and time.monotonic() < end:
            if there != told:
                self._on_event(f"{there} of {wanted} clients are there; waiting for the others.")
                told = there
            time.sleep(min(0.5, self._patience / 10))

    def join(self, expected: Sequence[str]) -> None:
        """Ask every node who it is; learn which of the `expected` clients take part."""
        self.wait(len(expected))
        asked = {node: self._parcel("join", {}) for node in self._grid.nodes()}
        found = self._grid.ask(asked, self._patience) if asked else {}
        by_name: dict[str, list[tuple[int, Parcel]]] = {}
        for node, reply in found.items():
            if isinstance(reply, Silence):
                self._on_event(f"A node did not join: {reply.reason}.")
                continue
            name = shown(str(reply.header.get("client", "")))
            self._log.add(entry_of(asked[node], "sent", name or "a node", reply=False))
            self._log.add(entry_of(reply, "received", name or "a node", reply=True))
            by_name.setdefault(name, []).append((node, reply))
        for name in by_name.keys() - set(expected):
            self._on_event(f'A node calls itself "{name}", which is no client of this run.')
        for name in expected:
            self._admit(name, by_name.get(name, []))
        self._check_enough("joining")

    def _admit(self, name: str, claims: list[tuple[int, Parcel]]) -> None:
        if not claims:
            self._lose(name, "joining", "it is not there")
        elif len(claims) > 1:
            self._lose(name, "joining", "two nodes call themselves so, and one is not it")
        else:
            node, reply = claims[0]
            self._node[name] = node
            try:
                self._check(name, reply, "join", noisy=False)
                rows, units = reply.header.get("rows"), reply.header.get("units")
                if not _whole(rows, 1) or not _whole(units, 1) or int(str(units)) > int(str(rows)):
                    raise HostileReply("it says it has a number of people that cannot be")
                self.rows[name], self.units[name] = int(str(rows)), int(str(units))
            except HostileReply as error:
                self._lose(name, "joining", str(error))

    # ---------------------------------------------------------------- asking

    def ask(
        self,
        kind: str,
        make: Callable[[str], tuple[dict[str, Any], dict[str, Any]]],
        *,
        when: str,
        needs: Sequence[str] = (),
        noisy: bool = False,
        check: Callable[[str, Parcel], None] = lambda name, reply: None,
    ) -> dict[str, Parcel]:
        """Ask every client; raise `ClientsLost` where some were lost and the others suffice.

        Parameters
        ----------
        kind : str
            One of `messages.KINDS`.
        make : callable
            The header and the arrays of one client's message.
        when : str
            Where the run stands, for the log and for whoever is lost.
        needs : sequence of str
            Arrays that a reply must have.
        noisy : bool
            Whether counts may be reals.
        check : callable
            Raises `HostileReply` where a reply does not go with what is known of the client.
        """
        parcels = {name: self._parcel(kind, *make(name)) for name in self.clients}
        for name, parcel in parcels.items():
            self._log.add(entry_of(parcel, "sent", name, reply=False, note=when))
            self._account(name, parcel)
        found = self._grid.ask(
            {self._node[name]: parcel for name, parcel in parcels.items()}, self._patience
        )
        replies, before = {}, len(self.lost)
        for name in self.clients:
            reply = found.get(self._node[name], Silence(f"no answer in {self._patience:g} s"))
            if isinstance(reply, Silence):
                self._lose(name, when, reply.reason)
                continue
            self._log.add(entry_of(reply, "received", name, reply=True, note=when))
            self._account(name, reply)
            try:
                self._check(name, reply, kind, noisy=noisy)
                missing = [array for array in needs if array not in reply.arrays]
                if missing:
                    raise HostileReply(f'its reply lacks "{missing[0]}"')
                check(name, reply)
                replies[name] = reply
            except HostileReply as error:
                self._lose(name, when, str(error))
        if len(self.lost) > before:
            self._check_enough(when)
            raise ClientsLost(replies)
        return replies

    def _parcel(
        self, kind: str, header: dict[str, Any], arrays: dict[str, Any] | None = None
    ) -> Parcel:
        known = {"study": self.study.fingerprint, "run": self.run}
        return Parcel(kind, known | header, arrays or {})

    def _check(self, name: str, reply: Parcel, kind: str, *, noisy: bool) -> None:
        claimed = shown(str(reply.header.get("client", "")))
        if claimed != name:
            raise HostileReply(f'it answered in the name of "{claimed}"')
        if reply.kind == REFUSAL:
            raise HostileReply(f"it takes no part: {shown(str(reply.header.get('told', '')))}")
        rows = self.rows.get(name, 0)
        check_reply(reply, kind, self.study, noisy=noisy, rows=rows)

    def _account(self, name: str, parcel: Parcel) -> None:
        self.bytes[name] = self.bytes.get(name, 0) + parcel.bytes

    def _lose(self, name: str, when: str, reason: str) -> None:
        lost = Lost(name, when, reason)
        self.lost.append(lost)
        self._node.pop(name, None)
        self._log.say(lost.sentence())
        self._on_event(lost.sentence())

    def _check_enough(self, when: str) -> None:
        left = len(self.clients)
        if left < self._least or not left:
            why = " ".join(lost.sentence() for lost in self.lost)
            raise FederationStopped(
                f"Stopped ({when}): {left} of {len(self.study.clients)} clients are left and at "
                f"least {self._least} were asked for. {why} What was done so far is kept: run the "
                "same command again when they are back, or allow fewer with --min-clients."
            )

    def sentence(self) -> str:
        """Who takes part, for the operator."""
        people = sum(self.rows[name] for name in self.clients)
        return f"{len(self.clients)} clients take part ({listed(self.clients)}), {people:,} rows."


def _whole(value: Any, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value < 2**53
