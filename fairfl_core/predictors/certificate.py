"""Make the certificate of a predictor: the multipliers that prove it optimal on its counts.

The limits' rows are those that the checker reads in the two files (`verify_predictor`); the program's
rules are solved under them by SciPy's HiGHS, without any tie-break. Whatever comes out, the checker
believes none of it: a mistake shows as a predictor that cannot be proved.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linprog

from fairfl_core.data.counts import ClientCounts
from fairfl_core.data.scored import ScoredData
from fairfl_core.errors import InputError
from fairfl_core.lp.histograms import ScoreHistogram
from fairfl_core.lp.linear_program import LinearProgram
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.lp.rate_estimates import Measured, measured
from fairfl_core.lp.rules import RuleTable
from fairfl_core.predictors.verify_predictor import NotProvedError, counts_digest, read_problem

__all__ = ["certify", "evidence_of", "score_counts"]

FORMAT = "fairfl-score-counts/1"
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_PRECISE = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


def score_counts(people: ScoredData | ScoreHistogram | Measured) -> dict[str, Any]:
    """The `fairfl-score-counts/1` form: people by recalibrated score, model's answer and label.

    Two labels. ``counts[group]`` of each client lists ``[score of the second label, the model's
    answer (0 or 1), [people of the first label, of the second]]``, by score: all that rules of the
    exact region can tell apart.
    """
    if isinstance(people, ScoreHistogram):
        people = people.measured()
    points = measured(people.calibrated) if isinstance(people, ScoredData) else people
    counts = points.counts
    if len(counts.labels) != 2:
        raise InputError(
            f"counts by score are for two labels, and there are {len(counts.labels)}; "
            "use the simplex or the kernel, whose counts suffice."
        )
    keys = np.column_stack([points.cell, points.scores[:, 1], points.predicted])
    alike, place = np.unique(keys, axis=0, return_inverse=True)
    many = np.zeros((len(alike), 2))
    np.add.at(many, place.ravel(), points.amount)
    if not counts.noisy:
        many = many.astype(int)
    groups = len(counts.groups)
    table: list[list[list[Any]]] = [[[] for _ in counts.groups] for _ in counts.clients]
    for (cell, score, answer), people_there in zip(alike.tolist(), many.tolist(), strict=True):
        client, group = divmod(int(cell), groups)
        table[client][group].append([score, int(answer), people_there])
    value = counts.to_json() | {"format": FORMAT}
    for entry, mine in zip(value["clients"], table, strict=True):
        entry["counts"] = mine
    return value


def evidence_of(program: FairnessProgram) -> dict[str, Any] | None:
    """The counts that prove what a program finds; None where none do.

    By score where its rules look at scores: then for two labels, and people with their scores.
    """
    if not program.needs_scores:
        return program.people.counts.to_json()
    if len(program.counts.labels) != 2 or program.policy.without_group:
        return None
    people = program.people if isinstance(program.people, ScoredData) else program.sample
    assert not isinstance(people, ClientCounts)  # they have no scores
    return score_counts(people)


def certify(
    predictor: dict[str, Any], counts: dict[str, Any], program: FairnessProgram
) -> dict[str, Any] | None:
    """The certificate of a predictor's JSON; None where none can be made.

    Parameters
    ----------
    predictor : dict
        A `fairfl-predictor/1` object.
    counts : dict
        What `evidence_of` the program returns.
    program : FairnessProgram
        That found it.
    """
    laid_out = program.linear_program
    if program.rates == "scores" or laid_out is None:
        return None
    found: dict[str, Any] = {"rates": program.rates, "counts": counts_digest(counts)}
    if predictor.get("guarantee") is not None and not program.needs_scores:
        epsilon = predictor["epsilon"]
        if epsilon["global"] < 1:
            return None  # an overall margin is a cone
        local = [epsilon["local"][name] for name in program.counts.clients]
        found["rows"] = _confidence_rows(laid_out, np.array(local, float))
    try:
        _, gain, limits = read_problem(predictor | {"certificate": found}, counts)
    except NotProvedError:
        return None
    dual = _multipliers(laid_out, gain, limits)
    if "rows" in found:  # those that bind travel along
        first = len(limits) - len(found["rows"])
        binds = np.append(np.ones(first, bool), dual[first:] > 0)
        found["rows"] = [found["rows"][at - first] for at in np.flatnonzero(binds)[first:]]
        dual = dual[binds]
    return found | {"duals": [[int(at), float(dual[at])] for at in np.flatnonzero(dual > 0)]}


def _seen(rules: RuleTable) -> tuple[Ints, Ints]:
    """Where rows of a confidence count a rule: an answer of the model, and what becomes of it.

    A constant counts beside all answers of the model; the rule that keeps them, at the first.
    """
    assert rules.response is not None
    labels = rules.response.shape[2]
    first = rules.response.reshape(len(rules), -1).argmax(axis=1)
    is_constant = (rules.known == 1).any(axis=1)
    return np.where(is_constant, labels, first // labels), first % labels


def _confidence_rows(laid_out: LinearProgram, eps_local: Floats) -> list[dict[str, Any]]:
    """The rows by which limits inside clients are kept with a confidence.

    A row is ``{"terms": [[client, group, seen, answer, coefficient], ...], "at_most": b}`` on the
    weights of rules (see `_seen`).
    """
    rules, constraints = laid_out.rules, laid_out.constraints
    matrix = constraints.matrix(rules)
    overall = np.diff(constraints.auxiliary.indptr) > 0
    is_row = (np.diff(matrix.indptr) > 0) & ~overall
    places = np.stack([rules.client, rules.group, *_seen(rules)], axis=1).tolist()
    lower, upper = constraints.bounds(1.0, eps_local)
    found = []
    for sign, bound in ((1.0, upper), (-1.0, -lower)):
        for row in np.flatnonzero(np.isfinite(bound) & is_row):
            mine = sparse.coo_array(matrix[[row]])
            values = zip(mine.coords[1], (sign * mine.data).tolist(), strict=True)
            terms = [[*places[rule], value] for rule, value in values]
            found.append({"terms": terms, "at_most": float(bound[row])})
    return found


def _multipliers(laid_out: LinearProgram, gain: Any, limits: Sequence[Any]) -> Floats:
    """What each row of the checker is worth to the rules of a program."""
    rules, size = laid_out.rules, len(gain)
    shape = (rules.client.max() + 1, rules.group.max() + 1, 2 * size + 1, size)
    rule, y, k = (part.ravel() for part in np.indices(rules.confusion.shape))
    where = [np.stack([rules.client[rule], rules.group[rule], y, k])]
    values = [rules.confusion.ravel()]
    if rules.response is not None:
        seen, answer = _seen(rules)
        where.append(np.stack([rules.client, rules.group, size + seen, answer]))
        rule, values = np.append(rule, np.arange(len(rules))), [*values, np.ones(len(rules))]
    place = np.ravel_multi_index(tuple(np.concatenate(where, axis=1)), shape)
    answers = sparse.csr_array(
        (np.concatenate(values), (place, rule)), (int(np.prod(shape)), len(rules))
    )
    rows = sparse.dok_array((len(limits), answers.shape[0]))
    for number, (_, _, terms) in enumerate(limits):
        for (cell, what, answer), coefficient in terms.items():
            at = ((cell[0] * shape[1] + cell[1]) * shape[2] + what) * size + answer
            rows[number, at] = float(coefficient)
    worth = np.einsum("pyk,yk->p", rules.confusion, np.array(gain, float)) @ laid_out.shares
    cells, blocks = shape[0] * shape[1], laid_out.blocks[:, laid_out.auxiliary :]
    found = linprog(
        -cells * worth,  # in units of a cell, as tolerances are absolute
        (rows.tocsr() @ answers @ laid_out.shares) if limits else None,
        [float(most) for _, most, _ in limits] or None,
        blocks,
        np.ones(blocks.shape[0]),
        method="highs-ds",
        options=_PRECISE,
    )
    if found.status != 0 or not limits:
        return np.zeros(len(limits))
    return np.maximum(-np.asarray(found.ineqlin.marginals) / cells, 0.0)
