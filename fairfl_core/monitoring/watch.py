"""Watch whether limits go on being kept: who broke which, when, on how many people, and what drifted.

Evidence may be looked at every week: it is an e-process for each gap, and a confidence sequence.
In month m groups a and b answer n_a and n_b people, D_m is the difference of their counted rates
and h_m = n_a n_b / (n_a + n_b). Whatever the true rates are, and however they drift,

    exp(lambda h_m (D_m - true difference) - lambda^2 h_m / 8)

has a mean of at most 1 (Hoeffding). So with Z and V the sums over months of h_m (D_m - limit) and
h_m / 4, exp(lambda Z - lambda^2 V / 2) is a supermartingale while *every month's* true difference is
within the limit. Mixed over lambda > 0 (a half normal: Robbins' mixture) it has a closed form. A
mixture over the months at which a break may begin, weights 1 / (j (j + 1)), finds a late break and
is still an e-process: the chance that it ever exceeds 1 / alpha is at most alpha (Ville).

Why this one: months are compared within themselves (Cochran, Mantel and Haenszel's weights), so that
base rates may rise and fall without an alarm, which tests of rates pooled over time do not allow;
only counts are needed; and one does not have to say in advance how often one will look.

References: Robbins, "Statistical methods related to the law of the iterated logarithm", 1970; Howard,
Ramdas, McAuliffe and Sekhon, "Time-uniform, nonparametric, nonasymptotic confidence sequences", Annals
of Statistics 49, 2021; Shin, Ramdas and Rinaldo, "E-detectors", 2023 (mixing over beginnings).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairfl_core._io.numbers import members
from fairfl_core.data.counts import ClientCounts
from fairfl_core.errors import InputError
from fairfl_core.evaluation.checks import margin
from fairfl_core.evaluation.verdict import FAILED, MET, NOT_MET, NOT_SURE, PASSED, UNSURE
from fairfl_core.fairness.intervals import at_once, mover, normal_quantile
from fairfl_core.fairness.notions import Notion, Rate
from fairfl_core.lp.policy_file import PolicyFile
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.lp.solution import Solution
from fairfl_core.monitoring.months import Month, align
from fairfl_core.predictors.kinds import FairPredictor

__all__ = [
    *("ALPHA", "Drift", "ScopeWatch", "Watch"),
    *("beginnings", "confidence_sequence", "drift_of", "evidence"),
]

_LEVEL = 0.95  # of the intervals that tell drift
ALPHA = 0.05  # the chance of any false alarm, over all limits and however long one looks
_PRECISION = 25.0  # of lambda: best where a gap exceeds its limit by 0.05 (lambda about 0.2)
Floats = NDArray[np.float64]


# -------------------------------------------------------------------- evidence over time


def evidence(
    difference: Floats, weight: Floats, limit: Floats
) -> tuple[Floats, NDArray[np.int64]]:
    """The log of the e-value that a difference of rates exceeds its limit, after each month.

    Parameters
    ----------
    difference, weight : ndarray, shape (months, comparisons)
        D and h; where h is 0 nobody was compared.
    limit : ndarray, shape (comparisons,)

    Returns
    -------
    log_e : ndarray, shape (months, comparisons)
    since : ndarray of int, shape (months, comparisons)
        The month that the evidence says a break began in.
    """
    from scipy.special import log_ndtr, logsumexp

    months = len(difference)
    z = np.cumsum(weight * (difference - limit), axis=0)
    v = np.cumsum(weight / 4, axis=0)
    before = np.zeros((1, difference.shape[1]))
    z_since = z[None] - np.concatenate([before, z[:-1]])[:, None]  # (begun, month, comparison)
    v_since = v[None] - np.concatenate([before, v[:-1]])[:, None]
    total = np.maximum(v_since, 0.0) + _PRECISION
    log_m = np.log(2) + 0.5 * np.log(_PRECISION / total)
    log_m += z_since**2 / (2 * total) + log_ndtr(z_since / np.sqrt(total))
    log_w = beginnings(months)[:, None, None] + log_m
    begun = np.arange(months)
    log_w = np.where((begun[:, None] <= begun)[..., None], log_w, -np.inf)
    rest = -np.log(begun + 2.0)[:, None]  # the weight of beginnings yet to come
    return np.logaddexp(logsumexp(log_w, axis=0), rest), log_w.argmax(axis=0)


def beginnings(months: int) -> Floats:
    """The log of each beginning's weight, 1 / (j (j + 1)): they sum to one over all months."""
    j = np.arange(1, months + 1)
    return np.asarray(-np.log(j * (j + 1.0)))


