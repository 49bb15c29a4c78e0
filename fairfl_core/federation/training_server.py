"""Our own training as a ServerApp like any other: Flower's FedAvg, then the fair rounds."""

import io
import secrets
import traceback
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from flwr.app import Array, ArrayRecord, ConfigRecord, Context, Message, MetricRecord
from flwr.serverapp import Grid, ServerApp
from flwr.serverapp.strategy import FedAvg
from numpy.typing import NDArray

from fairfl_core._io.files import read_json, write_json, write_whole
from fairfl_core.errors import FairflError, InputError
from fairfl_core.federation.message_log import MessageLog, entry_of, read_log
from fairfl_core.federation.own_rows import pooled_scalers
from fairfl_core.federation.question import Question
from fairfl_core.federation.roster import Roster, read_reply, wait_for_nodes
from fairfl_core.federation.server import FairRounds, fair_rounds
from fairfl_core.federation.study import Study
from fairfl_core.federation.wire import FederationStopped, HostileReply, WireMessage
from fairfl_core.training.data import Scaler
from fairfl_core.training.parameters import first_parameters

__all__ = ["Progress", "StudyFedAvg", "app", "run_study"]

app = ServerApp()


@app.main()
def main(grid: Grid, context: Context) -> None:
    """Do what `fairfl federation run` wrote down, and write down how it ended."""
    path = Path(str(context.run_config["job"]))
    job = read_json(path)
    outcome, ended = path.parent / "outcome.json", {"attempt": job["attempt"]}
    try:
        run_study(
            grid,
            Study.read(Path(job["folder"])),
            Question.from_json(job["question"]),
            path.parent,
            min_clients=job["min_clients"],
            patience=job["patience"],
        )
        write_json(outcome, ended | {"ok": True, "sentence": ""})
    except FairflError as error:
        print(error, flush=True)
        write_json(outcome, ended | {"ok": False, "sentence": str(error)})
    except Exception as error:
        (path.parent / "error.txt").write_text(traceback.format_exc(), encoding="utf-8")
        sentence = f"Stopped by a fault of the program ({error}); see error.txt."
        write_json(outcome, ended | {"ok": False, "sentence": sentence})
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
    run = _begun(folder, study)
    log = MessageLog(folder, read_log(folder) if (folder / "log.jsonl").is_file() else ())
    roster = Roster(
        grid,
        log,
        clients=study.clients,
        min_clients=min_clients,
        patience=patience,
        say=say,
    )
    replies = roster.join(
        "moments",
        {"study": study.fingerprint},
        lengths=study.lengths,
        needs=("label_rows", "moments"),
        check=_check_moments,
    )
    parts = {name: replies[name].arrays for name in roster.clients}
    scalers = pooled_scalers(study, [parts[name]["moments"] for name in parts])
    arrays: dict[str, NDArray[Any]] = {}
    chosen = []
    for model, scaler in enumerate(scalers):
        rows = {name: part["label_rows"][model] for name, part in parts.items()}
        strategy = StudyFedAvg(
            study,
            roster,
            model,
            scaler,
            rows,
            folder / f"model_{model}.npz",
            judge=question.privacy is None,
        )
        progress = strategy.train(patience)
        chosen.append(progress.summary())
        kept = {"theta": progress.best, "shift": scaler.shift, "spread": scaler.spread}
        arrays |= {f"{model}/{name}": np.asarray(its) for name, its in kept.items()}
    write_arrays(folder / "model.npz", arrays)
    return fair_rounds(
        grid,
        notion=question.notion,
        region=question.region,
        eps_global=question.eps_global,
        eps_local=question.eps_local,
        confidence=question.guarantee,
        policy=question.policy,
        privacy=question.privacy,
        labels=study.labels,
        groups=study.groups,
        favourable=study.favourable,
        arrays=ArrayRecord({name: Array(its) for name, its in arrays.items()}),
        clients=study.clients,
        min_clients=min_clients,
        timeout=patience,
        out=folder,
        log=log,
        run=run,
        say=say,
        more={"study": study.to_json(), "training": chosen},
        earlier=roster,
    )


