"""What travelled, in plain words: a file that a data protection officer can read and sign.

Every message is one line of ``log.txt``, and the same as data in ``log.jsonl``.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from fairfl_core._io.names import shown
from fairfl_core.errors import InputError
from fairfl_core.federation.wire import KINDS, REFUSAL, WireMessage

__all__ = ["Entry", "MessageLog", "entry_of", "read_log"]


@dataclass(frozen=True)
class Entry:
    """One message as the log tells it.

    Attributes
    ----------
    time : str
        When, in UTC.
    way : {"sent", "received"}
        As seen by whoever keeps the log.
    whom : str
        The other side.
    kind, purpose : str
        The name of the message, and what it is for.
    bytes : int
        The size of what it carries.
    arrays : mapping of str to list of int
        Every array in it, with its shape.
    note : str
        Whatever else there is to know: the round, the privacy budget spent.
    """

    time: str
    way: str
    whom: str
    kind: str
    purpose: str
    bytes: int
    arrays: Mapping[str, Sequence[int]] = field(default_factory=dict)
    note: str = ""

    def sentence(self) -> str:
        """One line for a person."""
        to = "to" if self.way == "sent" else "from"
        what = ", ".join(_array(name, shape) for name, shape in self.arrays.items())
        carried = f"It carries {what}." if what else "It carries no table."
        note = f" {self.note}" if self.note else ""
        return (
            f"{self.time}  {self.way} {to} {self.whom}: {self.kind} ({self.bytes:,} bytes). "
            f"{self.purpose[:1].upper()}{self.purpose[1:]}. {carried}{note}"
        )


def _array(name: str, shape: Sequence[int]) -> str:
    size = 1
    for length in shape:
        size *= length
    return f"{name.replace('_', ' ')} ({size:,} number{'s' * (size != 1)})"


def entry_of(message: WireMessage, way: str, whom: str, *, reply: bool, note: str = "") -> Entry:
    """The entry of a message; `reply` says whether it is a client's answer."""
    if message.kind == REFUSAL:
        purpose = f"takes no part: {shown(str(message.header.get('public', '')))}"
    elif message.kind in KINDS:
        kind = KINDS[message.kind]
        purpose = kind.replies if reply else kind.asks
    else:
        purpose = "is not part of the protocol"
    return Entry(
        datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S"),
        way,
        whom,
        shown(message.kind),
        purpose,
        message.bytes,
        {name: list(array.shape) for name, array in message.arrays.items()},
        note,
    )


class MessageLog:
    """The log of one folder, or of none; entries are added at its end."""

    def __init__(self, folder: Path | None, entries: Sequence[Mapping[str, Any]] = ()) -> None:
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self.entries: list[Mapping[str, Any]] = list(entries)

    def add(self, entry: Entry) -> None:
        """Write an entry down, as data and as a sentence."""
        self.entries.append(asdict(entry))
        for name, line in (
            ("log.jsonl", json.dumps(asdict(entry), ensure_ascii=False)),
            ("log.txt", entry.sentence()),
        ):
            self._append(name, line)

    def say(self, sentence: str) -> None:
        """Write a sentence that is no message."""
        time = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S")
        self._append("log.txt", f"{time}  {sentence}")

    def _append(self, name: str, line: str) -> None:
        if self._folder is not None:
            with open(self._folder / name, "a", encoding="utf-8") as file:
                file.write(line + "\n")


def read_log(folder: Path) -> list[dict[str, Any]]:
    """The entries of a folder's log; a line cut off by a kill is left out."""
    path = folder / "log.jsonl"
    if not path.is_file():
        raise InputError(f"{path}: no such file; nothing has travelled yet.")
    entries = []
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            entries.append(json.loads(line))
        except json.JSONDecodeError:
            continue
    return entries
