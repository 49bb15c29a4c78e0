"""A federation on this machine alone, from first to last, beside the same in one place."""

import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fairfl_core._io.json_files import read_json, write_json
from fairfl_core.federation.folders import People, write_folders
from fairfl_core.federation.jobs import Job
from fairfl_core.federation.loader import ClientFolder
from fairfl_core.federation.log import read_log
from fairfl_core.federation.one_place import OnePlace, run_in_one_place
from fairfl_core.federation.processes import Processes
from fairfl_core.federation.question import Question
from fairfl_core.federation.server_folder import ServerFolder, free_port
from fairfl_core.federation.study import Study
from fairfl_core.federation.superlink import start_client, start_server, submit

__all__ = ["Comparison", "compare", "run_here"]


@dataclass(frozen=True, eq=False)
class Comparison:
    """The federation's figures, those of one place, and the largest difference between them."""

    federation: dict[str, Any]
    one_place: dict[str, Any]
    scores: float
    solution: float
    seconds: float
    result: dict[str, Any]

    def to_json(self) -> dict[str, Any]:
        """One object for a line of JSON."""
        return {
            "federation": self.federation,
            "one_place": self.one_place,
            "largest_difference": {"scores": self.scores, "solution": self.solution},
            "agrees": self.agrees,
            "clients": self.result["clients"],
            "bytes": self.result["bytes"],
            "messages": len(self.result["messages"]),
            "seconds": round(self.seconds, 1),
        }

    @property
    def agrees(self) -> bool:
        """Scores to 1e-5, the solution to 1e-8."""
        return self.scores <= 1e-5 and self.solution <= 1e-8


def run_here(
    study: Study,
    people: People,
    question: Question,
    *,
    folder: Path | None = None,
    on_event: Callable[[str], None] = lambda sentence: None,
    patience: float = 300.0,
    messages: Path | None = None,
) -> Comparison:
    """Start a server and a client for each folder, run the whole way, end everything, compare.

    `messages` is where the last client's log goes, for the lesson.
    """
    if folder is None:
        with tempfile.TemporaryDirectory() as made:
            return run_here(
                study,
                people,
                question,
                folder=Path(made),
                on_event=on_event,
                patience=patience,
                messages=messages,
            )
    started = time.monotonic()
    server, *clients = write_folders(
        folder / "federation", study, address=f"127.0.0.1:{free_port()}", people=people
    )
    folders = [ClientFolder.read(path) for path in clients]
    job = Job(server, server / "results", question, patience=patience)
    with Processes() as processes:
        link = start_server(ServerFolder.read(server), processes)
        nodes = [start_client(one, processes) for one in folders]
        submit(ServerFolder.read(server), job)
        job.wait(on_event, lambda: all(one.poll() is None for one in (link, *nodes)))
    seconds = time.monotonic() - started
    if messages is not None:
        write_json(messages, _lesson(folders[-1], study, len(people[folders[-1].name])))
    return compare(folders, study, question, job.out, seconds)


def _lesson(folder: ClientFolder, study: Study, rows: int) -> dict[str, Any]:
    """One client's log as `teaching.messages` shows it."""
    return {
        "study": study.title,
        "client": folder.name,
        "rows": rows,
        "rounds": study.rounds,
        "messages": read_log(folder.path),
    }


def compare(
    folders: list[ClientFolder], study: Study, question: Question, out: Path, seconds: float
) -> Comparison:
    """What a federation came to, beside the same with all rows in one place."""
    one, result = run_in_one_place(folders, study, question), read_json(out / "result.json")
    here = _figures(one)
    there = {
        "accuracy": result["solution"]["accuracy"],
        "gap_global": result["solution"]["gap"]["global"],
        "gap_local": result["solution"]["gap"]["local"],
        "unseen_accuracy": result["evaluation"]["accuracy"],
        "unseen_gap_global": result["evaluation"]["gap"]["global"],
        "unseen_gap_local": result["evaluation"]["gap"]["local"],
    }
    apart = [abs(a - b) for a, b in zip(_numbers(there), _numbers(here), strict=True)]
    scores = _largest_difference(folders, one, result["run"])
    return Comparison(there, here, scores, max(apart), seconds, result)


def _figures(one: OnePlace) -> dict[str, Any]:
    solution, judged = one.solution.to_json(), one.evaluation.to_json()
    return {
        "accuracy": solution["accuracy"],
        "gap_global": solution["gap"]["global"],
        "gap_local": solution["gap"]["local"],
        "unseen_accuracy": judged["accuracy"],
        "unseen_gap_global": judged["gap"]["global"],
        "unseen_gap_local": judged["gap"]["local"],
    }


def _numbers(figures: dict[str, Any]) -> list[float]:
    flat: list[float] = []
    for value in figures.values():
        inside = value.values() if isinstance(value, dict) else [value]
        flat += [0.0 if one is None else float(one) for one in inside]
    return flat


def _largest_difference(folders: list[ClientFolder], one: OnePlace, run: str) -> float:
    """Between the scores that clients kept and those of one place, over everybody in both."""
    largest = 0.0
    for place, folder in enumerate(folders):
        with np.load(folder.path / "runs" / run / "scores.npz", allow_pickle=False) as kept:
            for model, trained in enumerate(one.trained):
                assert trained.person is not None
                low, high = one.starts[place], one.starts[place + 1]
                inside = (trained.person >= low) & (trained.person < high)
                mine = kept[f"model {model}"][trained.person[inside] - low]
                largest = max(largest, float(np.abs(mine - trained.scores[inside]).max()))
    return largest
