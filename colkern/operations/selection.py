"""`take`: values by position, for every layout.

Columnar format 1.5: "Physical Memory Layout".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, overload

import numpy as np

from colkern import schema as s
from colkern.arrays import Array, RecordBatch
from colkern.bitmaps import and_bits, bit_words, bitmap_of
from colkern.kernels import hidden, selection
from colkern.kernels.bitmaps import words_for
from colkern.layouts import Extent, LayoutKind, Role
from colkern.memory import EMPTY, HOST, Buffer
from colkern.operations.arguments import operation
from colkern.operations.creation import nulls
from colkern.operations.operands import validity_of
from colkern.operations.patterns import measure
from colkern.operations.validation import require_valid
from colkern.operations.validity import compact_validity
from colkern.targets import NOWHERE, Target, target_of

_WORDS = {size: np.dtype(f"u{size}") for size in (1, 2, 4, 8)}


@overload
def take(data: Array, indices: Array) -> Array: ...
@overload
def take(data: RecordBatch, indices: Array) -> RecordBatch: ...
@operation
def take(data: Array | RecordBatch, indices: Array) -> Array | RecordBatch:
    """The values at `indices`, which may repeat and come in any order; null for a null index.

    The values are copied (views: the views alone; dictionaries: the indices alone; list-views: offsets
    and sizes alone). Unions and run-end encoded arrays have no nulls of their own: there the child's
    value is null, or the run's.

    Args:
        data: Any array, or a batch, of which the rows are taken.
        indices: An integer array on the same device; or nulls without a type, as of `array([])`.

    Raises:
        TypeError: If `indices` are not integers.
        IndexError: If an index is negative or not less than `len(data)`.
        InvalidArrowError: If an array points outside its own memory.
        LimitExceededError: If offsets or run ends become too large for the type.
    """
    columns = data.columns if isinstance(data, RecordBatch) else [data]
    if isinstance(indices.type, s.Null):
        # As of `array([])`, whose values have no type.
        indices = nulls(indices.length, s.int64(), columns[0].device if columns else HOST)
    if not isinstance(indices.type, s.Int):
        raise TypeError(f"indices: expected integers, got {indices.type}")
    for column in columns:
        if not column._checked:
            require_valid(column)
    if isinstance(data, Array) and (made := _take_words(data, indices)) is not None:
        return made
    picks = _checked_picks(indices, data.length)
    taken = [
        take_picks(column, picks)
        if data.length
        else nulls(indices.length, column.type, column.device)
        for column in columns
    ]
    if isinstance(data, RecordBatch):
        return RecordBatch(data.schema, taken, picks.count)
    return taken[0]


@dataclass(frozen=True, slots=True)
class Picks:
    """Positions of values to take.

    Args:
        words: Unsigned integers of any width, read-only, where the values are; all of them in bounds.
        validity: Which of the picks are not null, as a bitmap from bit 0 on; None if none is.
        null_count: How many are null.
    """

    words: Any
    validity: Buffer | None = None
    null_count: int = 0

    @property
    def count(self) -> int:
        """How many picks there are."""
        return len(self.words)

    def bitmap(self, target: Target) -> Any:
        """The validity as kernels take it: zero bytes if no pick is null."""
        return target.no_bits if self.validity is None else self.validity.array

    def validity_at(self, target: Target, slots: Any) -> tuple[Buffer | None, int]:
        """Validity and null count of the picks at `slots` (unsigned, read-only) alone."""
        if self.validity is None:
            return None, 0
        bits, valid = gathered_bits(target, self.validity, 0, Picks(slots))
        return bits, len(slots) - valid


def _bound(indices: Array, length: int) -> int:
    """What indices into `length` values are less than, seen as unsigned: no negative one is then."""
    assert isinstance(indices.type, s.Int)
    return min(length, 1 << (indices.type.bit_width - indices.type.signed))


def _checked_picks(indices: Array, length: int) -> Picks:
    """Indices as picks from `length` values."""
    target = target_of(indices.device)
    items = indices.items(Role.DATA)
    words = items.view(_WORDS[items.dtype.itemsize])
    bound = _bound(indices, length)
    validity = validity_of(indices, target)
    if indices.length and target.reduce(selection.largest_index, len(words), words) >= bound:
        # It may stand under a null.
        kernel = selection.first_index_out_of_bounds
        slot = target.reduce(kernel, indices.length, items, *validity, length)
        if slot != NOWHERE:
            raise IndexError(
                f"indices: slot {slot} has {target.item(items, slot)}, there are {length} values"
            )
    if not indices.null_count:
        return Picks(words)
    known = target.output(len(words), words.dtype)
    args = (words, 1, *validity, len(words), known)
    target.map(hidden.blank_hidden_values, words_for(len(words)), *args)
    return Picks(target.frozen(known), compact_validity(indices), indices.null_count)


def _take_words(array: Array, indices: Array) -> Array | None:
    """`take` in one pass, where a value is a word or a bit; None where that is not so, or not in one
    pass, or an index is out of bounds.
    """
    if array.layout.kind not in _ONE_WORD or not array.length or not indices.length:
        return None
    spec = array.layout.buffers[1]
    is_bit = spec.extent is Extent.BITS
    if not is_bit and spec.dtype.itemsize not in _WORDS:
        return None
    nulls = indices.null_count
    if nulls and (is_bit or array.null_count):
        return None
    target = target_of(array.device)
    picked, _ = own_words(indices, Role.DATA)
    take_them = _bits_within if is_bit else _words_within
    values = take_them(target, array, indices, picked, _bound(indices, array.length))
    if values is None:
        return None
    validity = None
    if nulls:
        validity = compact_validity(indices)
    elif array.null_count:
        validity, nulls = _validity(array, Picks(picked))
    buffers = [validity, values]
    made = Array(array.type, indices.length, buffers, dictionary=array.dictionary, null_count=nulls)
    made._checked = True
    return made


_ONE_WORD = (LayoutKind.FIXED_SIZE, LayoutKind.DICTIONARY)


def _words_within(
    target: Target, array: Array, indices: Array, picked: Any, bound: int
) -> Buffer | None:
    """The values at some indices, one word each; None if one is out of bounds."""
    words, _ = own_words(array, Role.DATA)
    if bound < len(words):
        words = words[:bound]
    out = target.output(len(picked), words.dtype)
    if indices.null_count:
        args = (picked, *validity_of(indices, target), words, out)
        found = target.reduce(selection.take_picked_items, len(picked), *args)
    else:
        found = target.reduce(selection.take_items, len(picked), picked, words, out)
    return target.buffer(out) if found == NOWHERE else None


def _bits_within(
    target: Target, array: Array, indices: Array, picked: Any, bound: int
) -> Buffer | None:
    """The bits at some indices; None if one is out of bounds."""
    out = bit_words(target, len(picked))
    bits = array.buffers[1]
    assert bits is not None
    args = (picked, bits.array, array.offset, bound, target.no_bits, out)
    found = target.reduce(selection.take_bits, len(out), *args)
    return bitmap_of(target, out, len(picked)) if found < selection.OUTSIDE else None


def take_positions(array: Array, positions: Any) -> Array:
    """The values of a checked array at `positions` (int64[n], read-only, on its device, in bounds)."""
    return take_picks(array, Picks(positions.view(np.uint64)))


def take_picks(array: Array, picks: Picks) -> Array:
    """The values of a checked array at some picks. Where there are none, nothing is read of it."""
    made = _TAKE[array.layout.kind](array, picks)
    made._checked = True
    return made


def null_where(array: Array, validity: Buffer, count: int) -> Array:
    """A checked array with more nulls: wherever a bit is not set.

    Args:
        array: The array, which starts at slot 0 of its buffers.
        validity: A bitmap from bit 0 on.
        count: How many of its bits are not set.
    """
    if count == 0 or array.layout.kind is LayoutKind.NULL:
        return array
    if not array.layout.has_validity:
        target = target_of(array.device)
        every = target.frozen(target.positions(array.length)).view(np.uint64)
        return take_picks(array, Picks(every, validity, count))
    if array.null_count:
        own = array.buffer(Role.VALIDITY)
        assert own is not None
        validity, valid = and_bits(own, 0, validity, 0, array.length)
        count = array.length - valid
    made = Array(
        array.type,
        array.length,
        [validity, *array.buffers[1:]],
        array.children,
        array.dictionary,
        null_count=count,
    )
    made._checked = True
    return made


def gathered_bits(target: Target, bits: Buffer, offset: int, picks: Picks) -> tuple[Buffer, int]:
    """The picked bits of those from bit `offset` on, 0 for a null pick; and how many are set."""
    words = bit_words(target, picks.count)
    count = 0
    if len(words):
        args = (picks.words, bits.array, offset, NOWHERE, picks.bitmap(target), words)
        count = target.reduce(selection.take_bits, len(words), *args)
    return bitmap_of(target, words, picks.count), count


def _validity(array: Array, picks: Picks) -> tuple[Buffer | None, int]:
    """The validity of the picked slots and their null count."""
    if array.null_count == 0:
        return picks.validity, picks.null_count
    bitmap = array.buffer(Role.VALIDITY)
    assert bitmap is not None
    bits, valid = gathered_bits(target_of(array.device), bitmap, array.offset, picks)
    return bits, picks.count - valid


def _take_null(array: Array, picks: Picks) -> Array:
    return Array(array.type, picks.count, [], null_count=picks.count)


def _take_fixed(array: Array, picks: Picks) -> Array:
    validity, count = _validity(array, picks)
    spec = array.layout.buffers[1]
    if spec.extent is Extent.BITS:
        target = target_of(array.device)
        # Only an array without values goes without them, and only no position is in its bounds.
        values, _ = gathered_bits(target, array.buffers[1] or EMPTY, array.offset, picks)
    else:
        values = _take_buffer(array, spec.role, picks)
    buffers = [validity, values, *array.data_buffers]
    return Array(array.type, picks.count, buffers, dictionary=array.dictionary, null_count=count)


def words_of(items: Any) -> tuple[Any, int]:
    """Items as words of up to 8 bytes, whatever they mean, and how many words make an item.

    Not copied. Items of no bytes have no words.
    """
    itemsize = items.dtype.itemsize
    if itemsize == 0:
        return items[:0].view(np.uint8), 0
    size = min(itemsize & -itemsize, 8)
    return items.view(_WORDS[size]), itemsize // size


def own_words(array: Array, role: Role) -> tuple[Any, int]:
    """As `words_of`, of the items of a buffer that belong to the array's own slots, one a slot."""
    position = array.layout.position(role)
    itemsize = array.layout.buffers[position].dtype.itemsize
    buffer = array.buffers[position]
    if buffer is None or itemsize == 0 or array.length == 0:
        return words_of(array.items(role))
    size = min(itemsize & -itemsize, 8)
    width = itemsize // size
    return buffer.view(_WORDS[size], array.length * width, array.offset * itemsize), width


