"""Uniform draws that belong to a person: a hash of client and row id, always the same number.

Without a salt the hash is public and simple to write again in any language: whoever chooses row
ids can then choose answers. With a secret salt it is BLAKE2b, keyed by it, and nobody who lacks
the salt can foresee an answer.
"""

import re
from hashlib import blake2b
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray

from fairfl_core.data.columns import is_text
from fairfl_core.errors import InputError

__all__ = ["SHORTEST_SALT", "fold_draws", "row_draw", "row_draws", "salt_check"]

SHORTEST_SALT = 16  # characters
Floats = NDArray[np.float64]
_LONGEST_ID = 1000  # bytes; row ids are names, not documents
_FOLD = "fold\x1f"
_WHOLE = r"(-?[0-9]+)\.0+"  # an id read as 17.0 in one file and 17 in another is one id


def fold_draws(
    client: ArrayLike, row_id: ArrayLike, folds: int, *, salt: str | None = None
) -> NDArray[np.int64]:
    """Draw which of `folds` fold models answers each client's row id, always the same one.

    The same hash of another text: the word fold and the sign U+001F stand before the row id, so
    that which model answers says nothing of the lottery's draw.
    """
    return (_draws(client, row_id, _FOLD, salt) * folds).astype(np.int64)


def row_draws(client: ArrayLike, row_id: ArrayLike, *, salt: str | None = None) -> Floats:
    """Draw a number in [0, 1) for each client and row id, always the same one.

    The text is the client's name, the sign U+001F, and the row id: clients number their rows
    alike, and without the name row 1 of all of them would be drawn together. Over its UTF-8 bytes
    FNV-1a, 64 bits, then the finalizer of splitmix64 (FNV alone mixes its last bytes poorly), then
    the upper 53 bits. With a `salt`: BLAKE2b of 64 bits, its key the BLAKE2b of the salt.
    """
    return _draws(client, row_id, "", salt)


def row_draw(client: str, row_id: Any, *, salt: str | None = None) -> float:
    """The same number for one person."""
    if row_id is None or row_id != row_id or not str(row_id).strip():
        raise InputError("the person has no row id; give one.")
    whole = re.fullmatch(_WHOLE, str(row_id))
    text = f"{client}\x1f{whole[1] if whole else row_id}".encode()
    _check_length(len(text))
    if salt is not None:
        hashed = blake2b(text, key=_key(salt), digest_size=8).digest()
        return float((int.from_bytes(hashed) >> 11) * 2.0**-53)
    state = 0xCBF29CE484222325
    for byte in text:
        state = (state ^ byte) * 0x100000001B3 % 2**64
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        state = (state ^ state >> shift) * factor % 2**64
    return ((state ^ state >> 31) >> 11) * 2.0**-53


def salt_check(salt: str) -> str:
    """A fingerprint of a salt, by which a file recognises its own; refuse a salt that is short."""
    if not isinstance(salt, str) or len(salt) < SHORTEST_SALT:
        raise InputError(
            f"the salt is a secret text of at least {SHORTEST_SALT} characters; make one with "
            'python -c "import secrets; print(secrets.token_hex(16))" and keep it.'
        )
    return blake2b(b"fairfl salt", key=_key(salt), digest_size=8).hexdigest()


def _key(salt: str) -> bytes:
    return blake2b(salt.encode()).digest()


def _draws(client: ArrayLike, row_id: ArrayLike, before: str, salt: str | None) -> Floats:
    texts = _texts(client, row_id, before)
    bits = _fnv(texts) if salt is None else _blake(texts, salt)
    return (bits >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _blake(texts: pa.Array, salt: str) -> NDArray[np.uint64]:
    """BLAKE2b of every text under a key; the standard library hashes one text a call."""
    keyed = blake2b(key=_key(salt), digest_size=8)

    def digest(text: bytes) -> bytes:
        one = keyed.copy()
        one.update(text)
        return one.digest()

    every = b"".join(map(digest, texts.cast(pa.large_binary()).to_pylist()))
    return np.frombuffer(every, dtype=">u8").astype(np.uint64)


def _fnv(texts: pa.Array) -> NDArray[np.uint64]:
    """FNV-1a of every text, mixed by the finalizer of splitmix64."""
    _, offsets, data = texts.buffers()
    ends = np.frombuffer(offsets, dtype=np.int64)[texts.offset : texts.offset + len(texts) + 1]
    text = np.frombuffer(data, dtype=np.uint8) if data else np.zeros(0, np.uint8)
    start, length = ends[:-1], np.diff(ends)
    state = np.full(len(texts), 0xCBF29CE484222325, dtype=np.uint64)
    for place in range(int(length.max(initial=0))):
        rows = np.flatnonzero(place < length)
        state[rows] = (state[rows] ^ text[start[rows] + place]) * np.uint64(0x100000001B3)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        state = (state ^ (state >> np.uint64(shift))) * np.uint64(factor)
    return state ^ (state >> np.uint64(31))


def _texts(client: ArrayLike, row_id: ArrayLike, before: str) -> pa.Array:
    """Join client and row id of every row to the text that is hashed; refuse a row without id."""
    import pyarrow.compute as pc

    ids = _strings(row_id)
    blank = pc.equal(pc.utf8_length(pc.utf8_trim_whitespace(ids)), 0)
    missing = blank.fill_null(True).to_numpy(zero_copy_only=False)
    missing = missing | _is_missing(row_id)
    if missing.any():
        raise InputError(f"data row {int(np.argmax(missing)) + 1} has no row id; give each one.")
    ids = pc.replace_substring_regex(ids, f"^{_WHOLE}$", r"\1")
    parts = _strings(client), ids, pa.scalar(f"\x1f{before}", pa.large_string())
    texts = pc.binary_join_element_wise(*parts)  # the last one stands between
    _check_length(pc.max(pc.binary_length(texts)).as_py() or 0)
    return texts


def _strings(values: Any) -> pa.Array:
    """Take a column as text, numbers as pandas writes them."""
    try:
        texts = values if isinstance(values, pa.Array) else pa.array(values, from_pandas=True)
        if not is_text(texts.type):
            raise pa.ArrowInvalid
    except (pa.ArrowInvalid, pa.ArrowTypeError):  # numbers, or several kinds in one column
        texts = pa.array(_as_str(values), from_pandas=True)
    texts = texts.combine_chunks() if isinstance(texts, pa.ChunkedArray) else texts
    return texts.cast(pa.large_string())


def _as_str(values: Any) -> Any:
    """Write numbers, or several kinds in one column, as Python does."""
    if hasattr(values, "astype") and not isinstance(values, np.ndarray):  # pandas
        return values.astype(str)
    if isinstance(values, pa.Array | pa.ChunkedArray):
        values = values.to_numpy(zero_copy_only=False)
    column = np.asarray(values)
    numbers = column.dtype.kind in "iufb" and not isinstance(values, list | tuple)
    return column.astype(str) if numbers else [str(value) for value in values]


def _is_missing(values: Any) -> NDArray[np.bool_]:
    """Tell which values of a column of any kind are None, NaN or NA."""
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return np.asarray(values.is_null(nan_is_null=True))
    if hasattr(values, "isna"):  # pandas
        return np.asarray(values.isna())
    column = np.empty(len(values), object)
    column[:] = values
    return np.asarray((column == None) | (column != column), bool)  # noqa: E711


def _check_length(length: int) -> None:
    if length > _LONGEST_ID:
        raise InputError(
            f"a row id is {length} bytes long; use ids of at most {_LONGEST_ID} bytes."
        )
