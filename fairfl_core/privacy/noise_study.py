"""What noise for privacy does to fairness: many draws, each judged on the true people.

A client sends a noisy table, the server solves on it, and the lottery it sends back meets people
as they are. So the gap that matters is the lottery's gap on the *true* counts; the one on the
noisy counts is always within the epsilons and says nothing.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairfl_core.data.counts import ClientCounts
from fairfl_core.errors import InputError
from fairfl_core.fairness.notions import Notion, gaps
from fairfl_core.lp.policy import EpsLocal, eps_per_client
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.lp.rate_estimates import counts_by
from fairfl_core.lp.regions import AnswerRules
from fairfl_core.privacy.mechanisms import Mechanism, what_if

Floats = NDArray[np.float64]
Runs = Sequence[tuple[ClientCounts, ClientCounts | None]]
_TOLERANCE = 1e-6  # a gap this little above the epsilon is the solver's rounding, no failure


@dataclass(frozen=True, eq=False)
class Band:
    """A figure over draws, one entry a budget: median, and where 90 in 100 draws lie."""

    low: Floats
    middle: Floats
    high: Floats


def band(figure: Floats) -> Band:
    """Quantiles .05, .5 and .95 over draws of a figure of shape (budgets, draws).

    A figure is undefined for all draws of a run or for none, so those that have it are used.
    """
    there = ~np.isnan(figure)
    found = np.full((3, len(figure)), np.nan)
    for b in np.flatnonzero(there.any(axis=1)):
        found[:, b] = np.quantile(figure[b, there[b]], (0.05, 0.5, 0.95))
    return Band(*found)


@dataclass(frozen=True, eq=False)
class Judged:
    """Lotteries on true counts; the first axes are budgets and draws.

    Attributes
    ----------
    accuracy, overall : ndarray, shape (budgets, draws)
        Expected accuracy, and the global gap.
    local : ndarray, shape (budgets, draws, clients)
        Each client's gap; NaN where it has none.
    """

    accuracy: Floats
    overall: Floats
    local: Floats

    @property
    def local_mean(self) -> Floats:
        """Mean over the clients that have a gap, shape (budgets, draws)."""
        there = ~np.isnan(self.local)
        total = np.where(there, self.local, 0.0).sum(axis=-1)
        return np.divide(
            total, there.sum(axis=-1), out=np.full(total.shape, np.nan), where=there.any(axis=-1)
        )

    @property
    def local_worst(self) -> Floats:
        """The largest of the clients' gaps, shape (budgets, draws)."""
        return np.asarray(np.fmax.reduce(self.local, axis=-1))

    def fails(self, eps_local: Floats) -> Floats:
        """How often each client's gap is above its epsilon: a share of draws, (budgets, clients).

        A client without a gap does not fail.
        """
        return np.asarray((self.local > eps_local + _TOLERANCE).mean(axis=1))


@dataclass(frozen=True, eq=False)
class NoiseStudy:
    """One mechanism at several budgets.

    Attributes
    ----------
    clients : tuple of str
    n_client : ndarray, shape (clients,)
        People of each client in the table that gets the noise, mean over runs.
    mechanisms : tuple of Mechanism
        One a budget; `Mechanism.spent` is the budget it really spends.
    eps_global, eps_local
        What was asked of every solution.
    reached, held_out : Judged
        On the true validation counts, and on test (None where there are no unseen people).
    """

    clients: tuple[str, ...]
    n_client: Floats
    mechanisms: tuple[Mechanism, ...]
    eps_global: float
    eps_local: Floats
    reached: Judged
    held_out: Judged | None

    @classmethod
    def joined(cls, parts: Sequence["NoiseStudy"]) -> "NoiseStudy":
        """One study of all the parts' budgets; they must differ in nothing else."""
        unseen = [part.held_out for part in parts if part.held_out is not None]
        return replace(
            parts[0],
            mechanisms=tuple(mechanism for part in parts for mechanism in part.mechanisms),
            reached=_joined([part.reached for part in parts]),
            held_out=_joined(unseen) if unseen else None,
        )

    @property
    def spent(self) -> Floats:
        """The true budgets, shape (budgets,)."""
        return np.array([mechanism.spent for mechanism in self.mechanisms])

    @property
    def fails(self) -> Floats:
        """How often each client's true gap is above what was asked, (budgets, clients)."""
        return self.reached.fails(self.eps_local)


def spending(name: str, spent: float, neighbours: str) -> Mechanism:
    """The mechanism of that name which really spends this budget.

    For ``paper`` its `epsilon`, what the paper would call it, is a half or a quarter of that.
    """
    if name != "paper":
        return Mechanism(name=name, epsilon=spent, neighbours=neighbours)
    times = Mechanism(name=name, epsilon=1.0, neighbours=neighbours).spent
    return Mechanism(name=name, epsilon=spent / times, neighbours=neighbours)


