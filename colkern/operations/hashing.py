"""`hash_columns`, a hash of each row; and `partition_indices`, which sorts rows into partitions.

Columnar format 1.5: "Physical Memory Layout", every layout.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from colkern import schema as s
from colkern.arrays import Array
from colkern.dispatch import Dispatch, by_layout
from colkern.kernels import hashing, runs, sorting
from colkern.layouts import LayoutKind, Role
from colkern.memory import HOST
from colkern.operations.arguments import Kind, operation
from colkern.operations.number_words import number_words
from colkern.operations.operands import (
    buffer_addresses,
    buffer_sizes,
    integers,
    offset_ends,
    unsigned,
    validity_of,
)
from colkern.operations.position_checks import require_valid
from colkern.targets import Argument, Items, Target, on_its_device, target_of

_MOST_PARTITIONS = 1 << 32
_MASKS = np.array(hashing.run_masks(), np.uint64)


@operation(kind=Kind.ELEMENT_WISE)
def hash_columns(arrays: Sequence[Array], *, seed: int = 0) -> Array:
    """One hash (uint64) for each row of one or several columns of one length.

    The same values have the same hash in every process, on every machine and device, and in every
    layout: integers of any width and sign, booleans (0 and 1), dates, times and decimals of up to 64
    bits by the integer that they hold; text and bytes by their bytes, be they strings, views or of
    fixed size; dictionary and run-end encoded values by the value; lists by their elements. Both zeros
    hash alike, as do all NaNs; other floats are hashed by their bits, which depend on the width.
    Decimals of 128 and 256 bits are hashed by their bytes. Units, scales and time zones are ignored.
    Nulls have a hash of their own. `colkern.kernels.hashing` defines the function.

    Args:
        arrays: The columns, on one device. The hash of one column is that of its values.
        seed: A seed from 0 to 2^64 - 1; each gives other hashes.

    Raises:
        ValueError: If there is no column, their lengths differ, or the seed is out of its range.
    """
    if not arrays:
        raise ValueError("arrays: need at least one")
    if not 0 <= seed < 1 << 64:
        raise ValueError(f"seed: expected 0 to 2**64 - 1, got {seed}")
    for position, array in enumerate(arrays):
        if array.length != arrays[0].length:
            raise ValueError(
                f"arrays: number {position} has {array.length} values, not {arrays[0].length}"
            )
        require_valid(array)
    state = hashing.state_of(seed)
    first, *others = arrays
    # An array of nulls without a bitmap is on no device; it is hashed on that of the others.
    device = next((array.device for array in arrays if array.device != HOST), HOST)
    target = target_of(device)
    hashes = hashes_of(target, first, state)
    for array in others:
        _combine(target, array, state, hashes)
    return integers(target, hashes)


@operation
def partition_indices(hashes: Array, partitions: int) -> tuple[Array, Array]:
    """The positions (uint64) of rows sorted by partition, and the start of each partition there (int64).

    Partition `p` has the rows at `positions[offsets[p] : offsets[p + 1]]`, in their order; they are
    those with `(hash >> 32) * partitions >> 32 == p`.

    Args:
        hashes: uint64 without nulls, as from `hash_columns`.
        partitions: The number of partitions, from 1 to 2^32.

    Raises:
        TypeError: If `hashes` are of another type.
        ValueError: If they have nulls, or `partitions` is out of its range.
    """
    if hashes.type != s.uint64():
        raise TypeError(f"hashes: expected uint64, got {hashes.type}")
    if hashes.null_count:
        raise ValueError("hashes: must not be null")
    if not 0 < partitions <= _MOST_PARTITIONS:
        raise ValueError(f"partitions: expected 1 to 2**32, got {partitions}")
    target = target_of(hashes.device)
    positions, starts = partitioned(target, hashes.items(Role.DATA), partitions)
    return integers(target, positions), integers(target, starts)


def partitioned(target: Target, hashes: Items, partitions: int) -> tuple[Items, Items]:
    """As `partition_indices`, for items on a target."""
    numbers = target.output(len(hashes), np.uint64)
    target.map(hashing.number_partitions, len(hashes), hashes, partitions, numbers)
    return sorted_by_number(target, numbers, partitions)


def sorted_by_number(target: Target, numbers: Items, count: int) -> tuple[Items, Items]:
    """The positions (uint64) sorted by numbers (uint64) below `count`, and the start of each (int64)."""
    positions = target.sort_positions(numbers)
    starts = target.output(count + 1, np.int64)
    target.map(sorting.group_starts, count + 1, numbers, positions, starts)
    return positions, starts


_HASH: Dispatch[LayoutKind, Callable[[Target, Array, int, Items], None]] = by_layout("hash_columns")


def hashes_of(target: Target, array: Array, state: int) -> Items:
    """The hash of each slot of a checked array (uint64[n], which the caller may write to)."""
    out = target.output(array.length, np.uint64)
    if array.length:
        _HASH[array.layout.kind](target, array, state, out)
    return out


def _combine(target: Target, array: Array, state: int, hashes: Items) -> None:
    """Combine the hashes of rows with another column."""
    own = hashes_of(target, array, state)
    target.map(hashing.combine_hashes, array.length, own, hashes)


@_HASH.of(LayoutKind.NULL)
def _hash_null(target: Target, array: Array, state: int, out: Items) -> None:
    none = target.table([0] * -(-array.length // 8), np.uint8)
    target.map(hashing.hash_nulls, array.length, none, 0, state, out)


@_HASH.of(LayoutKind.FIXED_SIZE)
def _hash_fixed(target: Target, array: Array, state: int, out: Items) -> None:
    numbers = number_words(array)
    if numbers is None or numbers.width > 1:
        byte_hasher(target, array, state)(0, array.length, out)
        return
    validity = validity_of(array, target)
    if numbers.infinity:
        floats = (numbers.words, numbers.minus, numbers.infinity)
        target.map(hashing.hash_floats, array.length, *floats, *validity, state, out)
    else:
        above = (1 << 64) - (1 << numbers.bits)
        integers = (numbers.words, numbers.minus, above)
        target.map(hashing.hash_integers, array.length, *integers, *validity, state, out)


@_HASH.of(LayoutKind.BINARY, LayoutKind.BINARY_VIEW)
def _hash_bytes(target: Target, array: Array, state: int, out: Items) -> None:
    byte_hasher(target, array, state)(0, array.length, out)


Hasher: TypeAlias = Callable[[int, int, Items], None]
"""Writes the hashes of slots `begin` to `end` to an output (uint64[])."""


def byte_hasher(target: Target, array: Array, state: int) -> Hasher:
    """A function that writes the hashes (uint64) of the slots of a flat array, by their bytes."""
    masks = run_masks(target)
    bitmap, offset = validity_of(array, target)
    values = byte_values(array)
    if isinstance(values, ViewBytes):
        views, addresses = values
        sizes = target.table(buffer_sizes(array), np.int64)

        def hash_views(begin: int, end: int, out: Items) -> None:
            arguments = (views[2 * begin :], addresses, sizes, masks, bitmap, offset + begin, state)
            target.map(hashing.hash_views, end - begin, *arguments, out)

        return hash_views
    offsets, base, size, width = values

    def hash_strings(begin: int, end: int, out: Items) -> None:
        arguments = (offsets[begin:], base, size, masks, bitmap, offset + begin, state)
        target.map(hashing.hash_strings, end - begin, *arguments, out)

    def hash_fixed(begin: int, end: int, out: Items) -> None:
        part = (base + begin * width, width, size - begin * width, masks)
        target.map(hashing.hash_fixed_bytes, end - begin, *part, bitmap, offset + begin, state, out)

    return hash_strings if len(offsets) else hash_fixed


class ViewBytes(NamedTuple):
    """Views as words (uint64[2 * n]), and the addresses of the data buffers (uint64[])."""

    views: Items
    addresses: Items


class StringBytes(NamedTuple):
    """Values stored one after the other."""

    offsets: Items  #: The begin and end of each value; empty if all have the same width.
    base: int  #: The address of the bytes; 0 if there are none.
    size: int  #: The number of bytes.
    width: int  #: The bytes of each value, if there are no offsets.


def byte_values(array: Array) -> ViewBytes | StringBytes:
    """The values of a flat array, in the form for kernels that read bytes."""
    target = target_of(array.device)
    if array.layout.kind is LayoutKind.BINARY_VIEW:
        addresses = target.table(buffer_addresses(array), np.uint64)
        return ViewBytes(array.items(Role.VIEWS).view(np.uint64), addresses)
    if array.layout.kind is LayoutKind.BINARY:
        data = array.buffer(Role.BYTES)
        base, size = (data.address, data.size) if data is not None and data.size else (0, 0)
        return StringBytes(array.items(Role.OFFSETS), base, size, 0)
    data = array.buffer(Role.DATA)
    width = array.layout.spec(Role.DATA).dtype.itemsize
    begin = array.offset * width
    base, size = (data.address + begin, data.size - begin) if data is not None and width else (0, 0)
    return StringBytes(target.table([], np.int32), base, size, width)


def run_masks(target: Target) -> Items:
    """The table (uint64[]) for kernels that read bytes as words."""
    return target.table(_MASKS, np.uint64)


@_HASH.of(LayoutKind.DICTIONARY)
def _hash_dictionary(target: Target, array: Array, state: int, out: Items) -> None:
    assert array.dictionary is not None
    hashes = hashes_of(target, array.dictionary, state)
    words = unsigned(array.items(Role.DATA))
    validity = validity_of(array, target)
    target.map(hashing.hash_indices, array.length, words, hashes, *validity, state, out)


@_HASH.of(LayoutKind.RUN_END_ENCODED)
def _hash_runs(target: Target, array: Array, state: int, out: Items) -> None:
    ends, values = array.children
    hashes = hashes_of(target, values, state)
    items = ends.items(Role.DATA)
    target.map(runs.decode_runs, array.length, items, hashes, array.offset, out)


@_HASH.of(LayoutKind.LIST)
def _hash_list(target: Target, array: Array, state: int, out: Items) -> None:
    offsets = array.items(Role.OFFSETS)
    ((first, last),) = offset_ends(array)
    child = array.children[0].slice(first, last - first)
    sizes = target.table([], offsets.dtype)
    _hash_elements(target, array, state, (offsets, sizes, 0, first), child, out)


@_HASH.of(LayoutKind.LIST_VIEW)
def _hash_list_view(target: Target, array: Array, state: int, out: Items) -> None:
    lists = (array.items(Role.OFFSETS), array.items(Role.SIZES), 0, 0)
    _hash_elements(target, array, state, lists, array.children[0], out)


@_HASH.of(LayoutKind.FIXED_SIZE_LIST)
def _hash_fixed_list(target: Target, array: Array, state: int, out: Items) -> None:
    storage = array.type.storage
    assert isinstance(storage, s.FixedSizeList)
    size = storage.list_size
    child = array.children[0].slice(array.offset * size, array.length * size)
    none = target.table([], np.int32)
    _hash_elements(target, array, state, (none, none, size, 0), child, out)


def _hash_elements(
    target: Target, array: Array, state: int, lists: tuple[Argument, ...], child: Array, out: Items
) -> None:
    hashes = hashes_of(target, child, state)
    validity = validity_of(array, target)
    target.map(hashing.hash_lists, array.length, *lists, hashes, *validity, state, out)


@_HASH.of(LayoutKind.STRUCT)
@on_its_device
def _hash_struct(target: Target, array: Array, state: int, out: Items) -> None:
    out[:] = hashing.sequence_start(np.uint64(state), np.uint64(len(array.children)))
    for child in array.children:
        _combine(target, child.slice(array.offset, array.length), state, out)
    bitmap, offset = validity_of(array, target)
    if len(bitmap):
        target.map(hashing.hash_nulls, array.length, bitmap, offset, state, out)


@_HASH.of(LayoutKind.SPARSE_UNION, LayoutKind.DENSE_UNION)
def _hash_union(target: Target, array: Array, state: int, out: Items) -> None:
    storage = array.type.storage
    assert isinstance(storage, s.Union)
    ids = array.items(Role.TYPE_IDS).view(np.uint8)
    sparse = storage.mode == "sparse"
    offsets = target.table([], np.int32) if sparse else array.items(Role.OFFSETS)
    for code, child in zip(storage.type_codes, array.children, strict=True):
        shown = child.slice(array.offset, array.length) if sparse else child
        hashes = hashes_of(target, shown, state)
        target.map(hashing.pick_hashes, array.length, ids, offsets, code, hashes, out)
