"""The real messages of one client in the demo run of a federation, as its own log has them.

`fairfl federation demo --messages FILE` writes such a file; the lesson shows the shipped one.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any

from fairfl_core._io.files import APP_ROOT, read_json

FILE = APP_ROOT / "data" / "federation" / "messages.json"


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
    messages : list of dict
        Each with its `way`, `kind`, `bytes`, `purpose` and `arrays` (the shape of every one).
    """

    study: str
    client: str
    rows: int
    rounds: int
    messages: list[dict[str, Any]]

    @property
    def sent(self) -> int:
        """Bytes that left the client."""
        return sum(one["bytes"] for one in self.messages if one["way"] == "sent")


@cache
def demo_log() -> DemoLog:
    """The log that ships with the lesson."""
    value = read_json(FILE)
    return DemoLog(**{field: value[field] for field in DemoLog.__dataclass_fields__})