def confidence_sequence(difference: Floats, weight: Floats, alpha: float) -> tuple[Floats, Floats]:
    """Middle and half width, after each month, of the mean true difference so far.

    The mean weighs months by h. All intervals of a comparison hold at once with a chance of
    1 - alpha (the normal mixture of Howard and others); infinitely wide where nobody is compared.
    """
    h = np.cumsum(weight, axis=0)
    there = np.maximum(h, 1e-9)
    middle = np.cumsum(weight * difference, axis=0) / there
    v = h / 4 + _PRECISION
    width = np.sqrt(2 * v * np.log(np.sqrt(v / _PRECISION) / alpha)) / there
    return np.where(h > 0, middle, 0.0), np.where(h > 0, width, np.inf)


# -------------------------------------------------------------------- drift


@dataclass(frozen=True)
class Drift:
    """The change of a gap against the baseline, in its two parts (Kitagawa's decomposition).

    Attributes
    ----------
    from_base_rates : float
        Through how often each label is found in either group.
    from_model : float
        Through how often people of one label get the answer. Of a rate that is taken given the
        label this is all of it.
    base_rates, model : bool
        Whether the labels' shares, or the answers given the label, changed beyond chance in one of
        the two groups; all intervals hold at once with 95 %.
    """

    from_base_rates: float
    from_model: float
    base_rates: bool
    model: bool

    def sentence(self) -> str:
        """Which of the two it is, as far as counts can tell."""
        parts = f"{self.from_model:+.3f} through the answers, {self.from_base_rates:+.3f} through who comes"
        if self.model and self.base_rates and not self.from_base_rates:
            what = (
                "The model drifted: people of one label are answered differently than before; other "
                "people come, too, which this rate does not depend on"
            )
        elif self.model and self.base_rates:
            what = "Both drifted: alike people are answered differently, and other people come"
        elif self.model:
            what = "The model drifted: people of one label are answered differently than before"
        elif self.base_rates:
            what = "Base rates drifted: other people come, and alike people are answered as before"
        else:
            what = "Neither base rates nor the model's answers changed beyond chance, so which it is cannot be told"
        return f"{what} (the gap changed by {parts})."

    def to_json(self) -> dict[str, Any]:
        """The form that `fairfl watch --json` prints."""
        return vars(self).copy()


def drift_of(
    baseline: NDArray[Any],
    recent: NDArray[Any],
    pair: tuple[int, int],
    notion: Notion,
    rate: int,
) -> Drift | None:
    """Tell one client's drift between the baseline and since a break.

    Parameters
    ----------
    baseline, recent : ndarray, shape (groups, labels, answers)
    pair : (lower, higher) group
    notion, rate
        The rate whose gap broke.

    Returns
    -------
    Drift or None
        None where somebody of either group is not counted with a label before or since.
    """
    tables = np.stack([np.asarray(part, float)[list(pair)] for part in (baseline, recent)])
    people = tables.sum(axis=3)  # (time, group, label)
    n = people.sum(axis=2)
    if (n == 0).any():
        return None
    share = people / n[..., None]
    answer = int(notion.asked[rate].argmax())
    answered = np.divide(tables[..., answer], people, out=np.zeros_like(people), where=people > 0)
    given = notion.given[rate] > 0
    behind = share * given / np.maximum((share * given).sum(axis=2, keepdims=True), 1e-12)
    # The middle of both times weighs the other part's change.
    by_base = (np.diff(behind, axis=0)[0] * answered.mean(axis=0)).sum(axis=1)
    by_model = (behind.mean(axis=0) * np.diff(answered, axis=0)[0]).sum(axis=1)
    labels = share.shape[2]
    level = at_once(_LEVEL, 2 * (labels + int(given.sum())))
    whole = np.broadcast_to(n[..., None], share.shape)
    return Drift(
        float(by_base[1] - by_base[0]),
        float(by_model[1] - by_model[0]),
        _changed(share, whole, level),
        _changed(answered[..., given], people[..., given], level),
    )


