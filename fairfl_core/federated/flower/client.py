"""What a client does with a message: it works on its own rows, and tables come out."""

import hashlib
import json
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairfl_core._io.json_files import write_json
from fairfl_core._io.names import shown
from fairfl_core.errors import InputError
from fairfl_core.federated.data import TRAINING, VALIDATION, Federation
from fairfl_core.federated.flower.desk import Desk
from fairfl_core.federated.flower.loader import ClientFolder, Refusal
from fairfl_core.federated.flower.log import MessageLog, entry_of
from fairfl_core.federated.flower.messages import (
    KINDS,
    REFUSAL,
    Parcel,
    arrays_under,
    check_leaving,
    prefixed,
)
from fairfl_core.federated.flower.study import Study
from fairfl_core.federated.method import Method, Plan, Reply, State
from fairfl_core.federated.methods import make_method
from fairfl_core.federated.scaling import Scaler
from fairfl_core.federated.turns import make_turn, row_weights, with_cells
from fairfl_core.federated.workers import LocalWorker, make_worker
from fairfl_core.people.answers import Answers
from fairfl_core.predictors.load import read_predictor
from fairfl_core.predictors.row_uniforms import fold_draws
from fairfl_core.privacy.histogram_noise import release_histogram
from fairfl_core.privacy.mechanisms import Mechanism, release
from fairfl_core.solving.exact.far_program import corners_of, priced
from fairfl_core.solving.exact.histograms import ScoreHistogram

