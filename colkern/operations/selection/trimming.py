"""`trim`: removes everything from an array that its values do not show, before it leaves the process.

Columnar format 1.5: "Physical Memory Layout"; "Security Considerations" on what must not be sent.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import numpy as np

from colkern import schema as s
from colkern.arrays import Array
from colkern.bitmaps import (
    and_bits,
    bits_by,
    bytes_equal_to,
    count_set_bits,
    expand,
    move_bits,
    own_bits,
)
from colkern.kernels import Kernel, hidden, offsets, selection, views
from colkern.kernels.bitmaps import words_for
from colkern.layouts import ChildLength, Extent, LayoutKind, Role
from colkern.memory import Buffer
from colkern.operations.arguments import operation
from colkern.operations.convert import INLINE_MASKS, gather_views, windows
from colkern.operations.operands import buffer_addresses
from colkern.operations.own_slots import own_children
from colkern.operations.position_checks import require_valid
from colkern.operations.selection.concatenation import join_arrays
from colkern.operations.selection.dense_unions import assemble_dense_union
from colkern.operations.selection.engine import Copier, assemble
from colkern.operations.selection.runs import assemble_runs
from colkern.operations.selection.taking import take_positions
from colkern.operations.selection.words import repeat_bits, words_of
from colkern.targets import NOWHERE, Argument, Items, Target, on_its_device, target_of


@operation
@on_its_device
def trim(array: Array) -> Array:
    """The same values from slot 0 on, in buffers, children and data buffers no larger than needed.

    Offsets start at 0, and data that no value shows is zero (or removed): under nulls and in their
    children, in the slots of a union's other children, between the elements or bytes that views refer
    to, behind inline values, and behind the last bit of bitmaps. A child with a bitmap of its own is
    null there. Parts that are trimmed already are shared, not copied.

    Type ids, offsets of dense unions, run ends and dictionaries are kept, also where they are hidden;
    offsets are shifted to start at 0.
    """
    require_valid(array)
    return _trimmed(array, None)


def without_surplus(array: Array) -> Array:
    """The array itself, if its buffers have only its own slots; else trimmed: see `trim`.

    Slices share whole buffers. A dictionary stays whole, as other arrays may share it.

    Raises:
        InvalidArrowError: If it is a slice of an array that points outside its own memory.
    """
    return trim(array) if _has_surplus(array) else array


def _has_surplus(array: Array) -> bool:
    """Whether the array is a slice, judged by counts and sizes; children are tested, too."""
    slots, rule, storage = array.length, array.layout.child_length, array.type.storage
    if array.offset:
        return True
    for spec, buffer in zip(array.layout.buffers, array.buffers, strict=False):
        if buffer is None or spec.extent is Extent.FREE:
            continue
        if buffer.size > spec.min_bytes(slots):
            return True
    if rule is ChildLength.RUNS:
        return _last_run_end(array) not in (None, slots)
    if isinstance(storage, s.FixedSizeList):
        slots *= storage.list_size
    elif rule is not ChildLength.SAME:
        return False
    return any(child.length > slots for child in array.children)


def _last_run_end(array: Array) -> int | None:
    ends = array.children[0]
    if not ends.length:
        return None
    return target_of(ends.device).item(ends.items(Role.DATA), ends.length - 1)


def _trimmed(array: Array, above: Buffer | None) -> Array:
    return assemble(Trimmed(array, above), array)


class Trimmed(Copier):
    """All slots of one array, from slot 0 on, without anything hidden.

    Args:
        array: A checked array, which every verb gets.
        above: The slots that the parents show, as bits from bit 0 on; None if they show all.
    """

    __slots__ = ("array", "nulls", "own_validity", "target", "visible")

    def __init__(self, array: Array, above: Buffer | None) -> None:
        self.array = array
        self.target = target_of(array.device)
        self.visible = above
        """The slots that are valid here and visible from above, from bit 0 on; None if all are."""
        # Counted, since data that leaves the process has no bitmap without a null.
        self.nulls = array.null_count
        self.own_validity: Buffer | None = None
        if array.layout.has_validity and self.nulls:
            bitmap = array.buffers[0]
            assert bitmap is not None
            visible = self._clean_bits(bitmap)
            if above is not None:
                visible, self.nulls = and_bits(visible, 0, above, 0, array.length)
            # A hidden slot becomes null: the reader must not learn whether it had a value.
            self.visible = self.own_validity = visible
        elif above is not None and count_set_bits(above, 0, array.length) == array.length:
            self.visible = None

    @property
    def count(self) -> int:
        return self.array.length

    def validity(self, array: Array) -> tuple[Buffer | None, int]:
        return self.own_validity, self.nulls

    def bits(self, array: Array) -> Buffer:
        if array.length == 0:
            return self._no_bytes()
        data = array.buffers[1]
        assert data is not None
        return self._seen(self._clean_bits(data))

    def items(self, array: Array, role: Role) -> Buffer:
        target, items = self.target, array.items(role)
        if not items.nbytes:
            return self._no_bytes()
        # A hidden slot of a union keeps its type id, since 0 need not be the code of a child.
        if self.visible is not None and role is not Role.TYPE_IDS:
            words, width = words_of(items)
            if self._finds_hidden(hidden.first_hidden_value, words, width):
                items = target.output(len(words), words.dtype)
                args = (words, width, self._bitmap, 0, array.length, items)
                target.map(hidden.blank_hidden_values, words_for(array.length), *args)
        return target.buffer(items)

    def byte_ranges(self, array: Array, validity: Buffer | None) -> tuple[Buffer, Buffer]:
        target = self.target
        source = array.buffer(Role.BYTES) or self._no_bytes()
        if not self._hides_values():
            rebased, first, last = self._rebased_offsets()
            return target.buffer(rebased), source[first:last]
        starts = self._visible_offsets()
        data = target.output(target.item(starts, array.length), np.uint8)
        own = array.items(Role.OFFSETS)
        args = (self._own_positions(), own, source.address, 1, starts, data)
        target.map(selection.take_bytes, array.length, *args, balance=starts)
        return target.buffer(starts), target.buffer(data)

    def child_ranges(self, array: Array, validity: Buffer | None) -> tuple[Buffer, Array]:
        target, child = self.target, array.children[0]
        if not self._hides_values():
            rebased, first, last = self._rebased_offsets()
            return target.buffer(rebased), _trimmed(child.slice(first, last - first), None)
        starts = self._visible_offsets()
        places = target.output(target.item(starts, array.length), np.uint64)
        args = (self._own_positions(), array.items(Role.OFFSETS), starts, places)
        target.map(selection.take_ranges, array.length, *args, balance=starts)
        elements = take_positions(child, places)
        return target.buffer(starts), _trimmed(elements, None)

    def fixed_ranges(self, array: Array, size: int) -> Array:
        (child,) = own_children(array, size)
        if self.visible is None or not child.length:
            return _trimmed(child, None)
        return _trimmed(child, repeat_bits(self.target, self.visible, 0, array.length, size))

    def children(self, array: Array) -> Sequence[Array]:
        own = own_children(array)
        if array.layout.kind is LayoutKind.STRUCT:
            return [_trimmed(child, self.visible) for child in own]
        # Hidden where a slot of the union shows another child.
        storage = array.type.storage
        assert isinstance(storage, s.Union)
        type_ids = array.items(Role.TYPE_IDS)
        children = []
        for code, child in zip(storage.type_codes, own, strict=True):
            shown = bytes_equal_to(self.target, type_ids, code)
            children.append(_trimmed(child, self._seen(shown)))
        return children

    def views(self, array: Array) -> Sequence[Buffer | None]:
        return trimmed_views(array, self._bitmap)

    def list_views(self, array: Array) -> tuple[Buffer, Buffer, Array]:
        target, child = self.target, array.children[0]
        sizes_buffer = self.items(array, Role.SIZES)
        begins = array.items(Role.OFFSETS)
        sizes = sizes_buffer.view(begins.dtype)
        used = sizes > 0
        moved = target.allocate(array.length, begins.dtype)
        if not used.any():
            return target.buffer(moved), sizes_buffer, _trimmed(child.slice(0, 0), None)
        starts, lengths = begins[used].astype(np.int64), sizes[used].astype(np.int64)
        first, last = int(starts.min()), int((starts + lengths).max())
        moved[used] = starts - first
        elements = child.slice(first, last - first)
        reached = bits_reached(target, starts - first, starts - first + lengths, elements.length)
        return target.buffer(moved), sizes_buffer, _trimmed(elements, reached)

    @property
    def _bitmap(self) -> Items:
        """The visible slots in the form for kernels: zero bytes if all are visible."""
        return self.target.no_bits if self.visible is None else self.visible.array

    def _seen(self, bits: Buffer) -> Buffer:
        """The bits, zero in hidden slots."""
        if self.visible is None:
            return bits
        return and_bits(bits, 0, self.visible, 0, self.array.length)[0]

    def _clean_bits(self, bitmap: Buffer) -> Buffer:
        """The bits of the array's slots from bit 0 on, zeros behind them; shared if that is so already."""
        offset, length = self.array.offset, self.array.length
        own = own_bits(bitmap, offset, length)
        if length % 8 == 0 or self.target.item(own.array, own.size - 1) >> length % 8 == 0:
            return own
        return move_bits(bitmap, offset, length)

    def _finds_hidden(self, kernel: Kernel, *args: Argument) -> bool:
        """Whether a kernel finds a hidden slot of the kind that it searches for."""
        length = self.array.length
        slot = self.target.reduce(kernel, words_for(length), *args, self._bitmap, 0, length)
        return bool(slot != NOWHERE)

    def _no_bytes(self) -> Buffer:
        """A buffer without bytes, on the array's device."""
        return self.target.buffer(self.target.allocate(0, np.uint8))

    def _own_positions(self) -> Items:
        """The numbers of the array's own slots (uint64, read-only)."""
        return self.target.positions(self.array.length).view(np.uint64)

    def _hides_values(self) -> bool:
        """Whether a hidden slot has a value that is not empty."""
        return self.visible is not None and self._finds_hidden(
            hidden.first_hidden_length, self.array.items(Role.OFFSETS)
        )

    def _rebased_offsets(self) -> tuple[Items, int, int]:
        """Offsets from 0 on, and the start of the first value and the end of the last one."""
        target, items = self.target, self.array.items(Role.OFFSETS)
        ((first, last),) = target.ends(items)
        if first:
            out = target.output(len(items), items.dtype)
            target.map(offsets.rebase_offsets, len(items), items, first, out)
            items = out
        return items, first, last

    def _visible_offsets(self) -> Items:
        """Offsets from 0 on, without room for hidden values; read-only."""
        target, items, count = self.target, self.array.items(Role.OFFSETS), self.array.length
        lengths = target.output(count, np.int64)
        target.map(hidden.visible_lengths, count, items, self._bitmap, 0, lengths)
        return target.scan(lengths, items.dtype)


