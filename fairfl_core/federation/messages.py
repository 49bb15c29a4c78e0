"""Everything that may travel: each kind of message with its purpose and the shapes of its arrays.

No shape depends on how many people a client has. What is not named here does not leave a client
(`check_leaving`), and is not believed by a server (`check_reply`).
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairfl_core._io.json_files import LARGEST
from fairfl_core.errors import InputError
from fairfl_core.federation.study import Study
from fairfl_core.training.parameters import size_of

__all__ = [
    "KINDS",
    "MOST_CORNERS",
    "REFUSAL",
    "HostileReply",
    "Kind",
    "Parcel",
    "arrays_under",
    "check_leaving",
    "check_reply",
    "prefixed",
]

MOST_CORNERS = 4096
LARGEST_WEIGHT = 1e6  # no trained model has one; a larger one is an attack or a fault
REFUSAL = "refusal"
_WHOLE = ("counts", "held_out_counts", "histogram")  # others count in expectation
_TABLES = (*_WHOLE, "fair/confusion", "own/confusion")  # of everybody; others list several
Arrays = Mapping[str, NDArray[Any]]
Shape = tuple[int | None, ...]


@dataclass(frozen=True, eq=False)
class Parcel:
    """One message, to a client or back: a kind, a few words, and arrays."""

    kind: str
    header: Mapping[str, Any] = field(default_factory=dict)
    arrays: Arrays = field(default_factory=dict)

    @property
    def bytes(self) -> int:
        """The size of its arrays and words."""
        import json

        words = len(json.dumps(self.header, ensure_ascii=False).encode())
        return words + sum(np.asarray(array).nbytes for array in self.arrays.values())


class HostileReply(InputError):
    """A reply that cannot be what the client was asked for; the sentence says how."""


@dataclass(frozen=True)
class Kind:
    """A kind of message.

    Attributes
    ----------
    asks, tells : str
        What the server's message is for, and what the client's reply is, in plain words.
    action : {"query", "train", "evaluate"}
        Which of Flower's moments it is.
    shapes : callable
        The arrays of a reply with their shapes, given the study; None in a shape is a length that
        the study does not fix.
    counts : tuple of str
        Those of the arrays that count people.
    """

    asks: str
    tells: str
    action: str
    shapes: Callable[[Study], dict[str, Shape]]
    counts: tuple[str, ...] = ()


def _split(study: Study) -> dict[str, Shape]:
    groups, labels, _ = study.table
    moments = 2 * study.features.moments
    return {"counts": (study.models, groups, labels), "moments": (study.models, moments)}


def _held_out(study: Study) -> dict[str, Shape]:
    return {"held_out_counts": study.table, "held_out_loss": ()}


def _turn(study: Study) -> dict[str, Shape]:
    return {"theta": (size_of(study.shapes),)} | _held_out(study)


def _corners(study: Study) -> dict[str, Shape]:
    _, labels, _ = study.table
    return {
        "group": (None,),
        "weights": (None, labels, labels),
        "b": (None, labels),
        "answers": (None, labels),
        "confusion": (None, labels, labels),
        "kept": (None,),
    }


def _price(study: Study) -> dict[str, Shape]:
    """One rule a group, as the scores price it and as the counts refine it."""
    groups, labels, _ = study.table
    shapes: dict[str, Shape] = {}
    for how in ("plain", "refined"):
        shapes |= {
            f"{how}/weights": (groups, labels, labels),
            f"{how}/b": (groups, labels),
            f"{how}/confusion": (groups, labels, labels),
            f"{how}/kept": (groups,),
        }
    return shapes


def _answers(study: Study) -> dict[str, Shape]:
    groups, labels, _ = study.table
    shapes: dict[str, Shape] = {"counts": study.table}
    for who in ("fair", "own"):
        shapes |= {
            f"{who}/confusion": study.table,
            f"{who}/squares": study.table,
            f"{who}/turned": (groups,),
            f"{who}/both_right": (groups, labels),
        }
    return shapes


KINDS: dict[str, Kind] = {
    "join": Kind(
        "asks whether this client takes part, and shows the fingerprint of the study agreed on",
        "its name, how many rows and how many people it has",
        "query",
        lambda study: {},
    ),
    "split": Kind(
        "says where in the common stream of random numbers this client's split begins",
        "how many training people of each group and label it has, and of each quantity the sum "
        "and the sum of squares, so that all clients scale alike",
        "query",
        _split,
        ("counts",),
    ),
    "turn": Kind(
        "brings the model, to be trained on this client's people",
        "the model as trained here and how many rows it was trained on; of the model it was sent, "
        "how many held-out people of each group and label got which answer, and their summed loss",
        "train",
        _turn,
        ("held_out_counts",),
    ),
    "held-out": Kind(
        "brings the model of the last round, to be judged on people it was not trained on",
        "how many held-out people of each group and label got which answer, and their summed loss",
        "evaluate",
        _held_out,
        ("held_out_counts",),
    ),
    "tables": Kind(
        "brings a model and asks how it does, group by group and label by label",
        "how many people of each group and label got which answer, and their summed losses",
        "query",
        lambda study: {"counts": study.table, "losses": study.table[:2]},
        ("counts",),
    ),
    "counts": Kind(
        "brings the model that was chosen, and asks for the table that fairness is solved from",
        "how many held-out people of each group and label the model answers how",
        "query",
        lambda study: {"counts": study.table},
        ("counts",),
    ),
    "histogram": Kind(
        "brings the model that was chosen, and asks for a histogram of its scores",
        "how many held-out people of each group and label have a score in each bin",
        "query",
        lambda study: {"histogram": (*study.table[:2], None)},
        ("histogram",),
    ),
    "corners": Kind(
        "brings the model that was chosen, and asks for the cuts of the score worth trying",
        "of each such cut: where it lies, and how many held-out people of each label get which "
        "answer there",
        "query",
        lambda study: {"counts": study.table} | _corners(study),
        ("counts", "confusion", "kept"),
    ),
    "price": Kind(
        "says what each answer to each label is worth now, and asks for the one rule that would "
        "help most",
        "that rule for each group, and how many held-out people of each label it answers how",
        "query",
        _price,
        ("plain/confusion", "refined/confusion", "plain/kept", "refined/kept"),
    ),
    "predictor": Kind(
        "brings this client's own part of the fair predictor, and nobody else's",
        "how many test people of each group and label are answered how by it and by the model, "
        "in expectation, for the verdict",
        "evaluate",
        _answers,
        ("counts", "fair/confusion", "own/confusion"),
    ),
}


def prefixed(prefix: str, arrays: Arrays) -> dict[str, NDArray[Any]]:
    """Arrays under a common name, as ``prefix/name``."""
    return {f"{prefix}/{name}": np.asarray(array) for name, array in arrays.items()}


def arrays_under(prefix: str, arrays: Arrays) -> dict[str, NDArray[Any]]:
    """The arrays that stand under a common name."""
    start = f"{prefix}/"
    return {
        name.removeprefix(start): array for name, array in arrays.items() if name.startswith(start)
    }


def check_leaving(parcel: Parcel, study: Study, people: Iterable[int]) -> None:
    """Refuse to send what is not named above, and whatever has a row for each of some people.

    `people` are the numbers of rows that the client has, in all and in each part.
    """
    if parcel.kind == REFUSAL:
        return
    sizes = {size for size in people if size > 1}
    known = KINDS[parcel.kind].shapes(study)
    for name, array in parcel.arrays.items():
        shape = known.get(name)
        if shape is None and not (parcel.kind == "turn" and name.startswith("sent/")):
            raise InputError(
                f'the array "{name}" is not part of a {parcel.kind}; nothing was sent.'
            )
        for axis, length in enumerate(array.shape):
            fixed = shape[axis] if shape is not None and axis < len(shape) else None
            free = fixed is None and length != size_of(study.shapes)
            if free and (length in sizes or length > MOST_CORNERS):
                raise InputError(
                    f'the array "{name}" has as many rows ({length:,}) as there are people; rows '
                    "never leave a client, and nothing was sent."
                )


def check_reply(parcel: Parcel, kind: str, study: Study, *, noisy: bool, rows: int) -> None:
    """Refuse a reply whose arrays are not what was asked: other shapes, no numbers, no counts."""
    if parcel.kind != kind:
        raise HostileReply(f'it answered "{parcel.kind}" where "{kind}" was asked')
    known = KINDS[kind].shapes(study)
    for name, array in parcel.arrays.items():
        if name not in known and not (kind == "turn" and name.startswith("sent/")):
            raise HostileReply(f'it sent an array "{name}" that nobody asked for')
        if array.dtype.kind not in "fiub" or not np.isfinite(array).all():
            raise HostileReply(f'its array "{name}" holds what is not a finite number')
        if name in known and not _fits(array.shape, known[name]):
            raise HostileReply(
                f'its array "{name}" has the shape {array.shape}, not {known[name]}'
            )
    if "theta" in parcel.arrays and np.abs(parcel.arrays["theta"]).max() > LARGEST_WEIGHT:
        raise HostileReply("its model has weights that no training gives")
    for name in KINDS[kind].counts:
        if name in parcel.arrays:
            table = parcel.arrays[name]
            parts = table if kind == "split" or name not in _TABLES else table[None]
            _check_counts(name, parts, noisy=noisy, rows=rows)


def _fits(shape: tuple[int, ...], known: Shape) -> bool:
    return len(shape) == len(known) and all(
        length == wanted or (wanted is None and length <= MOST_CORNERS)
        for length, wanted in zip(shape, known, strict=True)
    )


def _check_counts(name: str, table: NDArray[Any], *, noisy: bool, rows: int) -> None:
    """Counts of people are not negative, and each entry's not more than there are."""
    if (table < -1e-9).any():
        raise HostileReply(f'its "{name}" counts fewer than no people')
    if name in _WHOLE and not noisy and (table % 1 != 0).any():
        raise HostileReply(f'its "{name}" are not whole numbers')
    most = LARGEST if noisy else rows
    if table.reshape(len(table), -1).sum(axis=1).max(initial=0.0) > most + 1e-6:
        raise HostileReply(f'its "{name}" counts more people than the {rows:,} rows it has')
