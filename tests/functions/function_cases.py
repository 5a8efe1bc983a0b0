"""Functions of columns, each with arguments, and what pyarrow, pandas or plain Python gives for them.

One list serves the host and the CUDA simulator.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal as D
from typing import Any, get_args

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from arrow_oracle import from_pyarrow

import colkern as ck
from colkern.arrays import Array
from colkern.functions import dates, numeric
from colkern.operations.moving import to_device
from colkern.schema import PER_SECOND

TEXT = pa.array(
    ["hello World", None, "", "  pad\t", "a,b,,c", "Straße éÀ", "x1 y22", "123", "THEY'RE"]
)
CASES_OF_LETTERS = pa.array(["äöA", "ÄB", None, "", "bä", "ẞa", "aß", "İ"])
FLOATS = pa.array(
    [0.5, -0.5, 1.5, 2.5, None, -2.5, math.nan, math.inf, -math.inf, -0.0, 123.456, 2.675]
)
MONEY = pa.array([D("-7.500"), None, D("12.255"), D("25.015")], pa.decimal128(10, 3))
CLIPPED = pa.array([D(0), None, D("12.255"), D(20)], MONEY.type)
EXTREMES = pa.array([1.5, -1.5, 0.0, -0.0, 5e-324, 6e307, -1.2e308, math.inf, math.nan])
INTEGERS = pa.array([5, -5, 15, 25, None, -25, 127, -128, 0])
SHORT, WORDS = INTEGERS.cast(pa.int8()), pa.array([0, 1, 2**63, 2**64 - 1, None], pa.uint64())
LISTS = pa.array([[3, 1, 2], None, [], [5, 4], [7]])
GAPS = pa.array([[3, 1, 2], None, [], [5, None, 4], [7]])
NANS = pa.array([[math.nan, 30.0], [5.0, math.nan, None, 9.0], [math.nan], []])
NAMES = pa.array([["b", "a"], None, [], ["x", None], ["c"]])
SECONDS = [0, None, -1, 951827696, 10**9, 1709210096, 4102444799, 1711848600, 1635642000]


def moments(unit: str, zone: str | None = None) -> pa.Array:
    """The same seconds and parts of a second in a unit."""
    each = PER_SECOND[unit]
    parts = each * 123_456_789 // 10**9
    values = [None if second is None else second * each + parts for second in SECONDS]
    return pa.array(values, pa.int64()).cast(pa.timestamp(unit, zone))


DAYS = pa.array([1, None, -1, 11000, 19782, -700000], pa.int32()).cast(pa.date32())
CLOCK = pa.array([0, None, 86_399_999_999, 3_723_004_005], pa.time64("us"))
MOMENTS = moments("us")


@dataclass(frozen=True)
class Case:
    """A call.

    Args:
        name: The function.
        arguments: Its arguments; arrays are pyarrow's.
        options: Those by name.
        expected: What it gives; what pyarrow's function of the name gives, if it is None.
    """

    name: str
    arguments: tuple[Any, ...]
    options: dict[str, Any] = field(default_factory=dict)
    expected: Callable[[], pa.Array] | None = None

    def result(self) -> pa.Array:
        """The function's result."""
        if self.expected is not None:
            return self.expected()
        return getattr(pc, self.name)(*self.arguments, **self.options)

    def __str__(self) -> str:
        shown = [
            str(each.type) if isinstance(each, pa.Array) else repr(each) for each in self.arguments
        ]
        shown += [f"{name}={value!r}" for name, value in self.options.items()]
        return f"{self.name}({', '.join(shown)})"


def case(name: str, *arguments: Any, **options: Any) -> Case:
    return Case(name, arguments, options)


def known(name: str, expected: Any, *arguments: Any, **options: Any) -> Case:
    """A case of a function that pyarrow lacks, or calls in another way."""
    return Case(
        name, arguments, options, expected if callable(expected) else lambda: pa.array(expected)
    )


