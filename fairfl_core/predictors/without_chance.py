"""The best predictor without a lottery: of two labels, one rule for each client and group."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp

from fairfl_core.data.counts import ClientCounts
from fairfl_core.data.scored import ScoredData
from fairfl_core.errors import InfeasibleError, InputError, SolveError
from fairfl_core.fairness.notions import Notion, gaps, number_or_none
from fairfl_core.lp.constraints import constraints_for
from fairfl_core.lp.linear_program import LinearProgram
from fairfl_core.lp.regions import region_kind
from fairfl_core.lp.rules import RuleTable, ScoreRules
from fairfl_core.predictors.kinds import FairPredictor, ScorePredictor
from fairfl_core.predictors.metadata import Reached
from fairfl_core.predictors.predictor import Predictor

__all__ = ["WithoutChance", "without_chance"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_MOST_CUTS = 64  # of a cell's scores; all of them where there are no more
_SECONDS = 60.0
_SLACK = 1e-9
_GAP = 1e-4  # of the objective, within which an optimum counts as found


@dataclass(frozen=True, eq=False)
class WithoutChance:
    """What the best rules without chance do on the people they were chosen on.

    Attributes
    ----------
    predictor : Predictor
        One rule for each client and group: a threshold, or what becomes of the model's answers.
    lottery : Predictor
        What it stands beside: the best lottery within the same limits.
    upper : float
        No choice of these rules has a larger utility.
    """

    predictor: Predictor
    lottery: Predictor
    upper: float

    @property
    def price(self) -> float:
        """Accuracy that it costs to do without chance."""
        return self.lottery.reached.accuracy - self.predictor.reached.accuracy

    def sentence(self) -> str:
        """Say what it reaches, beside the lottery."""

        def worst(reached: Reached) -> str:
            local = max((gap for gap in reached.gap_local if gap is not None), default=None)
            whole = reached.gap_global
            return ", ".join(
                f"{name} {'none' if gap is None else f'{gap:.3f}'}"
                for name, gap in (("overall gap", whole), ("largest gap in a client", local))
            )

        mine, other = self.predictor.reached, self.lottery.reached
        change = 100 * abs(self.price)
        return (
            f"Without chance: accuracy {mine.accuracy:.1%}, {worst(mine)}. With the lottery: "
            f"{other.accuracy:.1%}, {worst(other)}. Doing without chance "
            f"{'costs' if self.price >= 0 else 'gains'} {change:.2f} points here."
        )

    def to_json(self) -> dict[str, object]:
        """The form that `solve --json` prints."""
        reached = self.predictor.reached
        return {
            "accuracy": reached.accuracy,
            "price": self.price,
            "utility_at_most": self.upper,
            "gap": {
                "global": reached.gap_global,
                "local": dict(zip(self.predictor.clients, reached.gap_local, strict=True)),
            },
        }


def without_chance(lottery: Predictor, people: ScoredData | ClientCounts) -> WithoutChance:
    """Find the best rules without chance within the limits of a lottery, for two labels.

    One rule a cell, chosen together by a mixed-integer program with the lottery's own rows (gaps,
    floors, ratios, precision, capacity). A predictor of scores gets a threshold for each cell, out
    of all scores there or of 64 evenly many people apart; another keeps the model's answers or
    gives everybody one.

    Raises
    ------
    InfeasibleError
        Where no such rules keep the limits, though a lottery does.
    """
    if len(lottery.labels) != 2:
        raise InputError(
            f"rules without chance are found for two labels, and there are {len(lottery.labels)}; "
            "leave out --deterministic."
        )
    if lottery.folds > 1 or not lottery.needs_group:
        raise InputError(
            "rules without chance are found for one model whose groups are known; leave out "
            "--deterministic, or --fold and --without-group."
        )
    if lottery.guarantee is not None:
        raise InputError(
            "a confidence is had for lotteries, whose margins rules without chance do not keep; "
            "leave out --confidence or --deterministic."
        )
    counts = people.counts
    if isinstance(lottery, ScorePredictor):
        if not isinstance(people, ScoredData):
            raise InputError(
                "thresholds are found on people with scores; give the table, not a histogram."
            )
        rules, table = _cuts(lottery, people)
    else:
        rules, table = None, _answers(lottery, counts)
    chosen, upper = _choose(lottery, counts, table)
    confusion = np.zeros((len(counts.clients), len(counts.groups), 2, 2))
    np.add.at(confusion, (table.client[chosen], table.group[chosen]), table.confusion[chosen])
    reached = _reached(lottery, counts, confusion)
    found: Predictor
    if rules is not None:
        assert isinstance(lottery, ScorePredictor)
        found = replace(
            lottery, rules=rules.take(chosen), beta=np.ones(len(chosen)), reached=reached
        )
    else:
        assert isinstance(lottery, FairPredictor) and table.response is not None
        response = table.response[chosen].reshape(lottery.lottery.shape)
        found = replace(lottery, lottery=response, reached=reached)
    return WithoutChance(found, lottery, upper)


def _reached(lottery: Predictor, counts: ClientCounts, confusion: Floats) -> Reached:
    notion = Notion.of(lottery.notion, counts.labels, counts.favourable)
    found = gaps(notion.answered(confusion), notion.people(counts.n_label))
    return replace(
        lottery.reached,
        accuracy=float(np.einsum("cayy->", confusion) / counts.n),
        gap_global=number_or_none(found.overall),
        gap_local=tuple(number_or_none(gap) for gap in found.local),
    )


# -------------------------------------------------------------------- rules to choose from


def _answers(lottery: Predictor, counts: ClientCounts) -> RuleTable:
    """What the region does without chance: keep the model's answers, give everybody one, ..."""
    response = region_kind(lottery.region).answer_rules(counts.labels).corners
    clients, groups = counts.table.shape[:2]
    confusion = np.einsum("cayj,pjk->capyk", np.asarray(counts.table, float), response)
    cell = np.repeat(np.arange(clients * groups), len(response))
    return _table(
        cell, groups, confusion.reshape(-1, 2, 2), np.tile(response, (clients * groups, 1, 1))
    )


