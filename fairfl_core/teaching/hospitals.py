"""The worked examples of the lesson: small made-up hospitals, computed as any others are.

Nobody here is real. Every example is made in code, the same each time, and goes the usual way:
counts, program, predictor, evaluation. Labels are "healthy" and "ill", groups women and men. Only the
messages are real: one client's own log of the demo run of a federation.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairfl_core._io.files import APP_ROOT, read_json
from fairfl_core.data.counts import ClientCounts
from fairfl_core.data.scored import ScoredData
from fairfl_core.evaluation.evaluation import Evaluation, evaluate, evaluate_answers
from fairfl_core.fairness.notions import Notion
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.lp.regions import region_kind
from fairfl_core.predictors.kinds import FairPredictor

Floats = NDArray[np.float64]
LABELS = ("healthy", "ill")
GROUPS = ("women", "men")
SEED = 7


def untouched(counts: ClientCounts, notion: str) -> Evaluation:
    """Judge the model's own answers."""
    size = len(counts.labels)
    keep = np.broadcast_to(np.eye(size), (len(counts.clients), len(counts.groups), size, size))
    which = Notion.of(notion, counts.labels, counts.favourable)
    return evaluate_answers(counts.under_lottery(keep), counts, which)


def together(counts: ClientCounts) -> ClientCounts:
    """All clients' people as if they were one client's."""
    return replace(counts, table=counts.table.sum(axis=0)[None], clients=("All together",))


# -------------------------------------------------------------------- 1: a network


def network() -> ClientCounts:
    """Three hospitals of different size: women are overlooked in one, men in another."""
    return ClientCounts(
        np.array(
            [
                [[[216, 24], [16, 64]], [[204, 36], [8, 72]]],
                [[[80, 20], [10, 50]], [[85, 15], [18, 42]]],
                [[[330, 30], [42, 78]], [[315, 45], [24, 96]]],
            ]
        ),
        ("Hillside", "Lakeview", "Port"),
        GROUPS,
        LABELS,
    )


# -------------------------------------------------------------------- 2: four people

PEOPLE = (("Ana", "women"), ("Bea", "women"), ("Carl", "men"), ("Dan", "men"))


def four_people(truly_ill: Sequence[bool], predicted_ill: Sequence[bool]) -> ClientCounts:
    """Count `PEOPLE`, given who is ill and whom the model calls ill."""
    table = np.zeros((1, 2, 2, 2), int)
    for (_, group), truth, predicted in zip(PEOPLE, truly_ill, predicted_ill, strict=True):
        table[0, GROUPS.index(group), int(truth), int(predicted)] += 1
    return ClientCounts(table, ("Four people",), GROUPS, LABELS)


# -------------------------------------------------------------------- 3: a pair of hospitals


@dataclass(frozen=True)
class Pair:
    """Shares of ill people recognised, in percent: (women, men) of North and of South."""

    north: tuple[int, int]
    south: tuple[int, int]
    women: tuple[int, int]  # share of women in North and in South, in percent


PAIRS = {
    "fair": Pair((90, 90), (50, 50), (20, 80)),
    "unfair": Pair((90, 70), (70, 90), (50, 50)),
    "reversed": Pair((95, 85), (55, 45), (20, 80)),
}


def pair_of_hospitals(pair: Pair, women: tuple[int, int], ill: int = 200) -> ClientCounts:
    """North and South, each with `ill` ill and as many healthy people.

    `women` are the shares of women in each, in percent, and a multiple of ten: then every count
    is whole and the shares recognised are exactly the pair's.
    """
    table = np.zeros((2, 2, 2, 2), int)
    for c, (rates, share) in enumerate(zip((pair.north, pair.south), women, strict=True)):
        for a, (rate, percent) in enumerate(zip(rates, (share, 100 - share), strict=True)):
            people = ill * percent // 100
            found = people * rate // 100
            right = people * 9 // 10
            table[c, a] = [[right, people - right], [people - found, found]]
    return ClientCounts(table, ("North", "South"), GROUPS, LABELS)


# -------------------------------------------------------------------- 4: one hospital's scores


@dataclass(frozen=True, eq=False)
class Roc:
    """Every threshold's pair of shares for one group, from strictest to laxest."""

    group: str
    false_alarms: Floats
    recognised: Floats


_CUTS = (1.2, 0.6)  # where the model cuts each group: strict with women, lax with men
_APART = 1.7  # how far the ill lie from the healthy, in standard deviations
_ILL, _HEALTHY = 120, 180