def take_items(target: Target, items: Any, picked: Any) -> Any:
    """The items at positions (unsigned, read-only, in bounds), moved in words; same dtype."""
    words, width = words_of(target.frozen(items))
    if width == 0:
        return items[:0].repeat(0)
    return take_words(target, words, width, picked).view(items.dtype)


def take_words(target: Target, words: Any, width: int, picked: Any) -> Any:
    """The items at positions, of `width` words each and one a position."""
    out = target.output(len(picked) * width, words.dtype)
    if not len(out):
        return out
    if width == 1:
        target.reduce(selection.take_items, len(picked), picked, words, out)
    elif width == 2 and words.dtype.itemsize == 8:
        target.map(selection.take_pairs, len(picked), picked, words, out)
    else:
        where = (target.address(words), width * words.dtype.itemsize)
        target.map(selection.take_values, len(picked), picked, *where, out.view(np.uint8))
    return out


def _take_buffer(array: Array, role: Role, picks: Picks) -> Buffer:
    target = target_of(array.device)
    words, width = own_words(array, role)
    made: Buffer = target.buffer(take_words(target, words, width, picks.words))
    return made


def _measure(array: Array, picks: Picks, validity: Buffer | None) -> tuple[Any, Any, int]:
    """The offsets of the picked slots, nulls taking no room; the array's own; the last of the former."""
    target = target_of(array.device)
    items = array.items(Role.OFFSETS)
    valid = target.no_bits if validity is None else validity.array
    args = (picks.words, items, valid)
    starts = target.frozen(measure(target, selection.take_lengths, picks.count, items.dtype, *args))
    return starts, items, target.item(starts, picks.count)


