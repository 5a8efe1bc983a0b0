"""Results of declared type are checked before they leave a worker: types, values, nulls, names."""

from __future__ import annotations

import datetime
import re
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import colkern as ck
from colkern.spark.functions.results import as_column, conformed, conformed_batch
from colkern.spark.types import VARIANT


def strict(data_type: ck.DataType) -> ck.Field:
    return ck.field("x", data_type, nullable=False)


def test_what_has_the_declared_type_is_not_copied() -> None:
    column = ck.array([1.0, None])
    assert conformed("f", column, ck.field("x", ck.float64())).buffers[1] is column.buffers[1]


@pytest.mark.parametrize(
    ("values", "given", "declared"),
    [
        ([1, None], ck.uint8(), ck.int64()),
        (["a", None], ck.dictionary(ck.int8(), ck.utf8()), ck.utf8()),
        ([b"a"], ck.large_binary(), ck.binary()),
        ([[1], None], ck.large_list(ck.int32()), ck.list_(ck.field("element", ck.int32(), False))),
        ([{"a": 1}], ck.struct({"a": ck.int64()}), ck.struct({"a": ck.int8()})),
    ],
    ids=str,
)
def test_values_become_those_of_the_declared_type(
    values: list[Any], given: ck.DataType, declared: ck.DataType
) -> None:
    result = conformed("f", ck.array(values, given), ck.field("x", declared))
    assert result.type == declared
    assert result.to_pylist() == values


def failure(function: Any, *arguments: Any, **options: Any) -> str:
    """The message and the notes of what a call raises, as they stand in Spark's error."""
    with pytest.raises((ValueError, TypeError, NotImplementedError)) as raised:
        function(*arguments, **options)
    return "\n".join([str(raised.value), *getattr(raised.value, "__notes__", ())])


@pytest.mark.parametrize(
    ("column", "field", "said"),
    [
        (ck.array([1, 300, 2]), ck.field("x", ck.int8()), r"f: a result is no int8: .*\nf: row 1"),
        (ck.array([0.5]), ck.field("x", ck.int64()), r"f: a result is no int64: .*\nf: row 0"),
        (ck.array(["a"]), ck.field("x", ck.int64()), "f: a result: no cast from string to int64"),
        (ck.array([1, None]), strict(ck.int64()), r"null, but declared as never null\nf: row 1"),
        (
            ck.array([[1], [2, None]]),
            ck.field("x", ck.list_(ck.field("element", ck.int64(), False))),
            r"'element' is null, but declared as never null\nf: row 1",
        ),
    ],
    ids=str,
)
def test_a_value_that_does_not_fit_is_named_with_its_row(
    column: ck.Array, field: ck.Field, said: str
) -> None:
    assert re.search(said, failure(conformed, "f", column, field))


def test_a_time_is_within_a_day() -> None:
    times = ck.array([0, 86_400_000_000_000])
    column = ck.Array(ck.time64("ns"), 2, times.buffers, null_count=0)
    said = failure(conformed, "f", column, ck.field("x", ck.time64("ns")), first=40)
    assert "86400000000000" in said
    assert said.endswith("f: row 41")


def test_a_null_struct_may_have_nulls_in_fields_that_never_are() -> None:
    kind = ck.struct([ck.field("a", ck.int64(), nullable=False)])
    column = ck.array([{"a": 1}, None], ck.struct({"a": ck.int64()}))
    assert conformed("f", column, ck.field("x", kind)).to_pylist() == [{"a": 1}, None]


def test_variants_are_marked_as_such() -> None:
    plain = ck.array([{"value": b"\x0c\x01", "metadata": b"\x01\x00\x00"}])
    result = pa.array(conformed("f", plain, ck.field("x", VARIANT)))
    assert result.type.field("metadata").metadata == {b"variant": b"true"}


def test_offsets_outside_of_their_memory_do_not_leave_the_worker() -> None:
    column = ck.Array(
        ck.utf8(),
        1,
        [None, ck.array([0, 100], ck.int32()).buffers[1], ck.Buffer(np.zeros(4, "u1"))],
    )
    with pytest.raises(ck.InvalidArrowError):
        conformed("f", column, ck.field("x", ck.utf8()))


SCHEMA = ck.Schema([ck.field("a", ck.int32()), ck.field("b", ck.utf8(), nullable=False)])


@pytest.mark.parametrize(
    "actual",
    [
        {"b": ["x", "y"], "a": np.array([1, 2], np.int32)},
        ck.record_batch({"a": ck.array([1, 2], ck.int32()), "b": ck.array(["x", "y"])}),
        pa.record_batch({"b": pa.array(["x", "y"]), "a": pa.array([1, 2])}),
    ],
    ids=["mapping", "colkern", "pyarrow"],
)
def test_batches_and_mappings_become_the_declared_batch(actual: Any) -> None:
    batch = conformed_batch("f", actual, SCHEMA)
    assert batch.schema.equals(pa.schema([("a", pa.int32()), pa.field("b", pa.string(), False)]))
    assert batch.to_pydict() == {"a": [1, 2], "b": ["x", "y"]}


@pytest.mark.parametrize(
    ("actual", "said"),
    [
        ({"a": [1]}, "f: result 3 has no column 'b'"),
        ({"a": [1], "b": ["x"], "c": [1]}, "a column 'c' that was not declared"),
        ({"a": [1, 2], "b": ["x"]}, "column 'b' of result 3 has 1 values, 'a' has 2"),
        ({"a": [1], "b": [None]}, "column 'b'.*null"),
        ({"a": ["x"], "b": ["x"]}, r"f: a: values\[0\]"),
        ({"a": 1, "b": ["x"]}, "f: a: expected a column, got int"),
        ([1], "expected a record batch or columns by name, got list"),
    ],
)
def test_other_batches_are_refused(actual: Any, said: str) -> None:
    assert re.search(said, failure(conformed_batch, "f", actual, SCHEMA, batch=3))


def test_a_batch_without_columns_keeps_its_rows() -> None:
    empty = ck.RecordBatch(ck.Schema([]), [], 3)
    assert conformed_batch("f", empty, ck.Schema([])).num_rows == 3


def test_python_values_are_made_into_the_declared_type() -> None:
    day = datetime.date(2024, 2, 29)
    assert as_column("f", [day, None], ck.date32()).to_pylist() == [day, None]
