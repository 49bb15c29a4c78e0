"""The fair predictor: a lottery that turns the model's answer into the one a person gets."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairfl_core.counts import ClientCounts
from fairfl_core.errors import InputError
from fairfl_core.files import check_keys, read_json, write_json
from fairfl_core.names import as_series, check_names, coded, listed, positions
from fairfl_core.notions import NOTIONS, number_or_none
from fairfl_core.program import Solution, check_epsilon
from fairfl_core.regions import REGIONS

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["FORMAT", "FairPredictor", "Reached", "row_draws"]

FORMAT = "fairfl-predictor/1"
_KEYS = {
    "format", "notion", "region", "epsilon", "reached", "labels", "favourable", "groups", "clients"
}  # fmt: skip
_LONGEST_ID = 1000  # bytes; row ids are names, not documents
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Reached:
    """What the lottery does on the counts it was fitted on; gaps are None where undefined."""

    n: float
    accuracy: float
    model_accuracy: float
    gap_global: float | None
    gap_local: tuple[float | None, ...]


@dataclass(frozen=True, eq=False)
class FairPredictor:
    """Who gets which answer, with what probability.

    Attributes
    ----------
    lottery : ndarray, shape (clients, groups, labels, labels)
        ``lottery[c, a, j, k]`` = Pr(answer k | the model says j) for group a of client c. For
        the simplex that is beta_0 [j = k] + beta_k (paper, equation (8) and algorithm 1).
    eps_global, eps_local
        What was asked when it was fitted.
    reached : Reached
        What it does on the counts it was fitted on.
    """

    lottery: Floats
    clients: tuple[str, ...]
    groups: tuple[str, ...]
    labels: tuple[str, ...]
    favourable: str
    notion: str
    region: str
    eps_global: float
    eps_local: tuple[float, ...]
    reached: Reached

    def __post_init__(self) -> None:
        for field in ("clients", "groups", "labels"):
            check_names(getattr(self, field), field)
        for name, known, kind in (
            (self.notion, NOTIONS, "notion"),
            (self.region, REGIONS, "region"),
            (self.favourable, self.labels, "favourable label"),
        ):
            if name not in known:
                raise InputError(f'there is no {kind} "{name}"; it is one of {listed(known)}.')
        labels = len(self.labels)
        shape = (len(self.clients), len(self.groups), labels, labels)
        lottery = np.array(self.lottery, dtype=float)
        if lottery.shape != shape:
            raise InputError(f"the lottery has the shape {lottery.shape}; it needs {shape}.")
        if not (np.isfinite(lottery).all() and (lottery >= 0).all()):
            raise InputError("the lottery holds something that is not a probability.")
        if not np.allclose(lottery.sum(axis=3), 1.0, rtol=0, atol=1e-6):
            c, a, j = np.argwhere(np.abs(lottery.sum(axis=3) - 1) > 1e-6)[0]
            raise InputError(
                f'the probabilities of client "{self.clients[c]}", group "{self.groups[a]}", '
                f'prediction "{self.labels[j]}" do not sum to one; fit the predictor again.'
            )
        lottery.setflags(write=False)
        object.__setattr__(self, "lottery", lottery)

    # ---------------------------------------------------------------- where it comes from

    @classmethod
    def from_solution(cls, solution: Solution) -> "FairPredictor":
        """Take the lottery that a solved program found."""
        counts = solution.counts
        return cls(
            lottery=solution.region.lottery(solution.beta),
            clients=counts.clients,
            groups=counts.groups,
            labels=counts.labels,
            favourable=counts.favourable,
            notion=solution.notion.name,
            region=solution.region.name,
            eps_global=solution.eps_global,
            eps_local=tuple(solution.eps_local.tolist()),
            reached=Reached(
                counts.n,
                solution.accuracy,
                solution.model_accuracy,
                number_or_none(solution.gaps.overall),
                tuple(number_or_none(gap) for gap in solution.gaps.local),
            ),
        )

    # ---------------------------------------------------------------- using it

    def sample(
        self, client: ArrayLike, group: ArrayLike, prediction: ArrayLike, *, seed: int
    ) -> NDArray[Any]:
        """Draw an answer for every row (the paper's algorithm 1); the same seed, the same draw."""
        codes = self._codes(client, group, prediction)
        return self._answers(codes, np.random.default_rng(seed).random(len(codes[0])))

    def decide(
        self, client: ArrayLike, group: ArrayLike, prediction: ArrayLike, *, row_id: ArrayLike
    ) -> NDArray[Any]:
        """Answer by client and row id: the same person always gets the same answer."""
        codes = self._codes(client, group, prediction)
        if np.size(row_id) != len(codes[0]):
            raise InputError("the row ids and the rows differ in number; give one id a row.")
        return self._answers(codes, row_draws(np.array(self.clients)[codes[0]], row_id))

    def _answers(self, codes: tuple[NDArray[np.int64], ...], draws: Floats) -> NDArray[Any]:
        """Walk the cumulative probabilities, the model's own answer first.

        Starting with it gives algorithm 1's distribution and keeps a person's answer for as
        large a part of the unit interval as the lottery allows, so that a small change of
        epsilon changes few people's answers.
        """
        _, _, said = codes
        labels = len(self.labels)
        walk = np.array([[j, *(k for k in range(labels) if k != j)] for j in range(labels)])
        steps = np.take_along_axis(self.lottery, walk[None, None], axis=3).cumsum(axis=3)
        passed = draws[:, None] >= steps[codes][:, :-1]  # the last step takes what is left
        return np.array(self.labels, dtype=object)[walk[said, passed.sum(axis=1)]]

    def _codes(
        self, client: ArrayLike, group: ArrayLike, prediction: ArrayLike
    ) -> tuple[NDArray[np.int64], ...]:
        found = (
            self._position(client, self.clients, "client"),
            self._position(group, self.groups, "group"),
            self._position(prediction, self.labels, "prediction"),
        )
        if len({len(codes) for codes in found}) > 1:
            raise InputError("clients, groups and predictions differ in number; give one a row.")
        return found

    @staticmethod
    def _position(values: ArrayLike, names: tuple[str, ...], what: str) -> NDArray[np.int64]:
        codes, seen = coded(as_series(values), what)
        place = positions(seen, names)[codes]
        if (place < 0).any():
            row = int(np.argmax(place < 0))
            raise InputError(
                f'data row {row + 1}: the {what} "{seen[codes[row]]}" is not one the predictor '
                f"was fitted for ({listed(names)}); fit it with that {what}, or leave the row out."
            )
        return place

    def lottery_for(self, counts: ClientCounts) -> Floats:
        """The lottery in the order of other counts' clients, groups and labels."""
        parts = []
        for what, mine, theirs in (
            ("client", self.clients, counts.clients),
            ("group", self.groups, counts.groups),
            ("label", self.labels, counts.labels),
        ):
            place = positions(theirs, mine)
            if (place < 0).any():
                unknown = theirs[int(np.argmax(place < 0))]
                raise InputError(
                    f'the {what} "{unknown}" of the counts is not one the predictor was fitted '
                    f"for ({listed(mine)}); fit it on counts that hold it."
                )
            parts.append(place)
        if len(counts.labels) < len(self.labels):
            missing = next(label for label in self.labels if label not in counts.labels)
            raise InputError(
                f'the counts lack the label "{missing}" that the predictor may answer; '
                "count them with all its labels (--labels)."
            )
        client, group, label = parts
        return self.lottery[np.ix_(client, group, label, label)]

    # ---------------------------------------------------------------- JSON

    def to_json(self) -> dict[str, Any]:
        """The `fairfl-predictor/1` form: lottery[group][prediction][answer] for each client."""
        by_client = dict(zip(self.clients, self.eps_local, strict=True))
        gap = dict(zip(self.clients, self.reached.gap_local, strict=True))
        return {
            "format": FORMAT,
            "notion": self.notion,
            "region": self.region,
            "epsilon": {"global": self.eps_global, "local": by_client},
            "reached": {
                "n": self.reached.n,
                "accuracy": self.reached.accuracy,
                "model_accuracy": self.reached.model_accuracy,
                "gap": {"global": self.reached.gap_global, "local": gap},
            },
            "labels": list(self.labels),
            "favourable": self.favourable,
            "groups": list(self.groups),
            "clients": [
                {"name": name, "lottery": lottery.tolist()}
                for name, lottery in zip(self.clients, self.lottery, strict=True)
            ],
        }

    @classmethod
    def from_json(cls, value: Any) -> "FairPredictor":
        """Check and take a `fairfl-predictor/1` object."""
        if not isinstance(value, dict) or value.get("format") != FORMAT:
            raise InputError(
                f'"format" is not "{FORMAT}"; make the file with `python -m fairfl_core solve`.'
            )
        check_keys(value, _KEYS, set(), "the file")
        try:
            clients = tuple(str(entry["name"]) for entry in value["clients"])
            reached, epsilon = value["reached"], value["epsilon"]
            return cls(
                lottery=np.array([entry["lottery"] for entry in value["clients"]], dtype=float),
                clients=clients,
                groups=tuple(map(str, value["groups"])),
                labels=tuple(map(str, value["labels"])),
                favourable=str(value["favourable"]),
                notion=str(value["notion"]),
                region=str(value["region"]),
                eps_global=check_epsilon(epsilon["global"], "epsilon global"),
                eps_local=tuple(
                    check_epsilon(epsilon["local"][name], f'epsilon of "{name}"')
                    for name in clients
                ),
                reached=Reached(
                    float(reached["n"]),
                    float(reached["accuracy"]),
                    float(reached["model_accuracy"]),
                    reached["gap"]["global"],
                    tuple(reached["gap"]["local"][name] for name in clients),
                ),
            )
        except (KeyError, TypeError, IndexError) as error:
            raise InputError(f"a part is missing or of the wrong kind ({error}).") from error
        except InputError:
            raise
        except ValueError as error:
            raise InputError(f"the lottery is ragged or not of numbers ({error}).") from error

    @classmethod
    def read(cls, path: str | Path) -> "FairPredictor":
        """Read a `fairfl-predictor/1` file."""
        value = read_json(path)
        try:
            return cls.from_json(value)
        except InputError as error:
            raise InputError(f"{path}: {error}") from error

    def write(self, path: str | Path) -> Path:
        """Write a `fairfl-predictor/1` file, whole or not at all."""
        return write_json(path, self.to_json())


def row_draws(client: ArrayLike, row_id: ArrayLike) -> Floats:
    """A number in [0, 1) for each client and row id, always the same one.

    The text is the client's name, the sign U+001F, and the row id: clients number their rows
    alike, and without the name row 1 of all of them would be drawn together. Over its UTF-8 bytes
    FNV-1a, 64 bits, then the finalizer of splitmix64 (FNV alone mixes its last bytes poorly), then
    the upper 53 bits. Simple enough for a client to write again in any language. It is no secret:
    who chooses the ids can choose the answers.
    """
    text, start, length = _bytes_of(as_series(client), as_series(row_id))
    state = np.full(len(start), 0xCBF29CE484222325, dtype=np.uint64)
    for place in range(int(length.max(initial=0))):
        rows = np.flatnonzero(place < length)
        state[rows] = (state[rows] ^ text[start[rows] + place]) * np.uint64(0x100000001B3)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        state = (state ^ (state >> np.uint64(shift))) * np.uint64(factor)
    state ^= state >> np.uint64(31)
    return (state >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _bytes_of(
    client: "pd.Series[Any]", row_id: "pd.Series[Any]"
) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64]]:
    """All texts as one run of UTF-8 bytes, with each one's start and length."""
    import pyarrow as pa

    if row_id.isna().any():
        row = int(np.argmax(row_id.isna().to_numpy())) + 1
        raise InputError(f"data row {row} has no row id; give every row one.")
    # An id read as 17.0 in one file and 17 in another is one id.
    ids = row_id.astype(str).str.replace(r"^(-?\d+)\.0+$", r"\1", regex=True)
    whole = client.astype(str).to_numpy(dtype=object) + "\x1f" + ids.to_numpy(dtype=object)
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
