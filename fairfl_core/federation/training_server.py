"""Our own training as a ServerApp like any other: Flower's FedAvg, then the fair rounds."""

import io
import traceback
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from flwr.app import Array, ArrayRecord, ConfigRecord, Context, Message, MetricRecord
from flwr.serverapp import Grid, ServerApp
from flwr.serverapp.strategy import FedAvg
from numpy.typing import NDArray

from fairfl_core._io.files import read_json, write_json, write_whole
from fairfl_core.errors import FairflError
from fairfl_core.federation.message_log import MessageLog, read_log
from fairfl_core.federation.question import Question
from fairfl_core.federation.roster import Expected, Roster
from fairfl_core.federation.scores import Names
from fairfl_core.federation.server import FairRounds, run_fair_rounds
from fairfl_core.federation.study import Study
from fairfl_core.federation.wire import ARRAYS, WORDS, HostileReply, WireMessage, from_records
from fairfl_core.training.checkpoints import Run, read_checkpoint, write_checkpoint
from fairfl_core.training.data import scaler_of
from fairfl_core.training.method import State
from fairfl_core.training.trainers import first_parameters

__all__ = ["StudyFedAvg", "app", "run_study"]

app = ServerApp()


@app.main()
def main(grid: Grid, context: Context) -> None:
    """Do what `fairfl federation run` wrote down, and write down how it ended."""
    path = Path(str(context.run_config["job"]))
    job = read_json(path)
    outcome = path.parent / "outcome.json"
    try:
        run_study(
            grid,
            Study.read(Path(job["folder"])),
            Question.from_json(job["question"]),
            path.parent,
            min_clients=job["min_clients"],
            patience=job["patience"],
        )
        write_json(outcome, {"ok": True, "sentence": ""})
    except FairflError as error:
        print(error, flush=True)
        write_json(outcome, {"ok": False, "sentence": str(error)})
    except Exception as error:
        (path.parent / "error.txt").write_text(traceback.format_exc(), encoding="utf-8")
        sentence = f"Stopped by a fault of the program ({error}); see error.txt."
        write_json(outcome, {"ok": False, "sentence": sentence})
        raise


def run_study(
    grid: Grid,
    study: Study,
    question: Question,
    folder: Path,
    *,
    min_clients: int = 0,
    patience: float = 600.0,
    say: Callable[[str], None] = print,
) -> FairRounds:
    """Train a study's models by Flower's FedAvg and make their answers fair.

    Everything is in the folder after every round: called again, it goes on from there.
    """
    folder.mkdir(parents=True, exist_ok=True)
    log = MessageLog(folder, read_log(folder) if (folder / "log.jsonl").is_file() else ())
    roster = Roster(
        grid,
        log,
        clients=study.clients,
        min_clients=min_clients,
        patience=patience,
        say=say,
    )
    expected = Expected("moments", "joining", study.lengths, check=_check_moments)
    joined = roster.join({"study": study.fingerprint}, expected)
    rows = {name: reply.arrays["label_rows"] for name, reply in joined.items()}
    arrays: dict[str, NDArray[Any]] = {}
    trained = []
    pooled = np.sum([reply.arrays["moments"] for reply in joined.values()], axis=0)
    for model, scaler in enumerate(map(scaler_of, pooled)):
        mine = {name: table[model] for name, table in rows.items()}
        header = {
            "study": study.fingerprint,
            "model": model,
            "shift": scaler.shift.tolist(),
            "spread": scaler.spread.tolist(),
            "label_rows": np.sum([*mine.values()], axis=0).tolist(),
        }
        path = folder / f"model_{model}.npz"
        judge = question.privacy is None
        run = StudyFedAvg(study, roster, header, mine, path, judge=judge).train()
        known = np.isfinite(run.loss)
        figures = {"loss": run.loss[known], "accuracy": run.accuracy[known]}
        trained.append(
            {"chosen": run.chosen} | {name: its.tolist() for name, its in figures.items()}
        )
        arrays |= {
            f"{model}/theta": run.best[0],
            f"{model}/shift": scaler.shift,
            f"{model}/spread": scaler.spread,
        }
    file = io.BytesIO()
    np.savez(file, **arrays)  # type: ignore[arg-type]
    write_whole(folder / "model.npz", file.getvalue())
    return run_fair_rounds(
        roster,
        question,
        Names(study.labels, study.groups, study.favourable),
        folder,
        model=ArrayRecord({name: Array(its) for name, its in arrays.items()}),
        run=study.fingerprint,
        more={"study": study.to_json(), "training": trained},
    )


def _check_moments(name: str, reply: WireMessage) -> None:
    values = reply.arrays["moments"]
    if (values[:, 0] < 1).any() or (reply.arrays["label_rows"].sum(axis=1) < 1).any():
        raise HostileReply("it says it has a number of people that cannot be")


