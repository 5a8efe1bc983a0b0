"""Casts between booleans, integers and floats."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from colkern import schema as s
from colkern.arrays import Array
from colkern.bitmaps import bits_by
from colkern.kernels import casts, comparison
from colkern.layouts import Role, layout
from colkern.memory import EMPTY
from colkern.operations.casting.dispatch import (
    Safety,
    checked,
    converts,
    fixed_result,
    mapped,
    no_value,
)
from colkern.operations.operands import unsigned
from colkern.operations.validity import with_nulls_of
from colkern.targets import DType, on_its_device, target_of

_EXACT = {16: 1 << 11, 32: 1 << 24, 64: 1 << 53}
"""Bits of a float → the limit up to which every integer is such a float."""

_WORD = (1 << 64) - 1

WORDS = {bits: np.dtype(f"u{bits // 8}") for bits in (8, 16, 32, 64)}
"""Bits → the dtype of an unsigned word."""


def limits(type: s.Int) -> tuple[int, int]:
    """The least and the greatest integer of a type."""
    if not type.signed:
        return 0, (1 << type.bit_width) - 1
    return -(1 << type.bit_width - 1), (1 << type.bit_width - 1) - 1


class _Fit(NamedTuple):
    """The rule that turns integers of one type into another, as `kernels.casts.fit_integers` takes it."""

    sign: np.uint64
    bias: np.uint64
    outside: np.uint64


@cache
def _fit(source: s.Int, result: s.Int) -> _Fit:
    (low, high), (least, greatest) = limits(source), limits(result)
    low, high = max(low, least), min(high, greatest)
    outside = (1 << source.bit_width) - 1 - (high - low)
    return _Fit(sign_of(source), np.uint64(-low & _WORD), np.uint64(outside))


@converts([s.Int], [s.Int])
def integers_to_integers(array: Array, type: s.DataType, safe: Safety) -> Array:
    """Integers of another width or signedness; those that do not fit wrap around unless `safe`."""
    source, result = array.type, type
    assert isinstance(source, s.Int)
    assert isinstance(result, s.Int)
    items, dtype = unsigned(array.items(Role.DATA)), WORDS[result.bit_width]
    fit = _fit(source, result)
    if not safe or fit.outside == 0:
        return mapped(array, type, dtype, casts.resize_integers, items, fit.sign)
    values, slot = checked(array, type, dtype, casts.fit_integers, items, *fit)
    if slot is not None:
        least, greatest = limits(result)
        raise no_value(array, type, slot, item(array, slot), f"not from {least} to {greatest}")
    return values


@converts([s.Int], [s.FloatingPoint])
def integers_to_floats(array: Array, type: s.DataType, safe: Safety) -> Array:
    """Integers as floats; if `safe`, they must be in the range where floats hold every integer."""
    source, result = array.type, type
    assert isinstance(source, s.Int)
    assert isinstance(result, s.FloatingPoint)
    exact = _EXACT[result.bit_width]
    low, high = limits(source)
    safe = safe and high > exact
    half = result.bit_width == 16
    if half and safe and source.bit_width == 16:
        array = integers_to_integers(array, s.int32(), True)
    # 16-bit floats go through float32, which holds each integer that fits them.
    written = s.float32() if half else type
    items, dtype = array.items(Role.DATA), _dtype(written)
    if not safe:
        values = mapped(array, written, dtype, casts.round_to_floats, items)
        return _to_half(values, type) if half else values
    bias = exact if low < 0 else 0
    kernel = casts.integers_to_doubles if result.bit_width == 64 else casts.integers_to_floats
    values, slot = checked(array, written, dtype, kernel, items, bias, bias + exact)
    if slot is not None:
        why = f"not from {-exact} to {exact}, where each integer has its float"
        raise no_value(array, type, slot, item(array, slot), why)
    return _to_half(values, type) if half else values


@converts([s.FloatingPoint], [s.Int])
def floats_to_integers(array: Array, type: s.DataType, safe: Safety) -> Array:
    """Floats truncated to integers; if `safe`, they must have no fraction and fit.

    If not, the integer part wraps around if it fits 64 bits; larger ones, and NaN, become 0.
    """
    source, result = array.type, type
    assert isinstance(source, s.FloatingPoint)
    assert isinstance(result, s.Int)
    if source.bit_width == 16:
        array = _from_half(array, s.float32())
    low, high = limits(result)
    if not safe:
        low, high = -(1 << 63), max(high, (1 << 63) - 1)
    args = (float(low), float(high + 1), int(safe))
    kernel, dtype = casts.floats_to_integers, WORDS[result.bit_width]
    values, slot = checked(array, type, dtype, kernel, array.items(Role.DATA), *args)
    if slot is not None:
        value = float(array.items(Role.DATA)[slot])
        why = f"not from {low} to {high}"
        if low <= value < high + 1:
            why = "it has a fraction"
        raise no_value(array, type, slot, value, why)
    return values


@converts([s.FloatingPoint], [s.FloatingPoint])
def floats_to_floats(array: Array, type: s.DataType, safe: Safety) -> Array:
    """Floats rounded to the nearest of another width; too large ones become infinite."""
    source, result = array.type, type
    assert isinstance(source, s.FloatingPoint)
    assert isinstance(result, s.FloatingPoint)
    if result.bit_width == 16:
        return _to_half(array, type)
    if source.bit_width == 16:
        return _from_half(array, type)
    # A few items are rounded by NumPy, which would warn.
    with np.errstate(over="ignore"):
        return mapped(array, type, _dtype(type), casts.round_to_floats, array.items(Role.DATA))


@on_its_device
def _to_half(array: Array, type: s.DataType) -> Array:
    # Numba has no 16-bit arithmetic, so the array library converts.
    with np.errstate(over="ignore", invalid="ignore"):
        return fixed_result(array, type, array.items(Role.DATA).astype(np.float16))


@on_its_device
def _from_half(array: Array, type: s.DataType) -> Array:
    wider = _dtype(type)
    return fixed_result(array, type, array.items(Role.DATA).astype(wider))


@converts([s.Bool], [s.Int, s.FloatingPoint])
def bools_to_numbers(array: Array, type: s.DataType, safe: Safety) -> Array:
    """True as 1, false as 0."""
    dtype = _dtype(type)
    one = int(unsigned(np.ones(1, dtype))[0])
    target = target_of(array.device)
    out = target.output(array.length, dtype)
    bits = (array.buffer(Role.DATA) or EMPTY).array
    target.map(casts.bits_to_words, array.length, bits, array.offset, one, unsigned(out))
    return fixed_result(array, type, out)


@converts([s.Int, s.FloatingPoint], [s.Bool])
def numbers_to_bools(array: Array, type: s.DataType, safe: Safety) -> Array:
    """Whether each number is not zero."""
    floats = isinstance(array.type, s.FloatingPoint)
    if array.type == s.float16():
        array = _from_half(array, s.float32())
    items = array.items(Role.DATA)
    items = items if floats else unsigned(items)
    target, length = target_of(array.device), array.length
    zero = target.table([0], items.dtype)
    bits = bits_by(target, comparison.equal_item, length, (items, zero, length, 255))
    return with_nulls_of(array, type, [bits])


def sign_of(type: s.Int) -> np.uint64:
    """The sign bit in a word of the type's width; 0 for unsigned types."""
    return np.uint64(1 << type.bit_width - 1 if type.signed else 0)


def item(array: Array, slot: int) -> int:
    """The integer at a slot."""
    return int(target_of(array.device).item(array.items(Role.DATA), slot))


def _dtype(type: s.DataType) -> DType:
    return layout(type).buffers[1].dtype
