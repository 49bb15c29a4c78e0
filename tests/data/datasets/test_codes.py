"""Every code that the Census and the clinic write is known, each in its place, and no other is."""

import numpy as np
import pandas as pd
import pytest

from fairfl_core.data import datasets
from fairfl_core.data.datasets import Raw
from fairfl_core.errors import InputError

# As the Census's own list of the survey has them; 0 is written for "not applicable".
CENSUS = {
    "SCHL": range(25),
    "MAR": range(1, 6),
    "SEX": (1, 2),
    "DIS": (1, 2),
    "ESP": range(9),
    "CIT": range(1, 6),
    "MIG": range(4),
    "MIL": range(5),
    "ANC": (1, 2, 3, 4, 8),
    "NATIVITY": (1, 2),
    "DEAR": (1, 2),
    "DEYE": (1, 2),
    "DREM": (0, 1, 2),
    "ESR": range(7),
    "FER": (0, 1, 2),
}


def census(rows=25):
    """People who have all codes between them, one after the other."""
    table = {
        name: [codes[row % len(codes)] for row in range(rows)] for name, codes in CENSUS.items()
    }
    table |= {"AGEP": [40.0] * rows, "PINCP": [1000.0] * rows, "RAC1P": [1] * rows}
    return pd.DataFrame(table | {"PUBCOV": ([0, 1] * 12 + [1])[:rows], "state": ["TX"] * rows})


def test_every_code_of_the_census_has_its_column():
    people = datasets.declaration("public_coverage").arrange(Raw(census()), "white")
    assert people.scaled == 2 and people.inputs[:, :2].tolist() == [[40.0, 1000.0]] * 25
    first = 2
    for codes in CENSUS.values():
        part = people.inputs[:, first : first + len(codes)]
        assert part.argmax(axis=1).tolist() == [row % len(codes) for row in range(25)]
        first += len(codes)
    assert people.inputs.shape == (25, first) and (people.inputs[:, 2:].sum(axis=1) == 15).all()
    assert people.label.tolist() == [0, 1] * 12 + [1]


@pytest.mark.parametrize("name", CENSUS)
def test_another_code_is_refused_by_name(name):
    arrange = datasets.declaration("public_coverage").arrange
    codes = CENSUS[name]
    for code in {*range(codes[0] - 1, codes[-1] + 2)} - {*codes}:
        table = census(2)
        table.loc[1, name] = code
        with pytest.raises(InputError, match=f"^column {name}, row 2"):
            arrange(Raw(table), "white")


def test_the_clinics_ages_and_diagnoses_have_their_bands_and_labels():
    ages = np.arange(0.0, 90.0, 5.0)
    kinds = ("akiec", "bcc", "mel", "bkl", "df", "nv", "vasc")
    table = pd.DataFrame(
        {
            "lesion_id": [f"HAM_{row}" for row in range(len(ages))],
            "dx": [kinds[row % len(kinds)] for row in range(len(ages))],
            "sex": ["female", "male"] * 9,
            "age": ages,
        }
    )
    pictures = np.zeros((len(ages), 28, 28, 3), np.uint8)
    people = datasets.declaration("ham10000").arrange(Raw(table, pictures), "sex")
    bands = [people.clients[code] for code in people.client]
    assert [bands.count(band) for band in people.clients] == [7, 2, 2, 2, 5]
    assert bands == sorted(bands, key=people.clients.index)
    assert people.label.tolist()[:7] == [0, 0, 0, 1, 1, 2, 3]
    assert people.labels[0] == "cancer or pre-cancer" and len(people.labels) == 4
