"""Lists of plain Python values go to Spark by a shorter way: as by the general one, or not at all."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import colkern as ck
from colkern.spark.functions.results import PlainResults, Results, conformed_batch

SCHEMA = ck.Schema(
    [
        ck.field("flag", ck.bool_()),
        ck.field("n", ck.int32()),
        ck.field("m", ck.int64(), nullable=False),
        ck.field("x", ck.float64()),
        ck.field("t", ck.utf8()),
        ck.field("b", ck.binary()),
    ]
)


def maybe(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | values


ROWS = st.lists(
    st.tuples(
        maybe(st.booleans()),
        maybe(st.integers(-(2**31), 2**31 - 1) | st.integers(0, 9).map(np.int32)),
        st.integers(-(2**63), 2**63 - 1) | st.integers(0, 9).map(np.int64),
        maybe(st.floats() | st.floats().map(np.float64)),
        maybe(st.text()),
        maybe(st.binary()),
    ),
    max_size=5,
)


@given(ROWS)
def test_they_are_those_of_the_general_way(rows: list[tuple[Any, ...]]) -> None:
    result = {name: [row[place] for row in rows] for place, name in enumerate(SCHEMA.names)}
    actual = PlainResults(SCHEMA).batch(result)
    expected = conformed_batch("f", result, SCHEMA)
    assert actual is not None
    assert actual.schema.equals(expected.schema, check_metadata=True)
    assert str(actual.to_pylist()) == str(expected.to_pylist())


OTHERS: list[tuple[Any, ck.DataType]] = [
    ([1.5], ck.int64()),
    ([1], ck.float64()),
    ([True], ck.int64()),
    ([1], ck.bool_()),
    (["1"], ck.int64()),
    ([b"a"], ck.utf8()),
    (["a"], ck.binary()),
    ([np.float32(1)], ck.float64()),
    ([2**31], ck.int32()),
    ([2**63], ck.int64()),
    (["\ud800"], ck.utf8()),
    ((1,), ck.int64()),
    (np.array([1]), ck.int64()),
    (ck.array([1]), ck.int64()),
    ([1], ck.int8()),
    ([[1]], ck.list_(ck.int64())),
]


@pytest.mark.parametrize(("values", "type_"), OTHERS, ids=str)
def test_other_values_are_left_to_the_general_way(values: Any, type_: ck.DataType) -> None:
    assert PlainResults(ck.Schema([("a", type_)])).batch({"a": values}) is None


@pytest.mark.parametrize(
    "value",
    [
        {"a": [1]},
        {"a": [1], "b": [1], "c": [1]},
        {"a": [1], "c": [1]},
        {"a": [1], "b": [1, 2]},
        {"a": [None], "b": [1]},
        [1],
        pa.record_batch({"a": [1], "b": [1]}),
    ],
    ids=str,
)
def test_what_is_not_as_declared_is_left_to_it_too(value: Any) -> None:
    schema = ck.Schema([ck.field("a", ck.int64(), nullable=False), ck.field("b", ck.int64())])
    assert PlainResults(schema).batch(value) is None


def test_messages_are_those_of_the_general_way() -> None:
    results = Results("f", ck.Schema([("a", ck.int8())]))
    with pytest.raises(ValueError, match=r"f: a: .*300"):
        results.batch({"a": [300]})
    assert results.batch({"a": np.array([3])}).to_pydict() == {"a": [3]}