def _changed(rate: Floats, n: Floats, level: float) -> bool:
    """Whether some rate, (time, ...), changed beyond chance."""
    there = (n > 0).all(axis=0)
    z = normal_quantile(1 - (1 - level) / 2)
    low, high = mover(rate[1][there], n[1][there], rate[0][there], n[0][there], z)
    return bool(((low > 0) | (high < 0)).any())


@dataclass(frozen=True, eq=False)
class ScopeWatch:
    """What is known of one limit: overall (`client` None) or inside a client.

    Attributes
    ----------
    client : str or None
    eps : float
    gap : ndarray, shape (months,)
        The largest difference between two groups since the first month, months weighed by people.
    low, high : ndarray, shape (months,)
        What it lies between; all limits' intervals hold at once, in all months.
    month : ndarray, shape (months,)
        The gap of each month alone; NaN where nobody can be compared.
    evidence : ndarray, shape (months,)
        The e-value that the limit is broken, times its share of `ALPHA`: 1 raises the alarm.
    people : ndarray, shape (months,)
        Those who stood behind the rates so far.
    broke : int or None
        The month in which the alarm was raised; it stays.
    since : int or None
        The month that the evidence says the break began in.
    rate : Rate
        The rate that is farthest apart, or was when the alarm was raised;
    lower, higher : str
        and the groups.
    drift : Drift or None
        What changed against the baseline since then, where the limit broke.
    """

    client: str | None
    eps: float
    gap: Floats
    low: Floats
    high: Floats
    month: Floats
    evidence: Floats
    people: Floats
    broke: int | None
    since: int | None
    rate: Rate
    lower: str
    higher: str
    drift: Drift | None

    @property
    def word(self) -> str:
        """One of "not met", "met", "not sure yet"."""
        if self.broke is not None:
            return NOT_MET
        return MET if self.high[-1] <= self.eps + margin(self.eps) else NOT_SURE


