"""Rows that are the same get the same number, in the order of their first rows."""

from __future__ import annotations

import math
import re
from typing import Any

import pyarrow as pa
import pytest
from arrow_oracle import from_pyarrow
from arrow_strategies import arrays
from hypothesis import example, given
from hypothesis import strategies as st
from operations.samples import ints, sample, samples

from colkern.arrays import Array
from colkern.cpu.threads import set_num_threads
from colkern.errors import UnsupportedError
from colkern.operations import dictionaries, dictionary_encode
from colkern.operations.grouping import key_groups


def look_of(value: Any) -> str:
    """The look of a row, in which both zeros look alike."""
    return re.sub(r"-(0\.0)\b(?!\d|e)", r"\1", repr(value))


def expected_groups(rows: list[Any]) -> tuple[list[int], list[int]]:
    """Numbers and first rows, by a dict of what the rows look like."""
    firsts: dict[str, int] = {}
    for row, value in enumerate(rows):
        firsts.setdefault(look_of(value), row)
    places = {seen: number for number, seen in enumerate(firsts)}
    return [places[look_of(value)] for value in rows], list(firsts.values())


def check(columns: list[Array]) -> None:
    result = key_groups(columns)
    rows = list(zip(*[column.to_pylist() for column in columns], strict=True))
    assert (result.numbers.tolist(), result.firsts.tolist()) == expected_groups(rows)
    for column in columns:
        values = column.to_pylist()
        expected = [values[first] for first in result.firsts.tolist()]
        assert list(map(repr, result.keys(column).to_pylist())) == list(map(repr, expected))


@pytest.mark.parametrize("name", [name for name in samples() if "union" not in name])
def test_every_layout(name: str) -> None:
    whole = sample(name)
    for array in (whole, whole.slice(3, whole.length - 4), whole.slice(0, 0)):
        check([array])


@pytest.mark.parametrize(
    "type_",
    [
        pa.float16(),
        pa.list_(pa.float64()),
        pa.list_view(pa.float32()),
        pa.list_(pa.float64(), 1),
        pa.struct({"x": pa.list_(pa.float64())}),
        pa.map_(pa.int8(), pa.float64()),
    ],
    ids=str,
)
def test_equal_floats_are_one_value_wherever_they_are(type_: pa.DataType) -> None:
    def whole(value: float | None) -> Any:
        if pa.types.is_floating(type_):
            return value
        if pa.types.is_struct(type_):
            return {"x": [value]}
        return [(0, value)] if pa.types.is_map(type_) else [value]

    values = list(map(whole, [0.0, math.nan, -0.0, None, -math.nan, 1.5, -0.0]))
    result = key_groups([from_pyarrow(pa.array(values, type_))])
    assert result.numbers.tolist() == [0, 1, 0, 2, 1, 3, 0]


def without_unions() -> st.SearchStrategy[pa.Array]:
    return arrays().filter(lambda array: "union" not in str(array.type))


def null_index_and_index_of_an_encoded_null(encoded: pa.Array) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array([None, 0], pa.int8()), encoded)


@given(without_unions())
@example(
    null_index_and_index_of_an_encoded_null(
        pa.RunEndEncodedArray.from_arrays(pa.array([1, 2], pa.int16()), pa.nulls(2))
    )
)
@example(
    null_index_and_index_of_an_encoded_null(
        pa.RunEndEncodedArray.from_arrays(pa.array([1, 2], pa.int16()), pa.array([None, "x"]))
    )
)
@example(
    null_index_and_index_of_an_encoded_null(
        pa.DictionaryArray.from_arrays(pa.array([1, 0], pa.int8()), pa.array(["x", None]))
    )
)
def test_equal_values_are_one_group(array: pa.Array) -> None:
    check([from_pyarrow(array)])


@given(st.lists(st.tuples(*[st.sampled_from([None, "a", "b", "c"])] * 3), max_size=80))
def test_groups_of_several_columns_are_those_of_tuples(rows: list[Any]) -> None:
    columns = [from_pyarrow(pa.array([row[k] for row in rows], pa.utf8())) for k in range(3)]
    check([columns[0], dictionary_encode(columns[1]), columns[2]])


def test_null_indices_and_indices_of_null_are_one_group_and_values_may_repeat() -> None:
    indices = pa.array([0, 1, None, 2, 3, 1], pa.int8())
    twice = pa.DictionaryArray.from_arrays(indices, pa.array(["x", None, "x", "y"]))
    actual = key_groups([from_pyarrow(twice)])
    assert actual.numbers.tolist() == [0, 1, 1, 0, 2, 1]


def test_what_stands_under_a_null_is_not_looked_at() -> None:
    offsets = pa.py_buffer(pa.array([0, 2, 3, 3], pa.int32()).buffers()[1])
    hidden = pa.ListArray.from_buffers(
        pa.list_(pa.int64()), 3, [pa.py_buffer(b"\x02"), offsets], children=[pa.array([1, 2, 3])]
    )
    assert key_groups([from_pyarrow(hidden)]).numbers.tolist() == [0, 1, 0]


def test_unions_are_refused() -> None:
    union = pa.UnionArray.from_sparse(pa.array([0], pa.int8()), [pa.array([1])])
    with pytest.raises(UnsupportedError, match="union"):
        key_groups([from_pyarrow(union)])


def test_one_group_beside_another_column() -> None:
    check([ints([1, 1, 1]), ints([1, None, 1])])
    check([ints([1, None, 1]), ints([1, 1, 1])])


@pytest.mark.parametrize("distinct", [5, 500])
def test_threads_number_ranges_by_tables_of_their_own(
    distinct: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dictionaries, "_RANGE", 100)
    values = [None if k % 11 == 0 else str(k * k % distinct) for k in range(999)]
    set_num_threads(3)
    try:
        check([from_pyarrow(pa.array(values))])
        check([from_pyarrow(pa.array([None if v is None else int(v) * 9999 for v in values]))])
    finally:
        set_num_threads(0)
