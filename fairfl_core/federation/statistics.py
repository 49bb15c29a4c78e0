"""From what clients told to a program, a predictor for each of them, and the verdict."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairfl_core.data.answers import Answers
from fairfl_core.data.counts import ClientCounts
from fairfl_core.evaluation.asked import Asked
from fairfl_core.evaluation.evaluation import Evaluation, evaluate
from fairfl_core.fairness.notions import Notion
from fairfl_core.federation.messages import HostileReply, Parcel, arrays_under
from fairfl_core.federation.question import Question
from fairfl_core.federation.roster import Roster
from fairfl_core.federation.rounds import FarRun, state_arrays
from fairfl_core.federation.study import Study
from fairfl_core.lp.exact.histograms import ScoreHistogram
from fairfl_core.lp.exact.pricing import Candidates
from fairfl_core.lp.exact.remote import RemoteScores
from fairfl_core.lp.exact.rules import ScoreRules
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.predictors.predictor import Predictor
from fairfl_core.training.scaling import Scaler

__all__ = ["ask_program", "held_out", "own_parts"]

Floats = NDArray[np.float64]
Replies = Mapping[str, Parcel]


def ask_program(
    roster: Roster, question: Question, runs: Sequence[FarRun], scalers: Sequence[Scaler]
) -> FairnessProgram:
    """Ask every client for its statistics, and build the program that is solved from them."""
    study, kind = roster.study, question.statistic(len(roster.study.labels))
    arrays: dict[str, NDArray[Any]] = {}
    for model, (run, scaler) in enumerate(zip(runs, scalers, strict=True)):
        arrays |= state_arrays(f"model {model}", run.best)
        arrays |= {f"scaler {model}/shift": scaler.shift, f"scaler {model}/spread": scaler.spread}
    header = {
        "chosen": [run.best_done for run in runs],
        "privacy": question.privacy_json,
        "bins": question.bins,
    }
    needs = {"counts": ("counts",), "histogram": ("histogram",), "corners": _CORNERS}[kind]
    noisy = question.privacy is not None
    replies = roster.ask(
        kind,
        lambda name: (header, arrays),
        when="statistics",
        needs=needs,
        noisy=noisy,
        check=lambda name, reply: _check_statistic(question, study, kind, reply),
    )
    more: dict[str, Any] = {"guarantee": question.guarantee, "policy": question.policy}
    if kind == "histogram":
        table = _stacked(roster, replies, "histogram")
        names = roster.clients, study.groups, study.labels, study.favourable
        histogram = ScoreHistogram(table.astype(float), *names, noisy=noisy, folds=study.models)
        return FairnessProgram(histogram, question.notion, "exact", **more)
    counts = _counts(study, roster.clients, _stacked(roster, replies, "counts"), noisy)
    if not question.needs_scores:
        return FairnessProgram(counts, question.notion, question.region, **more)
    source = RemoteScores(
        counts,
        corners=_corners(roster, replies) if kind == "corners" else None,
        prices=lambda gain, full: _ask_prices(roster, gain, full),
        sent=lambda: max(roster.bytes.values()),
    )
    return FairnessProgram(source, question.notion, "exact", **more)


_CORNERS = ("counts", "group", "weights", "b", "answers", "confusion", "kept")


def _check_statistic(question: Question, study: Study, kind: str, reply: Parcel) -> None:
    """Corners are of the study's groups and labels; a budget spent is the one asked for."""
    if kind == "corners":
        groups, labels, _ = study.table
        group, answers = reply.arrays["group"], reply.arrays["answers"]
        keeps = group[(answers == np.arange(labels)).all(axis=1)]
        of_study = set(group.tolist()) == set(range(groups)) == set(keeps.tolist())
        if len({len(reply.arrays[name]) for name in _CORNERS[1:]}) > 1 or not of_study:
            raise HostileReply("its corners are not of the study's groups")
        if answers.min() < -1 or answers.max() >= labels:
            raise HostileReply("its corners answer with labels that the study does not have")
        people = reply.arrays["counts"].sum(axis=2)[group.astype(int)]
        if np.abs(reply.arrays["confusion"].sum(axis=2) - people).max() > 1e-6:
            raise HostileReply("its corners count other people than its table")
    if question.privacy is None:
        return
    budget = reply.header.get("budget")
    if not isinstance(budget, int | float) or abs(budget - question.privacy.spent) > 1e-9:
        raise HostileReply("it spent another privacy budget than was asked for")


