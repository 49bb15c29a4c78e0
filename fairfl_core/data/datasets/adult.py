"""Adult (Census Income, 1994): whether a person earns over 50,000 dollars a year."""

import io
import urllib.error
import urllib.request
import zipfile
from pathlib import Path

import numpy as np

from fairfl_core._io.files import write_whole
from fairfl_core.data.datasets._declaration import Dataset, Form, People, Raw, codes_of, one_hot
from fairfl_core.errors import InputError

_ARCHIVE = "https://archive.ics.uci.edu/static/public/2/adult.zip"
_QUANTITIES = ("age", "education-num", "capital-gain", "capital-loss", "hours-per-week")
_HEADER = (
    "age workclass fnlwgt education education-num marital-status occupation relationship "
    "race sex capital-gain capital-loss hours-per-week native-country income"
)
_COLUMNS = tuple(_HEADER.split())
_APART = {"fnlwgt", "education", "sex", "income", *_QUANTITIES}
_CATEGORIES = tuple(name for name in _COLUMNS if name not in _APART)
_GROUPS = ("women", "men")
_LABELS = ("up to 50K", "over 50K")
_CLIENTS = ("doctorate", "no doctorate")


def _read_parquet(folder: Path) -> Raw:
    import pandas as pd

    return Raw(pd.read_parquet(folder / "adult.parquet"))


def _read_uci(folder: Path) -> Raw:
    """The two files of the UCI archive; its test file opens with a comment and ends labels in '.'."""
    import pandas as pd

    parts = [
        pd.read_csv(
            folder / name,
            names=list(_COLUMNS),
            skipinitialspace=True,
            comment="|",
            keep_default_na=False,  # "?" and every other string stays what it is
        )
        for name in ("adult.data", "adult.test")
    ]
    table = pd.concat(parts, ignore_index=True)
    table["income"] = table["income"].str.rstrip(".")
    return Raw(table)


def _fetch(folder: Path) -> None:
    """Download the UCI archive and unpack its two files."""
    try:
        with urllib.request.urlopen(_ARCHIVE, timeout=60) as answer:
            archive = zipfile.ZipFile(io.BytesIO(answer.read()))
        for name in ("adult.data", "adult.test"):
            write_whole(folder / name, archive.read(name))
    except (urllib.error.URLError, OSError, KeyError, zipfile.BadZipFile) as error:
        raise InputError(
            f"adult.data: could not be downloaded from {_ARCHIVE} ({error}); fetch adult.zip by "
            "hand, unpack it, and give its folder with --source PATH."
        ) from error


def _arrange(raw: Raw, grouping: str) -> People:
    table = raw.table
    quantities = np.array(table[list(_QUANTITIES)], np.float32)
    for name in ("capital-gain", "capital-loss"):  # mostly 0, up to 99,999
        at = _QUANTITIES.index(name)
        quantities[:, at] = np.log1p(quantities[:, at])
    categories = [one_hot(table[name]) for name in _CATEGORIES]
    return People(
        inputs=np.concatenate([quantities, *categories], axis=1),
        scaled=len(_QUANTITIES),
        label=codes_of(table["income"], {"<=50K": 0, ">50K": 1}),
        group=codes_of(table["sex"], {"Female": 0, "Male": 1}),
        client=np.where(table["education"].astype(str) == "Doctorate", 0, 1).astype(np.int16),
        unit=np.arange(len(table), dtype=np.int32),
        labels=_LABELS,
        groups=_GROUPS,
        clients=_CLIENTS,
        origin={"grouping": grouping, "left_out": {}},
    )


ADULT = Dataset(
    name="adult",
    title="Adult (Census Income)",
    noun="education level",
    source="https://archive.ics.uci.edu/dataset/2/adult",
    licence="CC BY 4.0",
    citation="B. Becker and R. Kohavi, Adult, UCI Machine Learning Repository, 1996",
    columns=_COLUMNS,
    features=_QUANTITIES + _CATEGORIES,
    label="income: at most, or over 50,000 dollars a year",
    labels=_LABELS,
    favourable="over 50K",
    client="whether `education` is Doctorate",
    group="`sex`",
    groupings={"sex": _GROUPS},
    notion="sp",
    forms=(
        Form(
            files={
                "adult.parquet": "6d5da18ca6e9b103090d8fa0123a420aa9fc6fef190e0ac81b4ced195ba31892"
            },
            rows=48_842,
            read=_read_parquet,
        ),
        Form(files={"adult.data": "", "adult.test": ""}, rows=48_842, read=_read_uci),
    ),
    arrange=_arrange,
    fetch=_fetch,
    where=f"get adult.zip from {_ARCHIVE} and unpack it",
)
