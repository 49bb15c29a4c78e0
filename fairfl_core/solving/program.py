"""The linear program: the most accurate lottery whose gaps stay within the epsilons."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import highspy
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from fairfl_core.errors import InputError
from fairfl_core.fairness.notions import (
    Gaps,
    NotAssessable,
    Notion,
    gaps,
    not_assessable,
    number_or_none,
)
from fairfl_core.people.counts import ClientCounts
from fairfl_core.solving.backend import new_solver, optimum
from fairfl_core.solving.gap_constraints import GapRows
from fairfl_core.solving.regions import Region

__all__ = [
    "FORMAT", "EpsLocal", "FairnessProgram", "Optimum", "Solution", "check_epsilon",
    "eps_per_client", "grains",
]  # fmt: skip

FORMAT = "fairfl-solution/1"
Floats = NDArray[np.float64]
EpsLocal = float | Sequence[float] | Floats | Mapping[str, float]

_GRAIN = 1.5e-8


@dataclass(frozen=True, eq=False, kw_only=True)
class Optimum:
    """What a program of any region found for one choice of epsilons.

    All figures are about the counts the program was built from (validation, as a rule).

    Attributes
    ----------
    status : str
        Always "optimal": anything else is raised as `SolveError`.
    eps_global, eps_local
        What was asked: the paper's epsilon_0, and epsilon_c of each client.
    accuracy, model_accuracy : float
        Of the fair lottery, in expectation, and of the model's own answers.
    gaps : Gaps
        What was reached, in expectation over the lottery.
    price_global : float
        Local price d accuracy / d epsilon_0: the constraint's dual. At a kink (epsilon 0 is
        always one, as a gap may open to either side) it is the most that a little more
        tolerance could buy, not what it surely buys.
    price_local : ndarray, shape (clients,)
        d accuracy / d epsilon_c.
    binding : tuple of str
        The constraints with a price.
    """

    status: str
    counts: ClientCounts
    notion: Notion
    eps_global: float
    eps_local: Floats
    accuracy: float
    gaps: Gaps
    price_global: float
    price_local: Floats
    binding: tuple[str, ...]
    not_assessable: tuple[NotAssessable, ...]

    @property
    def model_accuracy(self) -> float:
        """Accuracy of the model's own answers on the same counts."""
        return self.counts.model_accuracy

    @property
    def region_name(self) -> str:
        """The name of the region."""
        raise NotImplementedError

    def to_json(self) -> dict[str, Any]:
        """The `fairfl-solution/1` form."""
        clients, worst = self.counts.clients, self.gaps.worst
        return {
            "format": FORMAT,
            "status": self.status,
            "notion": self.notion.name,
            "region": self.region_name,
            "epsilon": {"global": self.eps_global, "local": _by(clients, self.eps_local)},
            "n": round(self.counts.n, 6),  # estimated counts add up but for rounding
            "accuracy": self.accuracy,
            "model_accuracy": self.model_accuracy,
            "gap": {
                "global": number_or_none(self.gaps.overall),
                "local": _by(clients, self.gaps.local),
                "local_mean": number_or_none(self.gaps.local_mean),
                "local_left_out": int(np.isnan(self.gaps.local).sum()),
                "local_worst": None
                if worst is None
                else {"client": clients[worst], "gap": float(self.gaps.local[worst])},
            },
            "price": {"global": self.price_global, "local": _by(clients, self.price_local)},
            "binding": list(self.binding),
            "not_assessable": [vars(cell) for cell in self.not_assessable],
        }


@dataclass(frozen=True, eq=False, kw_only=True)
class Solution(Optimum):
    """The optimum of a `FairnessProgram`.

    Attributes
    ----------
    region : Region
    beta : ndarray, shape (clients, groups, rules)
        The weight of each of the region's rules.
    """

    region: Region
    beta: Floats

    @property
    def region_name(self) -> str:
        """The name of the region."""
        return self.region.name


def _by(clients: Sequence[str], values: Floats) -> dict[str, float | None]:
    return {name: number_or_none(value) for name, value in zip(clients, values, strict=True)}


