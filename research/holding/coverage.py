"""How often a limit holds: samples of a population whose true gaps are known.

A population is drawn from, a program is fitted on the sample, and its lottery is judged on the
whole population. Nothing is estimated but by the number of draws.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from fairfl_core.data.scored import ScoredData
from fairfl_core.errors import InputError
from fairfl_core.evaluation.evaluation import Evaluation, evaluate
from fairfl_core.lp.guarantee import Guarantee
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.lp.regions import region_kind
from fairfl_core.predictors.kinds import predictor_of

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Setting:
    """A region, its rates, its limits (epsilon_0 and one epsilon_c for all), its confidence."""

    region: str
    rates: str
    eps_global: float
    eps_local: float
    guarantee: Guarantee | None = None

    @property
    def unguarded(self) -> "Setting":
        """The same limits, asked for with no confidence."""
        return replace(self, guarantee=None)

    @property
    def needs_scores(self) -> bool:
        """Whether its lottery looks at scores: with more labels it has no confidence."""
        return region_kind(self.region).needs_scores


def programs_of(
    people: ScoredData, notion: str, settings: Iterable[Setting]
) -> Iterator[tuple[Setting, FairnessProgram]]:
    """Each setting with its program; recalibrated once, built once for all limits."""
    settings = list(settings)
    if any(setting.needs_scores for setting in settings):
        people = people.calibrated
    programs: dict[Setting, FairnessProgram] = {}
    for setting in settings:
        limitless = replace(setting, eps_global=1.0, eps_local=1.0)
        if limitless not in programs:
            programs[limitless] = FairnessProgram(
                people,
                notion,
                setting.region,
                rates=setting.rates,
                guarantee=setting.guarantee,
            )
        yield setting, programs[limitless]


_SOLVED = 1e-6  # a gap that a program left on its limit may lie this far above it


@dataclass(frozen=True, eq=False)
class Coverage:
    """True gaps in the population of lotteries fitted on samples of it, one entry a draw.

    Attributes
    ----------
    setting : Setting
        What was asked.
    seed : ndarray, shape (draws,)
        Whose seed's population each draw is from.
    local : ndarray, shape (draws, clients)
        True gap of each client; NaN where the population has nothing to compare.
    overall : ndarray, shape (draws,)
        True overall gap.
    accuracy : ndarray, shape (draws,)
        True accuracy.
    """

    setting: Setting
    seed: Ints
    local: Floats
    overall: Floats
    accuracy: Floats

    @classmethod
    def join(cls, parts: Sequence["Coverage"]) -> "Coverage":
        """The draws of several, all of one setting."""
        arrays = (np.concatenate([getattr(part, name) for part in parts]) for name in _BY_DRAW)
        return cls(parts[0].setting, *arrays)

    @property
    def held(self) -> Floats:
        """1 where a client's true gap is within the limit, 0 where not, shape (draws, clients)."""
        within = (self.local <= self.setting.eps_local + _SOLVED).astype(float)
        return np.where(np.isnan(self.local), np.nan, within)

    @property
    def mean(self) -> float:
        """Share of draws and clients whose true gap is within the limit."""
        return float(np.nanmean(self.held))

    @property
    def error(self) -> float:
        """Standard error of `mean`, from its spread between draws."""
        if len(self.seed) < 2:
            return float("nan")
        return float(np.nanmean(self.held, axis=1).std(ddof=1) / np.sqrt(len(self.seed)))

    @property
    def by_client(self) -> Floats:
        """Share of draws in which each client's limit holds; NaN where it has no gap."""
        there = ~np.isnan(self.local)
        within = np.nan_to_num(self.held).sum(axis=0)
        return np.divide(
            within,
            there.sum(axis=0),
            out=np.full(there.shape[1], np.nan),
            where=there.any(axis=0),
        )

    @property
    def least(self) -> int:
        """Position of the client whose limit holds least often."""
        return int(np.nanargmin(self.by_client))

    @property
    def least_share(self) -> float:
        """How often that client's limit holds."""
        return float(self.by_client[self.least])

    @property
    def together(self) -> float:
        """Share of draws in which every client's limit holds."""
        return float((np.nan_to_num(self.held, nan=1.0) == 1).all(axis=1).mean())

    @property
    def overall_held(self) -> float:
        """Share of draws in which the overall limit holds."""
        return float((self.overall <= self.setting.eps_global + _SOLVED).mean())


