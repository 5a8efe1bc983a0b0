"""Arithmetic: `add`, `subtract`, `multiply`, `divide`, `negate`, `abs`."""

from __future__ import annotations

import math
import operator
import random
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from arrow_oracle import from_pyarrow
from hypothesis import given
from hypothesis import strategies as st
from operations.samples import ints, sample

import colkern as ck
import colkern.schema as s
from colkern import operations as ops
from colkern.arrays import Array
from colkern.errors import InvalidArrowError
from colkern.operations import run_end_decode, run_end_encode, validate

INTS = [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32()]
INTS += [pa.uint64()]
FLOATS = [pa.float32(), pa.float64()]
NAMES = ("add", "subtract", "multiply", "divide")


def both(name: str) -> tuple[Callable[..., Array], Callable[..., Any]]:
    """An operation of colkern's and the same of pyarrow's."""
    return getattr(ops, name), getattr(pc, name)


def same(mine: Array, theirs: pa.Array) -> None:
    """They agree, NaN with NaN and 0.0 not with -0.0; the result is valid."""
    validate(mine, full=True)
    expected = from_pyarrow(theirs)
    assert str(mine.type) == str(expected.type)
    # What is under a null may differ.
    assert repr(mine.to_pylist()).replace("-nan", "nan") == repr(expected.to_pylist())
    assert mine.null_count == expected.null_count


