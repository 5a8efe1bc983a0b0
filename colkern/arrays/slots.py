"""Checked positions of the values of slots: in bitmaps, bytes, children and dictionaries.

Values as Python objects and equality read through these functions, so each bound is checked in one
place. Slots (int64) count from the start of an array; positions that are returned count in the buffer,
the child or the dictionary that they point into. Host memory only.

Columnar format 1.5: "Physical Memory Layout".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from colkern.arrays import Array
from colkern.cpu.python_objects import Values as Values
from colkern.errors import InvalidArrowError, LimitExceededError
from colkern.layouts import VIEW_BYTES, VIEW_INLINE_BYTES, ChildLength, Role
from colkern.memory import EMPTY, Buffer, Items
from colkern.schema import FixedSizeList, Union

Slots: TypeAlias = NDArray[np.int64]

INLINE = -1
"""The source of a view whose bytes stand in the view itself."""


def all_slots(array: Array) -> Slots:
    """Every slot of an array, in order."""
    return np.arange(array.length, dtype=np.int64)


def require_host(array: Array, argument: str) -> None:
    """Raise `ValueError` if the array's bytes are not in host memory."""
    if array.device.kind != "cpu":
        raise ValueError(
            f"{argument}: its bytes live on {array.device}; copy it to the host first, "
            f"with colkern.to_host"
        )


def items_at(array: Array, role: Role, slots: Slots) -> Items:
    """The items of a one-item-a-slot buffer at those slots, copied."""
    dtype = array.layout.spec(role).dtype
    if dtype.itemsize == 0:
        return np.empty(slots.size, dtype)
    return np.asarray(array.items(role)[slots])


def bits_at(array: Array, role: Role, slots: Slots) -> NDArray[np.bool_]:
    """The bits of a bitmap at those slots."""
    bitmap: NDArray[np.uint8] = (array.buffer(role) or EMPTY).array
    places = slots + array.offset
    if slots.size > array.length >> 3:
        # Of many, a byte for each of the array's slots takes a tenth of the time.
        begin, end = array.offset >> 3, array.offset + array.length + 7 >> 3
        whole = np.unpackbits(bitmap[begin:end], bitorder="little").view(np.bool_)
        return np.asarray(whole[places - 8 * begin])
    bits: NDArray[np.uint8] = (bitmap[places >> 3] >> (places & 7).astype(np.uint8)) & 1
    return np.not_equal(bits, 0)


def valid_at(array: Array, slots: Slots) -> NDArray[np.bool_] | None:
    """Whether each of those slots is valid by the array's own bitmap; None if it has none."""
    if not array.layout.has_validity or array.known_null_count == 0:
        return None
    if array.buffer(Role.VALIDITY) is None:
        return None
    return bits_at(array, Role.VALIDITY, slots)


def concatenated(starts: Slots, sizes: Slots) -> Slots:
    """The places of the ranges `[starts[i], starts[i] + sizes[i])`, one range after the other."""
    if sizes.sum(dtype=np.float64) >= 2.0**62:
        raise LimitExceededError(f"{sizes.size} lists with more than 2**62 elements together")
    stops = np.cumsum(sizes)
    total = int(stops[-1]) if sizes.size else 0
    return np.arange(total, dtype=np.int64) + np.repeat(starts - stops + sizes, sizes)


def follow_each_other(starts: Slots, sizes: Slots) -> bool:
    """Whether each range starts where the one before it ends."""
    return bool(np.array_equal(starts[1:], starts[:-1] + sizes[:-1]))


def byte_ranges(array: Array, slots: Slots) -> tuple[Slots, Slots]:
    """Starts and sizes, in the bytes buffer, of variable-size binary values."""
    size = (array.buffer(Role.BYTES) or EMPTY).size
    return _between_offsets(array, slots, size, f"{size} bytes")


def element_ranges(array: Array, slots: Slots) -> tuple[Slots, Slots]:
    """Starts and sizes, in the only child, of the values of any list layout or map."""
    length = array.children[0].length
    child = f"a child of {length} values"
    rule = array.layout.child_length
    if rule is ChildLength.LAST_OFFSET:
        return _between_offsets(array, slots, length, child)
    if rule is ChildLength.OFFSET_AND_SIZE:
        starts = items_at(array, Role.OFFSETS, slots).astype(np.int64)
        sizes = items_at(array, Role.SIZES, slots).astype(np.int64)
        bad = (starts < 0) | (sizes < 0) | (starts > length) | (sizes > length - starts)
        _refuse(slots, bad, lambda i: f"offset {starts[i]} and size {sizes[i]} into {child}")
        return starts, sizes
    storage = array.type.storage
    assert isinstance(storage, FixedSizeList)
    list_size = storage.list_size
    needed = (array.offset + array.length) * list_size
    if needed > length:
        raise InvalidArrowError(f"lists of {list_size} need {needed} values, found {child}")
    return (slots + array.offset) * list_size, np.full(slots.size, list_size, np.int64)


def _between_offsets(array: Array, slots: Slots, limit: int, what: str) -> tuple[Slots, Slots]:
    offsets = array.items(Role.OFFSETS)
    starts = offsets[slots].astype(np.int64)
    stops = offsets[slots + 1].astype(np.int64)
    bad = (starts < 0) | (stops < starts) | (stops > limit)
    _refuse(slots, bad, lambda i: f"offsets {starts[i]} to {stops[i]} into {what}")
    return starts, stops - starts