def _take_binary(array: Array, picks: Picks) -> Array:
    target = target_of(array.device)
    validity, count = _validity(array, picks)
    starts, items, total = _measure(array, picks, validity)
    source = array.buffer(Role.BYTES)
    data = target.output(total, np.uint8)
    if source is not None and total:
        args = (picks.words, items, source.address, 1, starts, data)
        target.map(selection.take_bytes, picks.count, *args, balance=starts)
    buffers = [validity, target.buffer(starts), target.buffer(data)]
    return Array(array.type, picks.count, buffers, null_count=count)


def _take_list(array: Array, picks: Picks) -> Array:
    target = target_of(array.device)
    validity, count = _validity(array, picks)
    starts, items, total = _measure(array, picks, validity)
    child = array.children[0]
    if (unbacked := _by_length(child, total)) is not None:
        taken = unbacked
    elif is_plain(child):
        values = child.items(Role.DATA)
        data = target.output(total, values.dtype)
        if total:
            where = (target.address(values), values.dtype.itemsize)
            args = (picks.words, items, *where, starts, data.view(np.uint8))
            target.map(selection.take_bytes, picks.count, *args, balance=starts)
        taken = Array(child.type, total, [None, target.buffer(data)], null_count=0)
        taken._checked = True
    else:
        elements = target.output(total, np.uint64)
        ranges = (picks.words, items, starts, elements)
        target.map(selection.take_ranges, picks.count, *ranges, balance=starts)
        taken = take_picks(child, Picks(target.frozen(elements)))
    buffers = [validity, target.buffer(starts)]
    return Array(array.type, picks.count, buffers, [taken], null_count=count)


