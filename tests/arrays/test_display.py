"""`repr`s: type, counts, both ends; bounded, and never an exception."""

from __future__ import annotations

from typing import Any, ClassVar

import pyarrow as pa
import pytest
from arrow_oracle import batch_from_pyarrow, from_pyarrow
from arrow_strategies import arrays
from by_hand import buffer, int8s, text, with_one_random_buffer
from hypothesis import given
from hypothesis import strategies as st

from colkern import schema as s
from colkern.arrays import Array, RecordBatch
from colkern.arrays.display import CELL_WIDTH, LINE
from colkern.builders import array, record_batch
from colkern.memory import Buffer, Device


def test_a_short_array_shows_type_counts_and_values() -> None:
    assert repr(array([1, None, 3])) == "<colkern.Array int64: 3 values, 1 null>\n[1, null, 3]"


def test_an_unknown_null_count_is_not_counted_and_not_shown() -> None:
    unknown = Array(s.int8(), 1, [buffer([0]), buffer([7])])
    assert repr(unknown) == "<colkern.Array int8: 1 value>\n[null]"


@pytest.mark.parametrize(
    ("values", "type_", "shown"),
    [
        (["é", "it's"], s.utf8(), "['é', \"it's\"]"),
        ([b"\xff"], s.binary(), r"[b'\xff']"),
        ([1.5, float("nan")], s.float32(), "[1.5, nan]"),
        ([0], s.date32(), "[1970-01-01]"),
        ([0], s.timestamp("s", "UTC"), "[1970-01-01 00:00:00+00:00]"),
        ([1], s.timestamp("ns"), "[1970-01-01T00:00:00.000000001]"),
        ([[1, None], None], s.list_(s.int8()), "[[1, null], null]"),
        ([{"a": 1}], s.struct({"a": s.int8()}), "[{'a': 1}]"),
        ([{"k": 1}], s.map_(s.utf8(), s.int8()), "[[('k', 1)]]"),
        (["a", "a"], s.dictionary(s.int8(), s.utf8()), "['a', 'a']"),
        (
            [(1, 2, 3)],
            s.month_day_nano_interval(),
            "[MonthDayNano(months=1, days=2, nanoseconds=3)]",
        ),
    ],
    ids=str,
)
def test_values_read_as_python_shows_them(values: list[Any], type_: s.DataType, shown: str) -> None:
    assert repr(array(values, type_)).splitlines()[1] == shown


def test_a_long_array_shows_both_ends() -> None:
    shown = repr(array(range(1_000)))
    assert "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, …, 990, 991," in shown
    assert shown.endswith("999]")


def test_long_values_are_cut() -> None:
    shown = repr(array(["x" * 1_000, "😀" * 1_000, "y"]))
    assert shown.count("…") == 2
    assert max(map(len, shown.splitlines())) <= LINE


def test_long_lists_and_wide_structs_are_cut() -> None:
    assert repr(array([list(range(100))])).endswith("\n[[0, 1, 2, 3, 4, 5, …]]")
    wide = {f"f{i}": i for i in range(100)}
    assert repr(array([wide])).endswith("'f5': 5, …}]")


def test_a_repr_does_not_decode_what_it_does_not_show() -> None:
    """The list has 2**62 elements: whoever decoded them would not come back."""
    child = Array(s.null(), 2**62, [])
    huge = Array(s.large_list(s.null()), 1, [None, buffer([0, 2**62], "<i8")], [child])
    assert repr(huge).endswith("\n[[null, null, null, null, null, null, …]]")
    assert repr(child).count("null,") < 30


def test_deep_nesting_does_not_multiply() -> None:
    tower = int8s([1] * 9)
    for _ in range(12):
        buffers = [None, buffer([0] * 9, "<i4"), buffer([9] * 9, "<i4")]
        tower = Array(s.list_view(tower.type), 9, buffers, [tower])
    assert len(repr(tower)) < 10_000


def test_bad_bytes_show_their_error() -> None:
    shown = repr(text(b"\xff", [0, 1]))
    assert shown == (
        "<colkern.Array string: 1 value>\n"
        "<InvalidArrowError: slot 0: not UTF-8: invalid start byte at byte 0 of the value>"
    )


