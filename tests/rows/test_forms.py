"""A hint that says dictionary makes the maps of a parameter dictionaries, at any depth."""

from __future__ import annotations

import datetime
import json
import typing
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Annotated, Any

import pytest
from rows.ptx_rows import by_ptx

import colkern as ck
from colkern import schema as s

COUNTS = ck.map_(ck.utf8(), ck.int64())
NESTED = ck.map_(ck.utf8(), ck.map_(ck.utf8(), ck.int64()))
DAYS = ck.map_(ck.date32(), ck.list_(ck.float64()))
ROW = ck.struct([("n", ck.int64()), ("tags", ck.list_(ck.map_(ck.int64(), ck.utf8())))])
DAY = datetime.date(2024, 2, 29)


def as_dicts(value: Any, type_: ck.DataType) -> Any:
    """A value of `to_pylist` with a dictionary for each map."""
    if value is None or not type_.fields:
        return value
    types = [field.type for field in type_.fields]
    if isinstance(type_, s.Map):
        key, item = types[0].fields
        return {as_dicts(k, key.type): as_dicts(v, item.type) for k, v in value}
    if isinstance(type_, s.Struct):
        return {
            name: as_dicts(part, of) for (name, part), of in zip(value.items(), types, strict=True)
        }
    return [as_dicts(part, types[0]) for part in value]


def values_of(column: ck.Array) -> list[Any]:
    return [as_dicts(value, column.type) for value in column.to_pylist()]


def looked_up(m: dict[str, int], text: str) -> list[str]:
    text.encode("cp1252")
    asked = [str(m.get("a")), str(m.get("b", -1)), str("a" in m), str(text in m), str(len(m))]
    return [*asked, next(iter(m), "?"), str(not m), str(m == {})]


def gone_over(m: Mapping[str, int], text: str) -> list[str]:
    text.encode("cp1252")
    known = [f"{key}={value}" for key, value in m.items() if value is not None]
    return [*m, *known, *sorted(m.keys()), str(sum(value or 0 for value in m.values()))]


def indexed(m: typing.Dict[str, int], text: str) -> int | None:  # noqa: UP006
    text.encode("cp1252")
    try:
        return m["a"]
    except KeyError:
        return -1


def changed(m: dict[str, int], text: str) -> dict[str, int]:
    text.encode("cp1252")
    m["z"] = len(m)
    m.pop("a", None)
    return m


def extended(m: dict[str, int], text: str) -> dict[str, int]:
    text.encode("cp1252")
    copied = m.copy()
    copied["x"] = 1
    return {**copied, "y": len(m)}


def of_maps(m: dict[str, dict[str, int]], text: str) -> int:
    text.encode("cp1252")
    inner = m.get(text)
    return inner.get("a", 0) if inner is not None else -len(m)


def of_days(m: dict[datetime.date, list[float]], text: str) -> float:
    text.encode("cp1252")
    return sum(m[DAY]) if DAY in m else -1.0


def of_rows(m: dict, text: str) -> list[str]:  # type: ignore[type-arg]
    text.encode("cp1252")
    return [str(tag.get(m["n"])) for tag in m["tags"] or [] if tag is not None]


def of_a_data_type(m: Annotated[dict[str, int], COUNTS], text: str) -> bool:
    text.encode("cp1252")
    return "a" in m


MAPS = [[("a", 1), ("b", 2)], [], None, [("a", 3), ("a", 4)], [("b", None)], [("ü" * 9, 5)]]
TREES = [[("x", [("a", 1), ("a", 2)])], [("é", None)], None, [], [("x", [])]]
CALENDARS = [[(DAY, [0.5, 1.5])], [], [(DAY, []), (datetime.date(1969, 1, 1), [1.0])], None]
ROWS = [{"n": 1, "tags": [[(1, "one"), (2, None)], None]}, {"n": 7, "tags": []}, None]

