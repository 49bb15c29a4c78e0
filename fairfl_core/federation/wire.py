"""Everything that may leave a client: each kind of message, its purpose, the shape of its arrays.

No shape depends on how many people a client has. What is not named here does not leave a client
(`check_leaving`), and is not believed by a server (`check_reply`).
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from flwr.app import Array, ArrayRecord, ConfigRecord, MetricRecord, RecordDict
from numpy.typing import NDArray

from fairfl_core._io.files import LARGEST
from fairfl_core.errors import FairflError, InputError

__all__ = [
    "ARRAYS",
    "FIGURES",
    "KINDS",
    "MODEL",
    "REFUSAL",
    "WORDS",
    "FederationStopped",
    "HostileReply",
    "Kind",
    "Refusal",
    "WireMessage",
    "check_leaving",
    "check_reply",
    "from_records",
    "to_records",
]

REFUSAL = "refusal"
# Flower's records of a message: its words, its arrays, its figures, and the app's own model.
WORDS, ARRAYS, FIGURES, MODEL = "fairfl", "fairfl.arrays", "fairfl.figures", "fairfl.model"
_LARGEST_WEIGHT = 1e6  # no trained model has one; a larger one is an attack or a fault
Arrays = Mapping[str, NDArray[Any]]
Shape = tuple[str, ...]
_TABLE: Shape = ("groups", "labels", "labels")
_AGREED = ("parameters", "quantities", "models")  # lengths that the study fixes, not the people


class Refusal(InputError):
    """Why a client does not answer: the sentence for its own people, and `public` for the server."""

    def __init__(self, sentence: str, public: str) -> None:
        super().__init__(sentence)
        self.public = public


class HostileReply(InputError):
    """A reply that cannot be what the client was asked for; the sentence says how."""


class FederationStopped(FairflError):
    """The run cannot go on; what was done so far is kept."""


@dataclass(frozen=True)
class Kind:
    """A kind of message.

    Attributes
    ----------
    asks, replies : str
        What the server's message is for, and what the client's reply holds, in plain words.
    arrays : mapping of str to tuple of str
        The arrays of a reply; each axis is as long as what it names (groups, labels, ...).
    counts : tuple of str
        Those of the arrays that count people.
    whole : bool
        Whether a reply has all of the arrays.
    """

    asks: str
    replies: str
    arrays: Mapping[str, Shape] = field(default_factory=dict)
    counts: tuple[str, ...] = ()
    whole: bool = True


def _answers() -> dict[str, Shape]:
    shapes: dict[str, Shape] = {"counts": _TABLE}
    for who in ("fair", "own"):
        shapes |= {
            f"{who}/confusion": _TABLE,
            f"{who}/squares": _TABLE,
            f"{who}/turned": ("groups",),
            f"{who}/both_right": ("groups", "labels"),
        }
    return shapes


KINDS: dict[str, Kind] = {
    "join": Kind(
        "asks whether this client takes part in the fair rounds, and brings the app's own model",
        "its name, the names of its labels and groups, and how many people it has to solve on and "
        "how many new ones",
    ),
    "counts": Kind(
        "asks for the table that fairness is solved from",
        "how many people of each group and label the model answers how",
        {"counts": _TABLE},
        ("counts",),
    ),
    "histogram": Kind(
        "asks for a histogram of the model's scores",
        "how many people of each group and label have a score in each bin",
        {"histogram": ("groups", "labels", "bins")},
        ("histogram",),
    ),
    "predictor": Kind(
        "brings this client's own part of the fair predictor, and nobody else's",
        "how many new people of each group and label are answered how by it and by the model, in "
        "expectation, for the verdict",
        _answers(),
        ("counts", "fair/confusion", "own/confusion"),
        whole=False,
    ),
    "moments": Kind(
        "asks whether this client takes part in the training, and shows the fingerprint of the "
        "study agreed on",
        "how many training people of each label it has, and of each quantity the sum and the sum "
        "of squares, so that all clients scale alike",
        {"label_rows": ("models", "labels"), "moments": ("models", "quantities")},
        ("label_rows",),
    ),
    "train": Kind(
        "brings the model, to be trained on this client's people",
        "the model as trained here, and how many rows it was trained on",
        {"theta": ("parameters",), "num-examples": ()},
    ),
    "evaluate": Kind(
        "brings the model of this round, to be judged on people it was not trained on",
        "the mean loss and the share of right answers, and on how many people",
        {"loss": (), "accuracy": (), "num-examples": ()},
    ),
}


# -------------------------------------------------------------------- messages and Flower's records


@dataclass(frozen=True, eq=False)
class WireMessage:
    """One message, to a client or back: a kind, a few words, arrays, and perhaps the app's own model."""

    kind: str
    header: Mapping[str, Any] = field(default_factory=dict)
    arrays: Arrays = field(default_factory=dict)
    model: ArrayRecord | None = None

    @property
    def bytes(self) -> int:
        """The size of its words, its arrays and its model."""
        words = len(json.dumps(dict(self.header), ensure_ascii=False).encode())
        arrays = sum(np.asarray(array).nbytes for array in self.arrays.values())
        return words + arrays + self.model_bytes

    @property
    def model_bytes(self) -> int:
        """The size of the app's own model."""
        return sum(len(array.data) for array in (self.model or {}).values())

    @property
    def words(self) -> str:
        """Its kind and its header, as they travel."""
        whole = {"kind": self.kind, "header": dict(self.header)}
        return json.dumps(whole, ensure_ascii=False)


