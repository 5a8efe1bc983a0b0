"""`less`, `less_equal`, `greater`, `greater_equal`: as pyarrow's, or Python's own where it has none."""

from __future__ import annotations

import datetime as dt
import math
import operator
from collections.abc import Callable
from decimal import Context, Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from arrow_oracle import from_pyarrow
from hypothesis import given
from hypothesis import strategies as st
from operations.samples import TEXTS, ints, sample, samples

import colkern.schema as s
from colkern.arrays import Array
from colkern.errors import UnsupportedError
from colkern.operations import greater, greater_equal, less, less_equal, nulls, take, validate
from colkern.operations.comparing import GREATER, GREATER_EQUAL, LESS, LESS_EQUAL
from colkern.operations.comparison import ordered

Relation = Callable[[Any, Any], bool]

ORDERS: dict[str, tuple[Callable[[Array, Any], Array], Relation]] = {
    "less": (less, operator.lt),
    "less_equal": (less_equal, operator.le),
    "greater": (greater, operator.gt),
    "greater_equal": (greater_equal, operator.ge),
}
WITHOUT_ORDER = (
    "variable-size list",
    "variable-size list-view",
    "fixed-size list",
    "struct",
    "sparse union",
    "dense union",
)
SORTED = [
    name
    for name in samples()
    if sample(name).layout.name not in WITHOUT_ORDER
    and not isinstance(sample(name).type.storage, s.Interval)
]
CONTEXT = Context(prec=80)
PICKS = [3, 3, 0, 1, 4, 5, 0, 7, 8, 1, 11, 2]


def expected(left: list[Any], right: list[Any], relation: Relation) -> list[bool | None]:
    return [
        None if a is None or b is None else relation(comparable(a), comparable(b))
        for a, b in zip(left, right, strict=True)
    ]


def comparable(value: Any) -> Any:
    """The key by which Python compares as Arrow does: code points are in the order of UTF-8."""
    return value.bytes if hasattr(value, "bytes") else value


def each_way(left: Array, right: Any) -> None:
    """All four orders of an array and another one or a value, by what Python says of the values."""
    others = right.to_pylist() if isinstance(right, Array) else [right] * len(left)
    for order, relation in ORDERS.values():
        actual = order(left, right)
        assert actual.to_pylist() == expected(left.to_pylist(), others, relation)
        validate(actual, full=True)


@pytest.mark.parametrize("name", SORTED)
def test_orders_are_those_of_python(name: str) -> None:
    array = sample(name)
    other = take(array, ints(PICKS))
    each_way(array, other)
    each_way(array.slice(3, 8), other.slice(1, 8))
    each_way(array.slice(5, 0), other.slice(0, 0))


@pytest.mark.parametrize("name", SORTED)
def test_order_beside_each_value(name: str) -> None:
    array = sample(name)
    for value in array.to_pylist():
        each_way(array, value)
        each_way(array.slice(3, 7), value)


NUMBERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]