CASES: list[tuple[Callable[..., Any], ck.DataType, list[Any]]] = [
    *((function, COUNTS, MAPS) for function in (looked_up, gone_over, indexed)),
    *((function, COUNTS, MAPS) for function in (changed, extended, of_a_data_type)),
    (of_maps, NESTED, TREES),
    (of_days, DAYS, CALENDARS),
    (of_rows, ROW, ROWS),
]

TEXTS = ["x", "c", "a", "b", "", "y"]


def on_the_cpu(function: Any, columns: list[ck.Array]) -> tuple[ck.Array, int]:
    result = ck.udf(function)
    return result(*columns), sum(result.report().left.values())


def in_ptx(function: Any, columns: list[ck.Array]) -> tuple[ck.Array, int]:
    result, left = by_ptx(function, *(column.type for column in columns)).run(columns)
    return result, sum(left.values())


@pytest.mark.parametrize("run", [on_the_cpu, in_ptx])
@pytest.mark.parametrize(("function", "type_", "values"), CASES)
def test_maps_are_dictionaries(
    run: Any, function: Callable[..., Any], type_: ck.DataType, values: list[Any]
) -> None:
    columns = [ck.array(values, type_), ck.array(TEXTS[: len(values)])]
    result, left = run(function, columns)
    rows = zip(values_of(columns[0]), TEXTS, strict=False)
    expected = [None if value is None else function(value, text) for value, text in rows]
    # What compiles for a machine at once does not know of nulls within values.
    with_nulls = sum(value is not None and "None" in repr(value) for value in values)
    assert values_of(result) == expected
    assert left == (with_nulls if run is in_ptx else 0)


@pytest.mark.parametrize(("function", "type_", "values"), CASES)
def test_rows_left_to_python_have_dictionaries(
    monkeypatch: pytest.MonkeyPatch,
    function: Callable[..., Any],
    type_: ck.DataType,
    values: list[Any],
) -> None:
    # Python alone has the upper case of this letter.
    columns = ck.array(values, type_), ck.array(["é"] * len(values))
    expected = [None if m is None else function(m, "é") for m in values_of(columns[0])]
    result = ck.udf(function)
    assert values_of(result(*columns)) == expected
    assert sum(result.report().left.values()) == len(values) - values.count(None)
    monkeypatch.setenv("COLKERN_JIT", "0")
    assert values_of(ck.udf(function)(*columns)) == expected


class Counted(typing.TypedDict):
    counts: dict[Any, Any]
    pairs: list[Any]


class CountedTuple(typing.NamedTuple):
    counts: dict[Any, Any]
    pairs: list[Any]


@pytest.mark.parametrize("hint", [Counted, CountedTuple])
@pytest.mark.parametrize("text", ["a", "é"])
def test_fields_have_the_forms_of_their_names(hint: type, text: str) -> None:
    def both(row, text):
        text.encode("cp1252")
        return f"{row['pairs'][0][1]} {row['counts'].get('a')}"

    both.__annotations__ = {"row": hint, "text": str, "return": str}
    maps = [("a", 1), ("a", 2)]
    rows = ck.array(
        [{"pairs": maps, "counts": maps}], ck.struct({"pairs": COUNTS, "counts": COUNTS})
    )
    assert ck.udf(both)(rows, text).to_pylist() == ["1 2"]


@pytest.mark.parametrize("text", ["a", "é"])
@pytest.mark.parametrize("hint", [dict[str, dict], typing.Mapping[str, typing.Mapping]])  # type: ignore[type-arg]
def test_a_struct_read_as_a_mapping_has_values_of_one_form(hint: Any, text: str) -> None:
    def sums(row, text):
        text.encode("cp1252")
        return row["x"]["a"] + row["y"]["a"] + row["z"]["a"]

    sums.__annotations__ = {"row": hint, "text": str, "return": int}
    rows = ck.array(
        [{name: [("a", n)] for n, name in enumerate("xyz")}],
        ck.struct(dict.fromkeys("xyz", COUNTS)),
    )
    assert ck.udf(sums)(rows, text).to_pylist() == [3]