class StudyFedAvg(FedAvg):
    """Flower's FedAvg over the clients of a study, kept on disk after every round.

    Parameters
    ----------
    study : Study
    roster : Roster
        The clients that joined.
    header : mapping
        What every message says: the study's fingerprint, which of the models, its scaler.
    label_rows : mapping of str to ndarray
        Training rows of each client by label.
    path : Path
        Where the training is kept.
    judge : bool
        Ask for figures of held-out people and keep the best round; else keep the last.
    """

    def __init__(
        self,
        study: Study,
        roster: Roster,
        header: Mapping[str, Any],
        label_rows: Mapping[str, NDArray[Any]],
        path: Path,
        *,
        judge: bool,
    ) -> None:
        least = roster.least
        super().__init__(
            fraction_evaluate=1.0 if judge else 0.0,
            min_train_nodes=least,
            min_evaluate_nodes=least if judge else 0,
            min_available_nodes=least,
            arrayrecord_key=ARRAYS,
            configrecord_key=WORDS,
        )
        self._study, self._roster, self._header, self._path = study, roster, header, path
        self._judge, self._mark = judge, f"{study.fingerprint} {header['model']}"
        self._rows = {name: int(rows.sum()) for name, rows in label_rows.items()}
        self._asked: dict[int, WireMessage] = {}
        first = first_parameters(study.shapes, study.seed)
        self._run = Run(State(first), (), first[None])
        if path.is_file():
            self._run = read_checkpoint(path, self._mark, study.recipe.rounds, 0)
        self._theta = self._run.state.theta

    def train(self) -> Run:
        """Do every round that is still to be done."""
        if left := self._study.recipe.rounds - self._run.round:
            self.start(
                grid=self._roster.grid,
                initial_arrays=ArrayRecord({"theta": Array(self._theta)}),
                num_rounds=left,
                timeout=self._roster.patience,
            )
        return self._run

    # ---------------------------------------------------------------- Flower's four moments

    def configure_train(
        self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid
    ) -> Iterable[Message]:
        """Send the model to all clients; stop where too few of them are there."""
        self._prepare("train", config)
        return self._noted(super().configure_train(server_round, arrays, config, grid))

    def configure_evaluate(
        self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid
    ) -> Iterable[Message]:
        """Send the new model to all clients, to be judged."""
        if not self._judge:
            return []
        self._prepare("evaluate", config)
        return self._noted(super().configure_evaluate(server_round, arrays, config, grid))

    def aggregate_train(
        self, server_round: int, replies: Iterable[Message]
    ) -> tuple[ArrayRecord | None, MetricRecord | None]:
        """Average the models that can be believed."""
        good = self._believed(replies, "train")
        arrays, metrics = super().aggregate_train(server_round, good)
        assert arrays is not None
        self._theta = arrays["theta"].numpy().astype(np.float32)
        if not self._judge:
            self._keep(np.nan, np.nan, -float(self._run.round))  # the last is kept
        return ArrayRecord({"theta": Array(self._theta)}), metrics

    def aggregate_evaluate(
        self, server_round: int, replies: Iterable[Message]
    ) -> MetricRecord | None:
        """Keep the round whose mean loss on held-out people is least."""
        if not self._judge:
            return None
        good = self._believed(replies, "evaluate")
        metrics = super().aggregate_evaluate(server_round, good)
        assert metrics is not None
        loss, accuracy = (np.asarray(metrics[name]).item() for name in ("loss", "accuracy"))
        self._keep(loss, accuracy, loss)
        return metrics

    def _keep(self, loss: float, accuracy: float, criterion: float) -> None:
        state, models = State(self._theta), self._theta[None]
        figures = {"loss": loss, "accuracy": accuracy, "criterion": criterion}
        self._run = self._run.after(state, (), models, **figures)
        write_checkpoint(self._path, self._run, self._mark)

    # ---------------------------------------------------------------- who is there, what is believed

    @property
    def _when(self) -> str:
        return f"round {self._run.round + 1}"

    def _prepare(self, kind: str, config: ConfigRecord) -> None:
        """Write what the messages say; Flower waits for nodes without end, a run stops instead."""
        header = {**self._header, "round": self._run.round + 1}
        config["json"] = WireMessage(kind, header).words
        there = self._roster.wait_for_nodes(self.min_available_nodes)
        self._roster.check_enough(len(there), self._when)

    def _noted(self, messages: Iterable[Message]) -> list[Message]:
        """The same messages, which stand in the server's log."""
        sent = list(messages)
        self._asked = {one.metadata.dst_node_id: from_records(one.content) for one in sent}
        self._roster.log_asked(self._asked)
        return sent

    def _believed(self, replies: Iterable[Message], kind: str) -> list[Message]:
        """The replies that can be what was asked for, in the order of the clients."""
        expected = Expected(kind, self._when, self._study.lengths, check=self._check_rows)
        found = self._roster.believe(self._asked, replies, expected)
        self._roster.check_enough(len(found), self._when)
        return [message for message, _ in found.values()]

    def _check_rows(self, name: str, reply: WireMessage) -> None:
        """Check that a client was trained on as many rows as it had when it joined."""
        if name not in self._rows:
            raise HostileReply("it goes by no name of those that joined")
        rows = float(reply.arrays["num-examples"])
        known = 1 if self._study.is_uniform else self._rows[name]
        if rows <= 0 or (reply.kind == "train" and rows != known):
            raise HostileReply("it says it was trained on another number of rows than it has")
