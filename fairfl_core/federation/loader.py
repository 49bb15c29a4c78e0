"""A client's own folder: its name, where its rows are, what it allows, and the rows themselves.

Whatever is wrong with the rows is reported here, on the client, before anything is sent. The server
hears that the client takes no part, and of what kind the reason is.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairfl_core._io.names import listed
from fairfl_core.data.columns import as_numbers, code_names
from fairfl_core.data.datasets import People
from fairfl_core.data.tables import open_table_at, read_rows
from fairfl_core.errors import InputError
from fairfl_core.federation.client import Consent
from fairfl_core.federation.study import STATISTICS, Study, read_toml
from fairfl_core.federation.wire import Refusal

__all__ = ["CLIENT", "ClientFolder", "OwnPeople", "load_people"]

CLIENT = "client.toml"
FORMAT = "fairfl-client/1"


@dataclass(frozen=True, eq=False)
class ClientFolder:
    """What a client's ``client.toml`` says.

    Attributes
    ----------
    path : Path
        The folder; other paths are relative to it.
    name : str
        One of the study's clients.
    server : str
        Address of the server, host and port.
    data : mapping
        ``table``, and its columns ``label``, ``group`` and perhaps ``unit`` and ``row_id``.
    consent : Consent
        What it allows to be asked for.
    root_certificate, private_key : str
        By which it knows the server, and by which the server knows it.
    """

    path: Path
    name: str
    server: str
    data: Mapping[str, str]
    consent: Consent = Consent()
    root_certificate: str = ""
    private_key: str = ""

    @classmethod
    def read(cls, path: Path) -> "ClientFolder":
        """Read a client's folder."""
        file = path / CLIENT
        value = read_toml(file)
        if value.get("format") != FORMAT:
            raise InputError(
                f'{file}: "format" is not "{FORMAT}"; make it with `fairfl federation init`.'
            )
        allowed = value.get("consent", {})
        security = value.get("security", {})
        try:
            return cls(
                path,
                str(value["name"]),
                str(value["server"]),
                {key: str(given) for key, given in value["data"].items()},
                Consent(
                    tuple(allowed.get("statistics", STATISTICS)),
                    float(allowed.get("largest_epsilon", 0.0)),
                ),
                str(security.get("root_certificate", "")),
                str(security.get("private_key", "")),
            )
        except (KeyError, AttributeError, TypeError, ValueError) as error:
            raise InputError(
                f"{file}: lacks or misnames something ({error}); compare it with one that "
                "`fairfl federation init` writes."
            ) from error


@dataclass(frozen=True, eq=False)
class OwnPeople:
    """A client's people, and how it names them."""

    people: People
    row_id: tuple[str, ...] = field(default_factory=tuple)


def load_people(folder: ClientFolder, study: Study) -> OwnPeople:
    """Open the rows that a client's folder names, and see that the study can use them."""
    if folder.name not in study.clients:
        raise Refusal(
            f'{folder.path / CLIENT}: the client "{folder.name}" is not one of the study '
            f"({listed(study.clients)}); correct the name.",
            "its name is not one of the study",
        )
    own = _from_table(folder, study)
    present = np.unique(own.people.group)
    if len(present) < 2:
        only = study.groups[int(present[0])]
        raise Refusal(
            f'{folder.path}: all {len(own.people):,} people are of one group ("{only}"), and '
            "fairness compares at least two; add people of another group, or take no part.",
            "its people are all of one group",
        )
    return own


def _from_table(folder: ClientFolder, study: Study) -> OwnPeople:
    try:
        return _read_table(folder, study)
    except Refusal:
        raise
    except KeyError as error:
        raise Refusal(
            f"{folder.path / CLIENT}: [data] lacks {error}; name the column.",
            "its folder does not name all columns",
        ) from error
    except InputError as error:
        rows = "no rows" in str(error)
        raise Refusal(
            str(error),
            "its table has no rows" if rows else "its table lacks what the study needs",
        ) from error


def _read_table(folder: ClientFolder, study: Study) -> OwnPeople:
    named, features = folder.data, study.features
    label, group = named["label"], named["group"]
    more = [named[key] for key in ("unit", "row_id") if named.get(key)]
    names = [label, group, *features.categories, *more]
    path = folder.path / named["table"]
    table = read_rows(open_table_at(path), names, features.numbers)
    columns = [_numbers(table[name], name, path)[:, None] for name in features.numbers]
    for name, known in features.categories.items():
        columns.append(np.eye(len(known))[_codes(table[name], name, known, path, "features")])
    rows = table.num_rows
    unit = code_names(table[named["unit"]], named["unit"]).codes if named.get("unit") else None
    ids = table[named["row_id"]].to_pylist() if named.get("row_id") else range(1, rows + 1)
    people = People(
        inputs=np.concatenate(columns, axis=1).astype(np.float32),
        scaled=len(features.numbers),
        label=_codes(table[label], label, study.labels, path, "labels").astype(np.int16),
        group=_codes(table[group], group, study.groups, path, "groups").astype(np.int16),
        client=np.full(rows, study.clients.index(folder.name), np.int16),
        unit=np.arange(rows, dtype=np.int32) if unit is None else unit.astype(np.int32),
        labels=study.labels,
        groups=study.groups,
        clients=study.clients,
        favourable=study.favourable,
    )
    return OwnPeople(people, tuple(map(str, ids)))


def _numbers(column: Any, name: str, path: Path) -> NDArray[np.float64]:
    values = as_numbers(column)
    wrong = np.isnan(values)
    if wrong.any():
        raise Refusal(
            f'{path}: column "{name}", data row {int(np.argmax(wrong)) + 1:,} is not a finite '
            "number; correct it or leave the row out.",
            "a quantity in its table is not a number",
        )
    return values


def _codes(
    column: Any, name: str, known: tuple[str, ...], path: Path, what: str
) -> NDArray[np.int64]:
    coded = code_names(column, name)
    codes = np.asarray(coded.among(known), np.int64)
    if (codes < 0).any():
        row = int(np.argmax(codes < 0))
        raise Refusal(
            f'{path}: column "{name}", data row {row + 1:,} holds '
            f'"{coded.names[coded.codes[row]]}", which the study does not name '
            f"({listed(known)}); correct the row, or agree on another study.",
            f"its {what} are not those of the study",
        )
    return codes