@dataclass(frozen=True, eq=False)
class Watch:
    """The months since a decision, judged by its limits.

    Parameters
    ----------
    asked : PolicyFile or FairPredictor
        The limits. Of a policy the counts hold the answers that people got. Of a predictor they
        hold the model's answers, and its lottery is applied to them in expectation.
    baseline : ClientCounts
        The people of the decision: who is watched, and what drift is measured against.
    months : sequence of Month
        In order; see `months.read_months`.
    """

    asked: PolicyFile | FairPredictor
    baseline: ClientCounts
    months: Sequence[Month]

    def __post_init__(self) -> None:
        if not self.months:
            raise InputError("there is no month to watch; give the counts of one or more.")
        if not isinstance(self.asked, PolicyFile) and self.asked.needs_scores:
            raise InputError(
                "a predictor that looks at scores cannot be applied to counts; count the answers "
                "that people got, and give the policy file."
            )
        local = [self._eps_local[name] for name in self.baseline.clients]
        if min(self.policy.eps_global, *local) >= 1:
            raise InputError("no limit was asked for, so there is nothing to watch.")

    @property
    def policy(self) -> PolicyFile:
        """The limits as a policy."""
        return self.asked if isinstance(self.asked, PolicyFile) else PolicyFile.of(self.asked)

    @cached_property
    def _eps_local(self) -> dict[str, float]:
        return dict(self.policy.limits(self.baseline.clients)["eps_local"])

    @cached_property
    def notion(self) -> Notion:
        """The rates that are compared."""
        return Notion.of(self.policy.notion, self.baseline.labels, self.baseline.favourable)

    @property
    def periods(self) -> tuple[str, ...]:
        """The months' names."""
        return tuple(month.period for month in self.months)

    @cached_property
    def _aligned(self) -> tuple[NDArray[np.int64], list[str]]:
        return align(self.months, self.baseline)

    @property
    def notes(self) -> list[str]:
        """Remarks beside the verdict, in sentences."""
        table, notes = self._aligned
        sentences, waiting = list(notes), int(table[..., -1, :].sum())
        if waiting:
            with_label = any(rate.label is not None for rate in self.notion.rates)
            how = "left out, as its rates need labels" if with_label else "counted"
            sentences.append(
                f"{waiting:,} of {int(table.sum()):,} people have no "
                f"label yet; for {self.notion.name} they are {how}."
            )
        beyond = self.policy.beyond_gaps
        if beyond:
            sentences.append(f"Not watched, though asked: {', '.join(beyond)}.")
        return sentences

    @cached_property
    def _behind(self) -> tuple[Floats, Floats]:
        """Answered and people behind each rate: (months, scopes, groups, rates), overall first."""
        answered = self._aligned[0].astype(float)
        if not isinstance(self.asked, PolicyFile):
            lottery = self.asked.lottery_for(self.baseline)
            answered = np.einsum("mcayj,cajk->mcayk", answered, lottery)
        free = [[rate.label is None] for rate in self.notion.rates]  # counts who has no label, too
        given = np.hstack([self.notion.given, np.array(free, float)])
        counted = np.einsum("mcayk,ry,rk->mcar", answered, given, self.notion.asked)
        people = np.einsum("mcayk,ry->mcar", answered, given)
        counted, people = (
            np.concatenate([x.sum(axis=1, keepdims=True), x], axis=1) for x in (counted, people)
        )
        return counted, people

    @cached_property
    def scopes(self) -> list[ScopeWatch]:
        """Every limit that was asked and can be assessed on the baseline: overall first."""
        counted, people = self._behind
        rate = np.divide(counted, people, out=np.zeros_like(people), where=people > 0)
        expected = self.notion.people(self.baseline.n_label)
        expected = np.concatenate([expected.sum(axis=0)[None], expected])
        eps = np.array(
            [self.policy.eps_global, *(self._eps_local[c] for c in self.baseline.clients)]
        )
        pairs = np.array(list(permutations(range(len(self.baseline.groups)), 2)))
        both = (expected[:, pairs[:, 0]] > 0) & (expected[:, pairs[:, 1]] > 0)
        scope, pair, which = np.nonzero(both & (eps < 1)[:, None, None])
        if not len(scope):
            raise InputError("no limit can be assessed: the baseline has one group a client only.")
        high, low = pairs[pair].T
        difference = rate[:, scope, high, which] - rate[:, scope, low, which]
        n_high, n_low = people[:, scope, high, which], people[:, scope, low, which]
        weight = n_high * n_low / np.maximum(n_high + n_low, 1.0)
        share = ALPHA / len(scope)
        log_e, since = evidence(difference, weight, eps[scope])
        strength = np.exp(np.minimum(log_e + np.log(share), 700.0))
        middle, width = confidence_sequence(difference, weight, 2 * share)
        month = np.where(weight > 0, difference, -np.inf)
        found = []
        for one in np.unique(scope).tolist():
            mine = np.flatnonzero(scope == one)  # of each rate all ordered pairs of groups
            most = strength[:, mine].max(axis=1)
            over = np.flatnonzero(most >= 1)
            broke = int(over[0]) if over.size else None
            farthest = middle[-1, mine] if broke is None else strength[broke, mine]
            at = mine[farthest.argmax()]
            began = None if broke is None else int(since[broke, at])
            alone = month[:, mine].max(axis=1)
            found.append(
                ScopeWatch(
                    client=self.baseline.clients[one - 1] if one else None,
                    eps=float(eps[one]),
                    gap=np.maximum(middle[:, mine].max(axis=1), 0.0),
                    low=np.clip((middle - width)[:, mine].max(axis=1), 0.0, 1.0),
                    high=np.clip((middle + width)[:, mine].max(axis=1), 0.0, 1.0),
                    month=np.where(np.isfinite(alone), alone, np.nan),
                    evidence=most,
                    people=people[:, one].sum(axis=1).cumsum(axis=0)[:, which[at]],
                    broke=broke,
                    since=began,
                    rate=self.notion.rates[which[at]],
                    lower=self.baseline.groups[low[at]],
                    higher=self.baseline.groups[high[at]],
                    drift=self._drift(one - 1, began, (low[at], high[at]), which[at]),
                )
            )
        return found

    def _drift(
        self, client: int, began: int | None, pair: tuple[int, int], rate: int
    ) -> Drift | None:
        """What changed in a client against the baseline since a break."""
        if began is None or client < 0:
            return None
        recent = self._aligned[0][began:, client, :, :-1].sum(axis=0)
        return drift_of(self.baseline.table[client], recent, pair, self.notion, rate)

    # ---------------------------------------------------------------- sentences

    @property
    def broken(self) -> list[ScopeWatch]:
        """Limits that broke, the first one first."""
        found = [one for one in self.scopes if one.broke is not None]
        return sorted(found, key=lambda one: one.broke or 0)

    @property
    def word(self) -> str:
        """The verdict of all limits together."""
        words = {one.word for one in self.scopes}
        return next(word for word in (NOT_MET, NOT_SURE, MET) if word in words)

    @property
    def code(self) -> int:
        """How the process ends: 0 met, 1 a limit broke, 3 undecided."""
        return {MET: PASSED, NOT_MET: FAILED, NOT_SURE: UNSURE}[self.word]

    def sentence_of(self, one: ScopeWatch) -> str:
        """Who broke which limit, when, and on how many people."""
        where = "overall" if one.client is None else f"in {one.client}"
        if one.broke is None:
            return (
                f"{where}: between {one.low[-1]:.3f} and {one.high[-1]:.3f} where {one.eps:g} is "
                f"allowed ({one.word})."
            )
        assert one.since is not None
        n = int(one.people[one.broke] - (one.people[one.since - 1] if one.since else 0))
        began = self.periods[one.since]
        whom = "" if one.rate.label is None else f" with “{one.rate.label}”"
        return (
            f"{where}: not within {one.eps:g} any more. Found in {self.periods[one.broke]}, probably "
            f"since {began}, on {members(n, 'people')}{whom}: “{one.rate.answer}” is answered more "
            f"often to {one.higher} than to {one.lower}."
        )

    # ---------------------------------------------------------------- what to do next

    def solve_again(self) -> tuple[Solution, FairPredictor]:
        """The most accurate lottery within the limits on the people since the first break.

        Without a break on everybody; clients without anybody labelled go. The solution's `accuracy`
        less `model_accuracy` is what it would cost against the answers that were counted; the
        predictor has its certificate.
        """
        first = min((one.since or 0 for one in self.broken), default=0)
        table, base, policy = self._aligned[0][first:, :, :, :-1], self.baseline, self.policy
        table = table.sum(axis=0)
        there = table.sum(axis=(1, 2, 3)) > 0
        if not there.any():
            raise InputError(
                "nobody has a label yet, so there is nobody to solve on; wait for labels."
            )
        names = tuple(name for name, one in zip(base.clients, there, strict=True) if one)
        counts = ClientCounts(
            table[there], names, base.groups, base.labels, base.favourable, grouping=base.grouping
        )
        region = None if isinstance(self.asked, PolicyFile) else self.asked.region
        program = FairnessProgram(
            counts, policy.notion, region, guarantee=policy.guarantee, policy=policy.policy
        )
        local = {name: self._eps_local[name] for name in names}
        solution = program.solve(policy.eps_global, local)
        return solution, FairPredictor.from_solution(solution).certified_by(program)

    @staticmethod
    def cost_sentence(solution: Solution) -> str:
        """What `solve_again` would cost."""
        points = 100 * (solution.accuracy - solution.model_accuracy)
        how = "less" if points < 0 else "more"
        return (
            f"On {members(solution.counts.n, 'people')} since the break: {solution.accuracy:.1%} "
            f"right, {abs(points):.2f} points {how} than the answers counted; worst gap inside a "
            f"client {solution.gaps.local_worst:.3f}."
        )

    def to_json(self) -> dict[str, Any]:
        """What `fairfl watch --json` prints."""
        return {
            "verdict": self.word,
            "notion": self.notion.name,
            "alpha": ALPHA,
            "periods": list(self.periods),
            "limits": [
                {
                    "client": one.client,
                    "verdict": one.word,
                    "eps": one.eps,
                    "gap": one.gap.tolist(),
                    "interval": [
                        [float(a), float(b)] for a, b in zip(one.low, one.high, strict=True)
                    ],
                    "evidence": one.evidence.tolist(),
                    "people": [int(n) for n in one.people],
                    "broke": None if one.broke is None else self.periods[one.broke],
                    "since": None if one.since is None else self.periods[one.since],
                    "label": one.rate.label,
                    "answer": one.rate.answer,
                    "lower": one.lower,
                    "higher": one.higher,
                    "drift": None if one.drift is None else one.drift.to_json(),
                }
                for one in self.scopes
            ],
            "notes": self.notes,
        }
