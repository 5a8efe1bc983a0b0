"""Copies bodies of messages into device memory: one block for each message, with the wanted buffers.

Each wanted buffer goes from the source through page-locked memory to its place, at a multiple of 64;
compressed ones are decompressed on the way. Buffers that have the same distance in the body and in the
block are read together. Metadata, and the lengths in front of compressed buffers, stay on the host.

Columnar format 1.5: "Encapsulated message format", "Compression".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from itertools import pairwise
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from colkern.closing import OnFailure
from colkern.cpu.threads import map_items, num_threads
from colkern.cuda import direct_storage, memory
from colkern.cuda.direct_storage import DirectFile
from colkern.cuda.memory import placed
from colkern.cuda.staging import Piece, Upload
from colkern.errors import ColkernError, InvalidArrowError, LimitExceededError
from colkern.ipc.compression import PREFIX_BYTES, Budget, Codec
from colkern.ipc.device_codecs import (
    Bytes,
    DeviceCodec,
    ExaminedFrame,
    PlacedFrame,
    device_codec_of,
)
from colkern.ipc.reading.assembly import Wanted, little_endian
from colkern.ipc.reading.sources import Body, Memory, OpenFile
from colkern.memory import ALIGNMENT, Buffer, Device, allocate_for_overwrite, device_named


class Source(Protocol):
    """A source of bytes in sequence; both methods raise `InvalidArrowError`."""

    def fill(self, out: NDArray[np.uint8]) -> None:
        """Fill `out` with the next bytes."""

    def end(self) -> None:
        """Raise if bytes are left."""


class Part(NamedTuple):
    """The bytes to send for one buffer."""

    wanted: Wanted
    size: int  #: Its size on the device.
    start: int  #: Its first byte in the body.
    #: Opens a source of the bytes, if they differ from those in the body.
    make: Callable[[], Source] | None
    frame: int = 0  #: The size of its compressed frame; 0 where it is not compressed.


class Placed(NamedTuple):
    """A part, and the place of its bytes in the block on the device."""

    part: Part
    at: int


def part_of(body: Body, wanted: Wanted, codec: Codec | None, budget: Budget) -> Part:
    """The part for a buffer; raises errors that are known before its bytes are read."""
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
        wanted, size, start, lambda: codec.frame(body.read(start, stored).array.data, size), stored
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
    """All bytes of a buffer in host memory; its size was already subtracted from the budget."""
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
        """Nothing can be left: the size was given."""


class Run(NamedTuple):
    """Bytes to send unchanged from the body: their place in the block, number, and place in the body."""

    at: int
    size: int
    start: int


class _Frame:
    """The bytes of a frame in a body; only the bytes that are accessed are read."""

    def __init__(self, body: Body, start: int, size: int) -> None:
        self._body, self._start, self._size = body, start, size

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, part: slice) -> memoryview:
        begin, end, _ = part.indices(self._size)
        return memoryview(self._body.read(self._start + begin, end - begin).array)


class _Chosen(NamedTuple):
    """A buffer for the device to decompress, with its frame's bytes and the examined frame."""

    placed: Placed
    stored: Bytes
    frame: ExaminedFrame


def decompress_there(
    upload: Upload,
    device: Device,
    body: Body,
    send: Callable[[Upload, Body, Sequence[Run]], None],
    codec: DeviceCodec,
    parts: Sequence[Placed],
) -> list[Placed]:
    """Send compressed bytes and decompress them on the device; returns the buffers left to the host."""
    # Left are those whose frames the device cannot decompress, or reports as damaged. Bytes of a
    # file are not read before: they go directly into page-locked memory, or bypass the host's
    # memory.
    chosen = _chosen(body, codec, parts)
    if not chosen:
        return list(parts)
    placement = placed([each.frame.stored for each in chosen])
    try:
        staged = Upload(device, placement.size)
    except LimitExceededError:
        # The host needs no room for compressed bytes on the device.
        return list(parts)
    frames = [
        PlacedFrame(each.frame, begin, each.placed.at)
        for each, begin in zip(chosen, placement.starts, strict=True)
    ]
    with OnFailure(staged.abandon):
        if isinstance(body.source, OpenFile):
            starts = [each.placed.part.start for each in chosen]
            sizes = [each.frame.stored for each in chosen]
            send(staged, body, list(map(Run, placement.starts, sizes, starts)))
        else:
            arrays = [np.frombuffer(each.stored[:], np.uint8) for each in chosen]
            staged.send_pieces(list(map(Piece.of, placement.starts, arrays)))
    staged.end()
    staged.hold_current()
    done = codec.decompress(frames, staged.block, upload.block)
    finished = {each.placed.part.wanted for each in chosen[:done]}
    return [each for each in parts if each.part.wanted not in finished]