@pytest.mark.parametrize("name", [*NUMBERS, "float", "double"])
@pytest.mark.parametrize("order", ORDERS)
def test_numbers_agree_with_pyarrow(name: str, order: str) -> None:
    type_ = pa.type_for_alias(name)
    if name in NUMBERS:
        bits, signed = type_.bit_width, name.startswith("i")
        low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
        choices: list[Any] = [low, low + 1, 0, 1, None, high // 2, high // 2 + 1, high]
    else:
        choices = [0.0, -0.0, None, 1.5, -2.5, math.nan, math.inf, -math.inf]
    left = pa.array([choices[i % 8] for i in range(200)], type_)
    right = pa.array([choices[i * i // 3 % 8] for i in range(200)], type_)
    run, _ = ORDERS[order]
    pairs = from_pyarrow(left).slice(3), from_pyarrow(right).slice(3)
    assert run(*pairs).equals(from_pyarrow(pc.call_function(order, [left[3:], right[3:]])))
    for value in choices:
        theirs = pc.call_function(order, [left, pa.scalar(value, type_)])
        assert run(from_pyarrow(left), value).to_pylist() == theirs.to_pylist()


@pytest.mark.parametrize("type_", [pa.float16(), pa.float32(), pa.float64()], ids=str)
def test_nan_is_in_no_order(type_: pa.DataType) -> None:
    array = from_pyarrow(pa.array([0.0, -0.0, math.nan, math.inf, -1.5] * 15, type_))
    each_way(array, array)
    each_way(array, take(array, ints(list(range(75))[::-1])))
    for value in (0.0, math.nan, -math.inf):
        each_way(array, value)
    for order, _ in ORDERS.values():
        assert order(array, math.nan).to_pylist() == [False] * 75


def nans_last(value: float) -> tuple[bool, float]:
    return math.isnan(value), 0.0 if math.isnan(value) else value


@pytest.mark.parametrize("type_", [pa.float16(), pa.float32(), pa.float64()], ids=str)
def test_nan_above_all_numbers(type_: pa.DataType) -> None:
    values = [0.0, -0.0, math.nan, math.inf, -1.5] * 15
    array, turned = (from_pyarrow(pa.array(v, type_)) for v in (values, values[::-1]))
    for order, relation in (
        (LESS, operator.lt),
        (LESS_EQUAL, operator.le),
        (GREATER, operator.gt),
        (GREATER_EQUAL, operator.ge),
    ):
        actual = ordered(array, turned, order, nans_greatest=True).to_pylist()
        pairs = zip(values, values[::-1], strict=True)
        assert actual == [relation(nans_last(a), nans_last(b)) for a, b in pairs]
        for value in (0.0, math.nan, math.inf):
            actual = ordered(array, value, order, nans_greatest=True).to_pylist()
            assert actual == [relation(nans_last(a), nans_last(value)) for a in values]


STORED = [
    pa.utf8(),
    pa.large_utf8(),
    pa.string_view(),
    pa.dictionary(pa.int8(), pa.utf8()),
    pa.run_end_encoded(pa.int32(), pa.utf8()),
]


@pytest.mark.parametrize("left", STORED, ids=str)
@pytest.mark.parametrize("right", STORED, ids=str)
def test_strings_however_they_are_stored(left: pa.DataType, right: pa.DataType) -> None:
    others = [*TEXTS[:4], "thirteen_byte", *TEXTS[5:7], "x" * 39 + "y", None, *TEXTS[9:]]
    each_way(from_pyarrow(stored(TEXTS, left)), from_pyarrow(stored(others, right)))


def stored(values: list[str | None], type_: pa.DataType) -> pa.Array:
    if pa.types.is_run_end_encoded(type_):
        return pc.run_end_encode(pa.array(values))
    return pa.array(values).cast(type_)


BINARY = [pa.binary(), pa.large_binary(), pa.binary_view()]
stems = st.sampled_from([b"", b"a", b"abcd", b"abcdefgh", b"abcdefghijkl", b"x" * 24])
values = st.none() | st.builds(operator.add, stems, st.binary(max_size=9))


@given(st.lists(st.tuples(values, values), max_size=80), st.sampled_from(BINARY), st.integers(0, 9))
def test_any_bytes(pairs: list[tuple[Any, Any]], type_: pa.DataType, offset: int) -> None:
    left, right = (from_pyarrow(pa.array([p[k] for p in pairs], type_)) for k in (0, 1))
    offset = min(offset, len(pairs))
    each_way(left.slice(offset), right.slice(offset))
    for value in [pair[0] for pair in pairs[:2]]:
        each_way(right.slice(offset), value)


@given(st.lists(st.tuples(values, values), max_size=20), st.integers(0, 40), st.integers(0, 3))
def test_bytes_of_one_size(pairs: list[tuple[Any, Any]], size: int, offset: int) -> None:
    cut = [[v if v is None else v[:size].ljust(size, b"\0") for v in pair] for pair in pairs]
    left, right = (from_pyarrow(pa.array([p[k] for p in cut], pa.binary(size))) for k in (0, 1))
    offset = min(offset, len(pairs))
    each_way(left.slice(offset), right.slice(offset))
    each_way(left, b"abcd".ljust(size, b"\0")[:size])


@pytest.mark.parametrize(("bits", "precision"), [(32, 9), (64, 18), (128, 38), (256, 76)])
@given(st.data())
def test_any_decimals(bits: int, precision: int, data: st.DataObject) -> None:
    type_ = getattr(pa, f"decimal{bits}")(precision, 2)
    most = 10**precision - 1
    # Some of which only the lowest words differ, too.
    near = st.builds(operator.add, st.sampled_from([-most // 3, 0, most // 3]), st.integers(-2, 2))
    numbers = data.draw(st.lists(st.none() | st.integers(-most, most) | near, min_size=2))
    given_ = [None if n is None else Decimal(n).scaleb(-2, CONTEXT) for n in numbers]
    array = from_pyarrow(pa.array(given_, type_))
    other = take(array, ints(list(range(len(given_)))[::-1]))
    each_way(array.slice(1), other.slice(1))
    each_way(array, given_[0])


@pytest.mark.parametrize(
    ("type_", "values"),
    [
        (pa.timestamp("us"), [dt.datetime(1960, 1, 2, 3), dt.datetime(2020, 1, 2, 3)]),
        (pa.date32(), [dt.date(1960, 1, 2), dt.date(2020, 1, 2)]),
        (pa.date64(), [dt.date(1960, 1, 2), dt.date(2020, 1, 2)]),
        (pa.time64("us"), [dt.time(1, 2), dt.time(1, 3)]),
        (pa.duration("ms"), [dt.timedelta(seconds=-3), dt.timedelta(seconds=3)]),
        (pa.bool_(), [False, True]),
    ],
    ids=str,
)
def test_values_of_other_types(type_: pa.DataType, values: list[Any]) -> None:
    array = from_pyarrow(pa.array([values[0], None, values[1]] * 5, type_))
    for value in values:
        each_way(array, value)
    each_way(array.slice(0, 14), array.slice(1, 14))
    each_way(array.slice(0, 13), array.slice(2, 13))


def test_null_is_in_no_order() -> None:
    array = ints([1, None, 3])
    for order, _ in ORDERS.values():
        assert order(array, None).to_pylist() == [None] * 3
        assert order(array, nulls(3, s.int64())).to_pylist() == [None] * 3
        assert order(nulls(3, s.null()), nulls(3, s.null())).to_pylist() == [None] * 3
        assert order(sample("dictionary"), None).to_pylist() == [None] * 12


def test_what_has_no_order() -> None:
    with pytest.raises(TypeError, match="right: expected int64, got int8; cast one of them"):
        less(ints([1]), sample("int8").slice(0, 1))
    with pytest.raises(TypeError, match="right: expected str, got bytes"):
        less(from_pyarrow(pa.array(["a"])), b"a")
    with pytest.raises(TypeError, match="right: expected bool, got int"):
        less(from_pyarrow(pa.array([True])), 1)
    with pytest.raises(ValueError, match="right: 2 values, left has 1"):
        less(ints([1]), ints([1, 2]))
    with pytest.raises(ValueError, match="does not fit int8"):
        less(sample("int8"), 300)
    with pytest.raises(UnsupportedError, match=r"no order of the values of list.*list_flatten"):
        less(sample("list"), sample("list"))
    interval = from_pyarrow(pa.array([(1, 2, 3)], pa.month_day_nano_interval()))
    with pytest.raises(UnsupportedError, match=r"no order of the values of .*interval.*to_pylist"):
        less(interval, interval)


def test_extension_types_are_ordered_by_storage() -> None:
    array = sample("extension")
    assert less(array, 4).to_pylist() == [None if v is None else v < 4 for v in array.to_pylist()]