class FairnessProgram:
    """Maximise accuracy subject to local and global gaps; built once, re-solved warm.

    ::

        maximise   sum over c, a, k of  beta[c,a,k] correct[c,a,k] / n
        subject to |global rate gaps| <= eps_global
                   |local rate gaps of client c| <= eps_local[c]
                   sum of beta[c,a,k] over a block = 1,  beta >= 0

    The rows are those of `rows.GapRows`. Only right-hand sides depend on the epsilons, so HiGHS
    starts from the last basis. `solve` may be called from several threads:
    a lock guards the one HiGHS object.

    Parameters
    ----------
    counts : ClientCounts
        What the lottery is fitted on.
    notion, region : str
        Names from `notions.NOTIONS` and `regions.REGIONS`.
    """

    def __init__(self, counts: ClientCounts, notion: str = "eo", region: str = "simplex") -> None:
        self.counts = counts
        self.notion = Notion.of(notion, counts.labels, counts.favourable)
        self.region = Region.of(region, counts.labels)
        if notion == "eo-full" and region == "simplex":
            raise InputError(
                'the notion "eo-full" needs the region "kernel": the simplex has too few rules '
                "to move every Pr(answer | label); choose --region kernel."
            )
        if not counts.n:
            raise InputError(
                "the counts hold nobody (noise took them all); use a larger privacy epsilon."
            )
        self._people = self.notion.people(counts.n_label)  # (clients, groups, rates)
        given, asked, response = self.notion.given, self.notion.asked, self.region.response
        # Each rule's counts in each cell: correct answers, and the people each rate counts.
        self._correct = np.einsum("cayj,pjy->cap", counts.table, response, optimize=True)
        self._answered = np.einsum(
            "cayj,ry,rk,pjk->capr", counts.table, given, asked, response, optimize=True
        )
        # The objective is in units of a mean cell, so that HiGHS's tolerances mean the same
        # for two clients and for two thousand.
        self._unit = counts.n / (len(counts.clients) * len(counts.groups))
        self._not_assessable = not_assessable(self.notion, counts)
        self._reached = self.region.reached(counts.table)
        self._lock = threading.Lock()
        self._build()

    # ---------------------------------------------------------------- building

    def _build(self) -> None:
        self._gap_rows = GapRows.of(self._people)
        rows, levels = self._gap_matrix(), self._gap_rows.levels
        matrix = sparse.vstack([rows, self._mixing_rows(levels)]).tocsr()
        gap_rows, all_rows = rows.shape[0], matrix.shape[0]
        columns = matrix.shape[1]
        self._names = self._gap_rows.names(self.counts, self.notion)
        self._rows = np.arange(gap_rows, dtype=np.int32)
        lp = highspy.HighsLp()
        lp.num_col_, lp.num_row_ = columns, all_rows
        value = (self._correct + self._tie_break()) / self._unit
        lp.col_cost_ = np.concatenate([-value.ravel(), np.zeros(levels)])
        lp.col_lower_ = np.zeros(columns)
        lp.col_upper_ = np.full(columns, highspy.kHighsInf)
        ones = np.ones(all_rows - gap_rows)
        lp.row_lower_ = np.concatenate([np.full(gap_rows, -1.0), ones])
        lp.row_upper_ = np.concatenate([np.full(gap_rows, 1.0), ones])
        lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        lp.a_matrix_.start_ = matrix.indptr.astype(np.int32)
        lp.a_matrix_.index_ = matrix.indices.astype(np.int32)
        lp.a_matrix_.value_ = matrix.data
        self._highs = new_solver()
        self._highs.passModel(lp)

    def _tie_break(self) -> Floats:
        """A grain of value for every person who keeps the model's answer.

        Optima are seldom unique: of equally accurate lotteries the one that changes fewer people
        is taken, and the same one whatever was solved before.
        """
        kept = np.einsum("cayj,pjj->cap", self.counts.table, self.region.response)
        return kept * grains(*kept.shape[:2])[..., None]

    def _gap_matrix(self) -> sparse.csr_array:
        """Gap rows over the columns: (client, group, rule), then the levels."""
        clients, groups, rules, rates = self._answered.shape
        width, gap_rows = clients * groups * rules, self._gap_rows
        client, group, _ = np.unravel_index(np.arange(width), (clients, groups, rules))
        answered = self._answered.reshape(width, rates)
        row, column, value = gap_rows.entries(client, group, answered)
        row = np.concatenate([row, np.arange(len(gap_rows.level))])
        column = np.concatenate([column, width + gap_rows.level])
        value = np.concatenate([value, np.full(len(gap_rows.level), -1.0)])
        shape = (len(gap_rows), width + gap_rows.levels)
        return sparse.csr_array(sparse.coo_array((value, (row, column)), shape=shape))

    def _mixing_rows(self, levels: int) -> sparse.csr_array:
        """The weights of a block sum to one."""
        clients, groups, rules = self._correct.shape
        one_cell = sparse.csr_array(np.eye(self.region.blocks)[self.region.block].T)
        cells = sparse.kron(sparse.eye_array(clients * groups), one_cell)
        blank = sparse.csr_array((clients * groups * self.region.blocks, levels))
        return sparse.csr_array(sparse.hstack([cells, blank]))

    # ---------------------------------------------------------------- solving

    def solve(self, eps_global: float = 1.0, eps_local: EpsLocal = 1.0) -> Solution:
        """Return the optimum within these tolerances.

        Parameters
        ----------
        eps_global : float
            The paper's epsilon_0, in [0, 1]; 1 asks for nothing.
        eps_local : float, sequence, or mapping from client to float
            The paper's epsilon_c: one for all clients, or one each.
        """
        eps_global = check_epsilon(eps_global, "eps_global")
        local = eps_per_client(self.counts.clients, eps_local)
        lower, upper = self._gap_rows.bounds(eps_global, local)
        with self._lock:
            self._highs.changeRowsBounds(len(self._rows), self._rows, lower, upper)
            values, duals = optimum(self._highs)
        beta = values[: self._correct.size].reshape(self._correct.shape)
        beta = self.region.settle(beta, self._reached)
        price = self._gap_rows.prices(duals[: len(self._rows)]) * self._unit / self.counts.n
        priced = self._gap_rows.by_scope(price, len(local))
        return Solution(
            status="optimal",
            counts=self.counts,
            notion=self.notion,
            region=self.region,
            eps_global=eps_global,
            eps_local=local,
            accuracy=float((beta * self._correct).sum() / self.counts.n),
            gaps=gaps(np.einsum("cap,capr->car", beta, self._answered), self._people),
            beta=beta,
            price_global=float(priced[0]),
            price_local=priced[1:],
            binding=tuple(dict.fromkeys(self._names[row] for row in np.flatnonzero(price > 1e-9))),
            not_assessable=self._not_assessable,
        )


