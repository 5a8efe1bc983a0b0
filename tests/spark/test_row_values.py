"""Functions of rows get what PySpark's own functions get: dictionaries for maps, rows for structs."""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import Row, SparkSession
from pyspark.sql import functions as f

import colkern as ck
import colkern.spark
from colkern.spark.functions.column_functions import column_function_of
from colkern.spark.functions.tables import _row_handler
from colkern.spark.functions.worker_calls import ArrowFunction

TEXTS = ck.list_(ck.utf8())


def of_counts(m, text):
    text.encode("cp1252")
    known = [f"{key}:{value}" for key, value in m.items() if value is not None]
    known += [str(m.get("a")), str(m.get("zz", -1)), str("a" in m), str(len(m)), str(not m)]
    known += [str(m == {}), str(isinstance(m, dict)), str(m)]
    return [*m, *known, *sorted(m.keys())]


def changed_counts(m, text):
    text.encode("cp1252")
    m["z"] = len(text)
    m.pop("a", None)
    return {**m, "x": 1}


def of_maps(m, text):
    text.encode("cp1252")
    return [str(m), str("k" in m), str(m["k"].get("i") if "k" in m else None)]


def of_days(m, text):
    text.encode("cp1252")
    day = datetime.date(2024, 2, 29)
    return [str(len(m)), ";".join(m[day]) if day in m else "none"]


def of_row(r, text):
    text.encode("cp1252")
    first, second, *_ = r
    inner = r.inner
    known = [str(r.n), str(r["n"]), str(r[0]), str(r[-1]), str(first), str(second), str(r.name)]
    known += [str(len(r)), str("n" in r), str(text in r), str(isinstance(r, tuple))]
    known += [str(isinstance(r, dict)), str(isinstance(r, Row)), str(type(r) is Row)]
    if inner is not None:
        known += [str(inner.x), str(inner == (0.5,)), str(inner == Row(x=0.5)), str(inner[:1])]
        known += [json.dumps(inner), str(tuple(inner)), str(type(tuple(inner)) is tuple)]
    return known


def shown_row(r, text):
    text.encode("cp1252")
    return [str(r), repr(r.inner), f"{r}", str(r.asDict()["name"])]


def same_row(r, text):
    text.encode("cp1252")
    return Row(number=r.n, by_name=r.by_name, inner=r.inner)


def of_rows(rows, text):
    text.encode("cp1252")
    return [f"{row.n}{sorted(row.by_name)}" for row in rows if row is not None and "n" in row]


def of_time(t, text):
    text.encode("cp1252")
    return [str(t), str(t.hour)]


COUNTED_TYPE = ck.map_(ck.utf8(), ck.int64())
INNER = pa.struct([("x", pa.float64())])
COUNTS = pa.map_(pa.string(), pa.int64())
ROW = pa.struct([("n", pa.int64()), ("name", pa.string()), ("by_name", COUNTS), ("inner", INNER)])
RETURNED = ck.struct(
    {
        "number": ck.int64(),
        "by_name": COUNTED_TYPE,
        "inner": ck.struct({"x": ck.float64()}),
    }
)
COUNTED = [{"a": 1, "b": None}, {}, None, {"u": 2}]
ROWS = [
    Row(n=1, name="e", by_name={"a": 1}, inner=Row(x=0.5)),
    Row(n=None, name="n", by_name={}, inner=None),
    None,
]

CASES: list[tuple[Callable[..., Any], pa.DataType, list[Any], ck.DataType]] = [
    (of_counts, COUNTS, COUNTED, TEXTS),
    (changed_counts, COUNTS, COUNTED, COUNTED_TYPE),
    (of_maps, pa.map_(pa.string(), pa.map_(pa.string(), pa.int32())), [{"k": {"i": 1}}, {}], TEXTS),
    (
        of_days,
        pa.map_(pa.date32(), pa.list_(pa.string())),
        [{datetime.date(2024, 2, 29): ["a", "b"]}, {datetime.date(1, 1, 1): []}],
        TEXTS,
    ),
    (of_row, ROW, ROWS, TEXTS),
    (shown_row, ROW, ROWS, TEXTS),
    (same_row, ROW, ROWS, RETURNED),
    (of_rows, pa.list_(ROW), [ROWS, [], None], TEXTS),
    (of_time, pa.time64("ns"), [datetime.time(12, 34, 56, 7), None], TEXTS),
]


