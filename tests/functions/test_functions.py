"""Functions of columns, against pyarrow: on the host and in the CUDA simulator."""

from __future__ import annotations

import math
import operator
import random
import sys
from datetime import date, datetime, timedelta
from decimal import Decimal, localcontext
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from functions import device_cases
from functions.function_cases import CASES, called, require_alike

import colkern as ck
from colkern.errors import LimitExceededError
from colkern.functions import row_functions


@pytest.mark.parametrize("name", CASES)
def test_on_the_host(name: str) -> None:
    require_alike(called(CASES[name]), CASES[name].result())


SIMULATED = "functions.device_cases"


@pytest.mark.parametrize("case", [case.__name__ for case in device_cases.CASES])
def test_in_the_simulator(case: str, simulated_cases: dict[str, str]) -> None:
    assert simulated_cases[case] == ""


TEXTS = ["b", None, "B", "b", "ab"]


@pytest.mark.parametrize("type_", ["large_utf8", "utf8_view"])
def test_text_keeps_its_type(type_: str) -> None:
    strings = ck.cast(ck.array(TEXTS), type_)
    actual = ck.utf8_upper(strings)
    assert actual.type == strings.type
    assert actual.to_pylist() == ["B", None, "B", "B", "AB"]


def test_encoded_text_stays_encoded() -> None:
    for encode in (ck.dictionary_encode, ck.run_end_encode):
        strings = encode(ck.array(TEXTS))
        actual = ck.utf8_upper(strings)
        assert actual.type == strings.type
        assert actual.to_pylist() == ["B", None, "B", "B", "AB"]
        assert ck.utf8_is_upper(strings).to_pylist() == [False, None, True, False, False]


def test_a_value_of_a_dictionary_that_no_slot_has_raises_nothing() -> None:
    words = ck.dictionary_encode(ck.array(["2024", "x"])).slice(0, 1)
    assert ck.year(ck.strptime(words, "%Y")).to_pylist() == [2024]


def test_the_calendar_comes_again_after_eras_of_400_years() -> None:
    rng = random.Random(1)
    eras = [
        0,
        1,
        -1,
        730_000_000,
        -730_000_000,
        *(rng.randrange(-(10**8), 10**8) for _ in range(40)),
    ]
    days = [date(2000, 3, 1), date(2000, 2, 29), date(1970, 1, 1), date(2399, 12, 31)]
    days += [date(1600, 1, 1) + timedelta(rng.randrange(146_097)) for _ in range(40)]
    pairs = [(era, day) for era in eras for day in days]
    seconds = [86_400 * ((day - date(1970, 1, 1)).days + 146_097 * era) for era, day in pairs]
    moments = ck.cast(ck.array(seconds), "timestamp[s]")
    assert ck.year(moments).to_pylist() == [day.year + 400 * era for era, day in pairs]
    assert ck.month(moments).to_pylist() == [day.month for _, day in pairs]
    assert ck.day_of_year(moments).to_pylist() == [day.timetuple().tm_yday for _, day in pairs]
    assert ck.iso_week(moments).to_pylist() == [day.isocalendar().week for _, day in pairs]


def test_a_new_option_compiles_nothing() -> None:
    from colkern.cache import compilations

    strings = ck.array(["ab"])
    ck.utf8_lpad(strings, 3, "x")
    before = compilations()
    assert ck.utf8_lpad(strings, 5, "y").to_pylist() == ["yyyab"]
    assert compilations() == before


@pytest.mark.parametrize("digits", [28, 5])
def test_decimals_are_computed_without_python_in_any_context(digits: int) -> None:
    prices = ck.array([Decimal(n) / 4 for n in range(1000)]).cast("decimal128(12, 2)")
    expected = [min(max(price, Decimal(3)), Decimal(7)) for price in prices.to_pylist()]
    calls = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal calls
        calls += event == "call"

    with localcontext(prec=digits):
        ck.clip(prices, 3, 7)
        sys.setprofile(count)
        try:
            clipped = ck.clip(prices, 3, 7)
        finally:
            sys.setprofile(None)
    assert clipped.to_pylist() == expected
    assert calls < len(prices)


