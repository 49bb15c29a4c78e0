"""Numbers and names as text, plain values, and files that are refused, as they were approved; see `helpers/approved.py`."""

import io
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from fairfl_core._io import names, numbers
from fairfl_core._io.columns import as_numbers, code_names, decimal_points
from fairfl_core._io.json_files import check_keys, nested_numbers, parse_json, read_json
from fairfl_core._io.plain import from_plain, to_plain
from fairfl_core._io.table_file import check_header
from fairfl_core._io.tables import open_table, open_table_at, read_columns, read_rows, write_table
from fairfl_core._io.whole import read_whole, write_whole
from fairfl_core.evaluation.summary import ClientRow, Figures
from tests.helpers.approved import check, declared, refusal, tell

APPROVED = Path(__file__).with_name("as_computed")
VALUES = (
    0.0,
    0.00049,
    0.0094,
    0.0095,
    0.0123456,
    0.499,
    0.5,
    0.9999,
    1.0,
    1234567.891,
    float("nan"),
)


def test_numbers_as_text_are_what_was_approved():
    shown = {}
    for name in (
        "percent",
        "gap",
        "debiased",
        "count",
        "epsilon",
        "hundred",
        "points",
        "signed_points",
    ):
        some = [one for one in VALUES if one == one or name in ("percent", "gap", "debiased")]
        shown[name] = [getattr(numbers, name)(one) for one in some]
        shown[f"{name}, below"] = [getattr(numbers, name)(-one) for one in some if one < 2]
    shown["gaps"] = numbers.gaps(0.01, float("nan"))
    shown["digits"] = numbers.signed_points(0.0123, 3)
    shown["listed"] = [names.listed([f"n{k}" for k in range(n)]) for n in (1, 8, 9, 20)]
    shown["shown"] = [names.shown("x" * n) for n in (59, 60, 61)] + [names.shown(" a\n\u202eb ")]
    shown["in order"] = [names.in_order(["10", "9", "-1"]), names.in_order(["10", "9", "b"])]
    shown["names"] = [names.as_name(one) for one in (1.0, "1.0", "1.50", 2, "x", np.float32(3))]
    shown["positions"] = names.positions(["b", "z"], ["a", "b"])
    check(APPROVED / "numbers.txt", tell(**shown))


def test_columns_are_what_was_approved():
    coded = code_names(["b", "a", "c", "b"], "x")
    shown = tell(
        coded=vars(coded),
        among=coded.among(("c", "a", "b")),
        numbers=as_numbers(pa.array(["1", " .5", "4e-1", "+2"])),
        words=as_numbers(pa.array(["1", "x"])),
        refused=refusal(lambda: code_names(["a", None], "x")),
        points=decimal_points(pa.array(["1,5", "2"])),
    )
    check(APPROVED / "columns.txt", shown)


def figures():
    row = ClientRow("a", 3.0, 0.5, 0.6, 0.1, 0.05, 0.0, 0.2, float("nan"), 0.3, 0.05, 0.1, 0.7)
    return Figures(10.0, *np.linspace(0.1, 0.9, 12).tolist(), row)


def test_plain_values_are_what_was_approved():
    plain = to_plain(figures())
    again = from_plain(Figures, plain)
    shown = tell(
        plain=plain,
        again=to_plain(again),
        refused=[
            refusal(lambda: from_plain(Figures, plain | {"more": 1})),
            refusal(lambda: from_plain(Figures, {})),
            refusal(lambda: from_plain(Figures, 3)),
            refusal(lambda: from_plain(ClientRow, plain["worst"] | {"client": 3})),
        ],
    )
    check(APPROVED / "plain.txt", shown)


