"""The real messages of one client in the demo run of a federation, as its own log has them.

`fairfl federation demo --messages FILE` writes such a file; the lesson shows the shipped one.
"""

from dataclasses import dataclass
from functools import cache

from fairfl_core._io.files import APP_ROOT, read_json

FILE = APP_ROOT / "data" / "federation" / "messages.json"


@dataclass(frozen=True)
class DemoMessage:
    """One message: which way it went, what it is called, its size, purpose and tables."""

    way: str
    kind: str
    bytes: int
    purpose: str
    tables: str
    note: str


@dataclass(frozen=True)
class DemoLog:
    """What one client sent and received, from joining to the verdict.

    Attributes
    ----------
    study, client : str
        Which run, and whose log.
    rows : int
        How many people's rows this client has; none of them travelled.
    rounds : int
    messages : tuple of DemoMessage
    """

    study: str
    client: str
    rows: int
    rounds: int
    messages: tuple[DemoMessage, ...]

    @property
    def sent(self) -> int:
        """Bytes that left the client."""
        return sum(one.bytes for one in self.messages if one.way == "sent")


@cache
def demo_log() -> DemoLog:
    """The log that ships with the lesson."""
    value = read_json(FILE)
    messages = tuple(
        DemoMessage(
            one["way"],
            one["kind"],
            one["bytes"],
            one["purpose"],
            ", ".join(
                f"{name.replace('_', ' ')} ({' × '.join(map(str, shape)) or 'one number'})"
                for name, shape in one["arrays"].items()
            ),
            one["note"],
        )
        for one in value["messages"]
    )
    return DemoLog(value["study"], value["client"], value["rows"], value["rounds"], messages)
