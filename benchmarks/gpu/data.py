"""Material for launches, made on the device: nothing but small tables comes from the host.

Temporary arrays are as large as what is made, not larger: random numbers are made as 32-bit words and
looked at as the type that is wanted.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from colkern.cuda import memory
from colkern.kernels import views


class Data:
    """Arrays for one launch, in the memory of a target.

    Args:
        target: The target.
        slots: For how many slots: a multiple of 64.
    """

    def __init__(self, target: Any, slots: int) -> None:
        self.target, self.n = target, slots
        self.none = self.empty("u1")
        """A bitmap that is not there."""
        self.addressed: dict[int, int] = {}
        """The sizes of what kernels read by addresses."""
        self.reaches: list[float] = []
        """The share that offsets have of the largest one of their type."""
        self._library = np if target.device.kind == "cpu" else memory.array_library()
        self.held: list[Any] = []
        self._seed = 0

    # Arrays of `count` items, as many as there are slots if that is not given.

    def out(self, dtype: str, count: int | None = None) -> Any:
        """An output."""
        return self.target.allocate(self.n if count is None else count, dtype)

    def range(self, dtype: str, step: int = 1, start: int = 0, count: int | None = None) -> Any:
        """`start`, `start + step`, …"""
        count = self.n if count is None else count
        self.check(start + step * count, dtype)
        array = self._library.arange(count, dtype=dtype)
        array *= step
        array += start
        return array

    def words(self, dtype: str, count: int | None = None) -> Any:
        """Random bits: integers of any size."""
        size = (self.n if count is None else count) * np.dtype(dtype).itemsize
        self._seed += 1
        # The finalizer of MurmurHash3 over numbers in a row.
        array = self._library.arange(-(-size // 4), dtype="u4")
        array += self._seed * 0x9E3779B1 % (1 << 32)
        array ^= array >> 16
        array *= 0x85EBCA6B
        array ^= array >> 13
        array *= 0xC2B2AE35
        array ^= array >> 16
        return array.view("u1")[:size].view(dtype)

    def numbers(self, dtype: str, below: int, count: int | None = None, least: int = 0) -> Any:
        """Random integers from `least` on and below another."""
        array = self.words(f"u{np.dtype(dtype).itemsize}", count)
        array %= below - least
        array += least
        return array.view(dtype)

    def floats(self, dtype: str, count: int | None = None) -> Any:
        """Random whole numbers as floats, from 1 on."""
        return self.numbers(f"u{np.dtype(dtype).itemsize}", 10_000, count, 1).astype(dtype)

    def bits(self, count: int | None = None) -> Any:
        """A bitmap of which half is set."""
        return self.words("u1", ((self.n if count is None else count) + 7) // 8)

    def offsets(self, dtype: str, mean: int, count: int | None = None, least: int = 0) -> Any:
        """Offsets of values of `least` to `2 mean - least` items, `mean` of them on average.

        All values together have `count` times `mean` items exactly.
        """
        count = self.n if count is None else count
        array = self.range(dtype, mean, count=count + 1)
        away = self.numbers(dtype, mean - least + 1, count + 1)
        away[0] = away[-1] = 0
        array += away
        return array

    def repeated(self, values: Sequence[int], dtype: str, count: int | None = None) -> Any:
        """Those values again and again."""
        count = self.n if count is None else count
        return self._library.tile(self.table(values, dtype), -(-count // len(values)))[:count]

    def text(self, size: int, letters: Sequence[int] = ()) -> Any:
        """Bytes of text: random letters of ASCII, or those letters again and again."""
        return self.repeated(letters, "u1", size) if letters else self.numbers("u1", 123, size, 97)

    def table(self, values: Sequence[int], dtype: str) -> Any:
        """A few numbers."""
        return self.target.table(values, dtype)

    def empty(self, dtype: str) -> Any:
        return self.target.table([], dtype)

    def views(self, mean: int, letters: Sequence[int] = ()) -> Views:
        return Views(self, mean, letters)

    # Arrays that follow from others

    def blocks(self, size: int) -> int:
        """How many blocks of so many slots there are."""
        return -(-self.n // size)

    def scan(self, lengths: Any, dtype: str = "i8") -> Any:
        """`[0, l0, l0 + l1, …]`."""
        array = self.target.scan(lengths.astype(np.int64), np.dtype(dtype))
        self.check(self.last(array), dtype)
        return array

    def computed(self, kernel: Any, count: int, *args: Any) -> Any:
        """The output, which is the last argument, after a kernel has written it."""
        (self.target.reduce if kernel.returns else self.target.map)(kernel, count, *args)
        return args[-1]

    def last(self, array: Any) -> int:
        """Its last item."""
        return int(self.target.item(array, len(array) - 1))

    # What is read by address

    def address(self, array: Any) -> int:
        """Where an array begins that the kernel reads all of."""
        place: int = self.target.address(array)
        self.addressed[place] = max(array.nbytes, self.addressed.get(place, 0))
        self.held.append(array)
        return place

    def addresses(self, *arrays: Any) -> Any:
        """A table of where arrays begin."""
        return self.table([self.address(array) for array in arrays], "u8")

    def check(self, number: int, dtype: str) -> None:
        """Raise unless a type holds a number, which grows with the slots."""
        self.reaches.append(number / np.iinfo(dtype).max)
        if self.reaches[-1] > 1:
            raise OverflowError(
                f"{number} is more than {dtype} holds: give --size a smaller number"
            )


class Views:
    """Views of text, `mean` bytes on average, with what they point into.

    Args:
        data: Where arrays come from.
        mean: Up to 6 bytes all values are inline; up to 12, if all have the same letters.
        letters: So many letters that all values consist of; else they are of any length.
    """

    def __init__(self, data: Data, mean: int, letters: Sequence[int] = ()) -> None:
        self._data = data
        self._inline = mean <= (12 if letters else 6)
        count = data.n + 1
        self.offsets = data.range("i4", mean, count=count) if letters else data.offsets("i4", mean)
        self.bytes = data.text(data.n * mean, letters)
        masks = data.table(views.inline_masks(), "u8")
        base = data.target.address(self.bytes)
        args = (self.offsets, self.bytes, base, data.none, 0, masks, data.out("u8", 2 * data.n))
        self.words = data.computed(views.encode_views, data.n, *args)
        """uint64[2 n]"""
        self.items = self.words.view("i4")
        """int32[4 n]"""

    @property
    def sizes(self) -> Any:
        """The size of the data buffer."""
        return self._data.table([self.bytes.nbytes], "i8")

    @property
    def every_size(self) -> Any:
        """The size of the data buffer, then that of the views."""
        return self._data.table([self.bytes.nbytes, self.words.nbytes], "i8")

    @cached_property
    def addresses(self) -> Any:
        """The address of the data buffer."""
        return self._data.addresses(self._read)

    @cached_property
    def every_address(self) -> Any:
        """The address of the data buffer, then that of the views."""
        return self._data.addresses(self._read, self.words)

    @property
    def _read(self) -> Any:
        """The part of the data buffer that kernels read: all of it, or nothing if all values are inline."""
        return self._data.none if self._inline else self.bytes
