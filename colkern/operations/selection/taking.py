"""`take`, which selects values by position.

Columnar format 1.5: "Physical Memory Layout".
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, overload

import numpy as np

from colkern import schema as s
from colkern.arrays import UNKNOWN, Array, RecordBatch
from colkern.bitmaps import bit_words, bitmap_of, written_bits
from colkern.kernels import hidden, selection
from colkern.kernels.bitmaps import words_for
from colkern.layouts import Extent, LayoutKind, Role
from colkern.memory import HOST, Buffer
from colkern.operations.arguments import operation
from colkern.operations.creation import nulls
from colkern.operations.devices import one_device
from colkern.operations.operands import WORDS, validity_of
from colkern.operations.patterns import require_room
from colkern.operations.position_checks import require_valid
from colkern.operations.selection.engine import Copier, Ranges, Selection, assemble
from colkern.operations.selection.words import own_words, repeat_bits, take_words
from colkern.operations.validity import NULL_OUTSIDE, compact_validity
from colkern.targets import NOWHERE, Items, Target, target_of


@overload
def take(data: Array, indices: Array) -> Array: ...
@overload
def take(data: RecordBatch, indices: Array) -> RecordBatch: ...
@overload
def take(data: Any, indices: Any) -> Any: ...
@operation
def take(data: Array | RecordBatch, indices: Array) -> Array | RecordBatch:
    """The values at `indices`, which may repeat and be in any order; null for a null index.

    The values are copied (of views, only the views; of dictionaries, the indices; of list-views,
    offsets and sizes). Unions and run-end encoded arrays have no nulls of their own: a null is in the
    child, or in the run's value.

    Args:
        data: Any array, or a batch, whose rows are taken.
        indices: An integer array on the same device; or an array of type null, such as `array([])`.

    Raises:
        TypeError: If `indices` are not integers.
        ValueError: If they are on another device.
        IndexError: If an index is negative or not less than `len(data)`.
        LimitExceededError: If offsets or run ends become too large for the type.
    """
    if isinstance(data, Array) and isinstance(indices.type, s.Int):
        one_device((data, indices), "data", "indices")
        if not data._checked:
            require_valid(data)
        taken = _take_words(data, indices)
        if taken is not None:
            return taken
        columns = [data]
    else:
        columns = data.columns if isinstance(data, RecordBatch) else [data]
        if isinstance(indices.type, s.Null):
            # The indices are of type null, as `array([])`.
            indices = nulls(indices.length, s.int64(), columns[0].device if columns else HOST)
        if not isinstance(indices.type, s.Int):
            raise TypeError(f"indices: expected integers, got {indices.type}")
        one_device([*columns, indices], *["data"] * len(columns), "indices")
        for column in columns:
            require_valid(column)
    # Text is checked when it is measured, so that both numbers are waited for at once.
    checked = not isinstance(data, Array) or data.layout.kind is not LayoutKind.BINARY
    picks = _picks(indices, data.length, checked or indices.may_have_nulls or not data.length)
    columns = [
        assemble(picks, column)
        if data.length
        else nulls(indices.length, column.type, column.device)
        for column in columns
    ]
    if isinstance(data, RecordBatch):
        return RecordBatch(data.schema, columns, picks.count)
    return columns[0]


# Not frozen: frozen objects take four times as long to make, which matters for small calls.
@dataclass(eq=False, slots=True)
class Picks(Selection):
    """Slots selected by position."""

    #: Unsigned integers of any width, read-only, on the device of the values; all in bounds.
    words: Items
    #: The positions that are not null, as a bitmap from bit 0 on; None if none is null.
    picked: Buffer | None = None
    null_count: int = 0  #: How many are null, or `UNKNOWN`.
    bound: int = NOWHERE  #: The limit of the words, if they have not been checked yet.
    #: Raises if an index that is not null is out of bounds.
    refuse: Callable[[], None] = lambda: None

    @property
    def count(self) -> int:
        return len(self.words)

    def validity(self, array: Array) -> tuple[Buffer | None, int]:
        if not array.may_have_nulls:
            return self.picked, self.null_count
        # `dataclass` with slots makes another class, which `super()` without arguments does not
        # know.
        return super(Picks, self).validity(array)

    def gather_bits(self, target: Target, bits: Buffer, offset: int) -> tuple[Buffer, int]:
        picked = target.no_bits if self.picked is None else self.picked.array
        arguments = (self.words, bits.array, offset, self.bound, picked)
        return written_bits(target, selection.take_bits, self.count, *arguments)

    def gather_words(self, target: Target, words: Items, width: int) -> Items:
        return take_words(target, words, width, self.words)

    def ranges(self, array: Array, validity: Buffer | None) -> _PickedRanges:
        return _PickedRanges(array, self, validity)

    def widened(self, target: Target, length: int, size: int) -> Picks:
        elements = target.output(self.count * size, np.uint64)
        if len(elements):
            args = (self.words, size, 0, elements)
            target.map(selection.take_fixed_ranges, self.count, *args)
        picked, hidden_count = (
            None,
            UNKNOWN if self.null_count == UNKNOWN else self.null_count * size,
        )
        if self.picked is not None:
            picked = repeat_bits(target, self.picked, 0, self.count, size)
        return Picks(elements, picked, hidden_count)

    def at(self, target: Target, slots: Items) -> tuple[Buffer | None, int]:
        """Validity and null count of only the positions at `slots` (unsigned, read-only)."""
        if self.picked is None:
            return None, 0
        return Picks(slots).gather_bits(target, self.picked, 0)


class LatePicks(Selection):
    """Slots whose positions are listed only for layouts that are copied by position."""

    __slots__ = ("_picks", "target")

    def __init__(self, target: Target) -> None:
        self.target = target
        self._picks: Picks | None = None

    @abstractmethod
    def positions(self) -> Items:
        """The position of each slot (int64[count], read-only)."""

    @property
    def picks(self) -> Picks:
        """The slots by position, which are listed once."""
        if self._picks is None:
            self._picks = Picks(self.positions().view(np.uint64))
        return self._picks

    def suited(self, array: Array) -> Copier:
        return self if array.layout.kind in _WITHOUT_POSITIONS else self.picks

    def target_for(self, array: Array) -> Target:
        return self.target

    def ranges(self, array: Array, validity: Buffer | None) -> Ranges:
        return self.picks.ranges(array, validity)

    def widened(self, target: Target, length: int, size: int) -> Picks:
        return self.picks.widened(target, length, size)


_WITHOUT_POSITIONS = (
    LayoutKind.NULL,
    LayoutKind.FIXED_SIZE,
    LayoutKind.DICTIONARY,
    LayoutKind.BINARY_VIEW,
    LayoutKind.STRUCT,
)


class _PickedRanges:
    """The places of values taken by position; null ones take no room."""

    __slots__ = ("items", "starts", "target", "total", "words")

    def __init__(self, array: Array, picks: Picks, validity: Buffer | None) -> None:
        self.target = target = target_of(array.device)
        self.items = array.items(Role.OFFSETS)
        self.words = words = picks.words
        picked = target.no_bits if validity is None else validity.array
        lengths, dtype = target.output(len(words), np.int64), self.items.dtype
        if len(words):
            args = (words, self.items, picks.bound, picked, lengths)
            outside = target.later(selection.take_lengths, len(words), *args)
        self.starts, self.total = target.running_sum(lengths, dtype)
        if len(words) and outside():
            picks.refuse()
        require_room(self.total, dtype)

    def copy(self, address: int, width: int, out: Items) -> None:
        args = (self.words, self.items, address, width, self.starts, out)
        self.target.map(selection.take_bytes, len(self.words), *args, balance=self.starts)

    def select(self, child: Array) -> Array:
        elements = self.target.output(self.total, np.uint64)
        args = (self.words, self.items, self.starts, elements)
        self.target.map(selection.take_ranges, len(self.words), *args, balance=self.starts)
        return assemble(Picks(elements), child)


@NULL_OUTSIDE.of(LayoutKind.DENSE_UNION, LayoutKind.RUN_END_ENCODED)
def _null_by_picking(array: Array, visible: Buffer, hidden_count: int) -> Array:
    # Two slots may show the same value or run, and only one of them may be null.
    target = target_of(array.device)
    every = target.positions(array.length).view(np.uint64)
    return assemble(Picks(every, visible, hidden_count), array)


def take_positions(array: Array, positions: Items) -> Array:
    """The values of a checked array at `positions` (int64[n], read-only, on its device, in bounds)."""
    return take_picked(array, positions.view(np.uint64))


def take_picked(array: Array, words: Items) -> Array:
    """As `take_positions`, at unsigned integers of any width."""
    row = array.layout
    is_plain = not array._null_count and row.kind is LayoutKind.FIXED_SIZE
    if not is_plain or row.buffers[1].slot_bits not in WORD_BITS:
        return assemble(Picks(words), array)
    # Words alone, as most values are, take fewer steps.
    target = target_of(array.device)
    out = take_words(target, own_words(array, Role.DATA)[0], 1, words)
    return Array.of_valid(array.type, len(words), (None, target.buffer(out)), 0)


WORD_BITS = frozenset(8 * size for size in WORDS)
"""The bits of a slot of values that are one word each."""


def _bound(indices: Array, length: int) -> int:
    """The limit for indices into `length` values, read as unsigned, so that negative ones are above it."""
    assert isinstance(indices.type, s.Int)
    return min(length, 1 << (indices.type.bit_width - indices.type.signed))


def _refuse(indices: Array, length: int) -> None:
    """Raise `IndexError` if an index that is not null is out of bounds; one under a null may be."""
    target, items = target_of(indices.device), indices.items(Role.DATA)
    kernel = selection.first_index_out_of_bounds
    validity = validity_of(indices, target)
    slot = target.reduce(kernel, indices.length, items, *validity, length)
    if slot != NOWHERE:
        raise IndexError(
            f"indices: slot {slot} has {target.item(items, slot)}, there are {length} values"
        )


def _picks(indices: Array, length: int, checked: bool) -> Picks:
    """Indices as positions in `length` values; those without nulls may be left unchecked for now."""
    target = target_of(indices.device)
    items = indices.items(Role.DATA)
    words = items.view(WORDS[items.dtype.itemsize])
    bound = _bound(indices, length)
    if not checked:
        return Picks(words, bound=bound, refuse=partial(_refuse, indices, length))
    if len(words) and target.reduce(selection.largest_index, len(words), words) >= bound:
        _refuse(indices, length)
    if not indices.may_have_nulls:
        return Picks(words)
    known = target.output(len(words), words.dtype)
    args = (words, 1, *validity_of(indices, target), len(words), known)
    target.map(hidden.blank_hidden_values, words_for(len(words)), *args)
    return Picks(known, compact_validity(indices), indices._null_count)


_ONE_WORD = (LayoutKind.FIXED_SIZE, LayoutKind.DICTIONARY)


def _take_words(array: Array, indices: Array) -> Array | None:
    """`take` in one pass, which also checks the bounds, if each value is a word or a bit.

    None for other values, if there are nulls that need a second pass, or if an index is out of bounds.
    """
    if array.layout.kind not in _ONE_WORD or not array.length or not indices.length:
        return None
    spec = array.layout.buffers[1]
    is_bit = spec.extent is Extent.BITS
    if not is_bit and spec.dtype.itemsize not in WORDS:
        return None
    has_nulls = indices.may_have_nulls
    if has_nulls and (is_bit or array.may_have_nulls):
        return None
    target = target_of(array.device)
    picked, _ = own_words(indices, Role.DATA)
    bound = _bound(indices, array.length)
    if is_bit:
        values = _bits_within(target, array, picked, bound)
    else:
        given = validity_of(indices, target) if has_nulls else None
        values = _words_within(target, array, picked, bound, given)
    if values is None:
        return None
    validity, nulls = None, 0
    if has_nulls:
        validity, nulls = compact_validity(indices), indices._null_count
    elif array.may_have_nulls:
        validity, nulls = Picks(picked).validity(array)
    buffers = (validity, values)
    return Array.of_valid(array.type, indices.length, buffers, nulls, dictionary=array.dictionary)


def _words_within(
    target: Target, array: Array, picked: Items, bound: int, validity: tuple[Items, int] | None
) -> Buffer | None:
    """The values at indices, one word each; None if one that is not null is out of bounds."""
    words, _ = own_words(array, Role.DATA)
    if bound < len(words):
        words = words[:bound]
    out = target.output(len(picked), words.dtype)
    if validity is None:
        outside = target.reduce(selection.take_items, len(picked), picked, words, out)
    else:
        args = (picked, *validity, words, out)
        outside = target.reduce(selection.take_picked_items, len(picked), *args)
    return target.buffer(out) if outside == NOWHERE else None


def _bits_within(target: Target, array: Array, picked: Items, bound: int) -> Buffer | None:
    """The bits at indices; None if one is out of bounds."""
    out = bit_words(target, len(picked))
    bits = array.buffers[1]
    assert bits is not None
    args = (picked, bits.array, array.offset, bound, target.no_bits, out)
    count = target.reduce(selection.take_bits, len(out), *args)
    return bitmap_of(target, out, len(picked)) if count < selection.OUTSIDE else None
