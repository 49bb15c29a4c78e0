"""Counts files, one for all clients or one a client: merged where they agree."""

import hashlib
from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from fairfl_core._io.json_files import parse_json
from fairfl_core._io.names import check_readable, listed, positions, shown
from fairfl_core.data.counts import ClientCounts
from fairfl_core.data.experiments import Protocol
from fairfl_core.data.grouping import MOST_CROSSED, Grouping
from fairfl_core.errors import InputError
from fairfl_core.intake._checks import Check, of_counts
from fairfl_core.intake._coding import MOST_NAMES
from fairfl_core.intake._from_federation import FORMAT as FEDERATION
from fairfl_core.intake._from_federation import experiment_from_federation
from fairfl_core.intake._reading import Reading
from fairfl_core.intake._uploaded import Intake, manifest_of, uploaded_experiment

__all__ = ["merge_counts", "experiment_from_counts"]

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
        if isinstance(value, dict) and value.get("format") == FEDERATION:
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
    sha256 = hashlib.sha256(b"".join(data for _, data in files)).hexdigest()
    noisy = " Noise was added for privacy, so n is approximate." if counts.noisy else ""
    read = f"{len(files)} file{'s' * (len(files) > 1)} read, {counts.n:,.0f} {counts.whom}.{noisy}"
    sample = "counts only, with noise" if counts.noisy else "counts only"
    manifest = manifest_of(counts, files=name, sha256=sha256, rows=counts.n, sample=sample)
    no_check = Check(f"{NO_CHECK} Upload a table of predictions to have one.", look=True)
    checks = (Check(read), no_check, *of_counts(counts, whom=counts.whom))
    fit_split, _ = Protocol.of(counts.folds).splits
    experiment = uploaded_experiment({fit_split: counts}, {}, manifest)
    return Intake(experiment, checks, Reading(experiment.favourable))


def _counts(name: str, value: Any) -> ClientCounts:
    try:
        _check_many(value)
        counts = ClientCounts.from_json(value)
        for field in MOST_NAMES:
            check_readable(getattr(counts, f"{field}s"), f"{field}s")
    except InputError as error:
        raise InputError(f"{name}: {error}") from error
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
