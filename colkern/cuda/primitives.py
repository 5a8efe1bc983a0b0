"""The primitives of `colkern.kernels.primitives` for CUDA.

A GPU can load a word only from an aligned address, so `load_word` loads the one or two aligned words
around it, which are in the same allocation.

A primitive written in Python is compiled with two global names: `cuda`, the compiler's module, and
`LANES`, the number of threads that work on one item.
"""

from __future__ import annotations

import operator
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numpy import int64, uint8, uint64

from colkern.kernels import intrinsics
from colkern.kernels.arguments import In, Out, T
from colkern.kernels.intrinsics import (
    Builder,
    Signature,
    Target,
    Value,
    Values,
    instructions,
    of_numbers,
    of_values,
)

# Names that these primitives use are looked up as in kernels: in this target's version.
from colkern.kernels.primitives import copy_bytes as this_copy_bytes
from colkern.kernels.primitives import lane as this_lane
from colkern.kernels.primitives import popcount as this_popcount
from colkern.kernels.primitives import word_at as this_word_at

_WORD = ir.IntType(64)

# The address space of all arrays; a load that does not know it must test the address each time.
_GLOBAL = 1

cuda: Any = None
LANES = uint64(1)


def __getattr__(name: str) -> Any:
    """A primitive of both targets."""
    return getattr(intrinsics, name)


def _multiplied(
    context: Target, builder: Builder, kind: types.Float, left: Value, right: Value
) -> Value:
    """`mul.rn` of two floats of a type, which no compiler fuses with an addition."""
    # Single precision holds every product of two halves exactly, so it is rounded once, to a half.
    wide = types.float32 if kind == types.float16 else kind
    sides = [context.cast(builder, side, kind, wide) for side in (left, right)]
    name = "llvm.nvvm.mul.rn.d" if wide == types.float64 else "llvm.nvvm.mul.rn.f"
    called = ir.FunctionType(sides[0].type, [sides[0].type] * 2)
    multiply = cgutils.get_or_insert_function(builder.module, called, name)
    return context.cast(builder, builder.call(multiply, sides), wide, kind)


def _product(context: Target, builder: Builder, plain: Signature, sides: Values) -> Value:
    """`left * right`; floats are rounded by themselves, not fused with a following addition.

    A fused operation rounds once, where Python and the CPU round twice.
    """
    if isinstance(plain.return_type, types.Float):
        return _multiplied(context, builder, plain.return_type, *sides)
    return context.get_function(operator.mul, plain)(builder, sides)


product = of_numbers(operator.mul, _product)


@instructions(lambda value: value(value))
def rounded(context: Target, builder: Builder, signature: Signature, args: Values) -> Value:
    """The same number, rounded in a way that the compiler cannot remove."""
    # A power is computed as products. Without this rounding, the compiler would fuse the last
    # product with a following addition, and the result would differ from that on the host.
    if not isinstance(signature.args[0], types.Float):
        return args[0]
    one = context.get_constant(signature.args[0], 1.0)
    return _multiplied(context, builder, signature.args[0], args[0], one)


@instructions(lambda data, position, word: types.uint64(data, types.uint64, types.uint64))
def load_word(context: Target, builder: Builder, signature: Signature, args: Values) -> Value:
    """Loads two aligned words (one word, if the address is aligned) and shifts."""
    array = context.make_array(signature.args[0])(context, builder, args[0])
    begin = builder.add(builder.ptrtoint(array.data, _WORD), args[1])
    word = builder.shl(args[2], ir.Constant(_WORD, 3))
    return _unaligned_word(builder, builder.add(begin, word))


def _unaligned_word(builder: Builder, address: Value) -> Value:
    """The word at any address."""

    def number(value: int) -> ir.Constant:
        return ir.Constant(_WORD, value)

    def aligned(address: Value) -> Value:
        place = builder.and_(address, number(~7))
        return builder.load(builder.inttoptr(place, _WORD.as_pointer(_GLOBAL)), align=8)

    shift = builder.shl(builder.and_(address, number(7)), number(3))
    low = builder.lshr(aligned(address), shift)
    high = builder.shl(aligned(builder.add(address, number(7))), number(1))
    return builder.or_(low, builder.shl(high, builder.sub(number(63), shift)))


@instructions(lambda like, address: like.dtype(like, types.uint64))
def load_item(context: Target, builder: Builder, signature: Signature, args: Values) -> Value:
    """A load of the array's item type; the address is a multiple of the item's size."""
    item = context.get_data_type(signature.return_type)
    return builder.load(builder.inttoptr(args[1], item.as_pointer(_GLOBAL)))


