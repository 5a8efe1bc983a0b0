"""Results of functions of a row: default values for nulls, decimals, structs."""

from __future__ import annotations

import pyarrow as pa
import pytest
from arrow_oracle import from_pyarrow
from hypothesis import given
from hypothesis import strategies as st

import colkern as ck


# A default value for nulls


@ck.udf(nulls=-1)
def half(x: int) -> int:
    """Half of an even number; None for an odd one."""
    return x // 2 if x % 2 == 0 else None


@given(values=st.lists(st.none() | st.integers(0, 9), max_size=140), start=st.integers(0, 3))
def test_a_default_stands_for_null_arguments_and_none_stays_null(
    values: list[int | None], start: int
) -> None:
    expected = [
        -1 if x is None else x // 2 if x % 2 == 0 else None
        for x in values[min(start, len(values)) :]
    ]
    results = half(from_pyarrow(pa.array(values, pa.int64())).slice(min(start, len(values))))
    assert results.to_pylist() == expected
    assert results.null_count == expected.count(None)


@ck.udf(nulls=b"pass")
def initial(s: str) -> str:
    return s[:1]


def test_a_default_text_may_be_one_of_the_words_when_spelled_as_bytes() -> None:
    words = pa.array(["ab", None, "", "cd"])
    assert initial(words).to_pylist() == ["a", "pass", "", "c"]


def test_a_default_stands_for_null_indices_and_null_values_of_a_dictionary() -> None:
    dictionary = pa.array(["xy", None, "z"])
    column = pa.DictionaryArray.from_arrays(pa.array([0, 1, None, 2, 0, 0]), dictionary)
    assert initial(column).to_pylist() == ["x", "pass", "pass", "z", "x", "x"]
    without_nulls = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 0]), dictionary)
    assert initial(without_nulls).to_pylist() == ["x", "pass", "z", "x"]


@pytest.mark.parametrize("value", ["ignore", 0.5, None, [1]])
def test_a_default_is_a_value_of_the_result_type(value: object) -> None:
    with pytest.raises(ValueError, match="nulls: expected 'propagate', 'pass' or a value"):

        @ck.udf(nulls=value)
        def unused(x: int) -> int:
            return x