@assemble_dense_union.register
def _trim_dense_union(how: Trimmed, array: Array) -> Array:
    """The children, cut from the first value that a slot has to the last one."""
    target, length = how.target, array.length
    storage = array.type.storage
    assert isinstance(storage, s.Union)
    type_ids, places = array.items(Role.TYPE_IDS), array.items(Role.OFFSETS)
    seen = target.allocate(length, np.bool_) | True
    if how.visible is not None:
        seen = expand(target, how.visible, 0, length)
    moved = target.output(length, np.int32)
    moved[:] = places
    children = []
    for code, child in zip(storage.type_codes, array.children, strict=True):
        own = type_ids == code
        chosen = places[own]
        # A hidden slot keeps an offset, too: it must be within the child, and in increasing order.
        first, last = (int(chosen.min()), int(chosen.max()) + 1) if len(chosen) else (0, 0)
        moved[own] -= first
        shown = places[own & seen].astype(np.int64) - first
        reached = bits_reached(target, shown, shown + 1, last - first)
        children.append(_trimmed(child.slice(first, last - first), reached))
    buffers = (target.buffer(type_ids), target.buffer(moved))
    return Array.of_valid(array.type, length, buffers, 0, children)


@assemble_runs.register
def _trim_runs(how: Trimmed, array: Array) -> Array:
    """The runs; those whose slots are all hidden become hidden."""
    target = how.target
    run_ends, values = array.children
    last = _last_run_end(array) or 0
    if array.offset or last != array.length or values.length != run_ends.length:
        run_ends, values = join_arrays([array]).children
    shown = None
    if how.visible is not None:
        ends = run_ends.items(Role.DATA)
        args = (ends, how.visible.array)
        shown = bits_by(target, hidden.runs_with_set_bits, len(ends), args)
    children = (_trimmed(run_ends, None), _trimmed(values, shown))
    return Array.of_valid(array.type, array.length, (), 0, children)


