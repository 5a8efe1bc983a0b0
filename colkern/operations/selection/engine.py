"""The one walk over layouts that copies parts of arrays.

`assemble` knows the parts of each layout. A `Copier` knows where the slots of the result come from, and
copies each kind of part: bits, fixed-size items, byte ranges, children. `take`, `filter`, `concat`,
`trim` and the operations built on them differ only in their copiers.

Columnar format 1.5: "Physical Memory Layout".
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from colkern import schema as s
from colkern.arrays import Array
from colkern.dispatch import Dispatch, by_layout
from colkern.errors import LimitExceededError
from colkern.layouts import Extent, LayoutKind, Role
from colkern.memory import EMPTY, Buffer
from colkern.operations.own_slots import own_children
from colkern.operations.selection.words import own_words, words_of
from colkern.targets import Items, Target, target_of


class Copier(ABC):
    """Copies the slots of a result. Every verb gets the array whose parts it copies."""

    __slots__ = ()

    @property
    @abstractmethod
    def count(self) -> int:
        """The number of slots in the result."""

    def suited(self, array: Array) -> Copier:
        """The copier to use for an array, which may be a faster one."""
        return self

    @abstractmethod
    def validity(self, array: Array) -> tuple[Buffer | None, int]:
        """The validity of the slots, and their null count or `UNKNOWN`."""

    @abstractmethod
    def bits(self, array: Array) -> Buffer:
        """The values of booleans, as bits."""

    @abstractmethod
    def items(self, array: Array, role: Role) -> Buffer:
        """The items of a buffer with one item a slot."""

    @abstractmethod
    def byte_ranges(self, array: Array, validity: Buffer | None) -> tuple[Buffer, Buffer]:
        """Offsets and bytes of variable-size binary values."""

    @abstractmethod
    def child_ranges(self, array: Array, validity: Buffer | None) -> tuple[Buffer, Array]:
        """Offsets and elements of lists."""

    @abstractmethod
    def fixed_ranges(self, array: Array, size: int) -> Array:
        """The elements of lists that all have `size` elements."""

    @abstractmethod
    def children(self, array: Array) -> Sequence[Array]:
        """The children, if they have the same slots as the array."""

    def views(self, array: Array) -> Sequence[Buffer | None]:
        """The views, and the data buffers that they point into."""
        return self.items(array, Role.VIEWS), *array.data_buffers

    def indices(self, array: Array) -> tuple[Buffer, Array | None]:
        """The indices, and the dictionary that they point into."""
        return self.items(array, Role.DATA), array.dictionary

    def list_views(self, array: Array) -> tuple[Buffer, Buffer, Array]:
        """Offsets and sizes of list views, and the elements that they refer to."""
        offsets, sizes = self.items(array, Role.OFFSETS), self.items(array, Role.SIZES)
        return offsets, sizes, array.children[0]


class Ranges(Protocol):
    """The places of values between offsets in the result: the second of two passes over them."""

    @property
    def starts(self) -> Items:
        """The offsets in the result (int32/int64[count + 1])."""

    @property
    def total(self) -> int:
        """The last of these offsets."""

    def copy(self, address: int, width: int, out: Items) -> None:
        """Copy the values to `out`; an offset counts items of `width` bytes, from `address` on."""

    def select(self, child: Array) -> Array:
        """The elements of a child whose values are not plain bytes."""


class Selection(Copier):
    """Slots of one array."""

    __slots__ = ()

    @property
    def null_count(self) -> int:
        """The number of slots in the result that are null, whatever the array has."""
        return 0

    def target_for(self, array: Array) -> Target:
        """The target of the array's bytes; selections that know it override this."""
        return target_of(array.device)

    @abstractmethod
    def gather_bits(self, target: Target, bits: Buffer, offset: int) -> tuple[Buffer, int]:
        """The bits of the slots, counted from bit `offset`; and the number of clear bits, or `UNKNOWN`."""

    @abstractmethod
    def gather_words(self, target: Target, words: Items, width: int) -> Items:
        """The items of the slots, each of `width` words."""

    @abstractmethod
    def ranges(self, array: Array, validity: Buffer | None) -> Ranges:
        """The places of the values of an array with offsets."""

    @abstractmethod
    def widened(self, target: Target, length: int, size: int) -> Selection:
        """The selection of elements for lists of `size` elements (not 0), in an array of `length` lists."""

    def validity(self, array: Array) -> tuple[Buffer | None, int]:
        if array._null_count == 0 or not array.may_have_nulls:
            return None, 0
        bitmap = array.buffers[0]
        assert bitmap is not None
        bits, nulls = self.gather_bits(self.target_for(array), bitmap, array.offset)
        return (bits, nulls) if nulls else (None, 0)

    def bits(self, array: Array) -> Buffer:
        # Only an array without slots may lack the buffer.
        bits = array.buffers[1] or EMPTY
        return self.gather_bits(self.target_for(array), bits, array.offset)[0]

    def items(self, array: Array, role: Role) -> Buffer:
        target = self.target_for(array)
        return target.buffer(self.gather_words(target, *own_words(array, role)))

    def byte_ranges(self, array: Array, validity: Buffer | None) -> tuple[Buffer, Buffer]:
        target = self.target_for(array)
        ranges = self.ranges(array, validity)
        data = target.output(ranges.total, np.uint8)
        source = array.buffers[2]
        if source is not None and ranges.total:
            ranges.copy(source.address, 1, data)
        return target.buffer(ranges.starts), target.buffer(data)

    def child_ranges(self, array: Array, validity: Buffer | None) -> tuple[Buffer, Array]:
        target = self.target_for(array)
        ranges = self.ranges(array, validity)
        child, total = array.children[0], ranges.total
        elements = resized(child, total)
        if elements is None and is_plain(child):
            values = child.items(Role.DATA)
            data = target.output(total, values.dtype)
            if total:
                address, width = target.address(values), values.dtype.itemsize
                ranges.copy(address, width, data.view(np.uint8))
            elements = Array.of_valid(child.type, total, (None, target.buffer(data)), 0)
        elif elements is None:
            elements = ranges.select(child)
        return target.buffer(ranges.starts), elements

    def fixed_ranges(self, array: Array, size: int) -> Array:
        (own,) = own_children(array, size)
        if size == 0:
            return own
        elements = resized(own, self.count * size)
        if elements is not None:
            return elements
        target = self.target_for(array)
        if self.null_count or not is_plain(own):
            return assemble(self.widened(target, array.length, size), own)
        values = own.items(Role.DATA)
        lists = values.view(np.dtype(f"V{values.dtype.itemsize * size}"))
        data = target.buffer(self.gather_words(target, *words_of(lists)))
        return Array.of_valid(own.type, self.count * size, (None, data), 0)

    def children(self, array: Array) -> Sequence[Array]:
        return [assemble(self, child) for child in own_children(array)]


