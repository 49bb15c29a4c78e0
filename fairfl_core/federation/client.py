"""What a client does with a message: it works on its own rows, and tables come out."""

import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairfl_core._io.names import shown
from fairfl_core.errors import InputError
from fairfl_core.federation.desk import Desk
from fairfl_core.federation.loader import ClientFolder, Refusal
from fairfl_core.federation.log import MessageLog, entry_of
from fairfl_core.federation.messages import (
    KINDS,
    REFUSAL,
    Parcel,
    arrays_under,
    check_leaving,
    prefixed,
)
from fairfl_core.federation.study import Study
from fairfl_core.training.data import TRAINING, VALIDATION, Federation
from fairfl_core.training.local_rounds import make_local_round, row_weights, with_cells
from fairfl_core.training.method import Method, Plan, Reply, State
from fairfl_core.training.methods import make_method
from fairfl_core.training.scaling import Scaler
from fairfl_core.training.trainers import LocalTrainer, make_trainer

__all__ = ["Client", "scaler_of", "state_of"]

Arrays = dict[str, NDArray[Any]]
Told = tuple[dict[str, Any], Arrays]


class Client:
    """One client, as the messages of a server meet it."""

    def __init__(self, folder: Path) -> None:
        self.folder = ClientFolder.read(folder)
        self.study = Study.read(folder)
        self.log = MessageLog(folder)
        self._handlers: dict[str, Callable[[Desk, Parcel], Told]] = {
            "join": self._join,
            "split": self._split,
            "turn": self._turn,
            "held-out": self._judge,
            "tables": self._tables,
            **dict.fromkeys(("counts", "histogram", "corners", "price", "predictor"), self._told),
        }

    def answer(self, parcel: Parcel) -> Parcel:
        """Answer a message; what cannot be answered is refused in one sentence, and no more."""
        note = _note(parcel)
        try:
            if parcel.kind not in self._handlers:
                raise Refusal(
                    f'the server asked for "{shown(parcel.kind)}", which is not part of the '
                    "protocol; nothing was sent.",
                    "it was asked for what is not part of the protocol",
                )
            self.log.add(entry_of(parcel, "received", "the server", reply=False, note=note))
            desk = self._desk(parcel)
            header, arrays = self._handlers[parcel.kind](desk, parcel)
            reply = Parcel(parcel.kind, {"client": self.folder.name, **header}, arrays)
            check_leaving(reply, self.study, desk.sizes())
        except InputError as error:
            reply = self._refusal(error)
        except Exception as error:  # whatever it says may hold what people are: it stays here
            self.log.say(f"A fault of the program: {traceback.format_exc()}")
            reply = self._refusal(InputError(f"a fault of the program ({type(error).__name__})"))
        spent = str(reply.header.get("spent", "")) or note
        self.log.add(entry_of(reply, "sent", "the server", reply=True, note=spent))
        return reply

    def _refusal(self, error: InputError) -> Parcel:
        self.log.say(f"Refused: {error}")
        told = getattr(error, "told", "it could not do what it was asked; its own log says why")
        return Parcel(REFUSAL, {"client": self.folder.name, "told": told})

    def _desk(self, parcel: Parcel) -> Desk:
        """The desk of the run, if the server has the study that was agreed on."""
        if parcel.header.get("study") != self.study.fingerprint:
            raise Refusal(
                "the server's study is not the one in this folder, so it asks for something that "
                "was not agreed on; compare the two study.toml.",
                "its study is another one",
            )
        return Desk(self.folder, self.study, str(parcel.header.get("run", "")))

    # ---------------------------------------------------------------- before training

    def _join(self, desk: Desk, parcel: Parcel) -> Told:
        return {"rows": len(desk.own.people), "units": desk.units}, {}

    def _split(self, desk: Desk, parcel: Parcel) -> Told:
        fitted_before = parcel.header.get("fitted_before")
        if not self.study.folds:
            fitted_before = []
        desk.begin(parcel.header["before"], fitted_before)
        header = {"fitted_units": desk.fitted_units, "per_row": desk.pixels}
        if fitted_before is None:
            return header, {}
        return header, {"counts": desk.training_counts(), "moments": desk.moments()}

    # ---------------------------------------------------------------- training

    def _turn(self, desk: Desk, parcel: Parcel) -> Told:
        header, state = parcel.header, state_of("state", parcel)
        round_, model = int(header["round"]), int(header["model"])
        federation, worker = self._worker(desk, parcel)
        method = make_method(self.study.method, self.study.settings)
        plan = self._plan(desk, parcel)
        memory = {} if header.get("fresh") else desk.memory(model, round_)
        arrays: Arrays = {}
        if header.get("judge"):
            arrays = self._judged(desk, federation, worker, method.model(state, memory))
        reply = self._trained(desk, federation, worker, method, state, memory, plan, parcel)
        desk.keep_memory(model, round_ + 1, reply.memory)
        arrays |= {"theta": reply.theta} | prefixed("sent", reply.sent)
        return {"rows": reply.rows}, arrays

    def _trained(
        self,
        desk: Desk,
        federation: Federation,
        worker: LocalTrainer,
        method: Method,
        state: State,
        memory: Any,
        plan: Plan,
        parcel: Parcel,
    ) -> Reply:
        people, rows = federation.people, federation.rows(TRAINING)
        labels = plan.counts.sum(axis=(0, 1)) if self.study.class_weighting else None
        turn = make_local_round(
            people,
            rows,
            client=int(parcel.header["place"]),
            round=int(parcel.header["round"]),
            seed=self.study.seed,
            weight=row_weights(people, labels),
            validation=with_cells(people, federation.rows(VALIDATION)),
            memory=memory,
            plan=plan,
        )
        return method.client(state, turn, worker)

    def _plan(self, desk: Desk, parcel: Parcel) -> Plan:
        """What all know; it comes with the first round and whenever a client was lost."""
        model = int(parcel.header["model"])
        if "plan" in parcel.arrays:
            desk.keep_plan(model, np.asarray(parcel.arrays["plan"], np.int64))
        favourable = self.study.labels.index(self.study.favourable)
        return Plan(desk.plan(model), favourable, self.study.shapes)

    def _judge(self, desk: Desk, parcel: Parcel) -> Told:
        federation, worker = self._worker(desk, parcel)
        method = make_method(self.study.method, self.study.settings)
        memory = desk.memory(int(parcel.header["model"]), int(parcel.header["round"]))
        theta = method.model(state_of("state", parcel), memory)
        return {}, self._judged(desk, federation, worker, theta)

    def _judged(
        self, desk: Desk, federation: Federation, worker: LocalTrainer, theta: Any
    ) -> Arrays:
        """How a model does on held-out people: a table, and one sum."""
        desk.check_plain_tables()
        counts, losses = self._tabled(federation, worker, theta, VALIDATION)
        return {"held_out_counts": counts, "held_out_loss": np.array(losses.sum())}

    def _tables(self, desk: Desk, parcel: Parcel) -> Told:
        federation, worker = self._worker(desk, parcel)
        part = VALIDATION if parcel.header["held_out"] else TRAINING
        if part == VALIDATION:
            desk.check_plain_tables()
        counts, losses = self._tabled(federation, worker, parcel.arrays["theta"], part)
        return {}, {"counts": counts, "losses": losses}

    def _tabled(
        self, federation: Federation, worker: LocalTrainer, theta: Any, part: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        rows, people = federation.rows(part), federation.people
        scores = worker.scores(np.asarray(theta, np.float32), rows)
        group, label = people.group[rows], people.label[rows]
        counts = np.zeros(self.study.table, np.int64)
        np.add.at(counts, (group, label, scores.argmax(axis=1)), 1)
        losses = np.zeros(self.study.table[:2])
        truth = scores[np.arange(len(rows)), label]
        np.add.at(losses, (group, label), -np.log(truth + 1e-12))
        return counts, losses

    def _told(self, desk: Desk, parcel: Parcel) -> Told:
        """Statistics and the predictor; what they need is loaded when they are asked for."""
        from fairfl_core.federation.client_statistics import ANSWERS

        return ANSWERS[parcel.kind](desk, parcel)

    def _worker(self, desk: Desk, parcel: Parcel) -> tuple[Federation, LocalTrainer]:
        federation = desk.federation(int(parcel.header["model"]), scaler_of("scaler", parcel))
        return federation, make_trainer(federation, self.study.recipe)


def state_of(prefix: str, parcel: Parcel) -> State:
    """The state that a message brings under a name."""
    arrays = arrays_under(prefix, parcel.arrays)
    return State(np.asarray(arrays["theta"], np.float32), arrays_under("memory", arrays))


def scaler_of(prefix: str, parcel: Parcel) -> Scaler:
    """The scaler that a message brings under a name."""
    arrays = arrays_under(prefix, parcel.arrays)
    return Scaler(arrays["shift"], arrays["spread"])


def _note(parcel: Parcel) -> str:
    """Which round and which model a message is of."""
    if parcel.kind not in KINDS or KINDS[parcel.kind].action != "train":
        return ""
    return f"Round {int(parcel.header.get('round', 0)) + 1}."
