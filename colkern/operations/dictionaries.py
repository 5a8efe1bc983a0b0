"""Dictionary-encoded arrays: encoding, decoding, and one dictionary for several arrays.

Columnar format 1.5: "Dictionary-encoded Layout".
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from colkern import schema as s
from colkern.arrays import Array, RecordBatch, Table
from colkern.bitmaps import bits_by, count_clear_bits
from colkern.cpu.threads import map_items, num_threads, run_ranges
from colkern.dispatch import Dispatch, by_layout
from colkern.errors import LimitExceededError, UnsupportedError
from colkern.kernels import dictionaries as kernels
from colkern.kernels import hashing, sorting
from colkern.kernels.hashing import state_of
from colkern.layouts import Extent, LayoutKind, Role
from colkern.memory import EMPTY, HOST, Buffer
from colkern.operations.arguments import Kind, operation
from colkern.operations.creation import nulls
from colkern.operations.dictionary_tables import (
    OPEN,
    low_words,
    numbers_by_table,
    numbers_by_value,
    unlike_counter,
)
from colkern.operations.encodings import dictionary_parts
from colkern.operations.hashing import hashes_of, partitioned
from colkern.operations.number_words import NumberWords, number_words
from colkern.operations.operands import WORDS, integers, kept_type, unsigned, validity_of
from colkern.operations.patterns import require_room
from colkern.operations.position_checks import require_valid
from colkern.operations.selection import take, take_positions, words_of
from colkern.operations.selection.concatenation import concat, memory_of
from colkern.operations.string_data import byte_ranks, text_positions
from colkern.operations.validity import compact_validity, split_nulls, with_nulls_of
from colkern.targets import Items, ItemType, on_its_device, target_of

NullEncoding = Literal["mask", "encode"]


# Decoding


@operation(kind=Kind.ELEMENT_WISE)
def dictionary_decode(array: Array) -> Array:
    """The values of a dictionary-encoded array, one for each slot; copied (for views: only the views).

    A slot is null if its index is null, or the value that it points to.

    Raises:
        TypeError: If the array is not dictionary-encoded.
        LimitExceededError: If the values do not fit the offsets of their type.
        UnsupportedError: If an index is null and the values are of a type without nulls of its own.
    """
    if not isinstance(array.type.storage, s.Dictionary) or array.dictionary is None:
        raise TypeError(f"array: expected a dictionary-encoded array, got {array.type}")
    require_valid(array)
    values = array.dictionary
    if values.length == 0:
        return nulls(array.length, values.type, array.device)
    return _DECODE[values.layout.kind](array, values)


_DECODE: Dispatch[LayoutKind, Callable[[Array, Array], Array]] = by_layout("dictionary_decode")
"""Layout of the values → a function that decodes an array with its dictionary."""


def _decoded_validity(array: Array, values: Array) -> tuple[Buffer | None, int]:
    """The validity bitmap and null count of decoded slots, by their indices and their values."""
    if not values.may_have_nulls:
        return compact_validity(array), array._null_count
    bitmap = values.buffer(Role.VALIDITY)
    assert bitmap is not None
    bits = _decoded_bits(array, values, bitmap)
    return bits, count_clear_bits(bits, array.length)


def _decoded_bits(array: Array, values: Array, bits: Buffer) -> Buffer:
    """A bit of `bits` for each slot, taken at its index; 0 for a null."""
    target = target_of(array.device)
    indices = (unsigned(array.items(Role.DATA)), values.length)
    source = (bits.array, values.offset, *validity_of(array, target))
    return bits_by(target, kernels.decode_bits, array.length, (*indices, *source))


@_DECODE.of(LayoutKind.FIXED_SIZE, LayoutKind.DICTIONARY, LayoutKind.BINARY_VIEW)
def _decode_fixed(array: Array, values: Array) -> Array:
    target = target_of(array.device)
    validity, count = _decoded_validity(array, values)
    spec = values.layout.buffers[1]
    if spec.extent is Extent.BITS:
        data = _decoded_bits(array, values, values.buffers[1] or EMPTY)
    else:
        words, width = words_of(values.items(spec.role))
        out = target.output(array.length * width, words.dtype)
        arguments = (unsigned(array.items(Role.DATA)), values.length, words, width)
        target.map(kernels.decode_items, array.length if width else 0, *arguments, out)
        data = target.buffer(out)
    buffers = [validity, data, *values.data_buffers]
    return Array.of_valid(values.type, array.length, buffers, count, dictionary=values.dictionary)


@_DECODE.of(LayoutKind.BINARY)
def _decode_binary(array: Array, values: Array) -> Array:
    target = target_of(array.device)
    validity, count = _decoded_validity(array, values)
    offsets = values.items(Role.OFFSETS)
    indices = (unsigned(array.items(Role.DATA)), values.length)
    starts = _decoded_offsets(array, indices, offsets)
    data = target.output(target.item(starts, array.length), np.uint8)
    source = values.buffer(Role.BYTES)
    if source is not None and len(data):
        strings = (*indices, offsets, source.address, source.size, starts)
        target.map(kernels.decode_strings, array.length, *strings, data, balance=starts)
    buffers = [validity, target.buffer(starts), target.buffer(data)]
    return Array.of_valid(values.type, array.length, buffers, count)


def _decoded_offsets(array: Array, indices: tuple[Items, int], offsets: Items) -> Items:
    target = target_of(array.device)
    if array.length == 0:
        return target.allocate(1, offsets.dtype)
    blocks = -(-array.length // kernels.BLOCK)
    slots = (*indices, offsets, *validity_of(array, target))
    sizes = target.output(blocks, np.int64)
    target.map(kernels.decoded_block_bytes, blocks, *slots, sizes, work=kernels.BLOCK)
    require_room(target.total(sizes), offsets.dtype)
    block_starts = target.scan(sizes, np.int64)
    out = target.output(array.length + 1, offsets.dtype)
    target.map(kernels.decoded_offsets, blocks, *slots, block_starts, out, work=kernels.BLOCK)
    return out


@_DECODE.of(LayoutKind.NULL)
def _decode_null(array: Array, values: Array) -> Array:
    return nulls(array.length, values.type, array.device)


@_DECODE.of(
    LayoutKind.LIST,
    LayoutKind.LIST_VIEW,
    LayoutKind.FIXED_SIZE_LIST,
    LayoutKind.STRUCT,
    LayoutKind.SPARSE_UNION,
    LayoutKind.DENSE_UNION,
    LayoutKind.RUN_END_ENCODED,
)
def _decode_any(array: Array, values: Array) -> Array:
    return take(values, dictionary_parts(array)[0])


# Encoding


@operation
def dictionary_encode(
    array: Array, *, index_type: s.Int | None = None, null_encoding: NullEncoding = "mask"
) -> Array:
    """The array as indices into a dictionary of its distinct values, in the order of their first slots.

    Values are the same if their bytes are: 0.0 and -0.0 are two values, and a NaN is the same as one
    with the same bits. Dictionary-encoded arrays are returned as they are. The values are copied.

    Args:
        array: Numbers, booleans, dates, times, decimals, intervals, text or bytes of any layout.
        index_type: The type of the indices; int32 if None.
        null_encoding: "mask" leaves nulls out of the dictionary, as null indices; "encode" makes null
            one of its values.

    Raises:
        ValueError: If `null_encoding` is another word.
        TypeError: If `index_type` is no integer type.
        UnsupportedError: If the values are nested or run-end encoded.
        LimitExceededError: If there are more distinct values than `index_type` can number, or more
            than 2^32 - 1 slots.
    """
    if null_encoding not in ("mask", "encode"):
        raise ValueError(f"null_encoding: expected 'mask' or 'encode', got {null_encoding!r}")
    if isinstance(array.type.storage, s.Dictionary):
        return array
    require_valid(array)
    indices: Any = s.int32() if index_type is None else s.as_type(index_type, "index_type")
    type_ = kept_type(s.dictionary, indices, array.type)
    counted = null_encoding == "encode"
    if array.layout.kind is LayoutKind.NULL:
        return _encode_nulls(array, type_, counted)
    target = target_of(array.device)
    numbers, firsts = number_values(array, counted, WORDS[type_.index_type.bit_width // 8])
    _require_fit(len(firsts), type_.index_type)
    values = array
    if array._null_count and not counted:
        # No value is null, so there are no bits to take.
        parts = (None, *array.buffers[1:])
        values = Array.of_valid(array.type, array.length, parts, 0, offset=array.offset)
    dictionary = take_positions(values, firsts)
    validity = None if counted else compact_validity(array)
    count = 0 if counted else array.null_count
    buffers = [validity, target.buffer(numbers)]
    return Array.of_valid(type_, array.length, buffers, count, dictionary=dictionary)


def number_values(
    array: Array, counted: bool, dtype: ItemType | None, expected: int = 0, closed: int = OPEN
) -> tuple[Items, Items]:
    """The number (dtype[n]) of the value in each slot, and the first slot (int64[]) of each value.

    Args:
        counted: Whether null is a value; else nulls have number 0.
        dtype: The type of the numbers; None if they are not wanted.
        expected: The least number of distinct values, if it is known.
        closed: Only this many slots need to add values. The number of another value may be any that is
            behind those of the first slots.

    Raises:
        UnsupportedError: If the values are nested or run-end encoded.
        LimitExceededError: If there are 2^32 slots or more.
    """
    if array.layout.kind not in _ENCODED:
        raise _is_nested(array)
    if array.length >= _MOST:
        raise _too_many(array.length)
    if array.device != HOST:
        return numbers_by_sorting(array, counted, dtype or np.uint32)
    numbered = numbers_by_value(array, counted, dtype, closed)
    if numbered is None and closed == OPEN and (counted or not array.null_count):
        numbered = _numbers_by_ranges(array, dtype)
    return numbered or numbers_by_table(array, counted, dtype, expected, closed)


_RANGE = 1 << 18
"""The least number of slots that are worth a table of their own."""

_SAMPLE = 1 << 15
"""The number of slots in a sample."""

_REPEATED = 15
"""If fewer slots than this have the same value, the tables of ranges have few values in common."""

_REPEATED_BYTES = 100
"""As `_REPEATED`, for values that are found by hashes: those in common are compared once more."""


def _numbers_by_ranges(array: Array, dtype: ItemType | None) -> tuple[Items, Items] | None:
    """As `numbers_by_table`, with a table for each thread; None if that would not be faster."""
    if num_threads() == 1 or array.length < 2 * _RANGE:
        return None
    target = target_of(array.device)
    words = number_words(array)
    is_one_word = words is not None and words.width == 1
    values = _likely_values(array)
    if values * (_REPEATED if is_one_word else _REPEATED_BYTES) > array.length:
        if not array.null_count and num_threads() >= (_WORTH_PARTS if is_one_word else 2):
            return _numbers_by_parts(array, words, dtype)
        return numbers_by_table(array, True, dtype, values // _SURELY)

    def numbered(start: int, stop: int) -> tuple[int, Items, Items]:
        part = array.slice(start, stop - start)
        return start, *numbers_by_table(part, True, np.uint32 if dtype else None)

    parts = run_ranges(numbered, array.length, (), _RANGE)
    firsts = np.concatenate([own + start for start, _, own in parts])
    most_values = max([len(own) for _, _, own in parts])
    moved, kept = numbers_by_table(take_positions(array, firsts), True, np.uint32, most_values)
    out = target.output(array.length if dtype else 0, dtype or np.uint32)
    base = 0
    for start, numbers, own in parts:
        stop = start + len(numbers)
        indices = (numbers, len(own), moved, base)
        target.map(kernels.transpose_indices, len(numbers), *indices, out[start:stop])
        base += len(own)
    return out, firsts[kept]


def _likely_values(array: Array) -> int:
    """The number of distinct values of a flat array, guessed from a sample."""
    sampled = np.arange(0, array.length, max(array.length // _SAMPLE, 1))
    distinct = len(numbers_by_table(take_positions(array, sampled), True, None)[1])
    low, high = distinct, array.length
    while low < high:
        values = (low + high) // 2
        # A sample of s slots has d (1 - exp(-s / d)) of d values that are equally frequent.
        if values * -math.expm1(-len(sampled) / values) < distinct:
            low = values + 1
        else:
            high = values
    return low


_SURELY = 4
"""There are nearly always more values than a guess divided by this."""

_WORTH_PARTS = 3
"""The threads from which on dividing words takes less time than it saves."""

_PARTS = 32
"""The number of parts into which values are divided, so that their tables more often fit a cache."""


def _numbers_by_parts(
    array: Array, words: NumberWords | None, dtype: ItemType | None
) -> tuple[Items, Items] | None:
    """As `_numbers_by_ranges`, with a table for each part of the values; None if hashes collide too often.

    Args:
        array: Without nulls.
        words: Its `number_words`.
        dtype: As for `numbers_by_table`.
    """
    target = target_of(array.device)
    hashes = hashes_of(target, array, state_of(0))
    by_hash = words is None or words.width > 1
    keys = hashes if words is None or by_hash else words.words
    positions, starts = partitioned(target, hashes, _PARTS)
    keyed = integers(target, keys)
    wanted = dtype if not by_hash else np.uint64

    def numbered(part: int) -> tuple[Items, Items, Items]:
        own = positions[starts[part] : starts[part + 1]]
        taken = take_positions(keyed, own)
        numbers, firsts = numbers_by_table(taken, True, np.uint32 if wanted else None)
        return own, numbers, own[firsts]

    parts = map_items(numbered, range(_PARTS), 8 * array.length)
    is_first = target.allocate(array.length, bool)
    for _, _, rows in parts:
        is_first[rows] = True
    firsts = is_first.nonzero()[0]
    out = target.output(array.length if wanted else 0, wanted or np.uint32)
    if wanted:
        ranks = target.output(array.length, np.uint32)
        ranks[firsts] = np.arange(len(firsts), dtype=np.uint32)

    def placed(part: tuple[Items, Items, Items]) -> None:
        own, numbers, rows = part
        moved = ranks[rows].astype(out.dtype)
        if by_hash:
            moved |= rows << np.uint64(32)
        target.map(kernels.place_numbers, len(own), own, numbers, moved, out)

    if wanted:
        map_items(placed, parts, 8 * array.length)
    if by_hash:
        if unlike_counter(array)(0, out)():
            return None
        out = low_words(out).astype(dtype) if dtype else out[:0]
    return out, firsts


_WORTH_NUMBERS = 1 << 17
"""The least number of texts of which a sample takes little of the time of a sort."""

_REPEATED_TEXTS = 8
"""If texts are in so many slots, numbering them pays: only distinct ones are sorted by bytes."""


def ranks_of_few(array: Array) -> Array | None:
    """The rank (uint32) of each text among the distinct ones, null for nulls; None if these seem many.

    Args:
        array: Checked text, or values that are read as bytes.
    """
    is_long = _WORTH_NUMBERS <= array.length < 1 << 32
    if not is_long or array.device != HOST or array.null_count == array.length:
        return None
    if _likely_values(array) * _REPEATED_TEXTS > array.length:
        return None
    target = target_of(array.device)
    numbers, firsts = number_values(array, not array.null_count, np.uint32)
    ordered = text_positions(take_positions(array, firsts), None)[0]
    ranks, out = (target.output(count, np.uint32) for count in (len(firsts), array.length))
    ranks[ordered] = np.arange(len(firsts), dtype=np.uint32)
    target.map(kernels.transpose_indices, array.length, numbers, len(firsts), ranks, 0, out)
    return with_nulls_of(array, s.uint32(), [target.buffer(out)])


_ENCODED = (LayoutKind.FIXED_SIZE, LayoutKind.BINARY, LayoutKind.BINARY_VIEW)


_MOST = 1 << 32
"""From so many slots on, their numbers do not fit 32 bits."""


def _is_nested(values: Array) -> UnsupportedError:
    return UnsupportedError(
        f"values of {values.type} ({values.layout.name}) are not looked up, only flat ones: "
        f"encode the children, or decode it first"
    )


def _too_many(slots: int) -> LimitExceededError:
    return LimitExceededError(f"{slots} slots: at most 2**32 - 1 can be encoded at once")


def _require_fit(count: int, index_type: s.Int) -> None:
    limit = 1 << (index_type.bit_width - index_type.signed)
    if count > limit:
        raise LimitExceededError(
            f"{count} distinct values do not fit indices of {index_type}; choose a wider index type"
        )


def _encode_nulls(array: Array, type_: s.Dictionary, counted: bool) -> Array:
    target = target_of(array.device)
    zeros = target.buffer(target.allocate(array.length, WORDS[type_.index_type.bit_width // 8]))
    bitmap = None
    if array.length and not counted:
        bitmap = target.buffer(target.allocate((array.length + 7) // 8, np.uint8))
    values = array.slice(0, int(counted and array.length > 0))
    count = 0 if counted else array.length
    return Array(type_, array.length, [bitmap, zeros], (), values, null_count=count)


# One dictionary for several arrays


@operation
def unify_dictionaries(arrays: Sequence[Array], *, index_type: s.Int | None = None) -> list[Array]:
    """The arrays over one common dictionary: the first array's values, then those that others add.

    Equal values become one, as in `dictionary_encode`, also nulls in a dictionary. Only indices that
    change are copied; those of the first array rarely do. Arrays that already share one dictionary are
    returned as they are.

    Args:
        arrays: Dictionary-encoded arrays with values of one type, on one device.
        index_type: The type of all indices; that of the arrays if None. It is not widened
            automatically, so that the type of the result does not depend on the data.

    Raises:
        TypeError: If an array is not dictionary-encoded, or the types differ (of the indices too, if
            `index_type` is not given).
        LimitExceededError: If the common dictionary is too long for the indices.
        UnsupportedError: If the values are nested or run-end encoded, and the dictionaries differ.
    """
    if len(arrays) == 0:
        return []
    type_ = _common_type(arrays, index_type)
    for array in arrays:
        require_valid(array)
    if all(_values(array) is _values(arrays[0]) and array.type == type_ for array in arrays):
        return list(arrays)
    values = _values(arrays[0])
    if (
        values.layout.kind not in _ENCODED
        and len({memory_of(_values(array)) for array in arrays}) > 1
    ):
        raise _is_nested(values)
    indices, common = indices_of_one_dictionary(arrays, type_)
    unified = []
    for array, own in zip(arrays, indices, strict=True):
        buffers, count = [compact_validity(array), own], array.null_count
        unified.append(Array.of_valid(type_, array.length, buffers, count, dictionary=common))
    return unified


def with_one_dictionary(table: Table) -> Table:
    """A table whose dictionary-encoded columns each have one dictionary for all batches.

    Columns whose dictionaries have nested values, or are on several devices, keep what they have. Other
    columns are as lazy as they were; see `unify_dictionaries`.
    """
    unified: dict[int, list[Array]] = {}
    for position, type_ in enumerate(table.schema.types):
        if isinstance(type_.storage, s.Dictionary) and table.num_batches > 1:
            arrays = [batch.column(position) for batch in table.batches]
            is_flat = _values(arrays[0]).layout.kind in _ENCODED
            if is_flat and len({array.device for array in arrays}) == 1:
                unified[position] = unify_dictionaries(arrays)

    def batch_of(number: int, batch: RecordBatch) -> RecordBatch:
        def column(position: int) -> Array:
            arrays = unified.get(position)
            return batch.column(position) if arrays is None else arrays[number]

        return RecordBatch.lazy(table.schema, batch.length, column, batch.metadata)

    if not unified:
        return table
    return Table(itertools.starmap(batch_of, enumerate(table.batches)), table.schema)


def indices_of_one_dictionary(
    arrays: Sequence[Array], type_: s.Dictionary
) -> tuple[list[Buffer], Array]:
    """The indices of checked arrays over one dictionary of a type; and the dictionary.

    Nested values are not compared: the dictionary has all of them, one array's after the other's.
    """
    # By memory, not by content: most often, all dictionaries are one.
    places = [memory_of(_values(array)) for array in arrays]
    distinct = dict(zip(places, map(_values, arrays), strict=True))
    target = target_of(arrays[0].device)
    common = concat(list(distinct.values()))
    kept = _values(arrays[0]).length
    if len(distinct) > 1 and common.layout.kind in _ENCODED:
        longest = max(values.length for values in distinct.values())
        moved, firsts = number_values(common, True, np.uint32, longest)
        common = take_positions(common, firsts)
        # The first values keep their numbers if all are distinct: the number of the last one shows
        # that.
        if kept and target.item(moved, kept - 1) != kept - 1:
            kept = 0
    else:
        if common.length >= _MOST:
            raise _too_many(common.length)
        moved = target.positions(common.length).astype(np.uint32)
    _require_fit(common.length, type_.index_type)
    ends = itertools.accumulate([values.length for values in distinct.values()], initial=0)
    bases = dict(zip(distinct, ends, strict=False))
    indices = []
    for array, place in zip(arrays, places, strict=True):
        base = bases[place]
        if base == 0 and kept == _values(array).length and array.type == type_:
            indices.append(target.buffer(array.items(Role.DATA)))
        else:
            indices.append(_transposed(array, type_, moved, base))
    return indices, common


def _values(array: Array) -> Array:
    assert array.dictionary is not None
    return array.dictionary


def _common_type(arrays: Sequence[Array], index_type: s.Int | None) -> s.Dictionary:
    first = arrays[0].type.storage
    for position, array in enumerate(arrays):
        if position and array.layout is arrays[0].layout:
            continue
        type_ = array.type.storage
        if not isinstance(type_, s.Dictionary) or not isinstance(first, s.Dictionary):
            raise TypeError(f"arrays: number {position} is not dictionary-encoded: {array.type}")
        if not s.same_type(type_.value_type, first.value_type):
            raise TypeError(f"arrays: number {position} is {array.type}, not {arrays[0].type}")
        if index_type is None and type_.index_type != first.index_type:
            raise TypeError(
                f"arrays: number {position} has indices of {type_.index_type}, "
                f"not {first.index_type}; pass an index_type for all"
            )
    assert isinstance(first, s.Dictionary)
    if index_type is None or index_type == first.index_type:
        return first
    return s.dictionary(index_type, first.value_type, first.ordered)


def _transposed(array: Array, type_: s.Dictionary, moved: Items, base: int) -> Buffer:
    """An array's indices, replaced by the numbers to which its values were moved."""
    target = target_of(array.device)
    dtype = WORDS[type_.index_type.bit_width // 8]
    limit = _values(array).length
    if limit:
        out = target.output(array.length, dtype)
        indices = (unsigned(array.items(Role.DATA)), limit, moved, base)
        target.map(kernels.transpose_indices, array.length, *indices, out)
    else:
        out = target.allocate(array.length, dtype)
    return target.buffer(out)


# By sorting


@on_its_device
def numbers_by_sorting(array: Array, counted: bool, dtype: ItemType) -> tuple[Items, Items]:
    """As `colkern.operations.dictionary_tables.numbers_by_table`, on any device."""
    target = target_of(array.device)
    nulls = array.null_count
    split = split_nulls(array) if nulls else None
    chosen = None if split is None else split[: array.length - nulls]
    words = number_words(array)
    by_hash = words is None or words.width > 1
    if words is None or by_hash:
        keys = hashes_of(target, array, hashing.state_of(0))
    else:
        keys = target.output(array.length, np.uint64)
        target.map(sorting.order_integers, array.length, words.words, 1, 0, 0, 0, keys)
    positions = target.sort_positions(keys, chosen)
    marks = target.output(len(positions), np.int64)
    target.map(kernels.mark_groups, len(positions), keys, positions, marks)
    groups = target.scan(marks, np.int64)
    firsts = target.output(len(positions) + 1, np.uint64)
    target.map(kernels.group_firsts, len(positions), positions, groups, firsts)
    numbered = target.allocate(array.length, np.uint64)
    slots = (len(positions), positions, groups)
    unlike = None
    if by_hash:
        # Started before the groups are counted, so that a device waits for both numbers at once.
        target.map(kernels.number_groups, *slots, firsts << np.uint64(32), numbered)
        unlike = unlike_counter(array)(0, numbered)
    count = target.item(groups, len(positions))
    if unlike is not None and unlike():
        return numbers_by_sorting(byte_ranks(array), counted, dtype)
    if split is None or not counted:
        firsts = firsts[:count]
    else:
        firsts = firsts[: count + 1]
        firsts[count:] = split[array.length - nulls :][:1]
    order = target.sort_positions(firsts)
    entries = target.output(len(order), np.uint64)
    target.map(kernels.rank, len(order), order, firsts, entries)
    target.map(kernels.number_groups, *slots, entries, numbered)
    if split is not None and counted:
        numbered[split[array.length - nulls :]] = entries[count:]
    return low_words(numbered).astype(dtype), firsts[order].view(np.int64)