def test_files_are_refused_as_was_approved(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    buffer = io.BytesIO()
    table = pa.table({"a": [1, 2], "b": ["x", None], "l": [[1], [2]]})
    pq.write_table(table, buffer)
    parquet = buffer.getvalue()
    write_table("out.csv", table.select(["a", "b"]), ";")
    write_table("out.parquet", table)
    files = {
        "no.csv": None,
        "empty.csv": b"",
        "a.parquet": b"a,b\n1,2\n",
        "cut.parquet": parquet[:-20],
        "whole.parquet": parquet,
        "bars.csv": b"a|b\n1|2\n",
        "quotes.csv": b'a,b\n"1,5",2\n"',
        "names.csv": b",\n1,2\n",
        "bom.csv": b"\xef\xbb\xbfa,b\n1,2\n",
        "ragged.csv": b"a,b\n1,2\n3\n",
        "rows.csv": b"a,b\n",
        "lines.csv": b'"a",b\n"x\ny",2\n',
    }
    shown = {"written": Path("out.csv").read_text()}
    for name, data in files.items():
        if data is not None:
            Path(name).write_bytes(data)
        shown[name] = refusal(lambda name=name: open_table_at(name))
        shown[f"{name}, rows"] = refusal(
            lambda name=name: read_rows(open_table_at(name), ["a"], ["b"])
        )
        shown[f"{name}, list"] = refusal(lambda name=name: read_rows(open_table_at(name), ["l"]))
        shown[f"{name}, page"] = refusal(lambda name=name: open_table(name, files[name] or b""))
    opened = open_table_at("whole.parquet")
    shown["opened"] = [opened.header, opened.columns, opened.delimiter, opened.sample]
    shown["columns"] = [part.to_pylist() for part in read_columns(opened, ["b"], ["a"])[0].columns]
    for most in (1, 2):
        few = replace(opened, limits=replace(opened.limits, rows=most))
        shown[f"{most} rows at most"] = refusal(lambda few=few: read_columns(few, ["a"]))
    shown["lines"] = read_rows(open_table_at("lines.csv"), ["a"]).num_rows
    two = replace(opened.limits, columns=2)
    shown["columns at most"] = [
        refusal(lambda header=header: check_header("x", header, two)) for header in ("ab", "abc")
    ]
    shown["skipped"] = read_columns(open_table_at("ragged.csv"), ["a"])[1]
    for text in ("[1", "{}x", '{"a": Infinity}'):
        shown[f"json {text[:20]}"] = refusal(lambda text=text: parse_json(text.encode(), "x"))
    axes = (("row", ["p", "q"]), ("column", ["u"]))
    for value in ([[1], [2]], [[1]], [[1], ["x"]], [[1], [True]], [[1], [2**60]], 3):
        shown[f"nested {value}"] = refusal(lambda value=value: nested_numbers(value, axes, "here"))
    shown["keys"] = [
        refusal(lambda: check_keys({"a": 1}, {"b"}, set(), "this")),
        refusal(lambda: check_keys({}, {"b"}, set(), "this")),
        refusal(lambda: check_keys({}, {"b"}, {"b"}, "this")),
    ]
    Path("folder").mkdir()
    for where in ("folder", "nowhere/x.txt", "/dev/null", "out.csv/x"):
        shown[f"written to {where}"] = refusal(lambda where=where: write_whole(where, "x"))
        shown[f"read from {where}"] = refusal(lambda where=where: read_whole(f"{where}/y"))
    shown["too large"] = refusal(lambda: read_whole("out.csv", 3, "cut it"))
    shown["no file"] = refusal(lambda: read_json("nothing.json"))
    shown["a folder"] = refusal(lambda: read_json(tmp_path)).replace(str(tmp_path), "FOLDER")
    for some in ((), ("a", "a"), ("a", " "), ("a", "\u2800")):
        shown[f"names {some}"] = refusal(lambda some=some: names.check_names(some, "groups"))
    for name in ("x" * 201, "a\u0007b", "\u200b"):
        shown[f"readable {name[:3]!r}"] = refusal(
            lambda name=name: names.check_readable([name], "sex")
        )
    check(APPROVED / "files.txt", tell(**shown))


def test_what_the_room_declares_is_what_was_approved():
    """Constants, and what is taken unless told."""
    check(APPROVED / "declared.txt", declared("_io"))
