"""A federation on this machine alone, from first to last, beside the same in one place."""

import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairfl_core._io.files import read_json, write_json
from fairfl_core.data.experiments import SeedScores
from fairfl_core.data.scored import FoldedData, ScoredData
from fairfl_core.evaluation.evaluation import Evaluation, evaluate
from fairfl_core.federation.folders import (
    ClientFolder,
    People,
    ServerFolder,
    free_port,
    write_folders,
)
from fairfl_core.federation.message_log import read_log
from fairfl_core.federation.own_rows import OwnRows, pooled_scalers
from fairfl_core.federation.programs import run_job, wait_until_up
from fairfl_core.federation.question import Question
from fairfl_core.federation.study import Study
from fairfl_core.lp.exact.histograms import ScoreHistogram
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.lp.solution import Solution
from fairfl_core.predictors.load import predictor_of
from fairfl_core.training.data import Federation, scaled
from fairfl_core.training.trainers import make_trainer
from fairfl_core.training.training import Prepared, train_prepared

__all__ = ["OnePlace", "compare", "in_one_place", "run_here"]


@dataclass(frozen=True, eq=False)
class OnePlace:
    """The same study with all rows in one place: what a federation must agree with.

    Attributes
    ----------
    trained : tuple of SeedScores
        One a model.
    solution : Solution
    evaluation : Evaluation
    """

    trained: tuple[SeedScores, ...]
    solution: Solution
    evaluation: Evaluation


def in_one_place(folders: Sequence[ClientFolder], study: Study, question: Question) -> OnePlace:
    """Train, solve and judge in one process, on the rows that the folders name."""
    rows = [OwnRows(folder, study) for folder in folders]
    scalers = pooled_scalers(study, [one.moments() for one in rows])
    parts = [one.people for one in rows]
    together: dict[str, Any] = {
        name: np.concatenate([getattr(part, name) for part in parts])
        for name in ("inputs", "label", "group", "client")
    }
    people = replace(
        parts[0],
        **together,
        unit=np.arange(sum(len(part) for part in parts), dtype=np.int32),
    )
    trained = []
    for model, scaler in enumerate(scalers):
        split = np.concatenate([one.splits[model] for one in rows])
        federation = Federation(scaled(people, scaler), split)
        trainer = make_trainer(federation, study.recipe)
        fold = model if study.folds else None
        prepared = Prepared(people, study.recipe, study.seed, fold, federation, trainer)
        trained.append(train_prepared(prepared, study.recipe))
    fitted = _joined([_scored(one, study, 0) for one in trained])
    tested = [_scored(one, study, 1) for one in trained]
    how: dict[str, Any] = {"guarantee": question.guarantee, "policy": question.policy}
    if question.needs_scores:
        histogram = ScoreHistogram.of(fitted)
        program = FairnessProgram(histogram, question.notion, "exact", **how)
    else:
        program = FairnessProgram(fitted.counts, question.notion, question.region, **how)
    solution = program.solve(question.eps_global, question.eps_local)
    unseen = FoldedData(tuple(tested)) if study.folds else tested[0]
    return OnePlace(tuple(trained), solution, evaluate(predictor_of(solution), unseen))


def _scored(one: SeedScores, study: Study, split: int) -> ScoredData:
    rows = one.split == split
    return ScoredData(
        client=one.client[rows].astype(np.int64),
        group=one.group[rows].astype(np.int64),
        label=one.label[rows].astype(np.int64),
        scores=one.scores[rows],
        predicted=one.scores[rows].argmax(axis=1),
        clients=study.clients,
        groups=study.groups,
        labels=study.labels,
        favourable=study.favourable,
    )


def _joined(parts: Sequence[ScoredData]) -> ScoredData:
    """The people of all folds, each scored by the model that never saw them."""
    names = ("client", "group", "label", "scores", "predicted")
    together: dict[str, Any] = {
        name: np.concatenate([getattr(part, name) for part in parts]) for name in names
    }
    return replace(parts[0], **together, folds=len(parts))


# -------------------------------------------------------------------- on this machine


