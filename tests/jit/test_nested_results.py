"""Results of functions of a row that have parts: lists, maps, structs and unions, at any depth."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from arrow_oracle import from_pyarrow
from hypothesis import given
from hypothesis import strategies as st

import colkern as ck
from colkern import schema as s
from colkern.jit.results.kinds import Kind, ListKind, MapKind, RowKind
from colkern.jit.results.result_types import result_type

# What a column holds is a result


@ck.udf
def itself(value: Any):
    return value


def lists(values: st.SearchStrategy[Any], size: int | None = None) -> st.SearchStrategy[Any]:
    return st.none() | st.lists(values, min_size=size or 0, max_size=3 if size is None else size)


NESTED = pa.struct(
    [
        ("lists", pa.large_list(pa.list_(pa.string()))),
        ("map", pa.map_(pa.string(), pa.int16())),
        ("pairs", pa.list_(pa.decimal128(30, 2), 2)),
    ]
)
texts = st.none() | st.text("ab é😀", max_size=3)
decimals = st.none() | st.decimals(-(10**20), 10**20, places=2)
maps = lists(st.tuples(st.text(max_size=2), st.none() | st.integers(-9, 9)))
nested = st.none() | st.fixed_dictionaries(
    {
        "lists": lists(lists(texts)),
        "map": maps,
        "pairs": lists(decimals, 2),
    }
)


@given(values=st.lists(nested, max_size=40), start=st.integers(0, 3))
def test_values_of_any_nesting_are_results(values: list[Any], start: int) -> None:
    column = pa.array(values, NESTED).slice(min(start, len(values)))
    found = itself(from_pyarrow(column))
    found.validate(full=True)
    assert found.type == from_pyarrow(column).type
    assert pa.array(found).to_pylist() == column.to_pylist()


def test_a_slot_of_a_union_is_a_union() -> None:
    column = from_pyarrow(
        pa.UnionArray.from_dense(
            pa.array([1, 0, 1, 0], pa.int8()),
            pa.array([0, 1, 1, 0], pa.int32()),
            [pa.array([7, None]), pa.array(["a", "b"])],
        )
    )
    found = itself(column)
    found.validate(full=True)
    assert (found.type, found.to_pylist()) == (column.type, ["a", None, "b", 7])


def test_a_null_of_a_union_keeps_its_type_behind_runs() -> None:
    union = pa.UnionArray.from_dense(
        pa.array([1, 0, 1], pa.int8()),
        pa.array([0, 0, 1], pa.int32()),
        [pa.array([None], pa.int64()), pa.array([None, "b"])],
    )
    runs = pa.RunEndEncodedArray.from_arrays(pa.array([1, 3, 4], pa.int32()), union)
    batch = from_pyarrow(pa.StructArray.from_arrays([runs], ["u"]))
    field = ck.udf(lambda row: row.u)
    found = pa.array(field(batch))
    assert (found.type_codes.to_pylist(), found.to_pylist()) == ([1, 0, 0, 1], [None] * 3 + ["b"])


# What a function makes


@ck.udf
def words(line: str, most: int):
    """The words of a line, with where they stand; their first letters; None for too many."""
    found = []
    letters = []
    start = 0
    for i in range(len(line) + 1):
        if i == len(line) or line[i] == " ":
            if start < i:
                found.append((line[start:i], start))
                letters.append([line[start : start + 1], str(i)])
            start = i + 1
    return (found, letters) if len(found) <= most else None


@given(
    rows=st.lists(
        st.tuples(st.none() | st.text("ab ", max_size=6), st.none() | st.integers(1, 3)),
        min_size=1,
        max_size=80,
    )
)
def test_tuples_of_lists_and_lists_of_tuples(rows: list[tuple[str | None, int | None]]) -> None:
    lines, most = (list(column) for column in zip(*rows, strict=True))
    found = words(pa.array(lines, pa.utf8()), pa.array(most, pa.int64()))
    found.validate(full=True)
    expected = []
    for line, limit in rows:
        made = None
        if line is not None and limit is not None:
            made = words.function(line, limit)
        expected.append(
            made
            and {
                "f0": [{"f0": word, "f1": start} for word, start in made[0]],
                "f1": [[letter, end] for letter, end in made[1]],
            }
        )
    assert found.to_pylist() == expected


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


def test_declared_dictionaries_runs_and_views_are_made_of_the_values() -> None:
    kind = ck.struct(
        [
            ("category", ck.dictionary(ck.int8(), ck.utf8())),
            ("runs", ck.run_end_encoded(ck.int16(), ck.int64())),
            ("view", ck.utf8_view()),
            ("lists", ck.list_view(ck.dictionary(ck.int8(), ck.utf8()))),
        ]
    )

    @ck.udf(returns=kind)
    def encoded(text: str):
        return text[:1], len(text), text, [text, text[:1]]

    found = encoded(pa.array(["ab", None, "ac"]))
    found.validate(full=True)
    assert found.type == kind
    assert found.to_pylist() == [
        {"category": t[:1], "runs": 2, "view": t, "lists": [t, t[:1]]} if t else None
        for t in ("ab", None, "ac")
    ]


def test_a_list_of_another_length_than_declared_has_a_row() -> None:
    @ck.udf(returns=ck.fixed_size_list(ck.float64(), 2))
    def halves(x: int):
        return [x / 2] * (2 if x < 5 else x)

    assert halves(pa.array([1, None, 3])).to_pylist() == [[0.5, 0.5], None, [1.5, 1.5]]
    with pytest.raises(ValueError, match=r"does not fit fixed_size_list.*\[2\]") as caught:
        halves(pa.array([1, 2, 7, 4]))
    assert caught.value.__notes__ == ["halves: row 2"]


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
