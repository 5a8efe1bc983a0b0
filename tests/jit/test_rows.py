"""Rows that threads build are those that one builder would have, row by row."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import colkern as ck
from colkern.cpu.threads import num_threads, set_num_threads
from colkern.jit import build_rows

MAPS = ck.map_(ck.utf8(), ck.list_(ck.int32()))
ELEMENT, ENTRY, MAP = range(3)


@numba.njit
def follow_steps(i, steps, ends, out):
    """Append what the steps of row `i` say: (part, whether it is a null, value)."""
    for part, is_null, value in steps[ends[i] : ends[i + 1]]:
        if part == ELEMENT:
            out.items.values.append(None if is_null else value)
        elif part == ENTRY:
            out.keys.append("é" if value == 0 else "even" if value % 2 == 0 else "odd")
            out.items.append_null() if is_null else out.items.end_list()
        else:
            out.append_null() if is_null else out.end_map()


def steps_for(maps: list[Any]) -> NDArray[np.int64]:
    steps = []
    for entries in maps:
        for key, elements in entries or []:
            steps += [(ELEMENT, element is None, element or 0) for element in elements or []]
            steps.append((ENTRY, elements is None, ["é", "odd", "even"].index(key)))
        steps.append((MAP, entries is None, 0))
    return np.array(steps, np.int64).reshape(-1, 3)


def maybe(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | values


elements = maybe(st.lists(maybe(st.integers(-(2**31), 2**31 - 1)), max_size=3))
entries = st.tuples(st.sampled_from(["é", "odd", "even"]), elements)
maps = maybe(st.lists(entries, max_size=3))


@given(st.lists(st.lists(maps, max_size=3), max_size=6))
def test_rows_of_nested_values_come_out_as_they_went_in(calls: list[list[Any]]) -> None:
    steps = [steps_for(rows) for rows in calls]
    ends = np.cumsum([0, *map(len, steps)])
    together = np.concatenate([steps_for([]), *steps])
    result = build_rows(follow_steps, len(calls), together, ends, returns=MAPS)
    result.validate(full=True)
    pa.array(result).validate(full=True)
    assert result.to_pylist() == [row for rows in calls for row in rows]


def spell(i, numbers, out):
    """A row for each number but those divisible by 5: its text, how large it is, null for 0 mod 7."""
    number = numbers[i]
    out.reserve(1)
    if number % 5 == 0:
        return
    if number % 7 == 0:
        out.append_null()
        return
    out.text.append(str(number))
    out.is_large.append(number > 1000 if number % 3 else None)
    out.exact.append((number, 0))
    out.field("half").append(number / 2)
    out.end_row()


SPELLED = ck.struct(
    [
        ("text", ck.large_utf8()),
        ("is_large", ck.bool_()),
        ("exact", ck.decimal128(20)),
        ("half", ck.float16()),
    ]
)


def spelled(number: int) -> Any:
    if number % 7 == 0:
        return None
    large = number > 1000 if number % 3 else None
    return {"text": str(number), "is_large": large, "exact": number, "half": number / 2}


@pytest.mark.parametrize("count", [0, 1, 300_000])
def test_threads_write_the_rows_of_one(count: int) -> None:
    numbers = np.arange(count) % 2000
    threads = num_threads()
    set_num_threads(2)
    try:
        result = build_rows(spell, count, numbers, returns=SPELLED)
    finally:
        set_num_threads(threads)
    result.validate(full=True)
    period = [spelled(number) for number in range(min(count, 2000)) if number % 5]
    assert result.to_pylist() == period * max(count // 2000, 1)


def leave_open(i, out):
    out.values.append(i)
    if i != 2:
        out.end_list()


@pytest.mark.parametrize("returns", [ck.list_(ck.int64()), ck.fixed_size_list(ck.int64(), 1)])
def test_a_row_must_be_complete(returns: ck.DataType) -> None:
    assert build_rows(leave_open, 2, returns=returns).to_pylist() == [[0], [1]]
    with pytest.raises(ValueError, match="1 values of 'item' after the last end_list") as caught:
        build_rows(leave_open, 4, returns=returns)
    assert caught.value.__notes__ == ["leave_open: row 2"]


def test_a_count_is_a_number_of_rows() -> None:
    with pytest.raises(ValueError, match="count: must not be negative, got -1"):
        build_rows(leave_open, -1, returns=ck.list_(ck.int8()))
    with pytest.raises(TypeError, match="float"):
        build_rows(leave_open, 1.5, returns=ck.list_(ck.int8()))


def append_row(i, out):
    out.append(i)


def test_what_the_function_raises_comes_through_with_its_row() -> None:
    with pytest.raises(OverflowError, match="out of the range of int8") as caught:
        build_rows(append_row, 200, returns=ck.int8())
    assert caught.value.__notes__ == ["append_row: row 128"]


def append_length(i, stream, out):
    out.append(len(stream))


def test_what_is_raised_before_the_first_row_has_none() -> None:
    batch = ck.record_batch({"a": [1]})
    stream = ck.RecordBatchStream(batch.schema, iter([batch]))
    assert build_rows(append_length, 1, stream, returns=ck.int8()).to_pylist() == [1]
    with pytest.raises(ValueError, match="passed to compiled code once") as caught:
        build_rows(append_length, 1, stream, returns=ck.int8())
    assert not hasattr(caught.value, "__notes__")


def test_a_number_of_nulls_is_not_negative() -> None:
    with pytest.raises(ValueError, match="the number of slots is negative"):
        build_rows(lambda i, out: out.append_nulls(-3), 1, returns=ck.int64())


@pytest.mark.parametrize(
    ("returns", "what"),
    [
        (ck.list_(ck.utf8()), "append: int to a builder of string"),
        (ck.utf8(), "builder of string has no 'values' in compiled code"),
    ],
)
def test_what_does_not_compile_is_named(returns: ck.DataType, what: str) -> None:
    with pytest.raises(ck.CompileError, match=f"leave_open does not compile: {what}\\n  File"):
        build_rows(leave_open, 1, returns=returns)


def test_more_than_32_bit_offsets_reach_is_refused() -> None:
    with pytest.raises(ck.LimitExceededError, match="build the large type"):
        build_rows(many_nulls, 3, returns=ck.list_(ck.null()))


@numba.njit
def many_nulls(i, out):
    # They take no memory.
    out.values.append_nulls(2**30)
    out.end_list()
