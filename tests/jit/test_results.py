"""Results of functions of a row: default values for nulls, decimals, structs, lists."""

from __future__ import annotations

from collections import namedtuple
from typing import Any, NamedTuple

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
    return x // 2 if x % 2 == 0 else None  # type: ignore[return-value]


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


def test_a_misspelt_word_is_no_default_of_a_result_whose_type_is_not_known() -> None:
    with pytest.raises(ValueError, match="for a default that is text, declare returns="):
        ck.udf(lambda x: x, nulls="propogate")


# Structs

Bare = namedtuple("Bare", ["low", "high"])


class Split(NamedTuple):
    """The parts of a line."""

    key: str
    size: int
    upper: str
    share: float


@ck.udf(nulls=("none", 0, "", 0.0))
def split(line: str, limit: int) -> Split | None:
    """A text up to its "="; its length; it in capitals; None beyond the limit."""
    if len(line) > limit:
        return None
    for i in range(len(line)):
        if line[i] == "=":
            return line[:i], len(line), line.upper(), None  # type: ignore[return-value]
    return line, len(line), None, len(line) / 4  # type: ignore[return-value]


def split_plainly(line: str | None, limit: int | None) -> dict[str, Any] | None:
    row = ("none", 0, "", 0.0)
    if line is not None and limit is not None:
        row = split.function(line, limit)  # type: ignore[assignment]
    return row and dict(zip(Split._fields, row, strict=True))


@given(
    rows=st.lists(
        st.tuples(st.none() | st.text("aé=", max_size=5), st.none() | st.integers(2, 5)),
        min_size=1,
        max_size=100,
    )
)
def test_a_tuple_is_a_row_of_a_struct_and_none_in_it_is_a_null_field(
    rows: list[tuple[str | None, int | None]],
) -> None:
    lines, limits = (list(column) for column in zip(*rows, strict=True))
    results = split(pa.array(lines, pa.utf8()), pa.array(limits, pa.int64()))
    results.validate()
    assert results.to_pylist() == [split_plainly(*row) for row in rows]


def test_structs_are_declared_hinted_or_inferred() -> None:
    inner = ck.struct([("low", ck.int8()), ("high", ck.int16())])

    @ck.udf(returns=ck.struct([("sum", ck.int64()), ("parts", inner)]), nulls="pass")
    def declared(x):
        return None if x is None else (x + 1, (x, 2 * x))

    class Pair(NamedTuple):
        low: int
        high: float

    @ck.udf
    def named(x: int):
        return Pair(x, x / 2)

    Bare = namedtuple("Bare", ["low", "high"])

    @ck.udf
    def bare(x: int) -> Bare | None:
        return Bare(x, x / 2) if x > 1 else None

    @ck.udf
    def hinted(x: int) -> tuple[int, float]:
        return x, x / 2

    @ck.udf
    def inferred(x: int):
        return x, x > 1

    column = pa.array([1, None, 2])
    assert bare(column).to_pylist() == [None, None, {"low": 2, "high": 1.0}]
    assert declared(column).to_pylist() == [
        {"sum": 2, "parts": {"low": 1, "high": 2}},
        None,
        {"sum": 3, "parts": {"low": 2, "high": 4}},
    ]
    assert hinted(column).to_pylist() == [{"f0": 1, "f1": 0.5}, None, {"f0": 2, "f1": 1.0}]
    assert named(column).to_pylist() == [{"low": 1, "high": 0.5}, None, {"low": 2, "high": 1.0}]
    assert inferred(column).type == ck.struct([("f0", ck.int64()), ("f1", ck.bool_())])
    with pytest.raises(OverflowError, match="does not fit struct") as caught:
        declared(pa.array([1, 200]))
    assert caught.value.__notes__ == ["declared: row 1"]


def test_none_for_a_field_that_is_not_nullable_is_named_with_its_row() -> None:
    fields = [ck.field("x", ck.int64(), nullable=False)]

    @ck.udf(returns=ck.struct(fields))
    def positive(x: int):
        return (x if x > 0 else None,)

    assert positive(pa.array([1, None])).to_pylist() == [{"x": 1}, None]
    with pytest.raises(ValueError, match="None for 'x', which is declared not nullable") as caught:
        positive(pa.array([1, 2, -3]))
    assert caught.value.__notes__ == ["positive: row 2"]


def test_tuples_that_are_not_as_declared_do_not_compile() -> None:
    pair = ck.struct([("a", ck.int64()), ("b", ck.utf8())])

    def plain(x: int):
        return x, x

    with pytest.raises(ck.CompileError, match=r"plain returns tuple\[int, int\] where struct"):
        ck.udf(plain, returns=pair)
    with pytest.raises(ck.CompileError, match=r"plain returns tuple\[int, int\] where struct"):
        ck.udf(plain, returns=ck.struct([("a", ck.int64())]))
    with pytest.raises(ck.CompileError, match=r"plain returns tuple\[int, int\] where int64"):
        ck.udf(plain, returns=ck.int64())
    with pytest.raises(ck.CompileError, match=r"returns int where struct.* is declared"):
        ck.udf(lambda x: x, signature="(int64)", returns=pair)


@ck.udf
def net(price: float) -> float:
    return price * 0.75


@ck.udf
def label(price: float) -> str:
    return "low" if price < 2 else "high"


class Offer(NamedTuple):
    """The results of one pass over prices."""

    net: float
    label: str


def test_several_functions_share_one_pass_over_their_columns() -> None:
    @ck.udf
    def offer(price: float) -> Offer:
        return net(price), label(price)  # type: ignore[return-value]

    prices = pa.array([1.0, None, 4.0])
    results = offer(prices)
    for name, function in (("net", net), ("label", label)):
        assert [row and row[name] for row in results.to_pylist()] == function(prices).to_pylist()


# Lists


@ck.udf
def head(items: Any, count: int):
    """The first items; None where there are fewer."""
    return items[:count] if count <= len(items) else None


@given(
    rows=st.lists(
        st.tuples(
            st.none() | st.lists(st.none() | st.integers(-9, 9), max_size=4),
            st.none() | st.integers(0, 4),
        ),
        min_size=1,
        max_size=100,
    )
)
def test_a_part_of_a_list_is_a_list_of_its_type(
    rows: list[tuple[list[int | None] | None, int | None]],
) -> None:
    lists, counts = (list(column) for column in zip(*rows, strict=True))
    column = pa.array(lists, pa.list_(pa.timestamp("s")))
    expected = [
        None if items is None or n is None else head.function(items, n)
        for items, n in zip(column.to_pylist(), counts, strict=True)
    ]
    results = head(column, pa.array(counts, pa.int64()))
    results.validate()
    assert results.type == ck.list_(ck.timestamp("us"))
    assert results.to_pylist() == expected


def test_lists_of_pythons_own_are_lists() -> None:
    @ck.udf
    def around(x: int):
        return [x - 1, x + 1] if x > 0 else None

    assert around(pa.array([1, None, 0, 5])).to_pylist() == [[0, 2], None, None, [4, 6]]
