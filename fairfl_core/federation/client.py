"""The client's side of the fair rounds: `fairfl_client` adds it to any ClientApp.

It works on the client's own rows; tables come out, and each is a line in the client's log.
"""

import hashlib
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np
import pyarrow as pa
from flwr.app import ArrayRecord, ConfigRecord, Context, Message
from flwr.clientapp import ClientApp
from numpy.typing import NDArray

from fairfl_core._io.files import read_json, write_json
from fairfl_core.data.scored import FoldedData
from fairfl_core.errors import InputError
from fairfl_core.evaluation.evaluation import Evaluation, evaluate
from fairfl_core.federation.folders import Consent, safe_name
from fairfl_core.federation.message_log import MessageLog
from fairfl_core.federation.scores import (
    ClientScores,
    Names,
    from_bytes,
    read_scores,
    to_bytes,
)
from fairfl_core.federation.study import STATISTICS
from fairfl_core.federation.wire import (
    KINDS,
    MODEL,
    REFUSAL,
    Refusal,
    WireMessage,
    check_leaving,
    from_records,
    to_records,
)
from fairfl_core.lp.histograms import BINS, ScoreHistogram
from fairfl_core.predictors.kinds import predictor_from_json
from fairfl_core.predictors.predictor import Predictor
from fairfl_core.privacy.mechanisms import Mechanism, release, release_histogram

__all__ = [
    "Consent",
    "client_name",
    "fairfl_client",
    "received_model",
    "respond",
]

_TABLE = "fairfl.table"
Arrays = dict[str, NDArray[Any]]
Answer = tuple[dict[str, Any], Arrays]
T = TypeVar("T")


_EVERYTHING = Consent()


def client_name(context: Context) -> str:
    """Name a client by ``name`` of its node's configuration, else by its partition or number."""
    config = context.node_config
    if "name" in config:
        return str(config["name"])
    return f"client {config.get('partition-id', context.node_id)}"


def _folder(context: Context, name: str) -> Path:
    """Choose a client's folder: ``folder`` of its node's configuration, else one by its name."""
    if "folder" in context.node_config:
        return Path(str(context.node_config["folder"]))
    return Path("fairfl-clients") / safe_name(name)


def received_model(context: Context) -> ArrayRecord:
    """Return the model that ``fair_rounds(arrays=...)`` sent, for the scores function."""
    if MODEL not in context.state.array_records:
        raise InputError("no model came with the fair rounds; pass arrays= to fair_rounds.")
    return context.state.array_records[MODEL]


def fairfl_client(
    app: ClientApp,
    scores: Callable[[Context], Any],
    *,
    name: str | Callable[[Context], str] = client_name,
    folder: Path | str | Callable[[Context], Path | str] | None = None,
    labels: tuple[Any, ...] = (),
    groups: tuple[Any, ...] = (),
    consent: Consent | Callable[[Context], Consent] = _EVERYTHING,
) -> ClientApp:
    """Add the fair rounds to a Flower app: query handlers ``fairfl_join`` and so on.

    Parameters
    ----------
    app : ClientApp
        Whatever trains the model; nothing else of it is touched.
    scores : callable
        Returns, given Flower's context, a table with one row a person: see
        `fairfl_core.federation.scores.read_scores`. It is called once a run, on the client.
    name : str or callable
        The client's name.
    folder : path or callable, optional
        Where its log and its own predictor go; else ``folder`` of the node's configuration, else
        ``fairfl-clients`` and the name, where the node was started.
    labels, groups : tuple
        The names that were agreed on. Others are refused here, before anything leaves.
    consent : Consent or callable
        What may be asked of this client.
    """

    def handler(kind: str) -> Callable[[Message, Context], Message]:
        def handle(message: Message, context: Context) -> Message:
            called = _given(name, context)
            own: Path | str = _folder(context, called)
            if folder is not None:
                own = folder(context) if callable(folder) else folder
            log, declared = MessageLog(Path(own)), Names.of(labels, groups)
            allowed = _given(consent, context)
            one = _Client(context, scores, called, Path(own), declared, allowed, log)
            return respond(message, kind, log, called, one.answer)

        return handle

    for kind in ("join", "counts", "histogram", "predictor"):
        app.query(f"fairfl_{kind}")(handler(kind))
    return app


def _given(value: T | Callable[[Context], T], context: Context) -> T:
    return value(context) if callable(value) else value