def _counts(
    study: Study, clients: Sequence[str], table: NDArray[Any], noisy: bool
) -> ClientCounts:
    names = tuple(clients), study.groups, study.labels, study.favourable
    return ClientCounts(table, *names, noisy=noisy, folds=study.models)


def _stacked(roster: Roster, replies: Replies, name: str) -> NDArray[Any]:
    return np.stack([replies[client].arrays[name] for client in roster.clients])


def _corners(roster: Roster, replies: Replies) -> Candidates:
    """All clients' corners, numbered by client."""
    parts, confusion, kept = [], [], []
    for place, client in enumerate(roster.clients):
        arrays = replies[client].arrays
        group = np.asarray(arrays["group"], np.int64)
        parts.append(
            ScoreRules(
                np.full(len(group), place, np.int64),
                group,
                np.asarray(arrays["weights"], float),
                np.asarray(arrays["b"], float),
                np.asarray(arrays["answers"], np.int64),
            )
        )
        confusion.append(np.asarray(arrays["confusion"], float))
        kept.append(np.asarray(arrays["kept"], float))
    rules = ScoreRules.join(parts)
    tables = np.concatenate(confusion), np.concatenate(kept)
    return Candidates.of(rules, *tables, len(roster.study.groups))


def _ask_prices(roster: Roster, gain: Floats, full: bool) -> tuple[Candidates, Candidates]:
    """Duals out, one rule's table back, from every client."""
    clients = roster.clients
    place = {name: c for c, name in enumerate(clients)}
    needs = [
        f"{how}/{part}"
        for how in ("plain", "refined")
        for part in ("weights", "b", "confusion", "kept")
    ]
    replies = roster.ask(
        "price",
        lambda name: ({"full": full}, {"gain": gain[place[name]]}),
        when="a round of the exact region",
        needs=needs,
    )
    groups = len(roster.study.groups)
    client, group = np.divmod(np.arange(len(clients) * groups), groups)
    found = []
    for how in ("plain", "refined"):
        parts = {
            part: np.concatenate([replies[name].arrays[f"{how}/{part}"] for name in clients])
            for part in ("weights", "b", "confusion", "kept")
        }
        rules = ScoreRules.of_scores(client, group, parts["weights"], parts["b"])
        found.append(Candidates.of(rules, parts["confusion"], parts["kept"], groups))
    return found[0], found[1]


def own_parts(predictor: Predictor) -> dict[str, dict[str, Any]]:
    """A predictor's file as each client may see it: its own lottery, and nobody else's name."""
    whole = predictor.to_json()
    if predictor.made is not None:  # by the hash of everyone's counts a guess could be checked
        whole["made"] = whole["made"] | {"counts_sha256": ""}
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


def held_out(
    study: Study, question: Question, predictor: Predictor, replies: Replies
) -> Evaluation | None:
    """The verdict's figures, from what clients told of their test people; None if none did."""
    clients = [name for name in study.clients if name in replies and replies[name].arrays]
    if not clients:
        return None
    table = np.stack([replies[name].arrays["counts"] for name in clients])
    counts = _counts(study, clients, table, question.privacy is not None)
    if question.privacy is not None:
        return evaluate(predictor, counts)
    fair, own = (
        Answers(
            **{
                part: np.stack([arrays_under(who, replies[name].arrays)[part] for name in clients])
                for part in ("confusion", "squares", "turned", "both_right")
            }
        )
        for who in ("fair", "own")
    )
    notion = Notion.of(question.notion, study.labels, study.favourable)
    attention = predictor.attention_to(counts)
    asked = Asked.of(predictor, counts.clients)
    return Evaluation(counts, notion, fair, own, attention, asked)
