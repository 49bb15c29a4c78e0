"""The server's side of the fair rounds: counts out, the linear program here, parts back, verdict."""

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from flwr.app import ArrayRecord
from flwr.serverapp import Grid
from numpy.typing import NDArray

from fairfl_core._io.files import write_json
from fairfl_core._io.names import in_order, listed
from fairfl_core.data.answers import Answers
from fairfl_core.data.counts import ClientCounts
from fairfl_core.errors import InputError
from fairfl_core.evaluation.evaluation import Evaluation, evaluate
from fairfl_core.evaluation.harm import Alarm
from fairfl_core.evaluation.verdict import Verdict
from fairfl_core.fairness.notions import Notion
from fairfl_core.federation.message_log import MessageLog
from fairfl_core.federation.question import Question
from fairfl_core.federation.roster import Expected, Lost, Roster
from fairfl_core.federation.scores import Names
from fairfl_core.federation.wire import KINDS, HostileReply, WireMessage
from fairfl_core.lp.guarantee import Guarantee
from fairfl_core.lp.histograms import BINS, ScoreHistogram
from fairfl_core.lp.policy import Policy
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.lp.solution import Solution
from fairfl_core.predictors.kinds import predictor_of
from fairfl_core.predictors.predictor import Asked, Predictor
from fairfl_core.privacy.mechanisms import Mechanism

__all__ = ["FORMAT", "FairRounds", "fair_rounds", "own_parts", "run_fair_rounds"]

FORMAT = "fairfl-federation/1"
Replies = Mapping[str, WireMessage]


@dataclass(frozen=True, eq=False)
class FairRounds:
    """What the fair rounds came to.

    Attributes
    ----------
    question : Question
    solution : Solution
        Of the linear program, on the people it was solved on.
    predictor : Predictor
        The whole of it; each client has its own part only.
    evaluation : Evaluation or None
        On new people; None where no client has any.
    left_out : tuple of Lost
        Clients that were left out, when and why.
    bytes : mapping of str to int
        What each client sent and received for the fair rounds.
    messages : sequence of mapping
        The server's log.
    more : mapping
        What else `result.json` holds.
    """

    question: Question
    solution: Solution
    predictor: Predictor
    evaluation: Evaluation | None
    left_out: tuple[Lost, ...]
    bytes: Mapping[str, int]
    messages: Sequence[Mapping[str, Any]] = ()
    more: Mapping[str, Any] = field(default_factory=dict)

    @property
    def verdict(self) -> Verdict | None:
        """Whether the limits hold on new people, and whether anybody is hurt."""
        return None if self.evaluation is None else self.evaluation.verdict

    @property
    def alarms(self) -> tuple[Alarm, ...]:
        """Everybody who is worse off, or may be; those first where most people are."""
        return () if self.evaluation is None else self.evaluation.alarms

    def to_json(self) -> dict[str, Any]:
        """The `fairfl-federation/1` form."""
        counts, judged = self.solution.counts, self.evaluation
        return {
            "format": FORMAT,
            **self.more,
            "question": self.question.to_json(),
            "clients": list(counts.clients),
            "left_out": [asdict(lost) for lost in self.left_out],
            "counts": counts.to_json(),
            "test_counts": None if judged is None else judged.counts.to_json(),
            "predictor": self.predictor.to_json(),
            "solution": self.solution.to_json(),
            "evaluation": None if judged is None else judged.to_json(),
            "verdict": None if self.verdict is None else self.verdict.to_json(),
            "alarms": [alarm.to_json() for alarm in self.alarms],
            "sentences": self.sentences(),
            "bytes": dict(self.bytes),
            "messages": list(self.messages),
        }

    def write(self, folder: Path) -> None:
        """Write `result.json`, `predictor.json` and `counts.json`."""
        self.solution.counts.write(folder / "counts.json")
        self.predictor.write(folder / "predictor.json")
        write_json(folder / "result.json", self.to_json())

    def sentences(self) -> list[str]:
        """What is reported: the figures, every alarm, each client's gap, the verdict."""
        solved, judged = self.solution.to_json(), self.evaluation
        whom = "noised counts" if self.solution.counts.noisy else "people"
        found = [
            f"Region {self.question.region}. Accuracy {solved['accuracy']:.1%} on the {whom} it "
            f"was solved on, the model's own {solved['model_accuracy']:.1%}."
        ]
        if judged is None:
            return [*found, "No client has new people, so that nothing is judged."]
        unseen = f"{judged.counts.n:,.0f} new people"
        if judged.counts.noisy:
            unseen = f"noised counts (n = {judged.counts.n:,.0f})"
        found.append(
            f"On {unseen} {judged.accuracy:.1%}, the model's own {judged.before.accuracy:.1%}."
        )
        found += [f"Worse off: {alarm.sentence()}" for alarm in self.alarms]
        if self.verdict is None:
            return [*found, "No limit was asked for, so there is nothing to be met."]
        for one in self.verdict.limits:
            where = "Overall" if one.client is None else f'Client "{one.client}"'
            state = {"broken": ": above it", "kept": ""}.get(one.state, f": {one.state}")
            found.append(
                f"{where}: gap {one.gap:.3f} ({one.low:.3f} to {one.high:.3f}), the model's own "
                f"{one.before:.3f}; limit {one.eps:g}{state}."
            )
        return [*found, f"{self.verdict.word.upper()}. {self.verdict.why}"]


