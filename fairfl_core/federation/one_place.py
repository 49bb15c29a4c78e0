"""The same study with all rows in one place: what a federation must agree with."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from fairfl_core.data.datasets import People
from fairfl_core.data.experiments import SeedScores
from fairfl_core.data.folded import FoldedData
from fairfl_core.data.scored import ScoredData
from fairfl_core.evaluation.evaluation import Evaluation, evaluate
from fairfl_core.federation.loader import ClientFolder, load_people
from fairfl_core.federation.question import Question
from fairfl_core.federation.study import Study
from fairfl_core.lp.exact.histograms import ScoreHistogram
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.lp.rate_estimates import measured
from fairfl_core.lp.solution import Solution
from fairfl_core.predictors.load import predictor_of
from fairfl_core.training.training import train_seed

__all__ = ["OnePlace", "run_in_one_place"]


@dataclass(frozen=True, eq=False)
class OnePlace:
    """What came of it.

    Attributes
    ----------
    trained : tuple of SeedScores
        One a model; `person` numbers the rows of all clients, one client after the other.
    starts : ndarray
        Where each client's rows begin among them.
    """

    trained: tuple[SeedScores, ...]
    starts: NDArray[np.intp]
    solution: Solution
    evaluation: Evaluation


def run_in_one_place(
    folders: Sequence[ClientFolder], study: Study, question: Question
) -> OnePlace:
    """Train, solve and judge in one process, on the rows that the folders name."""
    parts = [load_people(folder, study).people for folder in folders]
    people = _pooled(parts)
    folds: list[int | None] = list(range(study.folds)) or [None]
    trained = tuple(train_seed(people, study.recipe, study.seed, fold=fold) for fold in folds)
    fitted = _joined([_scored(one, people, 0) for one in trained])
    tested = [_scored(one, people, 1) for one in trained]
    unseen = FoldedData(tuple(tested)) if study.folds else tested[0]
    solution = _program(fitted, question).solve(question.eps_global, question.eps_local)
    starts = np.cumsum([0, *(len(part) for part in parts)])
    return OnePlace(trained, starts, solution, evaluate(predictor_of(solution), unseen))


def _program(people: ScoredData, question: Question) -> FairnessProgram:
    """Scores as the model gave them: to recalibrate them takes everybody's rows at once."""
    how = {"guarantee": question.guarantee, "policy": question.policy}
    if not question.needs_scores:
        return FairnessProgram(people.counts, question.notion, question.region, **how)  # type: ignore[arg-type]
    source = ScoreHistogram.of(people, question.bins) if question.one_round else measured(people)
    return FairnessProgram(source, question.notion, "exact", **how)  # type: ignore[arg-type]


def _pooled(parts: Sequence[People]) -> People:
    """All clients' rows; people of different clients are different people."""
    first = parts[0]
    offset = np.cumsum([0, *(int(part.unit.max()) + 1 for part in parts[:-1])])
    units = [part.unit + start for part, start in zip(parts, offset, strict=True)]
    return replace(
        first,
        inputs=np.concatenate([part.inputs for part in parts]),
        label=np.concatenate([part.label for part in parts]),
        group=np.concatenate([part.group for part in parts]),
        client=np.concatenate([part.client for part in parts]),
        unit=np.concatenate(units).astype(np.int32),
    )


def _scored(one: SeedScores, people: People, split: int) -> ScoredData:
    rows = one.split == split
    return ScoredData(
        client=one.client[rows].astype(np.int64),
        group=one.group[rows].astype(np.int64),
        label=one.label[rows].astype(np.int64),
        scores=one.scores[rows],
        predicted=one.scores[rows].argmax(axis=1),
        clients=people.clients,
        groups=people.groups,
        labels=people.labels,
        favourable=people.favourable,
    )


def _joined(parts: Sequence[ScoredData]) -> ScoredData:
    """The people of all folds, each scored by the model that never saw them."""
    return replace(
        parts[0],
        client=np.concatenate([part.client for part in parts]),
        group=np.concatenate([part.group for part in parts]),
        label=np.concatenate([part.label for part in parts]),
        scores=np.concatenate([part.scores for part in parts]),
        predicted=np.concatenate([part.predicted for part in parts]),
        folds=len(parts),
    )