def assemble(how: Copier, array: Array) -> Array:
    """An array made of parts of a checked array (and of others that the copier knows)."""
    how = how.suited(array)
    return ASSEMBLE[array.layout.kind](how, array)


ASSEMBLE: Dispatch[LayoutKind, Callable[[Any, Array], Array]] = by_layout("copy parts of")


@ASSEMBLE.of(LayoutKind.NULL)
def _assemble_nulls(how: Copier, array: Array) -> Array:
    return Array.of_valid(array.type, how.count, (), how.count)


@ASSEMBLE.of(LayoutKind.FIXED_SIZE)
def _assemble_fixed(how: Copier, array: Array) -> Array:
    validity, nulls = how.validity(array)
    is_bit = array.layout.buffers[1].extent is Extent.BITS
    values = how.bits(array) if is_bit else how.items(array, Role.DATA)
    return Array.of_valid(array.type, how.count, (validity, values), nulls)


@ASSEMBLE.of(LayoutKind.DICTIONARY)
def _assemble_indices(how: Copier, array: Array) -> Array:
    validity, nulls = how.validity(array)
    indices, dictionary = how.indices(array)
    buffers = (validity, indices)
    return Array.of_valid(array.type, how.count, buffers, nulls, dictionary=dictionary)


@ASSEMBLE.of(LayoutKind.BINARY_VIEW)
def _assemble_views(how: Copier, array: Array) -> Array:
    validity, nulls = how.validity(array)
    return Array.of_valid(array.type, how.count, (validity, *how.views(array)), nulls)


