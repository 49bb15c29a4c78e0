"""Make the certificate of a predictor: the multipliers that prove it optimal on its counts.

The program is set up a second time from the predictor's file and the counts alone, by the checker's
own reading of them (`verify_predictor`), and solved by SciPy's HiGHS without any tie-break. So the
proof shares no code with `lp`, and a mistake there shows as a predictor that cannot be proved.
"""

from collections.abc import Sequence
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
    NotProvedError,
    counts_digest,
    read_problem,
    verify,
)

__all__ = ["certify", "confidence_rows", "evidence_of", "score_counts", "verify"]

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


def confidence_rows(program: FairnessProgram, eps_local: Sequence[float]) -> list[Any] | None:
    """The rows by which limits inside clients are kept with a confidence; None where none can be had.

    A row is ``{"terms": [[client, group, model's answer, answer, coefficient], ...], "at_most": b}``
    on the lottery's probabilities. None where margins are no sum over these: of rules of scores, and
    of the kernel, where a constant answer has no margin and the same lottery of its parts has one.
    """
    laid_out = program.linear_program
    if laid_out is None or laid_out.rules.response is None:
        return None
    clients, groups, labels, _ = program.counts.table.shape
    corners = laid_out.rules.response.reshape(clients * groups, -1, labels**2)[0]
    if np.linalg.matrix_rank(corners) < len(corners):
        return None
    by_rule = laid_out.constraints.matrix(laid_out.rules)
    overall = np.diff(laid_out.constraints.auxiliary_matrix(laid_out.rules).indptr) > 0
    is_row = (np.diff(by_rule.indptr) > 0) & ~overall
    by_answer = by_rule @ sparse.kron(sparse.eye(clients * groups), np.linalg.pinv(corners).T)
    lower, upper = laid_out.constraints.bounds(1.0, np.asarray(eps_local, float))
    found = []
    for sign, bound in ((1.0, upper), (-1.0, -lower)):
        for row in np.flatnonzero(np.isfinite(bound) & is_row):
            mine = sparse.coo_array(by_answer[[row]])
            places = np.unravel_index(mine.coords[1], (clients, groups, labels, labels))
            terms = zip(*(part.tolist() for part in (*places, sign * mine.data)), strict=True)
            found.append({"terms": list(map(list, terms)), "at_most": float(bound[row])})
    return found


