"""`cast`: against pyarrow where it has the cast, and against plain Python."""

from __future__ import annotations

import datetime as dt
import itertools
import math
import re
from decimal import Context, Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from arrow_oracle import from_pyarrow, type_of
from hypothesis import given
from hypothesis import strategies as st
from operations.samples import sample, samples

import colkern.schema as s
from colkern.arrays import Array
from colkern.errors import InvalidArrowError, LimitExceededError, UnsupportedError
from colkern.extensions.making import timestamp_with_offset
from colkern.layouts import Role, layout
from colkern.memory import Buffer
from colkern.operations import cast, nulls, take, validate

INTS = [
    pa.int8(),
    pa.int16(),
    pa.int32(),
    pa.int64(),
    pa.uint8(),
    pa.uint16(),
    pa.uint32(),
    pa.uint64(),
]
FLOATS = [pa.float32(), pa.float64()]
BINARY = [
    pa.utf8(),
    pa.large_utf8(),
    pa.binary(),
    pa.large_binary(),
    pa.string_view(),
    pa.binary_view(),
]

TEXTS = [b"ab", None, b"cd", b"", "ü€".encode(), b"a longer one than twelve bytes"]


def pyarrow_cast(array: pa.Array, type_: pa.DataType, safe: bool = True) -> list[Any] | None:
    """pyarrow's result, None if that is an error."""
    try:
        return array.cast(type_, safe=safe).to_pylist()  # type: ignore[no-any-return]
    except pa.ArrowInvalid:
        return None


def agrees(array: pa.Array, type_: pa.DataType, safe: bool = True) -> None:
    """Both have the same values, or both refuse."""
    expected = pyarrow_cast(array, type_, safe)
    if expected is None:
        with pytest.raises(ValueError, match="slot"):
            cast(from_pyarrow(array), type_of(type_), safe=safe)
        return
    actual = cast(from_pyarrow(array), type_of(type_), safe=safe)
    assert actual.to_pylist() == expected
    assert actual.type == type_of(type_)
    if safe:
        validate(actual, full=True)


def limits(type_: pa.DataType) -> tuple[int, int]:
    info = np.iinfo(type_.to_pandas_dtype())
    return int(info.min), int(info.max)


@pytest.mark.parametrize(("source", "result"), [*itertools.product(INTS, INTS)], ids=str)
@pytest.mark.parametrize("safe", [True, False])
def test_integers(source: pa.DataType, result: pa.DataType, safe: bool) -> None:
    low, high = limits(source)
    least, most = limits(result)
    fitting = [v for v in (low, high, least, most, 0, 1) if max(low, least) <= v <= min(high, most)]
    agrees(pa.array([*fitting, None] * 40, source).slice(3), result, safe)
    for bad in (v for v in (low, high, least - 1, most + 1) if low <= v <= high):
        agrees(pa.array([0, None, bad], source), result, safe)


@pytest.mark.parametrize(("source", "result"), [*itertools.product(INTS, FLOATS)], ids=str)
def test_integers_as_floats(source: pa.DataType, result: pa.DataType) -> None:
    low, high = limits(source)
    exact = 2**24 if result == pa.float32() else 2**53
    for value in (0, 1, -1, exact, exact + 1, -exact, -exact - 1, low, high):
        if low <= value <= high:
            agrees(pa.array([1, None, value], source).slice(1), result)
            agrees(pa.array([1, None, value], source), result, safe=False)


@pytest.mark.parametrize(("source", "result"), [*itertools.product(FLOATS, INTS)], ids=str)
def test_floats_as_integers(source: pa.DataType, result: pa.DataType) -> None:
    low, high = limits(result)
    for value in (
        0.0,
        -0.0,
        1.0,
        1.5,
        -1.0,
        float(low),
        float(high + 1),
        float("nan"),
        float("inf"),
        100.0,
    ):
        agrees(pa.array([3.0, None, value], source).slice(1), result)
    some = pa.array([1.75, -0.5, None, 100.25], source)
    assert cast(from_pyarrow(some), type_of(result), safe=False).to_pylist() == [1, 0, None, 100]


def test_floats_out_of_range_without_safety_are_defined() -> None:
    array = from_pyarrow(pa.array([float("nan"), 1e30, 300.0, -1.5]))
    assert cast(array, s.uint8(), safe=False).to_pylist() == [0, 0, 44, 255]
    assert cast(array, s.int64(), safe=False).to_pylist() == [0, 0, 300, -1]