class DeviceBytes:
    """Bytes that nobody on the host may look at."""

    size = 16
    __cuda_array_interface__: ClassVar = {"data": (4096, True)}

    def __getitem__(self, key: object) -> Any:
        raise AssertionError("device memory was read")


def test_an_array_on_a_device_shows_where_it_is() -> None:
    there: Any = DeviceBytes()
    remote = Array(s.int64(), 1, [None, Buffer(there, Device("cuda", 1))])
    assert repr(remote) == "<colkern.Array int64: 1 value on cuda:1>"
    batch = RecordBatch.from_arrays([remote], ["a"])
    assert repr(batch).splitlines()[-1] == "<on cuda:1>"


def test_a_column_on_a_device_shows_where_it_is_once() -> None:
    there: Any = DeviceBytes()
    remote = Array(s.int64(), 2, [None, Buffer(there, Device("cuda", 1))])
    batch = RecordBatch.from_arrays([remote, *record_batch({"b": [5, 6]}).columns], ["a", "b"])
    assert repr(batch).splitlines()[1:] == [
        "a            b",
        "int64        int64",
        "───────────  ─────",
        "<on cuda:1>  5",
        "             6",
    ]


def test_a_batch_is_a_table() -> None:
    batch = record_batch({"id": [1, None], "name": ["x", "long name"]})
    assert repr(batch).splitlines() == [
        "<colkern.RecordBatch: 2 rows, 2 columns>",
        "id     name",
        "int64  string",
        "─────  ───────────",
        "1      'x'",
        "null   'long name'",
    ]


def test_a_long_and_wide_batch_is_cut_both_ways() -> None:
    batch = record_batch({f"column {i}": ["x" * 100] * 1_000 for i in range(40)})
    lines = repr(batch).splitlines()
    assert len(lines) == 1 + 3 + 5 + 1 + 5
    assert max(map(len, lines)) <= LINE + CELL_WIDTH
    assert lines[1].endswith("…")


def test_only_columns_that_are_shown_are_loaded() -> None:
    loaded = []

    def load(position: int) -> Array:
        loaded.append(position)
        return int8s([1])

    schema = s.Schema([(f"c{i}", s.int8()) for i in range(1_000)])
    repr(RecordBatch.lazy(schema, 1, load))
    assert len(loaded) <= 10


def test_a_column_that_cannot_be_loaded_shows_why() -> None:
    def load(position: int) -> Array:
        raise OSError("the disk is gone")

    batch = RecordBatch.lazy(s.Schema({"a": s.int8()}), 1, load)
    assert repr(batch).splitlines()[-1] == "<OSError: the disk is gone>"


def test_batches_without_rows_or_columns() -> None:
    assert repr(record_batch({})) == "<colkern.RecordBatch: 0 rows, 0 columns>"
    assert len(repr(record_batch({"a": []})).splitlines()) == 4


def test_names_that_would_break_the_table_are_quoted() -> None:
    assert "'a\\nb'" in repr(record_batch({"a\nb": [1]}))


@given(arrays(), st.data())
def test_a_repr_never_raises(original: pa.Array, data: st.DataObject) -> None:
    broken = with_one_random_buffer(from_pyarrow(original), data)
    assert repr(broken).startswith("<colkern.Array ")
    assert repr(RecordBatch.from_arrays([broken], ["a"])).startswith("<colkern.RecordBatch")


def test_batches_of_pyarrow_print() -> None:
    batch = batch_from_pyarrow(pa.record_batch({"a": pa.array(["x"], pa.string_view())}))
    assert repr(batch).endswith("'x'")


def test_fields_and_schemas_print_as_they_read() -> None:
    field = s.field("a", s.int64(), nullable=False)
    assert repr(field) == "<colkern.Field a: int64 not null>"
    schema = s.Schema([field, ("b", s.utf8())])
    assert repr(schema) == "<colkern.Schema: 2 fields>\na: int64 not null\nb: string"
