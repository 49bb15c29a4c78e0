"""A federation on this machine alone, from first to last, beside the same in one place."""

import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairfl_core._io.files import read_json, write_json
from fairfl_core.data.scored import FoldedData, ScoredData
from fairfl_core.evaluation.evaluation import evaluate
from fairfl_core.federation.folders import (
    ClientFolder,
    People,
    ServerFolder,
    free_port,
    write_folders,
)
from fairfl_core.federation.message_log import read_log
from fairfl_core.federation.programs import run_job, wait_until_up
from fairfl_core.federation.question import Question
from fairfl_core.federation.study import Study
from fairfl_core.federation.training_client import OwnRows
from fairfl_core.lp.histograms import ScoreHistogram
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.predictors.kinds import predictor_of
from fairfl_core.training.data import Federation, scaled, scaler_of
from fairfl_core.training.trainers import make_trainer
from fairfl_core.training.training import Prepared, Run, train_prepared

__all__ = ["compare", "in_one_place", "run_here"]

Model = dict[str, NDArray[Any]]
Table = dict[str, NDArray[Any]]


def in_one_place(rows: Sequence[OwnRows], study: Study) -> Model:
    """Train the models on all clients' rows in one process, as `train_prepared` does."""
    parts = [one.people for one in rows]
    together: dict[str, Any] = {
        name: np.concatenate([getattr(part, name) for part in parts])
        for name in ("inputs", "label", "group", "client")
    }
    everybody = sum(len(part) for part in parts)
    people = replace(parts[0], **together, unit=np.arange(everybody, dtype=np.int32))
    model: Model = {}
    pooled = np.sum([one.moments() for one in rows], axis=0)
    for place, scaler in enumerate(map(scaler_of, pooled)):
        split = np.concatenate([one.splits[place] for one in rows])
        federation = Federation(scaled(people, scaler), split)
        trainer = make_trainer(federation, study.recipe)
        prepared = Prepared(people, study.recipe, study.seed, None, federation, trainer)
        runs: list[Run] = []
        train_prepared(prepared, study.recipe, on_progress=runs.append)
        model |= {f"{place}/theta": runs[-1].best[0]}
        model |= {f"{place}/shift": scaler.shift, f"{place}/spread": scaler.spread}
    return model


def _solved(tables: Sequence[Table], study: Study, question: Question) -> tuple[Any, Any]:
    """Solve and judge on all clients' scores in one table, as `fairfl solve` would."""
    whole = {name: np.concatenate([table[name] for table in tables]) for name in tables[0]}
    clients = [
        [name] * len(table["label"]) for name, table in zip(study.clients, tables, strict=True)
    ]
    whole["client"] = np.concatenate(clients)
    columns: dict[str, Any] = {
        **{name: name for name in ("client", "group", "label")},
        "scores": {label: f"score_{label}" for label in study.labels},
        **{name: getattr(study, name) for name in ("clients", "groups", "labels", "favourable")},
    }
    if study.recipe.folds:
        columns |= {"fold": "fold", "row_id": "row_id"}

    def of(part: str) -> Table:
        return {name: column[whole["split"] == part] for name, column in whole.items()}

    fit = ScoredData.from_table(of("fit"), **columns)
    new = (FoldedData if study.recipe.folds else ScoredData).from_table(of("new"), **columns)
    known = ScoreHistogram.of(fit) if question.needs_scores else fit.counts
    how: dict[str, Any] = {"guarantee": question.guarantee, "policy": question.policy}
    program = FairnessProgram(known, question.notion, question.region, **how)
    solution = program.solve(question.eps_global, question.eps_local)
    return solution.to_json(), evaluate(predictor_of(solution), new).to_json()


def compare(
    folders: Sequence[ClientFolder], study: Study, question: Question, out: Path
) -> dict[str, Any]:
    """What a federation came to, beside the same in one place, and how far they are apart."""
    rows, result = [OwnRows(folder, study) for folder in folders], read_json(out / "result.json")
    with np.load(out / "model.npz", allow_pickle=False) as kept:
        tables = [one.scored({name: kept[name] for name in kept.files}) for one in rows]
    model = in_one_place(rows, study)
    others = [one.scored(model) for one in rows]
    scores = max(
        float(np.abs(table[f"score_{label}"] - other[f"score_{label}"]).max())
        for table, other in zip(tables, others, strict=True)
        for label in study.labels
    )
    there = _figures(result["solution"], result["evaluation"])
    here = _figures(*_solved(others, study, question))
    apart = float(np.abs(_numbers(there) - _numbers(here)).max())
    return {
        "federation": there,
        "one_place": here,
        "largest_difference": {"scores": scores, "solution": apart},
        "agrees": scores <= 1e-5 and apart <= 1e-8,
        "messages": len(result["messages"]),
        **{name: result[name] for name in ("clients", "verdict", "alarms", "sentences", "bytes")},
    }


def _figures(solution: Any, judged: Any) -> dict[str, Any]:
    found = {}
    for prefix, one in (("", solution), ("unseen_", judged)):
        found[f"{prefix}accuracy"] = one["accuracy"]
        found[f"{prefix}gap_global"] = one["gap"]["global"]
        found[f"{prefix}gap_local"] = one["gap"]["local"]
    return found


def _numbers(figures: dict[str, Any]) -> NDArray[np.float64]:
    flat = [value if isinstance(value, dict) else {"": value} for value in figures.values()]
    return np.array([one or 0.0 for part in flat for one in part.values()], float)


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
            "rounds": study.recipe.rounds,
            "messages": read_log(last.path),
        }
        write_json(messages, lesson)
    return compare(folders, study, question, server / "results") | {"seconds": round(seconds, 1)}


def _started(command: str, folder: Path) -> "subprocess.Popen[bytes]":
    with open(folder / "flower.log", "ab") as log:
        words = ["-m", "fairfl_core", "federation", command, str(folder)]
        return subprocess.Popen([sys.executable, *words], stdout=log, stderr=log)
