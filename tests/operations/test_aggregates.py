"""Aggregates: against pyarrow, and against plain Python where it has none."""

from __future__ import annotations

import datetime as dt
import itertools
import math
import random
from decimal import Context, Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from arrow_oracle import from_pyarrow
from hypothesis import given
from hypothesis import strategies as st
from operations.samples import ints, sample, samples

import colkern.schema as s
from colkern import operations as ops
from colkern.arrays import Array
from colkern.cuda import stand_in
from colkern.errors import InvalidArrowError, UnsupportedError
from colkern.memory import Buffer
from colkern.operations import cast, nulls, take
from colkern.operations.moving import to_device

NUMBERS = [
    pa.int8(),
    pa.uint8(),
    pa.int16(),
    pa.uint16(),
    pa.int32(),
    pa.uint32(),
    pa.int64(),
    pa.uint64(),
    pa.float32(),
    pa.float64(),
]
NAMES = ("sum", "mean", "min", "max", "min_max")
OPTIONS: list[dict[str, Any]] = [{}, {"skip_nulls": False}, {"min_count": 0}, {"min_count": 3}]


def same(result: Any, expected: Any) -> bool:
    if isinstance(expected, dict):
        return result.keys() == expected.keys() and all(
            same(result[k], expected[k]) for k in expected
        )
    if isinstance(expected, float) and isinstance(result, float):
        return math.isclose(result, expected, rel_tol=1e-13) or (
            result != result and expected != expected
        )
    return type(result) is type(expected) and bool(result == expected)


def agree(array: pa.Array, *names: str) -> None:
    for name in names:
        for options in OPTIONS:
            expected = getattr(pc, name)(array, **options).as_py()
            result = getattr(ops, name)(from_pyarrow(array), **options)
            assert same(result, expected), f"{name}, {options}: {result}, pyarrow {expected}"


def random_numbers(type_: pa.DataType, count: int, share: float) -> pa.Array:
    """Numbers of the whole range, of which that share is null."""
    rng = np.random.default_rng(count)
    kind = np.dtype(type_.to_pandas_dtype())
    if kind.kind == "f":
        values = rng.normal(size=count).astype(kind)
        values[rng.random(count) < 0.1] = np.nan if count % 2 else 0
    else:
        values = np.frombuffer(rng.bytes(count * kind.itemsize), kind)
    return pa.array(values, mask=rng.random(count) < share)


@pytest.mark.parametrize("type_", NUMBERS, ids=str)
@pytest.mark.parametrize("share", [0, 0.01, 0.5, 1])
def test_numbers(type_: pa.DataType, share: float) -> None:
    for count in (0, 1, 65, 9001):
        array = random_numbers(type_, count, share)
        agree(array, *NAMES)
        agree(array.slice(3), *NAMES)


@pytest.mark.parametrize("type_", NUMBERS[:8], ids=str)
def test_what_stands_under_a_null_does_not_count(type_: pa.DataType) -> None:
    # The least and the greatest of all stand under nulls: each block is looked at twice.
    info = np.iinfo(type_.to_pandas_dtype())
    values = np.resize(np.array([info.min, 5, 7, info.max, 6], info.dtype), 9000)
    array = pa.array(values, mask=(values == info.min) | (values == info.max))
    assert ops.min_max(from_pyarrow(array)) == {"min": 5, "max": 7}
    assert ops.min(from_pyarrow(array)) == 5
    assert ops.max(from_pyarrow(array)) == 7
    agree(array, "sum", "mean")


def test_sums_wrap_around_and_means_do_not() -> None:
    for type_, value in ((pa.int64(), 2**62), (pa.int64(), -(2**62)), (pa.uint64(), 2**63)):
        agree(pa.array([value] * 9, type_), "sum", "mean")
    assert ops.mean(from_pyarrow(pa.array([2**62] * 8))) == 2.0**62


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_float_sums_are_as_exact_as_pyarrow(kind: Any) -> None:
    rng = np.random.default_rng(3)
    for values in (
        rng.random(100_000),
        rng.normal(size=100_000) * 1e6,
        rng.lognormal(0, 5, 100_000),
    ):
        array = pa.array(values.astype(kind))
        exact = math.fsum(array.to_pylist())
        bound = max(
            abs(pc.sum(array).as_py() - exact), math.fsum(map(abs, array.to_pylist())) * 4e-16
        )
        assert abs(ops.sum(from_pyarrow(array)) - exact) <= bound


