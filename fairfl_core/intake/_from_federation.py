"""The result of a federation's run: its counts, its predictor, and the log of what travelled."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from fairfl_core._io.names import check_readable, shown
from fairfl_core.data.counts import ClientCounts
from fairfl_core.data.experiments import Protocol
from fairfl_core.errors import InputError
from fairfl_core.fairness.notions import notion_names
from fairfl_core.intake._checks import Check, of_counts
from fairfl_core.intake._reading import Reading
from fairfl_core.intake._uploaded import Intake, manifest_of, uploaded_experiment
from fairfl_core.predictors.load import predictor_from_json
from fairfl_core.predictors.predictor import Predictor

__all__ = ["FORMAT", "Travelled", "experiment_from_federation", "travelled"]

FORMAT = "fairfl-federation/1"
_WAYS = ("sent", "received")
_MOST_MESSAGES = 200_000


@dataclass(frozen=True)
class Travelled:
    """One message of a run, as its log tells it: plain text, whatever the file holds."""

    time: str
    way: str
    whom: str
    kind: str
    purpose: str
    bytes: int
    arrays: str
    note: str


def experiment_from_federation(
    name: str, data: bytes, value: Mapping[str, Any], favourable: str = ""
) -> Intake:
    """Make an experiment of the ``result.json`` that `fairfl federation run` wrote.

    Its test people were counted by their clients, so a held-out check is possible. With fold
    models it is not: there each test person has several answers, and counts hold one.
    """
    counts = _counts(name, value, "counts", favourable)
    test = _counts(name, value, "test_counts", favourable) if value.get("test_counts") else None
    fit_split, test_split = Protocol.of(counts.folds).splits
    tables = {fit_split: counts}
    held_out = "No held-out check possible: the run's clients told of no unseen people."
    if test is not None and counts.folds == 1 and test.clients == counts.clients:
        tables[test_split] = test
        held_out = f"{test.n:,.0f} unseen people were counted by their clients."
        if test.noisy:
            held_out = "Unseen people were counted by their clients, with noise added."
    predictor = _predictor(name, value)
    messages = travelled(value.get("messages"), name)
    sent = sum(one.bytes for one in messages)
    checks = (
        Check(f"A federation's run: {counts.n:,.0f} {counts.whom} it was solved on."),
        Check(f"{len(messages):,} messages travelled, {sent:,} bytes; no record did."),
        Check(_asked(predictor, counts.whom)),
        Check(held_out, look=len(tables) == 1),
        *_left_out(value),
        *of_counts(counts, whom=counts.whom),
    )
    rows = counts.n + (test.n if test is not None else 0)
    sample = "counts of a federation" + (", with noise" if counts.noisy else "")
    sha256 = hashlib.sha256(data).hexdigest()
    manifest = manifest_of(counts, files=name, sha256=sha256, rows=rows, sample=sample)
    asked = value.get("question")
    notion = asked.get("notion") if isinstance(asked, dict) else None
    if notion in notion_names():
        manifest = manifest | {"notion": notion}
    experiment = uploaded_experiment(tables, {}, manifest)
    reading = Reading(experiment.favourable)
    return Intake(experiment, checks, reading, messages=messages, predictor=predictor)


def _counts(name: str, value: Mapping[str, Any], key: str, favourable: str) -> ClientCounts:
    try:
        counts = ClientCounts.from_json(value.get(key))
        for field in ("clients", "groups", "labels"):
            check_readable(getattr(counts, field), field)
    except InputError as error:
        raise InputError(f'{name}, "{key}": {error}') from error
    return replace(counts, favourable=favourable) if favourable in counts.labels else counts


def _predictor(name: str, value: Mapping[str, Any]) -> Predictor:
    try:
        return predictor_from_json(value.get("predictor"))
    except InputError as error:
        raise InputError(f'{name}, "predictor": {error}') from error


def _asked(predictor: Predictor, whom: str) -> str:
    reached = predictor.reached
    return (
        f"The run asked for a gap of at most {max(predictor.eps_local):g} inside every client and "
        f"{predictor.eps_global:g} overall ({predictor.notion}, {predictor.region}); accuracy "
        f"{reached.accuracy:.1%}, the model's own {reached.model_accuracy:.1%}, on the {whom} "
        "it was solved on."
    )


def _left_out(value: Mapping[str, Any]) -> list[Check]:
    lost = value.get("left_out")
    found = lost if isinstance(lost, list) else []
    return [
        Check(
            f'"{shown(str(one.get("client", "")))}" was left out: '
            f"{shown(str(one.get('reason', '')))}.",
            look=True,
        )
        for one in found[:20]
        if isinstance(one, dict)
    ]


def travelled(value: Any, name: str) -> tuple[Travelled, ...]:
    """The messages of a log; refused where they are none."""
    if not isinstance(value, list) or len(value) > _MOST_MESSAGES:
        raise InputError(f'{name}: "messages" must be a list, as a run writes it.')
    messages = []
    for place, one in enumerate(value):
        whole = isinstance(one, dict) and isinstance(one.get("arrays"), dict)
        if not whole or one.get("way") not in _WAYS or not isinstance(one.get("bytes"), int):
            raise InputError(f"{name}: messages[{place}] is not an entry of a log.")
        arrays = ", ".join(f"{shown(str(key))} {size}" for key, size in one["arrays"].items())
        words = {key: shown_whole(one.get(key, "")) for key in ("time", "whom", "kind", "note")}
        messages.append(
            Travelled(
                way=one["way"],
                bytes=one["bytes"],
                arrays=arrays,
                purpose=shown_whole(one.get("purpose", "")),
                **words,
            )
        )
    return tuple(messages)


def shown_whole(value: Any) -> str:
    """A text of any length up to a few lines, with nothing unseen in it."""
    text = " ".join(str(value).split())[:600]
    return "".join(sign for sign in text if sign.isprintable())
