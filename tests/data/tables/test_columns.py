"""Columns of any kind of table, as codes and as numbers."""

import importlib.util
import math

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairfl_core.data.columns import as_numbers, code_names, decimal_points, to_arrow
from fairfl_core.data.counts import ClientCounts
from fairfl_core.data.scored import ScoredData
from fairfl_core.errors import InputError

ROWS = {
    "site": ["b", "a", "b", "a", "a"],
    "sex": ["f", "m", "m", "f", "m"],
    "label": [1, 0, 1, 0, 1],
    "said": [1.0, 0.0, 0.0, 1.0, 1.0],
    "no": ["0.25", " .5", "0.75", "4e-1", "+0.125"],
    "yes": [0.75, 0.5, 0.25, 0.6, 0.875],
}
TEXT = ("site", "sex", "no")


def arrow(kind):
    table = pa.table(ROWS)
    for name in TEXT:
        table = table.set_column(table.column_names.index(name), name, table[name].cast(kind))
    return table


def polars():
    if importlib.util.find_spec("polars") is None:
        pytest.skip("polars is not installed; its type of text is tried through Arrow")
    import polars

    return polars.DataFrame(ROWS)


TABLES = {
    "lists": lambda: ROWS,
    "arrays": lambda: {name: np.array(column) for name, column in ROWS.items()},
    "pandas": lambda: pd.DataFrame(ROWS),
    "pandas objects": lambda: pd.DataFrame(ROWS, dtype=object),
    "pandas categories": lambda: pd.DataFrame(ROWS).astype(dict.fromkeys(TEXT, "category")),
    "pandas with another index": lambda: pd.DataFrame(ROWS, index=[9, 9, 7, 1, 0]),
    "Arrow": lambda: arrow(pa.string()),
    "Arrow in chunks": lambda: pa.concat_tables([arrow(pa.string())[:2], arrow(pa.string())[2:]]),
    "Arrow large text": lambda: arrow(pa.large_string()),
    "Arrow views, as polars has them": lambda: arrow(pa.string_view()),
    "Arrow dictionaries": lambda: arrow(pa.dictionary(pa.int8(), pa.string())),
    "polars": polars,
}


@pytest.mark.parametrize("make", TABLES.values(), ids=TABLES)
def test_rows_of_any_library_are_the_same_people(make):
    rows, names = make(), {"client": "site", "group": "sex", "label": "label"}
    by_answer = ClientCounts.from_table(rows, **names, prediction="said")
    assert (by_answer.clients, by_answer.groups, by_answer.labels) == (
        ("a", "b"),
        ("f", "m"),
        ("0", "1"),
    )
    expected = np.zeros((2, 2, 2, 2), int)
    for site, sex, label, said, *_ in zip(*ROWS.values(), strict=True):
        expected["ab".index(site), "fm".index(sex), label, int(said)] += 1
    np.testing.assert_array_equal(by_answer.table, expected)
    people = ScoredData.from_table(rows, **names, scores=["no", "yes"], labels=["0", "1"])
    np.testing.assert_allclose(people.scores[:, 0], [0.25, 0.5, 0.75, 0.4, 0.125], atol=1e-15)
    assert people.predicted.tolist() == [1, 0, 0, 1, 1]


names = st.one_of(st.none(), st.sampled_from(["a", "b", " ", "", "1", "1.0", "A"]), st.text("xy"))


@given(st.lists(names, max_size=20))
def test_codes_lead_back_to_the_names(values):
    if not values:
        return
    present = [value is not None and bool(value.strip()) for value in values]
    if not all(present):
        row = present.index(False) + 1
        with pytest.raises(InputError, match=f'column "h", data row {row} is empty'):
            code_names(values, "h")
        return
    coded = code_names(values, "h")
    back = [coded.names[code] for code in coded.codes]
    assert back == ["1" if value == "1.0" else value for value in values]
    assert len(set(coded.names)) == len(coded.names) == len(set(back))


def test_a_column_of_several_kinds_is_text():
    coded = code_names(np.array([1, "a", 1.0, "1"], dtype=object), "h")
    assert coded.names == ("1", "a") and coded.codes.tolist() == [0, 1, 0, 0]
    for wrong in ([[1], [2]], [1, [2]], [{"a": 1}], np.array([1, {2}], dtype=object)):
        with pytest.raises(InputError, match='"h" holds lists or objects'):
            code_names(wrong, "h")


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0.5", 0.5),
        (" 5. ", 5.0),
        (".5", 0.5),
        ("+1e3", 1000.0),
        ("-2", -2.0),
        *((text, math.nan) for text in ("", "x", "1e999", "inf", "nan", "1,5", "1_0", "--1")),
    ],
)
def test_text_is_a_number_or_none(text, number):
    for kind in (pa.string(), pa.large_string(), pa.dictionary(pa.int8(), pa.string())):
        column = to_arrow(pa.array([text, None], pa.string()).cast(kind), "h")
        np.testing.assert_array_equal(as_numbers(column), [number, math.nan])


@given(st.floats(allow_nan=False, allow_infinity=False, width=32))
def test_a_number_is_read_as_it_was_written(number):
    texts = pa.array([repr(number), repr(number).replace(".", ",")])
    assert as_numbers(decimal_points(texts)).tolist() == [number, number]


def test_only_numbers_lose_their_decimal_comma():
    texts = ["1,2,3", "a,b", "1,", ",", "1.000,5", "x"]
    assert decimal_points(pa.array(texts)).to_pylist() == texts


def test_dates_are_no_numbers():
    assert np.isnan(as_numbers(to_arrow(pd.to_datetime(["2020-01-01"]), "h"))).all()
