"""Traced functions of pandas' columns give what pandas gives, to the bit; without Spark.

The loops that are compiled in use run as plain Python here, but for a few of them.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import types as spark

import colkern as ck
from colkern.spark.acceleration import program
from colkern.spark.acceleration.compiled import Compiled
from colkern.spark.acceleration.forms import Column
from colkern.spark.acceleration.graph import OTHER
from colkern.spark.acceleration.original import Original, Settings
from colkern.spark.acceleration.row_calls import RowFunction
from colkern.spark.acceleration.verification import difference

INF, NAN = float("inf"), float("nan")
FLOATS = pa.array([1.0, None, -2.5, 5e300, 0.0, -0.0, INF, 1e-320, 3.5, -INF])
OTHERS = pa.array([2.5, -1.0, NAN, None, 0.0, 7.0, -INF, 2.0, 0.1, -0.0])
SINGLES = pa.array([1.5, None, 3.0, -4.0, 0.1, 1e38, 2.675, -8.005, NAN, -0.0], pa.float32())
LONGS = pa.array([1, -5, 7, 2**62, 0, -(2**63), 3, 2, 9, 2**63 - 1])
INTS = pa.array([1, 2, 3, -4, 5, -(2**31), 2**31 - 1, -8, 9, 7], pa.int32())
BYTES = pa.array([1, 2, 127, -128, 5, -1, 7, -8, 9, 100], pa.int8())
SHORTS = pa.array([1, 3, -7, 2**15 - 1, -(2**15), 5, 9, 10, 11, 13], pa.int16())
NULLABLE = pa.array([1, None, 3, -4, 5, 2**53 + 1, 7, -8, 0, -9])
BOOLS = pa.array([True, False] * 5)
TEXTS = pa.array(["a", "ß", None, "", "PROMO x", "  y ", "é", "日本", "zPROMO", "A"])
WORDS = pa.array(["a", "b", "", "", "PROMO", "y", "é", "日", "zPROMO", "a"])
# A leap day, a year's first and last moments, before 1970.
MOMENTS = pa.array(
    [pd.Timestamp(text) for text in ("1969-12-31 23:59:59.5", "2024-02-29 12:30", "2023-01-01")]
    + [pd.Timestamp(text) for text in ("2023-12-31 23:59:59.999999", "2024-03-31 01:30:01")],
    pa.timestamp("us", "UTC"),
)

TYPES = {
    "boolean": spark.BooleanType(),
    "tinyint": spark.ByteType(),
    "smallint": spark.ShortType(),
    "int": spark.IntegerType(),
    "bigint": spark.LongType(),
    "float": spark.FloatType(),
    "double": spark.DoubleType(),
    "string": spark.StringType(),
}


def run_as_python(
    function: Callable[..., Any], signature: str, arithmetic: str
) -> Callable[..., Any]:
    """A stand-in for `ck.udf`: the rows one by one, in NumPy's scalars."""
    assert arithmetic == "machine"
    returns = pa.type_for_alias(signature.split(" -> ")[1])

    def run(*columns: Any) -> ck.Array:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            rows = zip(*[pa.array(column).to_pylist() for column in columns], strict=True)
            return ck.array(pa.array([function(*row) for row in rows], returns))

    return run


@pytest.fixture
def plain_python(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as patch:
        patch.setattr(program, "udf", run_as_python)
        yield


def both(
    function: Any, returns: str, *columns: pa.Array, safely: bool = False
) -> tuple[pa.Array | None, pa.Array]:
    """The results of compiled code, None if there are none, and those of the original."""
    original = Original(function, TYPES[returns], Settings(safely=safely))
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "(invalid|divide|overflow)", RuntimeWarning)
        warnings.filterwarnings("ignore", "PySpark does not", FutureWarning)
        compiled = Compiled("function", original, TYPES[returns])
        return compiled.attempt(columns), original(columns)


def require_same(function: Any, returns: str, *columns: pa.Array) -> None:
    result, expected = both(function, returns, *columns)
    assert result is not None
    assert difference(columns, result, expected) is None