_BY_DRAW = tuple(field.name for field in fields(Coverage) if field.name != "setting")


def draw_people(population: ScoredData, sizes: Ints, rng: np.random.Generator) -> ScoredData:
    """Draw so many people of each client, with replacement: the population is what is true."""
    there = np.bincount(population.client, minlength=len(population.clients))
    absent = np.flatnonzero((there == 0) & (sizes > 0))
    if len(absent):
        raise InputError(
            f"the population has nobody of {population.clients[absent[0]]}; draw nobody there."
        )
    by_client = np.argsort(population.client, kind="stable")
    client = np.repeat(np.arange(len(there)), sizes)
    first = np.cumsum(there) - there
    rows = by_client[first[client] + (rng.random(len(client)) * there[client]).astype(np.int64)]
    drawn = {
        name: getattr(population, name)[rows]
        for name in ("client", "group", "label", "scores", "predicted")
    }
    return replace(population, **drawn)


def filled(population: ScoredData, least: int, rng: np.random.Generator) -> ScoredData:
    """Give every client, group and label at least so many people, so that none is truly empty.

    Those who are missing are people of the same group and label, drawn from all clients with
    replacement. A group and label that no client has stays empty.
    """
    there = population.counts.n_label
    missing = np.where(there.sum(axis=0) > 0, np.maximum(least - there, 0), 0)
    client, group, label = (np.repeat(code, missing.ravel()) for code in _codes(there))
    kind = population.group * len(population.labels) + population.label
    by_kind = np.argsort(kind, kind="stable")
    many = there.sum(axis=0).ravel().astype(np.int64)
    asked = group * len(population.labels) + label
    first = (np.cumsum(many) - many)[asked]
    rows = by_kind[first + (rng.random(len(asked)) * many[asked]).astype(np.int64)]
    rows = np.concatenate([np.arange(len(population)), rows])
    drawn = {
        name: getattr(population, name)[rows] for name in ("group", "label", "scores", "predicted")
    }
    return replace(population, client=np.append(population.client, client), **drawn)


def _codes(table: Floats) -> tuple[Ints, ...]:
    """Client, group and label of every entry, each in one row."""
    return tuple(code.ravel() for code in np.indices(table.shape))


def coverage(
    population: ScoredData,
    sizes: Ints,
    notion: str,
    settings: Sequence[Setting],
    *,
    draws: int,
    seed: Sequence[int],
    on_progress: Callable[[], None] = lambda: None,
) -> dict[Setting, Coverage]:
    """Fit every setting on the same samples and judge it on the population.

    Parameters
    ----------
    population : ScoredData
        Whose gaps are the true ones, with the model's own scores.
    sizes : ndarray, shape (clients,)
        People drawn of each client. Groups and labels come as chance has it.
    notion : str
    settings : sequence of Setting
    draws : int
        How many samples.
    seed : sequence of int
        The same seed draws the same people. The first is the population's own.
    on_progress : callable, optional
        Called after every draw.
    """
    judged: dict[Setting, list[Evaluation]] = {setting: [] for setting in settings}
    for draw in range(draws):
        sample = draw_people(population, sizes, np.random.default_rng([*seed, draw]))
        for setting, program in programs_of(sample, notion, settings):
            solution = program.solve(setting.eps_global, setting.eps_local)
            judged[setting].append(evaluate(predictor_of(solution), population))
        on_progress()
    return {
        setting: Coverage(
            setting,
            np.full(draws, seed[0], np.int64),
            np.array([one.gaps.local for one in evaluations]),
            np.array([one.gaps.overall for one in evaluations]),
            np.array([one.accuracy for one in evaluations]),
        )
        for setting, evaluations in judged.items()
    }
