"""Other people's methods and slow oracles for the exact region, written from their definitions."""

from itertools import combinations

import numpy as np

from tests.helpers.oracles import best_mix, rates_of


def best_lottery(correct, hits, people, eps_global, eps_local, mixing, n):
    """Dense LP over columns: gaps pair by pair; hits[rate] are (columns, clients, groups)."""
    rows, bounds = [], []
    clients, groups = people[0].shape
    local = np.broadcast_to(np.asarray(eps_local, float), (clients,))
    for counted, total in zip(hits, people, strict=True):
        for a, b in combinations(range(groups), 2):
            scopes = [(np.arange(clients), eps_global)] + [([c], local[c]) for c in range(clients)]
            for where, epsilon in scopes:
                size = total[where].sum(axis=0)
                if size[a] > 0 and size[b] > 0:
                    part = counted[:, where].sum(axis=1)
                    row = part[:, a] / size[a] - part[:, b] / size[b]
                    rows += [row, -row]
                    bounds += [epsilon] * 2
    return best_mix(correct, rows, bounds, mixing) / n


def by_person(people, notion, eps_global, eps_local):
    """The sample-level LP: a free answer distribution for every person, rates from scores."""
    n, labels = people.scores.shape
    clients, groups = len(people.clients), len(people.groups)
    correct = people.scores.ravel()
    hits, totals = [], []
    for y, answer in rates_of(notion, labels, people.labels.index(people.favourable)):
        amount = np.ones(n) if y is None else people.scores[:, y]
        counted = np.zeros((n, labels, clients, groups))
        counted[np.arange(n), answer, people.client, people.group] = amount
        total = np.zeros((clients, groups))
        np.add.at(total, (people.client, people.group), amount)
        hits.append(counted.reshape(n * labels, clients, groups))
        totals.append(total)
    mixing = np.kron(np.eye(n), np.ones(labels))
    return best_lottery(correct, hits, totals, eps_global, eps_local, mixing, n)


def by_all_cuts(people, notion, eps_global, eps_local):
    """Two labels: a lottery over every cut of the score in both directions, cell by cell."""
    n = len(people)
    clients, groups = len(people.clients), len(people.groups)
    rates = rates_of(notion, 2, people.labels.index(people.favourable))
    correct, cell_of, counted = [], [], [[] for _ in rates]
    for cell in range(clients * groups):
        rows = np.flatnonzero(people.cell == cell)
        score, label = people.scores[rows, 1], people.label[rows]
        for cut in [-1.0, *np.unique(score)]:
            for answer in ((score > cut).astype(int), (score <= cut).astype(int)):
                correct.append((answer == label).sum())
                cell_of.append(cell)
                for place, (y, k) in enumerate(rates):
                    given = np.ones(len(rows), bool) if y is None else label == y
                    table = np.zeros(clients * groups)
                    table[cell] = (given & (answer == k)).sum()
                    counted[place].append(table.reshape(clients, groups))
    totals = []
    for y, _ in rates:
        given = np.ones(n, bool) if y is None else people.label == y
        total = np.zeros((clients, groups))
        np.add.at(total, (people.client, people.group), given.astype(float))
        totals.append(total)
    mixing = np.eye(clients * groups)[cell_of].T
    hits = [np.array(part) for part in counted]
    return best_lottery(np.array(correct, float), hits, totals, eps_global, eps_local, mixing, n)


def logofair(client, group, label, eta, notion, eps_global, eps_local, steps=60):
    """LoGoFair's thresholds t[client, group] by nested bisection on the dual's sub-gradients.

    eta are calibrated scores of the second label; H is convex in each mu_c given lambda, and in
    lambda after minimising over mu. Answer the second label where eta >= t.
    """
    clients, sign = client.max() + 1, np.array([-1.0, 1.0])
    cell = client * 2 + group
    size = np.bincount(cell, minlength=clients * 2).reshape(clients, 2)
    if notion == "sp":
        share, tilt = size / len(eta), np.ones_like(eta)
        share_global, sign = share.sum(axis=0), -sign  # p_a
    else:
        share = np.bincount(cell, label == 1, minlength=clients * 2).reshape(clients, 2) / len(eta)
        share_global, tilt = share.sum(axis=0), eta  # e_a
    size, share = np.maximum(size, 1), np.maximum(share, 1e-12)
    pi = size / len(eta)

    def accepted(overall, local):
        kappa = overall / share_global + local[:, None] / share
        bracket = 2 * eta - 1 - (sign * kappa)[client, group] * tilt
        return kappa, np.where(bracket > 0, tilt, 0.0)

    def moved(counted):
        """Derivatives of H without the |.| terms, by client: (local, global)."""
        mean = np.bincount(cell, counted, minlength=clients * 2).reshape(clients, 2) / size * pi
        return -(sign * mean / share).sum(axis=1), -(sign * mean / share_global).sum()

    def settle(overall):
        low, high = np.full(clients, -1.0), np.full(clients, 1.0)
        for _ in range(steps):
            local = (low + high) / 2
            slope, _ = moved(accepted(overall, local)[1])
            slope = slope + eps_local * np.sign(local)
            low, high = np.where(slope < 0, local, low), np.where(slope < 0, high, local)
        return (low + high) / 2

    low, high = -1.0, 1.0
    for _ in range(steps):
        overall = (low + high) / 2
        _, slope = moved(accepted(overall, settle(overall))[1])
        slope += eps_global * np.sign(overall)
        low, high = (overall, high) if slope < 0 else (low, overall)
    kappa = sign * ((low + high) / 2 / share_global + settle((low + high) / 2)[:, None] / share)
    if notion == "sp":
        return (1 + kappa) / 2
    return np.where(kappa < 2, 1 / np.maximum(2 - kappa, 1e-12), np.inf)


def fairlearn(people, constraint, grid_size):
    """Accuracy of fairlearn's ThresholdOptimizer on the people it was fitted on."""
    from fairlearn.postprocessing import ThresholdOptimizer
    from sklearn.base import BaseEstimator, ClassifierMixin

    class Model(ClassifierMixin, BaseEstimator):
        """Gives the score it is asked about."""

        classes_ = np.array([0, 1])

        def __sklearn_is_fitted__(self):
            return True

        def fit(self, *_):
            return self

        def predict_proba(self, x):
            score = np.asarray(x)[:, 0]
            return np.stack([1 - score, score], axis=1)

    x, group = people.scores[:, 1:], people.group
    theirs = ThresholdOptimizer(
        estimator=Model(),
        constraints=constraint,
        objective="accuracy_score",
        grid_size=grid_size,
        prefit=True,
        predict_method="predict_proba",
    )
    theirs.fit(x, people.label, sensitive_features=group)
    chance = theirs._pmf_predict(x, sensitive_features=group)
    return chance[np.arange(len(people)), people.label].mean()