def helped(s: pd.Series) -> pd.Series:
    return pd.Series(np.where(pd.isna(s), 0.0, s))


def by_helpers(s: pd.Series) -> pd.Series:
    def inner(values: pd.Series) -> pd.Series:
        return helped(values) + pd.Series(np.sqrt(values.to_numpy()))

    return inner(s)


def assigned(s: pd.Series) -> pd.Series:
    kept, same = s.copy(), s
    s[s < 0] = 0.0
    same.loc[same > 3] = 3.0
    return s - kept


def tripled(value: float) -> float:
    return value * 3


SAME: dict[str, tuple[Any, str, tuple[pa.Array, ...]]] = {
    "arithmetic": (lambda s, t: s * 1.1 + t / 3 - 2, "double", (FLOATS, OTHERS)),
    "reflected": (lambda s: 1 - s + 2 / s, "double", (FLOATS,)),
    "methods": (lambda s, t: s.add(t).mul(2).rsub(1).div(t), "double", (FLOATS, OTHERS)),
    "nulls make integers floats": (lambda s, t: s * 3 + t, "double", (NULLABLE, SINGLES)),
    "integers wrap around": (lambda s, t: s * t + s, "bigint", (LONGS, LONGS)),
    "narrow integers wrap around": (lambda s: s * s + 100, "tinyint", (BYTES,)),
    "integers of two widths": (lambda s, t: s + t, "bigint", (LONGS, INTS)),
    "integers divided": (lambda s, t: s / t, "double", (LONGS, INTS)),
    "integers divided by zero": (lambda s: s / 0, "double", (LONGS,)),
    "floats of 32 bits": (lambda s: s * 1.1 + 0.3, "float", (SINGLES,)),
    "floats of both widths": (lambda s, t: s * t, "double", (SINGLES, FLOATS)),
    "booleans as numbers": (lambda s, b: s * b, "double", (FLOATS, BOOLS)),
    "negative": (lambda s: -s, "bigint", (LONGS,)),
    "absolute": (lambda s: abs(s), "bigint", (LONGS,)),
    "inverted bits": (lambda s: ~s & 6 | 1, "bigint", (LONGS,)),
    "comparisons": (lambda s, t: (s > t) | (s <= 0) & ~(t != 0), "boolean", (FLOATS, OTHERS)),
    "compared at 32 bits": (lambda s: s > 0.1, "boolean", (SINGLES,)),
    "compared with wide integers": (lambda s, t: s == t, "boolean", (LONGS, FLOATS)),
    "logic": (lambda a, s: (a ^ (s > 0)) & True, "boolean", (BOOLS, FLOATS)),
    "abs, clip": (lambda s: s.abs().clip(0, 10), "double", (FLOATS,)),
    "clip below": (lambda s: s.clip(lower=0.0), "double", (FLOATS,)),
    "clip of integers": (lambda s: s.clip(-3, 5), "int", (INTS,)),
    "fillna": (lambda s: s.fillna(0) + 1, "double", (FLOATS,)),
    "fillna of integers": (lambda s: s.fillna(0).astype(int), "bigint", (NULLABLE,)),
    "fillna with a column": (lambda s, t: s.fillna(t), "double", (FLOATS, OTHERS)),
    "isna": (lambda s: s.isna() | pd.isna(s) | ~s.notna(), "boolean", (NULLABLE,)),
    "isna of integers": (lambda s: s.isna(), "boolean", (LONGS,)),
    "where": (lambda s, t: s.where(t > 1, 0), "double", (FLOATS, OTHERS)),
    "where null": (lambda s: s.where(s > 1), "double", (FLOATS,)),
    "where of a callable": (lambda s: s.where(lambda x: x > 1, -1.5), "double", (FLOATS,)),
    "mask": (lambda s, t: s.mask(t > 1, t), "double", (FLOATS, OTHERS)),
    "between": (lambda s: s.between(0, 5, inclusive="left"), "boolean", (LONGS,)),
    "isin": (lambda s: s.isin([1, 3.5]), "boolean", (FLOATS,)),
    "round": (lambda s: s.round(2) + np.round(s, 1) + s.round(), "double", (FLOATS,)),
    "round to tens": (lambda s: s.round(-1), "double", (OTHERS,)),
    "round at 32 bits": (lambda s: s.round(2), "float", (SINGLES,)),
    "astype": (lambda s: s.astype("float64") + s.astype("int8"), "double", (LONGS,)),
    "astype boolean": (lambda s: s.astype(bool), "boolean", (FLOATS,)),
    "np.where": (lambda s: pd.Series(np.where(s > 0, np.sqrt(s) * 2, 0.0)), "double", (FLOATS,)),
    "np.select": (
        lambda s: pd.Series(np.select([s > 3, s > 0], [1.0, s], -1)),
        "double",
        (FLOATS,),
    ),
    "np.maximum": (lambda s, t: np.maximum(s, t) + np.fmin(s, 1), "double", (FLOATS, OTHERS)),
    "np.clip": (lambda s: pd.Series(np.clip(s.to_numpy(), 0, 2)), "double", (FLOATS,)),
    "elementary": (lambda s, t: np.log1p(s).round(2) + np.exp(-t), "double", (FLOATS, OTHERS)),
    "elementary, compared": (lambda s: np.exp(s) * 2 > 3, "boolean", (FLOATS,)),
    "exact functions": (lambda s: np.floor(s) - np.ceil(s) + np.sign(s), "double", (FLOATS,)),
    "classes": (lambda s: np.isnan(s) | np.isinf(s) | np.isfinite(s), "boolean", (FLOATS,)),
    "powers": (lambda s, t: s**2 + 2**s + s**t, "double", (FLOATS, OTHERS)),
    "division": (lambda s, t: s // t + s % t, "double", (FLOATS, OTHERS)),
    "division of integers": (lambda s: s // 3 - s % -7, "bigint", (LONGS,)),
    "helpers": (by_helpers, "double", (FLOATS,)),
    "arrays": (lambda s: pd.Series(s.values + s.to_numpy() * 2), "double", (FLOATS,)),
    "floats as integers": (lambda s: s * 2, "bigint", (NULLABLE,)),
    "integers as bytes": (lambda s: s, "tinyint", (LONGS,)),
    "floats as 32 bits": (lambda s: s, "float", (FLOATS,)),
    "a text": (lambda s: s, "string", (TEXTS,)),
    "len": (lambda s: s.str.len(), "bigint", (TEXTS,)),
    "len of texts without nulls": (lambda s: s.str.len() * 2, "bigint", (WORDS,)),
    "upper, lower": (lambda s: s.str.upper() + s.str.lower(), "string", (TEXTS,)),
    "strip": (lambda s: s.str.lstrip() + "|" + s.str.rstrip() + s.str.strip(), "string", (TEXTS,)),
    "contains": (lambda s: s.str.contains("PROMO"), "boolean", (TEXTS,)),
    "contains a point": (lambda s: s.str.contains(".", regex=False), "boolean", (TEXTS,)),
    "starts and ends": (
        lambda s: s.str.startswith("P") | s.str.endswith("O") & (s.str.len() > 3),
        "boolean",
        (TEXTS,),
    ),
    "equal texts": (lambda s, t: (s == t) | (s == "é"), "boolean", (TEXTS, WORDS)),
    "unequal texts": (lambda s, t: (s != t) & (s != "é"), "boolean", (TEXTS, WORDS)),
    "order of texts": (lambda s: (s < "b") | (s >= "y"), "boolean", (TEXTS,)),
    "null texts": (lambda s, t: s.fillna(t) + s.fillna("none"), "string", (TEXTS, WORDS)),
    "isna of texts": (lambda s: s.isna(), "boolean", (TEXTS,)),
    "choices of constant texts": (
        lambda s: pd.Series(np.select([s > 3, s > 0], ["a", np.where(s > 1, "b", "c")], "d")),
        "string",
        (FLOATS,),
    ),
    "a constant text that NumPy cuts": (
        lambda s: pd.Series(np.where(s > 0, "a\0", "b")),
        "string",
        (FLOATS,),
    ),
    "choices of columns of texts": (
        lambda s, t: pd.Series(np.where(s.str.len() > 1, s, t)) + t.where(t > "a", "-"),
        "string",
        (TEXTS, WORDS),
    ),
    "texts masked by a choice": (
        lambda s, t: s.mask(pd.Series(np.where(t < 0, "yes", "no")) == "yes"),
        "string",
        (TEXTS, OTHERS),
    ),
    "parts of timestamps": (
        lambda t: t.dt.year * 10**6 + t.dt.month * 10**4 + t.dt.day * 100 + t.dt.hour,
        "bigint",
        (MOMENTS,),
    ),
    "other parts of timestamps": (
        lambda t: t.dt.minute + t.dt.second + t.dt.dayofweek + t.dt.dayofyear + t.dt.quarter,
        "int",
        (MOMENTS,),
    ),
    "classes of timestamps with nulls": (
        lambda t: (t.dt.is_leap_year & ~t.dt.is_month_start) | (t.dt.weekday >= 5),
        "boolean",
        (pa.concat_arrays([MOMENTS, pa.nulls(2, MOMENTS.type)]),),
    ),
    "assignment to rows": (assigned, "double", (FLOATS,)),
    "a dtype that depends on the values": (lambda s: s // s.abs(), "double", (LONGS,)),
    "a function that calls another": (
        lambda s: s.apply(lambda x: tripled(x) if pd.notna(x) else -1.0),
        "double",
        (FLOATS,),
    ),
    "a function of integers with nulls": (
        lambda s: s.map(lambda x: f"{x:.1f}", na_action="ignore"),
        "string",
        (NULLABLE,),
    ),
    "a function of texts that gives numbers or none": (
        lambda s: s.map(lambda x: len(x) if x else None, na_action="ignore") + 1,
        "double",
        (TEXTS,),
    ),
    "a function of booleans with nulls": (
        lambda s: s.apply(lambda x: "?" if x is None else "yes" if x else "no"),
        "string",
        (pa.array([True, None, False]),),
    ),
    "numbers where a batch has nulls of its own making": (
        lambda s: s.where(s.str.len() > 1).str.len(),
        "double",
        (TEXTS,),
    ),
}


@pytest.mark.usefixtures("plain_python")
@pytest.mark.parametrize("case", SAME)
def test_an_operation_gives_what_pandas_gives(case: str) -> None:
    function, returns, columns = SAME[case]
    require_same(function, returns, *columns)


LISTS = pa.array([["a", "b"], [], None, ["ß", "a", "a"], [None, "a"], ["x\0", "\0"], ["x"]])
NUMBERS_IN_LISTS = pa.array([[1.0, 2.0], [], None, [0.5], [float("nan")], [3.0]])


def counts_of_words(s: pd.Series) -> pd.Series:
    results = []
    for words in s.values:
        if words is not None:
            counts = {}
            for word in words:
                counts[word] = counts.get(word, 0) + 1
            results.append(max(counts.values(), default=0))
        else:
            results.append(-1)
    return pd.Series(results)


OF_LISTS: dict[str, Callable[..., Any]] = {
    "length": lambda s: s.map(lambda x: -1 if x is None else len(x)),
    "members": lambda s: s.apply(lambda x: x is not None and "a" in x),
    "items in order": lambda s: s.dropna().map(lambda x: "|".join(sorted(set(x) - {None}))),
    "pairs": lambda s: s.map(lambda x: "".join([f"{n}{y}" for n, y in enumerate(x or ())])),
    "the last": lambda s: s.map(lambda x: x[-1] if x is not None and len(x) > 0 else "none"),
    "counts": counts_of_words,
    # Of these an array gives something else.
    "a sum of lists": lambda s: s.map(lambda x: None if x is None else str(len(x + x))),
    "copies": lambda s: s.map(lambda x: None if x is None else str(len(x * 2))),
    "a class": lambda s: s.map(lambda x: str(isinstance(x, list))),
    "text of a list": lambda s: s.map(lambda x: f"{x}"),
    "a text with NUL": lambda s: s.map(lambda x: x is not None and "\0" in x),
    "a text that is asked for": lambda s: s.map(lambda x: [t in list(x or ()) for t in "ab\0"][2]),
    "a member that may end with NUL": lambda s: s.map(
        lambda x: None if x is None else str([t in x for t in ("a", "x\0")])
    ),
    "another name": lambda s: s.map(lambda x: str([y := x, y == y][1])),
}


@pytest.mark.parametrize("column", [LISTS, NUMBERS_IN_LISTS], ids=["texts", "numbers"])
@pytest.mark.parametrize("case", OF_LISTS)
def test_functions_of_lists_give_what_they_give_for_arrays(case: str, column: pa.Array) -> None:
    function = OF_LISTS[case]
    for returns in ("string", "bigint", "boolean"):
        for columns in (column, column.drop_null()):
            original = Original(function, TYPES[returns], Settings())
            try:
                expected: pa.Array | None = original([columns])
            except (TypeError, ValueError, pa.ArrowException):
                expected = None
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                result = Compiled("function", original, TYPES[returns]).attempt([columns])
            assert result is None or (expected is not None and result.equals(expected))


def test_the_length_of_lists_is_asked_in_compiled_code() -> None:
    called = []

    def sizes(s: pd.Series) -> pd.Series:
        return pd.Series([-1 if x is None else len(x) for x in s])

    require_same(sizes, "bigint", NUMBERS_IN_LISTS)
    call = RowFunction(lambda x: len(x) + len(called), globals())
    results = call(Column(LISTS.drop_null(), OTHER))
    assert isinstance(results.value, pa.Array)
    assert results.value.to_pylist() == [2, 0, 3, 2, 2, 1]


WEIGHTS, MATRIX = np.array([0.3, -1.7]), np.array([[0.5, 2.0, -1.0], [1.5, 0.0, 3.0]])
PRODUCTS: dict[str, Callable[..., Any]] = {
    "a table and a vector": lambda a, b: pd.DataFrame({"a": a, "b": b}) @ WEIGHTS,
    "an array and a vector": lambda a, b: pd.Series(np.column_stack([a, b]) @ WEIGHTS),
    "dot": lambda a, b: pd.Series(np.dot(np.column_stack([a, b]), [2.0, 3.0])),
    "dot of a table": lambda a, b: pd.concat([a, b], axis=1).dot(WEIGHTS) * 2,
    "matmul": lambda a, b: pd.Series(np.matmul(np.column_stack([a, b]), MATRIX).max(axis=1)),
    "a norm": lambda a, b: pd.Series(np.linalg.norm(np.column_stack([a, b]), axis=1)),
    "an average": lambda a, b: pd.Series(
        np.average(np.column_stack([a, b]), axis=1, weights=[1.0, 3.0])
    ),
    "a row of numbers": lambda a, b: pd.Series(
        ((np.column_stack([a, b]) - WEIGHTS) / MATRIX[:, 2]).sum(axis=1)
    ),
}


@pytest.mark.parametrize("case", PRODUCTS)
def test_products_of_rows_and_constants_are_those_of_numpy(case: str) -> None:
    require_same(PRODUCTS[case], "double", FLOATS, OTHERS)


def of_columns(a: pd.Series, b: pd.Series) -> pd.Series:
    table = np.column_stack([a, b])
    return pd.Series((WEIGHTS @ table.T) + a)


@pytest.mark.parametrize(
    "function",
    [
        of_columns,
        lambda a, b: a * np.dot(a, b),
        lambda a, b: a + np.dot([1.0] * 10, np.column_stack([a, b]))[0],
        lambda a, b: pd.Series(np.matmul(np.column_stack([a, b]), np.ones((1, 2, 1))).ravel()),
    ],
)
def test_products_that_join_rows_are_left_to_numpy(function: Callable[..., Any]) -> None:
    with pytest.warns(RuntimeWarning, match="not accelerated"):
        assert both(function, "double", OTHERS, OTHERS)[0] is None


ZONE = "America/New_York"


@pytest.mark.parametrize("type_", [pa.timestamp("us", ZONE), pa.timestamp("us")])
def test_parts_of_timestamps_are_those_of_the_session(type_: pa.DataType) -> None:
    column, settings = MOMENTS.cast(type_), Settings(timezone=ZONE)
    returns = spark.LongType()
    original = Original(lambda t: t.dt.day * 100 + t.dt.hour, returns, settings)
    compiled = Compiled("function", original, returns).attempt([column])
    assert compiled is not None
    assert compiled.to_pylist() == original([column]).to_pylist()


def halved(value: Decimal) -> Decimal:
    return Decimal("1.5") if value == Decimal("2.35") else value


def test_decimals_keep_the_digits_that_a_function_gives_them() -> None:
    # No digit of these shows how the function writes the number that only the second batch has.
    first, second = (pa.array([Decimal(text), Decimal("3.25")]) for text in ("1.25", "2.35"))
    for function in (
        lambda s: s.map(halved).astype(str),
        lambda s: s.map(halved).map(lambda value: str(value)),
    ):
        original = Original(function, TYPES["string"], Settings())
        compiled = Compiled("function", original, TYPES["string"])
        for batch in (first, second):
            result = compiled.attempt([batch])
            assert result is not None
            assert result.to_pylist() == original([batch]).to_pylist()


@pytest.mark.parametrize(
    "case", ["np.where", "choices of constant texts", "narrow integers wrap around", "elementary"]
)
def test_compiled_it_gives_the_same(case: str) -> None:
    function, returns, columns = SAME[case]
    require_same(function, returns, *columns)


# What would be computed in a wider type by Numba than by NumPy

WIDTHS: dict[str, tuple[Any, str, tuple[pa.Array, ...]]] = {
    "round of nullable float32": (lambda s: s.round(2), "float", (SINGLES,)),
    "arithmetic of nullable float32": (lambda s: (s * 0.1 + 0.3) / 3 - s, "float", (SINGLES,)),
    "a choice of nullable float32": (lambda s: s.where(s > 1, 0.5) * 1.1, "float", (SINGLES,)),
    "functions of nullable float32": (
        lambda s: np.sqrt(abs(s)) * s.clip(-2, 2),
        "float",
        (SINGLES,),
    ),
    "float32 and a nullable integer": (lambda s, t: s * t + 0.1, "double", (SINGLES, NULLABLE)),
    "sums of int8": (lambda s: (s + s) * 3 - s, "tinyint", (BYTES,)),
    "int16 through int16": (lambda s, t: s / t + 0.1, "float", (SHORTS, SHORTS[::-1])),
    "int8 and int32": (lambda s, t: s * t - abs(t), "int", (BYTES, INTS)),
    "comparison of int32 and float32": (lambda s, t: s == t, "boolean", (INTS, SINGLES)),
}


@pytest.mark.parametrize("case", WIDTHS)
def test_each_operation_is_computed_in_the_type_that_numpy_has(case: str) -> None:
    function, returns, columns = WIDTHS[case]
    require_same(function, returns, *columns)


# Results of another type than declared are converted as PySpark converts them

EDGES = [0, 1, -1, 100, 127, 128, -129, 2**15, 2**24 + 1, 2**31 - 1, 2**31, 2**53 + 1, 2**63 - 1]
FRACTIONS = [0.5, -0.0, 1.0, -1.5, 3e9, 1e30, 1e300, INF, 1e-320]
NUMBERS = {
    "integers": pa.array(EDGES),
    "floats": pa.array(FRACTIONS),
    "floats with nulls": pa.array([1.0, 2.5, 300.0, None]),
    "single floats": pa.array([0.5, 1.0, 3e9, -INF], pa.float32()),
}
NUMERIC = ["tinyint", "smallint", "int", "bigint", "float", "double"]


@pytest.mark.usefixtures("plain_python")
@pytest.mark.parametrize("safely", [True, False])
@pytest.mark.parametrize("returns", NUMERIC)
@pytest.mark.parametrize("column", NUMBERS)
def test_a_result_is_converted_or_refused_as_pyspark_does(
    column: str, returns: str, safely: bool
) -> None:
    def identity(s: pd.Series) -> pd.Series:
        return s

    original = Original(identity, TYPES[returns], Settings(safely=safely))
    fits, refused = [], []
    for row in range(len(NUMBERS[column])):
        try:
            original([NUMBERS[column][row : row + 1]])
        except ValueError as error:
            refused.append((row, type(error)))
        else:
            fits.append(row)
    whole = NUMBERS[column].take(pa.array(fits, pa.int64()))
    result, expected = both(identity, returns, whole, safely=safely)
    assert result is not None
    assert difference([whole], result, expected) is None
    assert not refused or safely
    for row, kind in refused[:1]:
        compiled = Compiled("function", original, TYPES[returns])
        with (
            pytest.raises(kind, match="convertToArrowArraySafely"),
            pytest.warns(RuntimeWarning, match="not accelerated"),
        ):
            compiled([NUMBERS[column][row : row + 1]])


# Expressions of many operations

Expression = Callable[[Any, Any], Any]

LEAVES: list[Expression] = [lambda s, t: s, lambda s, t: t]
ONE: list[Callable[[Expression, float], Expression]] = [
    lambda e, c: lambda s, t: e(s, t) * c,
    lambda e, c: lambda s, t: c - e(s, t),
    lambda e, c: lambda s, t: -e(s, t),
    lambda e, c: lambda s, t: e(s, t).abs(),
    lambda e, c: lambda s, t: e(s, t).round(1),
    lambda e, c: lambda s, t: np.floor(e(s, t)),
    lambda e, c: lambda s, t: np.sqrt(e(s, t)),
    lambda e, c: lambda s, t: np.exp(e(s, t)),
    lambda e, c: lambda s, t: e(s, t) // 3,
    lambda e, c: lambda s, t: e(s, t).isna() * c,
]
TWO: list[Callable[[Expression, Expression], Expression]] = [
    lambda a, b: lambda s, t: a(s, t) + b(s, t),
    lambda a, b: lambda s, t: a(s, t) * b(s, t),
    lambda a, b: lambda s, t: a(s, t) / b(s, t),
    lambda a, b: lambda s, t: pd.Series(np.where(a(s, t) > b(s, t), a(s, t), b(s, t))),
    lambda a, b: lambda s, t: np.minimum(a(s, t), b(s, t)),
    lambda a, b: lambda s, t: (a(s, t) <= b(s, t)) | (a(s, t) != 0),
]


def grown(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    constants = st.sampled_from([0.0, -1.5, 3, 1e300])
    ones = st.builds(lambda make, e, c: make(e, c), st.sampled_from(ONE), inner, constants)
    return ones | st.builds(lambda make, a, b: make(a, b), st.sampled_from(TWO), inner, inner)


EXPRESSIONS = st.recursive(st.sampled_from(LEAVES), grown, max_leaves=6)
FLOAT_COLUMNS = st.lists(st.none() | st.floats(), min_size=6, max_size=6)
INT_COLUMNS = st.lists(st.integers(-(2**63), 2**63 - 1), min_size=6, max_size=6)
NULLABLE_COLUMNS = st.lists(st.none() | st.integers(-(2**31), 2**31 - 1), min_size=6, max_size=6)


@given(
    expression=EXPRESSIONS,
    first=FLOAT_COLUMNS.map(lambda c: pa.array(c, pa.float64()))
    | NULLABLE_COLUMNS.map(lambda c: pa.array(c, pa.int32())),
    second=FLOAT_COLUMNS.map(lambda c: pa.array(c, pa.float64()))
    | INT_COLUMNS.map(lambda c: pa.array(c, pa.int64())),
)
def test_expressions_give_what_pandas_gives_or_are_refused(
    expression: Expression, first: pa.Array, second: pa.Array
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(program, "udf", run_as_python)
        with warnings.catch_warnings():
            # What is refused: arithmetic of booleans, say, or another type than declared.
            warnings.filterwarnings("ignore", ".*not accelerated", RuntimeWarning)
            warnings.filterwarnings("error", ".*not verified", RuntimeWarning)
            try:
                result, expected = both(expression, "double", first, second)
            except (TypeError, NotImplementedError, ValueError, pa.ArrowInvalid):
                # Of the original: pandas does not do that either.
                return
    if result is not None:
        assert difference((first, second), result, expected) is None
