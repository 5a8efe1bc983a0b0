"""Arrays, batches and streams: shapes are checked when they are made, slices cost nothing."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from arrow_oracle import from_pyarrow
from arrow_strategies import arrays
from by_hand import buffer, int8s, text
from hypothesis import given
from hypothesis import strategies as st

from colkern import schema as s
from colkern.arrays import UNKNOWN, Array, RecordBatch, RecordBatchStream
from colkern.errors import InvalidArrowError
from colkern.extensions.making import variable_shape_tensor
from colkern.layouts import Role
from colkern.memory import HOST, Buffer, Device
from colkern.operations import (
    hash_columns,
    list_element,
    make_struct,
    nulls,
    partition_indices,
    select_child,
    struct_field,
)
from colkern.operations import sum as sum_of

BYTE = buffer([0])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Array(s.null(), -1, []), "negative length -1"),
        (lambda: Array(s.null(), 1, [], offset=-1), "offset -1"),
        (lambda: Array(s.int8(), 1, [None, BYTE], null_count=2), "null count 2 of 1"),
        (lambda: Array(s.int8(), 1, [None, BYTE], null_count=-2), "null count -2"),
        (lambda: Array(s.int8(), 1, [None]), "1 buffers where the layout has 2"),
        (lambda: Array(s.int8(), 1, [None, BYTE, BYTE]), "3 buffers"),
        (lambda: Array(s.int8(), 2, [None, BYTE]), "data buffer has 1 bytes, 2 slots need 2"),
        (lambda: Array(s.int8(), 1, [None, BYTE], offset=1), "2 slots need 2"),
        (lambda: Array(s.int8(), 1, [None, None]), "0 bytes, 1 slots need 1"),
        (lambda: Array(s.bool_(), 9, [None, BYTE]), "9 slots need 2"),
        (lambda: Array(s.int8(), 9, [BYTE, buffer([0] * 9)]), "validity buffer has 1 bytes"),
        (lambda: Array(s.utf8(), 1, [None, buffer([0] * 4), BYTE]), "offsets buffer has 4"),
        (lambda: Array(s.list_(s.int8()), 0, [None, None]), "0 children for 1 fields"),
        (lambda: Array(s.int8(), 0, [None, None], [int8s([])]), "1 children for 0"),
        (lambda: Array(s.dictionary(s.int8(), s.int8()), 0, [None, None]), "no dictionary"),
        (lambda: Array(s.int8(), 0, [None, None], (), int8s([])), "a dictionary"),
        (
            lambda: Array(s.list_(s.utf8()), 0, [None, None], [int8s([])]),
            "child of int8 under item: string",
        ),
        (
            lambda: Array(s.dictionary(s.int8(), s.utf8()), 0, [None, None], (), int8s([])),
            "dictionary of int8",
        ),
    ],
)
def test_counts_and_sizes_are_checked_when_an_array_is_made(
    make: Callable[[], Array], message: str
) -> None:
    with pytest.raises(InvalidArrowError, match=message):
        make()


def test_only_view_layouts_take_more_buffers() -> None:
    views = Array(s.utf8_view(), 0, [None, None, BYTE, BYTE])
    assert views.data_buffers == (BYTE, BYTE)
    assert int8s([1]).data_buffers == ()


@given(arrays(), st.data())
def test_slices_are_pyarrows(array: pa.Array, data: st.DataObject) -> None:
    ours = from_pyarrow(array)
    start = data.draw(st.integers(0, len(array)))
    length = data.draw(st.none() | st.integers(0, len(array) + 2))
    assert ours.slice(start, length).to_pylist() == array.slice(start, length).to_pylist()
    assert ours[start:length].to_pylist() == array.to_pylist()[start:length]


def test_a_slice_shares_everything() -> None:
    array = text(b"abc", [0, 1, 2, 3])
    part = array.slice(1, 1)
    assert (part.offset, part.length) == (1, 1)
    assert part.buffers is array.buffers or part.buffers == array.buffers
    assert part.slice(0, 1).offset == 1


def test_slices_outside_are_refused() -> None:
    array = int8s([1, 2, 3])
    for start, length in [(-1, None), (4, None), (0, -1)]:
        with pytest.raises(IndexError):
            array.slice(start, length)
    assert array[5:].to_pylist() == []
    assert array[2:1].to_pylist() == []
    assert array[-2:].to_pylist() == [2, 3]


def test_single_values_are_found_from_both_ends() -> None:
    array = int8s([1, 2, 3], valid=0b101)
    assert [array[0], array[1], array[-1]] == [1, None, 3]
    for key in (3, -4):
        with pytest.raises(IndexError, match="of 3 values"):
            array[key]


def test_iteration_decodes_as_it_goes() -> None:
    array = from_pyarrow(pa.array(range(10_000)))
    assert list(itertools.islice(array, 3)) == [0, 1, 2]
    assert list(array) == list(range(10_000))


def test_null_counts_are_kept_where_a_slice_cannot_change_them() -> None:
    known = Array(s.int8(), 3, [buffer([0b101]), buffer([1, 2, 3])], null_count=1)
    assert known.slice(0).known_null_count == 1
    assert known.slice(1).known_null_count == UNKNOWN
    none = Array(s.int8(), 3, [None, buffer([1, 2, 3])], null_count=0)
    assert none.slice(1).known_null_count == 0
    assert known.slice(1).null_count == 1
    assert known.slice(2).null_count == 0


def test_items_are_those_of_the_own_slots() -> None:
    array = text(b"abc", [0, 1, 2, 3]).slice(1, 1)
    assert array.items(Role.OFFSETS).tolist() == [1, 2]
    empty = Array(s.utf8(), 0, [None, None, None])
    assert empty.items(Role.OFFSETS).tolist() == [0]
    assert int8s([1, 2, 3]).slice(2).items(Role.DATA).tolist() == [3]
    with pytest.raises(KeyError):
        array.items(Role.VIEWS)


def test_an_array_without_bytes_lives_on_the_host() -> None:
    assert Array(s.null(), 3, []).device == HOST
    assert Array(s.struct([("a", s.int8())]), 1, [None], [int8s([1])]).device == HOST
    elsewhere = Device("cuda")
    moved = Array(s.int8(), 1, [None, Buffer(np.ones(1, np.uint8), elsewhere)])
    both = s.struct([("without", s.null()), ("with", s.int8())])
    assert Array(both, 1, [None], [Array(s.null(), 1, []), moved]).device == elsewhere


def test_arrays_are_not_hashable() -> None:
    with pytest.raises(TypeError, match="unhashable"):
        hash(int8s([1]))


# Batches


def batch_of(**columns: Array) -> RecordBatch:
    return RecordBatch.from_arrays(list(columns.values()), list(columns))


def test_columns_fit_their_fields() -> None:
    schema = s.Schema({"a": s.int8(), "b": s.int8()})
    with pytest.raises(ValueError, match="1 arrays for 2 fields"):
        RecordBatch(schema, [int8s([1])])
    with pytest.raises(InvalidArrowError, match="b: 2 values in 1 rows"):
        RecordBatch(schema, [int8s([1]), int8s([1, 2])])
    with pytest.raises(InvalidArrowError, match="b: array of string"):
        RecordBatch(schema, [int8s([1]), text(b"a", [0, 1])])
    with pytest.raises(ValueError, match="2 names for 1"):
        RecordBatch.from_arrays([int8s([1])], ["a", "b"])


def lists_of(element: str) -> Array:
    field = s.field(element, s.int8())
    return Array(s.list_(field), 1, [None, buffer([0, 2], "<i4")], [int8s([1, 2])])


def test_the_names_of_list_elements_make_no_other_type_anywhere() -> None:
    """pyarrow writes `item`, Spark and Parquet `element`: their columns go together."""
    ours, theirs = lists_of("item"), lists_of("element")
    schema = s.Schema({"x": ours.type})
    assert RecordBatch(schema, [theirs]) == RecordBatch(schema, [ours])
    assert RecordBatch(schema, [theirs]) == batch_of(x=theirs)
    nested = Array(s.struct(schema.fields), 1, [None], [theirs])
    assert nested.to_pylist() == [{"x": [1, 2]}]
    assert pa.array(nested).type == pa.struct({"x": pa.list_(pa.int8())})


def test_a_batch_without_columns_has_rows() -> None:
    batch = RecordBatch(s.Schema([]), [], 5)
    assert (batch.num_rows, batch.num_columns, len(batch)) == (5, 0, 5)
    assert batch.to_pylist() == [{}] * 5
    with pytest.raises(ValueError, match="length: must not be negative"):
        RecordBatch(s.Schema([]), [], -5)


def test_batches_become_python_objects_by_row_and_by_column() -> None:
    batch = batch_of(a=int8s([1, 2], valid=0b10), b=text(b"xy", [0, 1, 2]))
    assert batch.to_pydict() == {"a": [None, 1 + 1], "b": ["x", "y"]}
    assert batch.to_pylist() == [{"a": None, "b": "x"}, {"a": 2, "b": "y"}]


class Loader:
    """Columns that are made when they are asked for, and a record of it."""

    def __init__(self, *columns: Array) -> None:
        self.columns = columns
        self.loaded: list[int] = []

    def __call__(self, position: int) -> Array:
        self.loaded.append(position)
        return self.columns[position]

    def batch(self, length: int) -> RecordBatch:
        schema = s.Schema([(f"c{i}", column.type) for i, column in enumerate(self.columns)])
        return RecordBatch.lazy(schema, length, self)


def test_a_lazy_column_is_made_once_when_it_is_asked_for() -> None:
    loader = Loader(int8s([1, 2]), int8s([3, 4]))
    batch = loader.batch(2)
    assert loader.loaded == []
    assert batch["c1"].to_pylist() == [3, 4]
    assert batch[1] is batch["c1"]
    assert loader.loaded == [1]


def test_threads_that_ask_for_one_column_make_it_once() -> None:
    """Twice would also count twice against the limit of what may be decompressed."""
    loader = Loader(int8s([1, 2]))
    together = threading.Barrier(4)

    def load(position: int) -> Array:
        time.sleep(0.02)
        return loader(position)

    batch = RecordBatch.lazy(s.Schema({"x": s.int8()}), 2, load)

    def ask(_: int) -> Array:
        together.wait(10)
        return batch.column(0)

    with ThreadPoolExecutor(4) as threads:
        columns = list(threads.map(ask, range(4)))
    assert loader.loaded == [0]
    assert all(column is columns[0] for column in columns)


def test_a_column_that_failed_may_be_asked_for_again() -> None:
    batch = RecordBatch.lazy(s.Schema({"x": s.utf8()}), 2, Loader(int8s([1, 2])))
    for _ in range(2):
        with pytest.raises(InvalidArrowError, match="array of int8"):
            batch.column(0)


def test_slices_and_selections_of_a_lazy_batch_stay_lazy() -> None:
    loader = Loader(int8s([1, 2, 3]), int8s([4, 5, 6]))
    part = loader.batch(3).slice(1, 5)
    chosen = part.select(["c1", 0])
    assert loader.loaded == []
    assert (part.num_rows, chosen.schema.names) == (2, ["c1", "c0"])
    assert chosen["c1"].to_pylist() == [5, 6]
    assert loader.loaded == [1]
    with pytest.raises(IndexError):
        part.slice(3)


def test_a_batch_is_sliced_as_an_array_is() -> None:
    loader = Loader(int8s([1, 2, 3]), int8s([4, 5, 6]))
    part = loader.batch(3)[-2:]
    assert loader.loaded == []
    assert columns_of(part) == [[2, 3], [5, 6]]
    assert columns_of(loader.batch(3)[::2]) == [[1, 3], [4, 6]]


def test_a_lazy_column_that_does_not_fit_is_refused_when_it_is_made() -> None:
    with pytest.raises(InvalidArrowError, match="c0: 2 values in 3 rows"):
        Loader(int8s([1, 2])).batch(3).column(0)


def test_a_stream_is_consumed_once() -> None:
    batches = [batch_of(a=int8s([i])) for i in range(3)]
    stream = RecordBatchStream(batches[0].schema, batches)
    assert next(stream) is batches[0]
    assert stream.read_all() == batches[1:]
    assert list(stream) == []


def columns_of(batch: RecordBatch) -> list[Any]:
    return [column.to_pylist() for column in batch.columns]


def test_slices_of_batches_are_slices_of_their_columns() -> None:
    values = np.arange(10, dtype="i1").tolist()
    batch = batch_of(a=int8s(values), b=int8s(values[::-1]))
    assert columns_of(batch.slice(2, 3)) == [[2, 3, 4], [7, 6, 5]]


# Positions, lengths and sizes


class Two:
    """An integer of a class of its own."""

    def __index__(self) -> int:
        return 2


NUMBERS = int8s([0, 1, 2, 3])
BATCH = RecordBatch.from_arrays([NUMBERS] * 3, list("abc"))
LISTS = from_pyarrow(pa.array([[1, 2, 3]] * 4))
UNION = nulls(4, s.dense_union([s.field(name, s.int8()) for name in "abc"]))

BY_INTEGER: dict[str, Callable[[Any], Any]] = {
    "offset of a slice": NUMBERS.slice,
    "length of a slice": lambda n: NUMBERS.slice(0, n),
    "key": lambda n: NUMBERS[n],
    "offset of a batch": BATCH.slice,
    "length of a batch": lambda n: BATCH.slice(0, n),
    "column": lambda n: BATCH[n],
    "select": lambda n: BATCH.select([n]),
    "field": BATCH.schema.field,
    "length of an array": lambda n: Array(s.null(), n, []),
    "offset of an array": lambda n: Array(s.int8(), 1, NUMBERS.buffers, offset=n),
    "null count": lambda n: Array(s.int8(), 2, [BYTE, buffer([0, 0])], null_count=n),
    "rows of a batch": lambda n: RecordBatch(s.Schema([]), [], n),
    "byte width": s.fixed_size_binary,
    "list size": lambda n: s.fixed_size_list(s.int8(), n),
    "precision": s.decimal128,
    "scale": lambda n: s.decimal128(9, n),
    "type code": lambda n: s.dense_union([s.field("a", s.int8())], [n]),
    "nulls": lambda n: nulls(n, s.int8()),
    "list element": lambda n: list_element(LISTS, n),
    "child of a union": lambda n: select_child(UNION, n),
    "field of a struct": lambda n: struct_field(make_struct(BATCH.columns, list("abc")), n),
    "partitions": lambda n: partition_indices(hash_columns([NUMBERS]), n),
    "seed": lambda n: hash_columns([NUMBERS], seed=n),
    "min_count": lambda n: sum_of(NUMBERS, min_count=n),
    "dimensions": lambda n: variable_shape_tensor(s.int8(), n),
}


@pytest.mark.parametrize("call", BY_INTEGER.values(), ids=BY_INTEGER)
def test_positions_and_lengths_are_integers(call: Callable[[Any], Any]) -> None:
    value: Any
    for value in (1.5, 1.0, np.float64(1), True, np.True_, b"1"):
        with pytest.raises(TypeError, match=r"\w+: expected (an integer|a position)"):
            call(value)
    expected = repr(call(2))
    for value in (np.int64(2), np.uint8(2), Two()):
        assert repr(call(value)) == expected


def test_a_length_given_as_text_is_refused() -> None:
    with pytest.raises(TypeError, match="length: expected an integer, got str '1'"):
        NUMBERS.slice(0, "1")  # type: ignore[arg-type]


def test_positions_of_a_narrow_class_do_not_wrap_around() -> None:
    zeros = nulls(500, s.int8())
    far: Any = np.uint8(200)
    part = zeros.slice(far).slice(far)
    assert (part.offset, part.length, type(part.offset)) == (400, 100, int)
    width: Any = np.int8(3)
    assert s.fixed_size_binary(width) == s.fixed_size_binary(3)


def test_keys_that_are_no_slice_of_integers_are_refused() -> None:
    key: Any
    for key in (slice(1.5), slice(0, "2"), None):
        with pytest.raises(TypeError, match=r"integer|a position"):
            NUMBERS[key]


@pytest.mark.parametrize("mask", [[True, False, True], np.array([True, False, True])])
def test_a_mask_is_a_key(mask: Any) -> None:
    array = int8s([1, 2, 3])
    batch = RecordBatch.from_arrays([array], ["a"])
    assert array[mask].to_pylist() == [1, 3]
    assert batch[mask].to_pydict() == {"a": [1, 3]}
    assert array[array[0:2]].to_pylist() == [2, 3]
    first: Any = np.int8(0)
    assert batch[first] is array


@pytest.mark.parametrize("key", [1.5, None, "a", {0}])
def test_what_is_no_key_is_named(key: Any) -> None:
    with pytest.raises(TypeError, match=r"^key: expected a position, a slice, a mask or positions"):
        int8s([1, 2, 3])[key]


def test_the_columns_of_a_batch_in_turn() -> None:
    columns = [int8s([1, 2]), int8s([3, 4])]
    assert list(RecordBatch.from_arrays(columns, ["a", "b"])) == columns


@pytest.mark.parametrize(
    "key", [slice(None, None, 2), slice(None, None, -1), slice(3, 0, -2), slice(9, None, -3)]
)
def test_a_slice_has_any_step(key: slice) -> None:
    values = [1, 2, 3, 4, 5]
    assert int8s(values)[key].to_pylist() == values[key]
