"""Results of functions of a row that have parts: lists, maps, structs and unions, at any depth."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import colkern as ck
from colkern import schema as s
from colkern.jit.results.kinds import Kind, ListKind, MapKind, RowKind
from colkern.jit.results.result_types import result_type


def test_maps_are_lists_of_pairs_or_dictionaries() -> None:
    kind = ck.struct(
        [("lengths", ck.map_(ck.utf8(), ck.int8())), ("halves", ck.map_(ck.utf8(), ck.float64()))]
    )

    @ck.udf(returns=kind, nulls=({"none": 0}, {}))
    def both(text: str):
        return [(text[:1], 1), (text, len(text))], {text: len(text) / 2, text[:1]: 0.5}

    found = both(pa.array(["ab", None, "c"]))
    found.validate(full=True)
    assert pa.array(found).to_pylist() == [
        {"lengths": [("a", 1), ("ab", 2)], "halves": [("ab", 1.0), ("a", 0.5)]},
        {"lengths": [("none", 0)], "halves": []},
        {"lengths": [("c", 1), ("c", 1)], "halves": [("c", 0.5)]},
    ]


CHILDREN = [("number", ck.int64()), ("text", ck.utf8()), ("list", ck.list_(ck.int64()))]


def test_a_tuple_with_one_value_is_a_slot_of_a_union() -> None:
    dense, sparse = ck.dense_union(CHILDREN, [5, 0, 9]), ck.sparse_union(CHILDREN)

    @ck.udf(returns=ck.struct([("dense", dense), ("sparse", sparse)]))
    def chosen(x: int):
        number = x if x < 2 or x > 4 else None
        text = "two" if x == 2 or x == 5 else None
        items = [x, x] if x == 3 else None
        return (number, text, items), (number, text, items)

    found = chosen(pa.array([1, 2, None, 3]))
    found.validate(full=True)
    values: list[Any] = [1, "two", [3, 3]]
    assert found.to_pylist() == [{"dense": value, "sparse": value} for value in values[:2]] + [
        None,
        {"dense": [3, 3], "sparse": [3, 3]},
    ]
    for x, words in ((4, "none is"), (5, "several are")):
        with pytest.raises(ValueError, match=f"one value that is not None, and {words}") as caught:
            chosen(pa.array([0, x]))
        assert caught.value.__notes__ == ["chosen: row 1"]


def test_a_null_of_a_union_is_one_of_its_first_child() -> None:
    @ck.udf(returns=ck.sparse_union(CHILDREN[:2]))
    def small(x: int):
        return (x, None) if x < 9 else None

    found = small(pa.array([1, None, 9]))
    found.validate(full=True)
    assert found.to_pylist() == [1, None, None]
    assert found.children[0].null_count == 2


def test_the_result_of_a_reducer_may_be_a_list() -> None:
    @ck.reducer
    class Range:
        """The least and the greatest value."""

        def init():
            return 1 << 62, -(1 << 62)

        def update(state, x: int):
            return min(state[0], x), max(state[1], x)

        def finish(state):
            return [state[0], state[1]]

    found = Range(pa.array([3, 1, None, 2]), by=pa.array([0, 0, 1, 1]))
    assert found["Range"].to_pylist() == [[1, 3], [2, 2]]


# Types

PAIR = RowKind(None, ("text", "int64"))


@pytest.mark.parametrize(
    ("kinds", "type_"),
    [
        ([ListKind(ListKind("unicode"))], s.list_(s.list_(s.utf8()))),
        ([ListKind("int64"), ListKind("float64")], s.list_(s.float64())),
        ([ListKind(PAIR)], s.list_(s.struct([("f0", s.utf8()), ("f1", s.int64())]))),
        ([MapKind("int64", ListKind("binary"))], s.map_(s.int64(), s.list_(s.binary()))),
        ([ListKind("int64", s.date32()), "none"], s.list_(s.date32())),
        ([s.decimal128(38, 2), s.decimal128(38, 5)], s.decimal128(38, 5)),
    ],
    ids=str,
)
def test_types_are_inferred_from_all_that_is_returned(kinds: list[Kind], type_: s.DataType) -> None:
    assert result_type("f", set(kinds), None) == type_


@pytest.mark.parametrize(
    ("kind", "declared", "message"),
    [
        (PAIR, s.list_(s.utf8()), "f returns a tuple where list.* is declared; return a list"),
        (ListKind("int64"), s.list_(s.utf8()), "f: an item is int64 where string is declared"),
        ("int64", s.map_(s.utf8(), s.int64()), "int64 where map.*; return a list of tuples"),
        (ListKind(PAIR), s.map_(s.int64(), s.int64()), "f: a key is string where int64 is"),
        (PAIR, s.dense_union(CHILDREN), "a tuple of 2 values for 3 children; return tuples"),
        (PAIR, s.sparse_union([("a", s.int8()), ("b", s.int8())]), "f: field 'a' is string where"),
        ("text", s.dictionary(s.int8(), s.int64()), "f returns string where int64 is declared"),
        ("float64", s.fixed_size_binary(4), "returns double where fixed_size_binary"),
        (RowKind(None, (ListKind("text"),)), s.struct([("a", s.utf8())]), "'a' is a list where"),
    ],
    ids=str,
)
def test_results_that_are_not_as_declared(kind: Kind, declared: s.DataType, message: str) -> None:
    with pytest.raises(ck.CompileError, match=message):
        result_type("f", {kind}, declared)


@pytest.mark.parametrize(
    "returns",
    [
        s.list_(s.day_time_interval()),
        s.dense_union([("a", s.dictionary(s.int8(), s.utf8()))]),
    ],
    ids=str,
)
def test_types_that_are_no_results(returns: s.DataType) -> None:
    with pytest.raises(ck.UnsupportedError, match="as the result of a udf"):
        ck.udf(lambda x: x, returns=returns)