def test_float_sums_of_what_is_not_finite() -> None:
    for values in ([math.inf, 1.0], [math.inf, -math.inf], [math.nan, 1.0], [1e308] * 3, [-0.0]):
        agree(pa.array(values * 300), "sum", "mean")


def test_extremes_of_floats_leave_out_nan() -> None:
    # NaN with a sign, as x86 makes it, and without.
    negative = np.array([0xFFF8_0000_0000_0000], np.uint64).view(np.float64)[0]
    for values in (
        [negative, 1.5, math.nan, -2.5],
        [math.inf, -math.inf, negative],
        [negative, math.nan],
    ):
        agree(pa.array(np.array(values * 3000)), "min", "max", "min_max")
        agree(pa.array(np.array(values, np.float32)), "min", "max", "min_max")


def test_half_floats() -> None:
    array = from_pyarrow(pa.array([1.5, None, -2.0, math.nan], pa.float16()))
    assert ops.min_max(array) == {"min": -2.0, "max": 1.5}
    assert math.isnan(ops.sum(array))
    assert ops.sum(array.slice(0, 3)) == -0.5


@pytest.mark.parametrize("share", [0, 0.5, 1])
@pytest.mark.parametrize("count", [0, 1, 64, 200])
def test_booleans(count: int, share: float) -> None:
    rng = np.random.default_rng(count)
    for density in (0, 0.5, 1):
        bits = rng.random(count) < density
        array = pa.array(bits, mask=rng.random(count) < share)
        agree(array, *NAMES, "any", "all")
        agree(array.slice(5), *NAMES, "any", "all")


def test_any_and_all_are_kleene_logic() -> None:
    for values in ([True, None], [False, None], [None], [], [True], [False], [True, False, None]):
        agree(pa.array(values, pa.bool_()), "any", "all")


@pytest.mark.parametrize("encode", [lambda a: a, ops.dictionary_encode, ops.run_end_encode])
def test_one_value_decides_any_and_all(encode: Any) -> None:
    rng = np.random.default_rng(1)
    parts = itertools.product((7, 8, 9, 16, 30), (0, 7, 8, 20, 29), (False, True))
    for length, place, common in parts:
        values = np.arange(-3, length) == place
        for mask in (None, rng.random(length + 3) < 0.3, np.ones(length + 3, bool)):
            whole = pa.array(values ^ common, mask=mask)
            peer = whole.slice(3)
            for array in (encode(from_pyarrow(peer)), encode(from_pyarrow(whole)).slice(3)):
                for name, least in itertools.product(("any", "all"), (0, 1, 9)):
                    for skip in (False, True):
                        options = {"skip_nulls": skip, "min_count": least}
                        expected = getattr(pc, name)(peer, **options).as_py()
                        assert getattr(ops, name)(array, **options) is expected


def test_any_and_all_of_a_device() -> None:
    values = [True, None, False] * 3000
    with stand_in.installed():
        for part in (slice(None), slice(0, 2), slice(2, 3), slice(1, 2)):
            peer = pa.array(values[part], pa.bool_())
            array = to_device(from_pyarrow(peer))
            assert ops.any(array) is pc.any(peer).as_py()
            assert ops.all(array, skip_nulls=False) is pc.all(peer, skip_nulls=False).as_py()


def test_any_is_of_booleans() -> None:
    with pytest.raises(TypeError, match="expected booleans, got int64"):
        ops.any(ints([1]))
    with pytest.raises(TypeError, match="expected booleans, got null"):
        ops.all(nulls(1, s.null()))


