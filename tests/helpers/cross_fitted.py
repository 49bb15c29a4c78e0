"""Cross-fitted tables as people bring them, and what is expected of them, written out by hand."""

import numpy as np
import pandas as pd

LABELS = ("no", "yes")
COLUMNS = {"client": "site", "group": "sex", "label": "truth", "fold": "fold", "row_id": "id"}
SCORES = ["score_no", "score_yes"]


def cross_fitted(fit=240, test=60, folds=3, clients=3, seed=0, groups=("man", "woman")):
    """People of split fit have one row, test people one of every fold; rows are shuffled.

    Ids are numbered anew in every client. The first people of each client cover all folds.
    """
    rng = np.random.default_rng(seed)
    n = fit + test
    site = rng.integers(0, clients, n)
    site[: clients * folds] = np.repeat(np.arange(clients), folds)
    site[fit : fit + clients] = np.arange(clients)
    sex, truth = rng.integers(0, len(groups), n), rng.integers(0, 2, n)
    number = np.zeros(n, int)
    for client in range(clients):
        number[site == client] = np.arange((site == client).sum())
    fold = rng.integers(0, folds, n)
    fold[: clients * folds] = np.tile(np.arange(folds), clients)
    signal = rng.normal(1.2 * truth - 0.6 - 0.5 * (sex == 0) * (site == 1), 1)
    rows = []
    for i in range(n):
        for j in range(folds) if i >= fit else [fold[i]]:
            score = round(float(1 / (1 + np.exp(-signal[i] - rng.normal(0, 0.5)))), 4)
            rows.append(
                {
                    "id": f"p{number[i]}",
                    "site": f"s{site[i]}",
                    "sex": groups[sex[i]],
                    "truth": LABELS[truth[i]],
                    "said": LABELS[score > 0.5],
                    "score_no": round(1 - score, 4),
                    "score_yes": score,
                    "split": "test" if i >= fit else "fit",
                    "fold": j,
                }
            )
    return pd.DataFrame(rows).sample(frac=1, random_state=seed).reset_index(drop=True)


def expected_confusion(table, chances_of, names):
    """Expected people by client, group, label and answer: each test person's mean over folds.

    `chances_of` gives the probabilities of the answers for one row. Nothing is vectorised.
    """
    clients, groups, labels = names
    confusion = np.zeros((len(clients), len(groups), len(labels), len(labels)))
    tests = table[table["split"] == "test"]
    for _, rows in tests.groupby(["site", "id"]):
        first = rows.iloc[0]
        cell = (
            clients.index(first["site"]),
            groups.index(first["sex"]),
            labels.index(first["truth"]),
        )
        each = [np.asarray(chances_of(row), float) for _, row in rows.iterrows()]
        confusion[cell] += sum(each) / len(each)
    return confusion


def lottery_chances(fair):
    """Chances of one row under a predictor that looks at answers."""

    def chances(row):
        c, a = fair.clients.index(row["site"]), fair.groups.index(row["sex"])
        return fair.lottery[c, a, fair.labels.index(row["said"])]

    return chances


def rule_chances(fair):
    """Chances of one row under a predictor that looks at scores."""

    def chances(row):
        scores = np.array([[row["score_no"], row["score_yes"]]])
        return fair._rows([row["site"]], [row["sex"]], scores)[1][0]

    return chances