def certify(
    predictor: dict[str, Any],
    counts: dict[str, Any],
    rates: str,
    rows: Sequence[dict[str, Any]] | None = None,
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
    rows : sequence of dict, optional
        Of a confidence: see `confidence_rows`. Those that bind travel with the certificate.
    """
    if rates == "scores":
        return None
    draft = predictor | {
        "certificate": {"rates": rates} | ({} if rows is None else {"rows": rows})
    }
    try:
        points, gain, limits = read_problem(draft, counts)
    except NotProvedError:
        return None
    dual = _Dual(draft, points, gain, limits).solve()
    found = {"rates": rates, "counts": counts_digest(counts)}
    binding = np.flatnonzero(dual > 0)
    if rows is not None:
        first = len(limits) - len(rows)
        kept = binding[binding >= first]
        found["rows"] = [rows[at - first] for at in kept]
        dual = np.append(dual[:first], dual[kept])
        binding = np.flatnonzero(dual > 0)
    return found | {"duals": [[int(at), float(dual[at])] for at in binding]}


class _Dual:
    """The program of a predictor's file, to be solved for the multipliers of its rows.

    Parameters
    ----------
    predictor : dict
    points, gain, limits
        What `verify_predictor.read_problem` reads.
    """

    def __init__(
        self, predictor: dict[str, Any], points: dict[Any, Any], gain: Any, limits: list[Any]
    ) -> None:
        self._predictor, self._gain = predictor, np.array(gain, float)
        self._cells = {cell: place for place, cell in enumerate(points)}
        size = len(gain)
        self._tables = np.zeros((len(points), size, size))
        for place, mine in enumerate(points.values()):
            for _, answer, people in mine:
                self._tables[place, :, answer] += np.array(people, float)
        self._people = self._tables.sum(axis=2)
        self._paths = _paths(points) if predictor["region"] == "exact" else []
        self._contributions: list[sparse.csr_array] = []
        self._blocks: list[NDArray[np.int64]] = []
        self._list_rules()
        entries = [
            (at, ((self._cells[cell] * 2 * size) + y) * size + k, float(value))
            for at, (_, _, terms) in enumerate(limits)
            for (cell, y, k), value in terms.items()
        ]
        self._limit = np.array([float(most) for _, most, _ in limits])
        self._rows = _matrix(entries, (len(limits), len(points) * 2 * size**2))

    def _add(
        self,
        block: NDArray[np.int64],
        cell: NDArray[np.int64],
        confusion: Floats,
        response: Floats | float = 0.0,
    ) -> None:
        """Append rules: the block whose weights sum to one, the cell, and what they answer there.

        That is people by label and answer, and the answer to each answer of the model.
        """
        both = np.stack([confusion, np.broadcast_to(response, confusion.shape)], axis=1)
        rules, size = np.arange(len(cell)), int(np.prod(both.shape[1:]))
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
        self._contributions.append(
            sparse.coo_array((both.ravel(), (row.ravel(), column.ravel())), shape).tocsr()
        )
        self._blocks.append(block)

    def _list_rules(self) -> None:
        """The model's answer and the constants; of the kernel every answer to every answer."""
        cells, labels, _ = self._tables.shape
        turns = np.eye(labels)
        if self._predictor["region"] == "kernel":
            rules = np.einsum("cyj,kl->cjkyl", self._tables, turns)
            number = np.arange(cells * labels).repeat(labels)
            cell = np.arange(cells).repeat(labels**2)
            self._add(number, cell, rules.reshape(-1, labels, labels))
            return
        responses = [turns, *(np.outer(np.ones(labels), turn) for turn in turns)]
        responses += [turns[::-1]] * bool(self._paths)
        response = np.stack(responses)
        rules = np.einsum("cyj,pjk->cpyk", self._tables, response)
        cell = np.arange(cells).repeat(len(response))
        every = np.tile(response, (cells, 1, 1))
        self._add(cell, cell, rules.reshape(-1, labels, labels), every)
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

    def solve(self) -> Floats:
        """The multiplier of every row; cuts are added until none helps."""
        for _ in range(_MOST_ROUNDS):
            dual, paid = self._optimum()
            if not self._paths or not self._price(dual, paid):
                break
        return dual

    def _optimum(self) -> tuple[Floats, Floats]:
        """Multipliers of the rows, and what every block pays."""
        rules, cells = sparse.hstack(self._contributions).tocsr(), len(self._cells)
        utility = self._worth(np.zeros(len(self._limit))).ravel() @ rules
        block = np.concatenate(self._blocks)
        sums = sparse.csr_array((np.ones(len(block)), (block, np.arange(len(block)))))
        has_rows = len(self._limit) > 0
        found = linprog(
            -cells * utility,
            self._rows @ rules if has_rows else None,
            self._limit if has_rows else None,
            sums,
            np.ones(sums.shape[0]),
            method="highs-ds",
            options=_PRECISE,
        )
        if found.status != 0:
            return np.zeros(len(self._limit)), np.zeros(sums.shape[0])
        dual = -found.ineqlin.marginals / cells if has_rows else np.zeros(0)
        return np.maximum(dual, 0.0), np.asarray(-found.eqlin.marginals / cells)

    def _worth(self, dual: Floats) -> Floats:
        """What a person answered is worth after what rows charge: (cells, 2, labels, answers)."""
        gain = np.stack([self._gain, np.zeros_like(self._gain)])
        charge = (dual @ self._rows).reshape(-1, *gain.shape)
        return np.asarray(np.broadcast_to(gain, charge.shape) - charge)

    def _price(self, dual: Floats, paid: Floats) -> bool:
        """Add each cell's best cut at these multipliers; whether any helps."""
        worth = self._worth(dual)[:, 0]
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
        people = np.array([point[2] for point in mine], float).reshape(-1, 2)
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