def _made_up_scores() -> list[tuple[Floats, NDArray[np.bool_]]]:
    """Scores in (0, 1) and who is ill, for each group; from a half on the model says ill."""
    rng = np.random.default_rng(SEED)
    ill = np.arange(_ILL + _HEALTHY) < _ILL
    found = []
    for cut in _CUTS:
        signs = rng.normal(size=ill.size) + _APART * ill
        found.append((1 / (1 + np.exp(-2 * (signs - cut))), ill))
    return found


def one_hospital() -> ClientCounts:
    """The hospital whose scores `roc_curves` draws."""
    table = np.zeros((1, 2, 2, 2), int)
    for a, (scores, ill) in enumerate(_made_up_scores()):
        np.add.at(table[0, a], (ill.astype(int), (scores >= 0.5).astype(int)), 1)
    return ClientCounts(table, ("One hospital",), GROUPS, LABELS)


def scored_hospital() -> ScoredData:
    """The people of `one_hospital` with their scores."""
    made = _made_up_scores()
    ill = np.concatenate([truth for _, truth in made]).astype(np.int64)
    scores = np.concatenate([score for score, _ in made])
    return ScoredData(
        client=np.zeros_like(ill),
        group=np.repeat(np.arange(len(GROUPS)), _ILL + _HEALTHY),
        label=ill,
        scores=np.stack([1 - scores, scores], axis=1),
        predicted=(scores >= 0.5).astype(np.int64),
        clients=("One hospital",),
        groups=GROUPS,
        labels=LABELS,
        favourable=LABELS[1],
    )


def roc_curves() -> tuple[Roc, ...]:
    """Each group's ROC curve."""
    curves = []
    for group, (scores, ill) in zip(GROUPS, _made_up_scores(), strict=True):
        order = np.argsort(-scores, kind="stable")
        recognised = np.append(0, ill[order].cumsum()) / ill.sum()
        false_alarms = np.append(0, (~ill[order]).cumsum()) / (~ill).sum()
        curves.append(Roc(group, false_alarms, recognised))
    return tuple(curves)


def corners(counts: ClientCounts, region: str) -> Floats:
    """The shares recognised under each fixed rule of a region: (groups, rules, labels).

    These are the corners of what a lottery can reach. Simplex: the model's answer, then each
    constant. Kernel: every way to turn the model's answer into another.
    """
    rules = region_kind(region).answer_rules(counts.labels).corners
    notion = Notion.of("eo", counts.labels, counts.favourable)
    answered = notion.answered(np.einsum("ayj,pjk->apyk", counts.table[0], rules))
    return np.asarray(answered / notion.people(counts.n_label[0])[:, None, :])


@dataclass(frozen=True, eq=False)
class Reach:
    """The most accurate lottery of a lone client within a limit.

    `share` is the share recognised of each group and label; `predictor` the lottery itself.
    """

    share: Floats
    accuracy: float
    model_accuracy: float
    gap: float
    predictor: FairPredictor


def reach(program: FairnessProgram, epsilon: float) -> Reach:
    """Solve a program of one client; local and global are then the same limit."""
    solution = program.solve(epsilon, epsilon)
    predictor = FairPredictor.from_solution(solution)
    counts = program.counts
    notion = Notion.of("eo", counts.labels, counts.favourable)
    judged = evaluate_answers(counts.under_lottery(predictor.lottery), counts, notion)
    return Reach(
        share=judged.rates[0],
        accuracy=solution.accuracy,
        model_accuracy=solution.model_accuracy,
        gap=float(solution.gaps.local[0]),
        predictor=predictor,
    )


# -------------------------------------------------------------------- 5: three answers


def skin_clinic() -> ClientCounts:
    """One clinic, three answers: leave a spot alone, watch it, or treat it."""
    women = [[160, 30, 10], [20, 60, 20], [5, 10, 45]]
    men = [[130, 45, 25], [15, 75, 10], [12, 18, 30]]
    answers = ("leave", "watch", "treat")
    return ClientCounts(np.array([[women, men]]), ("One clinic",), GROUPS, answers)


# -------------------------------------------------------------------- 7: what a limit is worth

# Shares of all people by group, label and the model's answer: 40 in 100 are ill, and the model
# recognises 70 % of ill women and 86 % of ill men.
_POPULATION = np.array([[[0.264, 0.036], [0.060, 0.140]], [[0.219, 0.081], [0.028, 0.172]]])


def _of_size(n: float) -> ClientCounts:
    """The made-up population, as if exactly n of its people were counted."""
    return ClientCounts(_POPULATION[None] * n, ("One hospital",), GROUPS, LABELS, noisy=True)