def edges(type_: pa.DataType) -> list[Any]:
    if type_ in FLOATS:
        return [0.0, -0.0, 1.5, -2.25, math.inf, -math.inf, math.nan, 2.0**100, None, 1e-30]
    info = np.iinfo(type_.to_pandas_dtype())
    return [int(info.min), int(info.max), 0, 1, None, 7, int(info.max) // 2, 100, 3, 2]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("type_", INTS + FLOATS, ids=str)
def test_arrays_agree_with_pyarrow(name: str, type_: pa.DataType) -> None:
    mine, theirs = both(name)
    some = edges(type_)
    zeros = name == "divide" and type_ in INTS
    pairs = [(a, b) for a in some for b in some if b != 0 or a is None or not zeros]
    left, right = (pa.array([pair[k] for pair in pairs], type_) for k in range(2))
    expected = theirs(left, right)
    same(mine(from_pyarrow(left), from_pyarrow(right)), expected)
    for offset, length in ((1, 50), (9, 8), (5, 0), (7, 1)):
        parts = [from_pyarrow(array).slice(offset, length) for array in (left, right)]
        same(mine(*parts), expected.slice(offset, length))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("type_", INTS + FLOATS, ids=str)
def test_numbers_agree_with_pyarrow(name: str, type_: pa.DataType) -> None:
    mine, theirs = both(name)
    some = edges(type_)
    array = pa.array(some, type_)
    for number in some:
        if number is None:
            continue
        scalar = pa.scalar(number, type_)
        if name != "divide" or type_ in FLOATS or number:
            same(mine(from_pyarrow(array), number), theirs(array, scalar))
        part = pa.array([n for n in some if n != 0], type_) if name == "divide" else array
        same(mine(number, from_pyarrow(part)), theirs(scalar, part))


@pytest.mark.parametrize("name", ["negate", "abs"])
@pytest.mark.parametrize("type_", INTS + FLOATS, ids=str)
def test_one_operand_agrees_with_pyarrow(name: str, type_: pa.DataType) -> None:
    mine, theirs = both(name)
    array = pa.array(edges(type_) * 3, type_)
    for part in (array, array.slice(3, 20), array.slice(5, 0)):
        same(mine(from_pyarrow(part)), theirs(part))


@given(st.data())
def test_any_division_by_a_number(data: st.DataObject) -> None:
    type_ = data.draw(st.sampled_from(INTS))
    info = np.iinfo(type_.to_pandas_dtype())
    low, high = int(info.min), int(info.max)
    divisor = data.draw(st.integers(low, high).filter(bool))
    values = data.draw(st.lists(st.integers(low, high), min_size=2))
    # Where quotients change.
    near = [abs(divisor) * k + d for k in (1, 2, high // abs(divisor)) for d in (-1, 0, 1)]
    values += [n for n in near if low <= n <= high]
    actual = ops.divide(from_pyarrow(pa.array(values, type_)), divisor).to_pylist()
    exact = [abs(v) // abs(divisor) * (1 if (v < 0) == (divisor < 0) else -1) for v in values]
    assert actual == [q if q <= high else 0 for q in exact]


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
def test_any_integers(name: str, data: st.DataObject) -> None:
    type_ = data.draw(st.sampled_from(INTS))
    info = np.iinfo(type_.to_pandas_dtype())
    one = st.none() | st.integers(int(info.min), int(info.max))
    other = one.filter(lambda n: n != 0) if name == "divide" else one
    pairs = data.draw(st.lists(st.tuples(one, other), max_size=70))
    left, right = (pa.array([pair[k] for pair in pairs], type_) for k in range(2))
    mine, theirs = both(name)
    same(mine(from_pyarrow(left), from_pyarrow(right)), theirs(left, right))


# Encodings


def runs(values: list[Any]) -> Array:
    return run_end_encode(from_pyarrow(pa.array(values)))


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
def test_runs_stay_runs(name: str, data: st.DataObject) -> None:
    mine, _ = both(name)
    one = st.tuples(st.none() | st.integers(1, 3), st.integers(1, 100))
    drawn = [data.draw(st.lists(one, min_size=1, max_size=6)) for _ in range(2)]
    lists = [[value for value, length in pairs for _ in range(length)] for pairs in drawn]
    kinds = [data.draw(st.sampled_from([s.int16(), s.int32(), s.int64()])) for _ in range(2)]
    count = min(map(len, lists))
    starts = [data.draw(st.integers(0, len(values) - count)) for values in lists]
    arrays = [
        run_end_encode(from_pyarrow(pa.array(values, pa.int64())), run_end_type=kind).slice(
            start, count
        )
        for values, kind, start in zip(lists, kinds, starts, strict=True)
    ]
    plain = [run_end_decode(array) for array in arrays]
    expected = mine(*plain)
    merged = mine(*arrays)
    assert merged.layout.name == "run-end encoded"
    validate(merged, full=True)
    assert merged.to_pylist() == expected.to_pylist()
    for mixed in ((arrays[0], plain[1]), (plain[0], arrays[1])):
        assert mine(*mixed).equals(expected)
    for operands in ((arrays[0], 2), (2, arrays[0])):
        actual = mine(*operands)
        assert actual.layout.name == "run-end encoded"
        validate(actual, full=True)
        decoded = [plain[0] if part is arrays[0] else part for part in operands]
        assert actual.to_pylist() == mine(*decoded).to_pylist()


def test_values_of_other_slots_are_not_looked_at() -> None:
    array = runs([0, 0, 4, 4, 0]).slice(2, 2)
    assert ops.divide(8, array).to_pylist() == [2, 2]
    assert ops.divide(ints([6, 6]), array).to_pylist() == [1, 1]
    assert ops.divide(array, array).to_pylist() == [1, 1]
    with pytest.raises(ZeroDivisionError):
        ops.divide(8, runs([0, 0, 4, 4, 0]))


@pytest.mark.parametrize("name", ["negate", "abs"])
def test_one_operand_in_runs_and_dictionaries(name: str) -> None:
    mine, theirs = both(name)
    values = pa.array([-1, -1, None, 5, 5, -1])
    expected = theirs(values).to_pylist()
    actual = mine(run_end_encode(from_pyarrow(values)))
    assert actual.layout.name == "run-end encoded"
    assert actual.to_pylist() == expected
    coded = mine(from_pyarrow(values.dictionary_encode()))
    assert coded.layout.name == "dictionary-encoded"
    assert coded.to_pylist() == expected
    validate(coded, full=True)


@pytest.mark.parametrize("name", NAMES)
def test_dictionaries(name: str) -> None:
    mine, _ = both(name)
    values = from_pyarrow(pa.array([7, 5, None, 7, -2, 5]))
    coded = from_pyarrow(pa.array([7, 5, None, 7, -2, 5]).dictionary_encode())
    for left, right in ((3, None), (None, 3)):
        plain = mine(*(values if part is None else part for part in (left, right)))
        actual = mine(*(coded if part is None else part for part in (left, right)))
        assert actual.to_pylist() == plain.to_pylist()
        if name != "divide" or left is None:
            assert actual.layout.name == "dictionary-encoded"
        validate(actual, full=True)
    assert mine(coded, values).equals(mine(values, values))
    assert mine(run_end_encode(coded), coded).equals(mine(values, values))
    assert mine(run_end_encode(coded), 3).to_pylist() == mine(values, 3).to_pylist()


def test_a_zero_that_no_index_leads_to_is_no_error() -> None:
    indices = pa.array([1, None, 1], pa.int8())
    coded = from_pyarrow(pa.DictionaryArray.from_arrays(indices, pa.array([0, 2])))
    assert ops.divide(6, coded).to_pylist() == [3, None, 3]
    nothing = from_pyarrow(pa.DictionaryArray.from_arrays(pa.nulls(2, pa.int8()), pa.array([1])))
    assert ops.divide(nothing, 0).to_pylist() == [None, None]


def test_an_extension_gives_its_storage() -> None:
    actual = ops.add(sample("extension"), 1)
    assert actual.type == s.int16()
    assert actual.to_pylist()[:3] == [2, None, -2]


# Errors


def test_division_by_zero() -> None:
    with pytest.raises(ZeroDivisionError, match="divide: by 0 in slot 2"):
        ops.divide(ints([1, None, 3]), ints([1, 0, 0]))
    with pytest.raises(ZeroDivisionError, match="divide: by 0"):
        ops.divide(ints([1, 2]), 0)
    with pytest.raises(ZeroDivisionError, match="divide: by 0 in slot 1"):
        ops.divide(1, ints([2, 0]))
    assert ops.divide(ints([1, None]), ints([1, 0])).to_pylist() == [1, None]
    assert ops.divide(ints([None, None]), 0).to_pylist() == [None, None]
    assert ops.divide(ints([]), 0).to_pylist() == []


@pytest.mark.filterwarnings("error")
def test_floats_divide_by_zero_without_a_word() -> None:
    array = from_pyarrow(pa.array([1.0, 0.0, -1.0]))
    assert repr(ops.divide(array, 0).to_pylist()) == "[inf, nan, -inf]"


@pytest.mark.parametrize(
    ("number", "type_", "error", "message"),
    [
        (300, pa.uint8(), ValueError, "right: 300 does not fit uint8"),
        (-1, pa.uint64(), ValueError, "right: -1 does not fit uint64"),
        (2**63, pa.int64(), ValueError, "does not fit int64"),
        (1.5, pa.int64(), TypeError, "expected an integer for int64, got float 1.5"),
        (True, pa.int64(), TypeError, "expected a number for int64, got bool True"),
        (None, pa.float64(), TypeError, "right: expected an Array or a number, got None"),
        (1e39, pa.float32(), ValueError, "1e[+]39 does not fit float"),
        (10**400, pa.float64(), ValueError, "does not fit double"),
    ],
)
def test_numbers_that_are_not_of_the_type(
    number: Any, type_: pa.DataType, error: type[Exception], message: str
) -> None:
    array = from_pyarrow(pa.array([1, 2], type_))
    with pytest.raises(error, match=message):
        ops.add(array, number)


# `float` reads all of these; pyarrow refuses text beside numbers, too.
TEXTS = ["10", "1e1", b"10", bytearray(b"10"), np.str_("10"), np.bytes_(b"10")]


@pytest.mark.parametrize("text", TEXTS, ids=repr)
@pytest.mark.parametrize("name", ["int64", "float64", "float32"])
def test_text_beside_numbers_is_refused_and_both_types_are_named(name: str, text: Any) -> None:
    array = from_pyarrow(pa.array([10], name))
    words = f"expected an? (integer|number) for {array.type}, got {type(text).__name__} "
    for encoded in (array, ops.dictionary_encode(array), ops.run_end_encode(array)):
        operation: Callable[[Any, Any], Array]
        for operation in (ops.add, ops.subtract, ops.multiply, ops.divide):
            with pytest.raises(TypeError, match=f"right: {words}"):
                operation(encoded, text)
            with pytest.raises(TypeError, match=f"left: {words}"):
                operation(text, encoded)
        for operation in (ops.equal, ops.not_equal, ops.less, ops.greater_equal):
            with pytest.raises(TypeError, match=f"right: {words}"):
                operation(encoded, text)


def test_numbers_of_numpy() -> None:
    two: Any = np.int8(2)
    assert ops.add(ints([1]), two).to_pylist() == [3]
    two = np.float32(2)
    assert ops.multiply(from_pyarrow(pa.array([1.5])), two).to_pylist() == [3.0]
    assert ops.add(from_pyarrow(pa.array([1.5], pa.float32())), math.inf).to_pylist() == [math.inf]


def test_operands_that_do_not_go_together() -> None:
    with pytest.raises(TypeError, match="add: int64 and int8; cast one of them first"):
        ops.add(ints([1]), ints([1], s.int8()))
    with pytest.raises(ValueError, match="subtract: arrays of 1 and 2 values"):
        ops.subtract(ints([1]), ints([1, 2]))
    with pytest.raises(TypeError, match="multiply: expected an Array on one side, got int and int"):
        ops.multiply(1, 2)
    with pytest.raises(TypeError, match="expected integers or floating-point numbers, got string"):
        ops.add(sample("utf8"), 1)


def test_runs_that_are_not_valid() -> None:
    array = runs([1, 1, 2])
    broken = Array(array.type, 30, [], array.children)
    with pytest.raises(InvalidArrowError, match="run ends cover 3 of 30 slots"):
        ops.add(broken, 1)


def test_unsigned_numbers_are_their_absolute_values() -> None:
    array = sample("uint16")
    assert ops.abs(array) is array


def test_an_operator_has_its_operation() -> None:
    left, right = ints([9, -7]), ints([2, 2])
    for apply in (operator.add, operator.sub, operator.mul):
        name = {"sub": "subtract", "mul": "multiply"}.get(apply.__name__, apply.__name__)
        expected = [apply(9, 2), apply(-7, 2)]
        assert getattr(ops, name)(left, right).to_pylist() == expected


# Decimals


DECIMALS = [
    (pa.decimal128(10, 2), pa.decimal128(12, 4)),
    (pa.decimal32(9, 2), pa.decimal64(9, 0)),
    (pa.decimal256(30, 4), pa.decimal128(20, 10)),
]


def decimals(type_: pa.DataType, seed: int) -> pa.Array:
    rng, most = random.Random(seed), 10**type_.precision - 1
    numbers = [rng.randint(-most, most) or 1 for _ in range(20)]
    values = [
        None if number % 7 == 0 else Decimal(number).scaleb(-type_.scale) for number in numbers
    ]
    return pa.array(values, type_)


@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "divide"])
@pytest.mark.parametrize("types", DECIMALS, ids=lambda types: f"{types[0]}, {types[1]}")
def test_decimals_have_the_digits_that_pyarrow_gives(
    name: str, types: tuple[pa.DataType, ...]
) -> None:
    left, right = decimals(types[0], 1), decimals(types[1], 2)
    result = getattr(ck, name)(from_pyarrow(left), from_pyarrow(right))
    assert result.equals(from_pyarrow(getattr(pc, name)(left, right)))


@pytest.mark.parametrize("type_", [pa.decimal32(9, 2), pa.decimal128(38, 2), pa.decimal256(76, 4)])
def test_signs_of_decimals(type_: pa.DataType) -> None:
    array = from_pyarrow(decimals(type_, 3))
    values = array.to_pylist()
    for item, expected in (
        (ck.negate(array), [value and value.copy_negate() for value in values]),
        (ck.abs(array), [value and value.copy_abs() for value in values]),
    ):
        assert item.type == array.type
        assert item.to_pylist() == expected


def test_a_number_beside_decimals() -> None:
    array = ck.array([Decimal("1.25"), None])
    assert ck.add(array, 3).to_pylist() == [Decimal("4.25"), None]
    assert ck.multiply(Decimal("0.5"), array).to_pylist() == [Decimal("0.625"), None]  # type: ignore[call-overload]
    encoded = ck.dictionary_encode(array)
    actual = ck.add(encoded, 3)
    assert isinstance(actual.type, s.Dictionary)
    assert actual.to_pylist() == [Decimal("4.25"), None]
    refused: list[tuple[Callable[[], object], type[Exception], str]] = [
        (lambda: ck.divide(array, 0), ZeroDivisionError, "divide: by 0 in slot 0"),
        (lambda: ck.add(array, 1.5), TypeError, "expected a decimal or an integer"),
        (lambda: ck.add(array, ck.array([1, 2])), TypeError, "add: .* and int64; cast one"),
        (
            lambda: ck.add(from_pyarrow(decimals(pa.decimal128(38, 0), 4)), 1),
            ValueError,
            "need 39 digits",
        ),
    ]
    for call, error, text in refused:
        with pytest.raises(error, match=text):
            call()


# Floats of 16 bits


def test_floats_of_16_bits_are_rounded_once() -> None:
    rng = np.random.default_rng(5)
    left = rng.uniform(-300, 300, 500).astype(np.float16)
    right = np.append(rng.uniform(-9, 9, 499), np.inf).astype(np.float16)
    for name, ufunc in (
        ("add", np.add),
        ("subtract", np.subtract),
        ("multiply", np.multiply),
        ("divide", np.divide),
    ):
        actual = getattr(ck, name)(ck.array(left), ck.array(right))
        assert actual.type == ck.float16()
        assert np.array_equal(np.asarray(actual), ufunc(left, right))
        actual = getattr(ck, name)(ck.array(left), 0.1)
        assert np.array_equal(np.asarray(actual), ufunc(left, np.float16(0.1)))
    assert np.array_equal(np.asarray(ck.abs(ck.array(left))), np.abs(left))
    assert np.array_equal(np.asarray(ck.negate(ck.array(left))), -left)


def test_numbers_that_are_kept_have_their_class_and_sign() -> None:
    ones = ck.array([1.0, -1.0])
    for _ in range(2):
        assert ck.divide(ones, 0.0).to_pylist() == [np.inf, -np.inf]
        assert ck.divide(ones, -0.0).to_pylist() == [-np.inf, np.inf]
        assert ck.add(ones, 1).to_pylist() == ck.add(ones, 1.0).to_pylist() == [2.0, 0.0]
        assert ck.less(ck.array([0, 2]), 1).to_pylist() == [True, False]
        assert ck.equal(ck.array([1, 2]), 1).to_pylist() == [True, False]
    for number in (1.0, True):
        with pytest.raises(TypeError):
            ck.add(ck.array([1, 2]), number)
    with pytest.raises(ValueError, match="300 does not fit"):
        ck.add(ck.array([1], ck.uint8()), 300)
    assert ck.add(ck.array([1], ck.int16()), 300).to_pylist() == [301]


@pytest.mark.parametrize("type_", [pa.int8(), pa.uint8(), pa.int32(), pa.int64(), pa.uint64()])
@pytest.mark.parametrize("nulls", [False, True])
def test_a_division_of_integers_is_the_same_each_time(type_: pa.DataType, nulls: bool) -> None:
    # The first call decides how such types are divided, and the others follow that.
    bits, signed = type_.bit_width, not str(type_).startswith("u")
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (2, (1 << bits) - 1)
    values = [low, high, 0, 1, 7, *([-1, -7] if signed else [high - 1])]
    numbers = [None if nulls and k == 2 else value for k, value in enumerate(values)]
    array = ck.array(pa.array([1, *numbers, 1], type_)).slice(1, len(numbers))
    divisors = [d for d in (1, 3, high, *([-1, -3, low] if signed else [high - 2])) if d]

    def quotient(value: int | None, divisor: int) -> int | None:
        if value is None:
            return None
        whole = abs(value) // abs(divisor) * (1 if (value < 0) == (divisor < 0) else -1)
        # The least integer by -1 does not fit.
        return whole if whole <= high else 0

    for divisor in divisors:
        expected = [quotient(value, divisor) for value in numbers]
        others = ck.array(pa.array([divisor] * len(numbers), type_))
        for _ in range(2):
            assert ck.divide(array, divisor).to_pylist() == expected
            assert ck.divide(array.slice(1, 1), divisor).to_pylist() == expected[1:2]
            assert ck.divide(array, others).to_pylist() == expected
            assert ck.divide(array.slice(0, 0), 0).to_pylist() == []
            with pytest.raises(ZeroDivisionError):
                ck.divide(array, 0)
            with pytest.raises(ValueError, match="right"):
                ck.divide(array, high + 1)
            with pytest.raises((TypeError, ValueError), match="right"):
                ck.divide(array, 2.5)
            if nulls:
                assert ck.divide(array.slice(2, 1), 0).to_pylist() == [None]
                assert ck.divide(others, array).to_pylist()[2] is None
            else:
                with pytest.raises(ZeroDivisionError):
                    ck.divide(others, array)
