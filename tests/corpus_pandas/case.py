"""Cases: a pandas_udf as a practitioner writes it, its type, and the columns that it is used with.

@case("double", price="amount", rate="share")
def net(price, rate):
    return price * (1 - rate)
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pyarrow as pa
from pyspark.sql import types as spark


@dataclass(frozen=True)
class Case:
    """A function of pandas' columns; `style` is the module that it stands in."""

    function: Callable[..., Any]
    returns: str
    columns: tuple[str, ...]
    over_batches: bool

    @property
    def style(self) -> str:
        return self.function.__module__.rpartition(".")[2]

    @property
    def name(self) -> str:
        return f"{self.style}.{self.function.__name__}"


CASES: list[Case] = []


def case(returns: str, *, over_batches: bool = False, **columns: str) -> Callable[..., Any]:
    """Adds a function to the corpus; `columns` are kinds of `COLUMNS` by the names of parameters."""

    def added(function: Callable[..., Any]) -> Callable[..., Any]:
        CASES.append(Case(function, returns, tuple(columns.values()), over_batches))
        return function

    return added


_MOMENTS = [
    datetime.datetime(2023 + k % 3, 1 + k % 12, 1 + k * 5 % 28, k * 7 % 24, k) for k in range(20)
]
_DAYS = [moment.date() for moment in _MOMENTS]
_NAMES = ["anna Smith", " Bob Jones ", "carla o'Neil", "DAVE LEE", "eve", "Frank van Dyk"]
_UTC = pa.timestamp("us", "UTC")

COLUMNS: dict[str, pa.Array] = {
    "amount": pa.array([k * 13.37 - 40 for k in range(20)]),
    "price": pa.array([1.0 + k * 7.25 for k in range(20)]),
    "share": pa.array([k % 10 / 10 for k in range(20)]),
    "single": pa.array([k / 3 for k in range(20)], pa.float32()),
    "count": pa.array([k % 7 for k in range(20)]),
    "number": pa.array([k * 37 - 200 for k in range(20)], pa.int32()),
    "identity": pa.array([10_000_000_000 + k * 7919 for k in range(20)]),
    "flag": pa.array([k % 3 == 0 for k in range(20)]),
    "name": pa.array([_NAMES[k % 6] for k in range(20)]),
    "country": pa.array([["DE", "FR", "us", "JP", "GB "][k % 5] for k in range(20)]),
    "code": pa.array([f"AB-{k:03d}-{'xyz'[k % 3]}" for k in range(20)]),
    "email": pa.array([f"User.{k}@Mail{k % 3}.example.org" for k in range(20)]),
    "phone": pa.array([f"+49 ({k:02d}) 555-{k * 311 % 9999:04d}" for k in range(20)]),
    "address": pa.array([f"https://www.shop{k % 4}.com/a/b?id={k}&q=x" for k in range(20)]),
    "number_text": pa.array([f"${k * 1234.5:,.2f}" for k in range(20)]),
    "plain_number_text": pa.array([str(k * 1.5) if k % 4 else "n/a" for k in range(20)]),
    "day_text": pa.array([day.isoformat() for day in _DAYS]),
    "german_day_text": pa.array([f"{day:%d.%m.%Y}" for day in _DAYS]),
    "moment": pa.array(_MOMENTS, _UTC),
    "later": pa.array([m + datetime.timedelta(hours=k * 9) for k, m in enumerate(_MOMENTS)], _UTC),
    "local_moment": pa.array(_MOMENTS, pa.timestamp("us")),
    "day": pa.array(_DAYS),
    "money": pa.array([Decimal(k * 1234 - 999) / 100 for k in range(20)], pa.decimal128(12, 2)),
    "digest": pa.array([bytes([k, 255 - k]) * (k % 3) for k in range(20)]),
    "place": pa.array(
        [{"lat": 48 + k / 9, "lon": 11 - k / 7, "city": _NAMES[k % 6]} for k in range(20)],
        pa.struct({"lat": pa.float64(), "lon": pa.float64(), "city": pa.string()}),
    ),
    "tags": pa.array(
        [[["new", "sale"], [], ["used"], ["sale", "b w", "sale"]][k % 4] for k in range(20)]
    ),
    "readings": pa.array([[k / 2, k / 3, float(k)] for k in range(20)]),
}
"""Benign values of each kind of column."""