@dataclass(frozen=True, eq=False)
class Carried:
    """What becomes of a limit met exactly on n people.

    `true` are the gaps of many such predictors over the whole population. `floor` is the gap
    that chance alone shows on n people; `low` and `high` are the limits within which the true
    gap may lie when the gap seen on n people is just the limit asked.
    """

    n: int
    epsilon: float
    true: Floats
    floor: float
    low: float
    high: float

    @property
    def ill(self) -> tuple[int, ...]:
        """About how many of the n people are ill, of each group: the gap compares only these."""
        shares = _POPULATION[:, 1].sum(axis=1)
        return tuple(round(self.n * float(share)) for share in shares)

    @property
    def typical(self) -> float:
        """The median of the true gaps."""
        return float(np.median(self.true))

    @property
    def range(self) -> tuple[float, float]:
        """Between which two values nine of ten true gaps lie."""
        low, high = np.quantile(self.true, [0.05, 0.95])
        return float(low), float(high)


def carried_over(n: int, epsilon: float, draws: int = 400) -> Carried:
    """Draw n people many times, meet the limit on them, and judge on everybody (`eop`).

    Each draw is one client of one program. Without a global limit clients do not touch, so this
    is the same as solving them one by one.
    """
    rng = np.random.default_rng([SEED, n])
    tables = rng.multinomial(n, _POPULATION.ravel(), size=draws).reshape(-1, 2, 2, 2)
    names = tuple(f"draw {i + 1}" for i in range(draws))
    solution = FairnessProgram(ClientCounts(tables, names, GROUPS, LABELS), "eop").solve(
        1.0, epsilon
    )
    everybody = ClientCounts(
        np.broadcast_to(_POPULATION * 1e6, tables.shape), names, GROUPS, LABELS, noisy=True
    )
    true = evaluate(FairPredictor.from_solution(solution), everybody).gaps.local
    low, high = _on(n, epsilon).local_interval
    return Carried(n, epsilon, true, chance_alone(n), float(low[0]), float(high[0]))


def chance_alone(n: float) -> float:
    """The gap that a perfectly fair predictor shows on n people, on average."""
    return float(_on(n, 0.0).noise_floor[0])


def _on(n: float, epsilon: float) -> Evaluation:
    """The best predictor for everybody within epsilon, judged on n people like everybody."""
    solution = FairnessProgram(_of_size(1e6), "eop").solve(epsilon, epsilon)
    return evaluate(FairPredictor.from_solution(solution), _of_size(n))


# ------------------------------------------------------------------- why precision and error rates cannot all be equal


# With a share p of a group truly ill, of whom TPR are told so, and FPR of the healthy too, the
# precision is p TPR / (p TPR + (1 - p) FPR). Groups with other p have other precision at equal error
# rates, unless nobody healthy is told ill (Chouldechova 2017; Kleinberg, Mullainathan, Raghavan 2017).


def precision(ill: float, true_positive: float, false_positive: float) -> float:
    """Of those told ill, how many are; NaN where nobody is told so."""
    right, wrong = ill * true_positive, (1 - ill) * false_positive
    return right / (right + wrong) if right + wrong > 0 else float("nan")


def equalising_rate(ill: float, true_positive: float, wanted: float) -> float:
    """The false-positive rate that gives a group this precision; NaN where none in [0, 1] does."""
    if ill >= 1 or wanted <= 0:
        return float("nan")
    rate = ill * true_positive * (1 - wanted) / ((1 - ill) * wanted)
    return rate if rate <= 1 else float("nan")


# -------------------------------------------------------------------- what one client sends


@dataclass(frozen=True)
class DemoLog:
    """What one client sent and received, from joining to the verdict.

    Attributes
    ----------
    study, client : str
        Which run, and whose log.
    rows : int
        How many people's rows this client has; none of them travelled.
    rounds : int
    messages : list of dict
        Each with its `way`, `kind`, `bytes`, `purpose` and `arrays` (the shape of every one).
    """

    study: str
    client: str
    rows: int
    rounds: int
    messages: list[dict[str, Any]]

    @property
    def sent(self) -> int:
        """Bytes that left the client."""
        return sum(one["bytes"] for one in self.messages if one["way"] == "sent")


@cache
def demo_log() -> DemoLog:
    """The log that ships with the lesson; `fairfl federation demo --messages FILE` writes one."""
    value = read_json(APP_ROOT / "data" / "federation" / "messages.json")
    return DemoLog(**{field: value[field] for field in DemoLog.__dataclass_fields__})
