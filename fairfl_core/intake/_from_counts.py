"""Counts files, one for all clients or one a client: merged where they agree."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from fairfl_core._io.files import parse_json
from fairfl_core._io.names import check_readable, listed, positions, shown
from fairfl_core.data.columns import MOST_CROSSED, MOST_NAMES, Grouping
from fairfl_core.data.counts import ClientCounts
from fairfl_core.data.experiments import Protocol
from fairfl_core.errors import InputError, about
from fairfl_core.fairness.notions import notion_names
from fairfl_core.intake._roles import Reading
from fairfl_core.intake._uploaded import (
    NOWHERE,
    Check,
    Intake,
    UploadedExperiment,
    manifest_of,
    of_counts,
)
from fairfl_core.predictors.kinds import predictor_from_json

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


def experiment_from_federation(
    name: str, data: bytes, value: Mapping[str, Any], favourable: str = ""
) -> Intake:
    """Make an experiment of the ``result.json`` that `fairfl federation run` wrote.

    Its test people were counted by their clients, so a held-out check is possible. With fold
    models it is not: there each test person has several answers, and counts hold one.
    """
    counts = _counts_of_run(name, value, "counts", favourable)
    test = (
        _counts_of_run(name, value, "test_counts", favourable)
        if value.get("test_counts")
        else None
    )
    fit_split, test_split = Protocol(counts.folds).splits
    tables = {fit_split: counts}
    held_out = "No held-out check possible: the run's clients have no unseen people."
    if test is not None and counts.folds == 1 and test.clients == counts.clients:
        tables[test_split] = test
        held_out = f"{test.n:,.0f} unseen people were counted by their clients."
        if test.noisy:
            held_out = "Unseen people were counted by their clients, with noise added."
    with about(f'{name}, "predictor"'):
        predictor = predictor_from_json(value.get("predictor"))
    reached = predictor.reached
    messages = travelled(value.get("messages"), name)
    sent = sum(one.bytes for one in messages)
    checks = (
        Check(f"A federation's run: {counts.n:,.0f} {counts.whom} it was solved on."),
        Check(f"{len(messages):,} messages travelled, {sent:,} bytes; no record did."),
        Check(
            f"The run asked for a gap of at most {max(predictor.eps_local):g} inside every client "
            f"and {predictor.eps_global:g} overall ({predictor.notion}, {predictor.region}); "
            f"accuracy {reached.accuracy:.1%}, the model's own {reached.model_accuracy:.1%}, on "
            f"the {counts.whom} it was solved on."
        ),
        Check(held_out, look=len(tables) == 1),
        *_left_out(value),
        *of_counts(counts, whom=counts.whom),
    )
    rows = counts.n + (test.n if test is not None else 0)
    sample = "counts of a federation" + (", with noise" if counts.noisy else "")
    manifest = manifest_of(counts, name, data, rows, sample)
    asked = value.get("question")
    notion = asked.get("notion") if isinstance(asked, dict) else None
    if notion in notion_names():
        manifest = manifest | {"notion": notion}
    experiment = UploadedExperiment(NOWHERE, manifest, tables, {})
    reading = Reading(experiment.favourable)
    return Intake(experiment, checks, reading, messages=messages, predictor=predictor)


def _counts_of_run(name: str, value: Mapping[str, Any], key: str, favourable: str) -> ClientCounts:
    with about(f'{name}, "{key}"'):
        counts = ClientCounts.from_json(value.get(key))
        for field in ("clients", "groups", "labels"):
            check_readable(getattr(counts, field), field)
    return replace(counts, favourable=favourable) if favourable in counts.labels else counts


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
        words = {key: shown_whole(one.get(key, "")) for key in ("time", "whom", "kind", "purpose")}
        messages.append(Travelled(way=one["way"], bytes=one["bytes"], arrays=arrays, **words))
    return tuple(messages)


def shown_whole(value: Any) -> str:
    """A text of any length up to a few lines, with nothing unseen in it."""
    text = " ".join(str(value).split())[:600]
    return "".join(sign for sign in text if sign.isprintable())


MOST_BYTES = 30_000_000  # of all files together
NO_CHECK = "No held-out check possible: counts hold no people to set aside."


def experiment_from_counts(files: Sequence[tuple[str, bytes]], *, favourable: str = "") -> Intake:
    """Make an experiment of counts files, given as pairs of name and content.

    The same files are the same set, in whatever order they are given.
    """
    if not files:
        raise InputError("there is no counts file; choose one or more.")
    files = sorted((shown(name), data) for name, data in files)
    if sum(len(data) for _, data in files) > MOST_BYTES:
        raise InputError(
            f"the counts files are larger than {MOST_BYTES // 1_000_000} MB together; counts are "
            "small: make them with `fairfl count`."
        )
    values = [parse_json(data, name) for name, data in files]
    for (name, data), value in zip(files, values, strict=True):
        if isinstance(value, dict) and value.get("format") == FORMAT:
            if len(files) > 1:
                raise InputError(
                    f"{name}: is the result of a whole federation; upload it alone, without other "
                    "files."
                )
            return experiment_from_federation(name, data, value, favourable)
    pairs = zip(files, values, strict=True)
    counts = merge_counts([(name, _counts(name, value)) for (name, _), value in pairs], favourable)
    if not counts.n:
        raise InputError("nobody is left in these counts; use a larger privacy budget.")
    name = files[0][0] if len(files) == 1 else f"{len(files)} counts files"
    noisy = " Noise was added for privacy, so n is approximate." if counts.noisy else ""
    read = f"{len(files)} file{'s' * (len(files) > 1)} read, {counts.n:,.0f} {counts.whom}.{noisy}"
    sample = "counts only, with noise" if counts.noisy else "counts only"
    whole = b"".join(data for _, data in files)
    manifest = manifest_of(counts, name, whole, counts.n, sample)
    no_check = Check(f"{NO_CHECK} Upload a table of predictions to have one.", look=True)
    checks = (Check(read), no_check, *of_counts(counts, whom=counts.whom))
    fit_split, _ = Protocol(counts.folds).splits
    experiment = UploadedExperiment(NOWHERE, manifest, {fit_split: counts}, {})
    return Intake(experiment, checks, Reading(experiment.favourable))


def _counts(name: str, value: Any) -> ClientCounts:
    with about(name):
        _check_many(value)
        counts = ClientCounts.from_json(value)
        for field in MOST_NAMES:
            check_readable(getattr(counts, f"{field}s"), f"{field}s")
    return counts


def _check_many(value: Any) -> None:
    """Refuse more names than are taken, before their numbers are looked at."""
    for field, most in (MOST_NAMES | {"group": MOST_CROSSED}).items():
        names = value.get(f"{field}s") if isinstance(value, dict) else None
        if isinstance(names, list) and len(names) > most:
            raise InputError(
                f"{len(names):,} {field}s are more than the {most:,} that are taken here; join "
                f"{field}s, or solve them with `fairfl solve`."
            )


def merge_counts(files: Sequence[tuple[str, ClientCounts]], favourable: str = "") -> ClientCounts:
    """Put the clients of several files together; a disagreement is named.

    Groups and labels may stand in another order, not under another name.
    """
    first_name, first = files[0]
    groups, grouping = _all_groups(files)
    tables = []
    owner: dict[str, str] = {}
    for name, counts in files:
        _agree("labels", (first_name, first.labels), (name, counts.labels))
        if counts.favourable != first.favourable and not favourable:
            raise InputError(
                f'{first_name} calls "{first.favourable}" the favourable label and {name} '
                f'"{counts.favourable}"; count one of them again with --favourable.'
            )
        if counts.folds != first.folds:
            raise InputError(
                f"{first_name} is of {first.folds} fold models and {name} of {counts.folds}; count "
                "one of them again, with the predictions of the same models."
            )
        for client in counts.clients:
            if client in owner:
                raise InputError(
                    f'the client "{client}" stands in {owner[client]} and in {name}; leave one '
                    "of the files out, or rename the client."
                )
            owner[client] = name
        label = positions(first.labels, counts.labels)
        table = np.zeros((len(counts.clients), len(groups), *counts.table.shape[2:]))
        table[:, positions(counts.groups, groups)] = counts.table[:, :, label][..., label]
        tables.append(table)
    noisy = any(counts.noisy for _, counts in files)
    favourable = favourable if favourable in first.labels else first.favourable
    names = tuple(owner), groups, first.labels
    table = np.concatenate(tables)
    return ClientCounts(table, *names, favourable, noisy, folds=first.folds, grouping=grouping)


def _all_groups(
    files: Sequence[tuple[str, ClientCounts]],
) -> tuple[tuple[str, ...], Grouping | None]:
    """The groups of all files: the same in each, or crossings of the same values.

    Which crossings there are is a matter of a client's people; which values a column has is not.
    """
    (first_name, first), *others = files
    if first.grouping is None or any(counts.grouping is None for _, counts in others):
        for name, counts in others:
            _agree("groups", (first_name, first.groups), (name, counts.groups))
        return first.groups, first.grouping
    groups = dict(zip(first.groups, first.grouping.groups, strict=True))
    for name, counts in others:
        mine, theirs = first.grouping, cast(Grouping, counts.grouping)
        if mine.columns != theirs.columns:
            raise InputError(
                f"{first_name} crosses the columns {listed(mine.columns)} and {name} "
                f"{listed(theirs.columns)}; count one of them again with the same --group."
            )
        for column in mine.columns:
            _agree(
                f'values of "{column}"',
                (first_name, mine.coarsen(column)[1]),
                (name, theirs.coarsen(column)[1]),
                "groups",
            )
        for group, values in zip(counts.groups, theirs.groups, strict=True):
            if groups.setdefault(group, values) != values:
                raise InputError(
                    f'{name} calls {listed(values)} "{group}", which is {listed(groups[group])} in '
                    f"another file; rename the group in one of them."
                )
    grouping = Grouping(first.grouping.columns, tuple(groups.values()))
    return tuple(groups), grouping


def _agree(
    field: str,
    first: tuple[str, tuple[str, ...]],
    other: tuple[str, tuple[str, ...]],
    option: str = "",
) -> None:
    """Both files must name the same labels and the same groups."""
    if set(first[1]) == set(other[1]):
        return
    for mine, theirs in ((first, other), (other, first)):
        extra = [name for name in mine[1] if name not in theirs[1]]
        if extra:
            raise InputError(
                f"{mine[0]} has the {field} {listed(extra)} that {theirs[0]} has not "
                f"({listed(theirs[1])}); count one of them again with --{option or field} so that "
                "both name the same."
            )
