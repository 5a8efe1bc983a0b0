"""Comparison: what plays a part and what does not, and the place where a difference shows."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from arrow_oracle import batch_from_pyarrow, from_pyarrow
from arrow_strategies import arrays
from hypothesis import given
from hypothesis import strategies as st

import colkern as ck
from colkern import schema as s
from colkern.arrays import Array, RecordBatch
from colkern.errors import DifferenceError
from colkern.integration.comparison import (
    array_difference,
    require_equal_batches,
    require_equal_schemas,
)
from colkern.operations import trim


def difference(a: pa.Array, b: pa.Array) -> Any:
    return array_difference(from_pyarrow(a), from_pyarrow(b))


# What differs, with its place

POINT = pa.struct([("x", pa.int64()), ("y", pa.list_(pa.utf8()))])

DIFFERENT = {
    "value": (pa.array([1, 2]), pa.array([1, 3]), 1, (), "2", "3"),
    "null": (pa.array([1, 2]), pa.array([1, None]), 1, (), "2", "no value"),
    "bool": (pa.array([True, None]), pa.array([False, None]), 0, (), "True", "False"),
    "float": (pa.array([0.5]), pa.array([0.25]), 0, (), "0.5", "0.25"),
    "text": (pa.array(["a", "bc"]), pa.array(["a", "bd"]), 1, (), "'bc'", "'bd'"),
    "shorter text": (pa.array(["", "bc"]), pa.array(["", "b"]), 1, (), "'bc'", "'b'"),
    "view": (
        pa.array(["a", "x" * 20], pa.string_view()),
        pa.array(["a", "x" * 19 + "y"], pa.string_view()),
        1,
        (),
        repr("x" * 20),
        repr("x" * 19 + "y"),
    ),
    "decimal": (
        pa.array([1, 2], pa.decimal128(10)),
        pa.array([1, 2**40 % 10**9], pa.decimal128(10)),
        1,
        (),
        "2",
        str(2**40 % 10**9),
    ),
    "list size": (pa.array([[1], [2, 3]]), pa.array([[1], [2]]), 1, (), "[2, 3]", "[2]"),
    "list element": (pa.array([[1], [], [2, 3]]), pa.array([[1], [], [2, 4]]), 2, "item", "3", "4"),
    "below structs": (
        pa.array([None, {"x": 1, "y": ["p", "q"]}], POINT),
        pa.array([None, {"x": 1, "y": ["p", "r"]}], POINT),
        1,
        ("y", "item"),
        "'q'",
        "'r'",
    ),
    "map item": (
        pa.array([[(1, 2)]], pa.map_(pa.int8(), pa.int8())),
        pa.array([[(1, 3)]], pa.map_(pa.int8(), pa.int8())),
        0,
        ("entries", "value"),
        "2",
        "3",
    ),
    "dictionary": (
        pa.array(["a", "b"]).dictionary_encode(),
        pa.array(["a", "c"]).dictionary_encode(),
        1,
        ("dictionary",),
        "'b'",
        "'c'",
    ),
    "type id": (
        pa.UnionArray.from_sparse(pa.array([0], pa.int8()), [pa.array([1]), pa.array([1])]),
        pa.UnionArray.from_sparse(pa.array([1], pa.int8()), [pa.array([1]), pa.array([1])]),
        0,
        (),
        "type id 0",
        "1",
    ),
    "run": (
        pa.RunEndEncodedArray.from_arrays(pa.array([2, 4], pa.int32()), pa.array([1, 2])),
        pa.RunEndEncodedArray.from_arrays(pa.array([3, 4], pa.int32()), pa.array([1, 2])),
        2,
        ("values",),
        "2",
        "1",
    ),
}


@pytest.mark.parametrize("case", DIFFERENT)
def test_a_difference_says_the_row_the_path_and_both_values(case: str) -> None:
    a, b, row, path, a_text, b_text = DIFFERENT[case]
    path = (path,) if isinstance(path, str) else path
    assert difference(a, b) == (row, path, a_text, b_text)


def test_messages_say_the_column_the_row_and_which_side_is_which() -> None:
    a, b = (
        batch_from_pyarrow(pa.record_batch({"n": [1, 2], "s": [[1], [x]]}).slice(1)) for x in (3, 4)
    )
    with pytest.raises(DifferenceError, match=r"^column 's.item', row 0: 3 in ours, 4 in theirs$"):
        require_equal_batches(a, b, "ours", "theirs")
    with pytest.raises(DifferenceError, match=r"^1 rows in ours, 0 in theirs$"):
        require_equal_batches(a, a.slice(1), "ours", "theirs")


# What does not

ROWS = [[1, 2], None, []]


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (np.array([float("nan")]), np.array([struct.unpack("<d", b"\1" * 6 + b"\xf8\x7f")[0]])),
        (np.array([0.0]), np.array([-0.0])),
    ],
    ids=["NaN", "zero"],
)
def test_floats_are_equal_by_value(a: Any, b: Any) -> None:
    assert array_difference(ck.array(a), ck.array(b)) is None


def test_what_stands_under_a_null_plays_no_part() -> None:
    valid, mask = pa.array([[1], [2]]), pa.array([False, True])
    other = pa.ListArray.from_arrays(pa.array([0, 1, 2]), pa.array([1, 9]), mask=mask)
    ours = pa.ListArray.from_arrays(valid.offsets, valid.values, mask=mask)
    assert difference(ours, other) is None


def test_offsets_and_runs_and_dictionaries_play_no_part() -> None:
    text = pa.array(["a", "b", "a", None, "c"])
    encoded = text.dictionary_encode()
    other = pa.DictionaryArray.from_arrays(
        pa.array([2, 1, 2, None, 0], pa.int32()), pa.array(["c", "b", "a"])
    )
    assert difference(encoded, other) is None
    assert difference(text.slice(2), pa.array(["a", None, "c"])) is None
    one = pa.RunEndEncodedArray.from_arrays(pa.array([3], pa.int32()), pa.array([7]))
    many = pa.RunEndEncodedArray.from_arrays(pa.array([1, 2, 3], pa.int32()), pa.array([7, 7, 7]))
    assert difference(one, many) is None


def test_nulls_by_type_take_no_time() -> None:
    a, b = (Array(s.null(), 2**60, []) for _ in range(2))
    assert array_difference(a, b) is None


@given(arrays(), st.data())
def test_equal_where_pyarrow_says_so_and_different_where_not(array: pa.Array, data: Any) -> None:
    ours = from_pyarrow(array)
    assert array_difference(ours, trim(ours)) is None
    if len(array) > 1:
        shift = data.draw(st.integers(1, len(array) - 1))
        a, b = array.slice(shift), array.slice(0, len(array) - shift)
        actual = difference(a, b)
        values = list(zip(ours.to_pylist()[shift:], ours.to_pylist(), strict=False))
        if actual is None:
            assert all(x == y or (x != x and y != y) for x, y in values)
        else:
            x, y = values[actual.row]
            # Equal values may be of different members of a union, or nulls at different depths.
            assert x != y or "type id" in actual.a or "no value" in (actual.a, actual.b)


# Schemas


def schemas(a: Any, b: Any) -> None:
    require_equal_schemas(a, b, "ours", "theirs")


INT = s.field("n", s.int8())


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        ([("n", s.int8())], [("m", s.int8())], r": \['n'\] in ours, \['m'\] in theirs"),
        ([("n", s.int8())], [], r": \['n'\] in ours, \[\] in theirs"),
        ([("n", s.int8())], [("n", s.uint8())], "field n: int8 in ours, uint8 in theirs"),
        (
            [INT],
            [s.field("n", s.int8(), nullable=False)],
            "field n: nullable in ours, not nullable in theirs",
        ),
        (
            [INT],
            [INT.with_metadata({b"k": b"v"})],
            r"field n: metadata \{\} in ours, \{b'k': b'v'\} in theirs",
        ),
        (
            [("l", s.list_(INT))],
            [("l", s.list_(INT.with_metadata({b"k": b"v"})))],
            r"field l.n: metadata \{\}",
        ),
        (
            [("d", s.dictionary(s.int8(), s.list_(INT)))],
            [("d", s.dictionary(s.int8(), s.list_(s.field("n", s.int16()))))],
            "field d.n: int8 in ours, int16 in theirs",
        ),
        (
            [("d", s.dictionary(s.int8(), s.utf8()))],
            [("d", s.dictionary(s.int16(), s.utf8()))],
            "field d: dictionary<",
        ),
        (
            [("e", s.extension("x", s.int8(), b"1"))],
            [("e", s.extension("x", s.int8(), b"2"))],
            "field e: extension<",
        ),
        (
            [("s", s.struct([("a", s.int8())]))],
            [("s", s.struct([("b", s.int8())]))],
            "field s: struct<a: int8> in ours, struct<b: int8> in theirs",
        ),
    ],
)
def test_schemas_differ_at_the_deepest_field(a: Any, b: Any, message: str) -> None:
    schemas(s.Schema(a), s.Schema(a))
    with pytest.raises(DifferenceError, match=f"^schema.*{message}"):
        schemas(s.Schema(a), s.Schema(b))


def test_metadata_of_the_schema_is_compared_without_its_order() -> None:
    one, other = {b"a": b"1", b"b": b"2"}, {b"b": b"2", b"a": b"1"}
    schemas(s.Schema([INT], one), s.Schema([INT], other))
    schemas(s.Schema([INT], {}), s.Schema([INT], None))
    with pytest.raises(DifferenceError, match=r"^schema: metadata"):
        schemas(s.Schema([INT], one), s.Schema([INT]))


def test_names_that_mean_nothing_are_not_compared() -> None:
    item = s.field("element", s.int8())
    a = [("l", s.list_(s.int8())), ("m", s.map_(s.utf8(), s.int8()))]
    key = s.field("some_key", s.utf8(), nullable=False)
    b = [("l", s.list_(item)), ("m", s.map_(key, s.field("some_value", s.int8())))]
    schemas(s.Schema(a), s.Schema(b))


def test_a_batch_without_columns_has_rows() -> None:
    a, b = (RecordBatch(s.Schema([]), [], length) for length in (2, 3))
    with pytest.raises(DifferenceError, match="2 rows in ours, 3 in theirs"):
        require_equal_batches(a, b, "ours", "theirs")
