"""The folders of a federation: a server's, a client's, and ready ones, empty or with people in."""

import contextlib
import ipaddress
import socket
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import tomli_w

from fairfl_core._io.files import write_whole
from fairfl_core.errors import InputError
from fairfl_core.federation.study import STATISTICS, Features, Study, read_toml

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "EXAMPLES",
    "ClientFolder",
    "Consent",
    "ServerFolder",
    "adult_example",
    "blank_study",
    "free_port",
    "hospital_example",
    "host_and_port",
    "is_loopback",
    "safe_name",
    "write_folders",
]

ADDRESS = "127.0.0.1:8000"
CLIENT, CLIENT_FORMAT = "client.toml", "fairfl-client/1"
SERVER, SERVER_FORMAT = "server.toml", "fairfl-server/1"
_QUANTITIES = ("age", "education-num", "capital-gain", "capital-loss", "hours-per-week")
_CATEGORIES = ("workclass", "marital-status", "occupation", "relationship", "race")
_HOSPITALS = ("North", "South", "East")
_BANDS = ("school", "college", "degree")
_CERTIFICATES = """#!/bin/sh
# Certificates for a federation across machines: HOST is the name that clients call the server by.
# Run it once, on the server's machine, in this folder:  sh make-certificates.sh server.example.org
set -e
HOST=${1:?the name or address that clients call the server by}
case $HOST in *[!0-9.]*) NAME="DNS:$HOST" ;; *) NAME="IP:$HOST" ;; esac
openssl ecparam -name secp384r1 -genkey -noout -out ca.key
openssl req -x509 -new -key ca.key -days 3650 -subj "/CN=fairfl federation" -out ca.crt
openssl ecparam -name secp384r1 -genkey -noout -out server.key
openssl req -new -key server.key -subj "/CN=$HOST" -out server.csr
printf 'subjectAltName=%s,DNS:localhost,IP:127.0.0.1\\n' "$NAME" > server.ext
openssl x509 -req -in server.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 825 \\
    -extfile server.ext -out server.crt
rm -f server.csr server.ext
chmod 600 ca.key server.key
echo "Give ca.crt to every client; keep ca.key and server.key here."
"""
_KEY = """#!/bin/sh
# This client's key: run it once, here. Send client.pub to the server, which puts it into keys/.
set -e
ssh-keygen -q -t ecdsa -b 384 -N "" -C "" -f client.key
mv client.key.pub client.pub
chmod 600 client.key
echo "Send client.pub to the server's operator; client.key never leaves this machine."
"""

_EXPLAINED = "# {} of a federation; docs/federation.md explains every line.\n"
_SERVER_FILES = {
    "ca_certificate": "ca.crt",
    "certificate": "server.crt",
    "private_key": "server.key",
    "client_keys": "keys",
}
_CLIENT: dict[str, Any] = {
    "data": {"table": "people.csv", "label": "label", "group": "group"},
    "consent": {"statistics": list(STATISTICS), "largest_epsilon": 0.0},
    "security": {"root_certificate": "ca.crt", "private_key": "client.key"},
}
People = Mapping[str, "pd.DataFrame"]


# -------------------------------------------------------------------- addresses


def is_loopback(address: str) -> bool:
    """Whether an address is this very machine's own."""
    host = host_and_port(address)[0]
    if host == "localhost":
        return True
    with contextlib.suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return False


def host_and_port(address: str) -> tuple[str, int]:
    """The two parts of an address, or a sentence."""
    host, colon, port = address.rpartition(":")
    if not colon or not port.isdigit() or not 0 < int(port) < 65536:
        raise InputError(f'"{address}" is not an address like 127.0.0.1:8000; correct it.')
    return host.strip("[]"), int(port)


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


# -------------------------------------------------------------------- what a folder says