def trimmed_views(array: Array, visible: Items) -> Sequence[Buffer | None]:
    """The views of visible slots, and data buffers with only the bytes that these refer to.

    Args:
        array: A checked array of views.
        visible: The visible slots as a bitmap from bit 0 on; zero bytes if all are.
    """
    target = target_of(array.device)
    items = array.items(Role.VIEWS)
    starts = target.output(array.length + 1, np.int64)
    shown = (items.view(np.uint64), visible, 0)
    used = target.reduce(views.long_lengths, array.length, *shown, starts[1:])
    # If it is as much or more, values share bytes, and would be written once each.
    if used >= sum(b.size for b in array.data_buffers if b is not None):
        words = items.view(np.int32)
        return [_shown_views(array, words, visible), *_shown_data(array, words, starts[1:])]
    target.accumulate(starts)
    data = gather_views(array, target, starts, used)
    masks = target.table(INLINE_MASKS, np.uint64)
    moved = target.output(2 * array.length, np.uint64)
    args = (*shown, masks, starts, data, views.WINDOW_BITS, moved)
    target.map(hidden.repoint_views, array.length, *args)
    return [target.buffer(moved), *windows(target.buffer(data), starts)]


def bits_reached(target: Target, starts: Items, stops: Items, length: int) -> Buffer | None:
    """Which of `length` items are in one of the ranges (int64[n], in bounds); None if all are."""
    if int((stops - starts).sum()) == length and bool((starts[1:] == stops[:-1]).all()):
        return None
    starts.sort()
    stops.sort()
    return bits_by(target, hidden.covered_bits, length, (starts, stops, length))


