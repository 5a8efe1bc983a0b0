"""`trim`: what an array shows, and nothing else: how it leaves the process.

Columnar format 1.5: "Physical Memory Layout"; "Security Considerations" on what must not be sent.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from colkern import schema as s
from colkern.arrays import Array
from colkern.kernels import hidden, offsets, selection, views
from colkern.kernels.bitmaps import words_for
from colkern.layouts import Extent, Role
from colkern.memory import Buffer
from colkern.operations.booleans import expand
from colkern.operations.concatenation import join_arrays
from colkern.operations.patterns import bitmap_of
from colkern.operations.selection import repeat_bits, take_positions, words_of
from colkern.operations.targets import NOWHERE, buffer_addresses, target_of
from colkern.operations.union_slots import slots_with
from colkern.operations.validation import require_valid
from colkern.operations.validity import and_bits, count_set_bits, move_bits

_WINDOW_BITS = views.WINDOW_BITS

ALL_VISIBLE = None
"""In place of a bitmap: no slot is hidden."""


def trim(array: Array) -> Array:
    """The same values from slot 0 on, in buffers, children and data buffers no larger than needed.

    Offsets start at 0, and there are zeros (or nothing) wherever no value of the array shows what
    stands: under nulls and below them, in the slots of a union's other children, between the elements
    or bytes that views point at, behind inline values, and behind the last bit of bitmaps. Where a
    child has a bitmap of its own, it is null there too. What is so already is shared, not copied.

    Type ids, the offsets of dense unions, run ends and dictionaries stay what they are (offsets moved,
    so that they start at 0), also where they are hidden.

    Args:
        array: Any array.

    Raises:
        InvalidArrowError: If the array points outside its own memory.
    """
    require_valid(array)
    return _trimmed(array, ALL_VISIBLE)


@dataclass(frozen=True, slots=True)
class _Slots:
    """The slots of one array and which of them are visible.

    Args:
        array: The array.
        target: Where its bytes are.
        visible: The slots that are valid here and above, from bit 0 on; or `ALL_VISIBLE`.
    """

    array: Array
    target: Any
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
            return self.target.table([], np.uint8)
        return self.visible.array


Parts = tuple[Sequence[Buffer | None], Sequence[Array]]


def _trimmed(array: Array, above: Buffer | None) -> Array:
    """The array trimmed, where `above` tells the slots that are visible from above.

    Args:
        array: A checked array.
        above: A bitmap from bit 0 on, or `ALL_VISIBLE`.
    """
    target = target_of(array.device)
    validity, visible, nulls = None, above, array.null_count
    if array.layout.has_validity and nulls:
        bitmap = array.buffer(Role.VALIDITY)
        assert bitmap is not None
        visible = _own_bits(target, bitmap, array.offset, array.length)
        if above is not ALL_VISIBLE:
            visible, seen = and_bits(visible, 0, above, 0, array.length)
            nulls = array.length - seen
        # A hidden slot is null: whether the value there was is not for the reader.
        validity = visible
    elif visible is not ALL_VISIBLE and count_set_bits(visible, 0, array.length) == array.length:
        visible = ALL_VISIBLE
    parts = _TRIM[array.layout.name](_Slots(array, target, visible))
    buffers, children = parts
    if array.layout.has_validity:
        buffers = [validity, *buffers]
    made = Array(array.type, array.length, buffers, children, array.dictionary, null_count=nulls)
    made._checked = True
    return made


def _own_bits(target: Any, bitmap: Buffer, offset: int, length: int) -> Buffer:
    """Bits `[offset, offset + length)` from bit 0 on, zeros behind; shared if they are so already."""
    size = (length + 7) // 8
    first = offset // 8
    if offset % 8 == 0 and (
        length % 8 == 0 or target.item(bitmap.array, first + size - 1) >> length % 8 == 0
    ):
        return bitmap[first : first + size]
    return move_bits(bitmap, offset, length)


def _null(slots: _Slots) -> Parts:
    return [], []


def _fixed(slots: _Slots) -> Parts:
    array, spec = slots.array, slots.array.layout.buffers[1]
    if spec.extent is not Extent.BITS:
        return [_items(slots, Role.DATA)], []
    if array.length == 0:
        return [slots.empty_buffer()], []
    data = array.buffers[1]
    assert data is not None
    bits = _own_bits(slots.target, data, array.offset, array.length)
    if slots.visible is not ALL_VISIBLE:
        bits, _ = and_bits(bits, 0, slots.visible, 0, array.length)
    return [bits], []


def _items(slots: _Slots, role: Role) -> Buffer:
    """The items of a one-item-a-slot buffer, zeros in hidden slots."""
    target, items = slots.target, slots.array.items(role)
    words, width = words_of(items)
    if not len(words):
        return slots.empty_buffer()
    if slots.visible is not ALL_VISIBLE and slots.finds_hidden(
        hidden.first_hidden_value, words, width
    ):
        out = target.output(len(words), words.dtype)
        bits = (slots.visible.array, 0, slots.array.length)
        count = words_for(slots.array.length)
        target.map(hidden.blank_hidden_values, count, words, width, *bits, out)
        words = out
    made: Buffer = target.buffer(words)
    return made


def _rebased_offsets(slots: _Slots) -> tuple[Any, int, int]:
    """Offsets from 0 on, and where the first value begins and the last one ends."""
    target, items = slots.target, slots.array.items(Role.OFFSETS)
    first, last = target.item(items, 0), target.item(items, slots.array.length)
    if first:
        out = target.output(len(items), items.dtype)
        target.map(offsets.rebase_offsets, len(items), items, first, out)
        items = out
    return items, first, last


def _hides_values(slots: _Slots) -> bool:
    """Whether a hidden slot has a value that is not empty."""
    return slots.visible is not ALL_VISIBLE and slots.finds_hidden(
        hidden.first_hidden_length, slots.array.items(Role.OFFSETS)
    )


def _visible_offsets(slots: _Slots) -> Any:
    """Offsets from 0 on that leave no room for hidden values."""
    target, items, count = slots.target, slots.array.items(Role.OFFSETS), slots.array.length
    lengths = target.output(count, np.int64)
    target.map(hidden.visible_lengths, count, items, slots.bitmap, 0, lengths)
    return target.scan(lengths, items.dtype)


def _positions(slots: _Slots) -> Any:
    return slots.target.frozen(slots.target.positions(slots.array.length)).view(np.uint64)


def _binary(slots: _Slots) -> Parts:
    array, target = slots.array, slots.target
    source = array.buffer(Role.BYTES) or slots.empty_buffer()
    if not _hides_values(slots):
        rebased, first, last = _rebased_offsets(slots)
        return [target.buffer(rebased), source[first:last]], []
    starts = _visible_offsets(slots)
    data = target.output(target.item(starts, array.length), np.uint8)
    own = array.items(Role.OFFSETS)
    args = (_positions(slots), own, source.address, 1, target.frozen(starts), data)
    target.map(selection.take_bytes, array.length, *args, balance=starts)
    return [target.buffer(starts), target.buffer(data)], []


def _list(slots: _Slots) -> Parts:
    array, target = slots.array, slots.target
    child = array.children[0]
    if not _hides_values(slots):
        rebased, first, last = _rebased_offsets(slots)
        elements = child.slice(first, last - first)
        return [target.buffer(rebased)], [_trimmed(elements, ALL_VISIBLE)]
    starts = _visible_offsets(slots)
    places = target.output(target.item(starts, array.length), np.uint64)
    own = array.items(Role.OFFSETS)
    args = (_positions(slots), own, target.frozen(starts), places)
    target.map(selection.take_ranges, array.length, *args, balance=starts)
    elements = take_positions(child, target.frozen(places))
    return [target.buffer(starts)], [_trimmed(elements, ALL_VISIBLE)]


def _list_view(slots: _Slots) -> Parts:
    array, target = slots.array, slots.target
    sizes_buffer = _items(slots, Role.SIZES)
    begins = array.items(Role.OFFSETS)
    sizes = sizes_buffer.view(begins.dtype)
    used = sizes > 0
    if not used.any():
        nowhere = target.buffer(target.allocate(array.length, begins.dtype))
        return [nowhere, sizes_buffer], [_trimmed(array.children[0].slice(0, 0), ALL_VISIBLE)]
    starts, lengths = begins[used].astype(np.int64), sizes[used].astype(np.int64)
    first, last = int(starts.min()), int((starts + lengths).max())
    moved = target.allocate(array.length, begins.dtype)
    moved[used] = starts - first
    child = array.children[0].slice(first, last - first)
    reached = _reached(target, starts - first, starts - first + lengths, child.length)
    return [target.buffer(moved), sizes_buffer], [_trimmed(child, reached)]


def _reached(target: Any, starts: Any, stops: Any, length: int) -> Buffer | None:
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


def _fixed_list(slots: _Slots) -> Parts:
    array, target = slots.array, slots.target
    storage = array.type.storage
    assert isinstance(storage, s.FixedSizeList)
    size = storage.list_size
    child = array.children[0].slice(array.offset * size, array.length * size)
    if slots.visible is ALL_VISIBLE or not child.length:
        return [], [_trimmed(child, ALL_VISIBLE)]
    return [], [_trimmed(child, repeat_bits(target, slots.visible, 0, array.length, size))]


def _struct(slots: _Slots) -> Parts:
    array = slots.array
    cut = [child.slice(array.offset, array.length) for child in array.children]
    return [], [_trimmed(child, slots.visible) for child in cut]


def _sparse_union(slots: _Slots) -> Parts:
    array, target = slots.array, slots.target
    storage = array.type.storage
    assert isinstance(storage, s.Union)
    type_ids = array.items(Role.TYPE_IDS)
    children = []
    for code, child in zip(storage.type_codes, array.children, strict=True):
        shown = bitmap_of(target, slots_with(target, type_ids, code), array.length)
        if slots.visible is not ALL_VISIBLE:
            shown, _ = and_bits(shown, 0, slots.visible, 0, array.length)
        children.append(_trimmed(child.slice(array.offset, array.length), shown))
    # A hidden slot of a union keeps its type id: zero need not be a child's.
    return [target.buffer(type_ids)], children


def _dense_union(slots: _Slots) -> Parts:
    array, target = slots.array, slots.target
    storage = array.type.storage
    assert isinstance(storage, s.Union)
    type_ids, places = array.items(Role.TYPE_IDS), array.items(Role.OFFSETS)
    seen = _expanded(slots)
    moved = target.output(array.length, np.int32)
    moved[:] = places
    children = []
    for code, child in zip(storage.type_codes, array.children, strict=True):
        own = type_ids == code
        chosen = places[own]
        # A hidden slot keeps its place too: it must be one that the child has, in increasing order.
        first, last = (int(chosen.min()), int(chosen.max()) + 1) if len(chosen) else (0, 0)
        moved[own] -= first
        shown = places[own & seen].astype(np.int64) - first
        reached = _reached(target, shown, shown + 1, last - first)
        children.append(_trimmed(child.slice(first, last - first), reached))
    return [target.buffer(type_ids), target.buffer(moved)], children


def _expanded(slots: _Slots) -> Any:
    """The visible slots as booleans."""
    array, target = slots.array, slots.target
    if slots.visible is ALL_VISIBLE:
        return target.allocate(array.length, np.bool_) | True
    return expand(target, slots.visible, 0, array.length)


def _runs(slots: _Slots) -> Parts:
    array, target = slots.array, slots.target
    run_ends, values = array.children
    runs = run_ends.length
    last = target.item(run_ends.items(Role.DATA), runs - 1) if runs else 0
    if array.offset or last != array.length or values.length != runs:
        run_ends, values = join_arrays([array]).children
    shown = ALL_VISIBLE
    if slots.visible is not ALL_VISIBLE:
        ends = run_ends.items(Role.DATA)
        bits = target.output((len(ends) + 7) // 8, np.uint8)
        target.map(hidden.runs_with_set_bits, len(bits), ends, slots.visible.array, bits)
        shown = target.buffer(bits)
    return [], [_trimmed(run_ends, ALL_VISIBLE), _trimmed(values, shown)]


def _views(slots: _Slots) -> Parts:
    array, target = slots.array, slots.target
    words = array.items(Role.VIEWS).view(np.int32)
    lengths = target.output(array.length, np.int64)
    target.map(hidden.visible_long_lengths, array.length, words, slots.bitmap, 0, lengths)
    used, there = target.total(lengths), sum(b.size for b in array.data_buffers if b is not None)
    # More than is there: values share bytes, and would be written once each.
    if used >= there:
        return [_shown_views(slots, words), *_shown_data(slots, words, lengths)], []
    starts = target.frozen(target.scan(lengths, np.int64))
    data = target.output(used, np.uint8)
    base, table = target.address(words), target.table(buffer_addresses(array), np.uint64)
    target.map(views.decode_views, array.length, words, base, table, starts, data)
    moved = target.output(4 * array.length, np.int32)
    args = (words, slots.bitmap, 0, starts, target.frozen(data), _WINDOW_BITS, moved)
    target.map(hidden.repoint_views, array.length, *args)
    return [target.buffer(moved), *_windows(target.buffer(data), starts)], []


def _shown_views(slots: _Slots, words: Any) -> Buffer:
    """The views without anything that is not their value's; shared if they are so already."""
    array, target = slots.array, slots.target
    if not array.length:
        return slots.empty_buffer()
    args = (slots.bitmap, 0, target.table(buffer_addresses(array), np.uint64))
    unlike = target.reduce(views.first_view_unlike_its_value, array.length, words, *args)
    hides = slots.visible is not ALL_VISIBLE and slots.finds_hidden(
        hidden.first_hidden_value, words.view(np.uint64), 2
    )
    if unlike != NOWHERE or hides:
        out = target.output(4 * array.length, np.int32)
        target.map(hidden.show_views, array.length, words, *args, out)
        words = out
    made: Buffer = target.buffer(words)
    return made