def decimals(bits: int, precision: int, share: float) -> list[Decimal | None]:
    rng = random.Random(bits)
    lengths = [rng.randrange(precision) for _ in range(300)]
    values = [Decimal(rng.choice((-1, 1)) * rng.randrange(10**n)).scaleb(-2) for n in lengths]
    return [None if rng.random() < share else value for value in values]


@pytest.mark.parametrize("type_", [pa.decimal128(28, 2), pa.decimal256(28, 2)], ids=str)
@pytest.mark.parametrize("share", [0, 0.5, 1])
def test_decimals(type_: pa.DataType, share: float) -> None:
    array = pa.array(decimals(type_.bit_width, 25, share), type_)
    for part in (array, array.slice(3), array.slice(0, 0)):
        agree(part, *NAMES)


@pytest.mark.parametrize("type_", [pa.decimal32(9, 2), pa.decimal64(18, 2)], ids=str)
def test_small_decimals(type_: pa.DataType) -> None:
    values = decimals(32, 8, 0.3)
    valid = [v for v in values if v is not None]
    array = from_pyarrow(pa.array(values, type_))
    assert ops.sum(array) == sum(valid)
    assert ops.min_max(array) == {"min": min(valid), "max": max(valid)}
    assert abs(ops.mean(array) - sum(valid) / len(valid)) <= Decimal("0.005")


def test_decimal_sums_have_more_digits_than_the_type() -> None:
    largest = Decimal(10**18 - 1)
    assert ops.sum(from_pyarrow(pa.array([largest] * 100, pa.decimal64(18, 0)))) == largest * 100


@pytest.mark.parametrize("type_", [pa.decimal128(38, 2), pa.decimal256(76, 2)], ids=str)
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("encode", [lambda a: a, ops.run_end_encode, ops.dictionary_encode])
def test_a_sum_of_decimals_past_the_bits_of_its_type_is_an_error(
    type_: pa.DataType, sign: int, encode: Any
) -> None:
    most = 10**type_.precision - 1
    within = (2 ** (type_.bit_width - 1) - 1) // most
    for count in (within, within + 1, 9, 2000):
        value = Context(prec=90).scaleb(Decimal(sign * most), -2)
        array = encode(from_pyarrow(pa.array([value, None] * count, type_)))
        # A mean has no more digits than the largest value.
        assert ops.mean(array) == value
        if count <= within:
            assert ops.sum(array) == Context(prec=90).multiply(value, Decimal(count))
            continue
        words = f"does not fit the {type_.bit_width} bits of decimal"
        with pytest.raises(OverflowError, match=f"^sum: -?[0-9.]+ {words}"):
            ops.sum(array)


def test_a_sum_of_decimals_past_its_bits_is_an_error_on_a_device_too() -> None:
    array = from_pyarrow(pa.array([Decimal(10**38 - 1), None, Decimal(1)], pa.decimal128(38, 0)))
    with stand_in.installed():
        assert ops.sum(to_device(array)) == 10**38
        twice = to_device(ops.concat([array, array]))
        with pytest.raises(OverflowError, match=f"sum: {2 * 10**38} does not fit the 128 bits"):
            ops.sum(twice)


@pytest.mark.parametrize(
    "type_",
    [pa.date32(), pa.date64(), pa.time32("ms"), pa.time64("us"), pa.timestamp("us", "UTC")],
    ids=str,
)
def test_dates_and_times(type_: pa.DataType) -> None:
    integer = pa.int32() if type_.bit_width == 32 else pa.int64()
    day = 86_400_000 if type_ == pa.date64() else 1
    values = [5 * day, None, 2 * day, 7 * day]
    array = pa.array(values, integer).cast(type_)
    for name in ("min", "max"):
        expected = getattr(pc, name)(array).as_py()
        assert getattr(ops, name)(from_pyarrow(array)) == expected
    with pytest.raises(UnsupportedError, match="no sum of"):
        ops.sum(from_pyarrow(array))


