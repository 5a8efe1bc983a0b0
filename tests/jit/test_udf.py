"""A `udf` over columns gives what its function gives row by row in plain Python."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import functools
import math
import operator
from functools import partial
from typing import Annotated, Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from colkern import schema as s
from colkern.arrays import Array
from colkern.cpu.threads import set_num_threads
from colkern.errors import CompileError, InvalidArrowError, LimitExceededError, UnsupportedError
from colkern.interchange import import_array
from colkern.jit import Udf, udf
from colkern.layouts import Role
from colkern.memory import Buffer
from colkern.rows import results


def column(values: list[Any], type_: Any = None, skipped: int = 0) -> Array:
    """A column of those values that starts at slot `skipped` of its buffers."""
    result = pa.array([None] * skipped + values, type_)
    return import_array(result.slice(skipped))


def rowwise(function: Any, *columns: list[Any]) -> list[Any]:
    """The function's results row by row, None where an argument is."""
    return [None if None in row else function(*row) for row in zip(*columns, strict=True)]


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
def test_text_of_integers_of_every_width_is_that_of_python(bits: int) -> None:
    @udf(signature=f"(list<int{bits}>) -> list<utf8>")
    def texts(numbers):
        return [str(number) for number in numbers if number is not None]

    least = -(2 ** (bits - 1))
    values = [least, least + 1, -1, 0, -(least + 1)]
    actual = texts(column([values], pa.list_(pa.type_for_alias(f"int{bits}"))))
    assert actual.to_pylist() == [[str(value) for value in values]]