OF_FLOATS = (
    "sqrt exp expm1 ln log10 log2 log1p sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh".split()  # noqa: SIM905
)


def text_cases() -> list[Case]:
    plain = (
        "utf8_upper utf8_lower utf8_swapcase utf8_capitalize utf8_title utf8_reverse utf8_trim_whitespace "
        "utf8_ltrim_whitespace utf8_rtrim_whitespace utf8_is_alnum utf8_is_alpha utf8_is_decimal "
        "utf8_is_digit utf8_is_lower utf8_is_numeric utf8_is_printable utf8_is_space utf8_is_title "
        "utf8_is_upper utf8_split_whitespace"
    )
    letters, parts = "[a-z]", r"(?P<a>[a-z])(?P<b>\d+)"
    joined = (TEXT, "x", TEXT[::-1])
    return [
        *(case(name, TEXT) for name in plain.split()),
        case("utf8_upper", pa.array(["ßᾀİaﬁẖ"])),
        case("utf8_split_whitespace", pa.array(["a\u2003\u3000b\u1680", "c"])),
        case("utf8_lower", pa.array(["ßᾀİA"])),
        case("utf8_trim", TEXT, "h "),
        case("utf8_ltrim", TEXT, "h "),
        case("utf8_rtrim", TEXT, "d "),
        case("utf8_lpad", TEXT, 9),
        case("utf8_rpad", TEXT, 9, "é"),
        case("utf8_center", TEXT, 8, "*"),
        case("utf8_center", TEXT, 8, "*", lean_left_on_odd_padding=False),
        *(
            case(name, CASES_OF_LETTERS, pattern, ignore_case=ignored)
            for name in (
                "starts_with",
                "ends_with",
                "match_substring",
                "match_like",
                "match_substring_regex",
            )
            for pattern in ("Ä", "a", "ß")
            for ignored in (True, False)
        ),
        case("utf8_zero_fill", TEXT, 5),
        case("binary_reverse", TEXT.cast(pa.binary())),
        case("binary_slice", TEXT.cast(pa.binary()), 1, -1, 2),
        case("binary_slice", TEXT.cast(pa.large_binary()), -2),
        case("binary_slice", TEXT.cast(pa.binary()), -1, 0, -2),
        case("utf8_slice_codeunits", TEXT, 1),
        case("utf8_slice_codeunits", TEXT, 1, -1, 2),
        *(case("utf8_normalize", TEXT, form) for form in ("NFC", "NFD", "NFKC", "NFKD")),
        case("utf8_replace_slice", TEXT, 1, 3, "__"),
        case("utf8_replace_slice", TEXT, 3, 1, "__"),
        case("utf8_replace_slice", TEXT, 1, -1, "__"),
        case("utf8_replace_slice", TEXT, -2, 3, "__"),
        case("binary_repeat", TEXT, 2),
        case("binary_repeat", TEXT, pa.array([0, 1, 2] * 3)),
        case("replace_substring", TEXT, "l", "LL"),
        known(
            "replace_substring",
            lambda: pc.replace_substring(TEXT, "l", "LL", max_replacements=1),
            *(TEXT, "l", "LL", 1),
        ),
        case("match_substring", TEXT, "l"),
        case("match_substring", TEXT, "HEL", ignore_case=True),
        case("count_substring", TEXT, "l"),
        case("count_substring", TEXT, "L", ignore_case=True),
        case("find_substring", TEXT, "À"),
        known(
            "find_substring",
            lambda: pc.find_substring(TEXT, "L", ignore_case=True),
            TEXT,
            "L",
            ignore_case=True,
        ),
        case("match_substring_regex", TEXT, r"\d+"),
        *(case("match_like", TEXT, each) for each in ("%o%", "h_l%", "a%", "%3", "123", "%")),
        case("count_substring_regex", TEXT, letters),
        case("find_substring_regex", TEXT, "[éÀ]"),
        case("replace_substring_regex", TEXT, r"(\w)\w", r"<\1>"),
        case("replace_substring_regex", TEXT, letters, "-", max_replacements=2),
        case("replace_substring_regex", TEXT, letters, r"<\0\\0>"),
        case("extract_regex", TEXT, parts),
        case("split_pattern", TEXT, ","),
        case("split_pattern", TEXT, ",", max_splits=1, reverse=True),
        case("split_pattern_regex", TEXT, "[, ]"),
        case("split_pattern_regex", TEXT, "[, ]", max_splits=1),
        case("split_pattern_regex", TEXT, "(,)|( )"),
        case("utf8_split_whitespace", TEXT, max_splits=1),
        case("binary_join", NAMES, "-"),
        case("binary_join", NAMES, pa.array(["1", None, "3", "4", "5"])),
        *(
            known(
                "binary_join_element_wise",
                lambda how=how: pc.binary_join_element_wise(
                    *joined, "-", null_handling=how, null_replacement="N"
                ),
                *joined,
                "-",
                null_handling=how,
                null_replacement="N",
            )
            for how in ("emit_null", "skip", "replace")
        ),
    ]


