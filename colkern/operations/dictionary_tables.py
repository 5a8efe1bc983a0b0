"""Distinct values by a hash table on the CPU: it runs the kernels of `colkern.kernels.dictionaries`.

Slots are looked up a chunk at a time. A full table is copied into a larger one, and the chunk goes on.
Byte strings are numbered by their hashes, and then compared with the first value of the same number. If
one differs, all are numbered again by their ranks instead of hashes.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from functools import partial

import numpy as np

from colkern.arrays import Array
from colkern.cpu.threads import run_ranges
from colkern.kernels import dictionaries as kernels
from colkern.kernels import hashing
from colkern.kernels.dictionaries import FIRSTS, HEAD, NO_VALUE, NULLS, SMALL_BITS
from colkern.memory import Later
from colkern.operations.hashing import ViewBytes, byte_hasher, byte_values, run_masks
from colkern.operations.number_words import number_words, word_range
from colkern.operations.operands import validity_of
from colkern.operations.string_data import byte_ranks
from colkern.targets import Items, ItemType, target_of

CHUNK = 1 << 15
"""The number of slots that are looked up at once, such that their numbers fit a cache."""

_FEW = 64
"""The number of slots that are looked at first for their range."""

OPEN = (1 << 64) - 1
"""The number of slots that may add values, if all may."""

_FIRST_BITS = 11

_LIKELY = 16
"""A table starts with this many places for each expected value."""

_GROWTH_BITS = 2

_CROWDED_BITS = 3
"""As `_GROWTH_BITS`, if most slots had new values: a table for all slots would be past the caches early."""


_FACTOR = secrets.randbits(63) & ~63
"""The upper bits of each `spread`: those of this process, and of what is forked from it."""


def spread_of(bits: int) -> int:
    """The `spread` of tables of 2^`bits` slots, in this process."""
    return _FACTOR | 64 - bits


def numbers_by_table(
    array: Array, counted: bool, dtype: ItemType | None, expected: int = 0, closed: int = OPEN
) -> tuple[Items, Items]:
    """The number (dtype[n]) of the value in each slot, and the first slot (int64[]) of each value.

    Values are numbered in the order of their first slots. Numbers too large for `dtype` wrap around. The
    array is flat, in host memory; see `colkern.operations.dictionaries.number_values`.
    """
    numbers = number_words(array)
    is_one_word = numbers is not None and numbers.width == 1 and not numbers.infinity
    if numbers is not None and is_one_word and counted and dtype is None and closed == OPEN:
        return np.zeros(0, np.uint32), _firsts(array, numbers.words)
    table = _Table(array, counted, dtype, expected, closed)
    if numbers is not None and numbers.width == 1:
        table.number_all(lambda begin, end: numbers.words[begin:end])
        return table.numbers, np.concatenate(table.firsts)
    target = target_of(array.device)
    write_hashes = byte_hasher(target, array, hashing.state_of(0))

    def hashed(begin: int, end: int) -> Items:
        hashes = target.output(end - begin, np.uint64)
        write_hashes(begin, end, hashes)
        return hashes

    if table.number_all(hashed, unlike_counter(array)):
        return table.numbers, np.concatenate(table.firsts)
    return numbers_by_table(byte_ranks(array), counted, dtype, expected, closed)


def numbers_by_value(
    array: Array, counted: bool, dtype: ItemType | None, closed: int = OPEN
) -> tuple[Items, Items] | None:
    """As `numbers_by_table`, with an entry for each integer of a small range; None for other values."""
    numbers = number_words(array)
    if numbers is None or numbers.width > 1 or numbers.infinity:
        return None
    # Mostly, the first slots already show that the range is not small.
    target, low, values, most = target_of(array.device), 0, 0, array.length
    for count in sorted({min(_FEW, most), min(CHUNK, most), most}):
        low, high = word_range(target, numbers.words[:count], numbers.minus)
        values = high - low + 1
        if values > 2 * min(array.length, closed):
            return None
    words = (numbers.words, numbers.minus, low, *validity_of(array, target))
    most = values + (counted and array.null_count > 0)
    out = target.allocate(1 + most + 1 + values, np.uint64)
    table = out[1 + most :]
    # Nulls that are no value have the number 0.
    table[0] = 0 if counted else 1
    target.map(kernels.list_small_values, min(array.length, closed), *words, most, out)
    numbered = target.output(array.length if dtype else 0, dtype or np.uint32)
    table -= np.uint64(1)
    target.map(
        kernels.numbers_of_small_values, len(numbered), *words, low_words(table).copy(), numbered
    )
    return numbered, out[1 : 1 + int(out[0])].astype(np.int64)


def _firsts(array: Array, words: Items) -> Items:
    """The first slot (int64[]) of each distinct word, null counting as one, by a table of keys only."""
    target, bits, done = target_of(array.device), _FIRST_BITS, 0
    bitmap, offset = validity_of(array, target)
    out = target.allocate(FIRSTS + (5 << bits - 2) + 1, np.uint64)
    out[1:FIRSTS] = 1
    while True:
        table = len(out) - (1 << bits)
        address = target.address(out) + 8 * table
        slots = (words[done:], bitmap, offset + done, done, table, spread_of(bits), address)
        done += target.reduce(kernels.first_words, array.length - done, *slots, out)
        count = FIRSTS + int(out[0])
        if done == array.length:
            return out[FIRSTS:count].astype(np.int64)
        more = _CROWDED_BITS if count > done // 2 else _GROWTH_BITS
        bits = min(bits + more, (4 * array.length).bit_length())
        old, out = out, target.allocate(FIRSTS + (5 << bits - 2) + 1, np.uint64)
        out[:count] = old[:count]
        keys = old[table:]
        target.map(kernels.grow_keys, len(keys), keys, len(out) - (1 << bits), spread_of(bits), out)


def _taken_firsts(out: Items, chunk: int) -> Items:
    """The first slots of the values that a kernel listed, whose place the next call may use."""
    begin = HEAD + chunk
    firsts = out[begin : int(out[1])].astype(np.int64)
    out[1] = begin
    return firsts


def low_words(words: Items) -> Items:
    """The lower 32 bits of each uint64."""
    return words.view(np.uint32)[::2]


def unlike_counter(array: Array) -> Callable[[int, Items], Later]:
    """A function that counts the slots whose bytes differ from the first value with the same number.

    It takes the first slot of a range, and uint64[] words for the range: the first slot of the value in
    the upper 32 bits, its number in the lower.
    """
    target = target_of(array.device)
    values = byte_values(array)
    is_view = isinstance(values, ViewBytes)
    kernel = kernels.count_unlike_views if is_view else kernels.count_unlike_strings
    arguments = (*values, run_masks(target))
    bitmap, offset = validity_of(array, target)

    def count_unlike(begin: int, numbered: Items) -> Later:
        slots = (bitmap, offset + begin, begin)
        return target.later(kernel, len(numbered), numbered, *arguments, *slots)

    return count_unlike


class _Table:
    """A table of keys and entries, and the numbers that it gives the values of an array."""

    def __init__(
        self,
        array: Array,
        counted: bool,
        dtype: ItemType | None,
        expected: int,
        closed: int,
    ) -> None:
        self._target = target_of(array.device)
        self._array = array
        self._closed = min(closed, array.length)
        self._chunk = min(array.length, CHUNK)
        # Arrays with more distinct values exist: then growing would move all of them.
        likely = min(_LIKELY * expected, 2 * array.length)
        self._bits = max(_FIRST_BITS, likely.bit_length())
        self._out = self._empty()
        self._out[1], self._out[NULLS + 1] = HEAD + self._chunk, 0 if counted else NO_VALUE
        self._is_numbered = dtype is not None
        self.numbers = self._target.output(array.length if dtype else 0, dtype or np.uint32)
        self.firsts: list[Items] = [np.zeros(0, np.int64)]

    def _empty(self) -> Items:
        # Used again, as fresh memory takes longer than to zero the table. The rest is written first.
        out = self._target.output(self._table + (2 << self._bits), np.uint64)
        out[:HEAD] = 0
        out[self._table :] = 0
        return out

    @property
    def _table(self) -> int:
        """The position of the table in the output of kernels."""
        return HEAD + 2 * self._chunk

    @property
    def _address(self) -> int:
        return self._target.address(self._out) + 8 * self._table

    def number_all(
        self,
        keys_of: Callable[[int, int], Items],
        count_unlike: Callable[[int, Items], Later] | None = None,
    ) -> bool:
        """Number the values by the keys that `keys_of` gives for slots `begin` to `end`.

        Returns:
            Whether equal keys mean equal values, as checked by `count_unlike`.
        """
        bitmap, offset = validity_of(self._array, self._target)
        for begin in range(0, self._closed, CHUNK):
            end = min(begin + CHUNK, self._closed)
            keys = keys_of(begin, end)
            done = begin
            while True:
                own = keys[done - begin :] if done > begin else keys
                place = (done, self._chunk, spread_of(self._bits), self._address)
                slots = (bitmap, offset + done, *place)
                arguments = (own, *slots, self._out)
                count = self._target.reduce(kernels.number_words, end - done, *arguments)
                numbered = self._out[HEAD : HEAD + count]
                if count_unlike is not None and count_unlike(done, numbered)():
                    return False
                if self._is_numbered:
                    self.numbers[done : done + count] = low_words(numbered)
                self.firsts.append(_taken_firsts(self._out, self._chunk))
                done += count
                if done == end:
                    break
                self._grow(done)

        rest = self._array.length - self._closed
        found = partial(self._find, keys_of, count_unlike)
        return rest == 0 or all(run_ranges(found, rest, ()))

    def _find(
        self,
        keys_of: Callable[[int, int], Items],
        count_unlike: Callable[[int, Items], Later] | None,
        start: int,
        stop: int,
    ) -> bool:
        """As `number_all`, for a range of the slots that add no value."""
        bitmap, offset = validity_of(self._array, self._target)
        table = (self._out, self._table, spread_of(self._bits), self._address)
        for begin in range(self._closed + start, self._closed + stop, CHUNK):
            end = min(begin + CHUNK, self._closed + stop)
            numbered = self._target.output(end - begin, np.uint64)
            slots = (keys_of(begin, end), bitmap, offset + begin, *table)
            self._target.map(kernels.find_words, end - begin, *slots, numbered)
            if count_unlike is not None and count_unlike(begin, numbered)():
                return False
            if self._is_numbered:
                self.numbers[begin:end] = low_words(numbered)
        return True

    def _grow(self, done: int) -> None:
        """Grow the table; by more if most slots so far had a new value."""
        old, most = self._out, (2 * self._closed).bit_length()
        most += most <= SMALL_BITS
        more = _CROWDED_BITS if int(old[0]) > done // 2 else _GROWTH_BITS
        # Else a last step of one bit would move nearly all values once more.
        self._bits = most if most - self._bits <= more + 1 else self._bits + more
        self._out = self._empty()
        self._out[:HEAD] = old[:HEAD]
        slots = old[self._table :]
        arguments = (slots, self._table, spread_of(self._bits), self._address)
        self._target.map(kernels.grow_table, len(slots) // 2, *arguments, self._out)