def fair_rounds(
    grid: Grid,
    *,
    notion: str = "eo",
    eps_global: float = 1.0,
    eps_local: float = 1.0,
    confidence: float | Guarantee | None = None,
    region: str = "",
    policy: Policy = Policy(),
    privacy: Mechanism | None = None,
    labels: Sequence[Any] = (),
    groups: Sequence[Any] = (),
    favourable: Any = None,
    arrays: ArrayRecord | None = None,
    clients: Sequence[str] = (),
    min_clients: int = 0,
    min_people: int = 1,
    timeout: float = 600.0,
    out: Path | str | None = "fairfl-result",
    say: Callable[[str], None] = print,
) -> FairRounds:
    """Make the answers of any federated model fair, once it is trained.

    Parameters
    ----------
    grid : Grid
        Flower's, as the ServerApp got it. Every node's ClientApp has `fairfl_client`.
    notion, region : str
        See `fairfl_core.federation.question.Question`.
    eps_global, eps_local : float
        The overall gap allowed, and the gap inside each client.
    confidence : float or Guarantee, optional
        With what confidence the limits are to hold on new people.
    policy : Policy
        What else is asked: floors, ratios.
    privacy : Mechanism, optional
        The noise that each client adds to its table before it leaves.
    labels, groups : sequence, optional
        Their names, in order; else all that any client has.
    favourable : optional
        The label that statistical parity and equal opportunity look at; else the last one.
    arrays : ArrayRecord, optional
        The trained model, for `received_model` in the clients' scores function.
    clients : sequence of str, optional
        Names of those expected; others are not let in.
    min_clients : int
        Go on without clients down to so many; 0 stops when one is lost.
    min_people : int
        Clients with fewer people to solve on take no part.
    timeout : float
        Seconds that one answer may take, and that missing clients are waited for.
    out : path, optional
        Where `result.json`, `predictor.json`, `counts.json` and the log go; None writes nothing.
    say : callable
        Gets each sentence of what came of it.

    Returns
    -------
    FairRounds
    """
    guarantee = Guarantee(confidence) if isinstance(confidence, int | float) else confidence
    question = Question(notion, region, eps_global, eps_local, guarantee, policy, privacy)
    folder = None if out is None else Path(out)
    roster = Roster(
        grid,
        MessageLog(folder),
        clients=clients,
        min_clients=min_clients,
        patience=timeout,
        say=say,
    )
    names = Names.of(labels, groups, favourable)
    return run_fair_rounds(roster, question, names, folder, model=arrays, min_people=min_people)


