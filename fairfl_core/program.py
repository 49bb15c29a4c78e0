"""The linear program: the most accurate lottery whose gaps stay within the epsilons."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import highspy
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from fairfl_core.counts import ClientCounts
from fairfl_core.errors import InputError, SolveError
from fairfl_core.notions import (
    Gaps,
    NotAssessable,
    Notion,
    gaps,
    not_assessable,
    number_or_none,
)
from fairfl_core.regions import Region

__all__ = ["FORMAT", "EpsLocal", "FairnessProgram", "Solution", "check_epsilon", "eps_per_client"]

FORMAT = "fairfl-solution/1"
Floats = NDArray[np.float64]
EpsLocal = float | Sequence[float] | Floats | Mapping[str, float]

_TOLERANCE = 1e-10  # of HiGHS, primal and dual: finer than what we promise to users, 1e-7
_GRAIN = 1.5e-8


@dataclass(frozen=True, eq=False)
class Solution:
    """The optimum of a `FairnessProgram` for one choice of epsilons.

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
    beta : ndarray, shape (clients, groups, rules)
        The weight of each of the region's rules.
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
    region: Region
    eps_global: float
    eps_local: Floats
    accuracy: float
    gaps: Gaps
    beta: Floats
    price_global: float
    price_local: Floats
    binding: tuple[str, ...]
    not_assessable: tuple[NotAssessable, ...]

    @property
    def model_accuracy(self) -> float:
        """Accuracy of the model's own answers on the same counts."""
        return self.counts.model_accuracy

    def to_json(self) -> dict[str, Any]:
        """The `fairfl-solution/1` form."""
        clients, worst = self.counts.clients, self.gaps.worst
        return {
            "format": FORMAT,
            "status": self.status,
            "notion": self.notion.name,
            "region": self.region.name,
            "epsilon": {"global": self.eps_global, "local": _by(clients, self.eps_local)},
            "n": self.counts.n,
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


def _by(clients: Sequence[str], values: Floats) -> dict[str, float | None]:
    return {name: number_or_none(value) for name, value in zip(clients, values, strict=True)}


class FairnessProgram:
    """Maximise accuracy subject to local and global gaps; built once, re-solved warm.

    ::

        maximise   sum over c, a, k of  beta[c,a,k] correct[c,a,k] / n
        subject to |global rate gaps| <= eps_global
                   |local rate gaps of client c| <= eps_local[c]
                   sum of beta[c,a,k] over a block = 1,  beta >= 0

    With two groups a gap is one row, -eps <= rate_0 - rate_1 <= eps. With more it is one row a
    group with an auxiliary level t: 0 <= rate_a - t <= eps. Only right-hand sides depend on the
    epsilons, so HiGHS starts from the last basis. `solve` may be called from several threads:
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
        rows, scope, rate, levels = self._gap_rows()
        mixing = self._mixing_rows(levels)
        matrix = sparse.vstack([rows, mixing]).tocsr()
        gap_rows, all_rows = rows.shape[0], matrix.shape[0]
        columns = matrix.shape[1]
        self._scope = scope
        self._names = [
            ("global" if where < 0 else f"local {self.counts.clients[where]}")
            + f": {self.notion.rates[which]}"
            for where, which in zip(scope, rate, strict=True)
        ]
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
        self._highs = highspy.Highs()
        for option, value in (
            ("output_flag", False),
            ("threads", 1),
            ("primal_feasibility_tolerance", _TOLERANCE),
            ("dual_feasibility_tolerance", _TOLERANCE),
            ("small_matrix_value", 1e-12),  # a small client's share of a pooled rate is tiny
        ):
            self._highs.setOptionValue(option, value)
        self._highs.passModel(lp)

    def _tie_break(self) -> Floats:
        """A grain of value for every person who keeps the model's answer.

        Optima are seldom unique: of equally accurate lotteries the one that changes fewer people
        is taken, and the same one whatever was solved before. The grain is far below what is
        reported: it can cost accuracy less than 1e-8. Cells weigh a little differently, so that
        changing two people in one cell or in another is no tie either.
        """
        kept = np.einsum("cayj,pjj->cap", self.counts.table, self.region.response)
        clients, groups, _ = kept.shape
        grain = _GRAIN * (1 + np.arange(clients * groups) / (clients * groups))
        return kept * grain.reshape(clients, groups, 1)

    def _gap_rows(self) -> tuple[sparse.csr_array, NDArray[np.int64], NDArray[np.int64], int]:
        """Global rows first, then each client's: matrix, scope, rate, number of level columns.

        A row's scope is its client's position, or -1 for a global row.
        """
        clients, groups, rules, rates = self._answered.shape
        scoped = np.concatenate([self._people.sum(axis=0)[None], self._people])  # scope + 1 first
        there = scoped > 0
        compared = there.sum(axis=1) > 1  # (scopes, rates)
        scope, rate = np.nonzero(compared)
        place = np.full(compared.shape, -1)
        place[scope, rate] = np.arange(len(scope))
        # One entry per (scope, client, group, rule, rate): the rule's share of the scope's rate.
        entries = []
        for scopes in (np.zeros(clients, int), np.arange(1, clients + 1)):
            people = scoped[scopes]
            share = np.divide(
                self._answered, people[:, :, None, :],
                out=np.zeros_like(self._answered), where=there[scopes][:, :, None, :],
            )  # fmt: skip
            c, a, p, r = np.nonzero(share * compared[scopes][:, None, None, :])
            column = np.ravel_multi_index((c, a, p), (clients, groups, rules))
            entries.append((place[scopes[c], r], a, column, share[c, a, p, r]))
        level, group, column, value = (np.concatenate(part) for part in zip(*entries, strict=True))
        width = clients * groups * rules
        if groups == 2:
            data = (value * np.where(group == 0, 1.0, -1.0), (level, column))
            matrix = sparse.csr_array(sparse.coo_array(data, shape=(len(scope), width)))
            return matrix, scope - 1, rate, 0
        return self._level_rows(scope, rate, there, (level, group, column, value), width)

    @staticmethod
    def _level_rows(
        scope: NDArray[np.int64],
        rate: NDArray[np.int64],
        there: NDArray[np.bool_],
        entries: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], Floats],
        width: int,
    ) -> tuple[sparse.csr_array, NDArray[np.int64], NDArray[np.int64], int]:
        """More than two groups: rate_a - t, one row for each group that has the rate."""
        level, group, column, value = entries
        present = there[scope, :, rate]  # (levels, groups)
        row_level, row_group = np.nonzero(present)
        place = np.full(present.shape, -1)
        place[row_level, row_group] = np.arange(len(row_level))
        shape = (len(row_level), width + len(scope))
        data = np.concatenate([value, np.full(len(row_level), -1.0)])
        rows = np.concatenate([place[level, group], np.arange(len(row_level))])
        columns = np.concatenate([column, width + row_level])
        matrix = sparse.csr_array(sparse.coo_array((data, (rows, columns)), shape=shape))
        return matrix, scope[row_level] - 1, rate[row_level], len(scope)

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
        tolerance = np.append(local, eps_global)[self._scope]  # scope -1 is the last: global
        lower = -tolerance if len(self.counts.groups) == 2 else np.zeros_like(tolerance)
        with self._lock:
            self._highs.changeRowsBounds(len(self._rows), self._rows, lower, tolerance)
            values, duals = self._run()
        beta = values[: self._correct.size].reshape(self._correct.shape)
        beta = self.region.settle(beta, self._reached)
        # A row's dual is d(-objective)/d(bound). Two groups: both bounds move with epsilon.
        # Levels: only the upper one does, and its dual is the negative part.
        duals = duals[: len(self._rows)]
        price = np.abs(duals) if len(self.counts.groups) == 2 else np.maximum(-duals, 0.0)
        price = price * self._unit / self.counts.n
        priced: Floats = np.bincount(self._scope + 1, price, minlength=len(local) + 1).astype(
            float
        )
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

    def _run(self) -> tuple[Floats, Floats]:
        """Solve warm; if that is not optimal, once more from scratch; then say why it failed."""
        for attempt in ("warm", "cold"):
            if attempt == "cold":
                # Presolve takes epsilons below its tolerance for contradictions.
                self._highs.clearSolver()
                self._highs.setOptionValue("presolve", "off")
            self._highs.run()
            status = self._highs.getModelStatus()
            if status == highspy.HighsModelStatus.kOptimal:
                solution = self._highs.getSolution()
                return np.array(solution.col_value), np.array(solution.row_dual)
        reason = self._highs.modelStatusToString(status)
        raise SolveError(
            f"HiGHS ended without an optimum ({reason}); the program is always feasible, so "
            "please report this with the counts."
        )


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