@instructions(lambda like, address, value: types.none(like, types.uint64, like.dtype))
def store_item(context: Target, builder: Builder, signature: Signature, args: Values) -> None:
    """A store of the array's item type; the address is a multiple of the item's size."""
    place = builder.inttoptr(args[1], args[2].type.as_pointer(_GLOBAL))
    builder.store(args[2], place)


@instructions(lambda out, position, word: types.none(out, types.uint64, types.uint64))
def store_word(context: Target, builder: Builder, signature: Signature, args: Values) -> None:
    """Stores a word to eight bytes of `out`, the first of which has an aligned address."""
    array = context.make_array(signature.args[0])(context, builder, args[0])
    place = builder.bitcast(builder.gep(array.data, [args[1]]), _WORD.as_pointer())
    builder.store(args[2], place, align=8)


@instructions(lambda array, position: types.uint64(array, types.uint64))
def address_of(context: Target, builder: Builder, signature: Signature, args: Values) -> Value:
    """The address of item `position` of an array."""
    items = context.make_array(signature.args[0])(context, builder, args[0])
    return builder.ptrtoint(builder.gep(items.data, [args[1]]), _WORD)


word_at = of_values("word_at", types.uint64(types.uint64), _unaligned_word)
get_unaligned = of_values("get_unaligned", types.int64(types.int64), _unaligned_word)


def character_starts(address: uint64) -> uint64:
    """The bits of four words: products move the bit of each byte to its place among eight."""
    bits = uint64(0)
    for k in range(uint64(0), uint64(32), uint64(8)):
        word = this_word_at(address + uint64(k))
        later = (word >> uint64(7)) & (~word >> uint64(6)) & uint64(0x0101010101010101)
        packed = (later * uint64(0x0102040810204080)) >> uint64(56)
        bits |= (packed ^ uint64(255)) << uint64(k)
    return bits


def lane() -> uint64:
    """The place of the thread in its group, by its place in the block."""
    return uint64(cuda.threadIdx.x) % LANES


def lanes() -> uint64:
    """The number of lanes, a constant."""
    return LANES


def group() -> uint64:
    """The lanes of this thread's group, as bits of its warp."""
    first = uint64(cuda.threadIdx.x) % uint64(32) - uint64(cuda.threadIdx.x) % LANES
    return ((uint64(1) << LANES) - uint64(1)) << first


def of_lane(value: uint64, away: uint64) -> uint64:
    """The value of another lane, by a shuffle within the group."""
    return uint64(cuda.shfl_xor_sync(group(), int64(value), away))


def compress_items(out: Out[T], place: uint64, values: In[T], first: uint64, kept: uint64) -> None:
    """Each lane handles its own slots, whose values are all loaded before any is written."""
    for k in range(uint64(0), uint64(64), LANES):
        slot = uint64(k) + this_lane()
        value = values[first + slot]
        if (kept >> slot) & uint64(1) != 0:
            before = this_popcount(kept & ((uint64(1) << slot) - uint64(1)))
            out[place + uint64(before)] = value


def copy_bytes(out: Out[uint8], position: uint64, address: uint64, count: uint64) -> None:
    """Copies whole words of `out`, and bytes around them; the lanes of a group share the work."""
    # Neither end need be aligned: `out` is written at aligned places, and the source is read as it
    # is. Written such that no number is negative, of which the simulator would warn.
    head = min((~address_of(out, position) + uint64(1)) & uint64(7), count)
    words = (count - head) >> uint64(3)
    tail = head + (words << uint64(3))
    for k in range(this_lane(), head, LANES):
        out[position + uint64(k)] = load_item(out, address + uint64(k))
    for k in range(this_lane(), words, LANES):
        begin = head + (uint64(k) << uint64(3))
        store_word(out, position + begin, word_at(address + begin))
    for k in range(tail + this_lane(), count, LANES):
        out[position + uint64(k)] = load_item(out, address + uint64(k))


def copy_bytes_loosely(
    out: Out[uint8], position: uint64, address: uint64, count: uint64, room: uint64
) -> None:
    """Copies exactly `count` bytes, since threads write neighbouring values at the same time."""
    this_copy_bytes(out, position, address, count)


def repeat_bytes(
    out: Out[uint8], position: uint64, distance: uint64, count: uint64, room: uint64
) -> None:
    """Each round copies twice as many bytes, as far as the rounds before have written them."""
    # The lanes of a group wait for each other before each round, independently of other groups in
    # the warp. A lane has one byte at a time: most matches are no longer than a warp.
    done = uint64(0)
    while done < count:
        if LANES > 1:
            cuda.syncwarp(group())
        written = distance + done
        for k in range(this_lane(), min(written, count - done), LANES):
            out[position + done + uint64(k)] = out[position - distance + uint64(k)]
        done += written