__all__ = ["Client"]

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
            "counts": self._counts,
            "histogram": self._histogram,
            "corners": self._corners,
            "price": self._price,
            "predictor": self._predictor,
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
        header, state = parcel.header, _state("state", parcel)
        round_, model = int(header["round"]), int(header["model"])
        federation, worker = self._worker(desk, parcel)
        method = make_method(self.study.method, self.study.settings)
        plan = self._plan(desk, parcel)
        memory = {} if header.get("fresh") else desk.memory(model, round_)
        arrays: Arrays = {}
        if header.get("judge"):
            arrays = self._judged(federation, worker, method.model(state, memory))
        reply = self._trained(desk, federation, worker, method, state, memory, plan, parcel)
        desk.keep_memory(model, round_ + 1, reply.memory)
        arrays |= {"theta": reply.theta} | prefixed("sent", reply.sent)
        return {"rows": reply.rows}, arrays

    def _trained(
        self,
        desk: Desk,
        federation: Federation,
        worker: LocalWorker,
        method: Method,
        state: State,
        memory: Any,
        plan: Plan,
        parcel: Parcel,
    ) -> Reply:
        people, rows = federation.people, federation.rows(TRAINING)
        labels = plan.counts.sum(axis=(0, 1)) if self.study.class_weighting else None
        turn = make_turn(
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
        theta = method.model(_state("state", parcel), memory)
        return {}, self._judged(federation, worker, theta)

    def _judged(self, federation: Federation, worker: LocalWorker, theta: Any) -> Arrays:
        """How a model does on held-out people: a table, and one sum."""
        self._check_plain_tables()
        counts, losses = self._tabled(federation, worker, theta, VALIDATION)
        return {"held_out_counts": counts, "held_out_loss": np.array(losses.sum())}

    def _tables(self, desk: Desk, parcel: Parcel) -> Told:
        federation, worker = self._worker(desk, parcel)
        part = VALIDATION if parcel.header["held_out"] else TRAINING
        if part == VALIDATION:
            self._check_plain_tables()
        counts, losses = self._tabled(federation, worker, parcel.arrays["theta"], part)
        return {}, {"counts": counts, "losses": losses}

    def _tabled(
        self, federation: Federation, worker: LocalWorker, theta: Any, part: int
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

    def _check_plain_tables(self) -> None:
        """Where this client sends tables with noise only, it sends none without."""
        if self.folder.largest_epsilon:
            raise Refusal(
                "the server asked for a table of held-out people without noise, and this client "
                "sends tables with noise only (largest_epsilon in client.toml).",
                "it sends tables with noise only; ask with --privacy-epsilon",
            )

    def _worker(self, desk: Desk, parcel: Parcel) -> tuple[Federation, LocalWorker]:
        federation = desk.federation(int(parcel.header["model"]), _scaler("scaler", parcel))
        return federation, make_worker(federation, self.study.recipe)

    # ---------------------------------------------------------------- statistics

    def _score(self, desk: Desk, parcel: Parcel) -> None:
        """Score every row by each model that was chosen, and keep the scores here."""
        method = make_method(self.study.method, self.study.settings)
        scores = []
        for model, done in enumerate(parcel.header["chosen"]):
            state = _state(f"model {model}", parcel)
            federation = desk.federation(model, _scaler(f"scaler {model}", parcel))
            worker = make_worker(federation, self.study.recipe)
            theta = method.model(state, desk.memory(model, int(done)))
            rows = np.arange(len(federation.people), dtype=np.int32)
            scores.append(worker.scores(np.asarray(theta, np.float32), rows))
        desk.keep_scores(scores)

    def _counts(self, desk: Desk, parcel: Parcel) -> Told:
        mechanism = self._consented("counts", parcel)
        self._score(desk, parcel)
        counts = desk.fitted().counts
        if mechanism is None:
            return {}, {"counts": counts.table[0]}
        return self._noised(
            desk, parcel, mechanism, lambda: {"counts": release(counts, mechanism).table[0]}
        )

    def _histogram(self, desk: Desk, parcel: Parcel) -> Told:
        mechanism = self._consented("histogram", parcel)
        self._score(desk, parcel)
        histogram = ScoreHistogram.of(desk.fitted(), int(parcel.header["bins"]))
        if mechanism is None:
            return {}, {"histogram": histogram.table[0]}
        return self._noised(
            desk,
            parcel,
            mechanism,
            lambda: {"histogram": release_histogram(histogram, mechanism).table[0]},
        )

    def _corners(self, desk: Desk, parcel: Parcel) -> Told:
        self._consented("corners", parcel)
        self._score(desk, parcel)
        people = desk.fitted()
        rules, columns = corners_of(people)
        if len(rules) >= len(people):
            raise Refusal(
                f"{len(people):,} held-out people have {len(rules):,} cuts of the score worth "
                "trying: to list them would be to list people; nothing was sent.",
                "it has too few people to list cuts of the score; ask with --one-round",
            )
        corners: Arrays = {
            "group": rules.group,
            "weights": rules.weights,
            "b": rules.b,
            "answers": rules.answers,
            "confusion": columns.confusion,
            "kept": columns.kept,
        }
        while len(corners["group"]) in desk.sizes():  # by chance; told twice, a corner is the same
            corners = {name: np.concatenate([its, its[-1:]]) for name, its in corners.items()}
        return {}, {"counts": people.counts.table[0]} | corners

    def _price(self, desk: Desk, parcel: Parcel) -> Told:
        self._consented("price", parcel)
        gain = np.asarray(parcel.arrays["gain"], float)[None]
        both = priced(desk.fitted(), gain, full=bool(parcel.header["full"]))
        arrays: Arrays = {}
        for how, new in zip(("plain", "refined"), both, strict=True):
            arrays |= {
                f"{how}/weights": new.rules.weights,
                f"{how}/b": new.rules.b,
                f"{how}/confusion": new.confusion,
                f"{how}/kept": new.kept,
            }
        return {}, arrays

    def _consented(self, statistic: str, parcel: Parcel) -> Mechanism | None:
        """Whether this client allows what is asked, and with which noise."""
        asked = parcel.header.get("privacy")
        mechanism = None if asked is None else Mechanism(**asked)
        if statistic not in self.folder.statistics:
            raise Refusal(
                f'the server asked for "{statistic}", which this client does not allow '
                "(statistics under [consent] in client.toml).",
                f'it does not allow "{statistic}"',
            )
        most = self.folder.largest_epsilon
        noiseless = mechanism is None or statistic in ("corners", "price")
        if most and (noiseless or (mechanism is not None and mechanism.spent > most)):
            raise Refusal(
                f"the server asked for a table with less noise than this client allows (a budget "
                f"of at most {most:g}, largest_epsilon in client.toml); nothing was sent.",
                f"it spends a privacy budget of at most {most:g} on a table",
            )
        return mechanism

    def _noised(
        self, desk: Desk, parcel: Parcel, mechanism: Mechanism, draw: Callable[[], Arrays]
    ) -> Told:
        """A table with noise by OpenDP; asked for again, the same one at no further cost."""
        asked = json.dumps([parcel.kind, dict(parcel.header)], sort_keys=True, default=str)
        question = hashlib.sha256(asked.encode()).hexdigest()[:16]
        arrays = desk.released(question)
        if arrays is None:
            arrays = draw()
            desk.keep_release(question, arrays)
        header = {"budget": mechanism.spent, "spent": mechanism.sentence()}
        return header, {name: np.asarray(array) for name, array in arrays.items()}

    # ---------------------------------------------------------------- the fair predictor

    def _predictor(self, desk: Desk, parcel: Parcel) -> Told:
        """Keep this client's part, answer every row with it, and tell how test people fare."""
        path = desk.runs / "predictor.json"
        write_json(path, parcel.header["predictor"])
        predictor = read_predictor(path)
        if predictor.clients != (self.folder.name,):
            raise Refusal(
                "the server sent a predictor that is not this client's own part; it was not used.",
                "the predictor it got is not its own",
            )
        people, ids = desk.own.people, desk.own.row_id
        scores, names = np.stack(desk.scores()), np.full(len(people), self.folder.name)
        which = fold_draws(names, np.array(ids), self.study.models)
        mine = scores[which, np.arange(len(people))]
        labels = np.array(self.study.labels, object)
        seen = mine if predictor.needs_scores else labels[mine.argmax(axis=1)]
        group = np.array(self.study.groups, object)[people.group]
        desk.write_answers(predictor.decide(names, group, seen, row_id=np.array(ids)))
        return self._held_out(desk, parcel, predictor)

    def _held_out(self, desk: Desk, parcel: Parcel, predictor: Any) -> Told:
        people, asked = desk.unseen(), parcel.header.get("privacy")
        if asked is not None:
            if self.study.folds or predictor.needs_scores:
                return {}, {}  # more than one table would have to leave, and be paid for
            mechanism, counts = self._consented("counts", parcel), people.counts
            assert mechanism is not None
            return self._noised(
                desk, parcel, mechanism, lambda: {"counts": release(counts, mechanism).table[0]}
            )
        self._check_plain_tables()
        shape = (1, *self.study.table)
        own = people.under_lottery(np.broadcast_to(np.eye(shape[2]), shape))
        arrays = {"counts": people.counts.table[0]}
        for who, answers in (("fair", predictor.answers_to(people)), ("own", own)):
            arrays |= prefixed(who, _first(answers))
        return {}, arrays


def _first(answers: Answers) -> Arrays:
    """The answers of the one client there is."""
    return {name: np.asarray(array)[0] for name, array in vars(answers).items()}


def _state(prefix: str, parcel: Parcel) -> State:
    arrays = arrays_under(prefix, parcel.arrays)
    return State(np.asarray(arrays["theta"], np.float32), arrays_under("memory", arrays))


def _scaler(prefix: str, parcel: Parcel) -> Scaler:
    arrays = arrays_under(prefix, parcel.arrays)
    return Scaler(arrays["shift"], arrays["spread"])


def _note(parcel: Parcel) -> str:
    """Which round and which model a message is of."""
    if parcel.kind not in KINDS or KINDS[parcel.kind].action != "train":
        return ""
    return f"Round {int(parcel.header.get('round', 0)) + 1}."