def write_arrays(path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write arrays to a file, whole or not at all."""
    file = io.BytesIO()
    np.savez(file, **dict(arrays))  # type: ignore[arg-type]
    write_whole(path, file.getvalue())


def _begun(folder: Path, study: Study) -> str:
    """The run's name; refused where the folder holds a run of another study."""
    path = folder / "run.json"
    if not path.is_file():
        write_json(path, {"run": secrets.token_hex(8), "study": study.fingerprint})
    begun = dict(read_json(path))
    if begun["study"] != study.fingerprint:
        raise InputError(f"{path}: is a run of another study; choose another folder with --out.")
    return str(begun["run"])


def _check_moments(name: str, reply: WireMessage) -> None:
    values = reply.arrays["moments"]
    if (values[:, 0] < 1).any() or (reply.arrays["label_rows"].sum(axis=1) < 1).any():
        raise HostileReply("it says it has a number of people that cannot be")


# -------------------------------------------------------------------- rounds


@dataclass(eq=False)
class Progress:
    """Where the training of one model stands: all that the server keeps on disk of it.

    Attributes
    ----------
    theta, best : ndarray
        The model after the last round, and that of the round to keep.
    done, best_done : int
        Rounds done, and the round to keep.
    loss, accuracy : list of float
        On held-out people, after each round; empty where they are not asked.
    """

    theta: NDArray[np.float32]
    best: NDArray[np.float32]
    done: int = 0
    best_done: int = 0
    loss: list[float] = field(default_factory=list)
    accuracy: list[float] = field(default_factory=list)

    def write(self, path: Path) -> None:
        """Keep it, whole or not at all."""
        write_arrays(path, {name: np.asarray(value) for name, value in vars(self).items()})

    @classmethod
    def read(cls, path: Path) -> "Progress":
        """Take up what was kept."""
        try:
            with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as file:
                return cls(
                    file["theta"],
                    file["best"],
                    int(file["done"]),
                    int(file["best_done"]),
                    file["loss"].tolist(),
                    file["accuracy"].tolist(),
                )
        except (OSError, ValueError, KeyError) as error:
            raise InputError(
                f"{path}: is not a checkpoint that can be read ({error}); remove it to train anew."
            ) from error

    def summary(self) -> dict[str, Any]:
        """What `result.json` says of it."""
        return {"chosen": self.best_done, "loss": self.loss, "accuracy": self.accuracy}


class StudyFedAvg(FedAvg):
    """Flower's FedAvg over the clients of a study, kept on disk after every round.

    Parameters
    ----------
    study : Study
    roster : Roster
        The clients that joined.
    model : int
        Which of the models: 0, or the fold that is held out.
    scaler : Scaler
    label_rows : mapping of str to ndarray
        Training rows of each client by label.
    path : Path
        Where the progress is kept.
    judge : bool
        Ask for figures of held-out people and keep the best round; else keep the last.
    """

    def __init__(
        self,
        study: Study,
        roster: Roster,
        model: int,
        scaler: Scaler,
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
        )
        self._study, self._roster, self._path, self._judge = study, roster, path, judge
        first = first_parameters(study.shapes, study.seed)
        self.progress = Progress.read(path) if path.is_file() else Progress(first, first)
        self._before = self.progress.done
        self._rows = {name: int(rows.sum()) for name, rows in label_rows.items()}
        self._config = {
            "study": study.fingerprint,
            "model": model,
            "done": self._before,
            "shift": scaler.shift.tolist(),
            "spread": scaler.spread.tolist(),
            "label-rows": np.sum([*label_rows.values()], axis=0).tolist(),
        }

    def train(self, patience: float) -> Progress:
        """Do every round that is still to be done."""
        left = self._study.rounds - self._before
        if left:
            self.start(
                grid=self._roster.grid,
                initial_arrays=ArrayRecord({"theta": Array(self.progress.theta)}),
                num_rounds=left,
                timeout=patience,
                train_config=ConfigRecord(dict(self._config)),
                evaluate_config=ConfigRecord(dict(self._config)),
            )
        return self.progress

    def configure_train(
        self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid
    ) -> Iterable[Message]:
        """Send the model to all clients; stop where too few of them are there."""
        self._check_there(grid, server_round)
        return self._noted(super().configure_train(server_round, arrays, config, grid), "train")

    def configure_evaluate(
        self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid
    ) -> Iterable[Message]:
        """Send the new model to all clients, to be judged."""
        self._check_there(grid, server_round)
        messages = super().configure_evaluate(server_round, arrays, config, grid)
        return self._noted(messages, "evaluate")

    def aggregate_train(
        self, server_round: int, replies: Iterable[Message]
    ) -> tuple[ArrayRecord | None, MetricRecord | None]:
        """Average the models that can be believed."""
        good = self._believed(server_round, replies, "train")
        arrays, metrics = super().aggregate_train(server_round, good)
        assert arrays is not None
        theta = arrays["theta"].numpy().astype(np.float32)
        progress = self.progress
        progress.theta, progress.done = theta, self._before + server_round
        if not self._judge:
            progress.best, progress.best_done = theta, progress.done
            progress.write(self._path)
        return ArrayRecord({"theta": Array(theta)}), metrics

    def aggregate_evaluate(
        self, server_round: int, replies: Iterable[Message]
    ) -> MetricRecord | None:
        """Keep the round whose mean loss on held-out people is least."""
        if not self._judge:
            return None
        good = self._believed(server_round, replies, "evaluate")
        metrics = super().aggregate_evaluate(server_round, good)
        assert metrics is not None
        progress, loss = self.progress, float(metrics["loss"])  # type: ignore[arg-type]
        if not progress.loss or loss < min(progress.loss):
            progress.best, progress.best_done = progress.theta, progress.done
        progress.loss.append(loss)
        progress.accuracy.append(float(metrics["accuracy"]))  # type: ignore[arg-type]
        progress.write(self._path)
        return metrics

    # ---------------------------------------------------------------- who is there, what is believed

    def _check_there(self, grid: Grid, server_round: int) -> None:
        """Flower waits for nodes without end; a run stops and says why."""
        there = wait_for_nodes(grid, self.min_available_nodes, self._roster.patience)
        if len(there) < self.min_available_nodes:
            raise FederationStopped(
                f"Stopped (round {self._before + server_round}): {len(there)} nodes are there and "
                f"at least {self.min_available_nodes} were asked for. What was done so far is "
                "kept: run the same command again when they are back."
            )

    def _noted(self, messages: Iterable[Message], kind: str) -> list[Message]:
        sent = list(messages)
        self._asked = {message.metadata.dst_node_id for message in sent}
        names = self._roster.names
        for message in sent:
            theta = message.content.array_records[self.arrayrecord_key]["theta"].numpy()
            one = WireMessage(kind, {}, {"theta": theta})
            node = message.metadata.dst_node_id
            whom = names.get(node, f"node {node}")
            self._roster.log.add(entry_of(one, "sent", whom, reply=False))
            self._roster.account(whom, one.bytes)
        return sent

    def _believed(self, server_round: int, replies: Iterable[Message], kind: str) -> list[Message]:
        """The replies that can be what was asked for, in the order of the clients."""
        when, names = f"round {self._before + server_round}", self._roster.names
        good: dict[str, Message] = {}
        silence = f"no answer in {self._roster.patience:g} s"
        for message in replies:
            node = message.metadata.src_node_id
            if node not in self._asked:  # of a node that is gone the SuperLink itself says so
                silence = str(read_reply(message))
                continue
            self._asked.discard(node)
            name = names.get(node, f"node {node}")
            try:
                name = self._check(message, node, kind)
                if name in good:
                    raise HostileReply(f'it answered in the name of "{name}", as another does')
                good[name] = message
            except HostileReply as error:
                self._roster.missed(name, when, str(error))
        for node in sorted(self._asked):
            self._roster.missed(names.get(node, f"node {node}"), when, silence)
        if len(good) < max(self.min_train_nodes, 1):
            why = " ".join(lost.sentence() for lost in self._roster.lost)
            raise FederationStopped(
                f"Stopped ({when}): {len(good)} clients answered and at least "
                f"{max(self.min_train_nodes, 1)} were asked for. {why} What was done so far is "
                "kept: run the same command again when they are back, or allow fewer with "
                "--min-clients."
            )
        return [good[name] for name in self._study.clients if name in good]

    def _check(self, message: Message, node: int, kind: str) -> str:
        reply = read_reply(message)
        if not isinstance(reply, WireMessage):
            raise HostileReply(reply)
        claimed = str(reply.header.get("client", ""))
        name = self._roster.names.get(node, claimed)
        if name not in self._rows:
            raise HostileReply("it goes by no name of those that joined")
        arrays: dict[str, Any] = {}
        for record in message.content.array_records.values():
            arrays |= {key: array.numpy() for key, array in record.items()}
        for figures in message.content.metric_records.values():
            arrays |= {key: np.asarray(value) for key, value in figures.items()}
        rows = arrays.pop("num-examples", np.array(0))
        whole = WireMessage(reply.kind, reply.header, arrays)
        needs = ("theta",) if kind == "train" else ("loss", "accuracy")
        self._roster.believed(
            name, whole, kind, self._study.lengths, 0.0, needs, False, lambda *_: None
        )
        uniform = self._study.settings.get("weighting") == "uniform"
        known = 1 if uniform else self._rows[name]
        if rows.shape or not float(rows) > 0 or (kind == "train" and float(rows) != known):
            raise HostileReply("it says it was trained on another number of rows than it has")
        self._roster.log.add(entry_of(whole, "received", name, reply=True))
        self._roster.account(name, whole.bytes)
        return name
