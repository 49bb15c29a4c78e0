"""Slow, separate ways to the same numbers: written from the definitions, sharing no code."""

from itertools import combinations, product

import numpy as np
from scipy.optimize import linprog

from fairfl_core.lp.policy import Policy

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


def asked_of(counts, notion, eps_global, eps_local, policy):
    """Rows and their upper limits over lotteries L[c, a, said, answer] = Pr(answer | said).

    Gaps, ratios and limits of groupings pair by pair; floors, precision and capacity one by one.
    """
    table = np.asarray(counts.table, float)
    clients, groups, labels, _ = table.shape
    favourable = counts.labels.index(counts.favourable)
    local = np.broadcast_to(np.asarray(eps_local, float), (clients,))
    rows, limits = [np.zeros(table.shape)], [0.0]  # a row that asks nothing, lest there be none

    def at_most(row, limit):
        rows.append(row)
        limits.append(limit)

    def answered(clients, groups, label, answer):
        """How many of a label's people (None: of all) in these cells get the answer; and of how many."""
        row, cells = np.zeros(table.shape), np.ix_(clients, groups)
        people = table[cells].sum(axis=2) if label is None else table[cells][:, :, label]
        row[(*cells, slice(None), answer)] = people
        return row, people.sum()

    everyone = range(groups)
    scopes = [("global", range(clients), eps_global, policy.ratio_global, policy.capacity_global)]
    scopes += [
        ("local", [c], local[c], policy.ratio_local, policy.capacity_local) for c in range(clients)
    ]
    for scope, inside, eps, rho, capacity in scopes:
        compared = [([[a] for a in everyone], eps, rho)]
        compared += [
            (_merged(counts.grouping, one.grouping), one.eps, None)
            for one in policy.limits
            if one.scope == scope
        ]
        for (label, answer), (parts, limit, least) in product(
            rates_of(notion, labels, favourable), compared
        ):
            for one, other in combinations(parts, 2):
                (first, n), (second, m) = (
                    answered(inside, part, label, answer) for part in (one, other)
                )
                if not (n and m):
                    continue
                at_most(first / n - second / m, limit)
                at_most(second / m - first / n, limit)
                # One answer's share is 1 less the other's: gaps are alike, ratios are not.
                of_favourable = notion == "sp" or (notion == "eo-full" and labels == 2)
                if least is not None and (answer == favourable or not of_favourable):
                    at_most(least * first / n - second / m, 0.0)
                    at_most(least * second / m - first / n, 0.0)
        if capacity is not None:
            row, n = answered(inside, everyone, None, favourable)
            at_most(row, capacity * n)
        for one in policy.precision:
            if one.scope == scope:
                y = counts.labels.index(one.label)
                right = answered(inside, everyone, y, y)[0]
                at_most(one.rate * answered(inside, everyone, None, y)[0] - right, 0.0)
    for floor, c, a in product(policy.floors, range(clients), everyone):
        y = counts.labels.index(floor.label)
        row, n = answered([c], [a], y, y)
        if n:
            least = floor.rate if floor.keeps is None else table[c, a, y, y] / n - floor.keeps
            at_most(-row / n, -least)
    return np.array(rows).reshape(len(rows), -1), np.array(limits)


def _merged(grouping, columns):
    """Which groups are one where only these columns are looked at."""
    places = [grouping.columns.index(column) for column in columns.split("*")]
    parts = {}
    for group, values in enumerate(grouping.groups):
        parts.setdefault(tuple(values[place] for place in places), []).append(group)
    return list(parts.values())


def gain_of(policy, counts):
    """What an answer to a label is worth, from the definitions."""
    if policy.utility.labels:
        return np.array(policy.utility.gain)
    if policy.utility.name == "accuracy":
        return np.eye(len(counts.labels))
    people = counts.table.sum(axis=(0, 1, 3))
    there = people > 0
    return np.diag([people.sum() / n / there.sum() if n else 0.0 for n in people])


def optimum(counts, notion, region, eps_global, eps_local, policy=None, *, slack=0.0):
    """The most that lotteries of deterministic maps are worth a person; None where nothing will do.

    `slack` widens every limit.
    """
    policy = policy or Policy()
    table = np.asarray(counts.table, float)
    clients, groups, labels, _ = table.shape
    worth = np.einsum("cayj,yk->cajk", table, gain_of(policy, counts)).ravel()
    rows, limits = asked_of(counts, notion, eps_global, eps_local, policy)
    maps = np.array([np.eye(labels)[list(rule)].ravel() for rule in rules_of(region, labels)])
    cells = clients * groups
    to_rules = np.kron(np.eye(cells), maps.T)
    if policy.without_group:  # one share of a rule for all groups of a client
        of_client = np.kron(np.eye(clients), np.ones((groups, 1)))
        to_rules, cells = to_rules @ np.kron(of_client, np.eye(len(maps))), clients
    mixing = np.kron(np.eye(cells), np.ones(len(maps)))
    best = best_mix(worth @ to_rules, rows @ to_rules, limits + slack, mixing)
    return None if best is None else best / table.sum()


def broken_by(counts, notion, eps_global, eps_local, lottery, policy=None):
    """By how much a lottery passes the limit that it keeps least."""
    rows, limits = asked_of(counts, notion, eps_global, eps_local, policy or Policy())
    return (rows @ lottery.ravel() - limits).max()


def best_mix(worth, rows, bounds, mixing):
    """The most that shares x >= 0 are worth: rows @ x <= bounds, mixing @ x = 1; None without any.

    HiGHS as it comes allows each row 1e-7: more than an epsilon of 1e-8. So it is asked to be as
    exact as it can, and counts people, not shares of them, so that its tolerance of prices is one
    of people, too.
    """
    found = linprog(
        -worth,
        np.array(rows) if len(rows) else None,
        np.array(bounds) if len(rows) else None,
        mixing,
        np.ones(len(mixing)),
        options=EXACT,
    )
    assert found.status in (0, 2), found.message
    return -found.fun if found.status == 0 else None


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
