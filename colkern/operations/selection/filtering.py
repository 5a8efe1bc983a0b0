"""`filter`, which selects slots by a mask; many short columns of a batch are filtered as one.

Columnar format 1.5: "Physical Memory Layout".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, overload

import numpy as np

from colkern import schema as s
from colkern.arrays import Array, RecordBatch
from colkern.bitmaps import bit_words, bits_by, written_bits
from colkern.kernels import bitmaps, filtering
from colkern.layouts import LayoutKind, Role
from colkern.memory import EMPTY, HOST, Buffer
from colkern.operations.arguments import Kind, operation
from colkern.operations.creation import nulls
from colkern.operations.devices import one_device
from colkern.operations.operands import Plans, planned
from colkern.operations.patterns import Kept
from colkern.operations.position_checks import require_valid
from colkern.operations.remedies import instead_of_encoded_booleans
from colkern.operations.selection.engine import Copier, Selection, assemble
from colkern.operations.selection.taking import WORD_BITS, Picks
from colkern.operations.selection.words import own_words, repeat_bits
from colkern.operations.validity import null_outside
from colkern.schema import DataType
from colkern.targets import Items, Target, target_of

_BLOCK = 1 << 20
"""The bits of the columns that are computed as one: results share that memory until the last is gone."""

_LEAST = 4
"""Fewer columns are computed one by one."""


def by_blocks(
    columns: Sequence[Array],
    one: Callable[[Array], Array],
    several: Callable[[list[Array]], Array],
) -> list[Array]:
    """The results of `one` for columns of one length, or parts of those of `several`.

    Args:
        one: A function of a column.
        several: The same for columns of one type: the results, one after the other.
    """
    places: dict[DataType, list[int]] = {}
    # Types are compared only once for each object.
    known: dict[int, list[int]] = {}
    for place, column in enumerate(columns):
        own = known.get(id(column.type))
        if own is None:
            own = known[id(column.type)] = places.setdefault(column.type, [])
        own.append(place)
    results: list[Array] = list(columns)
    for own in places.values():
        first = columns[own[0]]
        rule, size = first.layout, 1
        if rule.kind is LayoutKind.FIXED_SIZE:
            size = max(1, _BLOCK // max(1, first.length * rule.buffers[1].slot_bits))
        for begin in range(0, len(own), size):
            block = own[begin : begin + size]
            if len(block) < _LEAST:
                parts = [one(columns[place]) for place in block]
            else:
                whole = several([columns[place] for place in block])
                count = whole.length // len(block)
                parts = [whole.slice(k * count, count) for k in range(len(block))]
            for place, part in zip(block, parts, strict=True):
                results[place] = part
    return results


NullSelection = Literal["drop", "emit_null"]


@overload
def filter(data: Array, mask: Array, *, null_selection: NullSelection = "drop") -> Array: ...
@overload
def filter(
    data: RecordBatch, mask: Array, *, null_selection: NullSelection = "drop"
) -> RecordBatch: ...
@overload
def filter(data: Any, mask: Any, *, null_selection: NullSelection = "drop") -> Any: ...
@operation(kind=Kind.SELECTION)
def filter(
    data: Array | RecordBatch, mask: Array, *, null_selection: NullSelection = "drop"
) -> Array | RecordBatch:
    """The values where a mask is true, in order.

    If all are kept, `data` itself is returned, else a copy (of views, only the views; of dictionaries,
    the indices; of list-views, offsets and sizes; of dense unions, type ids and offsets). Columns of a
    batch are checked and copied when they are asked for.

    Args:
        data: Any array, or a batch, whose rows are selected.
        mask: Booleans of the same length, on the same device; or an array of type null, such as
            `array([])`.
        null_selection: The effect of a null in the mask: "drop" the value, or "emit_null" in its place.

    Raises:
        TypeError: If the mask is not of booleans.
        ValueError: If the mask has another length or device, or `null_selection` is another word.
    """
    plan = planned(_PLANS, data, mask)
    bits = None if plan is None else mask.buffers[1]
    if bits is not None and bits.device is HOST and null_selection == "drop":
        kept = _kept(mask, False, None)
        if kept.count == data.length:
            return data
        return plan(kept, data)  # type: ignore[misc,arg-type]
    mask = _booleans(data, mask)
    if null_selection not in ("drop", "emit_null"):
        raise ValueError(f"null_selection: expected 'drop' or 'emit_null', got {null_selection!r}")
    if isinstance(data, Array):
        _require_valid_both(data, mask)
    emits = null_selection == "emit_null" and mask.null_count > 0
    offsets = None
    if isinstance(data, Array) and data.layout.kind in _WITH_OFFSETS and mask.device != HOST:
        # Their sum is computed along with the count, so that both are waited for at once.
        offsets = data.items(Role.OFFSETS)
    kept = _kept(mask, emits, offsets)
    if kept.count == data.length and not emits:
        return data
    visible, hidden = None, 0
    if emits:
        valid = mask.buffer(Role.VALIDITY)
        assert valid is not None
        visible, hidden = kept.gather_bits(kept.target, valid, mask.offset)

    def filtered(array: Array) -> Array:
        if kept.target.device is not HOST and array.layout.kind in _INDEPENDENT:
            with kept.target.together:
                result = assemble(kept, array)
        else:
            result = assemble(kept, array)
        return result if visible is None else null_outside(result, visible, hidden)

    if isinstance(data, Array):
        return filtered(data)
    if len(data.schema) > 1 and kept.is_sparse:
        # Listed once, for all columns.
        kept.positions()
    return _filtered_batch(data, mask, kept.count, filtered, null_selection)


def _booleans(data: Array | RecordBatch, mask: Array) -> Array:
    """Returns a mask as booleans of the length of the data."""
    if isinstance(mask.type, s.Null):
        # The mask is of type null, as `array([])`.
        first = data if isinstance(data, Array) else data.column(0) if len(data.schema) else mask
        mask = nulls(mask.length, s.bool_(), first.device)
    elif not isinstance(mask.type, s.Bool) and not isinstance(mask.type.storage, s.Bool):
        instead = instead_of_encoded_booleans(mask.type)
        raise TypeError(f"mask: expected booleans, got {mask.type}{instead}")
    if mask.length != data.length:
        raise ValueError(f"mask: {mask.length} booleans for {data.length} values")
    return mask


def _require_valid_both(data: Array, mask: Array) -> None:
    """Check an array and its mask, and keep the plan for their types."""
    one_device((data, mask), "data", "mask")
    if not data._checked:
        require_valid(data)
    if len(data.layout.buffers) > 1:
        require_valid(mask)
        is_word = data.layout.kind is LayoutKind.FIXED_SIZE
        is_word &= data.layout.buffers[1].slot_bits in WORD_BITS
        _PLANS[data.layout, mask.layout] = _words_kept if is_word else assemble


def _filtered_batch(
    batch: RecordBatch,
    mask: Array,
    count: int,
    filtered: Callable[[Array], Array],
    null_selection: NullSelection,
) -> RecordBatch:
    """Returns a batch whose columns are filtered when they are asked for."""

    def checked(array: Array) -> Array:
        one_device((array, mask), "data", "mask")
        require_valid(array)
        return filtered(array)

    def columns(positions: list[int]) -> list[Array]:
        # Imported late: joining dense unions needs `Masked`.
        from colkern.operations.selection.concatenation import concat

        def together(block: list[Array]) -> Array:
            masks = concat([mask] * len(block))
            return filter(concat(block), masks, null_selection=null_selection)

        return by_blocks(batch.columns_at(positions), checked, together)

    return RecordBatch.lazy(
        batch.schema, count, lambda i: checked(batch.column(i)), load_many=columns
    )


_PLANS: Plans[Callable[[Masked, Array], Array]] = {}
"""The function that copies the values of an array, for types of arrays and masks that go together."""


def _words_kept(kept: Masked, array: Array) -> Array:
    """As `assemble`, for values of one word each: those without nulls take fewer steps."""
    if array._null_count:
        return assemble(kept, array)
    target, words = kept.target, own_words(array, Role.DATA)[0]
    out = target.output(kept.count, words.dtype)
    kept.map(filtering.filter_items, kept.starts, words, out)
    return Array.of_valid(array.type, kept.count, (None, target.buffer(out)), 0)


def _kept(mask: Array, emits: bool, offsets: Items | None) -> Masked:
    """The slots that are true, and if `emits` also those that are null; `offsets` as for `Kept.of`."""
    target = target_of(mask.device)
    values = EMPTY if mask.buffers[1] is None else mask.buffers[1]
    if mask._null_count == 0 or not mask.may_have_nulls:
        return Masked.of(target, values.array, mask.offset, mask.length, offsets)
    valid = mask.buffer(Role.VALIDITY)
    assert valid is not None
    words = bit_words(target, mask.length)
    sides = (values.array, mask.offset, valid.array, mask.offset)
    table = bitmaps.OR_NOT if emits else bitmaps.AND
    target.map(bitmaps.combine_bits, len(words), *sides, mask.length, table, words)
    return Masked.of(target, words.view(np.uint8), 0, mask.length, offsets)


class Masked(Kept, Selection):
    """Slots selected by a mask, in order."""

    __slots__ = ()

    def suited(self, array: Array) -> Copier:
        finds_them = _BY_POSITION.get(array.layout.kind)
        if finds_them is None or not (
            self._positions is not None or (finds_them and self.is_sparse)
        ):
            return self
        return Picks(self.positions())

    def target_for(self, array: Array) -> Target:
        return self.target

    def gather_bits(self, target: Target, bits: Buffer, offset: int) -> tuple[Buffer, int]:
        arguments = (*self.mask, self.starts, bits.array, offset)
        return written_bits(target, filtering.filter_bits, self.count, *arguments)

    def gather_words(self, target: Target, words: Items, width: int) -> Items:
        out = target.output(self.count * width, words.dtype)
        if width == 1:
            self.map(filtering.filter_items, self.starts, words, out)
        elif width == 2 and words.dtype.itemsize == 8:
            self.map(filtering.filter_pairs, self.starts, words, out)
        elif self.count and width:
            where = (target.address(words), width * words.dtype.itemsize)
            self.map(filtering.filter_values, self.starts, *where, out.view(np.uint8))
        return out

    def ranges(self, array: Array, validity: Buffer | None) -> _MaskedRanges:
        return _MaskedRanges(self, array.items(Role.OFFSETS))

    def widened(self, target: Target, length: int, size: int) -> Masked:
        bits = Buffer(self.mask[0], target.device)
        repeated = repeat_bits(target, bits, self.offset, length, size)
        return Masked.of(target, repeated.array, 0, length * size)


_BY_POSITION = {
    LayoutKind.FIXED_SIZE: False,
    LayoutKind.DICTIONARY: False,
    LayoutKind.BINARY_VIEW: False,
    LayoutKind.BINARY: True,
}
"""The layouts whose kept slots are taken by position where there are positions; whether to find those,
where few slots are kept."""


_INDEPENDENT = (
    *(LayoutKind.FIXED_SIZE, LayoutKind.DICTIONARY),
    *(LayoutKind.BINARY, LayoutKind.BINARY_VIEW),
)
"""The layouts of which each buffer is filtered without a look at what is kept of another."""

_WITH_OFFSETS = (LayoutKind.BINARY, LayoutKind.LIST)
"""The layouts whose kept slots have values of some length."""


class _MaskedRanges:
    """The places of the values of kept slots; null slots keep their room."""

    __slots__ = ("items", "kept", "starts", "sums", "total")

    def __init__(self, kept: Masked, items: Items) -> None:
        target = kept.target
        self.items, self.kept = items, kept
        self.starts = starts = target.output(kept.count + 1, items.dtype)
        if kept.blocks == 1:
            # The block begins at 0 here; its total is only known afterwards.
            zeros = target.table([0, 0], np.int64)
            kept.map(filtering.filter_offsets, kept.starts, zeros, items, starts)
            self.total = target.item(starts, kept.count)
            self.sums = target.table([0, self.total], np.int64)
            return
        self.sums, end = kept.lengths(items)
        if kept.blocks == 0:
            starts[:] = 0
        kept.map(filtering.filter_offsets, kept.starts, self.sums, items, starts)
        self.total = end() - kept.count

    def copy(self, address: int, width: int, out: Items) -> None:
        args = (self.sums, self.items, address, width, out)
        self.kept.map(filtering.filter_bytes, *args, balance=self.sums)

    def select(self, child: Array) -> Array:
        kept, items, target = self.kept, self.items, self.kept.target
        ((first, last),) = target.ends(items)
        own = child.slice(first, last - first)
        spread = (*kept.mask[:2], items)
        bits = bits_by(target, filtering.spread_to_elements, own.length, spread)
        return assemble(Masked.of(target, bits.array, 0, own.length), own)