@ASSEMBLE.of(LayoutKind.BINARY)
def _assemble_binary(how: Copier, array: Array) -> Array:
    validity, nulls = how.validity(array)
    buffers = (validity, *how.byte_ranges(array, validity))
    return Array.of_valid(array.type, how.count, buffers, nulls)


@ASSEMBLE.of(LayoutKind.LIST)
def _assemble_lists(how: Copier, array: Array) -> Array:
    validity, nulls = how.validity(array)
    offsets, elements = how.child_ranges(array, validity)
    return Array.of_valid(array.type, how.count, (validity, offsets), nulls, (elements,))


@ASSEMBLE.of(LayoutKind.LIST_VIEW)
def _assemble_list_views(how: Copier, array: Array) -> Array:
    validity, nulls = how.validity(array)
    offsets, sizes, elements = how.list_views(array)
    return Array.of_valid(array.type, how.count, (validity, offsets, sizes), nulls, (elements,))


@ASSEMBLE.of(LayoutKind.FIXED_SIZE_LIST)
def _assemble_fixed_lists(how: Copier, array: Array) -> Array:
    assert isinstance(array.type.storage, s.FixedSizeList)
    validity, nulls = how.validity(array)
    elements = how.fixed_ranges(array, array.type.storage.list_size)
    return Array.of_valid(array.type, how.count, (validity,), nulls, (elements,))


@ASSEMBLE.of(LayoutKind.STRUCT)
def _assemble_structs(how: Copier, array: Array) -> Array:
    validity, nulls = how.validity(array)
    return Array.of_valid(array.type, how.count, (validity,), nulls, how.children(array))


@ASSEMBLE.of(LayoutKind.SPARSE_UNION)
def _assemble_sparse_union(how: Copier, array: Array) -> Array:
    type_ids = how.items(array, Role.TYPE_IDS)
    return Array.of_valid(array.type, how.count, (type_ids,), 0, how.children(array))


def is_plain(array: Array) -> bool:
    """Whether an array has only whole bytes, the same number in each slot, and no nulls."""
    if array.layout.kind is not LayoutKind.FIXED_SIZE:
        return False
    data = array.layout.buffers[1]
    return data.extent is Extent.SLOTS and data.dtype.itemsize > 0 and array.null_count == 0


def require_length(slots: int) -> None:
    """Raise `LimitExceededError` for more slots than an array can have."""
    if slots >> 63:
        raise LimitExceededError(f"{slots} slots: the length of an array has at most 63 bits")


def resized(array: Array, length: int) -> Array | None:
    """The array with another length, if its slots have neither bytes nor nulls; else None.

    A few bytes may claim any number of such slots, so a slot must cost nothing.
    """
    kind, inner, size = array.layout.kind, length, 1
    if isinstance(array.type.storage, s.FixedSizeList):
        size = array.type.storage.list_size
        inner = length * size
    elif kind is not LayoutKind.NULL and kind is not LayoutKind.STRUCT:
        return None
    require_length(length)
    if array.layout.has_validity and array.null_count:
        return None
    children = []
    for child in array.children:
        # Lists without elements use none of the child's slots, which may have bytes.
        part = resized(child, inner) if size else child.slice(0, 0)
        if part is None:
            return None
        children.append(part)
    buffers = [None] * len(array.layout.buffers)
    nulls = length if kind is LayoutKind.NULL else 0
    return Array.of_valid(array.type, length, buffers, nulls, children)