def test_durations() -> None:
    array = from_pyarrow(pa.array([5, None, -2], pa.duration("s")))
    assert ops.min_max(array) == {"min": dt.timedelta(seconds=-2), "max": dt.timedelta(seconds=5)}


@pytest.mark.parametrize("name", sorted(samples()))
def test_count(name: str) -> None:
    array = sample(name)
    assert ops.count(array, "all") == 12
    if "union" in name:
        with pytest.raises(UnsupportedError, match="no nulls of its own"):
            ops.count(array)
        return
    for part in (array, array.slice(3, 7), array.slice(4, 0)):
        values = part.to_pylist()
        none = sum(value is None for value in values)
        assert ops.count(part) == len(values) - none
        assert ops.count(part, "only_null") == none


def test_count_has_three_modes() -> None:
    with pytest.raises(ValueError, match="mode: expected one of"):
        ops.count(ints([1]), "some")  # type: ignore[arg-type]


VALUES = [5, None, -3, 9, 5, None, 5, 0, 100]


def encoded(values: list[Any], type_: pa.DataType) -> list[pa.Array]:
    """The values as dictionary and as runs, each with something around it that does not count."""
    plain = pa.array([77, *values, 77], type_)
    # An entry that no slot uses.
    unused = pa.array([-100, 5, -3, 9, 0, 100, 77, None], type_)
    used = unused.to_pylist()
    indices = pa.array([used.index(v) for v in plain.to_pylist()], pa.int16())
    runs = pc.run_end_encode(pa.array(np.repeat(np.arange(len(plain)), 3)))
    ree = pa.RunEndEncodedArray.from_arrays(runs.run_ends, plain)
    return [
        pa.DictionaryArray.from_arrays(indices, unused).slice(1, len(values)),
        plain.dictionary_encode().slice(1, len(values)),
        ree.slice(2, 3 * len(values) + 2),
    ]


@pytest.mark.parametrize("type_", [pa.int8(), pa.int64(), pa.float32(), pa.float64()], ids=str)
def test_encoded_numbers(type_: pa.DataType) -> None:
    for array in encoded(VALUES, type_):
        ours = from_pyarrow(array)
        plain = pa.array(ours.to_pylist(), type_)
        for name in NAMES:
            for options in OPTIONS:
                expected = getattr(pc, name)(plain, **options).as_py()
                assert same(getattr(ops, name)(ours, **options), expected), (name, options)


def test_sums_of_runs_wrap_around() -> None:
    array = pa.RunEndEncodedArray.from_arrays(pa.array([3, 8], pa.int32()), pa.array([2**62, -5]))
    assert ops.sum(from_pyarrow(array)) == 3 * 2**62 - 25 - 2**64
    assert ops.mean(from_pyarrow(array)) == pytest.approx((3 * 2**62 - 25) / 8)


def test_encoded_booleans_and_decimals() -> None:
    for array in (
        pa.RunEndEncodedArray.from_arrays(pa.array([2, 5, 6]), pa.array([False, None, False])),
        pa.array([False, None, False]).dictionary_encode(),
    ):
        ours = from_pyarrow(array)
        assert ops.any(ours) is False
        assert ops.any(ours, skip_nulls=False) is None
        assert ops.all(ours, skip_nulls=False) is False
        assert ops.sum(ours) == 0
        assert ops.min_max(ours) == {"min": False, "max": False}
    amounts = pa.array([Decimal("1.50"), None, Decimal("-2.25")])
    runs = from_pyarrow(pa.RunEndEncodedArray.from_arrays(pa.array([2, 5, 6]), amounts))
    assert ops.sum(runs) == Decimal("0.75")
    assert ops.max(runs) == Decimal("1.50")
    assert ops.mean(runs.slice(1, 1)) == Decimal("1.50")


def test_a_dictionary_of_which_nothing_is_used() -> None:
    array = pa.DictionaryArray.from_arrays(pa.array([None, None], pa.int8()), pa.array([1, 2]))
    assert ops.min(from_pyarrow(array)) is None
    assert ops.sum(from_pyarrow(array)) is None


