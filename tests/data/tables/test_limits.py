"""The largest tables that are taken, to the row and the byte; and what is looked at of a long one."""

import io
from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fairfl_core.data.tables import PAGE, SAMPLE_ROWS, open_csv, open_parquet, read_columns
from fairfl_core.errors import InputError


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
    monkeypatch.setattr("pyarrow.csv.read_csv", None)
    for sign in (b",", b";", b"\t"):
        with pytest.raises(InputError, match="has 900,001 columns"):
            open_csv("t.csv", sign * 900_000 + b"\n", PAGE)


def test_blanks_around_a_columns_name_are_no_part_of_it():
    """A header written "a, b" names the columns a and b, as a person would."""
    file = open_csv("t.csv", b'id, said ,"prob ill" \n1,2,3\n', PAGE)
    assert file.header == ("id", "said", "prob ill")
    table, _ = read_columns(file, ["said"], ["prob ill"])
    assert table.column("prob ill").to_pylist() == [3.0]