def run_fair_rounds(
    roster: Roster,
    question: Question,
    declared: Names,
    folder: Path | None,
    *,
    model: ArrayRecord | None = None,
    min_people: int = 1,
    run: str = "",
    more: Mapping[str, Any] = MappingProxyType({}),
) -> FairRounds:
    """Do what `fair_rounds` tells, with the clients of a roster.

    `run` names the run where it may be asked for a second time, `more` is what else `result.json`
    holds.
    """
    rounds = _Rounds(roster, question, run or secrets.token_hex(8), min_people)
    names = rounds.join(declared, model)
    roster.say(
        f"{len(roster.clients)} clients take part ({listed(roster.clients)}), "
        f"{sum(rounds.fit.values()):,} people to solve on, {sum(rounds.new.values()):,} new ones."
    )
    solution = rounds.program(names).solve(question.eps_global, question.eps_local)
    predictor = predictor_of(solution)
    result = FairRounds(
        question,
        solution,
        predictor,
        rounds.judge(names, predictor),
        tuple(roster.lost),
        roster.bytes,
        roster.log.entries,
        {"run": rounds.run, **more},
    )
    if folder is not None:
        result.write(folder)
    for sentence in result.sentences():
        roster.say(sentence)
    return result


class _Rounds:
    """The three exchanges: join, statistic, predictor."""

    def __init__(self, roster: Roster, question: Question, run: str, least: int) -> None:
        self._roster, self._question, self.run, self._least = roster, question, run, least
        self._noisy = question.privacy is not None
        self.fit: dict[str, int] = {}
        self.new: dict[str, int] = {}
        self._folds = 1

    # ---------------------------------------------------------------- join

    def join(self, declared: Names, model: ArrayRecord | None) -> Names:
        """Learn who takes part; return the names of the labels and groups of all of them."""
        expected = Expected("join", "joining", {}, check=_check_join)
        replies = self._roster.join(self._header(declared), expected, model)
        header = {name: reply.header for name, reply in replies.items()}
        self.fit = {name: one["fit"] for name, one in header.items()}
        self.new = {name: one["new"] for name, one in header.items()}
        self._folds = self._same([(name, one["folds"]) for name, one in header.items()])
        labels = declared.labels or _union([one["labels"] for one in header.values()])
        groups = declared.groups or _union([one["groups"] for one in header.values()])
        favourable = declared.favourable or labels[-1]
        if favourable not in labels:
            raise InputError(
                f'the favourable label "{favourable}" is not one of the labels ({listed(labels)}); '
                "choose one of them."
            )
        if self._question.needs_scores and len(labels) != 2:
            raise InputError(
                f"the exact region is solved from histograms of the scores of two labels, and "
                f"there are {len(labels)} ({listed(labels)}); choose the region simplex or kernel."
            )
        return Names(labels, groups, favourable)

    def _same(self, folds: list[tuple[str, int]]) -> int:
        """All clients were scored by as many models."""
        first = folds[0][1]
        for name, other in folds:
            if other != first:
                raise InputError(
                    f'client "{name}" was scored by {other} fold models, "{folds[0][0]}" by '
                    f"{first}; score all clients by the same models."
                )
        return first

    def _header(self, names: Names) -> dict[str, Any]:
        privacy = self._question.privacy
        return {
            "run": self.run,
            "labels": list(names.labels),
            "groups": list(names.groups),
            "favourable": names.favourable,
            "least": self._least,
            "privacy": None if privacy is None else asdict(privacy),
        }

    # ---------------------------------------------------------------- statistic

    def program(self, names: Names) -> FairnessProgram:
        """Ask every client for its table, and build the program that is solved from them."""
        question, kind, noisy = self._question, self._question.statistic, self._noisy
        expected = Expected(
            kind, "statistics", _lengths(names), self.fit, noisy, self._check_budget
        )
        replies = self._roster.ask(lambda name: self._header(names), expected)
        table = np.stack([reply.arrays[kind] for reply in replies.values()])
        whose = tuple(replies), names.groups, names.labels, names.favourable
        more: dict[str, Any] = {"guarantee": question.guarantee, "policy": question.policy}
        if kind == "histogram":
            histogram = ScoreHistogram(table.astype(float), *whose, noisy=noisy, folds=self._folds)
            return FairnessProgram(histogram, question.notion, "exact", **more)
        counts = ClientCounts(table, *whose, noisy=noisy, folds=self._folds)
        return FairnessProgram(counts, question.notion, question.region, **more)

    def _check_budget(self, name: str, reply: WireMessage) -> None:
        if self._question.privacy is None:
            return
        budget = reply.header.get("budget")
        spent = self._question.privacy.spent
        if reply.arrays and not (isinstance(budget, int | float) and abs(budget - spent) <= 1e-9):
            raise HostileReply("it spent another privacy budget than was asked for")

    def _check_judged(self, name: str, reply: WireMessage) -> None:
        self._check_budget(name, reply)
        if (
            reply.arrays
            and not self._noisy
            and reply.arrays.keys() != KINDS["predictor"].arrays.keys()
        ):
            raise HostileReply("its reply lacks some of the tables that the verdict needs")

    # ---------------------------------------------------------------- predictor

    def judge(self, names: Names, predictor: Predictor) -> Evaluation | None:
        """Give every client its own part, and judge what new people are answered by it."""
        parts, noisy = own_parts(predictor), self._noisy
        expected = Expected(
            "predictor",
            "the verdict",
            _lengths(names),
            self.new,
            noisy=noisy,
            check=self._check_judged,
        )
        replies = self._roster.ask(
            lambda name: self._header(names) | {"predictor": parts[name]}, expected
        )
        tables = {name: reply.arrays for name, reply in replies.items() if reply.arrays}
        if not tables:
            return None

        def stacked(name: str) -> NDArray[Any]:
            return np.stack([arrays[name] for arrays in tables.values()])

        whose = tuple(tables), names.groups, names.labels, names.favourable
        counts = ClientCounts(stacked("counts"), *whose, noisy=noisy)
        if noisy:
            return evaluate(predictor, counts)
        fair, own = (
            Answers(
                stacked(f"{who}/confusion"),
                partial(stacked, f"{who}/squares"),
                stacked(f"{who}/turned"),
                stacked(f"{who}/both_right"),
            )
            for who in ("fair", "own")
        )
        notion = Notion.of(self._question.notion, names.labels, names.favourable)
        attention = predictor.attention_to(counts)
        return Evaluation(
            counts, notion, fair, own, attention, Asked.of(predictor, counts.clients)
        )