def to_records(message: WireMessage) -> RecordDict:
    """Write a message as Flower sends it."""
    records: dict[str, Any] = {WORDS: ConfigRecord({"json": message.words})}
    arrays = {name: np.asarray(array, order="C") for name, array in message.arrays.items()}
    if parts := {name: Array(array) for name, array in arrays.items() if array.ndim}:
        records[ARRAYS] = ArrayRecord(parts)
    if figures := {name: array.item() for name, array in arrays.items() if not array.ndim}:
        records[FIGURES] = MetricRecord(figures)
    if message.model is not None:
        records[MODEL] = message.model
    return RecordDict(records)


def from_records(record: RecordDict) -> WireMessage:
    """Read the message that Flower brought; refused where it is none of ours."""
    try:
        words: Any = json.loads(str(record.config_records[WORDS]["json"]))
        sent = record.array_records.get(ARRAYS, ArrayRecord())
        arrays = {name: np.asarray(array.numpy()) for name, array in sent.items()}
        figures = record.metric_records.get(FIGURES, MetricRecord())
        arrays |= {name: np.asarray(value) for name, value in figures.items()}
        if not isinstance(words["header"], dict):
            raise TypeError("no header")
        model = record.array_records.get(MODEL)
        return WireMessage(str(words["kind"]), words["header"], arrays, model)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"a message came that cannot be read ({error}).") from error


# -------------------------------------------------------------------- what leaves, what is believed


def check_leaving(message: WireMessage, lengths: Mapping[str, int], people: int) -> None:
    """Refuse to send what is not listed above, or an array as long as there are people.

    Parameters
    ----------
    message : WireMessage
    lengths : mapping of str to int
        How many groups, labels, bins and so on there are.
    people : int
        How many people the message is about.
    """
    if message.kind == REFUSAL:
        return
    listed = KINDS[message.kind].arrays
    for name, array in message.arrays.items():
        if name not in listed or array.shape != _shape(listed[name], lengths):
            raise InputError(
                f'the array "{name}" is not part of a {message.kind}; nothing was sent.'
            )
        for axis, length in zip(listed[name], array.shape, strict=True):
            if axis not in _AGREED and length >= people:
                raise Refusal(
                    f'the array "{name}" has {length:,} {axis}, and there are {people:,} people: '
                    "it would be a list of people, which never leaves a client; nothing was sent.",
                    "it has too few people",
                )


def check_reply(
    message: WireMessage, kind: str, lengths: Mapping[str, int], *, people: float, noisy: bool
) -> None:
    """Refuse a reply whose arrays are not what was asked: other shapes, no numbers, no counts."""
    if message.kind != kind:
        raise HostileReply(f'it answered "{message.kind[:40]}" where "{kind}" was asked')
    listed = KINDS[kind].arrays
    for name, array in message.arrays.items():
        if name not in listed:
            raise HostileReply(f'it sent an array "{name[:40]}" that nobody asked for')
        if array.dtype.kind not in "fiub" or not np.isfinite(array).all():
            raise HostileReply(f'its array "{name}" holds what is not a finite number')
        if array.shape != (wanted := _shape(listed[name], lengths)):
            raise HostileReply(f'its array "{name}" has the shape {array.shape}, not {wanted}')
    missing = [name for name in listed if name not in message.arrays]
    if missing and KINDS[kind].whole:
        raise HostileReply(f'its reply lacks "{missing[0]}"')
    theta = message.arrays.get("theta")
    if theta is not None and np.abs(theta).max(initial=0) > _LARGEST_WEIGHT:
        raise HostileReply("its model has weights that no training gives")
    for name in KINDS[kind].counts:
        if name in message.arrays:
            rows = message.arrays[name]
            tables = rows if listed[name][0] == "models" else rows[None]
            _check_counts(name, tables, people=people, noisy=noisy)


def _check_counts(name: str, tables: NDArray[Any], *, people: float, noisy: bool) -> None:
    """Counts are not negative, whole unless noisy or expected, and not more than there are."""
    if (tables < -1e-9).any():
        raise HostileReply(f'its "{name}" counts fewer than no people')
    if "/" not in name and not noisy and (tables % 1 != 0).any():
        raise HostileReply(f'its "{name}" are not whole numbers')
    most = LARGEST if noisy else people
    if tables.reshape(len(tables), -1).sum(axis=1).max(initial=0.0) > most + 1e-6:
        raise HostileReply(f'its "{name}" counts more than the {people:,.0f} people it has')


def _shape(axes: Shape, lengths: Mapping[str, int]) -> tuple[int, ...]:
    return tuple(lengths[axis] for axis in axes)
