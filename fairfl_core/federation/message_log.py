"""What travelled, in plain words: a file that a data protection officer can read and sign.

Every message is one line of ``log.txt``, and the same as data in ``log.jsonl``.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from fairfl_core._io.names import shown
from fairfl_core.errors import InputError
from fairfl_core.federation.wire import KINDS, REFUSAL, WireMessage

__all__ = ["MessageLog", "read_log"]

Entry = Mapping[str, Any]


class MessageLog:
    """The log of one folder, or of none; lines are added at its end."""

    def __init__(self, folder: Path | None, entries: Sequence[Entry] = ()) -> None:
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self.entries: list[Entry] = list(entries)

    def add(self, message: WireMessage, way: str, whom: str, *, reply: bool) -> None:
        """Write a message down, as data and as a sentence.

        Parameters
        ----------
        message : WireMessage
        way : {"sent", "received"}
            As seen by whoever keeps the log.
        whom : str
            The other side.
        reply : bool
            Whether it is a client's answer.
        """
        entry = {
            "time": _now(),
            "way": way,
            "whom": whom,
            "kind": shown(message.kind),
            "purpose": _purpose(message, reply),
            "bytes": message.bytes,
            "arrays": {name: list(array.shape) for name, array in message.arrays.items()},
            "note": _note(message),
        }
        self.entries.append(entry)
        self._append("log.jsonl", json.dumps(entry, ensure_ascii=False))
        self._append("log.txt", _sentence(entry))

    def say(self, sentence: str) -> None:
        """Write a sentence that is no message."""
        self._append("log.txt", f"{_now()}  {sentence}")

    def _append(self, name: str, line: str) -> None:
        if self._folder is not None:
            with open(self._folder / name, "a", encoding="utf-8") as file:
                file.write(line + "\n")


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S")


def _purpose(message: WireMessage, reply: bool) -> str:
    """What a message is for."""
    if message.kind == REFUSAL:
        return f"takes no part: {shown(str(message.header.get('public', '')))}"
    if message.kind not in KINDS:
        return "is not part of the protocol"
    kind = KINDS[message.kind]
    return kind.replies if reply else kind.asks


def _note(message: WireMessage) -> str:
    """What else there is to know: the round, the privacy budget spent, the app's own model."""
    if message.model is not None:
        return f"With it came the app's own model ({message.model_bytes:,} bytes)."
    if "round" in message.header:
        return f"Round {shown(str(message.header['round']))}."
    return shown(str(message.header.get("spent", "")))


def _sentence(entry: Entry) -> str:
    """One line for a person."""
    to = "to" if entry["way"] == "sent" else "from"
    what = ", ".join(_array(name, shape) for name, shape in entry["arrays"].items())
    carried = f"It carries {what}." if what else "It carries no table."
    purpose, note = entry["purpose"], entry["note"] and f" {entry['note']}"
    return (
        f"{entry['time']}  {entry['way']} {to} {entry['whom']}: {entry['kind']} "
        f"({entry['bytes']:,} bytes). {purpose[:1].upper()}{purpose[1:]}. {carried}{note}"
    )


def _array(name: str, shape: Sequence[int]) -> str:
    size = 1
    for length in shape:
        size *= length
    return f"{name.replace('_', ' ')} ({size:,} number{'s' * (size != 1)})"


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
