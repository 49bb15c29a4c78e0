"""A person's luck: a number in [0, 1) from who they are, always the same one."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairfl_core._io.names import as_series
from fairfl_core.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["fold_draws", "row_draws"]

Floats = NDArray[np.float64]
_LONGEST_ID = 1000  # bytes; row ids are names, not documents


def fold_draws(client: ArrayLike, row_id: ArrayLike, folds: int) -> NDArray[np.int64]:
    """Which of `folds` fold models answers each client's row id, always the same one.

    The same hash under a second salt: the sign U+001F and the word fold stand before the row id,
    so that which model answers says nothing of the lottery's draw.
    """
    return (row_draws(client, row_id, salt="fold\x1f") * folds).astype(np.int64)


def row_draws(client: ArrayLike, row_id: ArrayLike, *, salt: str = "") -> Floats:
    """A number in [0, 1) for each client and row id, always the same one.

    The text is the client's name, the sign U+001F, and the row id: clients number their rows
    alike, and without the name row 1 of all of them would be drawn together. Over its UTF-8 bytes
    FNV-1a, 64 bits, then the finalizer of splitmix64 (FNV alone mixes its last bytes poorly), then
    the upper 53 bits. Simple enough for a client to write again in any language. It is no secret:
    who chooses the ids can choose the answers.
    """
    text, start, length = _bytes_of(as_series(client), as_series(row_id), salt)
    state = np.full(len(start), 0xCBF29CE484222325, dtype=np.uint64)
    for place in range(int(length.max(initial=0))):
        rows = np.flatnonzero(place < length)
        state[rows] = (state[rows] ^ text[start[rows] + place]) * np.uint64(0x100000001B3)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        state = (state ^ (state >> np.uint64(shift))) * np.uint64(factor)
    state ^= state >> np.uint64(31)
    return (state >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _bytes_of(
    client: "pd.Series[Any]", row_id: "pd.Series[Any]", salt: str
) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64]]:
    """All texts as one run of UTF-8 bytes, with each one's start and length."""
    import pyarrow as pa

    # An id read as 17.0 in one file and 17 in another is one id.
    ids = row_id.astype(str).str.replace(r"^(-?\d+)\.0+$", r"\1", regex=True)
    missing = row_id.isna().to_numpy() | (ids.str.strip() == "").to_numpy()
    if missing.any():
        raise InputError(f"data row {int(np.argmax(missing)) + 1} has no row id; give each one.")
    whole = client.astype(str).to_numpy(dtype=object) + f"\x1f{salt}" + ids.to_numpy(dtype=object)
    texts = pa.array(whole, type=pa.large_string())
    if isinstance(texts, pa.ChunkedArray):
        texts = texts.combine_chunks()
    _, offsets, data = texts.buffers()
    ends = np.frombuffer(offsets, dtype=np.int64)[texts.offset : texts.offset + len(texts) + 1]
    length = np.diff(ends)
    if length.max(initial=0) > _LONGEST_ID:
        raise InputError(
            f"a row id is {length.max()} bytes long; use ids of at most {_LONGEST_ID} bytes."
        )
    text = np.frombuffer(data, dtype=np.uint8) if data else np.zeros(0, np.uint8)
    return text, ends[:-1], length
