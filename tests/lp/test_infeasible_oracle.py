"""What a collision says would do, against a linear program written from the definitions alone."""

import numpy as np
import pytest
from scipy.optimize import linprog

from fairfl_core.data.counts import ClientCounts
from fairfl_core.errors import InfeasibleError
from fairfl_core.lp.policy import Floor, Policy
from fairfl_core.lp.program import FairnessProgram
from tests.helpers.scored import scored_network


def random_case(seed):
    """Counts of two labels, a floor for either, and an overall ratio."""
    rng = np.random.default_rng(seed)
    clients = int(rng.integers(2, 4))
    table = rng.integers(1, 10, (clients, 2, 2, 2))
    table[:, :, [0, 1], [0, 1]] += rng.integers(20, 200, (clients, 2, 2))
    counts = ClientCounts(table, tuple("abc"[:clients]), ("f", "m"), ("l0", "l1"))
    return counts, rng.uniform(0.6, 0.85, 2).tolist(), float(rng.uniform(0.8, 1.0))


def least_inside(counts, floors, rho):
    """The least t with |gap of client c| <= t for all c, the floors and the overall ratio kept.

    `sp` of the second of two labels, kernel[c, a, j, k] = Pr(answer k | model says j).
    """
    table = np.asarray(counts.table, float)
    clients, groups, labels, _ = table.shape
    shape = (clients, groups, labels, labels)
    size = int(np.prod(shape))
    rate = np.zeros((clients, groups, size + 2))  # share answered the second label
    found = np.zeros((labels, clients, groups, size + 2))  # of a label's people
    pooled = np.zeros((groups, size + 2))
    for c in range(clients):
        for a in range(groups):
            for j in range(labels):
                at = np.ravel_multi_index((c, a, j, 1), shape)
                rate[c, a, at] = table[c, a, :, j].sum() / table[c, a].sum()
                for y in range(labels):
                    right = np.ravel_multi_index((c, a, j, y), shape)
                    found[y, c, a, right] = table[c, a, y, j] / table[c, a, y].sum()
                pooled[a, at] = table[c, a, :, j].sum() / table[:, a].sum()
    t, level = np.eye(size + 2)[-2:]
    below = [s * (rate[c, 0] - rate[c, 1]) - t for c in range(clients) for s in (1, -1)]
    below += [*(-found).reshape(-1, size + 2)]
    limits = [0.0] * (2 * clients) + [-one for one in floors for _ in range(clients * groups)]
    for a in range(groups):
        below += [pooled[a] - level, rho * level - pooled[a]]
        limits += [0.0, 0.0]
    sums = np.zeros((clients * groups * labels, size + 2))
    sums[:, :size] = np.kron(np.eye(clients * groups * labels), np.ones(labels))
    solved = linprog(t, np.array(below), limits, sums, np.ones(len(sums)))
    return solved.fun if solved.status == 0 else None


@pytest.mark.parametrize("seed", range(50, 75))
def test_the_least_common_limit_beside_an_overall_ratio(seed):
    """Told was the largest of the least sum of widenings: .333 where .167 did."""
    counts, floors, rho = random_case(seed)
    asked = tuple(Floor(name, rate=rate) for name, rate in zip(counts.labels, floors, strict=True))
    policy = Policy(floors=asked, ratio_global=rho)
    expected = least_inside(counts, floors, rho)
    program = FairnessProgram(counts, "sp", "kernel", policy=policy)
    try:
        program.solve(1.0, 0.0)
        assert expected == pytest.approx(0, abs=1e-7)
    except InfeasibleError as error:
        assert error.infeasible.certain
        if expected is None:
            assert error.infeasible.least_local is None
        else:
            assert error.infeasible.least_local == pytest.approx(expected, abs=1e-6)
            program.solve(error.infeasible.least_global, error.infeasible.least_local)


@pytest.mark.parametrize("seed", range(50, 62))
@pytest.mark.parametrize("rates", ["labels", "scores"])
def test_three_labels_find_what_their_kernel_does(seed, rates):
    """The exact region contains the kernel: what helps there helps here.

    Told was "no wider gap would help" where rules that did had not been asked for.
    """
    people = scored_network(2, 2, 3, rows=60, seed=seed).calibrated
    rng = np.random.default_rng(seed)
    floors = tuple(Floor(label, rate=float(rng.uniform(0.35, 0.95))) for label in people.labels)
    chosen = {"rates": rates, "policy": Policy(floors=floors)}
    asked = (0.01, 0.01)
    collisions = {}
    for region in ("kernel", "exact"):
        program = FairnessProgram(people, "eo", region, **chosen)
        try:
            program.solve(*asked)
        except InfeasibleError as error:
            collisions[region] = error.infeasible
            if error.infeasible.least_local is None:
                with pytest.raises(InfeasibleError):
                    program.solve(1.0, 1.0)
            else:
                program.solve(
                    min(error.infeasible.least_global + 1e-6, 1.0),
                    min(error.infeasible.least_local + 1e-6, 1.0),
                )
    if "exact" not in collisions:
        return
    exact, kernel = collisions["exact"], collisions["kernel"]
    assert exact.certain == (rates == "scores") and kernel.certain
    if kernel.least_local is not None:
        assert exact.least_local is not None
        assert exact.least_local <= kernel.least_local + 1e-6
    for label, floor in kernel.highest_floor.items():
        assert exact.highest_floor[label] >= floor - 1e-6
    if not exact.certain:
        assert "found" in exact.sentence() and "would help" not in exact.sentence()