def _chosen(body: Body, codec: DeviceCodec, parts: Sequence[Placed]) -> list[_Chosen]:
    """The buffers whose frames the device can decompress; their headers are read in parallel."""

    def choose(each: Placed) -> _Chosen | None:
        where = each.part.start, each.part.frame
        is_file = isinstance(body.source, OpenFile)
        # For other sources, a few bytes cost as much as many: one request, for instance.
        stored = _Frame(body, *where) if is_file else body.read(*where).array.data
        frame = codec.examined(stored, each.part.size)
        return None if frame is None else _Chosen(each, stored, frame)

    framed = [each for each in parts if each.part.frame]
    chosen = map_items(choose, framed, sum(each.part.frame for each in framed))
    return [each for each in chosen if each is not None]


_MOST_CLAIMED = 1 << 28
"""The most bytes that are allocated because an untrusted sender announces them."""

_READ_AT_ONCE = 2 << 20
"""The bytes of a file that a thread reads in one call."""

_Outcomes = dict[Wanted, slice | ColkernError]
"""The place of each buffer in the block of its message, or the error that it raises."""


class Arrival:
    """The buffers of one message on the device: the place of each in its block, or its error."""

    def __init__(self, outcomes: _Outcomes, upload: Upload | None, device: Device) -> None:
        self._outcomes = outcomes
        self._upload = upload
        self._device = device

    def buffer(self, wanted: Wanted) -> Buffer:
        """One of the buffers; raises its error if it has one."""
        outcome = self._outcomes[wanted]
        if isinstance(outcome, ColkernError):
            raise copy(outcome)
        assert self._upload is not None
        return Buffer(self._upload.block[outcome], self._device)

    def hold_current(self) -> None:
        """Make the current stream wait for the buffers before later work."""
        if self._upload is not None:
            self._upload.hold_current()


class Destination:
    """The memory of one CUDA device as a destination for bodies; `trusted` as in `device_codecs`."""

    def __init__(self, device: str | Device, *, trusted: bool = False) -> None:
        self.device = device_named(device)
        if self.device.kind != "cuda":
            raise ValueError(f"device: expected a CUDA device, got {self.device}")
        memory.require_device(self.device)
        self._trusted = trusted
        self._direct: DirectFile | None = None

    def bring(
        self, body: Body, wanted: Sequence[Wanted], codec: Codec | None, budget: Budget
    ) -> Arrival:
        """Start to copy buffers of a body here; if memory runs out, nothing of the message is kept."""
        if body.passing is not None and not self._is_read_as_it_comes(wanted, codec):
            body.passing.settle()
        device_codec = None if codec is None else self._quicker(codec, wanted)
        if codec is not None and device_codec is None:
            body = _read_at_once(body, wanted)
        outcomes: _Outcomes = {}
        parts = []
        for each in wanted:
            try:
                part = part_of(body, each, codec, budget)
            except (InvalidArrowError, LimitExceededError) as error:
                # Without its traceback, whose frames would keep the block alive.
                outcomes[each] = copy(error)
                continue
            parts.append(part)
        upload = self._send(body, parts, device_codec, outcomes) if parts else None
        return Arrival(outcomes, upload, self.device)

    def _is_read_as_it_comes(self, wanted: Sequence[Wanted], codec: Codec | None) -> bool:
        """Whether a body that has not arrived yet can be read directly into its block."""
        if not self._trusted and _claimed(wanted) > _MOST_CLAIMED:
            return False
        # That is so if buffers can be read in sequence, each byte once and unchanged.
        if codec is not None or any(each.swapped is not None for each in wanted):
            return False
        ordered = sorted(wanted)
        return all(a.offset + a.length <= b.offset for a, b in pairwise(ordered))

    def finish(self) -> None:
        """Wait for the work of the current stream, and for the copies that it waits for."""
        memory.finish(self.device)

    def _send(
        self, body: Body, parts: list[Part], codec: DeviceCodec | None, outcomes: _Outcomes
    ) -> Upload:
        # Bytes that stay unchanged come first, and are sent together.
        parts.sort(key=lambda part: (part.make is not None, part.start))
        placement = placed([part.size for part in parts])
        upload = Upload(self.device, placement.size)
        all_placed = list(map(Placed, parts, placement.starts))
        with_bytes = [each for each in all_placed if each.part.size]
        sources = [each for each in with_bytes if each.part.make is not None]
        with OnFailure(upload.abandon):
            self._send_plain(upload, body, _runs(with_bytes))
            if codec is not None:
                send = self._send_plain
                sources = decompress_there(upload, self.device, body, send, codec, sources)
            upload.send_whole([_ConvertedPart(each.part, outcomes).at(each.at) for each in sources])
        upload.end()
        for part, at in all_placed:
            outcomes.setdefault(part.wanted, slice(at, at + part.size))
        return upload

    def _send_plain(self, upload: Upload, body: Body, runs: Sequence[Run]) -> None:
        """Send bytes that stay unchanged, in the fastest way available."""
        source = body.source
        if isinstance(source, OpenFile) and direct_storage.is_available():
            if self._direct is None:
                # Not by its path, since another file may have that path by now.
                self._direct = DirectFile(source.descriptor_path)
            upload.receive(
                self._direct,
                [(run.at, run.size, source.start + body.start + run.start) for run in runs],
            )
            return
        pieces = [Piece(run.at, run.size, _reader(body, run.start)) for run in runs]
        upload.send_pieces(pieces, in_order=body.passing is not None)

    def _quicker(self, codec: Codec, wanted: Sequence[Wanted]) -> DeviceCodec | None:
        """The device's codec, if the host's threads are estimated to take longer."""
        device_codec = device_codec_of(codec, self.device, trusted=self._trusted)
        sizes = [each.length for each in wanted]
        if device_codec is None or not sizes:
            return None
        on_host = sum(sizes) / (num_threads() * memory.library().core_decompresses)
        return device_codec if device_codec.seconds(max(sizes)) < on_host else None


