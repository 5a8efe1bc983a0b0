"""Where the items of a generator function go: counted and measured, or written.

A sink is the address of a few integers, its cells (`colkern.jit.rows.sink_cells`), which the loop
around the function sets for each row. So it costs the function an argument of one word, and no counting
of references. CPU target only.
"""

# Numba's decorators and the bodies that it compiles are untyped.
# mypy: disallow-untyped-decorators=False, disallow-untyped-defs=False
# mypy: disallow-untyped-calls=False, disallow-incomplete-defs=False, check-untyped-defs=False

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, models, overload, register_jitable, register_model
from numba.np.arrayobj import make_array, populate_array
from numba.np.numpy_support import from_dtype
from numpy import int64, uint64, zeros

from colkern.jit.rows import support
from colkern.jit.rows.flags import CHANGED
from colkern.jit.rows.sink_cells import (
    BYTE,
    CELLS,
    DATA,
    END,
    FLAGS,
    GIVEN_ADDRESS,
    GIVEN_NULL,
    GIVEN_SIZE,
    LIMIT,
    NULLS,
    OUT,
    PLACE,
)

# The sizes of what stands at an address are known elsewhere.
_MANY = 1 << 60


class SinkType(types.Type):  # type: ignore[misc]
    """The Numba type of a sink.

    Args:
        put: What puts byte strings away, of `colkern.jit.rows.support`; None for numbers.
        item: The Numba type of an item's slot, or of an offset; None where items are only counted.
    """

    def __init__(self, put: Any, item: Any) -> None:
        self.put = put
        self.item = item
        super().__init__(name=f"Sink({getattr(put, '__name__', None)}, {item})")


def sink_type(put: str | None, item: np.dtype[Any] | None) -> SinkType:
    """The Numba type of a sink.

    Args:
        put: The name of what puts byte strings away, in `colkern.jit.rows.support`; None for numbers.
        item: The type of an item's slot, or of an offset; None where items are only counted.
    """
    return SinkType(put and getattr(support, put), item and from_dtype(item))


@register_model(SinkType)
class _SinkModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, dmm: Any, fe_type: Any) -> None:
        super().__init__(dmm, fe_type, ir.IntType(64))


@register_jitable
def new_cells():
    """The cells of a sink, all zero."""
    return zeros(CELLS, int64)


def sink_at(kind: SinkType) -> Any:
    """What makes a sink of the address (uint64) of its cells."""

    @intrinsic
    def made(typingctx, address):
        return kind(types.uint64), lambda context, builder, signature, args: args[0]

    return made


@intrinsic
def _address(typingctx, sink):
    return types.uint64(sink), lambda context, builder, signature, args: args[0]


def _array_at(item: Any, count: int = _MANY) -> Any:
    """What makes an array of the items at an address (uint64)."""
    kind = types.Array(item, 1, "C")

    @intrinsic
    def array_at(typingctx, address):
        def codegen(context, builder, signature, args):
            made = make_array(kind)(context, builder)
            width = context.get_constant(types.intp, item.bitwidth // 8)
            populate_array(
                made,
                data=builder.inttoptr(args[0], made.data.type),
                shape=[context.get_constant(types.intp, count)],
                strides=[width],
                itemsize=width,
                meminfo=None,
            )
            return made._getvalue()

        return kind(types.uint64), codegen

    return array_at


_integers_at = _array_at(types.int64)
_words_at = _array_at(types.uint64)
_bytes_at = _array_at(types.uint8)
_no_bytes_at = _array_at(types.uint8, 0)


@register_jitable
def _cells(sink):
    return _integers_at(_address(sink))


def emit(sink: Any, value: Any) -> Any:
    """Take one item."""
    raise NotImplementedError


@overload(emit)
def _ol_emit(sink, value):
    if sink.put is not None:
        return _taken_bytes(sink.put, sink.item)
    return _taken_number(sink.item)


def _taken_number(item: Any) -> Any:
    if item is None:

        def count(sink, value):
            _cells(sink)[PLACE] += 1

        return count
    items_at = _array_at(item)

    def write(sink, value):
        cells = _cells(sink)
        place = cells[PLACE]
        if place >= cells[END]:
            cells[FLAGS] |= CHANGED
            return
        out, nulls = items_at(cells[OUT]), _bytes_at(cells[NULLS])
        cells[FLAGS] |= support.put(out, nulls, uint64(place), value)
        cells[PLACE] = place + 1

    return write


def _taken_bytes(put: Any, offset: Any) -> Any:
    @register_jitable
    def measured(sink, value):
        """How many bytes the item has; its flags are collected."""
        cells = _cells(sink)
        cells[GIVEN_SIZE] = 0
        word = _address(sink)
        addresses = _words_at(word + uint64(8 * GIVEN_ADDRESS))
        sizes = _integers_at(word + uint64(8 * GIVEN_SIZE))
        nulls = _bytes_at(word + uint64(8 * GIVEN_NULL))
        nothing = _no_bytes_at(word)
        cells[FLAGS] |= put(addresses, sizes, sizes, nothing, nulls, uint64(0), value)
        return cells[GIVEN_SIZE]

    if offset is None:

        def measure(sink, value):
            cells = _cells(sink)
            cells[BYTE] += measured(sink, value)
            cells[PLACE] += 1

        return measure
    offsets_at = _array_at(offset)

    def write_bytes(sink, value):
        cells = _cells(sink)
        place = uint64(cells[PLACE])
        stop = cells[BYTE] + measured(sink, value)
        if cells[PLACE] >= cells[END] or stop > cells[LIMIT]:
            cells[FLAGS] |= CHANGED
            return
        offsets, data, nulls = (
            offsets_at(cells[OUT]),
            _bytes_at(cells[DATA]),
            _bytes_at(cells[NULLS]),
        )
        offsets[place] = cells[BYTE]
        offsets[place + uint64(1)] = stop
        word = _address(sink)
        addresses = _words_at(word + uint64(8 * GIVEN_ADDRESS))
        sizes = _integers_at(word + uint64(8 * GIVEN_SIZE))
        cells[FLAGS] |= put(addresses, sizes, offsets, data, nulls, place, value)
        cells[BYTE] = stop
        cells[PLACE] = int64(place) + 1

    return write_bytes