def noise_study(
    runs: Runs,
    mechanisms: Sequence[Mechanism],
    notion: str = "eo",
    region: str = "simplex",
    *,
    eps_global: float,
    eps_local: EpsLocal,
    draws: int,
    seed: int,
    rates: str = "labels",
    on_progress: Callable[[int, int], None] | None = None,
) -> NoiseStudy:
    """Noise, repair, solve on the noisy counts, judge on the true ones; many times.

    Parameters
    ----------
    runs : sequence of (validation, test) counts
        One pair a training run, test None where there is none; draw i uses run i modulo runs.
    mechanisms : sequence of Mechanism
        One a budget.
    notion, region, eps_global, eps_local
        As for `FairnessProgram`.
    draws : int
        Draws of noise a budget.
    seed : int
        The same seed draws the same noise. Draw i starts from the same state at every budget,
        so that budgets differ by the noise's size more than by its luck.
    rates : {"labels", "shrunk"}
        What the server makes of the noisy counts; rates from scores would need more than counts.
    on_progress : callable, optional
        Called with (solutions done, solutions in all).
    """
    if draws < 1 or not runs or not mechanisms:
        raise InputError("give at least one run, one mechanism and one draw.")
    truths = [validation for validation, _ in runs]
    states = np.random.SeedSequence(seed).generate_state(draws)
    keep = _keep(truths[0])
    lotteries = np.empty((len(mechanisms), draws, *keep.shape))
    for done, (b, i) in enumerate(np.ndindex(len(mechanisms), draws), 1):
        noisy = what_if(truths[i % len(runs)], mechanisms[b], seed=int(states[i]))
        # Where noise took everybody the server knows nothing and leaves the model's answers.
        lotteries[b, i] = (
            _lottery(noisy, notion, region, eps_global, eps_local, rates) if noisy.n else keep
        )
        if on_progress:
            on_progress(done, len(mechanisms) * draws)
    return NoiseStudy(
        truths[0].clients,
        np.mean([true.n_client for true in truths], axis=0),
        tuple(mechanisms),
        eps_global,
        eps_per_client(truths[0].clients, eps_local),
        *_judge_both(runs, lotteries, notion),
    )


def without_noise(
    runs: Runs,
    notion: str = "eo",
    region: str = "simplex",
    *,
    eps_global: float,
    eps_local: EpsLocal,
    rates: str = "labels",
) -> tuple[Judged, Judged | None]:
    """The limit of an endless budget: on validation and on test; one budget, one draw a run."""
    lotteries = [_lottery(true, notion, region, eps_global, eps_local, rates) for true, _ in runs]
    return _judge_both(runs, np.stack(lotteries)[None], notion)


def _lottery(
    counts: ClientCounts,
    notion: str,
    region: str,
    eps_global: float,
    eps_local: EpsLocal,
    rates: str,
) -> Floats:
    """Pr(answer | model's answer) in each cell, as the server would send it."""
    seen = counts_by(counts, rates)
    solution = FairnessProgram(seen, notion, region).solve(eps_global, eps_local)
    rules = solution.rules
    if not isinstance(rules, AnswerRules):
        raise InputError(f"the region {region} looks at scores, which counts do not hold.")
    return rules.lottery(solution.beta)


def _keep(counts: ClientCounts) -> Floats:
    """The lottery that keeps the model's answer."""
    clients, groups, labels, _ = counts.table.shape
    return np.broadcast_to(np.eye(labels), (clients, groups, labels, labels))


def _judge_both(runs: Runs, lotteries: NDArray[Any], notion: str) -> tuple[Judged, Judged | None]:
    tests = [test for _, test in runs if test is not None]
    unseen = _judge(tests, lotteries, notion) if len(tests) == len(runs) else None
    return _judge([true for true, _ in runs], lotteries, notion), unseen


def _joined(parts: Sequence[Judged]) -> Judged:
    return Judged(
        *(
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("accuracy", "overall", "local")
        )
    )


def _judge(truths: Sequence[ClientCounts], lotteries: NDArray[Any], notion: str) -> Judged:
    """All lotteries at once: draw i on the people of run i modulo runs."""
    budgets, draws, clients, groups = lotteries.shape[:4]
    rates = Notion.of(notion, truths[0].labels, truths[0].favourable)
    run = np.arange(draws) % len(truths)
    table = np.stack([true.table for true in truths])[run]
    confusion = np.einsum("dcayj,bdcajk->bdcayk", table, lotteries, optimize=True)
    answered = rates.answered(confusion)
    people = np.broadcast_to(rates.people(table.sum(axis=-1)), answered.shape)
    # `gaps` compares groups within each entry of its first axis: here every client of every
    # draw, and then every draw with its clients added up.
    last = answered.shape[-1]
    local = gaps(answered.reshape(-1, groups, last), people.reshape(-1, groups, last)).local
    overall = gaps(
        answered.sum(axis=2).reshape(-1, groups, last),
        people.sum(axis=2).reshape(-1, groups, last),
    ).local
    return Judged(
        accuracy=np.einsum("bdcayy->bd", confusion) / table.sum(axis=(1, 2, 3, 4)),
        overall=overall.reshape(budgets, draws),
        local=local.reshape(budgets, draws, clients),
    )
