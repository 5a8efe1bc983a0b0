"""`colkern head FILE`: the first rows as tables that fit, and as JSON with nothing rounded."""

from __future__ import annotations

import datetime as dt
import io
import re
import subprocess
import sys
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import pyarrow as pa
import pytest

import colkern as ck
from colkern.arrays.extension_values import OffsetTimestamp
from colkern.extensions.canonical import CANONICAL
from colkern.schema import Extension

Run = Callable[..., tuple[int, str, str]]
Documents = Callable[..., list[Any]]
Write = Callable[..., Path]

TABLE = pa.table({"id": [1, 2, 3], "name": ["a", None, "[red]c"]})


def test_the_first_rows(write: Write, run: Run) -> None:
    path = write("t.arrow", TABLE, rows=2)
    _, out, _ = run("head", "-n", 2, path)
    assert "name" in out
    assert "null" in out
    assert "[red]c" not in out
    assert "[red]c" in run("head", path)[1]


def test_rows_come_from_several_batches(write: Write, documents: Documents) -> None:
    path = write("t.arrows", pa.table({"a": range(10)}), rows=3)
    for rows in (1, 3, 4, 10, 99):
        read = documents("head", "--json", "-n", rows, path)
        assert read == [{"a": i} for i in range(min(rows, 10))]


def test_columns_are_chosen_and_ordered(write: Write, run: Run, documents: Documents) -> None:
    path = write("t.arrow", TABLE)
    (first, *_) = documents("head", "--json", "--columns", "name,id", path)
    assert list(first.items()) == [("name", "a"), ("id", 1)]
    _, out, _ = run("head", "--columns", "name", path)
    assert "int64" not in out
    assert run("head", "--columns", "id,nix", path) == (
        2,
        "",
        "colkern: --columns: no columns named 'nix'\n",
    )


def test_columns_of_one_name(write: Write, run: Run) -> None:
    path = write("t.arrow", pa.Table.from_arrays([pa.array([1]), pa.array([2])], ["a", "a"]))
    assert run("head", "--json", path)[::2] == (
        2,
        "colkern: --json: 2 columns named 'a'; choose others by --columns\n",
    )
    assert run("head", "--columns", "a", path)[2] == "colkern: --columns: 2 columns named 'a'\n"
    assert run("head", path)[1].count("int64") == 2


def test_no_rows(write: Write, run: Run) -> None:
    path = write("t.arrow", TABLE.slice(0, 0))
    assert run("head", path) == (0, "no rows\n", "")
    assert run("head", "--json", path) == (0, "", "")