def nullable(values: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    """Up to 200 values, so that whole words of 64 slots without nulls are among them."""
    return st.one_of(
        st.lists(values, max_size=200),
        st.lists(st.none() | values, max_size=100),
        st.tuples(st.lists(values, min_size=64, max_size=130), st.integers(0, 63)).map(
            lambda pair: [None if i == pair[1] else value for i, value in enumerate(pair[0])]
        ),
    )


skips = st.integers(0, 70)

# Arguments


@udf
def plus_one(x: int):
    return x + 1


@udf
def twice(x: float):
    return x * 2


@udf
def negated(x: bool) -> bool:
    return not x


def int_range(type_: pa.DataType) -> st.SearchStrategy[int]:
    info = np.iinfo(type_.to_pandas_dtype())
    # One is added.
    return st.integers(int(info.min), int(info.max) - 1)


INT_TYPES = [getattr(pa, f"{sign}int{bits}")() for sign in ("", "u") for bits in (8, 16, 32, 64)]


@pytest.mark.parametrize("type_", INT_TYPES[:-1], ids=str)
@given(data=st.data(), skipped=skips)
def test_integers_of_any_width_are_integers(type_: Any, data: Any, skipped: int) -> None:
    values = data.draw(nullable(int_range(type_)))
    actual = plus_one(column(values, type_, skipped))
    assert actual.type == s.int64()
    assert actual.to_pylist() == rowwise(lambda x: x + 1, values)


@given(values=nullable(st.integers(0, 2**64 - 2)), skipped=skips)
def test_uint64_is_declared(values: list[Any], skipped: int) -> None:
    actual = uint64_plus_one(column(values, pa.uint64(), skipped))
    assert actual.type == s.uint64()
    assert actual.to_pylist() == rowwise(lambda x: x + 1, values)


@udf("(uint64) -> uint64")
def uint64_plus_one(x):
    return x + 1


@pytest.mark.parametrize("bits", [16, 32, 64])
@given(data=st.data(), skipped=skips)
def test_floats_of_any_width_are_floats(bits: int, data: Any, skipped: int) -> None:
    values = data.draw(nullable(st.floats(width=bits, allow_nan=False)))
    type_ = getattr(pa, f"float{bits}")()
    passed = [np.float16(v) if bits == 16 and v is not None else v for v in values]
    actual = twice(column(passed, type_, skipped))
    assert actual.type == s.float64()
    assert actual.to_pylist() == rowwise(lambda x: x * 2, values)


@given(values=nullable(st.booleans()), skipped=skips)
def test_booleans(values: list[Any], skipped: int) -> None:
    assert negated(column(values, pa.bool_(), skipped)).to_pylist() == rowwise(
        lambda x: not x, values
    )


@udf
def code_sum(x):
    total = len(x)
    for character in x:
        total = total * 3 + ord(character)
    return total


@udf
def byte_sum(x):
    total = len(x)
    for byte in x:
        total = total * 3 + byte
    return total


TEXT_TYPES = [pa.utf8(), pa.large_utf8(), pa.string_view()]
BINARY_TYPES = [pa.binary(), pa.large_binary(), pa.binary_view(), pa.binary(3)]


@pytest.mark.parametrize("type_", TEXT_TYPES, ids=str)
@given(values=nullable(st.text(max_size=20)), skipped=skips)
def test_text_of_any_layout_is_text(type_: Any, values: list[Any], skipped: int) -> None:
    expected = rowwise(code_sum.function, values)
    assert code_sum(column(values, type_, skipped)).to_pylist() == expected


@pytest.mark.parametrize("type_", BINARY_TYPES, ids=str)
@given(data=st.data(), skipped=skips)
def test_binary_of_any_layout_is_bytes(type_: Any, data: Any, skipped: int) -> None:
    size = {"min_size": 3, "max_size": 3} if type_ == pa.binary(3) else {"max_size": 20}
    values = data.draw(nullable(st.binary(**size)))
    expected = rowwise(byte_sum.function, values)
    assert byte_sum(column(values, type_, skipped)).to_pylist() == expected


def test_views_into_several_data_buffers() -> None:
    parts = [
        pa.array(["x" * 20, "short"], pa.string_view()),
        pa.array(["y" * 30], pa.string_view()),
    ]
    joined = import_array(pa.concat_arrays(parts))
    assert len(joined.data_buffers) == 2
    expected = rowwise(code_sum.function, ["x" * 20, "short", "y" * 30])
    assert code_sum(joined).to_pylist() == expected


def test_an_extension_column_is_read_as_its_storage() -> None:
    plain = column([1, 2])
    extended = Array(s.extension("some.name", s.int64()), 2, plain.buffers)
    assert plus_one(extended).to_pylist() == [2, 3]


# Results


@udf
def same(x):
    return x


RESULTS = [
    (s.bool_(), [True, False, None]),
    *((getattr(s, str(t))(), [1, 100, None]) for t in INT_TYPES if str(t) != "uint64"),
    (s.float16(), [1.5, math.inf, None]),
    (s.float32(), [1.5, -0.0, None]),
    (s.float64(), [1.1, math.inf, None]),
]


@pytest.mark.parametrize(("returns", "values"), RESULTS, ids=lambda v: str(v))
def test_results_of_each_number_type(returns: s.DataType, values: list[Any]) -> None:
    actual = udf(same.function, returns=returns)(column(values))
    assert (actual.type, actual.to_pylist()) == (returns, values)
    actual.validate(full=True)


@pytest.mark.parametrize(
    ("returns", "value"),
    [
        (s.int8(), 128),
        (s.int8(), -129),
        (s.uint8(), -1),
        (s.uint8(), 256),
        (s.int32(), 2**31),
        (s.uint64(), -1),
    ],
    ids=str,
)
def test_a_result_that_does_not_fit_is_an_overflow_error(returns: s.DataType, value: int) -> None:
    with pytest.raises(OverflowError, match="same"):
        udf(same.function, returns=returns)(column([1, value]))


def test_half_precision_results_are_rounded_once() -> None:
    # Just above the middle between two halves; on it, once cut to 32 bits.
    above_middle = 1 + 2**-11 + 2**-40
    half = udf(lambda x: x, returns=s.float16())
    assert half(column([above_middle])).to_pylist() == [float(np.float16(above_middle))]


def test_what_stands_under_a_null_is_not_computed_and_reads_zero() -> None:
    values = pa.array([2**40, 5], pa.int64())
    mask = pa.py_buffer(b"\x02")
    hidden = import_array(pa.Array.from_buffers(pa.int64(), 2, [mask, values.buffers()[1]]))
    actual = udf(same.function, returns=s.int8())(hidden)
    assert actual.to_pylist() == [None, 5]
    assert actual.items(Role.DATA).tolist() == [0, 5]


@pytest.mark.parametrize("hint", [str, bytes, int, list[int], dict[str, int], decimal.Decimal])
def test_a_column_of_none_alone_is_one_of_the_hinted_type(hint: Any) -> None:
    def is_missing(x, y: int | None) -> bool:
        return x is None and y is None

    is_missing.__annotations__["x"] = hint | None
    compiled, nothing = udf(is_missing), pa.null()
    for values in ([], [None, None]):
        both = [column(values, nothing)] * 2
        assert compiled(*both).to_pylist() == [True] * len(values)
    mixed = column([None, None], nothing), column([1, None], pa.int64())
    assert compiled(*mixed).to_pylist() == [False, True]


@udf
def middle(x: str, start: int, end: int) -> str:
    return x[start:end]


@given(
    rows=st.lists(st.tuples(st.text(max_size=20), st.integers(-9, 9), st.integers(-9, 9))),
    skipped=skips,
)
def test_slices_of_arguments_become_text(rows: list[Any], skipped: int) -> None:
    texts, starts, ends = (list(part) for part in zip(*rows, strict=True)) if rows else ([], [], [])
    actual = middle(
        column(texts, pa.utf8(), skipped), column(starts, pa.int64()), column(ends, pa.int8())
    )
    actual.validate(full=True)
    assert actual.to_pylist() == [t[a:b] for t, a, b in rows]


@pytest.mark.parametrize("returns", [s.utf8(), s.large_utf8()], ids=str)
@given(values=nullable(st.text(max_size=8)))
def test_text_is_built_measured_and_written(returns: s.DataType, values: list[Any]) -> None:
    actual = shouted(returns)(column(values, pa.utf8()))
    actual.validate(full=True)
    expected = rowwise(lambda t: t.upper() + "!", values)
    assert (actual.type, actual.to_pylist()) == (returns, expected)


_SHOUTED: dict[s.DataType, Udf] = {}


def shouted(returns: s.DataType) -> Udf:
    if returns not in _SHOUTED:

        def shout(x: str):
            return str(x).upper() + "!"

        _SHOUTED[returns] = udf(shout, returns=returns)
    return _SHOUTED[returns]


@udf
def size_class(x: int) -> str:
    if x < 0:
        return "négatif"
    return "small" if x < 10 else "large"


@given(values=nullable(st.integers(-20, 20)))
def test_literals_become_text(values: list[Any]) -> None:
    actual = size_class(column(values, pa.int64()))
    assert actual.to_pylist() == rowwise(size_class.function, values)


def test_bytes_become_binary() -> None:
    @udf
    def header(x: bytes):
        return x[:2] if len(x) > 2 else b"\xff"

    actual = header(column([b"abc", b"", None]))
    assert (actual.type, actual.to_pylist()) == (s.binary(), [b"ab", b"\xff", None])


def test_bytes_that_the_function_builds_are_written_while_they_are_there() -> None:
    def padded(x: int) -> bytes:
        return b"abc".ljust(x % 50)

    rows = list(range(1000))
    assert udf(padded)(column(rows)).to_pylist() == [padded(row) for row in rows]


@pytest.mark.parametrize("rows", [100, 300_000])
def test_more_text_than_32_bit_offsets_reach_asks_for_large_utf8(
    monkeypatch: pytest.MonkeyPatch, rows: int
) -> None:
    def whole(x: str):
        return x

    monkeypatch.setattr(results, "MOST_REACHED", 1999)
    words = column(["x" * (2000 // rows + 1)] * rows) if rows < 2000 else column(["xy"] * rows)
    with pytest.raises(LimitExceededError, match=r"large_utf8\(\)"):
        udf(whole)(words)
    assert udf(whole, returns=s.large_utf8())(words).to_pylist() == words.to_pylist()


# Nulls


@udf
def add(x: float, y: float) -> float:
    return x + y


numbers = st.floats(-1e6, 1e6)


@given(
    rows=st.lists(st.tuples(st.none() | numbers, st.none() | numbers), max_size=200),
    a=skips,
    b=skips,
)
def test_a_null_in_any_argument_makes_a_null(rows: list[Any], a: int, b: int) -> None:
    xs, ys = [x for x, _ in rows], [y for _, y in rows]
    actual = add(column(xs, pa.float64(), a), column(ys, pa.float64(), b))
    assert actual.to_pylist() == rowwise(lambda x, y: x + y, xs, ys)
    assert actual.null_count == sum(None in row for row in rows)
    actual.validate(full=True)


def test_without_nulls_there_is_no_bitmap() -> None:
    assert add(column([1.0]), column([2.0])).buffer(Role.VALIDITY) is None


def test_the_function_is_not_called_for_nulls() -> None:
    @udf
    def checked(x: int) -> int:
        if x == 7:
            raise ValueError("seven")
        return x

    hidden = pa.Array.from_buffers(
        pa.int64(), 2, [pa.py_buffer(b"\x02"), pa.array([7, 1], pa.int64()).buffers()[1]]
    )
    assert checked(import_array(hidden)).to_pylist() == [None, 1]
    with pytest.raises(ValueError, match="seven"):
        checked(column([7]))


@udf(nulls="pass")
def coalesce(x: float, y: float, z: float):
    if x is not None:
        return x
    if y is not None:
        return y * 2
    return z


maybe = st.none() | numbers


@given(rows=st.lists(st.tuples(maybe, maybe, maybe), max_size=150), a=skips, b=skips)
def test_passed_nulls_are_none(rows: list[Any], a: int, b: int) -> None:
    xs, ys, zs = ([row[k] for row in rows] for k in range(3))
    actual = coalesce(
        column(xs, pa.float64(), a), column(ys, pa.float64(), b), column(zs, pa.float64())
    )
    actual.validate(full=True)
    assert actual.to_pylist() == [coalesce.function(*row) for row in rows]


@udf
def labelled(name: str | None, count: int) -> str | None:
    if name is None:
        return "nobody"
    if count == 0:
        return None
    return name


@given(
    rows=st.lists(st.tuples(st.none() | st.text(max_size=5), st.none() | st.integers(0, 2))),
    skipped=skips,
)
def test_only_parameters_hinted_so_are_none(rows: list[Any], skipped: int) -> None:
    names, counts = [n for n, _ in rows], [c for _, c in rows]
    actual = labelled(column(names, pa.utf8(), skipped), column(counts, pa.int32()))
    expected = [None if c is None else labelled.function(n, c) for n, c in rows]
    assert actual.to_pylist() == expected
    actual.validate(full=True)


def test_results_for_different_nulls_share_a_type() -> None:
    @udf(nulls="pass")
    def filled(x: float):
        return 0 if x is None else x * 2

    actual = filled(column([1.5, None]))
    assert (actual.type, actual.to_pylist()) == (s.float64(), [3.0, 0.0])


def test_a_function_may_return_none_under_both_policies() -> None:
    @udf
    def checked_int(x: str) -> int | None:
        return int(x) if x.isdigit() else None

    actual = checked_int(column(["12", "x", None, "7"]))
    assert (actual.to_pylist(), actual.null_count) == ([12, None, None, 7], 2)


# Many rows, few rows, wrong columns


@given(length=st.integers(0, 3))
def test_few_rows(length: int) -> None:
    xs = [1.5] * length
    assert add(column(xs, pa.float64()), column(xs, pa.float64())).to_pylist() == [3.0] * length
    assert len(middle(*[column([], t) for t in (pa.utf8(), pa.int64(), pa.int64())])) == 0


@udf
def both_ways(x: int) -> list[str]:
    return [str(x), "é" * (x % 3)]


def test_threads_share_the_rows() -> None:
    count = 1_000_003
    xs = np.arange(count, dtype=np.float64)
    mask = np.arange(count) % 1001 == 0
    set_num_threads(3)
    try:
        actual = add(import_array(pa.array(xs, mask=mask)), import_array(pa.array(xs)))
        flags = negated(import_array(pa.array(xs > 5)))
        texts = size_class(import_array(pa.array(np.arange(count) % 20)))
        lists = both_ways(import_array(pa.array(np.arange(300_000))))
    finally:
        set_num_threads(0)
    expected = pa.array(xs * 2, mask=mask)
    assert pa.array(actual).equals(expected)
    assert pa.array(flags).equals(pa.array(~(xs > 5)))
    assert texts.slice(count - 5).to_pylist() == ["large"] * 2 + ["small"] * 3
    assert lists.to_pylist() == [both_ways.function(x) for x in range(300_000)]


def test_threads_may_all_need_pythons_own_float() -> None:
    @udf
    def parsed(x: str) -> float:
        return float(x)

    # Halfway between two floats, up to the last digit.
    spelled = ["9007199254740993" + "." + "0" * 30 + "1", "9007199254740993"] * 150_000
    set_num_threads(3)
    try:
        actual = parsed(column(spelled)).items(Role.DATA)
    finally:
        set_num_threads(0)
    assert set(actual[0::2].tolist()) == {9007199254740994.0}
    assert set(actual[1::2].tolist()) == {9007199254740992.0}


def test_columns_of_other_libraries() -> None:
    values = pa.array([1.0, None])
    for theirs in (values, pa.chunked_array([values])):
        assert add(theirs, column([1.0, 2.0])).to_pylist() == [2.0, None]
    chunks = add(pa.chunked_array([values, values]), column([1.0, 2.0, 3.0, 4.0]))
    assert [chunk.to_pylist() for chunk in chunks.chunks] == [[2.0, None], [4.0, None]]
    with pytest.raises(ValueError, match="y: 2 values, but x has 4"):
        add(pa.chunked_array([values, values]), column([1.0, 2.0]))


def test_one_value_stands_for_a_column_of_it() -> None:
    values: list[float | None] = [1.0, None, 2.5]
    assert add(column(values), 0.5).to_pylist() == add(0.5, column(values)).to_pylist()
    assert add(column(values), y=np.float64(0.5)).to_pylist() == [1.5, None, 3.0]
    chunks = add(pa.chunked_array([values[:1], values[1:]]), 0.5)
    assert [chunk.to_pylist() for chunk in chunks.chunks] == [[1.5], [None, 3.0]]
    joined = udf(lambda words, end: f"{words}{end}")
    assert joined(column(["a", None]), datetime.date(2024, 2, 29)).to_pylist() == [
        "a2024-02-29",
        None,
    ]
    either = udf(lambda x, y: x if y is None else y, signature="(float64, float64?) -> float64")
    assert either(column(values), None).to_pylist() == values
    with pytest.raises(TypeError, match="y: expected a floating-point type, got string"):
        add(column(values), "1")


def test_wrong_columns_are_named() -> None:
    good = column([1.0])
    with pytest.raises(TypeError, match="add takes 2 columns, got 1"):
        add(good)
    with pytest.raises(TypeError, match="y: expected an Arrow array, got list"):
        add(good, [1.0])
    with pytest.raises(TypeError, match="y: expected a floating-point type, got string"):
        add(good, column(["1"]))
    with pytest.raises(ValueError, match="y: 2 values, but x has 1"):
        add(good, column([1.0, 2.0]))


def test_another_unit_is_refused_where_a_type_is_declared() -> None:
    @udf
    def later(
        x: Annotated[datetime.date, s.date32()], t: Annotated[datetime.datetime, s.timestamp("us")]
    ):
        return x.day + t.day

    good = pa.array([1], pa.int32()).view(pa.date32())
    assert later(good, pa.array([1], pa.timestamp("us"))).to_pylist() == [3]
    with pytest.raises(TypeError, match=r"x: expected date32\[day\], got int32"):
        later(pa.array([1], pa.int32()), pa.array([1], pa.timestamp("us")))
    with pytest.raises(TypeError, match=r"t: expected timestamp\[us\], got timestamp\[ms\]"):
        later(good, pa.array([1], pa.timestamp("ms")))


def test_offsets_that_leave_the_data_are_refused_before_anything_is_read() -> None:
    offsets = np.array([0, 2**30], np.int32)
    broken = Array(
        s.utf8(), 1, [None, Buffer(offsets.view(np.uint8)), Buffer(np.zeros(3, np.uint8))]
    )
    with pytest.raises(InvalidArrowError, match="x"):
        code_sum(broken)


def test_columns_that_no_function_takes() -> None:
    union = pa.UnionArray.from_sparse(pa.array([0], pa.int8()), [pa.array([1])])
    with pytest.raises(UnsupportedError, match="with fallback=True, it runs in Python"):
        same(union)


# Errors and their rows


@udf
def reciprocal(x: int) -> int:
    if x == 0:
        raise ZeroDivisionError("a zero")
    return 1 // x


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("zeros", [[0], [63, 64, 200], [299_999, 400_000], [499_999]])
def test_an_exception_says_in_which_row_it_was_raised(zeros: list[int], threads: int) -> None:
    values = np.ones(500_000, np.int64)
    values[zeros] = 0
    set_num_threads(threads)
    try:
        with pytest.raises(ZeroDivisionError, match="a zero") as caught:
            reciprocal(import_array(pa.array(values)))
    finally:
        set_num_threads(0)
    assert caught.value.__notes__ == [f"reciprocal: row {zeros[0]}"]


@given(st.lists(st.sampled_from([0, 1, None]), min_size=1, max_size=150), skips)
def test_rows_are_those_of_the_column_and_nulls_count(values: list[Any], skipped: int) -> None:
    if 0 not in values:
        reciprocal(column(values, pa.int64(), skipped))
        return
    with pytest.raises(ZeroDivisionError) as caught:
        reciprocal(column(values, pa.int64(), skipped))
    assert caught.value.__notes__ == [f"reciprocal: row {values.index(0)}"]


def test_what_a_result_is_refused_for_has_a_row_too() -> None:
    with pytest.raises(OverflowError) as caught:
        udf(same.function, returns=s.int8())(column([1, 2, 200, 300]))
    assert caught.value.__notes__ == ["same: row 2"]


# What else it is


def test_helpers_and_constants_of_the_module_are_compiled_with_it() -> None:
    assert taxed(column([100.0])).to_pylist() == [100.0 * RATE + 1]


RATE = 1.2


def with_fee(x):
    return x + fee()


def fee():
    return 1


@udf
def taxed(x: float) -> float:
    return with_fee(x * RATE)


def test_closures_hold_constants() -> None:
    def scaled(factor: float) -> Udf:
        @udf
        def scale(x: float) -> float:
            return x * factor

        return scale

    assert scaled(2.0)(column([3.0])).to_pylist() == [6.0]
    assert scaled(5.0)(column([3.0])).to_pylist() == [15.0]


class Tariff:
    def __init__(self, rate: float) -> None:
        self.rate = rate

    def due(self, amount: float, label: str = "due") -> str:
        """The amount with its tax."""
        return f"{label} {amount * self.rate:.2f}"


def shown(amount: float, rate: float, /, currency: str, *, digits: int = 2) -> str:
    return f"{amount * rate:.{digits}f} {currency}"


def doubled(function: Any) -> Any:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs) + function(*args, **kwargs)

    return wrapper


class Scale:
    def __init__(self, factor: float) -> None:
        self.factor = factor

    def __call__(self, amount: float) -> float:
        return amount * self.factor


class Wide(Scale):
    """Inherits what it is called as."""


class Between:
    def __call__(self, low: float, value: float, high: float) -> bool:
        return low <= value <= high


@dataclasses.dataclass
class Sale:
    amount: float
    label: str = ""


@pytest.mark.parametrize(
    ("function", "columns"),
    [
        (Scale(2.5), [[1.0, None, 2.0]]),
        (Wide(0.5), [[1.0, None, 2.0]]),
        (partial(Scale.__call__, Scale(3.0)), [[1.0]]),
        (partial(Between(), 1.0, high=2.0), [[0.5, 1.5, None]]),
        (len, [["ab", None, "é"]]),
        (str.strip, [[" a ", None]]),
        (int, [["1", None, " -3 "]]),
        (math.sqrt, [[4.0, None]]),
        (operator.add, [[1, None], [2, 3]]),
        (datetime.date.fromisoformat, [["2024-02-29", None]]),
    ],
)
def test_callables_of_all_kinds(function: Any, columns: list[list[Any]]) -> None:
    compiled = udf(function, strict=True)
    assert compiled(*map(column, columns)).to_pylist() == rowwise(function, *columns)


def test_a_class_makes_structs() -> None:
    assert udf(Sale)(column([1.5, None])).to_pylist() == [{"amount": 1.5, "label": ""}, None]


@pytest.mark.parametrize(
    ("function", "columns"),
    [
        (doubled(Tariff(2.0).due), [[1.0, None, 2.5], ["a", "b", ""]]),
        (partial(doubled(doubled(shown)), 2.0, currency="EUR"), [[1.0, None, 2.5]]),
        (functools.cache(doubled(shown)), [[1.0], [2.0], ["EUR"]]),
        (Tariff(1.5).due, [[1.0, None, 2.5], ["a", "b", ""]]),
        (partial(Tariff(1.5).due, label="to pay"), [[1.0, None, 2.5]]),
        (partial(shown, 2.0, currency="EUR"), [[1.0, None, 2.5]]),
        (partial(shown, currency="EUR", digits=1), [[1.0, 2.5], [3.0, 0.25]]),
        (partial(partial(shown, 2.0), 0.5), [["EUR", "", None]]),
    ],
)
def test_bound_arguments_are_constants(function: Any, columns: list[list[Any]]) -> None:
    compiled = udf(function, strict=True)
    assert compiled(*map(column, columns)).to_pylist() == rowwise(function, *columns)
    assert compiled.__name__ in ("due", "shown")


def test_a_decorator_gets_its_columns_by_position() -> None:
    def ended(a: str, sep: str) -> str:
        return a + sep

    compiled = udf(doubled(ended))
    with pytest.raises(TypeError, match="by position"):
        compiled(column(["a"]), sep=column(["b"]))
    cached = udf(functools.cache(ended))
    assert cached(column(["a"]), sep=column(["b"])).to_pylist() == ["ab"]


def counted(function: Any) -> Any:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return f"{len(args)} {'b' in kwargs} {function(*args, **kwargs)}"

    return wrapper


def turned(function: Any) -> Any:
    @functools.wraps(function)
    def wrapper(*args: Any) -> Any:
        return function(*args[::-1])

    return wrapper


def with_own_default(function: Any) -> Any:
    @functools.wraps(function)
    def wrapper(a: str, b: str = "own") -> Any:
        return function(a, b)

    return wrapper


def with_rest(function: Any) -> Any:
    @functools.wraps(function)
    def wrapper(a: str, b: str = "own", *args: Any) -> Any:
        return f"{len(args)} {function(a, b, *args)}"

    return wrapper


def of_fewer(function: Any) -> Any:
    @functools.wraps(function)
    def wrapper(a: str) -> Any:
        return function(a)

    return wrapper


def listed(a: str, b: str = "B", c: str = "C", *, sep: str = ",") -> str:
    return sep.join([a, b, c])


def separated(function: Any) -> Any:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return function(*args, sep="-", **kwargs)

    return wrapper


def with_ending(a: str, *, sep: str) -> str:
    return a + sep


class Labels:
    def __init__(self, sep: str) -> None:
        self.sep = sep

    def listed(self, a: str, b: str = "B") -> str:
        return a + self.sep + b


@pytest.mark.parametrize(
    "function",
    [
        counted(listed),
        counted(functools.cache(counted(listed))),
        partial(counted(listed), b="x"),
        partial(counted(listed), "x", sep="-"),
        partial(counted(with_own_default(listed)), b="y"),
        turned(listed),
        with_own_default(listed),
        counted(with_own_default(listed)),
        with_rest(listed),
        of_fewer(listed),
        separated(with_ending),
        counted(Labels("+").listed),
        partial(counted(Labels("+").listed), b="x"),
        turned(Labels("+").listed),
    ],
)
def test_a_decorators_function_sees_the_arguments_that_are_given(function: Any) -> None:
    texts = ["a", None, "cd"]
    for count in (1, 2, 3):
        columns = [texts] * count
        try:
            want = rowwise(function, *columns)
        except TypeError:
            continue
        assert udf(function)(*map(column, columns)).to_pylist() == want


def test_a_function_of_several_bound_arguments_keeps_them_apart() -> None:
    rates = (1.5, 2.0)
    functions = [udf(Tariff(rate).due) for rate in rates]
    for rate, compiled in zip(rates, functions, strict=True):
        assert compiled(column([1.0])).to_pylist() == [f"due {rate:.2f}"]


def test_a_variable_that_is_never_set_is_a_compile_error() -> None:
    @udf
    def unfinished(n: int) -> int:
        return n + never

    with pytest.raises(CompileError):
        unfinished(column([5]))
    if not unfinished:
        never = 1


def test_an_unsigned_index_does_not_count_from_the_end() -> None:
    letter = udf("(utf8, uint64) -> utf8")(lambda text, i: text[i])
    assert letter(column(["aéb"]), column([1], pa.uint64())).to_pylist() == ["é"]
    with pytest.raises(IndexError):
        letter(column(["abc"]), column([2**64 - 1], pa.uint64()))


@udf
def taxed_twice(x: float) -> float:
    return taxed(taxed(x))


def test_a_udf_may_call_another_one_row_by_row() -> None:
    assert taxed_twice(column([100.0])).to_pylist() == [(100.0 * RATE + 1) * RATE + 1]
    # As the plain function has it, which computes the rows that are left to Python.
    assert taxed_twice.function(100.0) == (100.0 * RATE + 1) * RATE + 1


def taxed_or_not(x: float) -> float:
    return taxed(x) / (x - 1.0)


def test_rows_that_are_left_call_plain_functions() -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        udf(taxed_or_not)(column([3.0, 1.0]))
    assert caught.value.__notes__ == ["taxed_or_not: row 1"]


def test_without_a_compiled_form_it_is_refused_unless_python_is_to_run_it() -> None:
    def spelled(x: int) -> str:
        return int.__repr__(x) if callable(x) else "no"

    with pytest.raises(CompileError, match="with fallback=True, it runs in Python"):
        udf(spelled)
    with pytest.warns(UserWarning, match="spelled runs in Python"):
        result = udf(spelled, fallback=True)
    assert result(column([1, None])).to_pylist() == ["no", None]
    assert result.report().reason.startswith("spelled does not compile")


def test_the_result_type_is_known_without_a_column() -> None:
    assert add.result_type(s.float64(), s.float32()) == s.float64()
    assert code_sum.result_type(s.utf8()) == s.int64()
    with pytest.raises(TypeError, match="x: expected a floating-point type"):
        add.result_type(s.utf8(), s.float64())


def test_it_looks_like_its_function() -> None:
    @udf
    def documented(x: int) -> bool:
        """The docstring of the function."""
        return x > 1

    assert (documented.__name__, documented.__doc__) == (
        "documented",
        "The docstring of the function.",
    )
    assert repr(documented) == "<colkern udf documented(x: int) -> bool>"
    assert documented.function(2) is True


def test_generators_are_refused() -> None:
    with pytest.raises(CompileError, match=r"generator .* ck\.generator"):

        @udf
        def many(x: int):
            yield x


def test_parameters_may_have_the_names_of_generated_loops() -> None:
    def run(start: int, a0: int) -> int:
        return start - a0

    assert udf(run)(column([3, None, 5]), column([1, 1, 7])).to_pylist() == [2, None, -2]