def _shown_views(array: Array, words: Items, visible: Items) -> Buffer:
    """The views without bytes that do not belong to their values; shared if that is so already."""
    target, length = target_of(array.device), array.length
    if not length:
        return target.buffer(target.allocate(0, np.uint8))
    args = (visible, 0, target.table(buffer_addresses(array), np.uint64))
    unlike = target.reduce(views.first_view_unlike_its_value, length, words, *args)
    if unlike == NOWHERE and len(visible):
        pairs = (words.view(np.uint64), 2, visible, 0, length)
        unlike = target.reduce(hidden.first_hidden_value, words_for(length), *pairs)
    if unlike != NOWHERE:
        out = target.output(4 * length, np.int32)
        target.map(hidden.show_views, length, words, *args, out)
        words = out
    return target.buffer(words)


def _shown_data(array: Array, words: Items, lengths: Items) -> Sequence[Buffer | None]:
    """The data buffers, with zeros where no view refers.

    Args:
        words: Its views (int32[4 n]).
        lengths: The number of bytes of each slot in the data buffers (int64[n]); 0 for inline values.
    """
    target, buffers = target_of(array.device), array.data_buffers
    begins = list(accumulate([0 if b is None else b.size for b in buffers], initial=0))
    if not begins[-1]:
        return buffers
    long = lengths > 0
    numbers, places = words[2::4][long], words[3::4][long].astype(np.int64)
    starts = target.table(begins, np.int64)[numbers] + places
    reached = bits_reached(target, starts, starts + lengths[long], begins[-1])
    if reached is None:
        return buffers
    return [
        b if b is None else _blanked(target, b, reached, begin)
        for b, begin in zip(buffers, begins, strict=False)
    ]


def _blanked(target: Target, data: Buffer, reached: Buffer, offset: int) -> Buffer:
    """The bytes, with zeros where bits from `offset` on are clear; shared if that is so already."""
    args = (data.array, 1, reached.array, offset, data.size)
    if target.reduce(hidden.first_hidden_value, words_for(data.size), *args) == NOWHERE:
        return data
    out = target.output(data.size, np.uint8)
    target.map(hidden.blank_hidden_values, words_for(data.size), *args, out)
    return target.buffer(out)