def in_arrow(values: Any) -> Any:
    """Python's values as pyarrow takes them for nested types."""
    if isinstance(values, Row):
        return {name: in_arrow(part) for name, part in values.asDict().items()}
    if isinstance(values, dict):
        return [(in_arrow(key), in_arrow(part)) for key, part in values.items()]
    return list(map(in_arrow, values)) if isinstance(values, list) else values


COMPILED, LEFT = "n", "é"
"""A text whose upper case compiled code has, and one whose upper case only Python has."""


@pytest.mark.parametrize("text", [COMPILED, LEFT])
@pytest.mark.parametrize(("function", "type_", "values", "returns"), CASES)
def test_maps_are_dictionaries_and_structs_are_rows(
    monkeypatch: pytest.MonkeyPatch,
    function: Callable[..., Any],
    type_: pa.DataType,
    values: list[Any],
    returns: ck.DataType,
    text: str,
) -> None:
    columns = pa.array(in_arrow(values), type_), pa.array([text] * len(values))
    expected = [None if value is None else in_arrow(function(value, text)) for value in values]
    compiled = column_function_of(function, None, returns=returns)
    assert ArrowFunction(compiled, returns)(*columns).to_pylist() == expected
    assert bool(compiled.report().left) is (text is LEFT)
    if text is LEFT:
        monkeypatch.setenv("COLKERN_JIT", "0")
        in_python = ArrowFunction(column_function_of(function, None, returns=returns), returns)
        assert in_python(*columns).to_pylist() == expected


SIZES = {"a": "small", "bb": "large"}


def caught(text):
    try:
        return text.strip()
    except AttributeError:
        return "no text"


def shown(text):
    if text is None or text == "":
        return "nothing"
    return f"<{text}>"


def rebound(text):
    text = text or "none"
    return text + "!"


def first(text):
    for each in (text, "second"):
        if each is not None:
            return each
    return ""


def in_one_branch(text):
    if len("ab") == 2:
        return "other"
    return text.upper()


def in_a_nested_function(text):
    def of(value):
        return value.upper() if value else "empty"

    return of(text)


DECIDING: list[Callable[[Any], Any]] = [
    caught,
    shown,
    rebound,
    first,
    in_one_branch,
    lambda x: shown(x),
    lambda x: str(x == "a"),
    lambda x: str(x in ("a", "b")),
    lambda x: f"<{x}>",
    lambda x: SIZES.get(x, "?"),
    lambda x: x.upper() if x else "empty",
    lambda x: (x or "none") + "!",
    lambda x: "no text" if not isinstance(x, str) else x,
    lambda x: "both" if x and x > "a" else "neither",
    lambda x: "missing" if None in (x, "z") else x,
    lambda x: str(bool(x) and len(x) > 1),
    in_a_nested_function,
    lambda x: max(x, "", key=lambda text: text or ""),
    lambda x: f"{x:{''}}",
]


def many_calls(x, depth):
    if depth:
        many_calls(x, depth - 1), many_calls(x, depth - 1), many_calls(x, depth - 1)
    return many_calls(x, 0) if depth else x.upper()


@pytest.mark.parametrize("function", DECIDING)
def test_without_a_hint_a_function_decides_what_becomes_of_nulls(
    function: Callable[..., Any],
) -> None:
    values = ["a", None, "bb", ""]
    compiled = column_function_of(function, None, returns=ck.utf8())
    call = ArrowFunction(compiled, ck.utf8())
    assert call(pa.array(values)).to_pylist() == [function(value) for value in values]


def test_of_two_columns_a_null_of_one_is_the_function_s() -> None:
    first, second = ["a", None, "b", None], ["c", "d", None, None]
    compiled = column_function_of(lambda x, y: x if x is not None else y, None, returns=ck.utf8())
    results = ArrowFunction(compiled, ck.utf8())(pa.array(first), pa.array(second))
    assert results.to_pylist() == ["a", "d", "b", None]


def hinted(x: str) -> str:
    return "nothing" if x is None else x


def caught_in_part(x):
    try:
        return len(x)
    except ValueError:
        return -1


def later(x):
    size = 0
    for _ in x:
        size += 1
    return size


PATTERN = re.compile("b")


