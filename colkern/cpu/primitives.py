"""The primitives of `colkern.kernels.primitives` for the CPU, as LLVM instructions."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

_WORD = ir.IntType(64)
_BYTE = ir.IntType(8)


@intrinsic  # type: ignore[untyped-decorator]
def popcount(typingctx: Any, word: Any) -> Any:
    """LLVM's `ctpop`: one instruction, or a vector of them."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.uint64(types.uint64), generate


@intrinsic  # type: ignore[untyped-decorator]
def trailing_zeros(typingctx: Any, word: Any) -> Any:
    """LLVM's `cttz`, 64 for zero."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], cgutils.false_bit)

    return types.uint64(types.uint64), generate


@intrinsic  # type: ignore[untyped-decorator]
def load_word(typingctx: Any, data: Any, position: Any, word: Any) -> Any:
    """A 64-bit load that needs no alignment.

    The word's number indexes a pointer to words: LLVM sees consecutive loads, not a gather.
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, args[0])
        first = builder.bitcast(builder.gep(array.data, [args[1]]), _WORD.as_pointer())
        return builder.load(builder.gep(first, [args[2]], inbounds=True), align=1)

    return types.uint64(data, types.uint64, types.uint64), generate


@intrinsic  # type: ignore[untyped-decorator]
def load_item(typingctx: Any, like: Any, address: Any) -> Any:
    """A load of the array's item type that needs no alignment."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        item = context.get_data_type(signature.return_type)
        place = builder.inttoptr(args[1], item.as_pointer())
        return builder.load(place, align=1)

    return like.dtype(like, types.uint64), generate


@intrinsic  # type: ignore[untyped-decorator]
def copy_bytes(typingctx: Any, out: Any, position: Any, address: Any, count: Any) -> Any:
    """Up to 64 bytes as two pieces that overlap, more by `memcpy`: a call costs more than they do."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, args[0])
        target = builder.gep(array.data, [args[1]])
        source = builder.inttoptr(args[2], _BYTE.as_pointer())
        _copy(builder, target, source, args[3])
        return context.get_dummy_value()

    return types.none(out, types.uint64, types.uint64, types.uint64), generate


def _copy(builder: Any, target: Any, source: Any, count: Any) -> None:
    """`count` bytes, in code of its own for each power of two."""

    def larger_than(most: int) -> Any:
        return builder.icmp_unsigned(">", count, ir.Constant(_WORD, most))

    with builder.if_else(larger_than(16)) as (long, short):
        with long, builder.if_else(larger_than(32)) as (longer, up_to_32):
            with up_to_32:
                _copy_ends(builder, target, source, count, 16)
            with longer, builder.if_else(larger_than(64)) as (longest, up_to_64):
                with up_to_64:
                    _copy_ends(builder, target, source, count, 32)
                with longest:
                    cgutils.raw_memcpy(builder, target, source, count, 1)
        with short, builder.if_else(larger_than(7)) as (up_to_16, shorter):
            with up_to_16:
                _copy_ends(builder, target, source, count, 8)
            with shorter, builder.if_else(larger_than(3)) as (up_to_7, shortest):
                with up_to_7:
                    _copy_ends(builder, target, source, count, 4)
                with shortest, builder.if_then(larger_than(0)):
                    _copy_up_to_3(builder, target, source, count)


def _copy_ends(builder: Any, target: Any, source: Any, count: Any, size: int) -> None:
    """The first and the last `size` of `size` to `2 * size` bytes."""
    item = ir.IntType(8 * size) if size <= 8 else ir.VectorType(_BYTE, size)
    last = builder.sub(count, ir.Constant(_WORD, size))
    _copy_pieces(builder, target, source, (ir.Constant(_WORD, 0), last), item)


def _copy_up_to_3(builder: Any, target: Any, source: Any, count: Any) -> None:
    """The first, the middle and the last of 1 to 3 bytes, some of them the same."""
    one = ir.Constant(_WORD, 1)
    places = (ir.Constant(_WORD, 0), builder.lshr(count, one), builder.sub(count, one))
    _copy_pieces(builder, target, source, places, _BYTE)


def _copy_pieces(builder: Any, target: Any, source: Any, places: Any, item: Any) -> None:
    """One `item` at each place; all are loaded before the first is stored."""

    def at(start: Any, place: Any) -> Any:
        return builder.bitcast(builder.gep(start, [place]), item.as_pointer())

    loaded = [builder.load(at(source, place), align=1) for place in places]
    for place, piece in zip(places, loaded, strict=True):
        builder.store(piece, at(target, place), align=1)