def _cuts(lottery: ScorePredictor, people: ScoredData) -> tuple[ScoreRules, RuleTable]:
    """The second label above a threshold of the score, or for nobody, or for everybody."""
    score = people.scores_by(lottery.calibration)[:, 1]
    groups = len(people.groups)
    cells, at, confusion = [], [], []
    for place in range(len(people.clients) * groups):
        mine = people.cell == place
        by_label = [np.sort(score[mine & (people.label == label)]) for label in (0, 1)]
        different = np.unique(score[mine])
        if len(different) > _MOST_CUTS:
            places = np.linspace(0, mine.sum() - 1, _MOST_CUTS).round().astype(int)
            different = np.unique(np.sort(score[mine])[places])
        cut = np.concatenate([[-1.0], different])  # above -1: everybody; above the last: nobody
        above = np.stack([len(one) - np.searchsorted(one, cut, "right") for one in by_label], 1)
        whole = np.array([len(one) for one in by_label])
        cells.append(np.full(len(cut), place))
        at.append(cut)
        confusion.append(np.stack([whole - above, above], axis=2))
    cell, cut = np.concatenate(cells), np.concatenate(at)
    client, group = np.divmod(cell, groups)
    rules = ScoreRules.cuts(client, group, cut, np.ones(len(cut), bool))
    return rules, _table(cell, groups, np.concatenate(confusion).astype(float), None)


def _table(cell: Ints, groups: int, confusion: Floats, response: Floats | None) -> RuleTable:
    """Rules as columns of a program; what only a lottery needs is left blank."""
    blank = np.zeros(len(cell))
    return RuleTable(
        client=cell // groups,
        group=cell % groups,
        block=cell,
        span=np.ones(len(cell), np.int64),
        confusion=confusion,
        kept=blank,
        keeps=blank > 0,
        known=np.full((len(cell), 2), np.nan),
        response=response,
    )


# -------------------------------------------------------------------- the program


def _choose(lottery: Predictor, counts: ClientCounts, table: RuleTable) -> tuple[Ints, float]:
    """One rule of every cell, in the order of cells, and the most that its utility could be."""
    notion = Notion.of(lottery.notion, counts.labels, counts.favourable)
    rows = constraints_for(counts, notion, None, lottery.policy, cuts=False)
    local = dict(zip(lottery.clients, lottery.eps_local, strict=True))
    eps_local = np.array([local[name] for name in counts.clients])
    gain = lottery.policy.utility.of(counts)
    worth = np.einsum("pyk,yk->p", table.confusion, gain) / counts.n
    program = LinearProgram.of(rows, table, worth, np.zeros(len(table)))
    lower, upper = program.limits(lottery.eps_global, eps_local)
    free, one = np.full(program.auxiliary, np.inf), np.ones(len(table))
    found = milp(
        np.append(np.zeros(program.auxiliary), -worth),
        integrality=np.append(np.zeros(program.auxiliary), one),
        bounds=Bounds(0, np.append(free, one)),
        constraints=LinearConstraint(program.whole, lower - _SLACK, upper + _SLACK),
        options={"time_limit": _SECONDS, "mip_rel_gap": _GAP},
    )
    if found.status == 2:
        raise InfeasibleError(
            "No rule without chance keeps these limits, though a lottery does; widen them, or "
            "leave out --deterministic."
        )
    if found.x is None:
        raise SolveError(
            f"no rule without chance was found in {_SECONDS:g} s; leave out --deterministic."
        )
    chosen = np.flatnonzero(found.x[program.auxiliary :] > 0.5)
    return chosen[np.argsort(table.block[chosen])], -float(found.mip_dual_bound)
