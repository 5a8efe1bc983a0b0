"""The elements of lists, copied from a child one list after the other; or one value for each element.

Values of a fixed width, and bits, are copied list by list. For other values the position of each is
written down, and they are taken.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from colkern import schema as s
from colkern.arrays import Array
from colkern.kernels import lists
from colkern.layouts import Extent, LayoutKind, Role
from colkern.memory import EMPTY, Buffer
from colkern.operations.creation import nulls
from colkern.operations.runs import can_repeat_bytes, repeat_bytes
from colkern.operations.selection import take_positions, words_of
from colkern.operations.validity import null_count
from colkern.targets import Target, target_of


def copy_elements(child: Array, begins: Any, starts: Any, least: int = 1) -> Array:
    """The elements of lists in a checked child, one list after the other.

    Where by `starts` a list has elements that it has not, those there are are any of the child's.

    Args:
        child: What the lists are in.
        begins: Where each list with elements begins there (int32/int64[lists]).
        starts: The running sum of their lengths (the same dtype, [lists + 1]), from any number on.
        least: How many elements each list has that has any.
    """
    return _gathered(child, _Copying(child, begins, max(child.length - least, 0), starts))


def repeat_for_elements(values: Array, starts: Any) -> Array:
    """Value i of a checked array once for each element of list i, one list after the other.

    Args:
        values: As many as there are lists.
        starts: The running sum of the lists' lengths (int32/int64[lists + 1]), from any number on.
    """
    return _gathered(values, _Repeating(values, starts))


class _Gathering:
    """From where each value of the result comes.

    Args:
        array: Where there is something to take; its device is that of all.
        starts: Where the values for each list begin in the result.
    """

    def __init__(self, array: Array, starts: Any) -> None:
        self.target = target_of(array.device)
        self.starts = starts
        self.count = self.target.item(starts, len(starts) - 1) - self.target.item(starts, 0)

    def write_items(self, words: Any, width: int, out: Any) -> None:
        """Fill `out` with values of `width` words each."""
        raise NotImplementedError

    def write_bits(self, bits: Any, offset: int, out: Any) -> None:
        """Fill `out` with bits."""
        raise NotImplementedError

    def positions(self) -> Any:
        """The position of each value (int64[count], read-only)."""
        raise NotImplementedError


class _Copying(_Gathering):
    def __init__(self, array: Array, begins: Any, latest: int, starts: Any) -> None:
        super().__init__(array, starts)
        self.places = (begins, latest, starts)

    def write_items(self, words: Any, width: int, out: Any) -> None:
        self.target.map(lists.copy_lists, len(out), *self.places, width, words, out)

    def write_bits(self, bits: Any, offset: int, out: Any) -> None:
        self.target.map(lists.copy_list_bits, len(out), *self.places, bits, offset, out)

    def positions(self) -> Any:
        out = self.target.output(self.count, np.int64)
        self.target.map(lists.elements_of_lists, self.count, *self.places, out)
        return self.target.frozen(out)


class _Repeating(_Gathering):
    def write_items(self, words: Any, width: int, out: Any) -> None:
        self.target.map(lists.repeat_values, len(out), self.starts, width, words, out)

    def write_bits(self, bits: Any, offset: int, out: Any) -> None:
        self.target.map(lists.repeat_list_bits, len(out), self.starts, bits, offset, out)

    def positions(self) -> Any:
        out = self.target.output(self.count, np.int64)
        self.target.map(lists.list_of_each, self.count, self.starts, out)
        return self.target.frozen(out)


def _gather_binary(array: Array, how: _Gathering) -> Array:
    if not isinstance(how, _Repeating) or not can_repeat_bytes(array, how.count):
        return _gather_positions(array, how)
    validity, count = _validity(array, how)
    # Each list is a run of its value.
    slots = (how.starts[1:], 0, how.target.item(how.starts, 0))
    buffers = [validity, *repeat_bytes(array, slots, array.length, how.count)]
    return Array(array.type, how.count, buffers, null_count=count)


def _gathered(array: Array, how: _Gathering) -> Array:
    if how.count == 0 or array.length == 0:
        return nulls(how.count, array.type, array.device)
    gather = _GATHER.get(array.layout.kind, _gather_positions)
    made = gather(array, how)
    made._checked = True
    return made


def _gather_positions(array: Array, how: _Gathering) -> Array:
    return take_positions(array, how.positions())


def _gather_null(array: Array, how: _Gathering) -> Array:
    return Array(array.type, how.count, [], null_count=how.count)


def _gather_fixed(array: Array, how: _Gathering) -> Array:
    validity, count = _validity(array, how)
    spec = array.layout.buffers[1]
    if spec.extent is Extent.BITS:
        values = _bits(array.buffers[1] or EMPTY, array.offset, how)
    else:
        values = _items(array.items(spec.role), how)
    buffers = [validity, values, *array.data_buffers]
    return Array(array.type, how.count, buffers, dictionary=array.dictionary, null_count=count)


def _gather_struct(array: Array, how: _Gathering) -> Array:
    validity, count = _validity(array, how)
    own = [child.slice(array.offset, array.length) for child in array.children]
    children = [_gathered(child, how) for child in own]
    return Array(array.type, how.count, [validity], children, null_count=count)


def _items(items: Any, how: _Gathering) -> Buffer:
    words, width = words_of(items)
    out = how.target.output(how.count * width, words.dtype)
    if width:
        how.write_items(words, width, out)
    made: Buffer = how.target.buffer(out)
    return made


def _bits(bits: Buffer, offset: int, how: _Gathering) -> Buffer:
    out = how.target.output((how.count + 63) // 64, np.uint64)
    how.write_bits(bits.array, offset, out)
    return bitmap_of(how.target, out, how.count)


def bitmap_of(target: Target, words: Any, length: int) -> Buffer:
    """Bits as kernels write them, 64 in a word, as a bitmap."""
    made: Buffer = target.buffer(words)
    return made[: (length + 7) // 8]


def _validity(array: Array, how: _Gathering) -> tuple[Buffer | None, int]:
    bitmap = array.buffer(Role.VALIDITY)
    if bitmap is None or array.null_count == 0:
        return None, 0
    made = _bits(bitmap, array.offset, how)
    return made, null_count(Array(s.bool_(), how.count, [made, made]))


_GATHER: dict[LayoutKind, Callable[[Array, _Gathering], Array]] = {
    LayoutKind.NULL: _gather_null,
    LayoutKind.FIXED_SIZE: _gather_fixed,
    LayoutKind.DICTIONARY: _gather_fixed,
    LayoutKind.BINARY: _gather_binary,
    LayoutKind.BINARY_VIEW: _gather_fixed,
    LayoutKind.STRUCT: _gather_struct,
}