def test_what_stands_under_a_null_is_not_looked_at() -> None:
    for values, result in (
        (pa.array([2**40, 5, 2**63 - 1]), s.int8()),
        (pa.array([0.5, 5.0, float("nan")]), s.int32()),
        (pa.array([2**60 + 1, 5, 2**63 - 1]), s.float64()),
        (pa.array([2**62, 5, -(2**62)], pa.timestamp("s")), s.timestamp("ns")),
        (pa.array([1, 5000, -1], pa.timestamp("ms")), s.timestamp("s")),
        (
            pa.array([Decimal("1.5"), Decimal(5), Decimal("99.9")], pa.decimal128(5, 1)),
            s.decimal32(1, 0),
        ),
    ):
        data = Buffer.from_object(values.buffers()[1])
        array = Array(from_pyarrow(values).type, 3, [Buffer.from_object(b"\x02"), data])
        actual = cast(array, result)
        assert actual.null_count == 2
        assert actual.to_pylist()[1] in (
            5,
            Decimal(5),
            dt.datetime(1970, 1, 1, 0, 0, 5),
            np.datetime64(5, "s"),
        )


@pytest.mark.parametrize("value", [0.0, 1.5, -2.5, 65504.0, 70000.0, 1e-9])
def test_half_floats(value: float) -> None:
    array = pa.array([value, None])
    agrees(array, pa.float16())
    half = array.cast(pa.float16())
    agrees(half, pa.float32())
    agrees(half, pa.float64())
    agrees(half, pa.int32())
    assert cast(from_pyarrow(half), s.bool_()).to_pylist() == [bool(half[0].as_py()), None]


def test_integers_as_half_floats() -> None:
    assert cast(from_pyarrow(pa.array([2048, None, -3])), s.float16()).to_pylist() == [
        2048,
        None,
        -3,
    ]


@pytest.mark.parametrize("type_", [*INTS, *FLOATS, pa.float16()], ids=str)
def test_booleans(type_: pa.DataType) -> None:
    bits = [True, None, False, True, False] * 60
    array = from_pyarrow(pa.array(bits))
    wanted = type_of(type_)
    assert cast(array, wanted).to_pylist() == bits
    assert cast(array.slice(3), wanted).to_pylist() == bits[3:]
    back = cast(cast(array, wanted).slice(7), s.bool_())
    assert back.to_pylist() == bits[7:]
    validate(back, full=True)


def test_floats_as_booleans() -> None:
    agrees(pa.array([0.0, -0.0, 1.5, float("nan"), None, float("-inf")]), pa.bool_())


DECIMALS = [
    pa.decimal32(9, 2),
    pa.decimal32(6, 0),
    pa.decimal64(18, 4),
    pa.decimal64(10, 2),
    pa.decimal128(38, 10),
    pa.decimal128(12, 1),
    pa.decimal256(76, 30),
    pa.decimal256(20, 2),
]


def decimal_of(number: int, type_: pa.DataType) -> Decimal:
    return Decimal(f"{number}E{-type_.scale}")


@pytest.mark.parametrize(("source", "result"), [*itertools.product(DECIMALS, DECIMALS)], ids=str)
def test_decimals(source: pa.DataType, result: pa.DataType) -> None:
    digits = min(source.precision, 8)
    for number in (0, 1, -1, 100, -12300, 10**digits - 1, 10**source.precision - 1):
        value = decimal_of(number, source)
        up = result.scale - source.scale
        moved, rest = number * 10 ** max(up, 0), 0
        if up < 0:
            size, rest = divmod(abs(number), 10**-up)
            moved = size if number > 0 else -size
        fits = abs(moved) < 10**result.precision
        array = from_pyarrow(pa.array([value, None, decimal_of(0, source)], source))
        if source == result or (fits and not rest):
            actual = cast(array, type_of(result))
            assert actual.to_pylist() == [value, None, 0]
            validate(actual, full=True)
        else:
            with pytest.raises(ValueError, match=r"slot 0: .* is no decimal"):
                cast(array, type_of(result))
        if fits and rest:
            cut = cast(array, type_of(result), safe=False).to_pylist()
            assert cut[0] == decimal_of(moved, result)