def respond(
    message: Message,
    kind: str,
    log: MessageLog,
    name: str,
    answer: Callable[[WireMessage], tuple[WireMessage, Mapping[str, int], int]],
) -> Message:
    """Answer one message; what cannot be answered is refused in one sentence, and no more.

    Parameters
    ----------
    message : Message
    kind : str
        One of `wire.KINDS`.
    log : MessageLog
    name : str
        The client's.
    answer : callable
        Gives the reply, how long each axis of its arrays is, and how many people it is about.
    """
    try:
        asked = from_records(message.content)
        log.add(asked, "received", "the server", reply=False)
        if asked.kind != kind:
            raise Refusal(
                f'the server asked for "{asked.kind[:40]}" where "{kind}" was called; nothing '
                "was sent.",
                "it was asked for what is not part of the protocol",
            )
        reply, lengths, people = answer(asked)
        check_leaving(reply, lengths, people)
    except InputError as error:
        log.say(f"Refused: {error}")
        public = getattr(error, "public", "it could not do what it was asked; its log says why")
        reply = WireMessage(REFUSAL, {"client": name, "public": public})
    except Exception as error:  # whatever it says may hold what people are: it stays here
        log.say(f"A fault of the program: {traceback.format_exc()}")
        public = f"a fault of the program ({type(error).__name__}); its log says more"
        reply = WireMessage(REFUSAL, {"client": name, "public": public})
    log.add(reply, "sent", "the server", reply=True)
    return Message(to_records(reply), reply_to=message)


