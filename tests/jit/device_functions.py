"""Functions of a row with a machine's arithmetic over columns on a device: for the simulator.

The oracle is the same function, called by Python for each row of `to_pylist()`. Each case is a function
that ends with an assertion; `simulated_kernels` runs them all.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pytest
from arrow_oracle import from_pyarrow
from hypothesis import given, settings
from hypothesis import strategies as st

import colkern as ck
from colkern.memory import Buffer
from colkern.operations.moving import to_device, to_host

udf = partial(ck.udf, arithmetic="machine")


def column(values: list[Any], kind: ck.DataType | None = None) -> ck.Array:
    return to_device(ck.array(values, kind))


def on_device(function: Any, *columns: ck.Array) -> list[Any]:
    """What a function gives for columns, which is where they are."""
    found = function(*map(to_device, columns))
    assert found.device.kind == "cuda"
    host = to_host(found)
    host.validate(full=True)
    assert host.type == function.result_type(*(c.type for c in columns))
    assert host.null_count == host.to_pylist().count(None)
    return host.to_pylist()


def by_rows(function: Any, *columns: list[Any]) -> list[Any]:
    """What Python makes of the same function, as its `nulls` says."""

    def of(*row: Any) -> Any:
        if function.nulls == "pass" or None not in row:
            return function.function(*row)
        return None if function.nulls == "propagate" else function.nulls

    return [of(*row) for row in zip(*columns, strict=True)]


def raised(wanted: type[Exception], words: str, note: str, call: Callable[[], Any]) -> None:
    """Make sure that a call raises what says this, with that note."""
    with pytest.raises(wanted, match=re.escape(words)) as caught:
        call()
    assert note in " ".join(getattr(caught.value, "__notes__", ())), caught.value


# Arguments


@udf
def same(x):
    return x


INTEGERS = [ck.int8(), ck.int16(), ck.int32(), ck.int64(), ck.uint8(), ck.uint16(), ck.uint32()]


def numbers_of_all_widths_are_arguments() -> None:
    for kind in INTEGERS:
        values = [0, None, 1, int(np.iinfo(str(kind)).max), int(np.iinfo(str(kind)).min)]
        assert on_device(same, ck.array(values, kind)) == values
    assert on_device(same, ck.array([0, None, 2**64 - 1], ck.uint64())) == [0, None, 2**64 - 1]
    assert on_device(same, ck.array([True, None, False])) == [True, None, False]
    for kind in (ck.float16(), ck.float32(), ck.float64()):
        values = [0.5, None, float("inf")]
        assert on_device(same, ck.array(values, kind)) == values


MOMENTS = [ck.date32(), ck.timestamp("ms"), ck.duration("s"), ck.time32("s"), ck.time64("ns")]


@udf
def later(x):
    return x + 1


def times_are_integers_of_their_unit() -> None:
    for kind in MOMENTS:
        moments = ck.array([1, None, 86_000], kind)
        assert on_device(later, moments) == [2, None, 86_001]


WIDTHS = [ck.decimal32(9, 2), ck.decimal64(18, 2), ck.decimal128(18, 2), ck.decimal256(18, 2)]


@udf
def of_decimals(a, b):
    return a * 2 + b


def decimals_of_few_digits_are_integers_and_others_decimals() -> None:
    prices = [Decimal("1.50"), None, Decimal("-3.25")]
    for kind in WIDTHS:
        assert on_device(same, ck.array(prices, kind)) == [150, None, -325]
    large = [Decimal(10**20), Decimal(1), Decimal("-0.25")]
    columns = ck.array(prices, ck.decimal128(38, 2)), ck.array(large, ck.decimal128(38, 4))
    expected = [None if p is None else 2 * p + n for p, n in zip(prices, large, strict=True)]
    assert on_device(of_decimals, *columns) == expected


@udf
def first_word(s):
    end = s.find(b" ")
    return s if end < 0 else s[:end]


WORDS = [b"a word", None, b"", b"longer than a view holds", b"one"]


def byte_strings_of_all_layouts_are_arguments_and_results() -> None:
    expected = by_rows(first_word, WORDS)
    for kind in (ck.binary(), ck.large_binary(), ck.binary_view()):
        assert on_device(first_word, ck.array(WORDS, kind)) == expected
    texts = [None if word is None else word.decode() for word in WORDS]
    spelled = [None if word is None else word.decode() for word in expected]
    for kind in (ck.utf8(), ck.large_utf8(), ck.utf8_view()):
        assert on_device(first_word, ck.array(texts, kind)) == spelled
    fixed = ck.array([b"a b", None, b"abc"], ck.fixed_size_binary(3))
    assert on_device(first_word, fixed) == [b"a", None, b"abc"]


@udf
def weight(items, row, entries):
    total = row.price
    if total is None:
        total = -1
    for item in items:
        total += 10 if item is None else item
    for entry in entries:
        total += 100 * len(entry.key) + (0 if entry.value is None else entry.value)
    return total


def lists_structs_and_maps_are_arguments() -> None:
    items = ck.array([[1, None], None, [], [5]])
    rows = ck.array([{"price": 7}, {"price": 1}, {"price": None}, None])
    maps = ck.array([{"ab": 3}, {"x": 1}, {"x": None, "": 2}, {}], ck.map_(ck.utf8(), ck.int32()))
    assert on_device(weight, items, rows, maps) == [7 + 1 + 10 + 203, None, -1 + 102, None]


@udf
def member(slot):
    if slot.type_id == 5:
        return slot.child(0)
    text = slot.child(1)
    return -1 if text is None else len(text)


def unions_are_arguments() -> None:
    ids, offsets = pa.array([5, 7, 5, 7], pa.int8()), pa.array([0, 0, 1, 1], pa.int32())
    children = [pa.array([3, None]), pa.array(["word", None])]
    dense = pa.UnionArray.from_dense(ids, offsets, children, ["a", "b"], [5, 7])
    assert on_device(member, from_pyarrow(dense)) == [3, 4, None, -1]


@udf(pure=False)
def size_and_number(s, n):
    return len(s) * 10 + n


@udf
def size(s):
    return len(s)


def encoded_columns_are_their_values() -> None:
    names = from_pyarrow(pa.array(["x", None, "yy", "x"]).dictionary_encode())
    runs = pa.RunEndEncodedArray.from_arrays(pa.array([2, 5], pa.int32()), pa.array([None, 4]))
    found = on_device(size_and_number, names, from_pyarrow(runs.slice(1)))
    assert found == [None, None, 24, 14]
    assert on_device(size, names) == [1, None, 2, 1]


def _of_parts(x, x1, x_0):
    lists, _ = x
    parts = (len(x_0), 0), 2, 3, 4, 5, 6, 7, 8, 9, 10, 99
    return lists[0][1] * 1000 + x[1][0] * 100 + x1[0] * 10 + x_0[0] + parts[0][1]


@udf
def of_parts(a, b, c, d):
    return _of_parts((a, b), c, d)


def names_of_parameters_and_parts_are_told_apart() -> None:
    nested = ck.array([[[0, 7]], [[0, 1]]])
    columns = ck.array([[3], [4]]), ck.array([[5], [6]]), ck.array([[8], [9]])
    assert on_device(of_parts, nested, *columns) == [7358, 1469]


@udf
def places(s, start, stop):
    return s.find("", start, stop), s.rfind("b", start, stop), s.count("", start), s.find("", 10)


@settings(max_examples=25, deadline=None, derandomize=True)
@given(st.text("ab", max_size=4), st.integers(-6, 6), st.integers(-6, 6))
def strings_are_searched_between_bounds(text: str, start: int, stop: int) -> None:
    found = on_device(places, ck.array([text]), ck.array([start]), ck.array([stop]))
    assert found == [as_struct(places.function(text, start, stop))]


@udf
def is_between(s, t, items):
    return 1 if s < t < items[0] <= items[1] else 0


def a_comparison_stops_where_it_is_false() -> None:
    lists = ck.array([[None], ["a"], ["c", "b"], ["c", "c"]])
    texts = ck.array(["b", "a", "a", "a"]), ck.array(["a", "b", "b", "b"])
    assert on_device(is_between, *texts, lists) == [0, 0, 0, 1]
    missing = column(["a"]), column(["b"]), column([[None]], ck.list_(ck.utf8()))
    raised(TypeError, "None is in no order", "is_between: row 0", lambda: is_between(*missing))


# Nulls


def _sum(x, y):
    if x is None:
        return y
    return x if y is None or x > 100 else x + y


SUMS = [udf(_sum), udf(_sum, nulls="pass"), udf(_sum, nulls=-7)]
NUMBERS = st.none() | st.integers(-(2**40), 2**40)


@settings(max_examples=30, deadline=None, derandomize=True)
@given(st.lists(st.tuples(NUMBERS, NUMBERS), max_size=70), st.integers(0, 9))
def nulls_are_propagated_passed_or_replaced(pairs: list[tuple[Any, Any]], offset: int) -> None:
    left, right = ([row[k] for row in pairs] for k in (0, 1))
    columns = ck.array([0] * offset + left, ck.int64())[offset:], ck.array(right, ck.int64())
    for function in SUMS:
        assert on_device(function, *columns) == by_rows(function, left, right)


DESCRIPTION = ck.struct(
    [("length", ck.utf8()), ("count", ck.decimal128(20, 2)), ("odd", ck.bool_())]
)


@udf(returns=DESCRIPTION, nulls=("none", Decimal("-0.50"), True))
def described(s):
    if len(s) > 9:
        return None
    return "long" if len(s) > 3 else "short", None if len(s) == 1 else len(s), len(s) % 2 == 1


def a_default_is_a_value_of_any_result_type() -> None:
    words = ck.array([b"word", None, b"w", b"0123456789", b""], ck.binary())
    expected = [
        {"length": "long", "count": Decimal("0.04"), "odd": False},
        {"length": "none", "count": Decimal("-0.50"), "odd": True},
        {"length": "short", "count": None, "odd": True},
        None,
        {"length": "short", "count": Decimal("0.00"), "odd": False},
    ]
    assert on_device(described, words) == expected


# Results


class Extent(NamedTuple):
    low: int
    high: float


@udf
def extent(x, y):
    if x == y:
        return None
    return Extent(low=x, high=y * 0.5) if x < y else Extent(y, x * 0.5)


@udf
def nested(s, x):
    return s[1:], (x > 1, None if x == 2 else x), s == b"ab"


def tuples_are_rows_of_structs() -> None:
    left, right = [1, 5, None, 4], [3, 2, 1, 4]
    assert on_device(extent, ck.array(left), ck.array(right)) == [
        {"low": 1, "high": 1.5},
        {"low": 2, "high": 2.5},
        None,
        None,
    ]


def as_struct(value: Any) -> Any:
    """A tuple as the row of a struct without names."""
    if not isinstance(value, tuple):
        return value
    return {f"f{k}": as_struct(part) for k, part in enumerate(value)}


@udf
def spread(a, b, c):
    return a, b, c, a + 1, b + 1, c + 1, a + 2, b + 2, c + 2, a + 3, b + 3, c + 3, a + 4, b + 4


def rows_may_have_many_fields() -> None:
    columns = ck.array([1, None]), ck.array([20, 2]), ck.array([300, 3])
    expected = as_struct(spread.function(1, 20, 300))
    assert on_device(spread, *columns) == [expected, None]


ROWS = st.lists(st.tuples(st.none() | st.binary(max_size=3), st.none() | st.integers(0, 3)))


@settings(max_examples=10, deadline=None, derandomize=True)
@given(ROWS, st.integers(0, 9))
def byte_strings_and_tuples_are_fields(rows: list[tuple[Any, Any]], offset: int) -> None:
    strings, numbers = ([row[k] for row in rows] for k in (0, 1))
    columns = (
        ck.array([b"skipped"] * offset + strings, ck.large_binary())[offset:],
        ck.array(numbers, ck.int16()),
    )
    assert on_device(nested, *columns) == list(map(as_struct, by_rows(nested, strings, numbers)))


@udf
def doubled(x):
    return x * 2


@udf
def both(x):
    return doubled(x), doubled(x + 1)


def functions_made_by_udf_are_called_for_values() -> None:
    assert on_device(both, ck.array([1, None])) == [{"f0": 2, "f1": 4}, None]


@udf
def word_for(x):
    return "few" if x < 3 else "many"


@udf
def always(x):
    return "the same"


def strings_of_the_source_are_results() -> None:
    assert on_device(word_for, ck.array([1, None, 5])) == ["few", None, "many"]
    assert on_device(always, ck.array([1, None, 5])) == ["the same", None, "the same"]


@udf(returns=ck.float16(), nulls=0.25)
def third(x):
    return x / 3


def floats_of_sixteen_bits_are_results() -> None:
    values = [1.0, None, 3e9, -5e-8, -0.0]
    expected = [0.25 if x is None else float(np.float16(x / 3)) for x in values]
    assert on_device(third, ck.array(values)) == expected


def columns_without_rows_have_results_without_rows() -> None:
    assert on_device(same, ck.array([], ck.int8())) == []
    assert on_device(nested, ck.array([], ck.binary()), ck.array([], ck.int64())) == []


@udf
def halves(x):
    return x // 10 + 1, x * 3 & 0xFF, x ^ 1


LARGE = st.none() | st.integers(0, 2**64 - 1) | st.integers(2**63 - 2, 2**63 + 2)


@settings(max_examples=10, deadline=None, derandomize=True)
@given(st.lists(LARGE, min_size=1, max_size=9))
def integers_without_sign_keep_all_their_bits(values: list[int | None]) -> None:
    found = on_device(halves, ck.array(values, ck.uint64()))
    for x, row in zip(values, found, strict=True):
        if x is None:
            assert row is None
        else:
            assert row == {"f0": x // 10 + 1, "f1": x * 3 & 0xFF, "f2": x ^ 1}


UNSIGNED = ck.struct([(name, ck.decimal128(30)) for name in ("abs", "minus", "not_", "least")])


@udf(returns=UNSIGNED)
def without_sign(x):
    return abs(x), -x, ~x, min(x, x)


@udf
def least_of(x, d):
    return d + min(x, x)


def integers_without_sign_are_decimals_without_one() -> None:
    numbers = ck.array([2**64 - 1, 1], ck.uint64())
    assert on_device(without_sign, numbers) == [
        {"abs": 2**64 - 1, "minus": 1, "not_": 0, "least": 2**64 - 1},
        {"abs": 1, "minus": 2**64 - 1, "not_": 2**64 - 2, "least": 1},
    ]
    decimals = ck.array([Decimal(1), Decimal(-3)], ck.decimal128(38, 0))
    assert on_device(least_of, numbers, decimals) == [2**64, -2]


@udf
def quotients(x, y):
    return x // y, x % y, x / y


def a_division_by_zero_gives_zero_and_for_floats_infinity_or_nan() -> None:
    found = on_device(quotients, ck.array([7, -7, 5, 0]), ck.array([2, 2, 0, 0]))
    assert [(row["f0"], row["f1"]) for row in found] == [(3, 1), (-4, 1), (0, 0), (0, 0)]
    assert [row["f2"] for row in found[:3]] == [3.5, -3.5, float("inf")]
    assert np.isnan(found[3]["f2"])


# What goes wrong


def _checked(x: Any) -> Any:
    assert x != 99, "no such number"
    if x < 0:
        raise ValueError("negative", x)
    return x


@udf
def summed(x, y):
    while y > 0:
        x += _checked(y)
        y -= 10
    return _checked(x)


def what_a_function_raises_comes_with_the_first_row() -> None:
    zeros, rows = column([0] * 40), [1] * 40
    rows[37], rows[11], rows[12] = -5, -7, 99
    raised(ValueError, "('negative', -7)", "summed: row 11", lambda: summed(column(rows), zeros))
    rows[11] = 99
    raised(AssertionError, "no such", "summed: row 11", lambda: summed(column(rows), zeros))
    raised(AssertionError, "no such", "summed: row 11", lambda: summed(zeros, column(rows)))
    rows = [None if x < 0 or x == 99 else x for x in rows]
    assert on_device(summed, ck.array(rows), zeros) == rows


def _of_type(returns: ck.DataType) -> Any:
    return udf(_same, returns=returns)


def _same(x: Any) -> Any:
    return x


TOO_MUCH = [
    (ck.int8(), 128),
    (ck.uint64(), -1),
    (ck.date64(), 1),
    (ck.time32("s"), 86_400),
    (ck.decimal32(3, 1), 1000),
]


def results_that_do_not_fit_their_type_are_named_with_their_row() -> None:
    for returns, value in TOO_MUCH:
        function = _of_type(returns)
        raised(OverflowError, str(returns), "row 2", lambda: function(column([0, None, value])))  # noqa: B023
    large = column([2**64 - 1, 1], ck.uint64())
    raised(OverflowError, "int64", "row 0", lambda: _of_type(ck.int64())(large))


@udf(returns=ck.utf8())
def cut(s):
    return s[:2]


@udf
def spelled(s):
    return int(s)


@udf
def squared(d):
    return d * d


@udf(returns=ck.struct([ck.field("x", ck.int64(), nullable=False)]))
def not_nullable(x):
    return (None if x == 2 else x,)


def results_that_do_not_fit_their_offsets_are_refused() -> None:
    """Views of the same 32 MiB: few bytes to read, too many for the offsets of utf8."""
    count, size = 65, 1 << 25
    views = np.zeros((count, 4), np.int32)
    views[:, 0] = size
    buffers = [
        None,
        *(Buffer(items.view(np.uint8).reshape(-1)) for items in (views, np.zeros(size, np.uint8))),
    ]
    texts = to_device(ck.Array(ck.utf8_view(), count, buffers))
    raised(ck.LimitExceededError, "declare the large type", "", lambda: same(texts))


def other_errors_are_those_of_the_host() -> None:
    assert on_device(cut, ck.array(["éa", "abc", "", None])) == ["é", "ab", "", None]
    texts, numbers = column(["ab", "aéb"]), column(["12", None, "x"])
    raised(ValueError, "within a UTF-8 character", "cut: row 1", lambda: cut(texts))
    raised(ValueError, "no integer", "spelled: row 2", lambda: spelled(numbers))
    decimals = column([Decimal(1), Decimal(10**37)], ck.decimal128(38, 0))
    raised(OverflowError, "", "squared: row 1", lambda: squared(decimals))
    narrowed = udf("(decimal128(9, 0)) -> int64")(same.function)
    assert to_host(narrowed(decimals.slice(0, 1))).to_pylist() == [1]
    raised(OverflowError, "digits that were declared", "row 1", lambda: narrowed(decimals))
    wide = pa.array([1, 2**64], pa.decimal128(38, 0)).view(pa.binary(16)).view(pa.decimal128(9, 0))
    raised(ck.InvalidArrowError, "digits", "row 1", lambda: same(to_device(from_pyarrow(wide))))
    assert on_device(not_nullable, ck.array([1, None])) == [{"x": 1}, None]
    raised(ValueError, "not nullable", "row 1", lambda: not_nullable(column([1, 2])))


@udf
def tenth(items):
    return items[9]


@udf
def guarded(x):
    try:
        return 10 // x
    except Exception:  # noqa: BLE001 (the only class that compiled code knows)
        return 0


@udf
def listed(x):
    return [x, x]


@ck.reducer
class Total:
    def init() -> int:
        return 0

    def update(state, x):
        return state + x


def positions_are_checked_in_the_simulator() -> None:
    lists = column([[0] * 10, [1]])
    raised(IndexError, "items[9]", "tenth: row 1", lambda: tenth(lists))


def what_cannot_be_done_on_a_device_is_said() -> None:
    numbers, host = column([1, 2]), ck.array([1, 2])
    raised(ck.CompileError, "try statements", "to_host", lambda: guarded(numbers))
    raised(ck.UnsupportedError, "to_host first", "", lambda: listed(numbers))
    raised(ck.UnsupportedError, "a reducer runs over columns in host", "", lambda: Total(numbers))
    raised(ck.UnsupportedError, "y is on cpu", "", lambda: summed(numbers, host))
    raised(ValueError, "y: 1 values, but x has 2", "", lambda: summed(numbers, column([1])))


BYTES = [b"", b"abcab", b"  12 ", b"aXa", b"\xffa\x00", b"bbb"]


@udf
def by_a_byte(s, n):
    return s.find(97), s.rfind(n), s.count(n), s.find(n, 1), n in s


@udf
def stripped_of(s, t):
    return s.strip(t), s.lstrip(t), s.rstrip(t), s.strip(None), s.strip(b"ab "), s.strip(b"")


def bytes_are_searched_and_stripped_as_those_of_python() -> None:
    strings, numbers = ck.array(BYTES), [97, 98, 32, 88, 255, 0]
    rows = [tuple(row.values()) for row in on_device(by_a_byte, strings, ck.array(numbers))]
    assert rows == by_rows(by_a_byte, BYTES, numbers)
    others = [b"a", b"ba", b" ", b"", b"\xff\x00", b"b"]
    rows = [tuple(row.values()) for row in on_device(stripped_of, strings, ck.array(others))]
    assert rows == by_rows(stripped_of, BYTES, others)


@udf
def contained(s, n):
    return n in s


@udf
def found_at(s, n):
    return s.find(n)


@udf
def read_number(s, n):
    return int(s) + n


def bytes_that_are_none_and_numbers_that_are_too_large_raise_as_on_the_host() -> None:
    refused = [
        (contained, ("a", 300), ValueError, "byte must be in range(0, 256)"),
        (contained, ("a", -1), ValueError, "byte must be in range(0, 256)"),
        (found_at, ("a", 256), ValueError, "byte must be in range(0, 256)"),
        (read_number, ("9" * 30, 0), OverflowError, "the integer does not fit 64 bits"),
        (read_number, ("-9223372036854775809", 0), OverflowError, "the integer does not fit 64"),
        (read_number, ("9" * 30 + "x", 0), ValueError, "the byte string is no integer"),
    ]
    for function, row, error, words in refused:
        host = [ck.array([value]) for value in row]
        raised(error, words, "row 0", lambda f=function, c=host: f(*c))
        raised(error, words, "row 0", lambda f=function, c=host: f(*map(to_device, c)))


SIMULATED: list[Callable[[], None]] = [positions_are_checked_in_the_simulator]
"""Cases that are not for a device, where positions are not checked."""

ON_A_DEVICE: list[Callable[[], None]] = [
    numbers_of_all_widths_are_arguments,
    times_are_integers_of_their_unit,
    decimals_of_few_digits_are_integers_and_others_decimals,
    byte_strings_of_all_layouts_are_arguments_and_results,
    lists_structs_and_maps_are_arguments,
    unions_are_arguments,
    encoded_columns_are_their_values,
    names_of_parameters_and_parts_are_told_apart,
    strings_are_searched_between_bounds,
    a_comparison_stops_where_it_is_false,
    nulls_are_propagated_passed_or_replaced,
    a_default_is_a_value_of_any_result_type,
    tuples_are_rows_of_structs,
    rows_may_have_many_fields,
    byte_strings_and_tuples_are_fields,
    functions_made_by_udf_are_called_for_values,
    strings_of_the_source_are_results,
    columns_without_rows_have_results_without_rows,
    floats_of_sixteen_bits_are_results,
    a_division_by_zero_gives_zero_and_for_floats_infinity_or_nan,
    integers_without_sign_keep_all_their_bits,
    integers_without_sign_are_decimals_without_one,
    what_a_function_raises_comes_with_the_first_row,
    results_that_do_not_fit_their_type_are_named_with_their_row,
    results_that_do_not_fit_their_offsets_are_refused,
    other_errors_are_those_of_the_host,
    what_cannot_be_done_on_a_device_is_said,
    bytes_are_searched_and_stripped_as_those_of_python,
    bytes_that_are_none_and_numbers_that_are_too_large_raise_as_on_the_host,
]

CASES = SIMULATED + ON_A_DEVICE