@pytest.mark.parametrize(
    ("function", "returns"),
    [
        (hinted, ck.utf8()),
        (caught_in_part, ck.int64()),
        (later, ck.int64()),
        (lambda x: many_calls(x, 0) + x, ck.utf8()),
        (lambda x: later(x), ck.int64()),
        (lambda x: len(x) if "a" in x else 0, ck.int64()),
        (lambda x: x + "!" if len("a") > 1 else x * 2, ck.utf8()),
        (lambda x: f"{x:>3}", ck.utf8()),
        (lambda x: "a" if x > "b" else "b", ck.utf8()),
        (lambda x: PATTERN.sub("", x), ck.utf8()),
        (ck.udf(lambda x: "nothing" if x is None else x), ck.utf8()),
    ],
)
def test_functions_that_fail_for_none_are_not_called_for_nulls(
    function: Any, returns: ck.DataType
) -> None:
    options = {} if isinstance(function, ck.Udf) else {"returns": returns}
    call = ArrowFunction(column_function_of(function, None, **options), returns)
    assert call(pa.array(["b", None])).to_pylist()[1] is None


def test_reducers_leave_rows_with_nulls_out() -> None:
    class longest:
        def init():  # type: ignore[misc]
            return 0

        def update(state, text):
            return max(state, len(text) if text else 99)

    reduced: Any = column_function_of(longest, None)
    assert reduced(ck.array(["a", None, "bb"])) == 2


@pytest.mark.parametrize(
    "wrong",
    [
        lambda r: r.get("n"),
        lambda r: r.count,
        lambda r: r._asdict(),
        lambda r: r._replace(n=1),
        lambda r: r.asDict(1, 2),
        lambda r: r.zzz,
        lambda r: r["zzz"],
    ],
)
def test_what_rows_lack_is_refused(wrong: Callable[..., Any]) -> None:
    call = ArrowFunction(column_function_of(wrong, None, returns=ck.int64()))
    fields = {"n": 1, "count": 2}
    with pytest.raises(ck.CompileError):
        call(pa.array([fields]))
    with pytest.raises((AttributeError, TypeError, ValueError)):
        int(wrong(Row(**fields)))


def test_functions_of_groups_and_tables_get_the_same() -> None:
    class total:
        @staticmethod
        def init():
            return 0

        @staticmethod
        def update(state, m: dict[str, int], r):
            return state + m.get("a", 0) + r.n

    reducer = column_function_of(total, None, returns=ck.int64())
    maps, rows = pa.array([[("a", 1)], []], COUNTS), pa.array([{"n": 5}, {"n": 7}])
    assert reducer(maps, rows) == 13

    def keys(m: dict[str, int]):
        yield from m

    generator = column_function_of(keys, None, returns=ck.utf8())
    assert pa.array(generator(maps)).to_pylist() == [["a"], []]


def test_rows_of_lateral_joins_have_declared_types() -> None:
    def keys(m):
        yield from m

    compiled = column_function_of(keys, None, returns=ck.utf8())
    call = ArrowFunction(compiled, ck.list_(ck.utf8()))
    assert list(_row_handler(call, [COUNTED_TYPE])().eval({"a": 1, "b": 2})) == [("a",), ("b",)]
    for value in ({"a": 1}, Row(a=1), [{"a": 1}]):
        with pytest.raises(TypeError, match="declare its type"):
            list(_row_handler(call, [None])().eval(value))


def test_what_ck_udf_has_made_keeps_its_values() -> None:
    made = ck.udf(lambda m, r: [r["n"] + value for _, value in m], returns=ck.list_(ck.int64()))
    maps, rows = pa.array([[("a", 1)]], COUNTS), pa.array([{"n": 5}])
    assert column_function_of(made) is made
    assert ArrowFunction(made)(maps, rows).to_pylist() == [[6]]


def test_results_are_those_of_a_plain_udf(spark: SparkSession) -> None:
    frame = spark.sql(
        "SELECT text, map('a', 1L, 'b', null) c, map('k', map('i', 1)) m,"
        " map(date'2024-02-29', array('a', 'b')) d, array(r, null) rs, r, time'12:34:56' t"
        " FROM (SELECT explode(array('x', 'é')) text, named_struct('n', 1L, 'name', 'é',"
        " 'by_name', map('a', 1L), 'inner', named_struct('x', 0.5D)) r)"
    )
    columns = ["c", "c", "m", "d", "r", "r", "r", "rs", "t"]
    own, plain = [], []
    for (function, _, _, returns), column in zip(CASES, columns, strict=True):
        made: Any = colkern.spark.udf(function, returns=returns)
        own.append(made(column, "text"))
        plain.append(f.udf(function, made.returnType)(column, "text"))
    assert frame.select(*own).collect() == frame.select(*plain).collect()
