"""Bodies of messages into device memory: one block a message, and in it the buffers that are wanted.

Each wanted buffer goes from the source through page-locked memory into its place, at a multiple of 64;
compressed ones are decompressed on their way. Neighbours that keep their distance are read as one.
Nothing but their bytes is copied: metadata, and the lengths in front of compressed buffers, stay on
the host.

Columnar format 1.5: "Encapsulated message format", "Compression".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from colkern.cpu.threads import map_items
from colkern.cuda import direct_storage, memory
from colkern.cuda.direct_storage import DirectFile
from colkern.cuda.placement import placed
from colkern.cuda.staging import Piece, Upload
from colkern.errors import ColkernError, InvalidArrowError, LimitExceededError
from colkern.ipc.compression import PREFIX_BYTES, Budget, Codec
from colkern.ipc.reading.assembly import Wanted
from colkern.ipc.reading.byteorder import little_endian
from colkern.ipc.reading.sources import Body, OpenFile
from colkern.memory import ALIGNMENT, EMPTY, Buffer, Device, device_named


class Arrival:
    """The buffers of one message on the device.

    Args:
        found: Each of them, or what is wrong with it.
        upload: What brings them, if there are any bytes.
    """

    def __init__(self, found: dict[Wanted, Buffer | ColkernError], upload: Upload | None) -> None:
        self._found = found
        self._upload = upload

    def buffer(self, wanted: Wanted) -> Buffer:
        """One of the buffers; raises what is wrong with it."""
        found = self._found[wanted]
        if isinstance(found, ColkernError):
            raise found
        return found

    def hold_current(self) -> None:
        """What the current stream gets from here on waits for them."""
        if self._upload is not None:
            self._upload.hold_current()


class _Source(Protocol):
    """Bytes that come one after the other; both raise `InvalidArrowError`."""

    def fill(self, out: NDArray[np.uint8]) -> None:
        """Fill `out` with the next ones."""
        ...

    def end(self) -> None:
        """All have been taken that should be there."""
        ...


class _Part(NamedTuple):
    """What has to be sent for one buffer.

    Args:
        wanted: Which.
        size: How many bytes it has on the device.
        start: Where they begin in the body, if they stand there as they are.
        make: What makes them of what stands there, if not.
    """

    wanted: Wanted
    size: int
    start: int
    make: Callable[[], _Source] | None


class Destination:
    """The memory of one CUDA device, for the bodies of messages.

    Args:
        device: "cuda", "cuda:1", or a `Device`.

    Raises:
        DeviceUnavailableError: If there is no such device, saying what is missing.
        ValueError: If it is no CUDA device.
    """

    def __init__(self, device: str | Device) -> None:
        self.device = device_named(device)
        if self.device.kind != "cuda":
            raise ValueError(f"device: expected a CUDA device, got {self.device}")
        memory.require_device()
        self._direct: DirectFile | None = None

    def bring(
        self, body: Body, wanted: Sequence[Wanted], codec: Codec | None, budget: Budget
    ) -> Arrival:
        """Start to bring buffers of a body here.

        Args:
            body: The body.
            wanted: The buffers, each once.
            codec: How they are compressed.
            budget: What they may be decompressed to together.

        Raises:
            InvalidArrowError: If the source ends within the body.
            LimitExceededError: If the device is out of memory; nothing is kept of the message then.
        """
        if body.passing is not None and not _read_in_order(wanted, codec):
            body.passing.settle()
        found: dict[Wanted, Buffer | ColkernError] = {}
        parts = []
        for each in wanted:
            try:
                part = _part(body, each, codec, budget)
            except (InvalidArrowError, LimitExceededError) as error:
                found[each] = error
                continue
            if part.size:
                parts.append(part)
            else:
                found[each] = EMPTY
        return Arrival(found, self._send(body, parts, found) if parts else None)

    def _send(
        self, body: Body, parts: list[_Part], found: dict[Wanted, Buffer | ColkernError]
    ) -> Upload:
        parts.sort(key=lambda part: part.wanted[:2])
        placement = placed([part.size for part in parts])
        upload = Upload(self.device, placement.size)
        try:
            self._send_plain(upload, body, _runs(parts, placement.starts))
            _send_made(upload, parts, placement.starts, found)
        except BaseException:
            upload.abandon()
            raise
        upload.end()
        for part, at in zip(parts, placement.starts, strict=True):
            found.setdefault(part.wanted, Buffer(upload.block[at : at + part.size], self.device))
        return upload

    def _send_plain(self, upload: Upload, body: Body, runs: list[_Run]) -> None:
        """Send what stands in the body as it is to be: the best way that there is."""
        source = body.source
        if isinstance(source, OpenFile) and direct_storage.is_available():
            if self._direct is None:
                # Not by its path, which another file may have by now.
                self._direct = DirectFile(source.descriptor_path)
            upload.receive(
                self._direct, [(run.at, run.size, body.start + run.start) for run in runs]
            )
            return
        pieces = [Piece(run.at, run.size, _reader(body, run.start)) for run in runs]
        upload.send_pieces(pieces, in_order=body.passing is not None)


def _read_in_order(wanted: Sequence[Wanted], codec: Codec | None) -> bool:
    """Whether buffers can be read one after the other, each byte once, as they stand in the body."""
    if codec is not None or any(each.swapped is not None for each in wanted):
        return False
    ordered = sorted(wanted)
    return all(a.offset + a.length <= b.offset for a, b in pairwise(ordered))


def _part(body: Body, wanted: Wanted, codec: Codec | None, budget: Budget) -> _Part:
    """How to send a buffer; raises what is wrong with it, as far as that is known before."""
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

    def frame() -> _Source:
        data = body.read(offset + PREFIX_BYTES, length - PREFIX_BYTES).array.data
        return codec.frame(data, size)

    return _Part(wanted, size, offset, frame)


def _plain_part(body: Body, wanted: Wanted, start: int, size: int) -> _Part:
    if wanted.swapped is None or not size:
        return _Part(wanted, size, start, None)
    return _swapped_part(wanted, size, lambda: body.read(start, size))


def _swapped_part(wanted: Wanted, size: int, read: Callable[[], Buffer]) -> _Part:
    spec = wanted.swapped
    assert spec is not None
    # Bytes behind the last whole item are dropped.
    size -= size % sum(spec.swap_bytes)
    return _Part(wanted, size, wanted.offset, lambda: _Bytes(little_endian(read(), spec).array))


def _decompressed(body: Body, wanted: Wanted, codec: Codec, size: int) -> Buffer:
    """All bytes of a buffer in host memory; its size has been taken off the budget already."""
    return codec.decompress(body.read(wanted.offset, wanted.length), Budget(size))


class _Bytes:
    """Bytes that are in host memory, as a `_Source`."""

    def __init__(self, array: NDArray[np.uint8]) -> None:
        self._array = array
        self._taken = 0

    def fill(self, out: NDArray[np.uint8]) -> None:
        out[:] = self._array[self._taken : self._taken + out.size]
        self._taken += out.size

    def end(self) -> None:
        """There are as many as were asked for."""


class _Run(NamedTuple):
    """Bytes that are sent as they stand in the body: where to, how many, from where."""

    at: int
    size: int
    start: int


def _runs(parts: Sequence[_Part], starts: Sequence[int]) -> list[_Run]:
    """What is sent as it is, in the order of the body.

    Neighbours that are as far from each other in the body as in the block are read as one.
    """
    runs: list[_Run] = []
    for part, at in zip(parts, starts, strict=True):
        if part.make is not None:
            continue
        last = runs[-1] if runs else None
        if (
            last is not None
            and last.start - last.at == part.start - at
            and at - last.at - last.size < ALIGNMENT
        ):
            runs[-1] = last._replace(size=at + part.size - last.at)
        else:
            runs.append(_Run(at, part.size, part.start))
    return runs


def _reader(body: Body, start: int) -> Callable[[int, NDArray[np.uint8]], None]:
    def read_into(offset: int, view: NDArray[np.uint8]) -> None:
        body.read_into(start + offset, view)

    return read_into


def _send_made(
    upload: Upload,
    parts: Sequence[_Part],
    starts: Sequence[int],
    found: dict[Wanted, Buffer | ColkernError],
) -> None:
    """Send what has to be decompressed or swapped, side by side; what fails is noted in `found`."""
    made = [(part, at) for part, at in zip(parts, starts, strict=True) if part.make is not None]

    def send(each: tuple[_Part, int]) -> None:
        part, at = each
        assert part.make is not None
        try:
            source = part.make()
            upload.send(at, part.size, source.fill)
            source.end()
        except (InvalidArrowError, LimitExceededError) as error:
            found[part.wanted] = error
        except MemoryError:
            found[part.wanted] = LimitExceededError(f"no memory for a buffer of {part.size} bytes")

    map_items(send, made, sum(part.size for part, _ in made))
