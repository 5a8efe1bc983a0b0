"""Puts a column together: makes the arrays of a field and its children from nodes and buffers.

Columnar format 1.5: "RecordBatch message".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from colkern.arrays import UNKNOWN, Array
from colkern.errors import InvalidArrowError, UnsupportedError
from colkern.ipc.reading.plans import ArrayPlan, DictionaryPlan
from colkern.layouts import VIEW_BYTES, VIEW_INLINE_BYTES, BufferSpec, ChildLength, Extent, Role
from colkern.memory import Buffer, allocate
from colkern.schema import DataType, FixedSizeList


def little_endian(buffer: Buffer, spec: BufferSpec) -> Buffer:
    """A little-endian copy of a big-endian buffer: the bytes of each number are reversed, if it has any."""
    if not spec.swap_bytes or buffer.size == 0:
        return buffer
    return _swap_views(buffer) if spec.role is Role.VIEWS else _swap_numbers(buffer, spec)


def _swap_numbers(buffer: Buffer, spec: BufferSpec) -> Buffer:
    width = sum(spec.swap_bytes)
    count = buffer.size // width
    source = buffer.array[: count * width].reshape(count, width)
    out = allocate(count * width, np.uint8)
    target = out.reshape(count, width)
    start = 0
    for part in spec.swap_bytes:
        target[:, start : start + part] = source[:, start : start + part][:, ::-1]
        start += part
    return Buffer(out)


def _swap_views(buffer: Buffer) -> Buffer:
    """Reverses the length of each view, and the buffer index and offset of long ones; the rest is text."""
    count = buffer.size // VIEW_BYTES
    source = buffer.array[: count * VIEW_BYTES].reshape(count, VIEW_BYTES)
    out = allocate(count * VIEW_BYTES, np.uint8)
    target = out.reshape(count, VIEW_BYTES)
    target[:] = source
    target[:, :4] = source[:, 3::-1]
    long = target[:, :4].copy().view("<i4")[:, 0] > VIEW_INLINE_BYTES
    target[long, 8:12] = source[long, 11:7:-1]
    target[long, 12:16] = source[long, 15:11:-1]
    return Buffer(out)


ResolveDictionary = Callable[[DictionaryPlan, bool], Array]
"""The values of a dictionary; the flag says that no slot needs them."""

Place = tuple[int, int]
"""Offset and length of a buffer in a body."""


class Wanted(NamedTuple):
    """A buffer that a device needs."""

    offset: int  #: Where it begins in the body.
    length: int  #: How many bytes it has there.
    #: The spec of its numbers, if their bytes are to be reversed; else None.
    swapped: BufferSpec | None


# Variadic buffers hold bytes, which have no byte order.
_VARIADIC = BufferSpec(Role.BYTES, Extent.FREE, np.dtype(np.uint8))


@dataclass(slots=True)
class Assembly:
    """Puts a column together, parents first; `require_unbacked` checks slots without a buffer."""

    nodes: Iterator[tuple[int, int]]  #: Length and null count of each array.
    buffers: Iterator[Place]  #: Where each buffer is.
    counts: Iterator[int]  #: How many variadic buffers each view array has.
    load: Callable[[Place, BufferSpec], Buffer]
    resolve: ResolveDictionary
    #: Raises if an array has too many slots without a buffer.
    require_unbacked: Callable[[int], None]

    def array(self, plan: ArrayPlan) -> Array:
        """The array of a plan; raises `InvalidArrowError`, with the child, if a part does not fit."""
        length, null_count = next(self.nodes)
        if not UNKNOWN <= null_count <= length or length < 0:
            raise InvalidArrowError(f"node with {null_count} nulls in {length} slots")
        if plan.legacy_validity:
            self._skip_legacy_validity(null_count)
        buffers = self._own_buffers(plan, null_count)
        has_bitmap = plan.validity is not None and buffers[0] is not None
        if not (plan.layout.is_backed or has_bitmap):
            self.require_unbacked(length)
        dictionary = None
        if plan.dictionary is not None:
            dictionary = self.resolve(plan.dictionary, null_count == length)
        counted = 0 if plan.validity is not None else UNKNOWN
        array = Array(
            plan.type,
            length,
            buffers,
            self._children(plan, length) if plan.children else (),
            dictionary,
            null_count=null_count if has_bitmap else counted,
        )
        if plan.validity is None:
            array.note_null_count(null_count)
        return array

    def _own_buffers(self, plan: ArrayPlan, null_count: int) -> list[Buffer | None]:
        load, where = self.load, self.buffers
        buffers: list[Buffer | None] = []
        if plan.validity is not None:
            place = next(where)
            bitmap = load(place, plan.validity) if _has_bitmap(place, null_count) else None
            # A compressed buffer of no bytes still has a length in front.
            is_absent = bitmap is not None and bitmap.size == 0 and null_count <= 0
            buffers.append(None if is_absent else bitmap)
        for spec in plan.others:
            buffers.append(load(next(where), spec))
        if plan.layout.variadic:
            for _ in range(next(self.counts)):
                buffers.append(load(next(where), _VARIADIC))
        return buffers

    def _children(self, plan: ArrayPlan, length: int) -> list[Array]:
        children = []
        for child, field in zip(plan.children, plan.type.fields, strict=True):
            try:
                children.append(self.array(child))
            except InvalidArrowError as error:
                raise error.at(f"child {field.name!r}") from None
        check = _CHILD_CHECKS.get(plan.layout.child_length)
        if check is not None:
            check(plan.type, length, children)
        return children

    def _skip_legacy_validity(self, null_count: int) -> None:
        _, size = next(self.buffers)
        if null_count > 0 and not size:
            raise InvalidArrowError(f"union node with {null_count} nulls and no validity bitmap")
        if null_count and size:
            raise UnsupportedError(
                "a union with a validity bitmap of its own and nulls in it, as written before "
                "format 1.0"
            )


def _has_bitmap(place: Place, null_count: int) -> bool:
    """Whether to read a validity buffer: always if it is there, so that null counts can be checked."""
    return place[1] != 0 or null_count > 0


def _same_length(type_: DataType, length: int, children: list[Array]) -> None:
    for child, field in zip(children, type_.fields, strict=True):
        if child.length < length:
            raise InvalidArrowError(
                f"{child.length} slots where the parent has {length}", place=f"child {field.name!r}"
            )


def _list_size(type_: DataType, length: int, children: list[Array]) -> None:
    storage = type_.storage
    assert isinstance(storage, FixedSizeList)
    if children[0].length < length * storage.list_size:
        raise InvalidArrowError(
            f"{children[0].length} elements for {length} lists of {storage.list_size}"
        )


def _runs(type_: DataType, length: int, children: list[Array]) -> None:
    run_ends, values = children
    if run_ends.length > values.length or (length and not run_ends.length):
        raise InvalidArrowError(
            f"{run_ends.length} run ends and {values.length} values for {length} slots"
        )


# These check lengths only; offsets are left to `validate`.
_CHILD_CHECKS: dict[ChildLength, Callable[[DataType, int, list[Array]], None]] = {
    ChildLength.SAME: _same_length,
    ChildLength.LIST_SIZE: _list_size,
    ChildLength.RUNS: _runs,
}


def wanted_places(
    plan: ArrayPlan,
    nodes: Iterator[tuple[int, int]],
    buffers: Iterator[Place],
    counts: Iterator[int],
) -> Iterator[tuple[Place, BufferSpec]]:
    """The places and specs of the buffers that an `Assembly` with the same arguments would load."""
    _, null_count = next(nodes)
    if plan.legacy_validity:
        next(buffers)
    if plan.validity is not None:
        place = next(buffers)
        if _has_bitmap(place, null_count):
            yield place, plan.validity
    for spec in plan.others:
        yield next(buffers), spec
    for _ in range(next(counts) if plan.layout.variadic else 0):
        yield next(buffers), _VARIADIC
    for child in plan.children:
        yield from wanted_places(child, nodes, buffers, counts)