_EXTREMES: list[tuple[Callable[[pa.DataType], bool], list[Any]]] = [
    (
        pa.types.is_floating,
        [0.0, -0.0, 1.0, -1.0, 0.5, 2.675, -8.005, 1e-320, 1e38, 5e300, -5e300]
        + [float("inf"), float("-inf"), float("nan"), 2.0**53, 2.0**63, 1e-7],
    ),
    (pa.types.is_int64, [0, 1, -1, 2**53 + 1, 2**62, 2**63 - 1, -(2**63), 100, 13]),
    (pa.types.is_integer, [0, 1, -1, 2**31 - 1, -(2**31), 100, 13]),
    (pa.types.is_boolean, [True, False]),
    (
        pa.types.is_string,
        ["", " ", "a", "A", "ß", "İstanbul", "ﬁ x", "é", "e\u0301", "ς", "日本", "😀😀", "x" * 300]
        + [
            "a\0b",
            "\u00a0x\u2003",
            "\x1cx\x1f",
            "1.5",
            "١٢",
            "-",
            "--",
            "a@b",
            "2024-02-29",
            "nan",
        ],
    ),
    (
        pa.types.is_timestamp,
        [datetime.datetime(*parts) for parts in ((1677, 9, 22), (1900, 2, 28, 23, 59, 59, 999999))]
        + [datetime.datetime(*parts) for parts in ((1970, 1, 1), (2024, 2, 29, 12), (2262, 4, 10))]
        + [datetime.datetime(*parts) for parts in ((1, 1, 1), (9999, 12, 31, 23, 59, 59))],
    ),
    (
        pa.types.is_date,
        [datetime.date(*parts) for parts in ((1, 1, 1), (1900, 2, 28), (1970, 1, 1), (2024, 2, 29))]
        + [datetime.date(2024, 12, 31), datetime.date(9999, 12, 31)],
    ),
    (
        pa.types.is_decimal,
        [Decimal(text) for text in ("0", "-0.01", "9999999999.99", "2.50", "-1")],
    ),
    (pa.types.is_binary, [b"", b"\0", b"\xff\xfe", b"a" * 300, "ß".encode()]),
    (
        pa.types.is_struct,
        [{"lat": x, "lon": y, "city": z} for x, y, z in ((0.0, -0.0, ""), (5e300, -1.0, "ß"))]
        + [{"lat": float("nan"), "lon": float("inf"), "city": "x" * 300}],
    ),
    (lambda type_: type_ == pa.list_(pa.string()), [["ß", None, "ß"], [""], [], ["😀", "x" * 300]]),
    (pa.types.is_list, [[0.0], [-1.0, float("nan")], [float("inf"), 5e300, 1e-320]]),
]


def benign(columns: tuple[str, ...]) -> list[pa.Array]:
    """The ordinary values."""
    return [COLUMNS[column] for column in columns]


def with_nulls(columns: tuple[str, ...]) -> list[pa.Array]:
    """Each column with nulls in other rows, and all of them null in one."""
    chosen = []
    for k, column in enumerate(columns):
        values = COLUMNS[column].to_pylist()
        chosen.append(
            pa.array(
                [None if (row + k) % 4 == 0 or row == 5 else v for row, v in enumerate(values)],
                COLUMNS[column].type,
            )
        )
    return chosen


def extreme(columns: tuple[str, ...], *, nulls: bool) -> list[pa.Array]:
    """The ends of each type, in other pairs for each column."""
    chosen = []
    for k, column in enumerate(columns):
        type_ = COLUMNS[column].type
        values = next(values for is_kind, values in _EXTREMES if is_kind(type_))
        values = [*values, None] if nulls else values
        chosen.append(
            pa.array([values[(row * (k + 1) + k) % len(values)] for row in range(60)], type_)
        )
    return chosen


_DOUBLE, _INT, _STRING = spark.DoubleType(), spark.IntegerType(), spark.StringType()

RETURNS: dict[str, spark.DataType] = {
    "boolean": spark.BooleanType(),
    "int": spark.IntegerType(),
    "bigint": spark.LongType(),
    "double": _DOUBLE,
    "string": _STRING,
    "date": spark.DateType(),
    "timestamp": spark.TimestampType(),
    "decimal(14,2)": spark.DecimalType(14, 2),
    "array<string>": spark.ArrayType(_STRING),
    "struct<low: double, high: double>": spark.StructType()
    .add("low", _DOUBLE)
    .add("high", _DOUBLE),
    "struct<user: string, host: string>": spark.StructType()
    .add("user", _STRING)
    .add("host", _STRING),
    "struct<year: int, month: int>": spark.StructType().add("year", _INT).add("month", _INT),
    "struct<value: double, grade: string>": spark.StructType()
    .add("value", _DOUBLE)
    .add("grade", _STRING),
    "struct<lat: double, city: string>": spark.StructType()
    .add("lat", _DOUBLE)
    .add("city", _STRING),
}
"""The declared types, without Spark's own parser, which runs in its JVM."""