@dataclass(frozen=True)
class Consent:
    """What a client allows.

    Attributes
    ----------
    statistics : tuple of str
        Those that may be asked for: ``counts``, ``histogram``.
    largest_epsilon : float
        0 where tables leave as they are; else they leave with noise only, and this is the largest
        privacy budget that may be spent on one.
    """

    statistics: tuple[str, ...] = STATISTICS
    largest_epsilon: float = 0.0


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
    security : mapping
        ``root_certificate``, by which it knows the server, and its own ``private_key``.
    """

    path: Path
    name: str
    server: str
    data: Mapping[str, str]
    consent: Consent = Consent()
    security: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> "ClientFolder":
        """Read a client's folder."""
        with _reading(path / CLIENT, CLIENT_FORMAT) as value:
            data, allowed = value["data"], value.get("consent", {})
            statistics = tuple(allowed.get("statistics", STATISTICS))
            consent = Consent(statistics, float(allowed.get("largest_epsilon", 0.0)))
            columns = {key: str(given) for key, given in data.items()}
            columns |= {key: str(data[key]) for key in ("table", "label", "group")}
            security = value.get("security", {})
            return cls(path, str(value["name"]), value["server"], columns, consent, security)

    def files(self) -> dict[str, Path]:
        """The certificate and the key, both there; refused otherwise."""
        names = {"root_certificate": "ca.crt", "private_key": "client.key"}
        why = f"the server {self.server} is on another machine"
        return _all_there(self.path, names | dict(self.security), why)


@dataclass(frozen=True)
class ServerFolder:
    """What a server's ``server.toml`` says.

    Attributes
    ----------
    path : Path
        The folder; other paths are relative to it.
    address : str
        Where it listens, host and port.
    security : mapping
        ``ca_certificate``, ``certificate`` and ``private_key``, by which clients know it, and
        ``client_keys``, the folder of the clients' public keys, one file a client.
    """

    path: Path
    address: str
    security: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> "ServerFolder":
        """Read a server's folder."""
        with _reading(path / SERVER, SERVER_FORMAT) as value:
            return cls(path, str(value["address"]), _SERVER_FILES | value.get("security", {}))

    def files(self) -> dict[str, Path]:
        """The certificates and the key, all there; refused otherwise."""
        files = {name: file for name, file in self.security.items() if name != "client_keys"}
        return _all_there(self.path, files, f"{self.address} is not this machine alone")

    def keys(self) -> list[Path]:
        """The public keys of the clients that are let in."""
        folder = self.path / self.security["client_keys"]
        keys = sorted(folder.resolve().glob("*.pub"))
        if not keys:
            raise InputError(
                f"{folder}: holds no client's public key (*.pub), so nobody could be let in; "
                "docs/federation.md has the commands that make them."
            )
        return keys


@contextlib.contextmanager
def _reading(file: Path, form: str) -> Iterator[dict[str, Any]]:
    """What a folder's file says; whatever it lacks ends in a sentence."""
    value = read_toml(file)
    if value.get("format") != form:
        raise InputError(
            f'{file}: "format" is not "{form}"; make it with `fairfl federation init`.'
        )
    try:
        yield value
    except (KeyError, AttributeError, TypeError, ValueError) as error:
        raise InputError(
            f"{file}: lacks or misnames something ({error}); compare it with one that "
            "`fairfl federation init` writes."
        ) from error


def _all_there(folder: Path, files: Mapping[str, str], why: str) -> dict[str, Path]:
    """The files that security needs, all of them there; else the one that is not is named."""
    for name, file in files.items():
        if not (folder / file).is_file():
            raise InputError(
                f"{why}, so certificates are needed, and there is no {name.replace('_', ' ')} "
                f"({folder / file}); docs/federation.md has the commands that make them."
            )
    return {name: (folder / file).resolve() for name, file in files.items()}


# -------------------------------------------------------------------- ready folders


