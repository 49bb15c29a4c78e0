"""Our own training as a ClientApp like any other, with the fair rounds added.

The folder stands in the node's own configuration, so that a server can name no path.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from flwr.app import Array, ArrayRecord, Context, Message, MetricRecord
from flwr.clientapp import ClientApp
from numpy.typing import NDArray

from fairfl_core.federation.client import fairfl_client, received_model, respond
from fairfl_core.federation.folders import ClientFolder
from fairfl_core.federation.message_log import MessageLog
from fairfl_core.federation.own_rows import OwnRows
from fairfl_core.federation.study import Study
from fairfl_core.federation.wire import Refusal, WireMessage, from_records, to_records
from fairfl_core.training.data import TEST, TRAINING, VALIDATION, Federation, Scaler
from fairfl_core.training.local_rounds import make_local_round, row_weights, with_cells
from fairfl_core.training.method import Plan, State
from fairfl_core.training.methods import make_method
from fairfl_core.training.trainers import LocalTrainer, make_trainer

__all__ = ["app", "scores_of_study"]

app = ClientApp()
Arrays = dict[str, NDArray[Any]]


def _folder(context: Context) -> Path:
    return Path(str(context.node_config["folder"]))


def _rows(context: Context) -> OwnRows:
    return OwnRows(ClientFolder.read(_folder(context)), Study.read(_folder(context)))


@app.query("fairfl_moments")
def moments(message: Message, context: Context) -> Message:
    """Tell sums and squares of the quantities, so that all clients scale alike."""
    folder = ClientFolder.read(_folder(context))

    def answer(asked: WireMessage) -> tuple[WireMessage, Mapping[str, int], int]:
        rows = _agreed(context, asked.header.get("study"))
        arrays = {"label_rows": rows.label_rows(), "moments": rows.moments()}
        reply = WireMessage("moments", {"client": folder.name}, arrays)
        return reply, rows.study.lengths, len(rows.people)

    reply = respond(
        lambda: from_records(message.content),
        "moments",
        MessageLog(folder.path),
        folder.name,
        answer,
    )
    return Message(to_records(reply), reply_to=message)


def _agreed(context: Context, fingerprint: Any) -> OwnRows:
    """The rows, if the server has the study that was agreed on."""
    rows = _rows(context)
    if fingerprint != rows.study.fingerprint:
        raise Refusal(
            "the server's study is not the one in this folder, so it asks for something that "
            "was not agreed on; compare the two study.toml.",
            "its study is another one",
        )
    return rows


@app.train()
def train(message: Message, context: Context) -> Message:
    """Train the model on this client's people."""
    return _in_rounds(message, context, "train", _trained)


@app.evaluate()
def evaluate(message: Message, context: Context) -> Message:
    """Judge the model on people it was not trained on."""
    return _in_rounds(message, context, "evaluate", _judged)


def _in_rounds(
    message: Message,
    context: Context,
    kind: str,
    work: Callable[[OwnRows, Federation, LocalTrainer, NDArray[np.float32], Any], Arrays],
) -> Message:
    """Answer a message of Flower's FedAvg: arrays and figures, each a line in the log."""
    config = message.content.config_records["config"]
    theta = message.content.array_records["arrays"]["theta"].numpy()
    folder = ClientFolder.read(_folder(context))

    def answer(_: WireMessage) -> tuple[WireMessage, Mapping[str, int], int]:
        rows = _agreed(context, config["study"])
        scaler = Scaler(np.array(config["shift"], float), np.array(config["spread"], float))
        federation = rows.federation(int(str(config["model"])), scaler)
        trainer = make_trainer(federation, rows.study.recipe)
        found = work(rows, federation, trainer, theta.astype(np.float32), config)
        reply = WireMessage(kind, {"client": folder.name}, found)
        return reply, rows.study.lengths, len(rows.people)

    note = f"Round {int(str(config['done'])) + int(str(config['server-round']))}."
    reply = respond(
        lambda: WireMessage(kind, {}, {"theta": theta}),
        kind,
        MessageLog(folder.path),
        folder.name,
        answer,
        note,
    )
    content = to_records(WireMessage(reply.kind, reply.header))
    if reply.arrays:  # Flower's FedAvg takes one record of arrays and one of figures
        figures = {name: its.item() for name, its in reply.arrays.items() if not its.shape}
        content["metrics"] = MetricRecord(figures)
        if "theta" in reply.arrays:
            content["arrays"] = ArrayRecord({"theta": Array(reply.arrays["theta"])})
    return Message(content, reply_to=message)


def _trained(
    rows: OwnRows,
    federation: Federation,
    trainer: LocalTrainer,
    theta: NDArray[np.float32],
    config: Any,
) -> Arrays:
    study, people = rows.study, federation.people
    training = federation.rows(TRAINING)
    pooled = np.array(config["label-rows"], np.int64) if study.class_weighting else None
    own = np.zeros((len(study.groups), len(study.labels)), np.int64)
    np.add.at(own, (people.group[training], people.label[training]), 1)
    local = make_local_round(
        people,
        training,
        client=rows.place,
        round=int(config["done"]) + int(config["server-round"]) - 1,
        seed=study.seed,
        weight=row_weights(people, pooled),
        validation=with_cells(people, federation.rows(VALIDATION)),
        memory={},
        plan=Plan(own[None], study.labels.index(study.favourable), study.shapes),
    )
    reply = make_method(study.method, study.settings).client(State(theta), local, trainer)
    uniform = study.settings.get("weighting") == "uniform"
    weight = np.array(1 if uniform else reply.rows)
    return {"theta": reply.theta.astype(np.float64), "num-examples": weight}


def _judged(
    rows: OwnRows,
    federation: Federation,
    trainer: LocalTrainer,
    theta: NDArray[np.float32],
    config: Any,
) -> Arrays:
    held_out = federation.rows(VALIDATION)
    scores, label = trainer.scores(theta, held_out), federation.people.label[held_out]
    truth = scores[np.arange(len(held_out)), label]
    return {
        "loss": np.array(-np.log(truth + 1e-12).mean()),
        "accuracy": np.array((scores.argmax(axis=1) == label).mean()),
        "num-examples": np.array(len(held_out)),
    }


# -------------------------------------------------------------------- the fair rounds


def scores_of_study(context: Context) -> dict[str, Any]:
    """Score this client's people by the models that were trained: our own scores function."""
    rows, model = _rows(context), received_model(context)
    study, people = rows.study, rows.people
    parts = []
    for place in range(study.models):
        names = ("theta", "shift", "spread")
        arrays = {name: model[f"{place}/{name}"].numpy() for name in names}
        held_out, scored = rows.scores(place, arrays)
        parts.append((np.full(len(held_out), place), held_out, scored))
    fold, row, scores = (np.concatenate(part) for part in zip(*parts, strict=True))
    table: dict[str, Any] = {
        "label": np.array(study.labels)[people.label[row]],
        "group": np.array(study.groups)[people.group[row]],
        "split": np.where(rows.base_split[row] == TEST, "new", "fit"),
        "row_id": np.array(rows.row_id)[row],
        **{f"score_{label}": scores[:, place] for place, label in enumerate(study.labels)},
    }
    return table | ({"fold": fold} if study.folds else {})


fairfl_client(
    app,
    scores_of_study,
    name=lambda context: ClientFolder.read(_folder(context)).name,
    folder=_folder,
    consent=lambda context: ClientFolder.read(_folder(context)).consent,
)
