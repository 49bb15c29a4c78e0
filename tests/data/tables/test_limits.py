"""The largest tables that are taken, to the row and the byte; and what is looked at of a long one."""

import io
from dataclasses import replace
from types import SimpleNamespace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fairfl_core.data.tables import PAGE, SAMPLE_ROWS, SHELL, _check_sizes, open_csv, open_parquet
from fairfl_core.errors import InputError

TAKEN = {  # rows, columns, bytes of a Parquet table once unpacked, megabytes of a file
    "page": (PAGE, 10_000_000, 1_000, 1_500_000_000, 200),
    "shell": (SHELL, 1_000_000_000, 100_000, 60_000_000_000, 2_000),
}


def footer(rows, columns, unpacked):
    """What pyarrow reads of a footer; files of that size cannot be written in a test."""
    first = SimpleNamespace(total_uncompressed_size=unpacked)
    nothing = SimpleNamespace(total_uncompressed_size=0)
    group = SimpleNamespace(column=lambda place: nothing if place else first)
    return SimpleNamespace(
        num_rows=rows, num_columns=columns, num_row_groups=1, row_group=lambda _: group
    )


@pytest.mark.parametrize("where", list(TAKEN))
def test_one_more_than_the_most_is_refused_with_both_numbers(where):
    limits, rows, columns, unpacked, megabytes = TAKEN[where]
    assert limits.bytes == megabytes * 1_048_576
    _check_sizes("t.parquet", footer(rows, columns, unpacked), limits)
    for declared, says in (
        (footer(rows + 1, 1, 1), f"declares {rows + 1:,} rows; {rows:,} are taken at most"),
        (
            footer(1, 1, unpacked + 1),
            f"declares {unpacked + 1:,} bytes once unpacked; {unpacked:,} are taken at most",
        ),
        (footer(1, columns + 1, 1), f"{columns + 1:,} columns"),
    ):
        with pytest.raises(InputError) as caught:
            _check_sizes("t.parquet", declared, limits)
        assert says in str(caught.value)


def test_the_bytes_of_all_columns_and_row_groups_are_added_up():
    out = io.BytesIO()
    table = pa.table({"a": [str(i) for i in range(1000)], "b": list(range(1000))})
    pq.write_table(table, out, row_group_size=250, compression="zstd")
    read = pq.ParquetFile(io.BytesIO(out.getvalue())).metadata
    unpacked = sum(
        read.row_group(group).column(column).total_uncompressed_size
        for group in range(4)
        for column in range(2)
    )
    assert open_parquet("t.parquet", out.getvalue(), replace(PAGE, unpacked=unpacked)).columns
    with pytest.raises(InputError, match=f"declares {unpacked:,} bytes once unpacked"):
        open_parquet("t.parquet", out.getvalue(), replace(PAGE, unpacked=unpacked - 1))


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_of_a_long_file_the_first_rows_are_looked_at_whole(end):
    """Rows so long that fewer than a sample of them fit into what is read at first."""
    long = "x" * 9_000
    lines = [f"{place},{long},answer {place}" for place in range(700)]
    text = end.join(["id,text,said", *lines]) + end
    sample = open_csv("t.csv", text.encode(), PAGE).sample
    assert 400 < len(sample["id"]) < len(lines) < SAMPLE_ROWS
    assert sample["id"] == [str(place) for place in range(len(sample["id"]))]
    assert sample["said"] == [f"answer {place}" for place in range(len(sample["id"]))]


def test_of_a_file_with_many_rows_the_sample_is_the_first_thousand():
    text = "id,said\n" + "".join(f"{place},{place % 7}\n" for place in range(2500))
    sample = open_csv("t.csv", text.encode(), PAGE).sample
    assert sample["id"] == [str(place) for place in range(SAMPLE_ROWS)]


def test_a_header_of_too_many_columns_is_refused_before_any_is_read(monkeypatch):
    monkeypatch.setattr("pyarrow.csv.open_csv", None)
    for sign in (b",", b";", b"\t"):
        with pytest.raises(InputError, match="has 900,001 columns"):
            open_csv("t.csv", sign * 900_000 + b"\n", PAGE)