def is_plain(array: Array) -> bool:
    """Whether an array is nothing but whole bytes, the same number a slot, and no nulls."""
    if array.layout.kind is not LayoutKind.FIXED_SIZE:
        return False
    data = array.layout.buffers[1]
    return data.extent is Extent.SLOTS and data.dtype.itemsize > 0 and array.null_count == 0


def _by_length(array: Array, length: int) -> Array | None:
    """An array of some other length; None if slots have bytes and may differ.

    A few bytes may claim any number of such slots, so that none of them may cost anything.
    """
    if array.layout.kind is LayoutKind.FIXED_SIZE_LIST:
        assert isinstance(array.type.storage, s.FixedSizeList)
        inner = length * array.type.storage.list_size
    elif array.layout.kind in (LayoutKind.NULL, LayoutKind.STRUCT):
        inner = length
    else:
        return None
    if array.layout.has_validity and array.null_count:
        return None
    children = []
    for child in array.children:
        made = _by_length(child, inner)
        if made is None:
            return None
        children.append(made)
    buffers = [None] * len(array.layout.buffers)
    made = Array(array.type, length, buffers, children)
    made._checked = True
    return made


def _take_list_view(array: Array, picks: Picks) -> Array:
    validity, count = _validity(array, picks)
    offsets = _take_buffer(array, Role.OFFSETS, picks)
    sizes = _take_buffer(array, Role.SIZES, picks)
    buffers = [validity, offsets, sizes]
    return Array(array.type, picks.count, buffers, array.children, null_count=count)


