"""Row functions over columns on a device, beside the same functions in Python: for the simulator, or a GPU.

Each case is a function that ends with an assertion; `jit.simulated_kernels` runs them all.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from typing import Any
from zoneinfo import ZoneInfo

import pytest

import colkern as ck
from colkern import schema as s
from colkern.cuda import adapter, stand_in
from colkern.operations.moving import to_device, to_host

BERLIN = ZoneInfo("Europe/Berlin")


def check(function: Any, *columns: ck.Array, left: int = 0, **options: Any) -> None:
    """Make sure that results on a device are Python's, with so many rows left to Python."""
    result = ck.udf(function, **options)
    actual = result(*map(to_device, columns))
    assert actual.device.kind == "cuda"
    host = to_host(actual)
    host.validate(full=True)
    rows = list(zip(*(column.to_pylist() for column in columns), strict=True))
    nulls = options.get("nulls", "propagate")

    def of(row: tuple[Any, ...]) -> Any:
        if nulls == "pass" or None not in row:
            return function(*row)
        return None if nulls == "propagate" else nulls

    expected = list(map(of, rows))
    assert values_of(host) == expected
    assert host.null_count == expected.count(None)
    assert host.type == result.result_type(*(column.type for column in columns))
    assert result.report().rows == len(rows)
    assert sum(result.report().left.values()) == left


def values_of(result: ck.Array) -> list[Any]:
    """Results in host memory as functions return them: structs are tuples."""
    values = result.to_pylist()
    if not isinstance(result.type, s.Struct):
        return values
    return [None if value is None else tuple(value.values()) for value in values]


def raised(function: Any, *columns: ck.Array, **options: Any) -> Exception:
    """The exception of a function for columns on a device."""
    with pytest.raises(Exception) as caught:  # noqa: PT011 (the caller looks at it)
        ck.udf(function, **options)(*map(to_device, columns))
    return caught.value


# Numbers


def scaled(a: int, b: int) -> int:
    return a * b // b if b else -1


def integers_do_not_wrap_around() -> None:
    large = ck.array([1, 2**62, None, -(2**63), 7] * 4)
    check(scaled, large, ck.array([0, 9, 3, 2, -2] * 4), left=8)
    narrow = ck.array([5, None, -7], ck.int8()), ck.array([3, 2, 0], ck.uint16())
    check(scaled, *narrow)
    error = raised(lambda a: a * 2, ck.array([1, 2**62]))
    assert isinstance(error, OverflowError)
    assert error.__notes__[-1].endswith("row 1")


def divided(a: int, b: int) -> float:
    return a // b + a % b + a / b


def a_division_by_zero_is_python_s() -> None:
    check(divided, ck.array([7, -7, None, 2**60]), ck.array([2, 2, 0, -3]), left=1)
    error = raised(divided, ck.array([7, -7, 3]), ck.array([2, 0, 0]))
    assert isinstance(error, ZeroDivisionError)
    assert error.__notes__ == ["divided: row 1"]


def compared(x: float, y: float) -> tuple[bool, bool, float]:
    return x < y, x == y, round(abs(x) ** 0.5, 3) if x < 0 else x * y + x


def floats_are_rounded_as_in_python() -> None:
    xs = [0.1, -2.0, None, 1e300, -0.0]
    check(compared, ck.array(xs), ck.array([0.3, 2.0, 1.0, 1e10, 0.0]))
    check(lambda x: x / 2, ck.array([0.5, None, 3.0], ck.float16()))


def narrowed(a: int) -> int:
    return a + 1


def results_are_of_the_declared_type() -> None:
    check(narrowed, ck.array([1, None, 126]), returns=ck.int8())
    error = raised(narrowed, ck.array([1, None, 127]), returns=ck.int8())
    assert isinstance(error, OverflowError)
    assert error.__notes__ == ["narrowed: row 2"]


# Texts

WORDS = ["a,b", " hello ", "é,ü,x", None, "", "more than twelve bytes"]


def tidy(s: str, n: int) -> str:
    return f"{s.strip().title()[:n]}|{n:03d}|" + s.replace(",", ";")


def texts_are_made_in_arenas() -> None:
    # More rows than there are threads, whose arenas are used again.
    words = [word for word in WORDS if word is None or word.isascii()] * 5
    check(tidy, ck.array(words), ck.array(list(range(len(words)))))


def parts(s: str) -> tuple[str, str | None, int]:
    return s[1:3], s.split(",")[1] if "," in s else None, len(s)


def texts_of_any_layout_are_read() -> None:
    for kind in (ck.utf8(), ck.large_utf8(), ck.utf8_view()):
        check(parts, ck.array(WORDS, kind))
    check(parts, ck.array(WORDS).slice(1, 4))
    check(parts, ck.dictionary_encode(ck.array(WORDS)), pure=False)


def reversed_bytes(b: bytes) -> bytes:
    return b.upper()[::-1] + b"!"


