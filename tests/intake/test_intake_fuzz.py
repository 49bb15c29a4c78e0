"""The reader is fed thousands of files: it reads them or says why not, and never falls over.

By default a few hundred, so that the tests stay quick; `FAIRFL_FUZZ=10000` feeds that many in all.
"""

import io
import os

import pandas as pd
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fairfl_core.errors import InputError
from fairfl_core.intake import (
    ColumnRoles,
    example_table,
    experiment_from_table,
    guess_roles,
    guess_scores,
    labels_of,
    open_table,
)

FILES = int(os.environ.get("FAIRFL_FUZZ", "600"))
KINDS = 5
FUZZ = settings(
    max_examples=-(-FILES // KINDS),
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
SIGNS = "ab01-'\"\r\x1f\u202e\u2028\ufeff "
WORDS = ["A ", "1.0", "", "NA", "nan", "inf", "1e400", "=x", "<b>", '""', "test", "validation"]
CELL = st.one_of(st.sampled_from([*SIGNS, *WORDS, "x" * 300]), st.text(max_size=8))
HEADERS = (
    *("client", "group", "label", "prediction", "score_0", "score_1"),
    *("split", "fold", "id", "other"),
)


def feed(name, data):
    """Everything the page does with a file; only a sentence may stop it."""
    try:
        upload = open_table(name, data)
        columns = guess_roles(upload)
        experiment_from_table(upload, columns)
    except InputError as error:
        assert "\n" not in str(error) and len(str(error)) < 2000
        return
    try:
        pairs = guess_scores(labels_of(upload, columns.label), upload.columns)
        experiment_from_table(
            upload, ColumnRoles(columns.client, columns.group, columns.label, "", pairs), join=True
        )
    except InputError:
        pass


@st.composite
def tables(draw):
    """Rows under headers that are mostly right, of cells that are mostly not."""
    header = draw(st.lists(st.one_of(st.sampled_from(HEADERS), CELL), min_size=1, max_size=8))
    row = st.lists(CELL, min_size=max(len(header) - 1, 0), max_size=len(header) + 1)
    return [header, *draw(st.lists(row, max_size=25))]


@FUZZ
@given(st.binary(max_size=400), st.sampled_from(["f.csv", "f.parquet"]))
def test_any_bytes(data, name):
    feed(name, data)


@FUZZ
@given(
    tables(),
    st.sampled_from(",;\t|"),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.sampled_from(["utf-8", "utf-8-sig", "latin-1", "utf-16"]),
)
def test_any_cells(rows, delimiter, end, encoding):
    text = end.join(delimiter.join(row) for row in rows)
    feed("f.csv", text.encode(encoding, "replace"))


EXAMPLE = example_table().encode()[:6000]


def parquet(frame):
    out = io.BytesIO()
    frame.to_parquet(out, index=False)
    return out.getvalue()


PARQUET = parquet(pd.read_csv(io.BytesIO(EXAMPLE), on_bad_lines="skip"))
CHANGES = st.lists(
    st.tuples(st.floats(0, 1), st.integers(0, 3), st.binary(max_size=6)), max_size=6
)


def changed(data, changes):
    """Overwrite, insert, cut and repeat at some places."""
    for where, how, with_ in changes:
        at = int(where * len(data))
        data = (
            data[:at] + with_ + data[at + len(with_) :],
            data[:at] + with_ + data[at:],
            data[:at] + data[at + 40 :],
            data[:at] + data[max(at - 40, 0) :],
        )[how]
    return data


@FUZZ
@given(CHANGES)
def test_a_table_gone_wrong(changes):
    feed("f.csv", changed(EXAMPLE, changes))


@FUZZ
@given(CHANGES)
def test_a_parquet_file_gone_wrong(changes):
    feed("f.parquet", changed(PARQUET, changes))


@FUZZ
@given(tables())
def test_any_cells_as_parquet(rows):
    width = min((len(row) for row in rows), default=0)
    header = list(dict.fromkeys(rows[0][:width]))
    columns = {name: [row[place] for row in rows[1:]] for place, name in enumerate(header)}
    feed("f.parquet", parquet(pd.DataFrame(columns, dtype=str)))
