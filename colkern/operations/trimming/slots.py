"""What trimming knows of an array: its slots, and which of them are visible."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from colkern.arrays import Array
from colkern.bitmaps import move_bits, own_bits
from colkern.kernels import hidden
from colkern.kernels.bitmaps import words_for
from colkern.memory import Buffer
from colkern.targets import NOWHERE, Target

ALL_VISIBLE = None
"""In place of a bitmap: no slot is hidden."""


@dataclass(frozen=True, slots=True)
class Slots:
    """The slots of one array and which of them are visible.

    Args:
        array: The array.
        target: Where its bytes are.
        visible: The slots that are valid here and above, from bit 0 on; or `ALL_VISIBLE`.
    """

    array: Array
    target: Target
    visible: Buffer | None

    def finds_hidden(self, kernel: Any, *args: Any) -> bool:
        """Whether a kernel that looks for a hidden slot of some kind finds one."""
        assert self.visible is not ALL_VISIBLE
        bits = (self.visible.array, 0, self.array.length)
        found = self.target.reduce(kernel, words_for(self.array.length), *args, *bits)
        return bool(found != NOWHERE)

    def empty_buffer(self) -> Buffer:
        """A buffer without bytes, where the array's are."""
        made: Buffer = self.target.buffer(self.target.allocate(0, np.uint8))
        return made

    @property
    def bitmap(self) -> Any:
        """The visible slots as kernels take them: zero bytes if all are."""
        if self.visible is ALL_VISIBLE:
            return self.target.no_bits
        return self.visible.array


class Shown(NamedTuple):
    """A child and which of its slots are visible: what is left to be trimmed.

    Args:
        array: The child.
        visible: A bitmap from bit 0 on, or `ALL_VISIBLE`.
    """

    array: Array
    visible: Buffer | None


Parts = tuple[Sequence[Buffer | None], Sequence[Shown]]
"""The buffers after the validity, and what is left of the children."""


def clean_bits(target: Target, bitmap: Buffer, offset: int, length: int) -> Buffer:
    """Bits `[offset, offset + length)` from bit 0 on, zeros behind; shared if they are so already."""
    own = own_bits(bitmap, offset, length)
    if length % 8 == 0 or target.item(own.array, own.size - 1) >> length % 8 == 0:
        return own
    return move_bits(bitmap, offset, length)


def bits_reached(target: Target, starts: Any, stops: Any, length: int) -> Buffer | None:
    """Which of `length` items lie in one of the ranges (int64[n], in bounds), or `ALL_VISIBLE`."""
    if int((stops - starts).sum()) == length and bool((starts[1:] == stops[:-1]).all()):
        return ALL_VISIBLE
    starts.sort()
    stops.sort()
    size = (length + 7) // 8
    bits = target.output(size, np.uint8)
    ranges = (target.frozen(starts), target.frozen(stops))
    target.map(hidden.covered_bits, size, *ranges, length, bits)
    made: Buffer = target.buffer(bits)
    return made


def own_positions(slots: Slots) -> Any:
    """The numbers of the array's own slots (int64, read-only)."""
    return slots.target.frozen(slots.target.positions(slots.array.length)).view(np.uint64)