def _shown_data(slots: _Slots, words: Any, lengths: Any) -> list[Buffer | None]:
    """The data buffers, with zeros where no view points.

    Args:
        slots: The slots.
        words: Their views (int32[4 n]).
        lengths: The bytes of each slot in the data buffers (int64[n]), 0 if it has none.
    """
    target, buffers = slots.target, slots.array.data_buffers
    begins = [0, *itertools.accumulate(0 if b is None else b.size for b in buffers)]
    if not begins[-1]:
        return list(buffers)
    long = lengths > 0
    numbers, places = words[2::4][long], words[3::4][long].astype(np.int64)
    starts = target.table(begins, np.int64)[numbers] + places
    reached = _reached(target, starts, starts + lengths[long], begins[-1])
    if reached is ALL_VISIBLE:
        return list(buffers)
    return [
        b if b is None else _blanked(target, b, reached, begin)
        for b, begin in zip(buffers, begins, strict=False)
    ]


def _blanked(target: Any, data: Buffer, reached: Buffer, offset: int) -> Buffer:
    """The bytes with zeros where the bits from `offset` on are not set; shared if they are so already."""
    args = (data.array, 1, reached.array, offset, data.size)
    if target.reduce(hidden.first_hidden_value, words_for(data.size), *args) == NOWHERE:
        return data
    out = target.output(data.size, np.uint8)
    target.map(hidden.blank_hidden_values, words_for(data.size), *args, out)
    made: Buffer = target.buffer(out)
    return made


def _windows(data: Buffer, starts: Any) -> list[Buffer]:
    """The gathered bytes as data buffers: each from its window's begin to its last value's end."""
    window = 1 << _WINDOW_BITS
    made = []
    for begin in range(0, data.size, window):
        last = int((starts[:-1] < begin + window).sum())
        made.append(data[begin : int(starts[last])])
    return made


_TRIM: dict[str, Callable[[_Slots], Parts]] = {
    "null": _null,
    "fixed-size primitive": _fixed,
    "dictionary-encoded": _fixed,
    "variable-size binary": _binary,
    "variable-size binary view": _views,
    "variable-size list": _list,
    "variable-size list-view": _list_view,
    "fixed-size list": _fixed_list,
    "struct": _struct,
    "sparse union": _sparse_union,
    "dense union": _dense_union,
    "run-end encoded": _runs,
}