def test_errors_name_the_function_and_what_it_takes() -> None:
    with pytest.raises(TypeError, match="utf8_upper: expected strings, got int64"):
        ck.utf8_upper(ck.array([1]))
    with pytest.raises(TypeError, match="strings: expected an Array, got list; make one"):
        ck.utf8_upper(["a"])  # type: ignore[type-var]
    with pytest.raises(TypeError, match="year: expected dates or timestamps, got string"):
        ck.year(ck.array(["a"]))
    with pytest.raises(ValueError, match="binary_repeat: arrays of 1 and 2 values"):
        ck.binary_repeat(ck.array(["a"]), ck.array([1, 2]))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="round_mode: expected one of"):
        ck.round(ck.array([1.0]), 0, "up and down")  # type: ignore[arg-type]
    with pytest.raises(
        TypeError, match=r"^match_substring: expected strings or binary values, got"
    ):
        ck.match_substring(ck.array([1]), "a")
    for at_one_end in (ck.starts_with, ck.ends_with, ck.count_substring, ck.find_substring):
        with pytest.raises(TypeError, match=r"^pattern: expected a str, since bytes have no case"):
            at_one_end(ck.array([b"a"]), b"A", ignore_case=True)
    with pytest.raises(TypeError, match=r"^pattern: expected str, got int"):
        ck.match_substring(ck.array(["a"]), 1)  # type: ignore[arg-type]
    with pytest.raises(
        TypeError, match=r"^match_substring: takes no arguments of the types \(binary, string\)"
    ):
        ck.match_substring(ck.array([b"a"]), "a")
    for function in (ck.match_substring_regex, ck.extract_regex, ck.split_pattern_regex):
        with pytest.raises(ValueError, match=rf"^{function.__name__}: pattern '\(': missing \)"):
            function(ck.array(["a"]), "(")
    for of_lists in (ck.list_sum, ck.list_mean):
        with pytest.raises(TypeError, match=r"^lists: expected lists of numbers, got .*duration"):
            of_lists(ck.array([[timedelta(1)]]))
    with pytest.raises(TypeError, match=r"^query_key: expected string, got int64"):
        ck.map_lookup(ck.array([{"a": 1}], "map<string, int64>"), 1)
    with pytest.raises(TypeError, match=r"^value: expected int64, got string"):
        ck.list_contains(ck.array([[1]]), "1")
    with pytest.raises(ValueError, match=r"^ndigits: expected -19 or more for int64, got -20"):
        ck.round(ck.array([1]), -20)
    with pytest.raises(TypeError, match=r"^bit_wise_and: expected integers, got string"):
        ck.bit_wise_and(ck.array(["a"]), 1)
    with pytest.raises(TypeError, match="bit_wise_and: expected an integer, got str 'a'"):
        ck.bit_wise_and(ck.array([1]), "a")  # type: ignore[arg-type]
    for column, number in ((ck.array([1]), 2**63), (ck.array([1], "uint64"), -1)):
        with pytest.raises(ValueError, match=f"^right: {number} does not fit {column.type}"):
            ck.bit_wise_or(column, number)
    with pytest.raises(
        TypeError, match=r"^bit_wise_xor: no type holds the values of int8 and uint64"
    ):
        ck.bit_wise_xor(ck.array([-1], "int8"), ck.array([1], "uint64"))
    with pytest.raises(ZeroDivisionError):
        ck.mod(ck.array([1]), 0)
    with pytest.raises(LimitExceededError, match="utf8_lpad: a result is larger than memory"):
        ck.utf8_lpad(ck.array(["a"]), 2**62)


