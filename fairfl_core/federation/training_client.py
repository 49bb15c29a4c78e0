"""Our own training as a ClientApp like any other, with the fair rounds added.

The folder stands in the node's own configuration, so that a server can name no path.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from flwr.app import Context, Message
from flwr.clientapp import ClientApp
from numpy.typing import NDArray

from fairfl_core.federation.client import fairfl_client, received_model, respond
from fairfl_core.federation.folders import ClientFolder
from fairfl_core.federation.message_log import MessageLog
from fairfl_core.federation.own_rows import OwnRows
from fairfl_core.federation.study import Study
from fairfl_core.federation.wire import Refusal, WireMessage
from fairfl_core.training.data import TRAINING, VALIDATION, Scaler
from fairfl_core.training.local_rounds import make_local_round, row_weights, with_cells
from fairfl_core.training.method import HeldOut, State
from fairfl_core.training.methods import make_method
from fairfl_core.training.trainers import make_trainer
from fairfl_core.training.training import plan_of

__all__ = ["app"]

app = ClientApp()
Arrays = dict[str, NDArray[Any]]


def _folder(context: Context) -> ClientFolder:
    return ClientFolder.read(Path(str(context.node_config["folder"])))


def _rows(context: Context) -> OwnRows:
    folder = _folder(context)
    return OwnRows(folder, Study.read(folder.path))


def _answering(
    kind: str, work: Callable[[OwnRows, WireMessage], Arrays]
) -> Callable[[Message, Context], Message]:
    """Make the handler of a kind of message: each is a line in the log, in and out."""

    def handle(message: Message, context: Context) -> Message:
        folder = _folder(context)

        def answer(asked: WireMessage) -> tuple[WireMessage, Mapping[str, int], int]:
            rows = _rows(context)
            if asked.header.get("study") != rows.study.fingerprint:
                raise Refusal(
                    "the server's study is not the one in this folder, so it asks for something "
                    "that was not agreed on; compare the two study.toml.",
                    "its study is another one",
                )
            reply = WireMessage(kind, {"client": folder.name}, work(rows, asked))
            return reply, rows.study.lengths, len(rows.people)

        return respond(message, kind, MessageLog(folder.path), folder.name, answer)

    return handle


def _told(rows: OwnRows, asked: WireMessage) -> Arrays:
    """Sums and squares of the quantities, so that all clients scale alike."""
    return {"label_rows": rows.label_rows(), "moments": rows.moments()}


def _trained(rows: OwnRows, asked: WireMessage) -> Arrays:
    """The model, trained on this client's people."""
    study, header = rows.study, asked.header
    recipe, federation = study.recipe, rows.federation(header["model"], _scaler(header))
    people, trainer = federation.people, make_trainer(federation, recipe)
    pooled = np.array(header["label_rows"], np.int64) if recipe.class_weighting else None
    local = make_local_round(
        people,
        federation.rows(TRAINING),
        client=study.clients.index(rows.folder.name),
        round=header["round"] - 1,
        seed=study.seed,
        weight=row_weights(people, pooled),
        validation=with_cells(people, federation.rows(VALIDATION)),
        memory={},
        plan=plan_of(federation, trainer),
    )
    method = make_method(recipe.method, recipe.method_settings)
    reply = method.client(State(asked.arrays["theta"].astype(np.float32)), local, trainer)
    weight = np.array(1 if study.is_uniform else reply.rows)
    return {"theta": reply.theta.astype(np.float64), "num-examples": weight}


def _judged(rows: OwnRows, asked: WireMessage) -> Arrays:
    """How the model does on people it was not trained on."""
    federation = rows.federation(asked.header["model"], _scaler(asked.header))
    trainer, people = make_trainer(federation, rows.study.recipe), federation.people
    held_out = federation.rows(VALIDATION)
    scores = trainer.scores(asked.arrays["theta"].astype(np.float32), held_out)
    whose = (people.client[held_out], people.group[held_out], people.label[held_out])
    judged = HeldOut(*whose, scores, plan_of(federation, trainer))
    return {
        "loss": np.array(judged.loss),
        "accuracy": np.array(judged.accuracy),
        "num-examples": np.array(len(held_out)),
    }


def _scaler(header: Mapping[str, Any]) -> Scaler:
    return Scaler(np.array(header["shift"], float), np.array(header["spread"], float))


def _scores(context: Context) -> dict[str, Any]:
    """Score this client's people by the models that were trained: our own scores function."""
    model = {name: array.numpy() for name, array in received_model(context).items()}
    return _rows(context).scored(model)


app.query("fairfl_moments")(_answering("moments", _told))
app.train()(_answering("train", _trained))
app.evaluate()(_answering("evaluate", _judged))
fairfl_client(
    app,
    _scores,
    name=lambda context: _folder(context).name,
    folder=lambda context: _folder(context).path,
    consent=lambda context: _folder(context).consent,
)