@pytest.mark.parametrize("integer", INTS, ids=str)
@pytest.mark.parametrize("decimal", DECIMALS, ids=str)
def test_integers_and_decimals(integer: pa.DataType, decimal: pa.DataType) -> None:
    low, high = limits(integer)
    for value in (0, 1, -5, 99, low, high):
        if not low <= value <= high:
            continue
        array = from_pyarrow(pa.array([value, None], integer))
        if abs(value) * 10**decimal.scale >= 10**decimal.precision:
            with pytest.raises(ValueError, match="more digits"):
                cast(array, type_of(decimal))
            continue
        actual = cast(array, type_of(decimal))
        assert actual.to_pylist() == [value, None]
        assert cast(actual, type_of(integer)).to_pylist() == [value, None]
        validate(actual, full=True)


def test_decimals_as_integers() -> None:
    array = from_pyarrow(pa.array([Decimal("123.00"), Decimal("-7.00")], pa.decimal128(7, 2)))
    assert cast(array, s.int8()).to_pylist() == [123, -7]
    with pytest.raises(ValueError, match=r"slot 1: -7.00 is no uint16: it has more digits"):
        cast(array, s.uint16())
    cut = from_pyarrow(pa.array([Decimal("1.99"), Decimal("-1.99"), Decimal("300.00")]))
    with pytest.raises(ValueError, match=r"slot 0: 1.99 is no int8: it has more decimals"):
        cast(cut, s.int8())
    assert cast(cut, s.int8(), safe=False).to_pylist() == [1, -1, 44]