def write_folders(
    folder: Path, study: Study, *, address: str = ADDRESS, people: People | None = None
) -> list[Path]:
    """Write a folder for the server and one for each client; never over one that is there.

    Parameters
    ----------
    folder : Path
        Where they go: ``server`` and one by the name of each client.
    study : Study
    address : str
        Where the server will listen.
    people : mapping of str to DataFrame, optional
        Each client's table, written into its folder.
    """
    paths = [folder / "server", *(folder / safe_name(name) for name in study.clients)]
    for path in paths:
        if path.exists():
            raise InputError(f"{path}: is there already; choose another folder.")
    for path in paths:
        path.mkdir(parents=True)
        study.write(path)
    server, *clients = paths
    settings = {"format": SERVER_FORMAT, "address": address, "security": _SERVER_FILES}
    write_whole(server / SERVER, _EXPLAINED.format("The server") + tomli_w.dumps(settings))
    write_whole(server / "make-certificates.sh", _CERTIFICATES)
    (server / "keys").mkdir()
    for name, path in zip(study.clients, clients, strict=True):
        settings = {"format": CLIENT_FORMAT, "name": name, "server": address, **_CLIENT}
        write_whole(path / CLIENT, _EXPLAINED.format("One client") + tomli_w.dumps(settings))
        write_whole(path / "make-key.sh", _KEY)
        if people is not None:
            write_whole(path / "people.csv", people[name].to_csv(index=False))
    return paths


def safe_name(name: str) -> str:
    """A name as a folder's: letters, digits and dashes."""
    safe = "".join(sign if sign.isalnum() else "-" for sign in name.lower()).strip("-")
    return safe if safe and safe != "server" else f"client-{safe}"


def blank_study(clients: Sequence[str]) -> Study:
    """A study to be filled in: its labels, groups and features are examples."""
    return Study(
        title="our study",
        labels=("healthy", "ill"),
        favourable="ill",
        groups=("man", "woman"),
        clients=tuple(clients),
        features=Features(numbers=("age",), categories={"ward": ("a", "b")}),
    )


# -------------------------------------------------------------------- examples with people in


def hospital_example() -> tuple[Study, People]:
    """Three hospitals of the example of *Your data*: a model is made of an older one's score."""
    import io

    import pandas as pd

    from fairfl_core.intake import example_table

    table = pd.read_csv(io.StringIO(example_table()))
    study = Study(
        title="example hospitals",
        labels=("healthy", "ill"),
        favourable="ill",
        groups=("man", "woman"),
        clients=_HOSPITALS,
        features=Features(numbers=("score_ill",)),
    ).trained(rounds=5, batch=32, learning_rate=0.05)
    table = table.rename(columns={"diagnosis": "label", "sex": "group"})
    columns = ["patient", "score_ill", "group", "label"]
    return study, {name: table.loc[table["hospital"] == name, columns] for name in study.clients}


def adult_example(source: Path | None = None) -> tuple[Study, People]:
    """Adult, three clients by education: up to school, some college, a degree."""
    import pandas as pd

    from fairfl_core.data import datasets

    raw = datasets.raw("adult", source=source).table
    declared = datasets.declaration("adult")
    table = raw[[*_QUANTITIES, *_CATEGORIES]].copy()
    for name in ("capital-gain", "capital-loss"):  # mostly 0, up to 99,999
        table[name] = np.log1p(table[name].astype(float)).round(6)
    table["group"] = raw["sex"].map({"Female": "women", "Male": "men"})
    table["label"] = raw["income"].map({"<=50K": "up to 50K", ">50K": "over 50K"})
    categories = {name: tuple(sorted(table[name].astype(str).unique())) for name in _CATEGORIES}
    study = Study(
        title="Adult by education",
        labels=declared.labels,
        favourable=declared.favourable,
        groups=declared.groupings["sex"],
        clients=_BANDS,
        features=Features(numbers=_QUANTITIES, categories=categories),
    ).trained(rounds=5, batch=512, learning_rate=0.01)
    band = np.digitize(table["education-num"], [9.5, 12.5])  # 9: high school; 13: a bachelor
    return study, {name: pd.DataFrame(table[band == at]) for at, name in enumerate(_BANDS)}


EXAMPLES = {"hospitals": lambda source: hospital_example(), "adult": adult_example}
