"""Strings as the kernels of `colkern.kernels.strings` take them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from colkern.arrays import Array
from colkern.layouts import Role
from colkern.operations.convert import offsets_to_views
from colkern.operations.operands import validity_of, view_addresses
from colkern.targets import Items, Target

_WORD = 8


class Text(NamedTuple):
    """Values with offsets."""

    offsets: Items  #: The begin and end of each value.
    data: Items  #: Their bytes, at least a word of them.
    base: int  #: The address of `data`.

    @property
    def arguments(self) -> tuple[Items, int, int]:
        """The offsets, the address of the bytes, and where the last word of them begins."""
        return self.offsets, self.base, len(self.data) - _WORD


def text_of(array: Array, target: Target) -> Text:
    """The values of an array with offsets; few bytes are copied to where a whole word can be read.

    Must be kept until the kernels that are given the address have run.
    """
    offsets, buffer = array.items(Role.OFFSETS), array.buffer(Role.BYTES)
    if buffer is not None and buffer.size >= _WORD:
        return Text(offsets, buffer.array, buffer.address)
    data = target.allocate(_WORD, np.uint8)
    if buffer is not None:
        target.copy(buffer.array, data)
    return Text(offsets, data, target.address(data))


def views_of(array: Array, target: Target) -> tuple[Items, Items, Items, int]:
    """The views of an array as words, the addresses of its data buffers and of them, its validity."""
    words = array.items(Role.VIEWS).view(np.uint64)
    return words, target.table(view_addresses(array), np.uint64), *validity_of(array, target)


def as_views(array: Array) -> Array:
    """An array of strings or of binary values with views."""
    return array if array.layout.variadic else offsets_to_views(array)


def pattern_of(value: bytes, target: Target) -> Items:
    """The bytes of a pattern where a kernel reads them, and zeros behind them (uint8[])."""
    return target.table(np.frombuffer(bytearray(value) + bytes(12), np.uint8), np.uint8)
