"""Rows that users' functions build on a device, and what each of them should be: for the simulator.

Each case is a function that ends with an assertion; `simulated_kernels` runs them all.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from arrow_oracle import from_pyarrow
from arrow_strategies import arrays
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from jit.copies import copied_type, copied_values, copying
from numba import njit

import colkern as ck
from colkern.cuda import memory
from colkern.jit import build_rows
from colkern.operations.moving import to_device, to_host


def column(values: list[Any], kind: ck.DataType | None = None) -> ck.Array:
    return to_device(ck.array(values, kind))


def has_buffers(array: ck.Array) -> bool:
    return any(array.buffers) or any(map(has_buffers, array.children))


def built(function: Callable[..., None], count: int, *arguments: Any, returns: Any) -> list[Any]:
    """The values of the rows that a function builds on the device."""
    result = build_rows(function, count, *arguments, returns=returns)
    assert result.device.kind == "cuda" or not has_buffers(result)
    result.validate(full=True)
    return pa.array(to_host(result)).to_pylist()


@settings(
    max_examples=25,
    deadline=None,
    derandomize=True,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(arrays(depth=3), st.booleans())
def a_function_that_appends_what_it_reads_copies_a_column(array: pa.Array, whole: bool) -> None:
    host = from_pyarrow(array)
    copy_row, returns = copying(host.type, whole), copied_type(host.type)
    assert built(copy_row, len(array), to_device(host), returns=returns) == copied_values(array)


# Any number of values a row


def append_word(word, out):
    out.text.append(word)
    out.is_long.append(len(word) > 3)
    out.end_row()


def split(i, texts, separator, out):
    """A list of words, null for null, and no row at all for a text that starts with a tab."""
    text = texts[i]
    if text is None:
        out.append_null()
        return
    if text.startswith("\t"):
        return
    start = 0
    while start <= len(text):
        end = text.find(" ", start)
        if end < 0:
            end = len(text)
        if end - start == separator:
            out.values.append_null()
        else:
            append_word(text[start:end], out.values)
        start = end + 1
    out.end_list()


WORDS = ck.list_(ck.struct([("text", ck.utf8()), ("is_long", ck.bool_())]))
TEXTS = [
    "a long é ü",
    None,
    "",
    "\tno",
    "nine letters",
    "xx yy zzz",
    "twenty bytes and more of them",
]


def split_words(text: str | None) -> Any:
    if text is None:
        return None
    words = text.split(" ")
    result = [{"text": w, "is_long": len(w) > 3} for w in words]
    return [None if len(w) == 2 else m for w, m in zip(words, result, strict=True)]


def all_words(texts: list[str | None]) -> list[Any]:
    return [split_words(text) for text in texts if text is None or text[:1] != "\t"]


def rows_have_any_number_of_values() -> None:
    # More rows than there are threads, whose bits share bytes.
    texts = TEXTS * 6
    expected = all_words(texts)
    assert built(split, len(texts), column(texts), 2, returns=WORDS) == expected
    assert built(njit(split), len(texts), column(texts), np.int64(2), returns=WORDS) == expected
    assert built(split, 0, column(texts), 2, returns=WORDS) == []


def count_down(i, numbers, out):
    n = numbers[i]
    if n is None:
        out.append_null()
        return
    while n > 0:
        out.values.append(n if n % 3 else None)
        n -= 1
    out.end_list()


def the_rows_are_those_of_the_cpu() -> None:
    numbers, returns = [4, None, 0, 7, 2], ck.list_(ck.int8())
    host = build_rows(count_down, 5, ck.array(numbers), returns=returns)
    device = build_rows(count_down, 5, column(numbers), returns=returns)
    assert to_host(device).to_pylist() == host.to_pylist()
    assert (device.type, device.null_count) == (host.type, host.null_count)
    assert device.children[0].null_count == host.children[0].null_count


ALL = ck.struct(
    [
        ("flag", ck.bool_()),
        ("half", ck.float16()),
        ("single", ck.float32()),
        ("large", ck.uint64()),
        ("price", ck.decimal128(20, 2)),
        ("cents", ck.decimal32(5, 2)),
        ("wide", ck.decimal256(60)),
        ("day", ck.date64()),
        ("octets", ck.fixed_size_binary(2)),
        ("pair", ck.fixed_size_list(ck.int16(), 2)),
        ("counts", ck.map_(ck.utf8(), ck.int8())),
        ("append", ck.large_utf8()),
        ("nothing", ck.null()),
    ]
)


def of_all(i, numbers, out):
    n = numbers.value(i)
    if n % 7 == 0:
        out.append_null()
        return
    out.reserve(1)
    out.flag.append(n > 20 if n % 3 else None)
    out.half.append(n / 4)
    out.single.append(n)
    if n == 1:
        out.large.append(2**64 - 1)
    else:
        out.large.append(n)
    out.price.append(-n)
    out.cents.append(n)
    zero = 0
    out.wide.append((n, zero, 0, 0))
    out.day.append(n * 86_400_000)
    out.octets.append(b"ab" if n % 2 else b"\xff\x00")
    if n % 5 == 0:
        out.pair.append_null()
    else:
        pair = out.pair.values
        pair.append(n)
        pair.append_nulls(1)
        out.pair.end_list()
    for k in range(n % 3):
        out.counts.keys.append("one" if k else "nul\0l")
        out.counts.items.append(k)
    out.counts.end_map()
    out.field("append").append(None)
    out.nothing.append(None)
    out.end_row()


def expected_of_all(n: int) -> Any:
    if n % 7 == 0:
        return None
    return {
        "flag": n > 20 if n % 3 else None,
        "half": n / 4,
        "single": float(n),
        "large": 2**64 - 1 if n == 1 else n,
        "price": Decimal(-n).scaleb(-2),
        "cents": Decimal(n).scaleb(-2),
        "wide": Decimal(n),
        "day": pa.scalar(n, pa.date32()).as_py(),
        "octets": b"ab" if n % 2 else b"\xff\x00",
        "pair": None if n % 5 == 0 else [n, None],
        "counts": [("nul\0l", 0), ("one", 1)][: n % 3],
        "append": None,
        "nothing": None,
    }


def computed_values_are_those_of_their_types() -> None:
    numbers = list(range(36))
    actual = built(of_all, 36, column(numbers), returns=ALL)
    assert actual == [expected_of_all(n) for n in numbers]


def repeat(i, texts, out):
    text = texts[i]
    if text is None:
        out.append_null()
        return
    for k in range(len(text)):
        if k == 5:
            raise ValueError("too long")
        out.values.text.append(text)
        out.values.is_odd.append(k % 2 == 1 if k else None)
        out.values.half.append(k / 2)
        out.values.day.append(k)
        out.values.second.append(k * k)
        out.values.octet.append(k)
        out.values.single.append(-k)
        out.values.pair.append_null() if k == 2 else append_pair(k, out.values.pair)
        out.values.end_row()
    out.end_list()


def append_pair(k, out):
    out.values.append(-k)
    out.values.append(None)
    out.end_list()


REPEATED = ck.list_(
    ck.struct(
        [
            ("text", ck.utf8()),
            ("is_odd", ck.bool_()),
            ("half", ck.float16()),
            ("day", ck.date32()),
            ("second", ck.time32("s")),
            ("octet", ck.uint8()),
            ("single", ck.float32()),
            ("pair", ck.fixed_size_list(ck.decimal128(3), 2)),
        ]
    )
)


def repeated(text: str | None) -> Any:
    if text is None:
        return None
    return [
        {
            "text": text,
            "is_odd": k % 2 == 1 if k else None,
            "half": k / 2,
            "day": date.fromordinal(date(1970, 1, 1).toordinal() + k),
            "second": time(0, 0, k * k),
            "octet": k,
            "single": -k,
            "pair": None if k == 2 else [-k, None],
        }
        for k in range(len(text))
    ]


def a_function_may_call_others_with_parts_of_a_builder() -> None:
    texts = ["ab", None, "é", "four", "five"]
    assert built(repeat, 5, column(texts), returns=REPEATED) == list(map(repeated, texts))


def extend_and_scale(i, batch, values, factor, out):
    row = batch[i]
    if row.count == 0:
        out.append(values)
        return
    for k in range(row.count):
        out.values.append(values[k] * factor)
    out.values.extend(values)
    out.end_list()


def append_tuples(i, prices, out):
    price = prices[i]
    if price is not None:
        out.append((price * 2, (i, None)))


def tuples_and_decimals_are_appended() -> None:
    prices = column([Decimal("1.5"), None, Decimal("-499.99")], ck.decimal64(9, 2))
    inner = ck.struct([("row", ck.int8()), ("none", ck.utf8())])
    for price in (ck.decimal32(6, 3), ck.decimal256(50, 2)):
        returns = ck.struct([("price", price), ("inner", inner)])
        assert built(append_tuples, 3, prices, returns=returns) == [
            {"price": Decimal(3), "inner": {"row": 0, "none": None}},
            {"price": Decimal("-999.98"), "inner": {"row": 2, "none": None}},
        ]
    returns = ck.struct([("price", ck.decimal128(5, 3)), ("inner", inner)])
    error = raised(OverflowError, "out of the range", append_tuples, prices, returns=returns)
    assert error.__notes__ == ["append_tuples: row 2"]


def batches_arrays_and_numbers_are_arguments() -> None:
    batch = ck.RecordBatch.from_arrays([column([2, 0, 1], ck.uint8())], ["count"])
    values = memory.on_device(np.array([1.5, -2.0]))
    rows = built(extend_and_scale, 3, batch, values, 0.5, returns=ck.large_list(ck.float32()))
    assert rows == [[0.75, -1.0, 1.5, -2.0], [1.5, -2.0], [0.75, 1.5, -2.0]]


def append_bits(i, numbers, out):
    out.append(numbers[i] & 256)


def an_integer_of_arithmetic_is_true_if_it_is_not_zero() -> None:
    numbers = column([0, 256, 511])
    assert built(append_bits, 3, numbers, returns=ck.bool_()) == [False, True, True]


# What goes wrong


def raised(
    wanted: type[Exception], words: str, function: Any, *arguments: Any, **given: Any
) -> Any:
    """The exception of a call, which is one of those and says this."""
    count = given.pop("count", len(arguments[0]) if arguments else 1)
    with pytest.raises(wanted, match=words) as caught:
        build_rows(function, count, *arguments, **given)
    return caught.value


def append_number(i, numbers, out):
    out.append(numbers[i] + 0)


def append_date(i, numbers, out):
    out.append(numbers[i])


def numbers_out_of_range_are_refused_with_their_row() -> None:
    fine = [0, 1, 2, 3] * 10
    for kind, wrong in (
        (ck.int8(), 128),
        (ck.int8(), -129),
        (ck.uint8(), -1),
        (ck.uint64(), -1),
        (ck.int32(), 2**40),
        (ck.decimal32(3, 1), 1000),
        (ck.decimal128(3, 1), -1000),
        (ck.time32("s"), 86_400),
    ):
        numbers = column([*fine, wrong, wrong], ck.int64())
        words = re.escape(f"out of the range of {kind}")
        error = raised(OverflowError, words, append_number, numbers, returns=kind)
        assert error.__notes__ == ["append_number: row 40"]
        assert "out.append(numbers[i] + 0)" in str(error)
    numbers = column([2**63], ck.uint64())
    raised(OverflowError, "out of the range of int64", append_date, numbers, returns=ck.int64())
    raised(OverflowError, "no whole day", append_date, column([0, 5]), returns=ck.date64())


def append_rest(i, texts, out):
    out.append(texts[i][1:])


def append_bytes(i, texts, out):
    out.append(texts.as_bytes()[i][1:])


def texts_go_where_bytes_go_but_not_the_other_way() -> None:
    texts = column(["xé", "a", "éa"])
    assert built(append_rest, 3, texts, returns=ck.utf8()) == ["é", "", "a"]
    assert built(append_bytes, 3, texts, returns=ck.binary())[2] == "éa".encode()[1:]
    raised(ck.CompileError, "a bytes to a builder", append_bytes, texts, returns=ck.utf8())
    raised(ValueError, "another length", append_rest, texts, returns=ck.fixed_size_binary(4))


def append_made(i, texts, days, out):
    out.text.append(f"{texts[i].upper()}-{days[i]:%d.%m}")
    out.words.append_null() if texts[i] == "" else append_day(days[i], out.words)
    out.parts.append(texts[i].split("b"))
    out.day.append(days[i] + timedelta(days=len(texts[i])))
    out.end_row()


def append_day(day, out):
    out.values.append(datetime(day.year, 1, 1))
    out.end_list()


MADE = ck.struct(
    [
        ("text", ck.utf8()),
        ("words", ck.list_(ck.timestamp("ms"))),
        ("parts", ck.list_(ck.utf8())),
        ("day", ck.date64()),
    ]
)


def what_methods_make_is_appended() -> None:
    # More rows than there are threads, each of which has room for one row at a time.
    texts, days = ["ab", "", "x" * 200] * 60, [date(2020, 2, 28)] * 180
    rows = built(append_made, 180, column(texts), column(days), returns=MADE)
    assert rows == [
        {
            "text": f"{text.upper()}-{day:%d.%m}",
            "words": [datetime(2020, 1, 1)] if text else None,
            "parts": text.split("b"),
            "day": day + timedelta(days=len(text)),
        }
        for text, day in zip(texts, days, strict=True)
    ]
    long = column(["ab", "x" * 2000]), column(days[:2])
    error = raised(MemoryError, "room", append_made, *long, returns=MADE)
    assert error.__notes__ == ["append_made: row 1"]
    with pytest.raises(OverflowError, match="a timedelta that"):
        build_rows(append_date, 1, column([timedelta(microseconds=1)]), returns=ck.duration("s"))


def positive(number, limit):
    while True:
        if number < 0:
            raise ValueError("it is negative")
        if number > limit:
            return number
        number += 1


def checked(i, numbers, out):
    n = numbers[i]
    assert n != 13, "unlucky"
    if n == 99:
        raise KeyError
    out.append(positive(n, 3))


def divide(i, numbers, out):
    out.append(60 // (numbers[i] - 5))


def raise_number(i, numbers, out):
    raise ValueError(numbers[i])


def what_the_function_raises_comes_through() -> None:
    assert built(checked, 3, column([1, 7, 3]), returns=ck.int64()) == [4, 7, 4]
    for wrong, kind, words in (
        (-1, ValueError, "it is negative"),
        (13, AssertionError, "unlucky"),
        (99, KeyError, "checked"),
    ):
        numbers = column([*[1] * 30, wrong, 0, -2])
        error = raised(kind, words, checked, numbers, returns=ck.int64())
        assert error.__notes__ == ["checked: row 30"]
    words = r"raise ValueError\(numbers\[i\]\)"
    raised(ValueError, words, raise_number, column([1]), returns=ck.int64())


def a_division_by_zero_is_what_it_is_on_the_cpu() -> None:
    numbers, arguments = [7, 5, 2], {"returns": ck.int64()}
    for array in (ck.array(numbers), column(numbers)):
        assert to_host(build_rows(divide, 3, array, **arguments)).to_pylist() == [30, 0, -20]
        error = raised(ZeroDivisionError, "division", njit(divide), array, **arguments)
        assert error.__notes__ == ["divide: row 1"]
        lenient = njit(error_model="numpy")(divide)
        assert to_host(build_rows(lenient, 3, array, **arguments)).to_pylist() == [30, 0, -20]


def leave_open(i, numbers, out):
    out.values.append(numbers[i])
    if i != 2:
        out.end_list()


def mix(i, numbers, out):
    n = numbers[i]
    if n == 0:
        out.a.append(1)
        out.end_row()
    if n == 1:
        out.a.append(1)
        out.append_null()
    if n == 2:
        out.b.values.append(1)
        out.b.append_null()
    if n == 3:
        out.b.values.append(1)
        out.b.end_list()
    if n == 4:
        out.a.append_null()


MIXED = ck.struct(
    [ck.field("a", ck.int8(), nullable=False), ck.field("b", ck.fixed_size_list(ck.int8(), 2))]
)


def slots_that_are_not_whole_are_refused() -> None:
    numbers = column([4, 5, 6, 7])
    for returns in (ck.list_(ck.int64()), ck.fixed_size_list(ck.int64(), 1)):
        assert built(leave_open, 2, numbers, returns=returns) == [[4], [5]]
        words = "leave_open: row 2 has 1 values of 'item' after the last end_list"
        raised(ValueError, words, leave_open, numbers, returns=returns)
    for wrong, words in enumerate(
        (
            "not one value of 'b' since the last row",
            "a null in a row that has a value of 'a'",
            "a null among values of a list",
            "another number of values",
            "declared not nullable",
        )
    ):
        raised(ValueError, words, mix, column([wrong]), returns=MIXED)


def count_calls(i, calls, column, out):
    calls[i] += 1
    for k in range(calls[i]):
        out.values.append(k)
    out.end_list()


def forget_calls(i, calls, column, out):
    calls[i] += 1
    for _ in range(2 - calls[i]):
        out.values.append("text")
    out.end_list()


def both_runs_must_append_the_same() -> None:
    for function, kind in ((count_calls, ck.int8()), (forget_calls, ck.utf8())):
        calls = memory.on_device(np.zeros(3, np.int64)), column([1, 2, 3])
        raised(ValueError, "called twice for one row", function, *calls, returns=ck.list_(kind))


def spell(i, numbers, out):
    out.append(str(numbers[i]))


def misspell(i, numbers, out):
    out.vales.append(numbers[i])


def add(i, numbers, more, out):
    out.append(numbers[i] + more[i])


def what_does_not_compile_is_named() -> None:
    numbers = column([1])
    lists = ck.list_(ck.int8())
    for function, returns, words in (
        (append_date, ck.utf8(), "append: a number to a builder of string"),
        (append_date, lists, "append a list, or append to its `values`, then call end_list"),
        (misspell, lists, r"has no 'vales' in a kernel(.|\n)*out\.vales\.append"),
        (count_calls, lists, "takes 4 arguments, and gets 3"),
    ):
        raised(ck.CompileError, words, function, numbers, returns=returns)
    union = ck.dense_union([("n", ck.int64())])
    raised(ck.UnsupportedError, "unions are built on the CPU", append_date, numbers, returns=union)
    raised(ck.UnsupportedError, "string_view", append_date, numbers, returns=ck.utf8_view())
    raised(
        ck.UnsupportedError,
        "more is in host memory",
        add,
        numbers,
        ck.array([1]),
        returns=ck.int8(),
    )


def no_bytes(i, more, column, out):
    out.append(len(column) + 1)


class Tensor:
    """An array of another library."""

    __cuda_array_interface__ = None

    def __len__(self) -> int:
        return 1


def on_second_device(array: ck.Array) -> ck.Array:
    """The array as one of a device that the simulator does not have."""
    buffers = [
        None if b is None else ck.Buffer(b.array, ck.Device("cuda", 1)) for b in array.buffers
    ]
    return ck.Array(array.type, array.length, buffers, null_count=array.null_count)


def arguments_are_on_one_device() -> None:
    other = on_second_device(ck.array([1, 2]))
    assert build_rows(no_bytes, 2, 0, other, returns=ck.int8()).device == ck.Device("cuda", 1)
    words = "more is on cuda:0, and others are on cuda:1"
    numbers = np.array([1, 2])
    with patch.object(memory, "device_of", lambda v: ck.Device("cuda") if v is numbers else None):
        raised(ck.UnsupportedError, words, add, other, numbers, returns=ck.int8())
    raised(
        ck.UnsupportedError,
        "Tensor is no array of CuPy",
        add,
        Tensor(),
        other,
        count=1,
        returns=ck.int8(),
    )


CASES: list[Callable[[], None]] = [
    a_function_that_appends_what_it_reads_copies_a_column,
    rows_have_any_number_of_values,
    the_rows_are_those_of_the_cpu,
    computed_values_are_those_of_their_types,
    a_function_may_call_others_with_parts_of_a_builder,
    tuples_and_decimals_are_appended,
    batches_arrays_and_numbers_are_arguments,
    an_integer_of_arithmetic_is_true_if_it_is_not_zero,
    numbers_out_of_range_are_refused_with_their_row,
    texts_go_where_bytes_go_but_not_the_other_way,
    what_methods_make_is_appended,
    what_the_function_raises_comes_through,
    a_division_by_zero_is_what_it_is_on_the_cpu,
    slots_that_are_not_whole_are_refused,
    both_runs_must_append_the_same,
    what_does_not_compile_is_named,
    arguments_are_on_one_device,
]
