"""Measure false alarms of looking every week, and how many people it takes to tell a break.

    python -m benchmarks.watch --runs 400

Clients whose gap is exactly at the limit in every week, while base rates drift, for 104 weeks: how
often any alarm is ever raised by `fairfl watch`, and by the usual 95 % interval (Wald, of the people
so far, split over the limits as ours) looked at every week. Then one client's gap grows to limit
+ 0.05 in week 27: after how many people of that client since then the alarm comes.
"""

import argparse

import numpy as np

from fairfl_core.fairness.intervals import normal_quantile
from fairfl_core.monitoring.watch import evidence

LIMIT, ALPHA, WEEKS = 0.05, 0.05, 104


def weeks(rng, clients, each, *, broken=None, drift=True, middle=0.5):
    """Differences of rates, (weeks, both signs of every client), and their weights."""
    n = rng.poisson(each, (WEEKS, clients, 2)) + 1
    t = np.arange(WEEKS)[:, None]
    base = middle + (0.15 * np.sin(2 * np.pi * t / 52 + np.arange(clients)) if drift else 0.0)
    gap = np.full((WEEKS, clients), LIMIT)
    if broken is not None:
        gap[broken:, 0] += 0.05
    rate = np.stack([base - gap / 2, base + gap / 2], axis=2)
    seen = rng.binomial(n, np.clip(rate, 0, 1)) / n
    difference = seen[..., 1] - seen[..., 0]
    weight = n.prod(axis=2) / n.sum(axis=2)
    return np.concatenate([difference, -difference], axis=1), np.tile(weight, 2), n, seen


def ours(difference, weight):
    """The first week of an alarm of every comparison; `WEEKS` where there is none."""
    comparisons = difference.shape[1]
    log_e, _ = evidence(difference, weight, np.full(comparisons, LIMIT))
    over = log_e >= np.log(comparisons / ALPHA)
    return np.where(over.any(axis=0), over.argmax(axis=0), WEEKS)


def naive(n, seen):
    """The same by the usual interval of all people so far, looked at every week."""
    people = n.cumsum(axis=0)
    rate = (n * seen).cumsum(axis=0) / people
    gap = np.abs(rate[..., 1] - rate[..., 0])
    error = np.sqrt((rate * (1 - rate) / people).sum(axis=2))
    z = normal_quantile(1 - ALPHA / (2 * n.shape[1]))
    over = gap - z * error > LIMIT
    return np.where(over.any(axis=0), over.argmax(axis=0), WEEKS)


def false_alarms(runs, clients, each, seed=0, *, drift=True):
    """The share of runs in which an alarm is ever raised: ours, and by weekly intervals."""
    rng = np.random.default_rng(seed)
    found = np.zeros(2)
    for _ in range(runs):
        difference, weight, n, seen = weeks(rng, clients, each, drift=drift)
        found += [(ours(difference, weight) < WEEKS).any(), (naive(n, seen) < WEEKS).any()]
    return found / runs


def people_to_detect(runs, clients, each, seed=1):
    """People of both groups since the break until the alarm, one number a run; inf for never."""
    rng, found = np.random.default_rng(seed), []
    for _ in range(runs):
        difference, weight, n, _ = weeks(rng, clients, each, broken=26)
        week = ours(difference, weight)[[0, clients]].min()
        found.append(np.inf if week == WEEKS else n[26 : week + 1, 0].sum())
    return np.array(found)


def main():
    """Print both tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=400)
    runs = parser.parse_args().runs
    print(
        "| clients | people a week and group | base rates | ever an alarm: ours | weekly interval |"
    )
    print("|---|---|---|---|---|")
    for clients, each, drift in ((1, 50, True), (5, 50, True), (5, 400, False), (20, 100, True)):
        mine, usual = false_alarms(runs, clients, each, drift=drift)
        print(
            f"| {clients} | {each} | {'drift' if drift else 'still'} | {mine:.3f} | {usual:.3f} |"
        )
    print("\n| clients | people a week and group | found | median people since | 90 % within |")
    print("|---|---|---|---|---|")
    for clients, each in ((1, 200), (5, 200), (20, 200), (50, 200)):
        found = people_to_detect(max(runs // 4, 20), clients, each)
        middle, most = np.quantile(found, [0.5, 0.9], method="higher")
        print(
            f"| {clients} | {each} | {np.isfinite(found).mean():.2f} | {middle:,.0f} | {most:,.0f} |"
        )


if __name__ == "__main__":
    main()
