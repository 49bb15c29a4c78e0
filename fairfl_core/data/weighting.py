"""Sample weights of people, and rows whose group is missing: what counts know of them."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairfl_core._io.files import check_keys, nested_numbers
from fairfl_core._io.numbers import plural
from fairfl_core.errors import InputError

Floats = NDArray[np.float64]
RULES = ("drop", "own", "bound")
NO_GROUP = "no group given"  # what a group of their own is called


@dataclass(frozen=True, eq=False)
class Weighting:
    """How people were weighted, who are counted as the effective number of them.

    Weights w are scaled so that they add up to n = (sum w)^2 / sum w^2 (Kish): the number of
    unweighted people who would tell as much. So every count, interval and test behind a weighted
    table is about that many.

    Attributes
    ----------
    rows : int
        People who have a weight above 0.
    total : float
        The sum of their weights as they were given.
    squares : ndarray, shape (clients, groups, labels)
        Sums of squared scaled weights; `people` where all weights are equal.
    """

    rows: int
    total: float
    squares: Floats

    def effective(self, people: Floats, given: Floats, *, pooled: bool = False) -> Floats:
        """How many unweighted people would tell as much of each rate.

        Parameters
        ----------
        people : ndarray, shape (clients, groups, rates)
            Scaled weights behind each rate.
        given : ndarray, shape (rates, labels)
            Labels that a rate is conditioned on.
        pooled : bool
            Of all clients together: shape (groups, rates).
        """
        squares = self.squares @ given.T
        if pooled:
            people, squares = people.sum(axis=0), squares.sum(axis=0)
        return np.divide(people**2, squares, out=np.zeros_like(people), where=squares > 0)

    def of_clients(self, places: list[int]) -> "Weighting":
        """The same of some clients."""
        return replace(self, squares=self.squares[places])

    def sentence(self, n: float) -> str:
        """Say what a weighted table counts, and what a confidence about it means."""
        return (
            f"Weighted: {self.rows:,} people stand for {self.total:,.0f}; intervals and confidences "
            f"are those of {n:,.0f} unweighted people (the effective number), and are about whom the "
            "weights stand for: they hold as far as the weights are right, and rows are drawn "
            "independently."
        )

    def to_json(self) -> dict[str, Any]:
        """The form that stands in counts."""
        return {"rows": self.rows, "total": self.total, "squares": self.squares.tolist()}

    @classmethod
    def from_json(
        cls, value: Any, clients: list[str], groups: list[str], labels: list[str]
    ) -> "Weighting":
        """Check and take it."""
        if not isinstance(value, dict):
            raise InputError('"weights" must be an object with "rows", "total" and "squares".')
        check_keys(value, {"rows", "total", "squares"}, set(), '"weights"')
        rows, total = (
            nested_numbers(value[key], (), f'"weights", "{key}"')[0] for key in ("rows", "total")
        )
        axes = ("client", clients), ("group", groups), ("label", labels)
        squares = np.array(nested_numbers(value["squares"], axes, '"weights", "squares"'), float)
        if rows < 1 or total <= 0 or (squares < 0).any():
            raise InputError(
                '"weights" holds a number below 0; make the file with `fairfl count`.'
            )
        return cls(int(rows), float(total), squares.reshape([len(names) for _, names in axes]))


@dataclass(frozen=True, eq=False)
class MissingGroup:
    """Rows whose group is not known, and what is made of them.

    Attributes
    ----------
    rule : {"drop", "own", "bound"}
        Left out; a group of their own; or any group may be theirs, and gaps are the worst of it.
    rows : int
        How many they are.
    table : ndarray, shape (clients, labels, labels), or None
        With `bound`: those rows by client, label and the model's answer.
    """

    rule: str
    rows: int
    table: NDArray[Any] | None = None

    def sentence(self, n: float) -> str:
        """Say what was made of them, of `n` people who have a group."""
        if self.rule == "drop":
            return f"{self.share}: left out; {plural(n, 'person', 'people')} counted."
        if self.rule == "own":
            return f"{self.share}: a group of its own, “{NO_GROUP}”."
        return f"{self.share}: gaps are the largest that any groups of theirs could give."

    @property
    def share(self) -> str:
        """How many rows have no group, in words."""
        return f"{plural(self.rows, 'row')} {'has' if self.rows == 1 else 'have'} no group"

    def to_json(self) -> dict[str, Any]:
        """The form that stands in counts."""
        value: dict[str, Any] = {"rule": self.rule, "rows": self.rows}
        return value if self.table is None else value | {"counts": self.table.tolist()}

    @classmethod
    def from_json(cls, value: Any, clients: list[str], labels: list[str]) -> "MissingGroup":
        """Check and take it."""
        if not isinstance(value, dict):
            raise InputError('"missing_group" must be an object with "rule" and "rows".')
        check_keys(value, {"rule", "rows", "counts"}, {"counts"}, '"missing_group"')
        rule, rows = check_rule(value["rule"]), value["rows"]
        if not isinstance(rows, int) or isinstance(rows, bool) or rows < 0:
            raise InputError('"missing_group", "rows" must be a whole number of rows.')
        if (rule == "bound") != ("counts" in value):
            raise InputError('"missing_group" has "counts" with the rule "bound", and only then.')
        if rule != "bound":
            return cls(rule, rows)
        axes = ("client", clients), ("label", labels), ("prediction", labels)
        table = np.array(nested_numbers(value["counts"], axes, '"missing_group", "counts"'), float)
        if (table < 0).any():
            raise InputError('"missing_group", "counts" holds a number below 0; correct it.')
        return cls(rule, rows, table.reshape([len(names) for _, names in axes]))


def check_rule(rule: Any) -> str:
    """Return a rule for rows without a group, or say which there are."""
    if rule not in RULES:
        raise InputError(
            f'a missing group may be {", ".join(RULES[:-1])} or {RULES[-1]}, not "{rule}": left '
            "out, a group of its own, or the worst of what it may be."
        )
    return str(rule)
