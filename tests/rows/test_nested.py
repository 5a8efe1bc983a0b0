"""Columns of lists, structs and maps are to row functions what `to_pylist` gives."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, time, timedelta
from typing import Any, TypedDict

import numpy as np
import pyarrow as pa
import pytest
from arrow_oracle import from_pyarrow

import colkern as ck


def check(
    function: Callable[..., Any], *columns: pa.Array, left: int = 0, **options: Any
) -> ck.Array:
    """Make sure that compiled code gives what Python gives, with so many rows left to Python."""
    result = ck.udf(function, **options) if left else ck.udf(function, strict=True, **options)
    actual = result(*map(from_pyarrow, columns))
    actual.validate(full=True)
    rows = zip(*(column.to_pylist() for column in columns), strict=True)
    called = options.get("nulls") == "pass"
    expected = [function(*row) if called or None not in row else None for row in rows]
    assert pa.array(actual).to_pylist() == expected
    assert sum(result.report().left.values()) == left
    return actual


class Pair(TypedDict):
    """Two numbers."""

    a: int
    b: int


def sorted_rows(rows: Any) -> Any:
    return sorted(rows)


# Lists

WORDS = [["a", None, "bcd"], None, [], ["ef"]]


def longest(words: Any) -> int:
    return max((len(word) for word in words if word is not None), default=0)


@pytest.mark.parametrize(
    "type_",
    [
        pa.list_(pa.utf8()),
        pa.large_list(pa.large_utf8()),
        pa.list_view(pa.string_view()),
        pa.list_(pa.binary()),
        pa.list_(pa.dictionary(pa.int8(), pa.utf8())),
    ],
    ids=str,
)
def test_lists_of_every_layout(type_: pa.DataType) -> None:
    check(longest, pa.array([["xxxxx"], *WORDS], type_).slice(1))


def test_lists_of_one_length_begin_behind_others() -> None:
    column = pa.array([[1, 2], [3, None], None, [5, 6]], pa.list_(pa.int16(), 2))
    check(lambda pair: [x for x in pair if x], column)
    check(lambda pair: pair[0], column.slice(1))


MOMENTS = [datetime(1969, 12, 31, 23), None, datetime(2024, 2, 29, 12, 30), datetime(1, 1, 1)]
ITEMS: list[tuple[pa.DataType, list[Any], int]] = [
    *((pa.timestamp(unit), MOMENTS, 0) for unit in ("s", "ms", "us")),
    *(
        (type_, [None if x is None else x.date() for x in MOMENTS], 0)
        for type_ in (pa.date32(), pa.date64())
    ),
    *(
        (type_, [time(23, 59, 59), None, time(), time(1)], 0)
        for type_ in (pa.time32("s"), pa.time64("us"))
    ),
    *(
        (pa.duration(unit), [timedelta(days=-1), None, timedelta(0), timedelta(hours=1)], 0)
        for unit in ("s", "us")
    ),
    (pa.uint64(), [2**62, None, 0, 2**61], 0),
    (pa.uint64(), [2**64 - 1, None, 0, 2**61], 3),
    (pa.bool_(), [True, None, False, True], 0),
    (pa.float32(), [0.5, None, -0.0, 1e30], 0),
    (pa.float16(), [0.5, None, -0.0, 2.0], 0),
    (pa.string_view(), ["é", None, "", "x" * 20], 0),
    (pa.binary(2), [b"ab", None, b"cd", b"\0\0"], 0),
]


@pytest.mark.parametrize(("type_", "values", "left"), ITEMS, ids=str)
def test_items_are_python_s(type_: pa.DataType, values: list[Any], left: int) -> None:
    rows = [[x] for x in values] + [None, [], values, [x for x in values if x is not None]]
    column = pa.array([values[:1], *rows], pa.list_(type_)).slice(1)
    if not left:
        check(lambda items: items[-1] if items else None, column)
    check(lambda items: len(items) > 1 and items[0] == items[-1], column, left=left)


def test_lists_in_lists() -> None:
    lists = [[["a", "b"], [], None], None, [], [["é", None]]]
    column = pa.array(lists, pa.large_list(pa.list_(pa.utf8())))
    check(lambda lists: sum(len(x) for x in lists if x is not None), column)
    check(lambda lists: lists[0][-1] if lists else None, column)


def test_a_list_without_none_is_plain() -> None:
    column = pa.array([["a", "b"], [], None])
    check(lambda words: "-".join(words), column)
    with pytest.raises(TypeError, match="NoneType found"):
        ck.udf(lambda words: "-".join(words))(pa.array([["a"], ["a", None]]))


def test_what_is_null_alone() -> None:
    empty = pa.array([[], None, []])
    check(lambda words: "-".join(words), empty)
    check(lambda numbers: sum(numbers), empty)
    check(lambda items: len(items), pa.array([[], [None, None], None]), left=1)
    rows = pa.array([{"x": None, "y": 1}, None])
    check(lambda row: row["y"] if row["x"] is None else row["x"], rows)


def test_a_list_is_the_function_s_own() -> None:
    def swapped(items: Any) -> Any:
        items.reverse()
        items.append(7)
        return items

    column = pa.array([[1, 2], None, []])
    actual = ck.udf(swapped, strict=True)(column).to_pylist()
    assert actual == [swapped(list(x)) if x is not None else None for x in column.to_pylist()]
    assert column.to_pylist() == [[1, 2], None, []]


# Structs

BOXES = [
    {"width": 2.0, "height": 3.0, "name": "é"},
    None,
    {"width": 1.0, "height": None, "name": None},
]


def area(box: Any) -> float | None:
    if box["height"] is None:
        return None
    return box["width"] * box["height"]


def test_structs_are_dictionaries() -> None:
    column = pa.array(BOXES)
    check(area, column)
    check(area, column.slice(2))
    check(lambda box: box.get("name") or box.get("other", "none"), column)
    check(lambda box: ["name" in box, "other" in box, len(box) == 3, isinstance(box, dict)], column)
    check(lambda box: "%(name)s" % box if box["name"] else "", column)  # noqa: UP031
    check(lambda box: None if box is None else box["name"], column, nulls="pass")
    check(lambda box: box, column)
    with (
        pytest.warns(UserWarning, match="runs in Python"),
        pytest.raises(KeyError, match="depth"),
    ):
        ck.udf(lambda box: box["depth"], fallback=True)(column)


def test_what_goes_over_a_struct_gets_its_names() -> None:
    column = pa.array([{"a": 1, "b": 5}, {"a": None, "b": 7}])

    def names(row: Any) -> str:
        first, second = row
        return "".join(row) + first + second + "".join(reversed(row)) + tuple(row)[1]

    check(names, column)
    check(lambda row: [name + str(x) for name, x in row.items() if x is not None], column)
    check(lambda row: sum(x for x in row.values() if x is not None), column)

    def both(row: Any) -> Any:
        a, b = row.values()
        return a == b, list(row.keys())

    actual = ck.udf(both, strict=True)(column).to_pylist()
    assert [tuple(row.values()) for row in actual] == [both(row) for row in column.to_pylist()]


def test_structs_are_equal_by_names() -> None:
    left = pa.array([{"a": 1, "b": "x"}, {"a": 1, "b": None}, {"a": 2, "b": "y"}])
    right = pa.array([{"b": "x", "a": 1}, {"b": None, "a": 1}, {"b": "y", "a": 1}])
    check(lambda x, y: x == y, left, right)
    check(lambda x, y: x != y, left, pa.array([{"b": "x"}] * 3))


def test_structs_and_lists_in_each_other() -> None:
    rows = [
        {"id": 1, "tags": ["a", None], "parts": [{"k": "x", "v": 1}, {"k": None, "v": 2}]},
        {"id": None, "tags": None, "parts": []},
        None,
        {"id": 3, "tags": [], "parts": [None, {"k": "z", "v": None}]},
    ]
    column = pa.array([rows[1], *rows]).slice(1)
    check(lambda row: list(row["tags"] or []), column)
    check(lambda row: sum(p["v"] or 0 for p in row["parts"] if p is not None), column)
    check(lambda row: [p["k"] for p in row["parts"] if p is not None], column)

    def of_item(parts: Any) -> int:
        return sum(part["a"]["b"] for part in parts)

    check(of_item, pa.array([[{"a": {"b": 1}}, {"a": {"b": 5}}], None, []]))


def test_rows_are_made_of_rows() -> None:
    column = pa.array([{"x": 1, "y": "a"}, None, {"x": 2, "y": "b"}])
    check(lambda row: {**row, "y": 5, "z": [row["x"]]}, column)
    check(lambda row: {**dict(row), **row.copy()}, column)


@pytest.mark.filterwarnings("ignore:.* runs in Python")
def test_rows_are_sorted_and_grouped_by_their_values() -> None:
    rows = [
        [{"x": 1, "y": "b"}, {"x": 3, "y": "a"}, {"x": 2, "y": "b"}],
        None,
        [{"x": 2, "y": "c"}],
    ]
    column = pa.array(rows)
    check(lambda rows: sorted(rows, key=lambda row: row["y"]), column)
    check(lambda rows: max(rows, key=lambda row: row["x"])["y"], column)

    def grouped(rows: Any) -> Any:
        groups: dict[str, list[int]] = {}
        for row in rows:
            groups.setdefault(row["y"], []).append(row["x"])
        return [{"key": key, "values": values} for key, values in groups.items()]

    check(grouped, column)
    # Python does not compare them.
    with pytest.raises(TypeError, match="'<' not supported"):
        ck.udf(sorted_rows, fallback=True)(column)


@pytest.mark.filterwarnings("ignore:.* runs in Python")
def test_hints_that_say_little_take_what_there_is() -> None:
    def first(row: dict[str, Any]) -> Any:
        return row["x"]

    def longest(rows: list[dict] | None) -> int:  # type: ignore[type-arg]
        return len(rows or [])

    check(first, pa.array([{"x": 1}, None]))
    check(longest, pa.array([[{"x": 1}], None]), nulls="pass")

    def doubled(rows: list[Pair]) -> list[Pair]:
        return [{"a": row["b"], "b": row["a"]} for row in rows]

    assert check(doubled, pa.array([[{"a": 1, "b": 2}], None])).type == ck.list_(
        ck.struct([("a", ck.int64()), ("b", ck.int64())])
    )


# Maps


def test_maps_are_pairs() -> None:
    maps = pa.array([[("a", 1), ("b", None)], [("b", 3)], None, []], pa.map_(pa.utf8(), pa.int64()))
    keys = pa.array(["b", "a", "a", "a"])
    check(lambda pairs, key: [value for name, value in pairs if name == key], maps, keys)
    check(lambda pairs: dict(pairs).get("a", -1), maps.slice(1))
    check(lambda pairs: pairs[0][0] if pairs else None, maps)


def long_views(null: int) -> pa.Array:
    """Texts in views, of which one is null and leads outside of all memory."""
    texts = pa.array(
        ["a text of some length", "b", "c", "another text of some length"], pa.string_view()
    )
    views = np.frombuffer(texts.buffers()[1], np.int32).copy().reshape(-1, 4)
    views[null] = [1 << 20, 0, 0, 1 << 30]
    valid = np.packbits([place != null for place in range(4)], bitorder="little")
    buffers = [pa.py_buffer(valid), pa.py_buffer(views), *texts.buffers()[2:]]
    return pa.Array.from_buffers(pa.string_view(), 4, buffers)


def test_views_under_nulls_are_not_looked_at() -> None:
    views = long_views(2)
    field = pa.field("x", pa.string_view(), nullable=False)
    rows = pa.StructArray.from_arrays([views], fields=[field], mask=pa.array(np.arange(4) == 2))
    lists = pa.ListArray.from_arrays(pa.array([0, 2, 4], pa.int32()), views, pa.list_(field))
    upper = ck.udf(lambda row: None if row is None else row["x"].upper(), nulls="pass")
    expected = [text and text.upper() for text in views.to_pylist()]
    assert upper(rows).to_pylist() == expected
    of_items = ck.udf(lambda texts: [None if t is None else t.upper() for t in texts])
    assert of_items(lists).to_pylist() == [expected[:2], expected[2:]]


@pytest.mark.parametrize("item", [pa.array([1, None, 3]), pa.array([[1], None, []])])
def test_nulls_are_seen_where_a_field_is_declared_to_have_none(item: pa.Array) -> None:
    field = pa.field("x", item.type, nullable=False)
    rows = pa.StructArray.from_arrays([item], fields=[field])
    check(lambda row: str(row["x"]), rows, left=1)
    lists = pa.ListArray.from_arrays(pa.array([0, 1, 3], pa.int32()), item, pa.list_(field))
    check(lambda items: len([x for x in items if x is None]), lists, left=1)