def test_a_row_costs_what_is_shown_of_it(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file of some hundred bytes may hold a list of sixteen million nulls."""
    path = tmp_path / "table.arrow"
    many = pa.ListArray.from_arrays(pa.array([0, 2**24], pa.int32()), pa.nulls(2**24))
    table = pa.table({"list": many, "cut": ["x" * 1000], "whole": ["y" * 60]})
    with pa.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table)
    assert path.stat().st_size < 4096
    # So wide that the table has no reason to cut anything.
    monkeypatch.setenv("COLUMNS", "300")
    status, shown, _ = run("head", path)
    assert status == 0
    assert (shown.count("null"), shown.count("…")) == (1 + 6, 2)
    assert (shown.count("x"), shown.count("y")) == (59, 60)


@pytest.mark.parametrize("width", [80, 50])
def test_a_wide_table_is_cut_with_a_note(
    width: int, write: Write, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    path = write("t.arrow", pa.table({f"column_{i}": [i] for i in range(10_000)}))
    status, out, _ = run("head", path)
    assert status == 0
    lines = out.splitlines()
    assert max(map(len, lines[:-1])) <= width
    shown = len(re.findall(r"column_", out))
    assert lines[-1].startswith(f"… {10_000 - shown:,} more columns: ")


def test_all_columns_come_in_tables_that_fit(
    write: Write, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    path = write("t.arrow", pa.table({f"column_{i}": ["value " * 9] for i in range(30)}))
    _, out, _ = run("head", "--all", path)
    assert max(map(len, out.splitlines())) <= 80
    assert [int(n) for n in re.findall(r"column_(\d+)", out)] == list(range(30))


def test_columns_that_are_not_shown_are_not_read(write: Write, run: Run) -> None:
    path = write(
        "t.arrow",
        pa.table({"id": [1], "text": ["good"]}),
        options=pa.ipc.IpcWriteOptions(compression="zstd"),
    )
    data = bytearray(path.read_bytes())
    place = data.index(b"good")
    # The offsets in front of the text now lead out of it.
    data[place - 64 : place] = b"\xff" * 64
    path.write_bytes(data)
    assert run("head", "--columns", "id", path)[0] == 0
    assert run("head", path)[0] == 1


def test_every_value_in_json_as_it_is(write: Write, documents: Documents) -> None:
    moment = dt.datetime(2024, 2, 29, 1, 2, 3, 4)
    columns = {
        "big": pa.array([2**63 - 1]),
        "float": pa.array([0.1]),
        "nan": pa.array([float("nan")]),
        "infinite": pa.array([float("-inf")]),
        "bytes": pa.array([b"\x00\xff"]),
        "decimal": pa.array([Decimal("1.50")], pa.decimal128(38, 2)),
        "thousands": pa.array([Decimal("1E+3")], pa.decimal128(5, -3)),
        "date": pa.array([moment.date()]),
        "time": pa.array([moment.time()], pa.time64("us")),
        "nanotime": pa.array([3_600_000_000_001], pa.time64("ns")),
        "timestamp": pa.array([moment], pa.timestamp("us")),
        "zoned": pa.array([moment], pa.timestamp("us", "+01:00")),
        "nanos": pa.array([1], pa.timestamp("ns")),
        "duration": pa.array([-1500], pa.duration("ms")),
        "long": pa.array([2**62], pa.duration("s")),
        "interval": pa.array([pa.MonthDayNano([1, 2, 3])]),
        "list": pa.array([[1.5, float("nan"), None]]),
        "map": pa.array([[("k", b"v")]], pa.map_(pa.string(), pa.binary())),
        "struct": pa.array([{"a": b"x", "b": None}]),
        "bool": pa.array([True]),
        "null": pa.nulls(1),
        "text": pa.array(["ü\x1b\x9b"]),
    }
    assert documents("head", "--json", write("t.arrow", pa.table(columns))) == [
        {
            "big": 2**63 - 1,
            "float": 0.1,
            "nan": "NaN",
            "infinite": "-Infinity",
            "bytes": "00ff",
            "decimal": "1.50",
            "thousands": "1000",
            "date": "2024-02-29",
            "time": "01:02:03.000004",
            "nanotime": "3600.000000001s",
            "timestamp": "2024-02-29T01:02:03.000004",
            "zoned": "2024-02-29T02:02:03.000004+01:00",
            "nanos": "1970-01-01T00:00:00.000000001",
            "duration": "-1.5s",
            "long": f"{2**62}s",
            "interval": {"months": 1, "days": 2, "nanoseconds": 3},
            "list": [1.5, "NaN", None],
            "map": [["k", "76"]],
            "struct": {"a": "78", "b": None},
            "bool": True,
            "null": None,
            "text": "ü\x1b\x9b",
        }
    ]


def test_json_is_ascii(write: Write, run: Run) -> None:
    """Neither the encoding of the output nor a terminal can change what it says."""
    _, out, _ = run("head", "--json", write("t.arrow", pa.table({"ü": ["\x9b"]})))
    assert out == '{"\\u00fc": "\\u009b"}\n'


# Extension types

EXTENSIONS: dict[str, tuple[ck.Array, Any, str]] = {
    "uuid": (
        ck.array([UUID(int=1)], ck.uuid()),
        "00000000-0000-0000-0000-000000000001",
        "00000000-0000-0000-0000-000000000001",
    ),
    "bool8": (ck.array([True], ck.bool8()), True, "True"),
    "json": (ck.array(["{}"], ck.json_()), "{}", "{}"),
    "opaque": (ck.array([7], ck.opaque(ck.int32(), "t", "v")), 7, "7"),
    "variant": (
        ck.array([{"metadata": b"\1", "value": b"\0"}], ck.variant()),
        {"metadata": "01", "value": "00"},
        r"{'metadata': b'\x01', 'value': b'\x00'}",
    ),
    "fixed_shape_tensor": (
        ck.array([[1, None, 3, 4]], ck.fixed_shape_tensor(ck.int8(), [2, 2])),
        [[1, None], [3, 4]],
        "[[1, null], [3, 4]]",
    ),
    "variable_shape_tensor": (
        ck.array([np.array([[1.5, np.nan]])], ck.variable_shape_tensor(ck.float32(), 2)),
        [[1.5, "NaN"]],
        "[[1.5, nan]]",
    ),
    "timestamp_with_offset": (
        ck.array([OffsetTimestamp(np.datetime64(1, "ns"), -90)], ck.timestamp_with_offset("ns")),
        "1969-12-31T22:30:00.000000001-01:30",
        "1969-12-31T22:30:00.000000001-01:30",
    ),
}


def test_every_canonical_extension_type_has_a_case() -> None:
    types = [array.type for array, *_ in EXTENSIONS.values()]
    names = [type_.extension_name for type_ in types if isinstance(type_, Extension)]
    assert (len(names), set(names)) == (len(types), set(CANONICAL))


@pytest.mark.parametrize("name", EXTENSIONS)
def test_extension_values_in_json_and_in_a_table(
    name: str, tmp_path: Path, run: Run, documents: Documents, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    array, expected, cell = EXTENSIONS[name]
    path = tmp_path / "t.arrow"
    ck.ipc.write_file(path, ck.record_batch({"x": array}))
    assert documents("head", "--json", path) == [{"x": expected}]
    status, out, _ = run("head", path)
    assert status == 0
    assert f"│ {cell} " in out


@pytest.mark.parametrize(
    ("stamp", "minutes", "text"),
    [
        (np.datetime64(-(2**63) + 1, "ns"), -60, "1677-09-20T23:12:43.145224193-01:00"),
        (np.datetime64(0, "s"), 60, "1970-01-01T01:00:00+01:00"),
        (np.datetime64(10**15, "ms"), 780, "33658-09-27T14:46:40.000+13:00"),
        (
            dt.datetime(9999, 12, 31, 23, 59, tzinfo=dt.UTC),
            1,
            "10000-01-01T00:00:00.000000+00:01",
        ),
        (np.datetime64("NaT"), 1, "NaT"),
    ],
)
def test_offset_timestamps_as_rfc_3339(stamp: Any, minutes: int, text: str) -> None:
    assert str(OffsetTimestamp(stamp, minutes)) == text


# Time zones


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (lambda a: a, "1970-01-01T00:00:00.000000001Z"),
        (lambda a: pa.array([a.to_pylist()], pa.list_(a.type)), ["1970-01-01T00:00:00.000000001Z"]),
        (
            lambda a: pa.StructArray.from_arrays([a], ["s"]),
            {"s": "1970-01-01T00:00:00.000000001Z"},
        ),
        (
            lambda a: pa.StructArray.from_arrays([a, a], ["s", "s"]),
            [["s", "1970-01-01T00:00:00.000000001Z"]] * 2,
        ),
        (
            lambda a: pa.MapArray.from_arrays(pa.array([0, 1], pa.int32()), a, a),
            [["1970-01-01T00:00:00.000000001Z"] * 2],
        ),
        (lambda a: a.dictionary_encode(), "1970-01-01T00:00:00.000000001Z"),
        (
            lambda a: pa.RunEndEncodedArray.from_arrays(pa.array([1], pa.int32()), a),
            "1970-01-01T00:00:00.000000001Z",
        ),
        (
            lambda a: pa.UnionArray.from_sparse(pa.array([0], pa.int8()), [a, pa.array([1])]),
            "1970-01-01T00:00:00.000000001Z",
        ),
        (
            lambda a: pa.UnionArray.from_sparse(
                pa.array([0], pa.int8()), [a, pa.array([1], pa.timestamp("ns"))]
            ),
            "1970-01-01T00:00:00.000000001",
        ),
        (
            lambda a: pa.FixedShapeTensorArray.from_storage(
                pa.fixed_shape_tensor(a.type, [1, 1]), pa.FixedSizeListArray.from_arrays(a, 1)
            ),
            [["1970-01-01T00:00:00.000000001Z"]],
        ),
    ],
)
def test_instants_that_datetime_cannot_hold_say_that_they_are_in_utc(
    build: Callable[[Any], Any],
    expected: Any,
    write: Write,
    run: Run,
    documents: Documents,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "150")
    stamps = pa.array([1], pa.timestamp("ns", "Europe/Berlin"))
    path = write("t.arrow", pa.table({"x": build(stamps)}))
    assert documents("head", "--json", path) == [{"x": expected}]
    assert ("000000001Z" in run("head", path)[1]) == ("000000001Z" in str(expected))


def test_far_years_and_not_a_time(write: Write, documents: Documents) -> None:
    columns = {
        "far": pa.array([10**14], pa.timestamp("s", "UTC")),
        "nat": pa.array([-(2**63)], pa.timestamp("ns", "UTC")),
        "naive": pa.array([10**14], pa.timestamp("s")),
        "soon": pa.array([0], pa.timestamp("s", "UTC")),
    }
    assert documents("head", "--json", write("t.arrow", pa.table(columns))) == [
        {
            "far": "3170843-11-07T09:46:40Z",
            "nat": "NaT",
            "naive": "3170843-11-07T09:46:40",
            "soon": "1970-01-01T00:00:00+00:00",
        }
    ]


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_rows_are_shown_before_the_last_ones_have_come(options: list[str]) -> None:
    """Of a pipe that stays open, so that `-n` may be any number."""
    batches = [pa.record_batch({"id": range(k, k + 2_500)}) for k in (0, 2_500)]
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, batches[0].schema) as writer:
        writer.write_batch(batches[0])
        first = sink.getvalue()
        writer.write_batch(batches[1])
    command = [sys.executable, "-m", "colkern", "head", "-n", "5000", *options, "-"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as head:
        assert head.stdin is not None
        assert head.stdout is not None
        head.stdin.write(first)
        head.stdin.flush()
        shown = b""
        while b"1999" not in shown:
            line = head.stdout.readline()
            assert line
            shown += line
        head.stdin.write(sink.getvalue()[len(first) :])
        head.stdin.close()
        shown += head.stdout.read()
    assert [int(n) for n in re.findall(rb"\d+", shown.replace(b"int64", b""))] == list(range(5_000))


def test_small_batches_stand_in_one_table(write: Write, run: Run) -> None:
    path = write("t.arrow", pa.table({"id": range(50)}), rows=3)
    assert run("head", "-n", 40, path)[1].count("int64") == 1