def _take_fixed_list(array: Array, picks: Picks) -> Array:
    assert isinstance(array.type.storage, s.FixedSizeList)
    target = target_of(array.device)
    validity, count = _validity(array, picks)
    size = array.type.storage.list_size
    unbacked = _by_length(array.children[0], picks.count * size)
    if unbacked is not None:
        return Array(array.type, picks.count, [validity], [unbacked], null_count=count)
    elements = target.output(picks.count * size, np.uint64)
    if len(elements):
        args = (picks.words, size, array.offset, elements)
        target.map(selection.take_fixed_ranges, picks.count, *args)
    own = Picks(target.frozen(elements), *_repeated(target, picks, size))
    child = take_picks(array.children[0], own)
    return Array(array.type, picks.count, [validity], [child], null_count=count)


def _repeated(target: Target, picks: Picks, size: int) -> tuple[Buffer | None, int]:
    """The validity of the picks, and their null count, if each is made `size` times."""
    if picks.validity is None or size == 0:
        return None, 0
    return repeat_bits(target, picks.validity, 0, picks.count, size), picks.null_count * size


def repeat_bits(target: Target, bits: Buffer, offset: int, count: int, size: int) -> Buffer:
    """`count` bits from bit `offset` on, each `size` (not 0) times, from bit 0 on."""
    words = bit_words(target, count * size)
    args = (bits.array, offset, size, count * size, words)
    target.map(hidden.repeat_bits, len(words), *args)
    return bitmap_of(target, words, count * size)


def _own_children(array: Array) -> list[Array]:
    """The children cut to the array's own slots, where both have the same slots."""
    return [child.slice(array.offset, array.length) for child in array.children]


def _take_struct(array: Array, picks: Picks) -> Array:
    validity, count = _validity(array, picks)
    children = [take_picks(child, picks) for child in _own_children(array)]
    return Array(array.type, picks.count, [validity], children, null_count=count)


def _take_sparse_union(array: Array, picks: Picks) -> Array:
    # Where a pick is null, the type id is that of slot 0: every child is null there.
    type_ids = _take_buffer(array, Role.TYPE_IDS, picks)
    children = [take_picks(child, picks) for child in _own_children(array)]
    return Array(array.type, picks.count, [type_ids], children)


def _take_dense_union(array: Array, picks: Picks) -> Array:
    from colkern.operations.unions import take_dense_union

    return take_dense_union(array, picks)


def _take_runs(array: Array, picks: Picks) -> Array:
    from colkern.operations.run_selection import take_runs
    from colkern.operations.runs import run_of_each

    positions = picks.words
    signed = positions.view(f"i{positions.dtype.itemsize}")
    # As they are in bounds, none of 64 bits is a negative one, nor one of 32 bits of as few slots.
    fits = positions.dtype.itemsize == 8 or (signed.dtype == np.int32 and array.length >> 31 == 0)
    positions = signed if fits else target_of(array.device).frozen(positions.astype(np.int64))
    if picks.validity is None:
        return take_runs(array, positions)
    ends, values = run_of_each(array, positions).children
    hidden_values = null_where(values, picks.validity, picks.null_count)
    return Array(array.type, picks.count, [], [ends, hidden_values])


_TAKE: dict[LayoutKind, Callable[[Array, Picks], Array]] = {
    LayoutKind.NULL: _take_null,
    LayoutKind.FIXED_SIZE: _take_fixed,
    LayoutKind.DICTIONARY: _take_fixed,
    LayoutKind.BINARY_VIEW: _take_fixed,
    LayoutKind.BINARY: _take_binary,
    LayoutKind.LIST: _take_list,
    LayoutKind.LIST_VIEW: _take_list_view,
    LayoutKind.FIXED_SIZE_LIST: _take_fixed_list,
    LayoutKind.STRUCT: _take_struct,
    LayoutKind.SPARSE_UNION: _take_sparse_union,
    LayoutKind.DENSE_UNION: _take_dense_union,
    LayoutKind.RUN_END_ENCODED: _take_runs,
}
