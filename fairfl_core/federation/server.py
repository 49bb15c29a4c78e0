"""The server of a federation, from first round to fair answers.

    join -> split -> turns (one model, or one a fold) -> statistics -> solution -> parts -> verdict

Everything it has is in its folder after every step, so that the same command goes on where a
killed or stopped one was.
"""

import io
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairfl_core._io.atomic import write_whole
from fairfl_core._io.json_files import read_json, write_json
from fairfl_core.errors import InputError
from fairfl_core.evaluation.evaluation import Evaluation
from fairfl_core.evaluation.verdict import Verdict
from fairfl_core.federation.log import MessageLog, read_log
from fairfl_core.federation.messages import Parcel
from fairfl_core.federation.question import Question
from fairfl_core.federation.roster import ClientsLost, Grid, Roster
from fairfl_core.federation.rounds import FarRun, Rounds
from fairfl_core.federation.statistics import ask_program, held_out, own_parts
from fairfl_core.federation.study import Study
from fairfl_core.lp.solution import Solution
from fairfl_core.predictors.load import predictor_of
from fairfl_core.predictors.predictor import Predictor
from fairfl_core.training.scaling import Moments, Scaler

__all__ = ["FORMAT", "Outcome", "Server"]

FORMAT = "fairfl-federation/1"


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a run came to."""

    runs: tuple[FarRun, ...]
    solution: Solution
    predictor: Predictor
    evaluation: Evaluation | None
    verdict: Verdict | None


class Server:
    """One run of a study.

    Parameters
    ----------
    study : Study
    question : Question
    grid : Grid
        The network.
    folder : Path
        Where everything is kept.
    min_clients : int
        The run stops when fewer are left; 0 asks for all of the study.
    patience : float
        Seconds that a client may take for one answer.
    on_event : callable
        Called with a sentence whenever something is to be told.
    """

    def __init__(
        self,
        study: Study,
        question: Question,
        grid: Grid,
        folder: Path,
        *,
        min_clients: int = 0,
        patience: float = 600.0,
        on_event: Callable[[str], None] = lambda sentence: None,
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.study, self.question, self.folder = study, question, folder
        self._on_event = on_event
        self._begun = self._begin()
        self.roster = Roster(
            study,
            grid,
            MessageLog(folder),
            run=self._begun["run"],
            min_clients=min_clients or len(study.clients),
            patience=patience,
            on_event=on_event,
        )

    def run(self) -> Outcome:
        """The whole way; what was done by an earlier call is not done again."""
        self.roster.join(self._begun["clients"] or self.study.clients)
        self._on_event(self.roster.sentence())
        counts, scalers = self._split()
        runs = tuple(self._train(model, scaler, counts) for model, scaler in enumerate(scalers))
        solution = self._solve(runs, scalers)
        predictor = predictor_of(solution)
        replies = self._hand_out(predictor)
        evaluation = held_out(self.study, self.question, predictor, replies)
        verdict = None if evaluation is None else evaluation.verdict
        outcome = Outcome(runs, solution, predictor, evaluation, verdict)
        self._write(outcome)
        return outcome

    # ---------------------------------------------------------------- beginning

    def _begin(self) -> dict[str, Any]:
        """The run's name, and who took part so far; refused where the study is another one."""
        path = self.folder / "run.json"
        if path.is_file():
            begun = dict(read_json(path))
            if begun["study"] != self.study.fingerprint:
                raise InputError(
                    f"{path}: is a run of another study; choose another folder with --out."
                )
            return begun
        begun = {"run": secrets.token_hex(8), "study": self.study.fingerprint, "clients": []}
        write_json(path, begun)
        return begun

    def _remember(self) -> None:
        """Who takes part from here on."""
        self._begun["clients"] = list(self.roster.clients)
        write_json(self.folder / "run.json", self._begun)

    def _split(self) -> tuple[dict[str, NDArray[np.int64]], list[Scaler]]:
        """Every client's training counts, and the scalers of all of them together."""
        path = self.folder / "split.npz"
        if not path.is_file():
            found = self._ask_split()
            file = io.BytesIO()
            np.savez(file, **found)
            write_whole(path, file.getvalue())
            self._remember()
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as file:
            found = {name: file[name] for name in file.files}
        clients = [name for name in self.study.clients if f"counts/{name}" in found]
        counts = {name: found[f"counts/{name}"] for name in clients}
        least = 1.0 if self.study.features.channels else 0.0
        scalers = []
        for model in range(self.study.models):
            parts = []
            for name in clients:
                total, squares = np.split(found[f"moments/{name}"][model], 2)
                rows = int(counts[name][model].sum()) * _per_row(self.study, found, name)
                parts.append(Moments(rows, total, squares))
            scalers.append(Moments.pooled(parts).scaler(least))
        return counts, scalers

    def _ask_split(self) -> dict[str, Any]:
        """Tell every client where its split begins in the common stream of random numbers."""
        while True:
            order, units = self.roster.clients, dict(self.roster.units)
            try:
                replies = self._asked_split(order, units, None)
                if self.study.folds:
                    fitted = {
                        name: int(reply.header["fitted_units"]) for name, reply in replies.items()
                    }
                    replies = self._asked_split(order, units, fitted)
            except ClientsLost:
                continue  # the others are split as if it had never been there
            found: dict[str, Any] = {}
            for name, reply in replies.items():
                found[f"counts/{name}"] = np.asarray(reply.arrays["counts"], np.int64)
                found[f"moments/{name}"] = np.asarray(reply.arrays["moments"], float)
                found[f"pixels/{name}"] = np.array(int(reply.header.get("per_row", 1)))
            return found

    def _asked_split(
        self, order: Sequence[str], units: dict[str, int], fitted: dict[str, int] | None
    ) -> dict[str, Parcel]:
        place = {name: c for c, name in enumerate(order)}

        def before(sizes: dict[str, int] | None, name: str) -> list[int] | None:
            return None if sizes is None else [sizes[one] for one in order[: place[name]]]

        last = fitted is not None or not self.study.folds
        return self.roster.ask(
            "split",
            lambda name: (
                {"before": before(units, name), "fitted_before": before(fitted, name)},
                {},
            ),
            when="splitting",
            needs=("counts", "moments") if last else (),
        )

    # ---------------------------------------------------------------- training

    def _train(self, model: int, scaler: Scaler, counts: dict[str, NDArray[np.int64]]) -> FarRun:
        which = f"model {model + 1} of {self.study.models}, " if self.study.folds else ""

        def on_round(run: FarRun) -> None:
            self._remember()
            if run.judged:
                self._on_event(
                    f"{which}round {run.done} of {self.study.rounds}: held-out loss "
                    f"{run.loss[-1]:.4f}, accuracy {run.accuracy[-1]:.1%} (round {run.judged})."
                )
            else:
                self._on_event(f"{which}round {run.done} of {self.study.rounds}.")

        rounds = Rounds(
            self.roster,
            model,
            scaler,
            {name: table[model] for name, table in counts.items()},
            self.folder / f"model_{model}.npz",
            quiet=self.question.privacy is not None,
            on_round=on_round,
        )
        return rounds.train()

    # ---------------------------------------------------------------- fairness

    def _solve(self, runs: Sequence[FarRun], scalers: Sequence[Scaler]) -> Solution:
        while True:
            try:
                program = ask_program(self.roster, self.question, runs, scalers)
                return program.solve(self.question.eps_global, self.question.eps_local)
            except ClientsLost:
                self._remember()  # the others are asked once more, and solved for

    def _hand_out(self, predictor: Predictor) -> dict[str, Parcel]:
        """Give every client its own part; who is lost now has none, and the others keep theirs."""
        parts = own_parts(predictor)
        try:
            return self.roster.ask(
                "predictor",
                lambda name: (
                    {
                        "predictor": parts[name],
                        "privacy": self.question.privacy_json,
                    },
                    {},
                ),
                when="the verdict",
                noisy=self.question.privacy is not None,
            )
        except ClientsLost as lost:
            return lost.replies

    # ---------------------------------------------------------------- what is written

    def _write(self, outcome: Outcome) -> None:
        counts, evaluation = outcome.solution.counts, outcome.evaluation
        counts.write(self.folder / "counts.json")
        outcome.predictor.write(self.folder / "predictor.json")
        value = {
            "format": FORMAT,
            "study": self.study.to_json(),
            "question": self.question.to_json(),
            "run": self._begun["run"],
            "clients": list(counts.clients),
            "left_out": [vars(lost) for lost in self.roster.lost],
            "training": [
                {
                    "chosen": run.best_done,
                    "loss": run.loss.tolist(),
                    "accuracy": run.accuracy.tolist(),
                }
                for run in outcome.runs
            ],
            "counts": counts.to_json(),
            "test_counts": None if evaluation is None else evaluation.counts.to_json(),
            "predictor": outcome.predictor.to_json(),
            "solution": outcome.solution.to_json(),
            "evaluation": None if evaluation is None else evaluation.to_json(),
            "verdict": None if outcome.verdict is None else outcome.verdict.to_json(),
            "alarms": []
            if evaluation is None
            else [alarm.to_json() for alarm in evaluation.alarms],
            "bytes": self.roster.bytes,
            "messages": read_log(self.folder),
        }
        write_json(self.folder / "result.json", value)


def _per_row(study: Study, found: dict[str, Any], name: str) -> int:
    """How many values of a quantity one row has: pixels of an image, else one."""
    return int(found[f"pixels/{name}"]) if study.features.channels else 1
