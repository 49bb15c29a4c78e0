"""Ready folders for a server and its clients: empty ones to fill, and examples with people in."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fairfl_core._io.files import write_whole
from fairfl_core.errors import InputError
from fairfl_core.federation.study import STATISTICS, Features, Study, toml_of

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "EXAMPLES",
    "adult_example",
    "blank_study",
    "hospital_example",
    "trained_as",
    "write_folders",
]

ADDRESS = "127.0.0.1:8000"
_BANDS = {
    "school": (
        "Preschool",
        "1st-4th",
        "5th-6th",
        "7th-8th",
        "9th",
        "10th",
        "11th",
        "12th",
        "HS-grad",
    ),
    "college": ("Some-college", "Assoc-acdm", "Assoc-voc"),
    "degree": ("Bachelors", "Masters", "Prof-school", "Doctorate"),
}
_QUANTITIES = ("age", "education-num", "capital-gain", "capital-loss", "hours-per-week")
_CATEGORIES = ("workclass", "marital-status", "occupation", "relationship", "race")
_HOSPITALS = ("North", "South", "East")
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

People = Mapping[str, "pd.DataFrame"]


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
    paths = [folder / "server", *(folder / _safe(name) for name in study.clients)]
    for path in paths:
        if path.exists():
            raise InputError(f"{path}: is there already; choose another folder.")
    for path in paths:
        path.mkdir(parents=True)
        study.write(path)
    server, *clients = paths
    write_whole(server / "server.toml", _server(address))
    write_whole(server / "make-certificates.sh", _CERTIFICATES)
    (server / "keys").mkdir()
    for name, path in zip(study.clients, clients, strict=True):
        write_whole(path / "client.toml", _client(name, address))
        write_whole(path / "make-key.sh", _KEY)
        if people is not None:
            write_whole(path / "people.csv", people[name].to_csv(index=False))
    return paths


def _safe(name: str) -> str:
    """A name as a folder's: letters, digits and dashes."""
    safe = "".join(sign if sign.isalnum() else "-" for sign in name.lower()).strip("-")
    return safe if safe and safe != "server" else f"client-{safe}"


def _server(address: str) -> str:
    return "# The server of a federation; docs/federation.md explains every line.\n" + toml_of(
        {
            "format": "fairfl-server/1",
            "address": address,
            "security": {
                "ca_certificate": "ca.crt",
                "certificate": "server.crt",
                "private_key": "server.key",
                "client_keys": "keys",
            },
        }
    )


def _client(name: str, address: str) -> str:
    return "# One client of a federation; docs/federation.md explains every line.\n" + toml_of(
        {
            "format": "fairfl-client/1",
            "name": name,
            "server": address,
            "data": {"table": "people.csv", "label": "label", "group": "group"},
            "consent": {"statistics": list(STATISTICS), "largest_epsilon": 0.0},
            "security": {"root_certificate": "ca.crt", "private_key": "client.key"},
        }
    )


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
        rounds=5,
        batch=32,
        learning_rate=0.05,
    )
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
    education = raw["education"].astype(str)
    categories = {name: tuple(sorted(table[name].astype(str).unique())) for name in _CATEGORIES}
    study = Study(
        title="Adult by education",
        labels=declared.labels,
        favourable=declared.favourable,
        groups=declared.groupings["sex"],
        clients=tuple(_BANDS),
        features=Features(numbers=_QUANTITIES, categories=categories),
        rounds=5,
        batch=512,
        learning_rate=0.01,
    )
    parts = {name: pd.DataFrame(table[education.isin(band)]) for name, band in _BANDS.items()}
    return study, parts


EXAMPLES = {"hospitals": hospital_example, "adult": adult_example}


def trained_as(study: Study, **choices: Any) -> Study:
    """The same study with other choices of training, those that are given."""
    return replace(study, **{name: value for name, value in choices.items() if value is not None})
