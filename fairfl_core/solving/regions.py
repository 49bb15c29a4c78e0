"""The rules that a cell (client, group) may mix: the region its lottery can reach.

A rule is a response matrix: row j, column k is 1 where "the model says j" is turned into
"answer k". A lottery over rules with weights beta is the weighted sum of their matrices, so
accuracy and every rate are linear in beta. This vertex form replaces the paper's K z <= l; where
that is defined both say the same (see `paper_form`), and this one is always feasible.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairfl_core.errors import InputError

__all__ = ["EVERY_REGION", "REGIONS", "Region"]

REGIONS = ("simplex", "kernel")  # those that counts suffice for
EVERY_REGION = (*REGIONS, "exact")  # the last looks at scores: see `columns`
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Region:
    """Rules and how they may be mixed.

    Attributes
    ----------
    name : str
        ``simplex`` (the paper's eo and eop form): the model's own answer, and each constant
        answer, mixed by beta_0 ... beta_N. ``kernel`` (the paper's SP form, for every notion):
        "when the model says j, answer k" with weight kappa[k given j]; contains the simplex.
    labels : tuple of str
    response : ndarray, shape (rules, labels, labels)
        Each rule's matrix [model's answer, answer given].
    block : ndarray, shape (rules,)
        The weights of one block sum to one: one block for `simplex`, for `kernel` one for each
        answer of the model.
    keep : ndarray, shape (rules,)
        True for the rule that keeps the model's answer: what a block falls back to where no
        data speaks.
    """

    name: str
    labels: tuple[str, ...]
    response: Floats
    block: NDArray[np.int64]
    keep: NDArray[np.bool_]

    @classmethod
    def of(cls, name: str, labels: tuple[str, ...]) -> "Region":
        """Make the region called `name` for these labels."""
        n = len(labels)
        one = np.eye(n)
        if name == "simplex":
            constants = np.broadcast_to(one[:, None, :], (n, n, n))
            response = np.concatenate([one[None], constants])
            return cls(name, labels, response, np.zeros(n + 1, int), np.arange(n + 1) == 0)
        if name == "kernel":
            response = np.einsum("pj,qk->pqjk", one, one).reshape(n * n, n, n)
            said, answer = np.divmod(np.arange(n * n), n)
            return cls(name, labels, response, said, said == answer)
        if name in EVERY_REGION:
            raise InputError(
                f'the region "{name}" looks at scores, which counts do not hold; choose one of '
                f"{', '.join(REGIONS)}, or give the scores."
            )
        raise InputError(f'there is no region "{name}"; choose one of {", ".join(EVERY_REGION)}.')

    @property
    def rules(self) -> tuple[str, ...]:
        """A name for each rule."""
        if self.name == "simplex":
            return ("model's answer", *(f"always {label}" for label in self.labels))
        return tuple(f"{said} to {answer}" for said in self.labels for answer in self.labels)

    @property
    def blocks(self) -> int:
        """How many blocks of weights there are."""
        return int(self.block.max()) + 1

    def lottery(self, beta: Floats) -> Floats:
        """Pr(answer k | model says j) in each cell: shape (clients, groups, labels, labels)."""
        return np.einsum("cap,pjk->cajk", beta, self.response, optimize=True)

    def reached(self, table: NDArray[Any]) -> NDArray[np.bool_]:
        """Which rules any row of the cell falls under: shape (clients, groups, rules)."""
        rows = table.sum(axis=2) if self.blocks > 1 else table.sum(axis=(2, 3))[..., None]
        return (rows > 0)[..., self.block]

    def settle(self, beta: Floats, reached: NDArray[np.bool_]) -> Floats:
        """Clean solver output: weights in [0, 1] that sum to one in each block.

        A block that no row of the cell falls into keeps the model's answer: the data says
        nothing about it, and the people to come should not be changed for nothing.
        """
        beta = np.clip(beta, 0.0, 1.0)
        total = beta @ np.eye(self.blocks)[self.block]  # (clients, groups, blocks)
        return np.where(reached, beta / np.maximum(total, 1e-12)[..., self.block], self.keep)