def grains(clients: int, groups: int) -> Floats:
    """What one kept answer is worth in each cell, in people: a tie-break between optima.

    The grain is far below what is reported: it can cost accuracy less than 1e-8. Cells weigh a
    little differently, so that changing two people in one cell or in another is no tie either.
    """
    cells = clients * groups
    return (_GRAIN * (1 + np.arange(cells) / cells)).reshape(clients, groups)


def check_epsilon(value: float, name: str) -> float:
    """Return the tolerance as a float in [0, 1], or say that it is none."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = float("nan")
    if not 0.0 <= number <= 1.0:
        raise InputError(f"{name} is {value}, but a tolerance lies between 0 and 1; choose one.")
    return number


def eps_per_client(clients: Sequence[str], eps_local: EpsLocal) -> Floats:
    """One epsilon_c per client from one number, a sequence in their order, or a mapping."""
    if isinstance(eps_local, Mapping):
        unknown = [name for name in eps_local if name not in set(clients)]
        lacking = [name for name in clients if name not in eps_local]
        if unknown or lacking:
            name, what = (unknown[0], "is not a client") if unknown else (lacking[0], "has none")
            raise InputError(
                f'eps_local by client: "{name}" {what}; the clients are '
                f"{', '.join(list(clients)[:8])}{' ...' if len(clients) > 8 else ''}."
            )
        eps_local = [eps_local[name] for name in clients]
    if np.ndim(cast(Floats, eps_local)) == 0:
        return np.full(len(clients), check_epsilon(cast(float, eps_local), "eps_local"))
    values = list(cast(Sequence[float], eps_local))
    if len(values) != len(clients):
        raise InputError(
            f"eps_local has {len(values)} values for {len(clients)} clients; give one each."
        )
    pairs = zip(clients, values, strict=True)
    return np.array([check_epsilon(value, f'eps_local of "{name}"') for name, value in pairs])
