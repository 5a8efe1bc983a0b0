"""Results of row functions that have parts: lists, rows and maps, at any depth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import pyarrow as pa
import pytest
from arrow_oracle import from_pyarrow
from hypothesis import given
from hypothesis import strategies as st

import colkern as ck

LINES = ["a bb", "ccc", None, "", "é dd é"]


def as_in_column(value: Any) -> Any:
    """A result as `to_pylist` gives it: a tuple is a row, without names."""
    if isinstance(value, tuple):
        return [as_in_column(item) for item in value]
    if isinstance(value, list):
        return [as_in_column(item) for item in value]
    if isinstance(value, dict):
        return {name: as_in_column(item) for name, item in value.items()}
    return value


def check(function: Callable[[Any], Any], values: list[Any], returns: Any = None) -> ck.Array:
    """Make sure that compiled code gives what Python gives for each value."""
    result = ck.udf(function, strict=True, returns=returns)
    actual = result(ck.array(values))
    actual.validate(full=True)
    expected = [None if value is None else function(value) for value in values]
    assert without_names(actual.to_pylist(), expected) == as_in_column(expected)
    return actual


def without_names(actual: Any, expected: Any) -> Any:
    """The values of a column, with a list in place of a row where the function returned a tuple."""
    if isinstance(actual, dict) and isinstance(expected, tuple):
        return [without_names(*pair) for pair in zip(actual.values(), expected, strict=True)]
    if isinstance(actual, list) and isinstance(expected, list):
        return [without_names(*pair) for pair in zip(actual, expected, strict=True)]
    if isinstance(actual, dict) and isinstance(expected, dict):
        return {name: without_names(actual[name], expected[name]) for name in actual}
    if isinstance(actual, list) and isinstance(expected, dict):
        return {name: without_names(item, expected[name]) for name, item in actual}
    return actual


# Lists


def test_lists_in_lists() -> None:
    check(lambda n: [[k] * k for k in range(n)], [0, 3, None, 1])
    check(lambda s: [[list(w), [w]] for w in s.split()], LINES)
    check(lambda n: [None if k % 2 else [k, None] for k in range(n)], [0, 3, None, 1])
    check(lambda n: [[], []] * n, [2, 0])
    check(lambda n: [None] * n, [2, 0, None])


def test_lists_of_tuples_and_tuples_of_lists() -> None:
    actual = check(lambda s: [(w, len(w)) for w in s.split()], LINES)
    assert actual.type == ck.list_(ck.struct([("f0", ck.utf8()), ("f1", ck.int64())]))
    check(lambda s: (s.split(), [len(w) for w in s.split()], s or None), LINES)
    check(lambda s: [((w, [w]), None if w == "a" else 0.5) for w in s.split()], LINES)
    check(lambda s: [None if w == "a" else (w, [w, None]) for w in s.split()], LINES)


def test_a_set_is_a_list() -> None:
    result = ck.udf(lambda s: set(s), strict=True)(ck.array(["abca", None, ""])).to_pylist()
    assert [value and sorted(value) for value in result] == [["a", "b", "c"], None, []]


def test_results_of_many_threads_are_in_order() -> None:
    values = [k % 7 for k in range(50_000)]
    check(lambda n: [(k, [str(k)] * k) for k in range(n)], values)


# Rows


def test_dictionaries_with_constant_keys_are_rows() -> None:
    def described(line: str) -> Any:
        words = []
        for word in line.split():
            words.append({"word": word, "size": len(word), "letters": list(word)})
        summary = {"first": words[0] if words else None, "all": words}
        return {"summary": summary, "count": len(words)}

    actual = check(described, LINES)
    assert actual.type.fields[1].type == ck.int64()
    check(lambda s: [{"w": w, "x": None} for w in s.split()], LINES)
    check(lambda s: {"a": {"b": [{"c": s}]}} if s else None, LINES)


def test_a_dictionary_that_changes_is_a_map() -> None:
    def counts(line: str) -> Any:
        actual = {"words": 0}
        for word in line.split():
            actual["words"] += 1
            actual[word] = len(word)
        return actual

    assert check(counts, LINES).type == ck.map_(ck.utf8(), ck.int64())
    check(lambda s: {w: [w, None] for w in s.split()}, LINES)
    check(lambda s: [{w: {len(w): w}} for w in s.split()], LINES)
    check(lambda s: [{w: 1}, {}, None] if (w := s[:1]) else None, LINES)


class Word(NamedTuple):
    """A word."""

    text: str
    size: int


@dataclass
class Line:
    """A line."""

    words: list[Word]
    first: Word | None


def test_classes_of_rows_in_each_other() -> None:
    def split(line: str) -> Line:
        words = [Word(word, len(word)) for word in line.split()]
        return Line(words, words[0] if words else None)

    actual = ck.udf(split, strict=True)(ck.array(LINES))
    assert actual.to_pylist() == [
        line
        if line is None
        else {
            "words": [word._asdict() for word in split(line).words],
            "first": split(line).words[0]._asdict() if split(line).words else None,
        }
        for line in LINES
    ]


# Declared types


def test_maps_are_declared() -> None:
    kind = ck.map_(ck.utf8(), ck.int8())
    assert check(lambda s: {w: len(w) for w in s.split()}, LINES, kind).type == kind
    pairs = ck.udf(lambda s: [(w, len(w)) for w in s.split()], strict=True, returns=kind)
    expected = [line and [(w, len(w)) for w in line.split()] for line in LINES]
    assert pairs(ck.array(LINES)).to_pylist() == [[] if x == "" else x for x in expected]
    with pytest.raises(OverflowError, match="does not fit map") as caught:
        ck.udf(lambda s: {s: len(s) * 100}, returns=kind)(ck.array(["a", "bb"]))
    assert caught.value.__notes__[-1].endswith("row 1")


def test_a_default_may_have_maps() -> None:
    kind = ck.struct(
        [("lengths", ck.map_(ck.utf8(), ck.int8())), ("halves", ck.map_(ck.utf8(), ck.float64()))]
    )

    @ck.udf(returns=kind, nulls=({"none": 0}, {}), strict=True)
    def both(text: str) -> Any:
        return [(text[:1], 1), (text, len(text))], {text: len(text) / 2, text[:1]: 0.5}

    assert both(ck.array(["ab", None, "c"])).to_pylist() == [
        {"lengths": [("a", 1), ("ab", 2)], "halves": [("ab", 1.0), ("a", 0.5)]},
        {"lengths": [("none", 0)], "halves": []},
        {"lengths": [("c", 1), ("c", 1)], "halves": [("c", 0.5)]},
    ]


def test_unions_are_no_results() -> None:
    kind = ck.sparse_union([("number", ck.int64()), ("text", ck.utf8())])
    with pytest.raises(ck.CompileError, match=r"where sparse_union.* is declared"):
        ck.udf(lambda x: (x, None), returns=kind)(ck.array([1]))


def test_numbers_in_parts_that_do_not_fit_have_a_row() -> None:
    kind = ck.struct([("a", ck.list_(ck.uint8())), ("b", ck.utf8())])
    narrow = ck.udf(lambda n: {"a": [n], "b": ""}, returns=kind)
    assert narrow(ck.array([1, None])).to_pylist() == [{"a": [1], "b": ""}, None]
    with pytest.raises(OverflowError, match="does not fit struct") as caught:
        narrow(ck.array([1, 300]))
    assert caught.value.__notes__[-1].endswith("row 1")


def test_parts_of_other_layouts_are_declared() -> None:
    text = ck.dictionary(ck.int8(), ck.utf8())
    kind = ck.struct(
        [
            ("category", text),
            ("runs", ck.run_end_encoded(ck.int16(), ck.int64())),
            ("view", ck.utf8_view()),
            ("lists", ck.list_view(text)),
            ("large", ck.large_list(ck.large_list(ck.float32()))),
            ("pair", ck.fixed_size_list(ck.uint8(), 2)),
            ("bytes", ck.fixed_size_binary(2)),
        ]
    )

    def parts(s: str) -> Any:
        size = len(s)
        return s[:1], size, s, [s, s[:1]], [[size / 2], []], [size, 1], s[:2].encode()

    assert check(parts, ["ab", None, "acd"], kind).type == kind


def test_a_list_of_another_length_than_declared_has_a_row() -> None:
    kind = ck.fixed_size_list(ck.float64(), 2)
    check(lambda x: [x / 2] * 2, [1, None, 3], kind)
    with pytest.raises(ValueError, match=r"does not fit fixed_size_list.*\[2\]") as caught:
        ck.udf(lambda x: [x / 2] * (2 if x < 5 else x), returns=kind)(ck.array([1, 2, 7, 4]))
    assert caught.value.__notes__[-1].endswith("row 2")


def test_none_for_an_item_that_is_not_nullable_has_a_row() -> None:
    kind = ck.list_(ck.field("item", ck.int64(), nullable=False))
    with pytest.raises(ValueError, match="None for 'item'") as caught:
        ck.udf(lambda x: [x, None if x > 1 else 0], returns=kind)(ck.array([1, 2]))
    assert caught.value.__notes__[-1].endswith("row 1")


# What a column holds is a result


def lists(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | st.lists(values, max_size=3)


NESTED = pa.struct(
    [
        ("lists", pa.large_list(pa.list_(pa.string()))),
        ("map", pa.map_(pa.string(), pa.int16())),
        ("pairs", pa.list_(pa.float64(), 2)),
    ]
)
ITSELF = ck.udf(lambda value: value, strict=True)
texts = st.none() | st.text("ab é😀", max_size=3)
nested = st.none() | st.fixed_dictionaries(
    {
        "lists": lists(lists(texts)),
        "map": lists(st.tuples(st.text(max_size=2), st.none() | st.integers(-9, 9))),
        "pairs": st.none()
        | st.lists(st.none() | st.floats(allow_nan=False), min_size=2, max_size=2),
    }
)


@given(values=st.lists(nested, max_size=40), start=st.integers(0, 3))
def test_values_of_any_nesting_are_results(values: list[Any], start: int) -> None:
    column = pa.array(values, NESTED).slice(min(start, len(values)))
    actual = ITSELF(from_pyarrow(column))
    actual.validate(full=True)
    expected = column.to_pylist()
    for row in expected:
        if row and row["map"] is not None:
            row["map"] = [{"f0": key, "f1": value} for key, value in row["map"]]
    assert actual.to_pylist() == expected


@pytest.mark.parametrize(
    "returns",
    [
        ck.int8(),
        ck.float32(),
        ck.uint64(),
        ck.dictionary(ck.int8(), ck.int64()),
        ck.run_end_encoded(ck.int32(), ck.float64()),
    ],
    ids=str,
)
def test_a_boolean_is_a_number_where_one_is_declared_also_in_rows_left_to_python(
    returns: ck.DataType, monkeypatch: pytest.MonkeyPatch
) -> None:
    pair = ck.struct([("flag", returns), ("name", ck.utf8())])
    parts = ck.struct(
        [("flags", ck.list_(returns)), ("pair", pair), ("by_name", ck.map_(ck.utf8(), returns))]
    )

    def upper(s: str) -> Any:
        return s.upper() == s

    def within(s: str) -> Any:
        flag = s.upper() == s
        return [flag], (flag, s), {s: flag}

    texts = ck.array(["A", "ß", "b"])
    functions = ck.udf(upper, returns=returns), ck.udf(within, returns=parts)
    for _ in range(2):
        flags, rows = (function(texts) for function in functions)
        assert (flags.type, flags.to_pylist()) == (returns, [1, 0, 0])
        assert rows["flags"].to_pylist() == [[1], [0], [0]]
        assert rows["pair"]["flag"].to_pylist() == [1, 0, 0]
        assert rows["by_name"].to_pylist() == [[("A", 1)], [("ß", 0)], [("b", 0)]]
        monkeypatch.setenv("COLKERN_JIT", "0")