def _lengths(names: Names) -> dict[str, int]:
    return {"groups": len(names.groups), "labels": len(names.labels), "bins": BINS}


def _union(parts: Sequence[Sequence[Any]]) -> tuple[str, ...]:
    return in_order(list(dict.fromkeys(str(name) for part in parts for name in part)))


def _check_join(name: str, reply: WireMessage) -> None:
    """A client has names of labels and groups, and numbers of people that can be."""
    header = reply.header
    for key in ("labels", "groups"):
        names = header.get(key)
        if not (isinstance(names, list) and 2 <= len(names) <= 1000):
            raise HostileReply(f"it says no {key} that can be")
    for key, least in (("fit", 1), ("new", 0), ("folds", 1)):
        many = header.get(key)
        if not isinstance(many, int) or isinstance(many, bool) or not least <= many < 2**53:
            raise HostileReply("it says it has a number of people that cannot be")


def own_parts(predictor: Predictor) -> dict[str, dict[str, Any]]:
    """Cut a predictor's file into what each client may see: its own lottery, nobody else's name."""
    whole = predictor.to_json()
    epsilon, reached = whole["epsilon"], whole["reached"]
    parts = {}
    for entry in whole["clients"]:
        name = entry["name"]
        gap = reached["gap"] | {"local": {name: reached["gap"]["local"][name]}}
        parts[name] = whole | {
            "clients": [entry],
            "epsilon": epsilon | {"local": {name: epsilon["local"][name]}},
            "reached": reached | {"gap": gap},
        }
    return parts
