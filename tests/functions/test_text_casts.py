"""Casts between text and numbers, dates and times, against pyarrow."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal

import pyarrow as pa
import pytest
from arrow_oracle import from_pyarrow, type_of

import colkern as ck

FLOATS = [
    1.0,
    -0.0,
    0.1,
    1e9,
    1e10,
    12345678901.5,
    1e22,
    1.5e300,
    1e-4,
    1.5e-6,
    1e-7,
    1234567890.125,
]
TEXTS = {
    "int8": pa.array([1, None, -128], pa.int8()),
    "uint64": pa.array([0, 2**64 - 1, None], pa.uint64()),
    "floats": pa.array([*FLOATS, None, math.nan, math.inf, -math.inf]),
    "bool": pa.array([True, None, False]),
    "decimal128": pa.array([Decimal("1.50"), None, Decimal("-0.01")], pa.decimal128(10, 2)),
    "date32": pa.array([dt.date(2024, 1, 2), None]),
    "timestamp": pa.array([dt.datetime(2024, 1, 2, 3, 4, 5, 6), None]),
    "with a zone": pa.array([0, None], pa.timestamp("ms", "Europe/Oslo")),
    "UTC": pa.array([0, None], pa.timestamp("s", "UTC")),
    "float32": pa.array([0.1, 1e-5, None, 1.5e38, -302.39203, math.nan, -math.inf], pa.float32()),
    "float16": pa.array([0.1, None, 65504, 6e-8], pa.float64()).cast(pa.float16()),
    **{
        str(type_): pa.array(
            [0, None, 3_723_004], (type_.bit_width == 32 and pa.int32()) or pa.int64()
        ).cast(type_)
        for type_ in (pa.time32("ms"), pa.time64("ns"), pa.duration("us"))
    },
    "time32[s]": pa.array([0, None, 86_399], pa.int32()).cast(pa.time32("s")),
}


@pytest.mark.parametrize("name", TEXTS)
def test_as_text(name: str) -> None:
    values = TEXTS[name]
    expected = values.cast(pa.string())
    assert ck.cast(from_pyarrow(values), "utf8").to_pylist() == expected.to_pylist()
    assert ck.cast(from_pyarrow(values), "large_utf8").type == ck.large_utf8()


PARSED = [
    (["1", None, "-5", "00012"], pa.int64()),
    (["1", None, "255"], pa.uint8()),
    (["1", "1e5", "-Infinity", ".5", None], pa.float64()),
    (["1.5", "nan"], pa.float32()),
    (["1", "0", "TRUE", "False", None], pa.bool_()),
    (["1.50", "1.5", "1e2", None], pa.decimal128(10, 2)),
    (["2024-01-02", None], pa.date32()),
    (["2024-01-02", "2024-01-02 03:04:05", "2024-01-02T03:04", None], pa.timestamp("us")),
    (["2024-01-02T03:04:05.123456789", "2024-01-02 03:04:05.1", "2024-01-02"], pa.timestamp("ns")),
    (["2024-07-02T03:04Z", None, "2024-01-02 03:04:05+0130"], pa.timestamp("s", "Europe/Oslo")),
    (["2024-07-02T03:04:05.123456789-01:00"], pa.timestamp("ns", "UTC")),
    (["0x1F", None, "0Xff", "-128"], pa.int8()),
    (["0xffffffffffffffff", "7"], pa.uint64()),
]


@pytest.mark.parametrize(("texts", "type_"), PARSED, ids=[str(type_) for _, type_ in PARSED])
def test_from_text(texts: list[str | None], type_: pa.DataType) -> None:
    result = ck.cast(ck.array(texts), type_of(type_))
    assert repr(pa.array(result).to_pylist()) == repr(pa.array(texts).cast(type_).to_pylist())


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        (" 1", "int64"),
        ("1_0", "int64"),
        ("300", "int8"),
        ("", "float64"),
        ("1_0", "float64"),
        ("yes", "bool"),
        ("20240102", "date32"),
        ("1.555", "decimal128(10, 2)"),
        (" 1", "decimal128(10, 2)"),
        ("1_0", "decimal128(10, 2)"),
        ("0x1ff", "int8"),
        ("20240102", "timestamp[s]"),
        ("2024-01-02T03:04:05.1234567", "timestamp[us]"),
        ("2024-01-02T03:04:05Z", "timestamp[us]"),
        ("2024-01-02T03:04:05", "timestamp[us, UTC]"),
    ],
)
def test_text_that_is_no_value(text: str, type_: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        ck.cast(ck.array([text]), type_)


def test_there_and_back() -> None:
    values = ck.array([1.5, None, -1e300, 1e-300])
    assert ck.cast(ck.cast(values, "utf8"), "float64").equals(values)
    words = ck.cast(ck.dictionary_encode(ck.array(["7", "8", "7"])), "int32")
    assert words.to_pylist() == [7, 8, 7]


@pytest.mark.parametrize("type_", [pa.float32(), pa.float64()])
def test_floats_as_decimals(type_: pa.DataType) -> None:
    floats = pa.array([2.675, 0.125, 0.375, None, -1e15, 0.1], type_)
    actual = ck.cast(from_pyarrow(floats), "decimal128(30, 2)")
    assert actual.to_pylist() == floats.cast(pa.decimal128(30, 2)).to_pylist()
    for no_decimal in (math.nan, math.inf, 1e40):
        with pytest.raises(ValueError, match=r"cast: the result|not a decimal"):
            ck.cast(ck.array([no_decimal]), "decimal128(30, 2)")


def test_dates_and_times_of_day_of_moments_are_those_of_their_zone() -> None:
    moments = pa.array([0, None, 1720000000 * 10**6, -1], pa.timestamp("us", "Europe/Oslo"))
    for type_ in (pa.date32(), pa.date64(), pa.time64("us")):
        expected = moments.cast(type_).to_pylist()
        assert ck.cast(from_pyarrow(moments), type_of(type_)).to_pylist() == expected
