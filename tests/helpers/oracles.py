"""Slow, separate ways to the same numbers: written from the definitions, sharing no code."""

from itertools import combinations, product

import numpy as np
from scipy.optimize import linprog

EXACT = {
    "presolve": False,  # it takes epsilons below its tolerance for contradictions
    "primal_feasibility_tolerance": 1e-10,
    "dual_feasibility_tolerance": 1e-10,
}


def rules_of(region, labels):
    """Every deterministic map from the model's answer to an answer that the region mixes."""
    if region == "simplex":
        return [tuple(range(labels)), *[(k,) * labels for k in range(labels)]]
    return list(product(range(labels), repeat=labels))


def rates_of(notion, labels, favourable):
    """Pairs (label or None, answer) that must be equal across groups."""
    return {
        "sp": [(None, k) for k in range(labels)],
        "eop": [(favourable, favourable)],
        "eo": [(y, y) for y in range(labels)],
        "eo-full": list(product(range(labels), range(labels))),
    }[notion]


def shares(table, rules, rate):
    """For each cell, the share each rule gives the rate, and the people behind it (or None)."""
    y, answer = rate
    clients, groups, labels, _ = table.shape
    people = table.sum(axis=(2, 3)) if y is None else table[:, :, y].sum(axis=2)
    hits = np.zeros((clients, groups, len(rules)))
    for c, a, p in np.ndindex(hits.shape):
        for label, said in np.ndindex(labels, labels):
            if y in (None, label) and rules[p][said] == answer:
                hits[c, a, p] += table[c, a, label, said]
    return hits, people.astype(float)


def optimum(counts, notion, region, eps_global, eps_local):
    """The best accuracy by a dense LP over lotteries of deterministic maps, gaps pair by pair."""
    table = np.asarray(counts.table, float)
    clients, groups, labels, _ = table.shape
    rules = rules_of(region, labels)
    local = np.broadcast_to(np.asarray(eps_local, float), (clients,))
    correct = np.zeros((clients, groups, len(rules)))
    for c, a, p in np.ndindex(correct.shape):
        correct[c, a, p] = sum(table[c, a, rules[p][said], said] for said in range(labels))
    rows, bounds = [], []
    for rate in rates_of(notion, labels, counts.labels.index(counts.favourable)):
        hits, people = shares(table, rules, rate)
        for a, b in combinations(range(groups), 2):
            for c in range(clients):
                if people[c, a] > 0 and people[c, b] > 0:
                    row = np.zeros_like(correct)
                    row[c, a] = hits[c, a] / people[c, a]
                    row[c, b] = -hits[c, b] / people[c, b]
                    rows += [row.ravel(), -row.ravel()]
                    bounds += [local[c]] * 2
            total = people.sum(axis=0)
            if total[a] > 0 and total[b] > 0:
                row = np.zeros_like(correct)
                row[:, a] = hits[:, a] / total[a]
                row[:, b] = -hits[:, b] / total[b]
                rows += [row.ravel(), -row.ravel()]
                bounds += [eps_global] * 2
    mixing = np.kron(np.eye(clients * groups), np.ones(len(rules)))
    return best_mix(correct.ravel(), rows, bounds, mixing) / table.sum()


def best_mix(correct, rows, bounds, mixing):
    """Most people answered rightly by shares x >= 0: rows @ x <= bounds, mixing @ x = 1.

    HiGHS as it comes allows each row 1e-7: more than an epsilon of 1e-8. So it is asked to be as
    exact as it can, and counts people, not shares of them, so that its tolerance of prices is one
    of people, too.
    """
    found = linprog(
        -correct,
        np.array(rows) if rows else None,
        np.array(bounds) if rows else None,
        mixing,
        np.ones(len(mixing)),
        options=EXACT,
    )
    assert found.status == 0, found.message
    return -found.fun


def by_enumeration(counts, notion, region, eps_global, eps_local):
    """Best accuracy over every vertex of the polytope of one client with two groups."""
    table = np.asarray(counts.table, float)
    rules = rules_of(region, table.shape[2])
    size = 2 * len(rules)
    correct = np.zeros((2, len(rules)))
    for a, p in np.ndindex(correct.shape):
        correct[a, p] = sum(table[0, a, k, said] for said, k in enumerate(rules[p]))
    equal = np.kron(np.eye(2), np.ones(len(rules)))
    limits, bounds = [-np.eye(size)], [np.zeros(size)]
    epsilon = min(eps_global, eps_local)  # with one client both gaps are one
    for rate in rates_of(notion, table.shape[2], counts.labels.index(counts.favourable)):
        hits, people = shares(table, rules, rate)
        if (people > 0).all():
            row = np.concatenate([hits[0, 0] / people[0, 0], -hits[0, 1] / people[0, 1]])
            limits.append(np.array([row, -row]))
            bounds.append(np.full(2, epsilon))
    limit, bound = np.vstack(limits), np.concatenate(bounds)
    best = -np.inf
    for active in combinations(range(len(limit)), size - 2):
        matrix = np.vstack([equal, limit[list(active)]])
        if abs(np.linalg.det(matrix)) < 1e-9:
            continue
        x = np.linalg.solve(matrix, np.concatenate([np.ones(2), bound[list(active)]]))
        if (limit @ x <= bound + 1e-9).all():
            best = max(best, float(correct.ravel() @ x))
    return best / table.sum()