@dataclass(frozen=True, eq=False)
class _Client:
    """One client for one message; what it remembers lies in Flower's context and its folder."""

    context: Context
    scores: Callable[[Context], Any]
    name: str
    folder: Path
    declared: Names
    consent: Consent
    log: MessageLog

    def answer(self, asked: WireMessage) -> tuple[WireMessage, Mapping[str, int], int]:
        """Answer a message of the fair rounds."""
        if asked.model is not None:
            self.context.state[MODEL] = asked.model
        names = self._names(asked.header)
        table = self._fresh_table() if asked.kind == "join" else self._kept_table()
        least = int(asked.header.get("least", 1))
        people = read_scores(table, self.name, names, least=least)
        method = {"join": self._join, "predictor": self._predictor}
        reply, arrays = method.get(asked.kind, self._statistic)(asked, people)
        lengths = {
            "groups": len(people.fit.groups),
            "labels": len(people.fit.labels),
            "bins": BINS,
        }
        many = len(people.fit)
        if asked.kind == "predictor" and people.new is not None:
            many = len(people.new)
        return WireMessage(asked.kind, {"client": self.name, **reply}, arrays), lengths, many

    def _names(self, header: Mapping[str, Any]) -> Names:
        """The names that the server says, if they are those agreed on here."""
        asked = Names.of(
            header.get("labels") or (),
            header.get("groups") or (),
            header.get("favourable") or "",
        )
        for what in ("labels", "groups"):
            ours, theirs = getattr(self.declared, what), getattr(asked, what)
            if ours and theirs and sorted(ours) != sorted(theirs):
                raise Refusal(
                    f"the server's {what} ({', '.join(theirs)[:200]}) are not those agreed on "
                    f"here ({', '.join(ours)}); nothing was sent.",
                    f"its {what} are not those agreed on",
                )
        return Names(
            asked.labels or self.declared.labels,
            asked.groups or self.declared.groups,
            asked.favourable,
        )

    # ---------------------------------------------------------------- the table

    def _fresh_table(self) -> pa.Table:
        """Call the app's own scores function, and keep what it gave on this client."""
        try:
            given = self.scores(self.context)
        except InputError:
            raise
        except Exception as error:
            self.log.say(traceback.format_exc())
            raise Refusal(
                f"the scores function raised {type(error).__name__}: {error}.",
                "its scores function failed; its own log says why",
            ) from error
        data = to_bytes(given)
        self.context.state[_TABLE] = ConfigRecord({"arrow": data})
        return from_bytes(data)

    def _kept_table(self) -> pa.Table:
        kept = self.context.state.config_records.get(_TABLE)
        if kept is None:
            raise Refusal(
                "the server asked for a table before this client joined; nothing was sent.",
                "it has not joined this run",
            )
        return from_bytes(cast(bytes, kept["arrow"]))

    # ---------------------------------------------------------------- answers

    def _join(self, asked: WireMessage, people: ClientScores) -> Answer:
        fields = {
            "labels": list(people.fit.labels),
            "groups": list(people.fit.groups),
            "fit": len(people.fit),
            "new": 0 if people.new is None else len(people.new),
            "folds": people.fit.folds,
            "scores": people.has_scores,
        }
        return fields, {}

    def _statistic(self, asked: WireMessage, people: ClientScores) -> Answer:
        """The table that fairness is solved from, with the noise that was agreed on."""
        mechanism = self._consented(asked)
        if asked.kind == "histogram":
            if not people.has_scores:
                raise Refusal(
                    "the server asked for a histogram of scores, and the table holds answers "
                    "only; ask for the region simplex.",
                    "it has answers and no scores",
                )
            histogram = ScoreHistogram.of(people.fit)
            return self._released(asked, histogram, release_histogram, mechanism)
        return self._released(asked, people.fit.counts, release, mechanism)

    def _released(
        self,
        asked: WireMessage,
        counted: Any,
        noised: Callable[[Any, Mechanism], Any],
        mechanism: Mechanism | None,
    ) -> Answer:
        """A table as it is, or with noise; asked again in the same run, the same noisy one."""
        name = "histogram" if asked.kind == "histogram" else "counts"
        if mechanism is None:
            return {}, {name: counted.table[0]}
        question = f"{asked.header.get('run')} {asked.kind} {mechanism}".encode()
        question += counted.table.tobytes()
        path = self.folder / f"released_{hashlib.sha256(question).hexdigest()[:16]}.json"
        if not path.is_file():
            write_json(path, noised(counted, mechanism).table[0].tolist())
        sent = np.array(read_json(path))
        return {"budget": mechanism.spent, "spent": mechanism.sentence()}, {name: sent}

    def _consented(self, asked: WireMessage) -> Mechanism | None:
        """Whether this client allows what is asked, and with which noise."""
        privacy, consent = asked.header.get("privacy"), self.consent
        mechanism = None if privacy is None else Mechanism(**privacy)
        if asked.kind in STATISTICS and asked.kind not in consent.statistics:
            raise Refusal(
                f'the server asked for "{asked.kind}", which this client does not allow.',
                f'it does not allow "{asked.kind}"',
            )
        most = consent.largest_epsilon
        if most and (mechanism is None or mechanism.spent > most):
            raise Refusal(
                "the server asked for a table with less noise than this client allows (a budget "
                f"of at most {most:g}); nothing was sent.",
                f"it spends a privacy budget of at most {most:g} on a table",
            )
        return mechanism

    def _predictor(self, asked: WireMessage, people: ClientScores) -> Answer:
        """Keep this client's part, and count how its new people fare by it."""
        predictor = predictor_from_json(asked.header.get("predictor"))
        if predictor.clients != (self.name,):
            raise Refusal(
                "the server sent a predictor that is not this client's own part; it was not used.",
                "the predictor it got is not its own",
            )
        write_json(self.folder / "predictor.json", predictor.to_json())
        if people.new is None:
            return {}, {}
        judged = evaluate(predictor, people.new)
        self._say_own(judged, predictor)
        mechanism = self._consented(asked)
        if mechanism is None:
            return {}, _tables(judged)
        if isinstance(people.new, FoldedData) or predictor.needs_scores:
            return {}, {}  # more than one table would have to leave, and be paid for
        return self._released(asked, people.new.counts, release, mechanism)

    def _say_own(self, judged: Evaluation, predictor: Predictor) -> None:
        """Write this client's own figures into its log: its gap, and who is worse off here."""
        (low,), (high,) = judged.local_interval
        self.log.say(
            f"On {judged.counts.n:,.0f} new people here the gap is {judged.gaps.local[0]:.3f} "
            f"({low:.3f} to {high:.3f}), the model's own {judged.before.gaps.local[0]:.3f}; limit "
            f"{predictor.eps_local[0]:g}. Accuracy {judged.accuracy:.1%}, the model's own "
            f"{judged.before.accuracy:.1%}."
        )
        for alarm in judged.alarms:
            if alarm.client is not None:
                self.log.say(f"Worse off: {alarm.sentence()}")


def _tables(judged: Evaluation) -> Arrays:
    """The counts that the verdict needs, of the one client there is."""
    arrays: Arrays = {"counts": judged.counts.table[0]}
    for who, answers in (("fair", judged.answers), ("own", judged.own)):
        for part in ("confusion", "squares", "turned", "both_right"):
            arrays[f"{who}/{part}"] = getattr(answers, part)[0]
    return {name: arrays[name] for name in KINDS["predictor"].arrays}