def dictionary_of(values: Array, indices: list[int]) -> Array:
    type_ = s.dictionary(s.int8(), values.type)
    stored = Buffer(np.array(indices, np.int8).view(np.uint8))
    return Array(type_, len(indices), [None, stored], dictionary=values)


def in_dictionary(
    values: Array, plain: list[Any], nulls: tuple[None, ...] = (None,)
) -> tuple[Array, list[Any]]:
    """All values but the last, twice the first, then null indices; and what that stands for."""
    places = [*range(len(plain) - 1), 0, *nulls]
    indices = from_pyarrow(pa.array(places, pa.int16()))
    type_ = s.dictionary(s.int16(), values.type)
    array = Array(type_, len(places), indices.buffers, dictionary=values)
    return array, [None if place is None else plain[place] for place in places]


def in_full_dictionary(values: Array, plain: list[Any]) -> tuple[Array, list[Any]]:
    """As `in_dictionary`, without a null index: what is null is so by the values alone."""
    return in_dictionary(values, plain, ())


def in_runs(values: Array, plain: list[Any]) -> tuple[Array, list[Any]]:
    """Each value as a run of two, without the first slot."""
    ends = from_pyarrow(pa.array(range(2, 2 * len(plain) + 1, 2), pa.int32()))
    type_ = s.run_end_encoded(s.int32(), values.type)
    array = Array(type_, 2 * len(plain), [], [ends, values])
    return array.slice(1), [value for value in plain for _ in range(2)][1:]


def unchanged(values: Array, plain: list[Any]) -> tuple[Array, list[Any]]:
    return values, plain


@pytest.mark.parametrize("outer", [in_dictionary, in_full_dictionary, in_runs])
@pytest.mark.parametrize("middle", [in_dictionary, in_full_dictionary, in_runs])
@pytest.mark.parametrize("inner", [unchanged, in_full_dictionary, in_runs])
@pytest.mark.parametrize(
    "plain",
    [
        pa.array([3, None, None, 8, 5, -2, 7], pa.int64()),
        pa.array([3.5, 1.0, None, None, 2.5], pa.float64()),
        pa.array([True, None, None, False, True]),
        pa.array([Decimal("0.03"), None, None, Decimal("7.25"), Decimal("0.05")]),
        pa.array([1, 2, 3, 4], pa.int64()),
        pa.nulls(4),
    ],
    ids=lambda array: str(array.type),
)
def test_a_slot_is_null_at_whatever_level_of_its_encodings(
    plain: pa.Array, inner: Any, middle: Any, outer: Any
) -> None:
    values = from_pyarrow(plain), plain.to_pylist()
    array, slots = outer(*middle(*inner(*values)))
    expected = pa.array(slots, plain.type)
    assert array.to_pylist() == slots
    for mode in ("only_valid", "only_null", "all"):
        assert ops.count(array, mode) == pc.count(expected, mode=mode).as_py(), mode
    names: tuple[str, ...] = NAMES
    if plain.type == pa.bool_():
        names = ("sum", "mean", "min", "max", "any", "all")
    elif pa.types.is_decimal(plain.type):
        # The mean of pyarrow is cut off, not rounded.
        names = ("sum", "min", "max")
    elif plain.type == pa.null():
        # Of no value there is no mean: NaN if none is asked for, as for other types.
        names = ("sum", "min", "max")
    for name, options in itertools.product(names, OPTIONS):
        result = getattr(ops, name)(array, **options)
        assert same(result, getattr(pc, name)(expected, **options).as_py()), (name, options)


def test_a_dictionary_whose_values_are_encoded_and_not_all_used() -> None:
    in_runs = ops.run_end_encode(ints([1, 1, 5]))
    assert ops.max(dictionary_of(in_runs, [0, 0, 1])) == 1
    in_a_dictionary = dictionary_of(ints([7, 3, 9]), [0, 1, 2])
    assert ops.min_max(dictionary_of(in_a_dictionary, [0, 1, 0])) == {"min": 3, "max": 7}
    assert ops.count(dictionary_of(nulls(2, s.null()), [0, 0])) == 0