def test_keys_that_nothing_finds_are_refused() -> None:
    def sized(m: dict[Any, Any]) -> int:
        return len(m)

    for keys in (ck.list_(ck.int64()), ck.struct([("a", ck.int64())]), ck.decimal128(9, 2)):
        with pytest.raises(ck.UnsupportedError, match="a dictionary with keys that are"):
            ck.udf(sized)(ck.array([], ck.map_(keys, ck.int64())))
    prices = ck.array([[(Decimal("1.50"), 1)]], ck.map_(ck.decimal128(9, 2), ck.int64()))
    with pytest.warns(UserWarning, match="sized runs in Python"):
        assert ck.udf(sized, fallback=True)(prices).to_pylist() == [1]


def test_values_of_another_type_are_not_put_into_a_map() -> None:
    def named(m: dict[str, int]) -> int:
        m["name"] = "x"  # type: ignore[assignment]
        return len(m)

    with pytest.raises(ck.CompileError, match=r"str added to a dict\[str, int\]"):
        ck.udf(named)


def test_a_reducer_gets_dictionaries_where_a_hint_says_so() -> None:
    class Total:
        @staticmethod
        def init() -> int:
            return 0

        @staticmethod
        def update(state: int, m: dict[str, int]) -> int:
            return state + m.get("a", 0)

    maps = ck.array([[("a", 1), ("a", 2)], [], [("b", 7)]], COUNTS)
    assert ck.reducer(Total)(maps) == 2


def of_one_key(text: str) -> dict[str, str]:
    return {"text": text}


def of_differing_keys(text: str) -> dict[str, str]:
    if not text:
        return {}
    return {"text": text} if text < "b" else {"other": text, "first": text[0]}


def in_lists(text: str) -> list[dict[str, int]]:
    return [{"size": len(word)} for word in text.split()]


def of_a_helper(text: str) -> dict[str, str]:
    return {**of_one_key(text), "more": "x"}


@pytest.mark.parametrize("function", [of_one_key, of_differing_keys, in_lists, of_a_helper])
def test_dictionaries_with_constant_keys_are_maps_where_these_are_declared(
    function: Callable[[str], Any],
) -> None:
    texts = ["a b", "", "bc"]
    item = ck.map_(ck.utf8(), ck.int64() if function is in_lists else ck.utf8())
    declared = ck.list_(item) if function is in_lists else item
    column = ck.udf(function, returns=declared, strict=True)(ck.array(texts))
    assert column.type == declared
    assert values_of(column) == [function(text) for text in texts]


@pytest.mark.parametrize(
    ("function", "type_"),
    [
        (of_one_key, ck.struct([("text", ck.utf8())])),
        (of_differing_keys, ck.map_(ck.utf8(), ck.utf8())),
        (in_lists, ck.list_(ck.map_(ck.utf8(), ck.int64()))),
    ],
)
def test_of_a_hint_one_dictionary_with_constant_keys_is_a_struct(
    function: Callable[[str], Any], type_: ck.DataType
) -> None:
    column = ck.udf(function)(ck.array(["a b", "bc"]))
    assert column.type == type_
    assert values_of(column) == [function("a b"), function("bc")]


def of_a_document(text: str) -> dict[str, int]:
    return {"n": json.loads(text)["n"]}


def of_a_part_of_a_document(text: str) -> dict[str, int]:
    document = json.loads(text)
    return document.get("a", {"none": 1})


@pytest.mark.parametrize("function", [of_a_document, of_a_part_of_a_document])
def test_dictionaries_with_parts_of_documents_are_maps_as_their_hint_says(
    function: Callable[[str], Any],
) -> None:
    texts = ['{"n": 5}', '{"n": 7, "a": {"q": 2}}']
    column = ck.udf(function, strict=True)(ck.array(texts))
    assert column.type == COUNTS
    assert values_of(column) == [function(text) for text in texts]
