"""The elements of lists, one list after the other; and values repeated for the elements of lists.

Fixed-size values and bits are copied list by list; others are taken by position.

Columnar format 1.5: "Variable-size List Layout".
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from colkern.arrays import UNKNOWN, Array
from colkern.bitmaps import bits_by
from colkern.kernels import Kernel, lists
from colkern.layouts import LayoutKind
from colkern.memory import Buffer
from colkern.operations.creation import nulls
from colkern.operations.selection.engine import Copier, assemble
from colkern.operations.selection.runs import can_repeat_bytes, repeat_bytes
from colkern.operations.selection.taking import LatePicks
from colkern.targets import Items, Target


def copy_elements(
    target: Target,
    child: Array,
    begins: Items,
    starts: Items,
    least: int = 1,
    count: int | None = None,
) -> Array:
    """The elements of lists in a checked child, one list after the other.

    Each list begins in the child at `begins` (int32/int64[lists]), and has at least `least` elements if
    it has any; `starts` is the running sum of lengths (same dtype, [lists + 1]), from any number on. If
    `starts` gives a list more elements than it has, they are arbitrary elements of the child. `count` is
    the number of all elements, if that is known.
    """
    latest = max(child.length - least, 0)
    return _gathered(child, _Elements(target, count, begins, latest, starts))


def repeat_for_elements(
    target: Target, values: Array, starts: Items, count: int | None = None
) -> Array:
    """Value i of a checked array repeated for each element of list i; the rest as for `copy_elements`."""
    return _gathered(values, _Repeated(target, count, starts))


def _gathered(array: Array, how: _PerList) -> Array:
    if how.count == 0 or array.length == 0:
        return nulls(how.count, array.type, how.target.device)
    return assemble(how, array)


class _PerList(LatePicks):
    """Slots that are listed list by list.

    Args:
        target: The target of the starts, and of the array's bytes.
        count: The number of slots; None if the starts have to be asked for it.
        places: The arguments of the kernels that say where each list is; the last is the start of each
            list's values in the result.
    """

    __slots__ = ("_count", "_places")

    of_words: ClassVar[Kernel]
    of_bits: ClassVar[Kernel]
    of_positions: ClassVar[Kernel]

    def __init__(self, target: Target, count: int | None, *places: Any) -> None:
        super().__init__(target)
        self._places = places
        if count is None:
            ((first, last),) = target.ends(places[-1])
            count = last - first
        self._count = count

    @property
    def count(self) -> int:
        return self._count

    def gather_words(self, target: Target, words: Items, width: int) -> Items:
        out = target.output(self.count * width, words.dtype)
        if width:
            target.map(self.of_words, len(out), *self._places, width, words, out)
        return out

    def gather_bits(self, target: Target, bits: Buffer, offset: int) -> tuple[Buffer, int]:
        args = (*self._places, bits.array, offset)
        return bits_by(target, self.of_bits, self.count, args), UNKNOWN

    def positions(self) -> Items:
        out = self.target.output(self.count, np.int64)
        self.target.map(self.of_positions, self.count, *self._places, out)
        return out


class _Elements(_PerList):
    """The elements of lists in a child."""

    __slots__ = ()

    of_words, of_bits = lists.copy_lists, lists.copy_list_bits
    of_positions = lists.elements_of_lists


class _Repeated(_PerList):
    """Values repeated for the elements of lists."""

    __slots__ = ()

    of_words, of_bits = lists.repeat_values, lists.repeat_list_bits
    of_positions = lists.list_of_each

    def suited(self, array: Array) -> Copier:
        is_binary = array.layout.kind is LayoutKind.BINARY
        if is_binary and can_repeat_bytes(array, self.count):
            return self
        return super().suited(array)

    def byte_ranges(self, array: Array, validity: Buffer | None) -> tuple[Buffer, Buffer]:
        # Each list is a run of its value.
        (starts,) = self._places
        slots = (starts[1:], 0, self.target.item(starts, 0))
        return repeat_bytes(array, slots, array.length, self.count)
