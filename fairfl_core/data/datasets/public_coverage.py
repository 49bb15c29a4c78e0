"""ACSPublicCoverage (American Community Survey 2018): who is on public health insurance."""

from pathlib import Path

import numpy as np

from fairfl_core.data.datasets._declaration import Dataset, Form, People, Raw, codes_of, one_hot
from fairfl_core.errors import InputError

_FIFTY = (
    "AL AK AZ AR CA CO CT DE FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO "
    "MT NE NV NH NJ NM NY NC ND OH OK OR PA RI SC SD TN TX UT VT VA WA WV WI WY"
)
STATES = tuple(_FIFTY.split())
_QUANTITIES = ("AGEP", "PINCP")
# Codes of the Census; 0 is "not applicable or missing", as folktables writes it.
_CATEGORIES: dict[str, tuple[int, ...]] = {
    "SCHL": tuple(range(25)),
    "MAR": tuple(range(1, 6)),
    "SEX": (1, 2),
    "DIS": (1, 2),
    "ESP": tuple(range(9)),
    "CIT": tuple(range(1, 6)),
    "MIG": tuple(range(4)),
    "MIL": tuple(range(5)),
    "ANC": (1, 2, 3, 4, 8),
    "NATIVITY": (1, 2),
    "DEAR": (1, 2),
    "DEYE": (1, 2),
    "DREM": (0, 1, 2),
    "ESR": tuple(range(7)),
    "FER": (0, 1, 2),
}
_COLUMNS = (*_QUANTITIES, *_CATEGORIES, "RAC1P", "PUBCOV", "state")
_LABELS = ("not covered", "covered")
_GROUPINGS = {
    "white": ("non-white", "white"),
    "race": (
        "white",
        "Black",
        "Asian or Pacific Islander",
        "American Indian or Alaska Native",
        "another race",
        "two or more races",
    ),
}
_SEXES, _RACES = ("men", "women"), ("white", "Black", "Asian or Pacific Islander", "other")
_CROSSED = "sex_race"
_GROUPINGS[_CROSSED] = tuple(f"{sex} · {race}" for sex in _SEXES for race in _RACES)
# RAC1P 1 White, 2 Black, 3-5 American Indian and Alaska Native in three writings, 6 Asian,
# 7 Native Hawaiian and other Pacific Islander, 8 another race, 9 two or more races.
_RACE_CODES = {
    "white": {1: 1, **dict.fromkeys(range(2, 10), 0)},
    "race": {1: 0, 2: 1, 6: 2, 7: 2, 3: 3, 4: 3, 5: 3, 8: 4, 9: 5},
    _CROSSED: {1: 0, 2: 1, 6: 2, 7: 2, **dict.fromkeys((3, 4, 5, 8, 9), 3)},
}
_SAMPLE = "acs_public_coverage.parquet"
_FULL = "acs_public_coverage_full.parquet"


def _read(name: str, folder: Path) -> Raw:
    import pandas as pd

    table = pd.read_parquet(folder / name)
    table["state"] = table["state"].astype(str)
    return Raw(table)


def _fetch(folder: Path) -> None:
    """Download the full task with folktables, state by state, and keep it as one parquet file."""
    import pandas as pd

    try:
        from folktables import ACSDataSource, ACSPublicCoverage
    except ImportError as error:
        raise InputError(
            f"{_SAMPLE}: not found, and downloading needs the folktables package; install it with "
            "`pip install folktables`, or give a folder with --source PATH."
        ) from error
    survey = ACSDataSource(survey_year="2018", horizon="1-Year", survey="person")
    tables = []
    for state in STATES:
        features, label, _ = ACSPublicCoverage.df_to_pandas(
            survey.get_data(states=[state], download=True)
        )
        table = features.fillna(0).astype(np.int32)
        tables.append(table.assign(PUBCOV=label.to_numpy(np.int8).ravel(), state=state))
    whole = pd.concat(tables, ignore_index=True)
    temporary = folder / f".{_FULL}.tmp"
    whole.to_parquet(temporary, index=False)
    temporary.replace(folder / _FULL)


def _arrange(raw: Raw, grouping: str) -> People:
    """Keep the 50 states (Puerto Rico is not part of the paper's task)."""
    kept = raw.table["state"].isin(STATES)
    table = raw.table[kept].reset_index(drop=True)
    quantities = np.array(table[list(_QUANTITIES)], np.float32)
    categories = [one_hot(table[name], codes) for name, codes in _CATEGORIES.items()]
    group = codes_of(table["RAC1P"], _RACE_CODES[grouping])
    if grouping == _CROSSED:
        group = (group + len(_RACES) * codes_of(table["SEX"], {1: 0, 2: 1})).astype(group.dtype)
    return People(
        inputs=np.concatenate([quantities, *categories], axis=1),
        scaled=len(_QUANTITIES),
        label=codes_of(table["PUBCOV"], {0: 0, 1: 1}),
        group=group,
        client=codes_of(table["state"], {state: code for code, state in enumerate(STATES)}),
        unit=np.arange(len(table), dtype=np.int32),
        labels=_LABELS,
        groups=_GROUPINGS[grouping],
        clients=STATES,
        origin={"grouping": grouping, "left_out": {"Puerto Rico": int((~kept).sum())}},
    )


PUBLIC_COVERAGE = Dataset(
    name="public_coverage",
    title="ACSPublicCoverage 2018, 50 states",
    source="https://github.com/socialfoundations/folktables",
    licence="US Census Bureau, public use microdata, free under its terms",
    citation=(
        "American Community Survey 2018 1-year PUMS, US Census Bureau; task of F. Ding, M. Hardt, "
        "J. Miller and L. Schmidt, Retiring Adult, NeurIPS 2021"
    ),
    columns=_COLUMNS,
    features=_QUANTITIES + tuple(_CATEGORIES),
    label="PUBCOV: public health insurance or not",
    labels=_LABELS,
    favourable="covered",
    client="`state`, 50 of them",
    group="`RAC1P`: white or not; or (grouping `race`) its nine codes merged to six groups; or "
    "(grouping `sex_race`) merged to four, crossed with `SEX`",
    groupings=_GROUPINGS,
    crossed={_CROSSED: ("sex", "race")},
    notion="eop",
    forms=(
        Form(
            files={_SAMPLE: "013804f4c879d45aed6746fd96bb20f2825dbec1b8bfff5ba0292ebdec5d6103"},
            rows=455_316,
            read=lambda folder: _read(_SAMPLE, folder),
            sample="a 40 % sample of the task, stratified by state",
        ),
        Form(
            files={_FULL: ""},
            rows=1_123_374,
            read=lambda folder: _read(_FULL, folder),
            sample="all rows of the 50 states",
        ),
    ),
    arrange=_arrange,
    noun="state",
    fetch=_fetch,
    where="get it with the folktables package (`pip install folktables`)",
)
