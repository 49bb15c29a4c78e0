"""Messages as Flower's records, and back."""

import json
from typing import Any

import numpy as np
from flwr.app import Array, ArrayRecord, ConfigRecord, RecordDict

from fairfl_core.errors import InputError
from fairfl_core.federation.messages import Parcel

__all__ = ["parcel_of", "record_of"]


def record_of(parcel: Parcel) -> RecordDict:
    """A message as Flower sends it."""
    words = json.dumps({"kind": parcel.kind, "header": dict(parcel.header)}, ensure_ascii=False)
    arrays = {name: Array(np.asarray(array, order="C")) for name, array in parcel.arrays.items()}
    return RecordDict({"words": ConfigRecord({"json": words}), "arrays": ArrayRecord(arrays)})


def parcel_of(record: RecordDict) -> Parcel:
    """The message that Flower brought; refused where it is none of ours."""
    try:
        words: Any = json.loads(str(record.config_records["words"]["json"]))
        sent: Any = record.array_records["arrays"]
        arrays = {str(name): np.asarray(array.numpy()) for name, array in sent.items()}
        if not isinstance(words["header"], dict):
            raise TypeError("no header")
        return Parcel(str(words["kind"]), words["header"], arrays)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"a message came that cannot be read ({error}).") from error
