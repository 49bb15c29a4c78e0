"""Our own training as a ClientApp like any other, on a client's own rows, with the fair rounds added.

The folder stands in the node's own configuration, so that a server can name no path.
"""

from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from flwr.app import Context, Message
from flwr.clientapp import ClientApp
from numpy.typing import NDArray

from fairfl_core._io.names import listed
from fairfl_core.data.columns import as_numbers, code_names
from fairfl_core.data.datasets import People
from fairfl_core.data.tables import open_table_at, read_rows
from fairfl_core.errors import InputError
from fairfl_core.federation.client import fairfl_client, received_model, respond
from fairfl_core.federation.folders import CLIENT, ClientFolder
from fairfl_core.federation.message_log import MessageLog
from fairfl_core.federation.scores import check_groups, codes_among
from fairfl_core.federation.study import Study
from fairfl_core.federation.wire import Refusal, WireMessage
from fairfl_core.training.data import (
    TEST,
    TRAINING,
    VALIDATION,
    Federation,
    Scaler,
    moments_of,
    scaled,
    split_people,
)
from fairfl_core.training.method import HeldOut, State, make_method
from fairfl_core.training.trainers import make_trainer
from fairfl_core.training.training import make_local_round, plan_of, row_weights, with_cells

__all__ = ["OwnRows", "app"]

app = ClientApp()
Arrays = dict[str, NDArray[Any]]
_PARTS = {TRAINING: "training", VALIDATION: "validation", TEST: "test"}


# -------------------------------------------------------------------- a client's people


def _read_table(folder: ClientFolder, study: Study) -> tuple[People, list[str]]:
    """Read the people of a client's table, and their row ids; refuse what the study cannot use."""
    named, features = folder.data, study.features
    label, group, unit, row_id = map(named.get, ("label", "group", "unit", "row_id"))
    try:
        names = [str(label), str(group), *features.categories, *([unit] if unit else [])]
        wanted = [*names, *([row_id] if row_id else [])]
        table = read_rows(open_table_at(folder.path / named["table"]), wanted, features.numbers)
        coded = {name: code_names(table[name], name) for name in names}
        columns = []
        for name in features.numbers:
            columns.append(as_numbers(table[name])[:, None])
            if np.isnan(columns[-1]).any():
                raise InputError(
                    f'column "{name}", data row {int(np.isnan(columns[-1]).argmax()) + 1:,} is '
                    "not a finite number; correct it or leave the row out."
                )
    except InputError as error:
        raise Refusal(str(error), "its table lacks what the study needs") from error
    check_groups(coded[str(group)])
    for name, known in features.categories.items():
        columns.append(np.eye(len(known))[codes_among(coded[name], name, known, "features")])
    rows = table.num_rows
    people = People(
        inputs=np.concatenate(columns, axis=1).astype(np.float32),
        scaled=len(features.numbers),
        label=codes_among(coded[str(label)], str(label), study.labels, "labels").astype(np.int16),
        group=codes_among(coded[str(group)], str(group), study.groups, "groups").astype(np.int16),
        client=np.full(rows, study.clients.index(folder.name), np.int16),
        unit=(coded[unit].codes if unit else np.arange(rows)).astype(np.int32),
        labels=study.labels,
        groups=study.groups,
        clients=study.clients,
        favourable=study.favourable,
    )
    ids = table[row_id].to_pylist() if row_id else range(1, rows + 1)
    return people, [str(one) for one in ids]


class OwnRows:
    """The people of one client's folder.

    Parameters
    ----------
    folder : ClientFolder
    study : Study
    """

    def __init__(self, folder: ClientFolder, study: Study) -> None:
        if folder.name not in study.clients:
            raise Refusal(
                f'{folder.path / CLIENT}: the client "{folder.name}" is not one of the study '
                f"({listed(study.clients)}); correct the name.",
                "its name is not one of the study",
            )
        self.folder, self.study = folder, study
        self.people, self.row_id = _read_table(folder, study)

    @cached_property
    def splits(self) -> list[NDArray[np.int8]]:
        """Training, validation or test for each row: of the model, or of that of each fold."""
        recipe, seed = self.study.recipe, self.study.seed
        split = split_people(self.people, recipe, seed)
        for part, name in _PARTS.items():
            if not (split == part).any():
                raise Refusal(
                    f"{self.folder.path}: {len(split):,} rows leave nobody for {name}; it takes "
                    "more people to take part.",
                    "it has too few people",
                )
        folds = range(recipe.folds)
        return [split_people(self.people, recipe, seed, fold) for fold in folds] or [split]

    def label_rows(self) -> NDArray[np.int64]:
        """Training rows of each label, shape (models, labels)."""
        label, labels = self.people.label, len(self.study.labels)
        return np.stack(
            [np.bincount(label[split == TRAINING], minlength=labels) for split in self.splits]
        )

    def moments(self) -> NDArray[np.float64]:
        """Values, sums and squares of each model's training rows, shape (models, 1 + 2 q)."""
        quantities = self.people.inputs[:, : self.people.scaled]
        return np.stack([moments_of(quantities[split == TRAINING]) for split in self.splits])

    def federation(self, model: int, scaler: Scaler) -> Federation:
        """The client's rows as one model's training sees them."""
        return Federation(scaled(self.people, scaler), self.splits[model])

    def scored(self, model: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """Score each person by the models that were not trained on them, as `read_scores` has it.

        Parameters
        ----------
        model : mapping of str to ndarray
            ``0/theta``, ``0/shift`` and ``0/spread``, and so on for each fold.
        """
        parts = []
        for place, split in enumerate(self.splits):
            scaler = Scaler(model[f"{place}/shift"], model[f"{place}/spread"])
            trainer = make_trainer(self.federation(place, scaler), self.study.recipe)
            rows = np.flatnonzero(split != TRAINING).astype(np.int32)
            scores = trainer.scores(model[f"{place}/theta"].astype(np.float32), rows)
            parts.append((np.full(len(rows), place), rows, scores))
        fold, rows, scores = (np.concatenate(part) for part in zip(*parts, strict=True))
        study, people = self.study, self.people
        table = {
            "label": np.array(study.labels)[people.label[rows]],
            "group": np.array(study.groups)[people.group[rows]],
            "split": np.where(self.splits[0][rows] == TEST, "new", "fit"),
            "row_id": np.array(self.row_id)[rows],
            **{f"score_{label}": scores[:, place] for place, label in enumerate(study.labels)},
        }
        return table | ({"fold": fold} if study.recipe.folds else {})


# -------------------------------------------------------------------- its answers


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