def byte_strings_are_read_and_made() -> None:
    octets = [b"abc", None, b"", b"\xff\x00z"]
    for kind in (ck.binary(), ck.binary_view()):
        check(reversed_bytes, ck.array(octets, kind))
    check(reversed_bytes, ck.array([b"ab", None, b"\x00z"], ck.fixed_size_binary(2)))


def a_row_that_needs_more_room_is_left() -> None:
    texts = ck.array(["a", "longer than that", None] * 2)
    check(lambda s: len(s * 500), texts)
    check(lambda s: len(s * 50_000), texts, left=2)


LOG = re.compile(r"(\w+)=(\d+)")


def read(s: str) -> int | None:
    actual = LOG.search(s)
    return int(actual[2]) if actual else None


RULES = [(rf"\b({letter})\w*", rf"\1{letter}") for letter in "abcdefghijklmnopqrstu"]


def ruled(s: str) -> str:
    for rule, repl in RULES:
        s = re.sub(rule, repl, s)
    return s


def patterns_are_searched() -> None:
    check(read, ck.array(["x=12", "y", None, "ab z=7;", "q=99999999999999999999"][:4]))
    check(ruled, ck.array(["a big cat", "", None, "zoo é", "x" * 40]), left=1)


# None, tables, times


def either(s: str | None, n: int | None) -> tuple[int, str] | None:
    if n is None:
        return None
    return n, "none" if s is None else s


def nulls_are_passed_and_replaced() -> None:
    check(either, ck.array(WORDS), ck.array([1, None, 3, 4, None, 6]), nulls="pass")
    check(lambda s: s + "!", ck.array(WORDS), nulls="missing", returns=ck.utf8())


PRICES = {"a,b": 5, "": 9}
NAMES = ["zero", "one", "two"]


def looked_up(s: str, n: int) -> str:
    return NAMES[PRICES.get(s, n) % 3]


def tables_stand_in_the_device_s_memory() -> None:
    check(looked_up, ck.array(WORDS), ck.array([1, 2, 3, 4, 5, 6]))


def calendar(d: date, t: datetime) -> tuple[int, int, str, timedelta, datetime]:
    return d.year, d.isoweekday(), d.isoformat(), t - datetime(2020, 2, 29), t.replace(hour=1)


def dates_are_dates() -> None:
    days = ck.array([date(2020, 2, 29), None, date(1969, 12, 31), date(9999, 12, 31)])
    moments = [datetime(2020, 5, 1, 3, 4, 5, 6), datetime(1, 1, 1), None, datetime(1999, 1, 2)]
    check(calendar, days, ck.array(moments))
    check(lambda d: d.month, ck.array([10957, None, 0], ck.date32()))


def ordered(s: str) -> str:
    seen = sorted({word.lower() for word in s.split()})
    return "-".join(word for word in seen if len(word) > 1)


def containers_are_made_in_arenas() -> None:
    check(ordered, ck.array(["b a bb AA", None, "x", "two Two three"]))


# Ways


def columns_without_rows_have_results_without_rows() -> None:
    check(tidy, ck.array([], ck.utf8()), ck.array([], ck.int64()))


def nothing_is_left_where_that_is_refused() -> None:
    error = raised(scaled, ck.array([2**62]), ck.array([9]), strict=True)
    assert isinstance(error, ck.CompileError)


# Parts

ROWS = [
    {"id": 1, "tags": ["a", None], "parts": [{"k": "x", "v": 1}, {"k": None, "v": 2}]},
    {"id": None, "tags": None, "parts": []},
    None,
    {"id": 3, "tags": ["longer than a view"], "parts": [None, {"k": "z", "v": None}]},
]


def lists_and_structs_are_read() -> None:
    kind = ck.struct(
        [
            ("id", ck.int16()),
            ("tags", ck.list_view(ck.utf8_view())),
            ("parts", ck.large_list(ck.struct([("k", ck.utf8()), ("v", ck.float32())]))),
        ]
    )
    column = ck.array(ROWS * 3, kind)
    check(lambda row: len([tag for tag in row["tags"] or [] if tag is None or "a" in tag]), column)
    check(lambda row: sum(part["v"] or 0.5 for part in row["parts"] if part is not None), column)
    lists = ck.array([[[1, 2], []], None, [], [[7]]] * 4)
    check(lambda lists: sum(sum(numbers) for numbers in lists), lists)
    check(
        lambda pairs: pairs[1], ck.array([[1, 2], [3, 4], None], ck.fixed_size_list(ck.int8(), 2))
    )


def split(text: str) -> list[str]:
    return text.split(",")


def numbers(n: int) -> list[Any]:
    return [[[k, None] for k in range(m)] if m != 2 else None for m in range(n)]


def described(text: str) -> Any:
    return {
        "size": len(text),
        "words": [
            {"word": word, "letters": list(word), "half": len(word) / 2 if word else None}
            for word in text.split(",")
        ],
        "none": None if text else [text],
    }