def number_cases() -> list[Case]:
    of_all = "is_nan is_finite is_inf sign floor ceil trunc round"
    modes = get_args(numeric.RoundMode)
    seven = [D("1.05"), D("-1.05"), D("0.00"), D("1.40"), None]
    bits = ("bit_wise_and", "bit_wise_or", "bit_wise_xor")
    whole = INTEGERS.drop_null().to_pylist()
    return [
        *(case(name, FLOATS) for name in OF_FLOATS),
        case("sqrt", SHORT),
        case("sqrt", FLOATS.cast(pa.float32())),
        *(case(name, values) for name in of_all.split() for values in (FLOATS, SHORT)),
        *(case(name, MONEY) for name in ("is_nan", "is_finite", "sign")),
        *(case("round_to_multiple", FLOATS, 0.25, mode) for mode in modes),
        *(case("round_to_multiple", INTEGERS, 10, mode) for mode in modes),
        *(
            known(
                f"{name}_checked",
                lambda name=name: getattr(pc, name)(SHORT, 1),
                SHORT.cast("int64"),
                1,
            )
            for name in ("add", "subtract", "multiply")
        ),
        *(case(f"{name}_checked", FLOATS) for name in ("negate", "abs")),
        *(
            known(
                name,
                lambda kind=kind, results=results: pa.array(results, kind),
                *(pa.array(seven, pa.decimal128(5, 2)), divisor),
            )
            for divisor in (D("-0.70"), pa.array([D("-0.70")] * 5))
            for name, kind, results in (
                ("floor_divide", pa.decimal128(38, 0), [-2, 1, 0, -2, None]),
                ("mod", pa.decimal128(38, 2), [D("-0.35"), D("-0.35"), D("0.00"), D("0.00"), None]),
            )
        ),
        known("clip", [DAYS[0].as_py(), None, DAYS[0].as_py()], DAYS[:3], low=DAYS[0].as_py()),
        known("clip", ["b", None, "d"], pa.array(["a", None, "z"]), "b", "d"),
        *(
            case("round", values, digits, mode)
            for mode in get_args(numeric.RoundMode)
            for digits, values in ((0, FLOATS), (2, FLOATS), (-1, FLOATS), (-1, INTEGERS))
        ),
        *(
            case("round", MONEY, *options)
            for options in ((1,), (-1,), (2, "half_towards_infinity"), (0, "down"), (3,))
        ),
        *(
            known(
                "round",
                [round(each, digits) for each in EXTREMES.to_pylist()],
                *(EXTREMES, digits),
            )
            for digits in (400, -400, -308, -5)
        ),
        known("round", [1e5, -0.0, 0.0, 1e5], pa.array([1.5, -1.5, 0.0, 5e-324]), -5, "up"),
        known("round", [0.0, -1e5, 0.0, 0.0], pa.array([1.5, -5e-324, 0.0, 5e-324]), -5, "down"),
        *(case(name, MONEY) for name in ("floor", "ceil", "trunc", "sqrt", "ln")),
        known("clip", CLIPPED, MONEY, D(0), D(20)),
        case("logb", FLOATS, 10),
        case("atan2", FLOATS, FLOATS[::-1]),
        case("hypot", FLOATS, FLOATS[::-1]),
        case("power", FLOATS, 2.0),
        case("power", INTEGERS, 13),
        known("power", lambda: pc.power(SHORT, pa.scalar(3, pa.int8())), SHORT, 3),
        known(
            "power",
            lambda: pa.array([1, 2**64 - 1, 0, 0], pa.uint64()),
            pa.array([5, 2**64 - 1, 2, 0], pa.uint64()),
            WORDS[:4],
        ),
        known("floor_divide", [number // -7 for number in whole], INTEGERS.drop_null(), -7),
        known("mod", [number % 7 for number in whole], INTEGERS.drop_null(), 7),
        known("clip", [max(min(number, 9), 0) for number in whole], INTEGERS.drop_null(), 0, 9),
        known("clip", [1.0, 2.0, None], pa.array([0.5, 2.0, None]), low=1.0),
        *(case(name, values, values[::-1]) for name in bits for values in (SHORT, INTEGERS, WORDS)),
        case("bit_wise_and", INTEGERS, 6),
        *(case("bit_wise_not", values) for values in (SHORT, INTEGERS, WORDS)),
        *(
            known(
                name,
                lambda name=name, values=values, places=places: getattr(pc, name)(
                    values, pa.scalar(places, values.type)
                ),
                values,
                places,
            )
            for name in ("shift_left", "shift_right")
            for values in (SHORT, INTEGERS, WORDS)
            for places in (0, 1, 7, 63, 64)
        ),
    ]


def date_cases() -> list[Case]:
    of_days = (
        "year month day quarter day_of_year iso_year iso_week is_leap_year day_of_week year_month_day "
        "iso_calendar week us_week us_year"
    )
    of_ticks = "hour minute second millisecond microsecond nanosecond subsecond"
    between = "years quarters weeks days hours minutes seconds milliseconds microseconds "
    between += "nanoseconds"
    oslo, new_york = "Europe/Oslo", "America/New_York"
    twice = pa.array([dt.datetime(2021, 10, 31, 2, 30), None, dt.datetime(2021, 10, 31, 12, 30)])
    written = pa.array(["2024-02-29 12:00:01", None, "1999-12-31 23:59:59"])
    form = "%Y-%m-%d %H:%M:%S"
    roundings = ("floor_temporal", "ceil_temporal", "round_temporal")
    return [
        *(
            case(name, values)
            for name in of_days.split()
            for values in (MOMENTS, DAYS, DAYS.cast(pa.date64()), moments("s", oslo))
        ),
        case("day_of_week", MOMENTS, count_from_zero=False, week_start=7),
        *(
            case(
                "week",
                # The days around the ends of 28 years, of which the calendar repeats.
                pa.array(
                    [365 * k + (k + 1) // 4 + day for k in range(28) for day in range(-10, 11)],
                    pa.date32(),
                ),
                week_starts_monday=monday,
                count_from_zero=zero,
                first_week_is_fully_in_year=whole,
            )
            for monday in (True, False)
            for zero in (True, False)
            for whole in (True, False)
        ),
        *(
            case(name, values)
            for name in of_ticks.split()
            for values in (MOMENTS, CLOCK, moments("ns"), moments("s"))
        ),
        case("hour", moments("ns", new_york)),
        *(
            case(f"{name}_between", values, values[::-1])
            for name in between.split()
            for values in (MOMENTS, moments("s"), DAYS)
        ),
        *(case(name, MOMENTS, unit=unit) for name in roundings for unit in get_args(dates.Unit)),
        *(case(name, DAYS, unit=unit) for name in roundings for unit in get_args(dates.Unit)),
        *(case(name, MOMENTS, 7, unit="month") for name in roundings),
        *(case(name, CLOCK[::3], 5, unit="minute") for name in roundings),
        case("floor_temporal", CLOCK, 5, unit="minute"),
        case("floor_temporal", MOMENTS, 2, "week", week_starts_monday=False),
        case("floor_temporal", moments("ns", oslo), unit="day"),
        case("ceil_temporal", moments("s"), unit="minute", ceil_is_strictly_greater=True),
        *(
            case("local_timestamp", moments(unit, zone))
            for unit in ("us", "ns")
            for zone in (oslo, "UTC", "+02:00")
        ),
        case("assume_timezone", moments("ns"), new_york, ambiguous="earliest"),
        *(
            case("assume_timezone", twice, oslo, ambiguous=which)
            for which in ("earliest", "latest")
        ),
        *(
            # Half an hour that is passed over, and a whole day.
            case("assume_timezone", passed.cast(pa.timestamp(unit)), zone, nonexistent=which)
            for zone, passed in (
                ("Australia/Lord_Howe", pa.array([dt.datetime(2021, 10, 3, 2, 15), None])),
                (
                    "Pacific/Apia",
                    pa.array([dt.datetime(2011, 12, 30, 12, 0, 0, 5), MOMENTS[0].as_py()]),
                ),
            )
            for unit in ("us", "ns")
            for which in ("earliest", "latest")
        ),
        *(case("strftime", values) for values in (*map(moments, PER_SECOND), DAYS)),
        case("strftime", MOMENTS, "%d/%m/%y %H:%M"),
        case("strftime", moments("ns"), "%T %%S %S"),
        *(
            known(
                "strftime",
                lambda values=values: pa.array(
                    [each and each.strftime("%f %%f %M") for each in values.to_pylist()]
                ),
                *(values, "%f %%f %M"),
            )
            for values in (MOMENTS, moments("ms"), moments("s"), DAYS)
        ),
        case("years_between", MOMENTS, dt.datetime(2026, 1, 2)),
        case("strftime", moments("s", oslo), "%Y-%m-%d %H:%M:%S %z"),
        case("strptime", written, form, "s"),
        case("strptime", pa.array(["2024-02-29 12:00:01", "x"]), form, "us", error_is_null=True),
    ]


def nested_cases() -> list[Case]:
    pairs = [[("a", 1), ("b", 2), ("a", 3)], None, [], [("b", None)]]
    maps = pa.array(pairs, pa.map_(pa.string(), pa.int32()))
    rows = pa.array([{"x": 1, "y": "a"}, None, {"x": 3, "y": None}])
    more = pa.array([9.5, 8.0, 7.0])
    return [
        known("list_sum", [6, None, 0, 9, 7], GAPS),
        known("list_sum", [1.5, 2.0], pa.array([[1.5], [2.0, None]])),
        known("list_mean", [2.0, None, None, 4.5, 7.0], GAPS),
        known(
            "list_mean",
            lambda: pa.array([D("1.8"), None, D("-1.8")], pa.decimal128(2, 1)),
            pa.array([[D("1.5"), D("2.0")], [None], [D("-1.5"), None, D("-2.0")]]),
        ),
        known(
            "list_sum",
            lambda: pa.array([D("19.0"), None], pa.decimal128(38, 1)),
            pa.array([[D("9.5"), D("9.5"), None], None]),
        ),
        known("list_min", [1, None, None, 4, 7], GAPS),
        known("list_max", ["b", None, None, "x", "c"], NAMES),
        known("list_min", [30.0, 5.0, math.nan, None], NANS),
        known("list_max", [30.0, 9.0, math.nan, None], NANS),
        known("list_contains", [True, None, False, False, False], GAPS, 3),
        known("list_contains", [True, None, False, False, False], NAMES, "a"),
        known("list_unique", [[1, 2, None], None, []], pa.array([[1, 2, 1, None, None], None, []])),
        known("list_unique", [["b", "a"]], pa.array([["b", "a", "b"]])),
        known("list_unique", [[1], None], pa.array([[1, 1], None], pa.list_(pa.int64(), 2))),
        known("list_slice", [[1], None], pa.array([[0, 1], None], pa.list_(pa.int64(), 2)), 1),
        known(
            "list_unique",
            [[30.0, math.nan, None], [0.0]],
            pa.array([[30.0, math.nan, None, math.nan, None], [0.0, -0.0]]),
        ),
        known("list_count_matches", [2, None, 0], pa.array([[1, 2, 1, None], None, []]), 1),
        *(
            known(name, lambda kind=kind, slots=slots: pa.array(slots, pa.list_(kind)), maps[1:])
            for name, kind, slots in (
                ("map_keys", pa.field("key", pa.string(), nullable=False), [None, [], ["b"]]),
                ("map_values", pa.field("value", pa.int32()), [None, [], [None]]),
            )
        ),
        known("list_sort", [[1, 2, 3], None, [], [4, 5], [7]], LISTS),
        known("list_sort", [[3, 2, 1], None, [], [5, 4, None], [7]], GAPS, descending=True),
        known(
            "list_sort",
            lambda: pa.array(pl.Series(NANS).list.sort(nulls_last=True).to_list()),
            NANS,
        ),
        known(
            "list_sort",
            [[30.0, math.nan], [9.0, 5.0, math.nan, None], [math.nan], []],
            NANS,
            descending=True,
        ),
        known(
            "list_sort",
            lambda: pa.DictionaryArray.from_arrays([0, 1], pa.array([[1, 2, 3], [4, 5, None]])),
            pa.DictionaryArray.from_arrays([0, 1], GAPS.take([0, 3])),
        ),
        case("list_slice", LISTS, 1, 3),
        case("list_slice", GAPS, 0, step=2),
        *(
            known(
                "map_lookup",
                lambda key=key, which=which: pc.map_lookup(maps, pa.scalar(key), which),
                *(maps, key, which),
            )
            for key in ("a", "b")
            for which in ("first", "last", "all")
        ),
        known(
            "struct_with_field",
            [{"x": 9.5, "y": "a"}, None, {"x": 7.0, "y": None}],
            *(rows, "x", more),
        ),
        known(
            "struct_with_field",
            [{"x": 1, "y": "a", "z": 9.5}, None, {"x": 3, "y": None, "z": 7.0}],
            *(rows, "z", more),
        ),
    ]


def all_cases() -> dict[str, Case]:
    """By what is called."""
    cases = [*text_cases(), *number_cases(), *date_cases(), *nested_cases()]
    results: dict[str, Case] = {}
    for each in cases:
        name = str(each)
        while name in results:
            name += "'"
        results[name] = each
    return results


CASES = all_cases()


def called(case: Case, moved: bool = False) -> Array:
    """A function's result; if `moved`, for arguments in device memory."""
    arguments = [
        from_pyarrow(each) if isinstance(each, pa.Array) else each for each in case.arguments
    ]
    if moved:
        arguments = [to_device(each) if isinstance(each, Array) else each for each in arguments]
    result: Array = getattr(ck, case.name)(*arguments, **case.options)
    return result


def require_alike(result: Array, expected: Any) -> None:
    """The same type and values; numbers may differ in their last digits."""
    if isinstance(expected, pa.ChunkedArray):
        expected = expected.combine_chunks()
    wanted = from_pyarrow(expected)
    result.validate(full=True)
    assert pa.array(result).type == expected.type
    pairs = zip(result.to_pylist(), wanted.to_pylist(), strict=True)
    for ours, theirs in pairs:
        if isinstance(theirs, float) and ours is not None and not math.isnan(theirs):
            assert math.copysign(1, ours) == math.copysign(1, theirs)
            assert ours == pytest.approx(theirs, rel=1e-14)
        else:
            assert repr(ours) == repr(theirs)