@pytest.mark.parametrize("decimal", DECIMALS, ids=str)
@pytest.mark.parametrize("float_", FLOATS, ids=str)
def test_decimals_as_floats(decimal: pa.DataType, float_: pa.DataType) -> None:
    most = 10**decimal.precision - 1
    numbers = [0, 1, -1, 12345, -999999, most, -most, most // 7]
    array = from_pyarrow(pa.array([*(decimal_of(n, decimal) for n in numbers), None], decimal))
    actual = cast(array, type_of(float_)).to_pylist()
    assert actual.pop() is None
    exact = [float(decimal_of(n, decimal)) for n in numbers]
    if float_ == pa.float32():
        with np.errstate(over="ignore"):
            exact = np.array(exact).astype(np.float32).tolist()
    if float_ == pa.float32():
        assert actual == pytest.approx(exact, rel=1e-7)
    elif decimal.scale < 0:
        assert actual == pytest.approx(exact, rel=4e-16)
    else:
        assert actual == exact


@given(st.lists(st.integers(-(10**38) + 1, 10**38 - 1), max_size=30), st.integers(-38, 35))
def test_decimals_of_any_length(numbers: list[int], scale: int) -> None:
    source = s.decimal128(38, 3)
    bits = np.array([n >> 64 * k & (2**64 - 1) for n in numbers for k in (0, 1)], np.uint64)
    array = Array(source, len(numbers), [None, Buffer.from_object(bits.tobytes())])
    result = cast(array, s.decimal256(76, 3 + scale), safe=False)
    words = result.items(Role.DATA).view("<u8").reshape(-1, 4).tolist()
    actual = [sum(word << 64 * k for k, word in enumerate(four)) for four in words]
    expected = [
        (abs(n) * 10**scale if scale >= 0 else abs(n) // 10**-scale) * (1 if n >= 0 else -1)
        for n in numbers
    ]
    assert actual == [n % 2**256 for n in expected]


UNITS = ["s", "ms", "us", "ns"]


@pytest.mark.parametrize(("source", "result"), [*itertools.product(UNITS, UNITS)])
@pytest.mark.parametrize("kind", [pa.timestamp, pa.duration])
def test_units(kind: Any, source: str, result: str) -> None:
    for value in (0, 1, -1, 1500, -1500, 10**9, -(10**9), 2**62, -(2**62), 2**63 - 1):
        array = pa.array([0, None, value]).cast(kind(source)).slice(1)
        expected = None
        try:
            expected = array.cast(kind(result)).cast(pa.int64()).to_pylist()
        except pa.ArrowInvalid:
            with pytest.raises(ValueError, match="slot 1"):
                cast(from_pyarrow(array), type_of(kind(result)))
        else:
            outcome = cast(from_pyarrow(array), type_of(kind(result)))
            assert cast(outcome, s.int64()).to_pylist() == expected
        wrapped = array.cast(kind(result), safe=False).cast(pa.int64()).to_pylist()
        unsafe = cast(from_pyarrow(array), type_of(kind(result)), safe=False)
        assert cast(unsafe, s.int64()).to_pylist() == wrapped


TIMES = [pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns")]


@pytest.mark.parametrize(("source", "result"), [*itertools.product(TIMES, TIMES)], ids=str)
def test_times(source: pa.DataType, result: pa.DataType) -> None:
    per_second = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[source.unit]
    integer = pa.int32() if source.bit_width == 32 else pa.int64()
    for number in (0, per_second, 86_399 * per_second, 86_400 * per_second - 1):
        array = pa.array([number, None], integer).cast(source)
        stored = pa.int32() if result.bit_width == 32 else pa.int64()
        try:
            expected = array.cast(result).cast(stored).to_pylist()
        except pa.ArrowInvalid:
            with pytest.raises(ValueError, match="part of it would be lost"):
                cast(from_pyarrow(array), type_of(result))
        else:
            outcome = cast(from_pyarrow(array), type_of(result))
            assert cast(outcome, type_of(stored)).to_pylist() == expected


DAYS = [dt.date(1970, 1, 1), dt.date(1969, 12, 31), None, dt.date(2024, 2, 29), dt.date(1, 1, 1)]


def test_dates() -> None:
    array = pa.array(DAYS)
    agrees(array, pa.date64())
    agrees(array.cast(pa.date64()).slice(1), pa.date32())
    for unit in ("s", "ms", "us"):
        agrees(array, pa.timestamp(unit))
        agrees(array.cast(pa.date64()), pa.timestamp(unit))
        agrees(array.cast(pa.timestamp(unit)), pa.date32())
        agrees(array.cast(pa.timestamp(unit)), pa.date64())
    with pytest.raises(ValueError, match=r"slot 4: .* out of range"):
        cast(from_pyarrow(array), s.timestamp("ns"))
    partial = Array(s.date64(), 1, [None, Buffer.from_object((86_400_001).to_bytes(8, "little"))])
    with pytest.raises(ValueError, match="part of it would be lost"):
        cast(partial, s.date32())


STAMPS = [0, -1, 1, 86_399_999, 86_400_000, -86_400_000, -86_400_001, None, 10**10]


@pytest.mark.parametrize("unit", UNITS)
def test_dates_and_times_of_timestamps(unit: str) -> None:
    array = pa.array(STAMPS).cast(pa.timestamp(unit))
    agrees(array, pa.date32())
    agrees(array, pa.date64())
    same = {
        "s": pa.time32("s"),
        "ms": pa.time32("ms"),
        "us": pa.time64("us"),
        "ns": pa.time64("ns"),
    }[unit]
    stored = pa.int32() if same.bit_width == 32 else pa.int64()
    actual = cast(cast(from_pyarrow(array), type_of(same)), type_of(stored))
    assert actual.to_pylist() == array.cast(same).cast(stored).to_pylist()


def test_timezones_are_another_name_for_the_same_instants() -> None:
    array = from_pyarrow(pa.array([0, None, 5], pa.timestamp("ms", "Asia/Tokyo")))
    moved = cast(array, s.timestamp("us", "UTC"))
    assert cast(moved, s.int64()).to_pylist() == [0, None, 5000]
    renamed = cast(array, s.timestamp("ms"))
    assert renamed.buffers == array.buffers
    with pytest.raises(UnsupportedError, match="timezone Asia/Tokyo"):
        cast(array, s.date32())
    assert cast(moved, s.date32()).to_pylist() == [dt.date(1970, 1, 1), None, dt.date(1970, 1, 1)]


@pytest.mark.parametrize(
    "type_",
    [
        s.date32(),
        s.time32("s"),
        s.time64("ns"),
        s.timestamp("us", "UTC"),
        s.duration("s"),
    ],
    ids=str,
)
def test_integers_of_times(type_: s.DataType) -> None:
    plain = s.int32() if type_ in (s.date32(), s.time32("s")) else s.int64()
    array = cast(from_pyarrow(pa.array([1, None, 3], pa.int16())), plain)
    actual = cast(array, type_)
    assert actual.buffers == array.buffers
    assert cast(actual, plain).buffers == array.buffers
    assert cast(actual, s.int8()).to_pylist() == [1, None, 3]
    assert cast(cast(array, s.int8()), type_).equals(actual)


DAY = 86_400


@pytest.mark.parametrize(
    ("type_", "good", "bad"),
    [
        (s.date64(), [0, -1000 * DAY, 5000 * DAY], [1, -1, 1000 * DAY - 1]),
        (s.time32("s"), [0, DAY - 1], [-1, DAY]),
        (s.time32("ms"), [0, DAY * 1000 - 1], [-1, DAY * 1000]),
        (s.time64("us"), [0, DAY * 10**6 - 1], [-1, DAY * 10**6]),
        (s.time64("ns"), [0, DAY * 10**9 - 1], [-1, DAY * 10**9]),
    ],
    ids=str,
)
def test_integers_that_are_no_time_of_day_or_no_whole_days_are_refused(
    type_: s.DataType, good: list[int], bad: list[int]
) -> None:
    result = cast(from_pyarrow(pa.array([None, *good])), type_)
    validate(result, full=True)
    assert cast(result, s.int64()).to_pylist() == [None, *good]
    for value in bad:
        array = from_pyarrow(pa.array([None, 0, value]))
        with pytest.raises(ValueError, match=f"slot 2: {value} .* is no {re.escape(str(type_))}"):
            cast(array, type_)
        assert cast(cast(array, type_, safe=False), s.int64()).to_pylist() == [None, 0, value]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_dates_of_timestamps_that_date32_has_not(unit: Any) -> None:
    per_day = DAY * {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
    # Days that 64 bits have in both units, further out than 32 bits of days.
    most = min(2**63 // per_day, 2**63 // (DAY * 1000)) - 1
    days = [0, -1, most, -most]
    stamps = [day * per_day + rest for day in days for rest in (0, per_day - 1)]
    array = cast(from_pyarrow(pa.array(stamps)), s.timestamp(unit))
    result = cast(array, s.date64())
    validate(result, full=True)
    assert cast(result, s.int64()).to_pylist() == [day * DAY * 1000 for day in days for _ in "ab"]


def test_a_timestamp_further_out_than_date64_is_refused() -> None:
    array = cast(from_pyarrow(pa.array([None, 0, 2**62])), s.timestamp("s"))
    with pytest.raises(ValueError, match=f"slot 2: {2**62} of timestamp.s. is no date64"):
        cast(array, s.date64())


def plain(type_: s.DataType, value: int) -> Array:
    """One number as a type stores it."""
    items = np.array([value], layout(type_).spec(Role.DATA).dtype)
    return Array(type_, 1, [None, Buffer(items.view("u1"))])


def numbers_of(type_: s.DataType) -> list[Array]:
    """The numbers at which something begins or ends, of those that the type has."""
    powers = [2**bits for bits in (8, 11, 15, 24, 31, 53, 63, 64)]
    days = [DAY * 10**k for k in (0, 3, 6, 9)]
    near = [n + k for n in (0, *powers, *days, 65_520, 2**31 * DAY) for k in (-1, 0)]
    dtype = layout(type_).spec(Role.DATA).dtype
    info = np.iinfo(dtype)
    signed = sorted({k * n for n in near for k in (1, -1)})
    arrays = [plain(type_, n) for n in signed if info.min <= n <= info.max]
    return [array for array in arrays if is_valid(array)]


def is_valid(array: Array) -> bool:
    try:
        validate(array, full=True)
    except InvalidArrowError:
        return False
    return True


def floats_of(bits: int) -> list[Array]:
    values = [0.0, -0.0, 0.5, 1.0, math.inf, math.nan, 2049.0, 65504.0, 2.0**-24]
    values += [2.0**k for k in (7, 8, 15, 16, 24, 31, 53, 63, 64)]
    with np.errstate(over="ignore"):
        items = np.array([*values, *[-v for v in values]], f"f{bits // 8}")
    return [from_pyarrow(pa.array(items[k : k + 1])) for k in range(len(items))]


def decimals_of(type_: pa.DataType) -> list[Array]:
    most = 10**type_.precision - 1
    numbers = [n for n in (0, 1, -1, 10, 100, most, -most) if abs(n) <= most]
    values = [Context(prec=90).scaleb(Decimal(n), -type_.scale) for n in numbers]
    return [from_pyarrow(pa.array([value], type_)) for value in values]


def texts_of(type_: pa.DataType) -> list[Array]:
    values = ["", "abc", "a\0\0", "ü€", "x" * 40]
    result = [pa.array([v if "string" in str(type_) else v.encode()]) for v in values]
    result += [] if "string" in str(type_) else [pa.array([b"\xff\xfe\xfd"])]
    return [from_pyarrow(array.cast(type_)) for array in result]


EXTREMES: dict[s.DataType, list[Array]] = {
    **{type_of(type_): numbers_of(type_of(type_)) for type_ in INTS},
    **{s.FloatingPoint(bits): floats_of(bits) for bits in (16, 32, 64)},
    **{
        type_: numbers_of(type_)
        for type_ in (
            s.date32(),
            s.date64(),
            *(s.time32(unit) for unit in ("s", "ms")),
            *(s.time64(unit) for unit in ("us", "ns")),
            *(kind(unit) for kind in (s.timestamp, s.duration) for unit in ("s", "ms", "us", "ns")),
            s.timestamp("us", "UTC"),
        )
    },
    **{
        type_of(type_): decimals_of(type_)
        for type_ in (
            pa.decimal32(7, 2),
            pa.decimal64(18, 0),
            pa.decimal128(38, 5),
            pa.decimal128(3, 3),
            pa.decimal128(5, -2),
            pa.decimal256(76, 10),
        )
    },
    **{type_of(type_): texts_of(type_) for type_ in BINARY},
    s.fixed_size_binary(3): [from_pyarrow(pa.array([b"abc"], pa.binary(3)))],
    s.bool_(): [from_pyarrow(pa.array([value])) for value in (True, False)],
}

ENCODED = [
    s.dictionary(s.int8(), s.float16()),
    s.dictionary(s.int8(), s.dictionary(s.uint8(), s.int8())),
    s.run_end_encoded(s.int16(), s.time32("s")),
    s.run_end_encoded(s.int32(), s.utf8_view()),
]


def tells_a_part(source: s.DataType, result: s.DataType) -> bool:
    """Whether a safe cast asks for less than the whole value: the date of a timestamp, or its time of
    day; whether a number is zero; the nearest float.
    """
    if isinstance(source, s.Timestamp):
        return isinstance(result, s.Date | s.Time)
    if isinstance(result, s.FloatingPoint) and isinstance(source, s.FloatingPoint | s.Decimal):
        return isinstance(source, s.Decimal) or result.bit_width < source.bit_width
    return result == s.bool_() and source != result


@pytest.mark.parametrize("source", EXTREMES, ids=str)
def test_a_safe_cast_that_succeeds_is_valid_and_goes_back_exactly(source: s.DataType) -> None:
    for result in (*EXTREMES, *ENCODED):
        values = result
        while isinstance(values, s.Dictionary | s.RunEndEncoded):
            values = values.value_type
        for array in EXTREMES[source]:
            try:
                outcome = cast(array, result)
            except UnsupportedError:
                break
            except ValueError:
                continue
            validate(outcome, full=True)
            if not tells_a_part(source, values):
                # No number near 2**63 is safe as a float; this one is, as it came from there.
                back = cast(outcome, source, safe=False)
                # -0.0 comes back as 0.0, which is the same number; NaN as NaN.
                (actual,), (value,) = back.to_pylist(), array.to_pylist()
                assert actual == value or (actual != actual and value != value), result


def binary_of(type_: pa.DataType) -> pa.Array:
    """The texts as that type, not all of the buffers."""
    texts = [t.decode() if t is not None else None for t in TEXTS]
    result = pa.array(
        texts if type_ in (pa.utf8(), pa.large_utf8(), pa.string_view()) else TEXTS, type_
    )
    return result.slice(1)


@pytest.mark.parametrize(("source", "result"), [*itertools.product(BINARY, BINARY)], ids=str)
def test_byte_strings_and_text(source: pa.DataType, result: pa.DataType) -> None:
    actual = cast(from_pyarrow(binary_of(source)), type_of(result))
    assert actual.to_pylist() == binary_of(result).to_pylist()
    assert actual.type == type_of(result)
    validate(actual, full=True)


@pytest.mark.parametrize("source", [pa.binary(), pa.large_binary(), pa.binary_view()], ids=str)
@pytest.mark.parametrize("result", [pa.utf8(), pa.large_utf8(), pa.string_view()], ids=str)
def test_bytes_that_are_not_text(source: pa.DataType, result: pa.DataType) -> None:
    array = from_pyarrow(pa.array([b"ok", None, b"\xff"], source))
    with pytest.raises(ValueError, match=r"slot 2: .* not UTF-8: byte 0xff at 0"):
        cast(array, type_of(result))
    assert cast(cast(array, type_of(result), safe=False), s.binary()).to_pylist() == [
        b"ok",
        None,
        b"\xff",
    ]


@pytest.mark.parametrize("type_", BINARY, ids=str)
def test_fixed_size_binary(type_: pa.DataType) -> None:
    array = sample("fixed_size_binary")
    for part in (array, array.slice(2, 7), array.slice(3, 0)):
        result = cast(part, type_of(type_))
        assert cast(result, s.binary()).to_pylist() == part.to_pylist()
        validate(result, full=True)
        back = cast(result, part.type)
        assert back.to_pylist() == part.to_pylist()
        validate(back, full=True)
    with pytest.raises(ValueError, match="slot 0: 7 bytes, where"):
        cast(cast(array, type_of(type_)), s.fixed_size_binary(3))


def test_bytes_are_shared() -> None:
    array = from_pyarrow(pa.array(["ab", "cd", "ef"])).slice(1)
    large = cast(array, s.large_utf8())
    assert large.buffers[2] is not None
    assert array.buffers[2] is not None
    assert large.buffers[2].address == array.buffers[2].address + 2
    assert cast(array, s.binary()).buffers == array.buffers


def test_offsets_that_do_not_fit() -> None:
    offsets = Buffer.from_object(b"".join(n.to_bytes(8, "little") for n in (0, 2**31)))
    elements = nulls(2**31, s.null())
    array = Array(s.large_list(s.null()), 1, [None, offsets], [elements])
    with pytest.raises(LimitExceededError, match="do not fit offsets of int32"):
        cast(array, s.list_(s.null()))
    part = Array(s.large_list(s.null()), 0, [None, offsets], [elements])
    assert cast(part, s.list_(s.null())).to_pylist() == []


LISTS = [pa.list_, pa.large_list]
VIEWS = [pa.list_view, pa.large_list_view]


@pytest.mark.parametrize(
    ("source", "result"), [*itertools.product(LISTS, LISTS), *itertools.product(VIEWS, VIEWS)]
)
@pytest.mark.parametrize("element", [pa.int64(), pa.int8(), pa.float32()], ids=str)
def test_lists(source: Any, result: Any, element: pa.DataType) -> None:
    values = [[1, 2], None, [], [3, None], [5]]
    array = from_pyarrow(pa.array(values, source(pa.int64()))).slice(1)
    actual = cast(array, type_of(result(element)))
    assert actual.to_pylist() == values[1:]
    validate(actual, full=True)


def test_elements_that_no_list_shows_are_not_looked_at() -> None:
    array = from_pyarrow(pa.array([[300], [1], [2], [-300]])).slice(1, 2)
    assert cast(array, s.list_(s.int8())).to_pylist() == [[1], [2]]
    with pytest.raises(ValueError, match="item: slot 0: 300 is no int8"):
        cast(from_pyarrow(pa.array([[300]])), s.list_(s.int8()))


def test_fixed_size_lists() -> None:
    array = from_pyarrow(pa.array([[1, 2], None, [3, None], [300, 4]], pa.list_(pa.int64(), 2)))
    assert cast(array.slice(1, 2), s.fixed_size_list(s.int8(), 2)).to_pylist() == [None, [3, None]]
    with pytest.raises(UnsupportedError, match="other lengths"):
        cast(array, s.fixed_size_list(s.int64(), 3))


def test_structs_field_by_field() -> None:
    array = from_pyarrow(pa.array([{"a": 1, "b": "x"}, None, {"a": None, "b": "y"}])).slice(1)
    wanted = s.struct([("b", s.large_utf8()), ("a", s.int8()), ("c", s.date32())])
    actual = cast(array, wanted)
    assert actual.to_pylist() == [None, {"b": "y", "a": None, "c": None}]
    validate(actual, full=True)
    with pytest.raises(UnsupportedError, match="0 fields are called 'c'"):
        cast(array, s.struct([s.field("c", s.int8(), nullable=False)]))
    with pytest.raises(ValueError, match="a: slot 0: 300"):
        cast(from_pyarrow(pa.array([{"a": 300}])), s.struct([("a", s.int8())]))


def test_maps() -> None:
    values = [[("a", 1)], None, [], [("b", None)]]
    array = from_pyarrow(pa.array(values, pa.map_(pa.utf8(), pa.int64()))).slice(1)
    actual = cast(array, s.map_(s.large_utf8(), s.int8()))
    assert actual.to_pylist() == values[1:]
    validate(actual, full=True)
    pairs = s.struct([s.field("key", s.utf8(), nullable=False), ("value", s.int64())])
    assert cast(array, s.list_(pairs)).to_pylist() == [None, [], [{"key": "b", "value": None}]]


def test_encoded_arrays_become_their_values() -> None:
    for name in ("dictionary", "run-end encoded", "run-end encoded, int64 ends"):
        array = sample(name)
        values = array.type.value_type  # type: ignore[attr-defined]
        for part in (array, array.slice(3, 7), array.slice(4, 0)):
            assert cast(part, values).to_pylist() == part.to_pylist()
    words = sample("dictionary")
    assert cast(words, s.large_utf8()).to_pylist() == words.to_pylist()
    numbers = sample("run-end encoded")
    assert cast(numbers, s.int8(), safe=False).to_pylist() == [
        None if v is None else int(v) for v in numbers.to_pylist()
    ]


def test_encoded_arrays_stay_encoded() -> None:
    words = sample("dictionary").slice(2)
    actual = cast(words, s.dictionary(s.uint16(), s.large_utf8()))
    assert actual.to_pylist() == words.to_pylist()
    validate(actual, full=True)
    runs = sample("run-end encoded").slice(2)
    longer = cast(runs, s.run_end_encoded(s.int64(), s.float32()))
    assert longer.to_pylist() == runs.to_pylist()
    validate(longer, full=True)
    # Indices and run ends that wrapped around would be others.
    big = from_pyarrow(pa.DictionaryArray.from_arrays(pa.array([200]), pa.array(range(201))))
    with pytest.raises(ValueError, match="slot 0: 200 is no int8"):
        cast(big, s.dictionary(s.int8(), s.int64()), safe=False)


def test_an_empty_dictionary_has_nothing_but_nulls() -> None:
    array = from_pyarrow(
        pa.DictionaryArray.from_arrays(pa.array([None], pa.int8()), pa.array([], pa.utf8()))
    )
    assert cast(array, s.utf8()).to_pylist() == [None]


@pytest.mark.parametrize("name", sorted(samples()))
def test_null_becomes_anything_and_anything_itself(name: str) -> None:
    array = sample(name)
    assert cast(array, array.type) is array
    actual = cast(nulls(3, s.null()), array.type)
    assert actual.to_pylist() == [None] * 3


def test_extension_types_are_cast_as_their_storage() -> None:
    array = sample("extension")
    plain = cast(array, s.int16())
    assert plain.buffers == array.buffers
    assert cast(array, s.int64()).to_pylist() == array.to_pylist()
    assert cast(cast(plain, s.int8()), array.type).equals(array)


@pytest.mark.parametrize(
    ("name", "type_"),
    [
        ("int64, no nulls", s.utf8()),
        ("utf8", s.int64()),
        ("list", s.int64()),
        ("timestamp", s.duration("s")),
        ("date32", s.time32("s")),
        ("decimal128", s.bool_()),
        ("decimal128", s.float16()),
        ("dense union", s.int64()),
        ("struct", s.null()),
    ],
)
def test_what_there_is_no_cast_for(name: str, type_: s.DataType) -> None:
    array = sample(name)
    with pytest.raises(UnsupportedError, match=r"no cast from .* to") as caught:
        cast(array, type_)
    assert str(type_) in str(caught.value)


def test_the_error_names_slot_and_value() -> None:
    array = from_pyarrow(pa.array([1] * 300_000 + [300]))
    with pytest.raises(ValueError, match="slot 300000: 300 is no int8: not from -128 to 127"):
        cast(array, s.int8())


def test_a_cast_of_what_was_cast() -> None:
    array = cast(from_pyarrow(pa.array([1, None, 3])), s.decimal128(20, 2))
    indices = from_pyarrow(pa.array([2, 0]))
    assert take(cast(array, s.float64()), indices).to_pylist() == [3.0, 1.0]


def test_what_a_canonical_extension_type_does_not_have_is_refused() -> None:
    rows = [{"timestamp": 0, "offset_minutes": 5000}]
    array = from_pyarrow(pa.array(rows, pa.struct({"timestamp": "i8", "offset_minutes": "i2"})))
    type_ = timestamp_with_offset("us")
    with pytest.raises(ValueError, match="slot 0: 5000 minutes from UTC"):
        cast(array, type_)
    assert cast(array, type_, safe=False).type == type_