@dataclass(frozen=True, slots=True)
class Views:
    """Views, taken apart."""

    raw: NDArray[np.uint8]  #: The views, uint8[n, 16].
    sizes: Slots
    sources: Slots  #: The data buffer of each value, `INLINE` for values of up to 12 bytes.
    starts: Slots  #: The start of each value in its data buffer, or in the bytes of `raw`.

    def parts(
        self, data_buffers: tuple[Buffer | None, ...]
    ) -> Iterator[tuple[NDArray[np.intp], NDArray[np.uint8]]]:
        """For each source in use: the positions of its values, and its bytes."""
        for source in np.unique(self.sources).tolist():
            positions = np.flatnonzero(self.sources == source)
            if source == INLINE:
                yield positions, self.raw.reshape(-1)
            else:
                yield positions, (data_buffers[source] or EMPTY).array


def views_at(array: Array, slots: Slots) -> Views:
    """The views at those slots, each checked to lie within a data buffer."""
    raw = items_at(array, Role.VIEWS, slots).view(np.uint8).reshape(-1, VIEW_BYTES)
    words = raw.view("<i4").astype(np.int64)
    sizes, sources, starts = words[:, 0], words[:, 2], words[:, 3]
    _refuse(slots, sizes < 0, lambda i: f"a view of {sizes[i]} bytes")
    inline = sizes <= VIEW_INLINE_BYTES
    sources = np.where(inline, INLINE, sources)
    starts = np.where(inline, np.arange(slots.size) * VIEW_BYTES + 4, starts)

    buffers = array.data_buffers
    unknown = ~inline & ((sources < 0) | (sources >= len(buffers)))
    _refuse(slots, unknown, lambda i: f"data buffer {sources[i]} of {len(buffers)}")
    # The inline views find the room of `raw` in the last place, which is index -1.
    rooms = np.array([*((b or EMPTY).size for b in buffers), raw.size], np.int64)[sources]
    outside = (starts < 0) | (starts + sizes > rooms)
    _refuse(
        slots,
        outside,
        lambda i: f"{sizes[i]} bytes from {starts[i]} on in a data buffer of {rooms[i]}",
    )
    return Views(raw, sizes, sources, starts)


def same_slots(array: Array, child: int, slots: Slots) -> Slots:
    """The slots in a child that runs beside its parent: of a struct or a sparse union."""
    have, need = array.children[child].length, array.offset + array.length
    if have < need:
        raise InvalidArrowError(f"child {child} has {have} values, {need} are needed")
    return slots + array.offset


def union_members(array: Array, slots: Slots) -> Iterator[tuple[int, NDArray[np.intp], Slots]]:
    """For each child in use: its number, which of `slots` it holds, and its own slots for them."""
    storage = array.type.storage
    assert isinstance(storage, Union)
    codes = storage.type_codes
    ids = items_at(array, Role.TYPE_IDS, slots)
    _refuse(slots, ~np.isin(ids, codes), lambda i: f"type id {ids[i]}; the union has {codes}")
    beside = array.layout.child_length is ChildLength.SAME
    for child, code in enumerate(codes):
        positions = np.flatnonzero(ids == code)
        if not positions.size:
            continue
        chosen = slots[positions]
        if beside:
            yield child, positions, same_slots(array, child, chosen)
            continue
        places = items_at(array, Role.OFFSETS, chosen).astype(np.int64)
        _refuse_outside(chosen, places, array.children[child].length, f"child {child}")
        yield child, positions, places


def dictionary_slots(array: Array, slots: Slots) -> Slots:
    """The slots in the dictionary that those slots point at."""
    assert array.dictionary is not None
    indices = items_at(array, Role.DATA, slots)
    _refuse_outside(slots, indices, array.dictionary.length, "a dictionary")
    return indices.astype(np.int64)


def run_slots(array: Array, slots: Slots) -> Slots:
    """The run, which is the slot in the child `values`, of each slot."""
    # Only the runs in use are looked at, so a slice of a long array costs what the slice costs.
    run_ends, values = array.children
    if not slots.size:
        return slots
    ends = run_ends.items(Role.DATA)
    places = slots + array.offset
    runs = np.searchsorted(ends, places, side="right").astype(np.int64)
    first, last = int(runs.min()), int(runs.max())
    if last >= ends.size or last >= values.length:
        raise InvalidArrowError(
            f"{ends.size} run ends and {values.length} values stop before {places.max() + 1} slots"
        )
    used = np.arange(max(first - 1, 0), last + 1, dtype=np.int64)
    valid = valid_at(run_ends, used)
    if valid is not None and not valid.all():
        raise InvalidArrowError("a run end is null", place=f"run {used[~valid][0]}")
    # A search in run ends that go up and down can miss the first run, so it is looked at on its own.
    missed = (int(ends[0]) > int(places.min())) != (first == 0)
    if int(ends[0]) <= 0 or missed or (np.diff(ends[used].astype(np.int64)) <= 0).any():
        raise InvalidArrowError(
            "run ends must be positive and increase", place=f"runs {used[0]} to {last}"
        )
    return runs


def _refuse_outside(slots: Slots, places: Items, length: int, what: str) -> None:
    bad = (places < 0) | (places >= length)
    _refuse(slots, bad, lambda i: f"index {places[i]} into {what} of {length} values")


def _refuse(slots: Slots, bad: NDArray[np.bool_], message: Callable[[int], str]) -> None:
    if bad.any():
        first = int(np.flatnonzero(bad)[0])
        raise InvalidArrowError(message(first), place=f"slot {slots[first]}")