def lists_are_results() -> None:
    check(split, ck.array(WORDS * 5))
    check(numbers, ck.array([0, 3, None, 4, 1] * 4))
    check(lambda row: row["tags"], ck.array(ROWS * 2))
    check(lambda x: [x, x > 1], ck.array([0.5, None, 2.5]), returns=ck.list_(ck.float32()))
    actual = ck.udf(described)(to_device(ck.array(WORDS * 3)))
    expected = [None if word is None else described(word) for word in WORDS * 3]
    assert to_host(actual).to_pylist() == expected


def arenas_grow_where_many_rows_have_no_room() -> None:
    check(lambda n: [n] * n, ck.array([1, 200, None, 3, 190, 900]))
    check(lambda xs: [len(xs)], ck.array([[1], [2] * 200, None, []]))


def a_list_that_has_no_room_is_left() -> None:
    check(lambda n: [n] * n, ck.array([1, 20_000, None, 3]), left=1)
    check(lambda xs: [len(xs)], ck.array([[1], [2] * 20_000, None, []]), left=1)


def dictionaries_are_maps() -> None:
    words = ck.array(["b,a,b", None, "", "x"] * 3)
    actual = ck.udf(lambda s: {word: len(word) for word in s.split(",")})(to_device(words))
    expected = [
        None if s is None else list({word: len(word) for word in s.split(",")}.items())
        for s in words.to_pylist()
    ]
    assert to_host(actual).to_pylist() == expected


def on_a_device_that_is_not_the_current_one() -> None:
    if not adapter.is_simulated():
        # A GPU's kernels do not reach the memory of a stand-in.
        return
    with stand_in.installed(devices=2) as devices:
        texts = to_device(ck.array(["a b", None, "c"]), "cuda:1")
        actual = ck.udf(lambda text: text.upper().split())(texts)
        assert actual.device == ck.Device("cuda", 1)
        assert to_host(actual).to_pylist() == [["A", "B"], None, ["C"]]
        assert devices.used[0] == 0


def generators_give_lists() -> None:
    def parts_of(text: str) -> Any:
        for part in text.split(","):
            if part:
                yield part, len(part)

    def longest(text: str) -> int:
        return max((size for _, size in parts_of(text)), default=0)

    words = ck.array(["b,a,bcd", None, "", "x"] * 3)
    result = ck.generator(parts_of)
    actual = to_host(result(to_device(words)))
    actual.validate(full=True)
    rows = [None if s is None else list(parts_of(s)) for s in words.to_pylist()]
    assert [
        row if row is None else [tuple(item.values()) for item in row] for row in actual.to_pylist()
    ] == rows
    assert not result.report().left
    check(longest, words)


def what_calls_itself_does_not_run_there() -> None:
    def digits(n: int) -> int:
        return n % 10 + digits(n // 10) if n else 0

    error = raised(digits, ck.array([12]))
    assert isinstance(error, ck.UnsupportedError)
    assert "it calls itself" in str(error)


def decimals_are_decimals() -> None:
    amounts = [Decimal("1234.50"), Decimal("-0.10"), None, Decimal("7.25"), Decimal("1E+20")]
    rates = [Decimal("0.190"), Decimal("0.070"), Decimal(0), Decimal("1.000"), Decimal(2)]
    columns = ck.array(amounts, ck.decimal128(38, 2)), ck.array(rates, ck.decimal64(10, 3))
    check(taxed, *columns, left=1)


def taxed(amount: Decimal, rate: Decimal) -> tuple[str, Decimal, bool]:
    tax = (amount * rate).quantize(Decimal("0.01"), rounding=ROUND_HALF_UP)
    return f"{amount + tax:,.2f}", tax, tax > 1


def local(moment: datetime) -> tuple[int, str, datetime, timedelta]:
    there = moment.astimezone(BERLIN)
    return there.hour, there.isoformat(), there + timedelta(days=1), moment - there


def moments_have_a_zone() -> None:
    moments = [datetime(2024, 3, 31, hour, tzinfo=UTC) for hour in (0, 1)]
    moments += [datetime(1970, 1, 1, tzinfo=UTC), datetime(1800, 1, 1, tzinfo=UTC)]
    check(local, ck.array([*moments, None], ck.timestamp("us", "UTC")), left=1)


CASES: list[Callable[[], None]] = [
    integers_do_not_wrap_around,
    a_division_by_zero_is_python_s,
    floats_are_rounded_as_in_python,
    results_are_of_the_declared_type,
    texts_are_made_in_arenas,
    texts_of_any_layout_are_read,
    byte_strings_are_read_and_made,
    a_row_that_needs_more_room_is_left,
    patterns_are_searched,
    nulls_are_passed_and_replaced,
    tables_stand_in_the_device_s_memory,
    dates_are_dates,
    containers_are_made_in_arenas,
    columns_without_rows_have_results_without_rows,
    nothing_is_left_where_that_is_refused,
    lists_and_structs_are_read,
    lists_are_results,
    arenas_grow_where_many_rows_have_no_room,
    a_list_that_has_no_room_is_left,
    dictionaries_are_maps,
    on_a_device_that_is_not_the_current_one,
    generators_give_lists,
    what_calls_itself_does_not_run_there,
    decimals_are_decimals,
    moments_have_a_zone,
]
