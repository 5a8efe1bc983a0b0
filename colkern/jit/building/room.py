"""Room for what is appended: made, counted on, or missed, by the mode of a builder."""

from __future__ import annotations

import numpy as np
from numba import types
from numba.core.errors import TypingError
from numba.extending import overload, register_jitable

from colkern.errors import LimitExceededError
from colkern.jit.building.builder_type import BuilderType, method
from colkern.jit.building.nodes import Failure, Request
from colkern.jit.building.state import (
    capacity_of,
    failure_of,
    grow,
    is_likely,
    length_of,
    put_item,
    room_of,
    row_of,
    set_failure,
    set_length,
    set_used,
    used_of,
)

SLOTS, BYTES, NULLS = (int(request) for request in Request)
_NO_MEMORY, _OFFSETS, _INTERRUPT = (int(failure) for failure in list(Failure)[1:])


@register_jitable
def make_room(row, request, count):
    """Room for `count` more slots or bytes, or for marks of nulls; raises why there is none."""
    # Until the builder's object says otherwise.
    set_failure(row, _NO_MEMORY)
    grow(row, request, count)
    failure = failure_of(row)
    if failure == _INTERRUPT:
        raise RuntimeError("interrupted while a builder grew")
    if failure == _OFFSETS:
        raise LimitExceededError(
            "a builder of 32-bit offsets holds 2147483647 bytes; build the large type"
        )
    if failure != 0:
        raise MemoryError("no memory for a builder to grow")


@register_jitable
def ensure_slots(row, count):
    """Room for `count` slots more."""
    if not is_likely(count <= capacity_of(row) - length_of(row)):
        make_room(row, SLOTS, count)


@register_jitable
def new_slot(row):
    """The slot to append to, for which there is room."""
    ensure_slots(row, 1)
    return length_of(row)


@register_jitable
def new_bytes(row, size):
    """The bytes that there are, after which there is room for `size` more."""
    if not is_likely(size <= room_of(row) - used_of(row)):
        make_room(row, BYTES, size)
    return used_of(row)


@register_jitable
def end_at(out, slot, used):
    """Append a slot that ends where `used` bytes or slots of the child do."""
    row = row_of(out)
    put_item(out, slot + 1, used)
    set_used(row, used)
    set_length(row, slot + 1)


@method("reserve")
def _ol_reserve(out, n):
    if not isinstance(n, types.Integer):
        raise TypingError(f"reserve: expected a number of slots, got {n}")

    def reserve(out, n):
        count = np.int64(n)
        if count < 0:
            raise ValueError("reserve: the number of slots is negative")
        ensure_slots(row_of(out), count)

    return reserve


@overload(len)
def _ol_len(out):
    if isinstance(out, BuilderType):
        return lambda out: length_of(row_of(out))
    return None
