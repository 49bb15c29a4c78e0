"""Counts files, one for all clients or one a client: merged where they agree."""

import hashlib
from collections.abc import Sequence

import numpy as np

from fairfl_core._io.json_files import parse_json
from fairfl_core._io.names import check_readable, listed, positions, shown
from fairfl_core.errors import InputError
from fairfl_core.intake._checks import Check, of_counts
from fairfl_core.intake._uploaded import Intake, manifest_of, uploaded_experiment
from fairfl_core.people.counts import ClientCounts
from fairfl_core.people.experiments import Protocol

__all__ = ["merge_counts", "experiment_from_counts"]

MOST_BYTES = 30_000_000  # of all files together
NO_CHECK = "No held-out check possible: counts hold no people to set aside."


def experiment_from_counts(files: Sequence[tuple[str, bytes]], *, favourable: str = "") -> Intake:
    """Make an experiment of counts files, given as pairs of name and content."""
    if not files:
        raise InputError("there is no counts file; choose one or more.")
    files = [(shown(name), data) for name, data in files]
    if sum(len(data) for _, data in files) > MOST_BYTES:
        raise InputError(
            f"the counts files are larger than {MOST_BYTES // 1_000_000} MB together; counts are "
            "small: make them with `fairfl count`."
        )
    counts = merge_counts([(name, _read(name, data)) for name, data in files], favourable)
    if not counts.n:
        raise InputError("nobody is left in these counts; use a larger privacy budget.")
    name = files[0][0] if len(files) == 1 else f"{len(files)} counts files"
    sha256 = hashlib.sha256(b"".join(data for _, data in files)).hexdigest()
    noisy = " Noise was added for privacy, so n is approximate." if counts.noisy else ""
    read = f"{len(files)} file{'s' * (len(files) > 1)} read, {counts.n:,.0f} people.{noisy}"
    sample = "counts only, with noise" if counts.noisy else "counts only"
    manifest = manifest_of(counts, files=name, sha256=sha256, rows=counts.n, sample=sample)
    no_check = Check(f"{NO_CHECK} Upload a table of predictions to have one.", look=True)
    checks = (Check(read), no_check, *of_counts(counts))
    fit_split, _ = Protocol.of(counts.folds).splits
    return Intake(uploaded_experiment({fit_split: counts}, {}, manifest), checks)


def _read(name: str, data: bytes) -> ClientCounts:
    value = parse_json(data, name)
    try:
        counts = ClientCounts.from_json(value)
        for field in ("clients", "groups", "labels"):
            check_readable(getattr(counts, field), field)
    except InputError as error:
        raise InputError(f"{name}: {error}") from error
    return counts


def merge_counts(files: Sequence[tuple[str, ClientCounts]], favourable: str = "") -> ClientCounts:
    """Put the clients of several files together; a disagreement is named.

    Groups and labels may stand in another order, not under another name.
    """
    first_name, first = files[0]
    tables = []
    owner: dict[str, str] = {}
    for name, counts in files:
        for field in ("labels", "groups"):
            _agree(field, (first_name, getattr(first, field)), (name, getattr(counts, field)))
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
        group, label = (
            positions(first.groups, counts.groups),
            positions(first.labels, counts.labels),
        )
        tables.append(counts.table[:, group][:, :, label][..., label])
    noisy = any(counts.noisy for _, counts in files)
    favourable = favourable if favourable in first.labels else first.favourable
    names = tuple(owner), first.groups, first.labels
    table = np.concatenate(tables)
    return ClientCounts(table, *names, favourable, noisy, folds=first.folds)


def _agree(
    field: str, first: tuple[str, tuple[str, ...]], other: tuple[str, tuple[str, ...]]
) -> None:
    """Both files must name the same labels and the same groups."""
    if set(first[1]) == set(other[1]):
        return
    for mine, theirs in ((first, other), (other, first)):
        extra = [name for name in mine[1] if name not in theirs[1]]
        if extra:
            raise InputError(
                f"{mine[0]} has the {field} {listed(extra)} that {theirs[0]} has not "
                f"({listed(theirs[1])}); count one of them again with --{field} so that both "
                "name the same."
            )
