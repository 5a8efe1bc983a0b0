"""Results that are written past the caches, for kernels whose arrays are larger than these.

A store to memory that is in no cache reads the line first. A store past the caches does not, and does
not evict operands from them. Bodies need not know about it: they write a block of items at a time near
the core, from where whole lines are copied.
"""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.core import cgutils

from colkern.kernels.intrinsics import Builder, Signature, Target, Value, Values, instructions

LARGE = 20 << 20
"""The bytes of all arrays from which on it pays: sums of 8 MB take 0.8 of the time, of 32 MB 0.75; negative
numbers of 8 MB, whose arrays stay in the cache of the last level, would take 1.4 times as long."""

BLOCK = 1024
"""The bytes that a body writes before they are copied: few, so that the next ones are read meanwhile. With
four times as many, sums and quotients take a tenth to a fifth longer."""

LINE = 64
"""The bytes that are stored at once, at a multiple of as many."""

LOOP = """\
    first, past, end, count = ~u8(0), False, stop, stop
    if {size} >= {own.LARGE}:
        width = {out}.itemsize
        before = -({out}.ctypes.data + start * width) % {own.LINE}
        if before % width == 0:
            # The items before the first line are written into the array itself.
            end, count = min(start + before // width, stop), {own.BLOCK} // width
    while start < stop:
        near = place_of({out}, start, past)
        {body}
        if past:
            store_lines({out}, near, start, end)
        start, past = end, True
        end = min(start + count, stop)
"""
"""Lines of a loop of blocks. All of the range is one, if that does not pay."""

_WORD = ir.IntType(64)
_BYTE = ir.IntType(8)


@instructions(lambda out, start, past: out(out, types.int64, types.boolean))
def place_of(context: Target, builder: Builder, signature: Signature, args: Values) -> Value:
    """The array that a body writes into: `out`, or a block near the core, whose first item is `start`."""
    array = context.make_array(signature.args[0])(context, builder, args[0])
    with builder.goto_entry_block():
        # Numba's function for it would have it zeroed.
        block = builder.alloca(ir.ArrayType(_BYTE, BLOCK))
    block.align = LINE
    near = builder.gep(builder.bitcast(block, array.data.type), [builder.neg(args[1])])
    array.data = builder.select(args[2], near, array.data)
    return array._getvalue()


@instructions(lambda out, near, start, end: types.none(out, out, types.int64, types.int64))
def store_lines(context: Target, builder: Builder, signature: Signature, args: Values) -> None:
    """Copies items from `start` to `end`: whole lines past the caches, and the rest."""
    # Other threads see the stores once this one has released a lock, as it does before it reports
    # back.
    kind = signature.args[0]
    target, source = (
        builder.bitcast(
            builder.gep(context.make_array(kind)(context, builder, array).data, [args[2]]),
            _BYTE.as_pointer(),
        )
        for array in args[:2]
    )
    width = ir.Constant(_WORD, kind.dtype.bitwidth // 8)
    size = builder.mul(builder.sub(args[3], args[2]), width)
    whole = builder.and_(size, ir.Constant(_WORD, -LINE))
    line = ir.VectorType(_WORD, LINE // 8).as_pointer()
    past_caches = builder.module.add_metadata([ir.Constant(ir.IntType(32), 1)])
    steps = ir.Constant(_WORD, 0), whole, ir.Constant(_WORD, LINE), _WORD
    with cgutils.for_range_slice(builder, *steps) as (place, _):
        here, there = (
            builder.bitcast(builder.gep(bytes_, [place]), line) for bytes_ in (source, target)
        )
        stored = builder.store(builder.load(here, align=LINE), there, align=LINE)
        stored.set_metadata("nontemporal", past_caches)
    rest = builder.sub(size, whole)
    here, there = (builder.gep(bytes_, [whole]) for bytes_ in (source, target))
    cgutils.raw_memcpy(builder, there, here, rest, 1)