@pytest.mark.parametrize("compiled", ["0", "1"])
def test_notes_name_the_function_and_the_row(
    compiled: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLKERN_JIT", compiled)
    row_functions._plan.cache_clear()
    with pytest.raises(ValueError, match="no power with a negative integer exponent") as raised:
        ck.power(ck.array([1, 1]), ck.array([1, -1]))
    assert raised.value.__notes__ == ["power: row 1"]
    row_functions._plan.cache_clear()


def test_a_format_may_end_in_a_literal_z() -> None:
    parsed = ck.strptime(ck.array(["2024-02-29 %z"]), "%Y-%m-%d %%z", "s")
    assert parsed.to_pylist() == [datetime(2024, 2, 29)]


def test_times_with_an_offset_from_utc_are_those_of_python() -> None:
    texts = ["2024-01-02 03:04+01:00", "2024-01-02 03:04-0130", "1960-01-02 03:04Z", None]
    texts += ["2024-01-02 03:04+01:00:30", "2024-01-02 03:04+2500", "2024-01-02 03:04"]
    moments = ck.strptime(ck.array(texts), "%Y-%m-%d %H:%M%z", "s", error_is_null=True)
    assert moments.type == ck.timestamp("s", "UTC")
    assert moments.to_pylist() == [
        None if text is None else datetime.strptime(text, "%Y-%m-%d %H:%M%z") for text in texts[:5]
    ] + [None, None]
    with pytest.raises(ValueError, match="does not match format"):
        ck.strptime(ck.array(texts[-1:]), "%Y-%m-%d %H:%M%z")


def test_clocks_that_skip_or_repeat_a_time() -> None:
    for text, word in (("2021-03-28 02:30", "does not exist"), ("2021-10-31 02:30", "twice")):
        local = ck.strptime(ck.array([text]), "%Y-%m-%d %H:%M")
        with pytest.raises(ValueError, match=word):
            ck.assume_timezone(local, "Europe/Oslo")


def test_rounding_does_not_leave_the_hour_that_clocks_show_again() -> None:
    # 0:30, 1:30 and 2:30 UTC: clocks of Oslo show 2:30 twice, and then 3:30.
    moments = ck.array([1729989000, 1729992600, 1729996200], ck.int64())
    zoned = ck.cast(moments, ck.timestamp("s", "Europe/Oslo"))
    assert ck.floor_temporal(zoned, unit="minute").equals(zoned)
    hours = ck.cast(ck.floor_temporal(zoned, unit="hour"), ck.int64())
    assert hours.to_pylist() == [1729987200, 1729990800, 1729994400]
    days = ck.cast(ck.ceil_temporal(zoned, unit="day"), ck.int64())
    assert days.to_pylist() == [1730070000] * 3


def test_no_time_of_day_rounds_up_to_the_end_of_the_day() -> None:
    late = ck.cast(ck.array([86_399]), ck.time32("s"))
    with pytest.raises(ValueError, match="ceil_temporal: a time rounds up to the end of the day"):
        ck.ceil_temporal(late, unit="minute")
    for unit in ("week", "month", "year"):
        with pytest.raises(ValueError, match=f"unit: expected at most a day, .* time32.*{unit}"):
            ck.floor_temporal(late, unit=unit)


@pytest.mark.parametrize("type_", ["time32[s]", "time32[ms]", "time64[us]", "time64[ns]"])
@pytest.mark.parametrize("multiple", [23, 24, 25, 47, 48, 1000, 2**62, 2**70])
def test_times_of_day_are_rounded_to_multiples_of_any_number_of_hours(
    type_: str, multiple: int
) -> None:
    own = {"[s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[type_[-3:-1]]
    for hour in (0, 11, 12, 13, 23):
        times = ck.array([hour * 3600 * own], type_[:6].replace("time", "int")).cast(type_)
        if hour == 0:
            assert ck.ceil_temporal(times, multiple, "hour").equals(times)
        elif multiple >= 24:
            with pytest.raises(ValueError, match="ceil_temporal: a time rounds up to the end"):
                ck.ceil_temporal(times, multiple, "hour")
        down = ck.floor_temporal(times, multiple, "hour")
        assert down.cast("int64").to_pylist() == [hour // multiple * multiple * 3600 * own]
        if multiple >= 24 and 2 * hour >= multiple:
            with pytest.raises(ValueError, match="round_temporal: a time rounds up to the end"):
                ck.round_temporal(times, multiple, "hour")
        elif 2 * hour < multiple:
            assert ck.round_temporal(times, multiple, "hour").cast("int64").to_pylist() == [0]


def test_multiples_that_no_kernel_can_have_are_refused() -> None:
    unit: Any
    moments = ck.array([5]).cast("timestamp[ns]")
    for multiple, unit in (
        (2**62, "hour"),
        (2**62, "week"),
        (2**61, "year"),
        (2**63, "nanosecond"),
    ):
        with pytest.raises(ValueError, match=rf"multiple: a {unit} times {multiple} is beyond"):
            ck.floor_temporal(moments, multiple, unit)
    days = ck.array([date(2024, 2, 3)])
    for multiple in (7, 36):
        with pytest.raises(ValueError, match=rf"multiple: {multiple} hours .* date32"):
            ck.floor_temporal(days, multiple, "hour")
    with pytest.raises(ValueError, match="multiple: must be positive, got 0"):
        ck.floor_temporal(moments, 0, "week")
    unit = "fortnight"
    with pytest.raises(ValueError, match=r"unit: expected one of \(.*\), got 'fortnight'"):
        ck.floor_temporal(moments, 1, unit)


@pytest.mark.parametrize(("type_", "day"), [("date32", 1), ("timestamp[s]", 86_400)])
@pytest.mark.parametrize(("unit", "origin"), [("day", 0), ("week", 3)])
def test_no_date_is_rounded_beyond_the_ends_of_its_type(
    type_: str, day: int, unit: Any, origin: int
) -> None:
    stored = "int32" if day == 1 else "int64"
    most = (1 << (31 if day == 1 else 63)) - 1
    period, origin = 7 * day, origin * day
    multiple = 1 if unit == "week" else 7
    for value in (most - 1, most - 2 * period, -most, 2 * period - most):
        low = (value + origin) // period * period - origin
        high = low + period * (low != value)
        dates = ck.array([value], stored).cast(type_)
        for function, result in (
            (ck.floor_temporal, low),
            (ck.ceil_temporal, high),
            (ck.round_temporal, low if value - low < high - value else high),
        ):
            if -most - 1 <= result <= most:
                assert function(dates, multiple, unit).cast(stored).to_pylist() == [result]
            else:
                message = f"{function.__name__}: the result {result} does not fit"
                with pytest.raises(OverflowError, match=message):
                    function(dates, multiple, unit)


def test_no_month_begins_beyond_the_ends_of_a_type() -> None:
    for value, function in ((2**63 - 2, ck.ceil_temporal), (1 - 2**63, ck.floor_temporal)):
        moments = ck.array([value]).cast("timestamp[ns]")
        with pytest.raises(OverflowError, match=r"temporal: the result .* does not fit"):
            function(moments, 1, "month")


@pytest.mark.parametrize("multiple", [500, 585, 600, 1170])
def test_no_year_is_rounded_to_one_that_wraps_around_the_type(multiple: int) -> None:
    # 2^64 ns are 584.6 years.
    for year in (1960, 1969, 1970, 1975, 1984, 2250):
        value = (date(year, 2, 1) - date(1970, 1, 1)).days * 86_400 * 10**9
        first = 1970 + (year - 1970) // multiple * multiple
        low, high = [
            (date(each, 1, 1) - date(1970, 1, 1)).days * 86_400 * 10**9
            for each in (first, first + multiple)
        ]
        moments = ck.array([value]).cast("timestamp[ns]")
        for function, result in (
            (ck.floor_temporal, low),
            (ck.ceil_temporal, high),
            (ck.round_temporal, low if value - low < high - value else high),
        ):
            if abs(result) < 1 << 63:
                assert function(moments, multiple, "year").cast("int64").to_pylist() == [result]
            else:
                with pytest.raises(OverflowError, match=f"the result {result} does not fit"):
                    function(moments, multiple, "year")


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_parts_of_times_are_those_of_their_numbers_up_to_the_ends_of_the_type(unit: str) -> None:
    second = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
    numbers = [1 - 2**63, 2**63 - 1, *range(-3, 4)]
    numbers += [hours * 3600 * second + near for hours in range(-200, 200) for near in (-1, 0)]
    numbers += [k * (2**63 // 1000) for k in range(-1000, 1000)]
    moments = ck.array(numbers, "int64").cast(f"timestamp[{unit}]")
    assert ck.hour(moments).to_pylist() == [n // (3600 * second) % 24 for n in numbers]
    assert ck.minute(moments).to_pylist() == [n // (60 * second) % 60 for n in numbers]
    assert ck.second(moments).to_pylist() == [n // second % 60 for n in numbers]
    days = [n // (86400 * second) for n in numbers]
    for start in (1, 3, 7):
        actual = ck.day_of_week(moments, week_start=start)
        assert actual.to_pylist() == [(day + 4 - start) % 7 for day in days]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("hours", [0, 14, -11])
def test_local_times_near_the_ends_of_a_type_are_right_or_refused(unit: str, hours: int) -> None:
    hour = 3600 * {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
    zone = f"{hours:+03d}:00" if hours else "UTC"
    for value in (-(2**63), 24 * hour - 2**63, 2**63 - 1, 2**63 - 24 * hour):
        plain = ck.array([value], "int64").cast(f"timestamp[{unit}]")
        moments = plain.cast(f"timestamp[{unit}, {zone}]")
        shown = value + hours * hour
        if not -(2**63) <= shown < 2**63:
            for function in (ck.local_timestamp, ck.hour, ck.floor_temporal, ck.ceil_temporal):
                with pytest.raises(OverflowError, match=r"local times: the result .* does not fit"):
                    function(moments)
            continue
        clock = ck.local_timestamp(moments)
        assert clock.cast("int64").to_pylist() == [shown]
        assert ck.assume_timezone(clock, zone).equals(moments)
        assert ck.hour(moments).to_pylist() == [shown // hour % 24]
        floor = shown // hour * hour - hours * hour
        if floor >= -(2**63):
            assert ck.floor_temporal(moments, 1, "hour").cast("int64").to_pylist() == [floor]
        else:
            with pytest.raises(OverflowError, match=r"the result .* does not fit"):
                ck.floor_temporal(moments, 1, "hour")


def test_years_of_no_calendar_have_no_text_and_no_zone_with_rules() -> None:
    plain = ck.array([2**62]).cast("timestamp[s]")
    moments = plain.cast("timestamp[s, Europe/Berlin]")
    message = r"146138514283.* is outside the years 1 to 9999"
    with pytest.raises(OverflowError, match=message):
        ck.strftime(plain)
    with pytest.raises(OverflowError, match=message):
        ck.hour(moments)
    with pytest.raises(OverflowError, match=message):
        ck.assume_timezone(plain, "Europe/Berlin")


def test_a_decimal_beside_decimals_is_a_float_where_results_are() -> None:
    values = ck.array([Decimal("2.25"), None])
    assert ck.power(values, Decimal("0.5")).to_pylist() == [1.5, None]
    assert ck.power(ck.array([4.0]), Decimal("0.5")).to_pylist() == [2.0]


@pytest.mark.parametrize("value", [2**63, 2**63 + 5, 2**64 - 1])
def test_options_past_int64_are_what_they_are(value: int) -> None:
    for name, exact in (
        ("floor_divide", operator.floordiv),
        ("mod", operator.mod),
        ("add_checked", operator.add),
        ("clip", max),
    ):
        column = ck.array([1, 2**63, 8], "uint64")
        if name == "add_checked":
            with pytest.raises(OverflowError, match="add_checked"):
                ck.add_checked(column, value)
        else:
            given = [exact(each, value) for each in column.to_pylist()]
            assert getattr(ck, name)(column, value).to_pylist() == given
    assert ck.mod(ck.array([8, 2**62]), value).to_pylist() == [8, 2**62]
    assert ck.floor_divide(ck.array([8, -8]), value).to_pylist() == [0, -1]
    assert ck.list_contains(ck.array([[value - 2**64, 8]]), value).to_pylist() == [False]
    assert ck.hypot(ck.array([8]), value).to_pylist() == [math.hypot(8, value)]
    expected = [pow(base, value, 2**64) for base in (2, 3)]
    assert ck.power(ck.array([2, 3], "uint64"), value).to_pylist() == expected
    assert ck.power(ck.array([1.5, 0.5]), value).to_pylist() == [math.inf, 0.0]


def test_numbers_past_int64_have_the_functions_of_floats() -> None:
    large = ck.array([2**63, 2**64 - 1], "uint64")
    for name in ("exp", "sinh", "asin", "sqrt"):
        require_alike(getattr(ck, name)(large), getattr(pc, name)(pa.array([2.0**63, 2.0**64])))