def _read_at_once(body: Body, wanted: Sequence[Wanted]) -> Body:
    """A body with the wanted bytes in memory, if they are at least half of their span in a file."""
    places = [each[:2] for each in wanted if each.length > 0 and body.has(*each[:2])]
    if not places or not isinstance(body.source, OpenFile):
        return body
    begin, end = min(places)[0], max(offset + length for offset, length in places)
    if 2 * sum(length for _, length in places) < end - begin:
        return body
    block = allocate_for_overwrite(end - begin, np.uint8)

    def read(at: int) -> None:
        body.read_into(begin + at, block[at : at + _READ_AT_ONCE])

    map_items(read, range(0, block.size, _READ_AT_ONCE), block.size)
    return Body(Memory(Buffer(block)), -begin, body.size)


def _claimed(wanted: Sequence[Wanted]) -> int:
    """The bytes that the buffers claim to have in a body."""
    return sum(each.length for each in wanted if each.length > 0)


def _runs(placed_parts: Sequence[Placed]) -> list[Run]:
    """The runs of bytes that are sent unchanged, in the order of the body."""
    # Neighbours with the same distance in the body and in the block are read together, except
    # compressed buffers, which have a length in front.
    runs: list[Run] = []
    at = start = end = 0
    for part, begin in placed_parts:
        if part.make is not None:
            continue
        joins = (
            part.start == part.wanted.offset
            and part.start - start == begin - at
            and begin - end < ALIGNMENT
        )
        if end and not joins:
            runs.append(Run(at, end - at, start))
        if not (end and joins):
            at, start = begin, part.start
        end = begin + part.size
    if end:
        runs.append(Run(at, end - at, start))
    return runs


def _reader(body: Body, start: int) -> Callable[[int, NDArray[np.uint8]], None]:
    def read_into(offset: int, view: NDArray[np.uint8]) -> None:
        body.read_into(start + offset, view)

    return read_into


class _ConvertedPart:
    """The bytes of a part, decompressed or byte-swapped on the way; `outcomes` gets its error."""

    def __init__(self, part: Part, outcomes: _Outcomes) -> None:
        self._part = part
        self._outcomes = outcomes
        self._source: Source | None = None

    def at(self, place: int) -> Piece:
        """The part as a piece of a block, at a place."""
        return Piece(place, self._part.size, self._read_into)

    def _read_into(self, offset: int, view: NDArray[np.uint8]) -> None:
        wanted, size, _, make, _ = self._part
        if wanted in self._outcomes:
            return
        assert make is not None
        try:
            source = self._source or make()
            source.fill(view)
            self._source = source
            if offset + view.size == size:
                source.end()
                self._source = None
        except (InvalidArrowError, LimitExceededError) as error:
            self._outcomes[wanted] = copy(error)
        except MemoryError:
            self._outcomes[wanted] = LimitExceededError(f"no memory for a buffer of {size} bytes")
