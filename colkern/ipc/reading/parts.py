"""The parts of a body that are sent to a device: buffers as they stand there, or made from them.

Columnar format 1.5: "Compression", "Byte Order (Endianness)".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from colkern.ipc.compression import PREFIX_BYTES, Budget, Codec
from colkern.ipc.reading.assembly import Wanted
from colkern.ipc.reading.byteorder import little_endian
from colkern.ipc.reading.sources import Body
from colkern.memory import Buffer


class Source(Protocol):
    """Bytes that come one after the other; both raise `InvalidArrowError`."""

    def fill(self, out: NDArray[np.uint8]) -> None:
        """Fill `out` with the next ones."""

    def end(self) -> None:
        """Raise unless all bytes have been taken."""


class Part(NamedTuple):
    """The bytes to send for one buffer."""

    wanted: Wanted
    size: int  #: Its size on the device.
    start: int  #: Its first byte in the body.
    #: Opens a source of the bytes, where they are not those in the body.
    make: Callable[[], Source] | None
    frame: int = 0  #: The size of its compressed frame; 0 where it is not compressed.


class Placed(NamedTuple):
    """A part, and where its bytes begin in the block on the device."""

    part: Part
    at: int


def part_of(body: Body, wanted: Wanted, codec: Codec | None, budget: Budget) -> Part:
    """The part for a buffer; raises the errors that are known before its bytes are read."""
    offset, length, swapped = wanted
    body.require(offset, length)
    if codec is None or not length:
        return _plain_part(body, wanted, offset, length)
    prefix = body.read(offset, min(length, PREFIX_BYTES)).array.data
    size = codec.uncompressed_size(prefix, length)
    if codec.is_plain(prefix, length) or not size:
        return _plain_part(body, wanted, offset + PREFIX_BYTES, size)
    budget.spend(size)
    if swapped is not None:
        return _swapped_part(wanted, size, lambda: _decompressed(body, wanted, codec, size))

    start, stored = offset + PREFIX_BYTES, length - PREFIX_BYTES
    return Part(
        wanted,
        size,
        start,
        lambda: codec.frame(body.read(start, stored).array.data, size),
        stored,
    )


def _plain_part(body: Body, wanted: Wanted, start: int, size: int) -> Part:
    if wanted.swapped is None or not size:
        return Part(wanted, size, start, None)
    return _swapped_part(wanted, size, lambda: body.read(start, size))


def _swapped_part(wanted: Wanted, size: int, read: Callable[[], Buffer]) -> Part:
    spec = wanted.swapped
    assert spec is not None
    # Bytes behind the last whole item are dropped.
    size -= size % sum(spec.swap_bytes)
    return Part(wanted, size, wanted.offset, lambda: _Bytes(little_endian(read(), spec).array))


def _decompressed(body: Body, wanted: Wanted, codec: Codec, size: int) -> Buffer:
    """All bytes of a buffer in host memory; its size has been taken off the budget already."""
    return codec.decompress(body.read(wanted.offset, wanted.length), Budget(size))


class _Bytes:
    """Bytes that are in host memory, as a `Source`."""

    def __init__(self, array: NDArray[np.uint8]) -> None:
        self._array = array
        self._taken = 0

    def fill(self, out: NDArray[np.uint8]) -> None:
        out[:] = self._array[self._taken : self._taken + out.size]
        self._taken += out.size

    def end(self) -> None:
        """There are as many as were asked for."""
