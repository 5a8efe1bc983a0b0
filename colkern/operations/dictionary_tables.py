"""Distinct values by a table on the CPU: the schedule of its kernels in `colkern.kernels.dictionaries`.

Slots are looked up a chunk at a time. A table that is full is put into a larger one, and the chunk
goes on where it stopped.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from colkern.arrays import Array
from colkern.kernels import Kernel, hashing
from colkern.kernels import dictionaries as kernels
from colkern.kernels.dictionaries import HEAD
from colkern.layouts import Role
from colkern.operations.hashing import hashes_of
from colkern.operations.number_words import NumberWords, number_words
from colkern.operations.targets import buffer_addresses, target_of, validity_of

CHUNK = 1 << 15
"""The slots that are looked up in one go: their numbers fit a cache."""

_FIRST_BITS = 11
_GROWTH_BITS = 2

_MANY = 1 << 14
"""From so many distinct values on, it is a guess that there are always new ones, if most were new."""

Lookup = Callable[[int, int], tuple[Any, ...]]
"""The values of slots `begin` to `end`, as a kernel takes them."""


def numbers_by_table(array: Array, counted: bool, dtype: Any) -> tuple[Any, Any]:
    """The number (dtype[n]) of each slot's value, and the first slot (int64[]) of each value.

    Values are numbered in the order of their first slots. What is too large for `dtype` is cut off.

    Args:
        array: A checked flat array in host memory.
        counted: Whether null is a value; else nulls have number 0.
        dtype: The type of the numbers.
    """
    numbers = number_words(array)
    if numbers is not None and numbers.width == 1 and not numbers.infinity:
        low, values = _range(numbers)
        if values <= 2 * array.length:
            return _by_value(array, numbers, low, values, counted, dtype)
    table = _Table(array, counted, dtype, *_lookup(array, numbers))
    table.number_all()
    return table.numbers, table.first_slots()


def _range(numbers: NumberWords) -> tuple[int, int]:
    """The least of some words (with the sign bit flipped), and how many there are up to the largest."""
    if len(numbers.words) == 0:
        return 0, 0
    kind = "i" if numbers.minus else "u"
    items = numbers.words.view(f"{kind}{numbers.words.dtype.itemsize}")
    low, high = int(items.min()), int(items.max())
    return low + numbers.minus, high - low + 1


def _by_value(
    array: Array, numbers: NumberWords, low: int, values: int, counted: bool, dtype: Any
) -> tuple[Any, Any]:
    """As `numbers_by_table`, with an entry for each value of a small range."""
    target = target_of(array.device)
    chunk = min(array.length, CHUNK)
    out = target.allocate(HEAD + chunk + values, np.uint64)
    made = target.output(array.length, dtype)
    bitmap, offset = validity_of(array, target)
    for begin in range(0, array.length, CHUNK):
        end = min(begin + CHUNK, array.length)
        words = (numbers.words[begin:end], numbers.minus, low)
        slots = (bitmap, offset + begin, int(counted), begin, chunk)
        target.map(kernels.number_small_values, end - begin, *words, *slots, out)
        made[begin:end] = out[HEAD : HEAD + end - begin]
    return made, _first_slots(target, out, HEAD + chunk, 1)


def _first_slots(target: Any, out: Any, table: int, width: int) -> Any:
    firsts = target.output(int(out[0]), np.int64)
    slots = target.frozen(out[table:])
    target.map(kernels.first_slots, len(slots) // width, slots, width, firsts)
    if out[1]:
        null = int(out[1])
        firsts[(null & 0xFFFF_FFFF) - 1] = null >> 32
    return firsts


def _lookup(array: Array, numbers: NumberWords | None) -> tuple[Kernel, Lookup]:
    """The kernel that looks the array's values up, and what it takes."""
    if numbers is not None and numbers.width == 1:
        return kernels.number_words, lambda begin, end: (numbers.words[begin:end],)
    state = hashing.state_of(0)
    target = target_of(array.device)

    def hashes(begin: int, end: int) -> Any:
        return target.frozen(hashes_of(target, array.slice(begin, end - begin), state))

    kernel, values = byte_values(array)
    found = kernels.number_views if kernel == "views" else kernels.number_strings
    return found, lambda begin, end: (hashes(begin, end), *values)


def byte_values(array: Array) -> tuple[str, tuple[Any, ...]]:
    """What the values of an array of bytes are to the kernels: "views" or "strings", with arguments."""
    target = target_of(array.device)
    if array.layout.name == "variable-size binary view":
        addresses = target.table(buffer_addresses(array), np.uint64)
        return "views", (array.items(Role.VIEWS).view(np.uint64), addresses)
    if array.layout.name == "variable-size binary":
        data = array.buffer(Role.BYTES)
        base, size = (data.address, data.size) if data is not None and data.size else (0, 0)
        return "strings", (array.items(Role.OFFSETS), base, size, 0)
    data = array.buffer(Role.DATA)
    width = array.layout.spec(Role.DATA).dtype.itemsize
    begin = array.offset * width
    base, size = (data.address + begin, data.size - begin) if data is not None and width else (0, 0)
    return "strings", (target.table([], np.int32), base, size, width)


class _Table:
    """A table of pairs of keys and entries, and the numbers of an array's values by it."""

    def __init__(
        self, array: Array, counted: bool, dtype: Any, kernel: Kernel, lookup: Lookup
    ) -> None:
        self._target = target_of(array.device)
        self._array = array
        self._counted = int(counted)
        self._kernel = kernel
        self._lookup = lookup
        self._chunk = min(array.length, CHUNK)
        self._bits = _FIRST_BITS
        self._out = self._empty()
        self.numbers = self._target.output(array.length, dtype)

    def _empty(self) -> Any:
        return self._target.allocate(HEAD + self._chunk + (2 << self._bits), np.uint64)

    def number_all(self) -> None:
        bitmap, offset = validity_of(self._array, self._target)
        for begin in range(0, self._array.length, CHUNK):
            end = min(begin + CHUNK, self._array.length)
            values = self._lookup(begin, end)
            done = begin
            while True:
                sliced = [v[done - begin :] if k == 0 else v for k, v in enumerate(values)]
                slots = (bitmap, offset + done, self._counted, done, self._chunk, 64 - self._bits)
                count = self._target.reduce(self._kernel, end - done, *sliced, *slots, self._out)
                self.numbers[done : done + count] = self._out[HEAD : HEAD + count]
                done += count
                if done == end:
                    break
                self._grow(done)

    def _grow(self, done: int) -> None:
        """Make room: for all that there may be, if most slots up to now had values of their own."""
        old, most = self._out, (2 * self._array.length).bit_length()
        crowded = int(old[0]) > max(done // 2, _MANY)
        self._bits = most if crowded else min(self._bits + _GROWTH_BITS, most)
        self._out = self._empty()
        table = HEAD + self._chunk
        self._out[:table] = old[:table]
        slots = self._target.frozen(old[table:])
        arguments = (slots, table, 64 - self._bits)
        self._target.map(kernels.grow_table, len(slots) // 2, *arguments, self._out)

    def first_slots(self) -> Any:
        return _first_slots(self._target, self._out, HEAD + self._chunk, 2)