def run_here(
    study: Study,
    people: People,
    question: Question,
    *,
    folder: Path | None = None,
    messages: Path | None = None,
) -> dict[str, Any]:
    """Run a server, a client for each folder and the study; end everything; compare.

    `messages` is where the last client's log goes, for the lesson.
    """
    if folder is None:
        with tempfile.TemporaryDirectory() as made:
            return run_here(study, people, question, folder=Path(made), messages=messages)
    started = time.monotonic()
    address = f"127.0.0.1:{free_port()}"
    server, *clients = write_folders(folder / "federation", study, address=address, people=people)
    programs = [_started("server", server)]
    try:
        wait_until_up(ServerFolder.read(server))
        programs += [_started("client", client) for client in clients]
        run_job(ServerFolder.read(server), question, server / "results", quiet=True)
    finally:
        for program in reversed(programs):
            program.terminate()
        for program in programs:
            program.wait()
    seconds = time.monotonic() - started
    folders = [ClientFolder.read(path) for path in clients]
    if messages is not None:
        last = folders[-1]
        lesson = {
            "study": study.title,
            "client": last.name,
            "rows": len(people[last.name]),
            "rounds": study.rounds,
            "messages": read_log(last.path),
        }
        write_json(messages, lesson)
    return compare(folders, study, question, server / "results") | {"seconds": round(seconds, 1)}


def _started(command: str, folder: Path) -> "subprocess.Popen[bytes]":
    with open(folder / "flower.log", "ab") as log:
        words = ["-m", "fairfl_core", "federation", command, str(folder)]
        return subprocess.Popen([sys.executable, *words], stdout=log, stderr=log)


def compare(
    folders: Sequence[ClientFolder], study: Study, question: Question, out: Path
) -> dict[str, Any]:
    """What a federation came to, beside the same in one place, and how far they are apart."""
    result, one = read_json(out / "result.json"), in_one_place(folders, study, question)
    there = _figures(result["solution"], result["evaluation"])
    here = _figures(one.solution.to_json(), one.evaluation.to_json())
    apart = float(np.abs(_numbers(there) - _numbers(here)).max())
    scores = _largest_difference([OwnRows(folder, study) for folder in folders], one, out)
    return {
        "federation": there,
        "one_place": here,
        "largest_difference": {"scores": scores, "solution": apart},
        "agrees": scores <= 1e-5 and apart <= 1e-8,
        "clients": result["clients"],
        "verdict": result["verdict"],
        "alarms": result["alarms"],
        "sentences": result["sentences"],
        "bytes": result["bytes"],
        "messages": len(result["messages"]),
    }


def _largest_difference(rows: Sequence[OwnRows], one: OnePlace, out: Path) -> float:
    """Between the scores by the federation's models and those of one place, over everybody."""
    largest, starts = 0.0, np.cumsum([0, *(len(own.people) for own in rows)])
    with np.load(out / "model.npz", allow_pickle=False) as kept:
        for model, trained in enumerate(one.trained):
            arrays = {name: kept[f"{model}/{name}"] for name in ("theta", "shift", "spread")}
            there = np.full((starts[-1], trained.scores.shape[1]), np.nan)
            for own, start in zip(rows, starts, strict=False):
                held_out, scores = own.scores(model, arrays)
                there[start + held_out] = scores
            apart = np.abs(there[trained.person] - trained.scores)
            largest = max(largest, float(apart.max()))
    return largest


def _figures(solution: Any, judged: Any) -> dict[str, Any]:
    found = {}
    for prefix, one in (("", solution), ("unseen_", judged)):
        found[f"{prefix}accuracy"] = one["accuracy"]
        found[f"{prefix}gap_global"] = one["gap"]["global"]
        found[f"{prefix}gap_local"] = one["gap"]["local"]
    return found


def _numbers(figures: dict[str, Any]) -> NDArray[np.float64]:
    flat: list[Any] = []
    for value in figures.values():
        flat += value.values() if isinstance(value, dict) else [value]
    return np.array([0.0 if one is None else one for one in flat], float)
