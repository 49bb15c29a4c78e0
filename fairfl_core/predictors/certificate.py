"""Make the certificate of a predictor: the multipliers that prove it optimal on its counts.

The program is set up a second time from the predictor's file and the counts alone, by the checker's
own reading of them (`verify_predictor`), and solved by SciPy's HiGHS without any tie-break. So the
proof shares no code with `lp`, and a mistake there shows as a predictor that cannot be proved.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linprog

from fairfl_core.data.scored import ScoredData
from fairfl_core.errors import InputError
from fairfl_core.lp.exact.histograms import ScoreHistogram
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.lp.rate_estimates import Measured, measured
from fairfl_core.predictors.verify_predictor import (
    counts_digest,
    read_problem,
    verify,
)

__all__ = ["certify", "evidence_of", "score_counts", "verify"]

FORMAT = "fairfl-score-counts/1"
Floats = NDArray[np.float64]
_PRECISE = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
_HELPS = 1e-11  # accuracy that a new cut must promise
_MOST_ROUNDS = 50


def score_counts(people: ScoredData | ScoreHistogram) -> dict[str, Any]:
    """The `fairfl-score-counts/1` form: people by recalibrated score, model's answer and label.

    Two labels. ``counts[group]`` of each client lists ``[score of the second label, the model's
    answer (0 or 1), [people of the first label, of the second]]``, by score: all that rules of the
    exact region can tell apart.
    """
    points: Measured = (
        people.measured() if isinstance(people, ScoreHistogram) else measured(people.calibrated)
    )
    counts = points.counts
    if len(counts.labels) != 2:
        raise InputError(
            f"counts by score are for two labels, and there are {len(counts.labels)}; "
            "use the simplex or the kernel, whose counts suffice."
        )
    score, label = points.scores[:, 1], points.amount
    order = np.lexsort((points.predicted, score, points.cell))
    keys = (points.cell[order], score[order], points.predicted[order])
    new = np.append(True, np.any([np.diff(key) != 0 for key in keys], axis=0))
    many = np.add.reduceat(label[order], np.flatnonzero(new), axis=0)
    cell, score, answer = (key[new] for key in keys)
    groups = len(counts.groups)
    table: list[list[list[Any]]] = [[[] for _ in counts.groups] for _ in counts.clients]
    whole = not counts.noisy
    for i, where in enumerate(cell.tolist()):
        people_there = [int(n) if whole else float(n) for n in many[i]]
        table[where // groups][where % groups].append(
            [float(score[i]), int(answer[i]), people_there]
        )
    value = counts.to_json() | {"format": FORMAT}
    for entry, mine in zip(value["clients"], table, strict=True):
        entry["counts"] = mine
    return value


def evidence_of(program: FairnessProgram) -> dict[str, Any] | None:
    """The counts that prove what a program finds; None where none do.

    By score where its rules look at scores: then for two labels, and people with their scores.
    """
    people = program.people
    if not program.needs_scores:
        return people.counts.to_json()
    is_proved = len(program.counts.labels) == 2 and not program.policy.without_group
    return score_counts(people) if is_proved and isinstance(people, ScoredData) else None


def certify(
    predictor: dict[str, Any], counts: dict[str, Any], rates: str
) -> dict[str, Any] | None:
    """The certificate of a predictor's JSON on counts; None where none can be made.

    Parameters
    ----------
    predictor : dict
        A `fairfl-predictor/1` object.
    counts : dict
        The `fairfl-counts/1` object that it was fitted on; of the exact region `score_counts`.
    rates : str
        Where its rates come from: labels or shrunk.
    """
    if rates == "scores":
        return None
    draft = predictor | {"certificate": {"rates": rates}}
    try:
        problem = read_problem(draft, counts, float)
    except ValueError:
        return None
    return {
        "rates": rates,
        "counts": counts_digest(counts),
        "duals": _Dual(draft, problem).solve(),
    }


class _Dual:
    """The program of a predictor's file, to be solved for the multipliers of its limits.

    Parameters
    ----------
    predictor : dict
    problem : tuple
        What `verify_predictor.read_problem` reads, in floats.
    """

    def __init__(self, predictor: dict[str, Any], problem: tuple[Any, ...]) -> None:
        points, tables, gain, self._limits = problem
        self._predictor, self._gain = predictor, np.array(gain)
        self._cells = {cell: place for place, cell in enumerate(tables)}
        self._tables = np.array(list(tables.values()))
        self._people = self._tables.sum(axis=2)
        self._paths = _paths(points) if predictor["region"] == "exact" else []
        self._contributions: list[sparse.csr_array] = []
        self._blocks: list[NDArray[np.int64]] = []
        self._list_rules()
        self._list_rows()

    def _add(self, block: NDArray[np.int64], cell: NDArray[np.int64], confusion: Floats) -> None:
        """Append rules: the block whose weights sum to one, the cell, people by label and answer."""
        rules, size = np.arange(len(cell)), confusion.shape[-1] ** 2
        if (self._predictor.get("policy") or {}).get("without_group"):
            # The same rule of all groups of a client is one variable.
            cells = len(self._cells)
            client = np.array([client for client, _ in self._cells])[cell]
            each, blocks = len(cell) // cells, (int(block.max()) + 1) // cells
            rules = client * each + rules % each
            _, first = np.unique(rules, return_index=True)
            block = (client * blocks + block % blocks)[first]
        row = cell[:, None] * size + np.arange(size)
        column = np.broadcast_to(rules[:, None], row.shape)
        shape = (len(self._cells) * size, int(rules.max(initial=-1)) + 1)
        values = confusion.reshape(len(cell), size)
        self._contributions.append(
            sparse.coo_array((values.ravel(), (row.ravel(), column.ravel())), shape).tocsr()
        )
        self._blocks.append(block)

    def _list_rules(self) -> None:
        """The model's answer and the constants; of the kernel every answer to every answer."""
        cells, labels, _ = self._tables.shape
        turns = np.eye(labels)
        if self._predictor["region"] == "kernel":
            rules = np.einsum("cyj,kl->cjkyl", self._tables, turns)
            number = np.arange(cells * labels).repeat(labels)
            self._add(
                number,
                np.arange(cells).repeat(labels**2),
                rules.reshape(-1, labels, labels),
            )
            return
        fixed = np.einsum("cy,kl->ckyl", self._people, turns)
        kinds = [self._tables[:, None], fixed]
        if self._paths:
            kinds.append(self._tables[:, None, :, ::-1])
        rules = np.concatenate(kinds, axis=1)
        cell = np.arange(cells).repeat(rules.shape[1])
        self._add(cell, cell, rules.reshape(-1, labels, labels))
        for (client, group), place in self._cells.items() if self._paths else ():
            mine = self._predictor["clients"][client]["rules"][group]
            cuts = [rule["b"][0] / rule["theta"][1] for rule in mine if "theta" in rule]
            self._add_cuts(place, np.searchsorted(self._paths[place][0], cuts, side="right"))

    def _add_cuts(self, cell: int, places: NDArray[np.int64]) -> None:
        """Cuts below so many of a cell's scores, to both sides."""
        people, low = self._people[cell], self._paths[cell][1][places]
        second = np.concatenate([low, people - low])
        cells = np.full(len(second), cell)
        self._add(cells, cells, np.stack([people - second, second], axis=2))

    def _list_rows(self) -> None:
        """The limits as rows: coefficients of rates and levels, and right-hand sides."""
        labels = self._tables.shape[1]
        rates: list[tuple[int, int, float]] = []
        rows: list[tuple[int, int, float]] = []
        levels: list[tuple[int, int, float]] = []
        right: list[float] = []
        member = level = 0

        def row(limit: float, places: dict[int, float], at: float = 0.0) -> None:
            rows.extend((len(right), place, value) for place, value in places.items())
            if at:
                levels.append((len(right), level, at))
            right.append(limit)

        for _, kind, number, (label, answer), members in self._limits:
            mine = range(member, member + len(members))
            for place, (cells, n) in zip(mine, members, strict=True):
                for y in range(labels) if label is None else (label,):
                    rates += [
                        (place, (self._cells[c] * labels + y) * labels + answer, 1 / n)
                        for c in cells
                    ]
            if kind == "gap" and len(members) == 2:
                row(number, {mine[0]: 1.0, mine[1]: -1.0})
                row(number, {mine[0]: -1.0, mine[1]: 1.0})
            elif kind in ("floor", "keep"):
                row(-number, {mine[0]: -1.0})
            else:
                for place in mine:
                    row(number if kind == "gap" else 0.0, {place: 1.0}, -1.0)
                    row(0.0, {place: -1.0}, 1.0 if kind == "gap" else number)
                level += 1
            member += len(members)
        self._right = np.array(right)
        self._rates = _matrix(rates, (member, len(self._cells) * labels**2))
        self._rows = _matrix(rows, (len(right), member))
        self._levels = _matrix(levels, (len(right), level))

    def solve(self) -> list[list[float]]:
        """The multiplier of every rate of every limit; cuts are added until none helps."""
        for _ in range(_MOST_ROUNDS):
            dual, paid = self._optimum()
            if not self._paths or not self._price(dual, paid):
                break
        given, place = [], 0
        for *_, members in self._limits:
            given.append([float(d) for d in dual[place : place + len(members)]])
            place += len(members)
        return given

    def _optimum(self) -> tuple[Floats, Floats]:
        """Multipliers of the rates, and what every block pays."""
        rules, cells = sparse.hstack(self._contributions).tocsr(), len(self._cells)
        utility = np.tile(self._gain.ravel(), cells) @ rules
        block = np.concatenate(self._blocks)
        number = np.arange(len(block))
        sums = sparse.csr_array((np.ones(len(block)), (block, number)))
        size = self._levels.shape[1]
        found = linprog(
            -cells * np.append(utility, np.zeros(size)),
            sparse.hstack([self._rows @ self._rates @ rules, self._levels])
            if len(self._right)
            else None,
            self._right if len(self._right) else None,
            sparse.hstack([sums, sparse.csr_array((sums.shape[0], size))]),
            np.ones(sums.shape[0]),
            method="highs-ds",
            options=_PRECISE,
        )
        if found.status != 0:
            return np.zeros(self._rows.shape[1]), np.zeros(sums.shape[0])
        dual = -(found.ineqlin.marginals @ self._rows) if len(self._right) else np.zeros(0)
        return np.asarray(dual / cells), np.asarray(-found.eqlin.marginals / cells)

    def _price(self, dual: Floats, paid: Floats) -> bool:
        """Add each cell's best cut at these multipliers; whether any helps."""
        labels = self._tables.shape[1]
        worth = (np.tile(self._gain.ravel(), len(self._cells)) - dual @ self._rates).reshape(
            -1, labels, labels
        )
        helped = False
        for cell, (_, low) in enumerate(self._paths):
            change = worth[cell, :, 1] - worth[cell, :, 0]
            fixed = self._people[cell] @ worth[cell]
            values = np.stack([fixed[0] + low @ change, fixed[1] - low @ change])
            side, place = np.unravel_index(values.argmax(), values.shape)
            if values[side, place] > paid[cell] + _HELPS / len(self._cells):
                self._add_cuts(cell, np.array([place]))
                helped = True
        return helped


def _paths(points: dict[tuple[int, int], list[Any]]) -> list[tuple[Floats, Floats]]:
    """Of each cell its scores, and the people of each label with the lowest 0, 1, 2 ... of them."""
    found = []
    for mine in points.values():
        score = np.array([point[0] for point in mine])
        people = np.array([point[2] for point in mine]).reshape(-1, 2)
        scores, place = np.unique(score, return_inverse=True)
        many = np.zeros((len(scores) + 1, 2))
        np.add.at(many, place + 1, people)
        found.append((scores, many.cumsum(axis=0)))
    return found


def _matrix(entries: list[tuple[int, int, float]], shape: tuple[int, int]) -> sparse.csr_array:
    """A sparse matrix from (row, column, value)."""
    row, column, value = zip(*entries, strict=True) if entries else ((), (), ())
    return sparse.csr_array(
        (np.array(value, float), (np.array(row, int), np.array(column, int))), shape
    )