def test_extension_types_have_the_values_of_their_storage() -> None:
    array = sample("extension")
    plain = cast(array, s.int16())
    assert ops.sum(array) == ops.sum(plain)
    assert ops.min_max(array) == ops.min_max(plain)


def test_nulls_have_no_aggregates() -> None:
    array = nulls(4, s.null())
    assert ops.sum(array) is None
    assert ops.sum(array, min_count=0) == 0
    assert ops.min(array) is None
    assert ops.count(array) == 0


@pytest.mark.parametrize("name", ["list", "struct", "month_day_nano", "dense union"])
def test_what_has_no_aggregates(name: str) -> None:
    for operation in (ops.sum, ops.mean, ops.min, ops.max, ops.min_max):
        with pytest.raises(UnsupportedError):
            operation(sample(name))


def test_positions_are_checked_before_they_are_followed() -> None:
    indices = Buffer.from_object(b"\x05\x00")
    array = Array(s.dictionary(s.int8(), s.int64()), 2, [None, indices], dictionary=ints([1, 2]))
    with pytest.raises(InvalidArrowError):
        ops.max(array)


@given(st.lists(st.none() | st.integers(-(2**63), 2**63 - 1), max_size=300), st.integers(0, 70))
def test_any_integers(values: list[int | None], offset: int) -> None:
    array = pa.array(values, pa.int64()).slice(min(offset, len(values)))
    agree(array, "sum", "min_max")
    valid = [v for v in array.to_pylist() if v is not None]
    assert ops.mean(from_pyarrow(array)) == (sum(valid) / len(valid) if valid else None)


@given(st.lists(st.none() | st.floats(), max_size=300))
def test_extremes_of_any_floats(values: list[float | None]) -> None:
    agree(pa.array(values, pa.float64()), "min_max", "min", "max")


def test_aggregates_of_what_was_taken() -> None:
    array = take(from_pyarrow(pa.array([3, None, 9, -4])), ints([2, 1, 0]))
    assert ops.sum(array) == 12
    assert ops.min(array) == 3


@pytest.mark.parametrize("size", [1, 8, 9, 64, 65, 1000])
def test_extremes_of_a_dictionary_are_of_the_values_that_are_used(size: int) -> None:
    # The mask of the values that are used has as many bytes as it takes.
    used = [size - 1, size // 2, size // 2]
    booleans = pa.array(np.arange(size) % 2 == 0)
    for values in (pa.array(np.arange(size)), booleans):
        array = from_pyarrow(pa.DictionaryArray.from_arrays(pa.array(used, pa.int32()), values))
        shown = [values[k].as_py() for k in used]
        assert ops.min_max(array) == {"min": min(shown), "max": max(shown)}


def test_a_long_dictionary_of_two_runs_costs_no_more_than_its_runs() -> None:
    """2**60 values, 7 five times and then 3; the slots point to 7, to nothing, and to the last 3."""
    ends = Array(s.int64(), 2, [None, Buffer(np.array([5, 1 << 60], np.int64).view(np.uint8))])
    values = Array(s.int64(), 2, [None, Buffer(np.array([7, 3], np.int64).view(np.uint8))])
    type_ = s.RunEndEncoded(s.Field("run_ends", s.int64(), False), s.Field("values", s.int64()))
    runs = Array(type_, 1 << 60, [], [ends, values])
    indices = Buffer(np.array([0, -1, (1 << 60) - 1], np.int64).view(np.uint8))
    bitmap = Buffer(np.array([0b101], np.uint8))
    array = Array(s.Dictionary(s.int64(), type_), 3, [bitmap, indices], dictionary=runs)
    assert (ops.min(array), ops.max(array)) == (3, 7)
    assert (ops.min(array.slice(0, 1)), ops.max(array.slice(0, 2))) == (7, 7)
