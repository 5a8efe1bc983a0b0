"""Bodies of messages into device memory: one block a message, and in it the buffers that are wanted.

Each wanted buffer goes from the source through page-locked memory into its place, at a multiple of 64;
compressed ones are decompressed on their way. Neighbours that keep their distance are read as one.
Nothing but their bytes is copied: metadata, and the lengths in front of compressed buffers, stay on
the host.

Columnar format 1.5: "Encapsulated message format", "Compression".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from colkern.closing import OnFailure
from colkern.cpu.threads import map_items, num_threads
from colkern.cuda import direct_storage, memory
from colkern.cuda.direct_storage import DirectFile
from colkern.cuda.memory import placed
from colkern.cuda.staging import Piece, Upload
from colkern.errors import ColkernError, InvalidArrowError, LimitExceededError
from colkern.ipc.compression import Budget, Codec
from colkern.ipc.device_codecs import DeviceCodec, device_codec_of
from colkern.ipc.reading.assembly import Wanted
from colkern.ipc.reading.device_frames import Run, decompress_there
from colkern.ipc.reading.parts import Part, Placed, Source, part_of
from colkern.ipc.reading.sources import Body, Memory, OpenFile
from colkern.memory import ALIGNMENT, Buffer, Device, allocate_for_overwrite, device_named

_MOST_CLAIMED = 1 << 28
"""The limit of what is allocated for bytes that only an untrusted sender promises."""

_READ_AT_ONCE = 2 << 20
"""The bytes of a file that a thread reads in one call."""

_Outcomes = dict[Wanted, slice | ColkernError]
"""The place of each buffer in the block of its message, or the error that it raises."""


class Arrival:
    """The buffers of one message on the device: where each is in its block, or the error that it raises."""

    def __init__(self, outcomes: _Outcomes, upload: Upload | None, device: Device) -> None:
        self._outcomes = outcomes
        self._upload = upload
        self._device = device

    def buffer(self, wanted: Wanted) -> Buffer:
        """One of the buffers; raises its error, if it has one."""
        outcome = self._outcomes[wanted]
        if isinstance(outcome, ColkernError):
            raise copy(outcome)
        assert self._upload is not None
        return Buffer(self._upload.block[outcome], self._device)

    def hold_current(self) -> None:
        """Have the current stream wait for them before whatever it gets next."""
        if self._upload is not None:
            self._upload.hold_current()


class Destination:
    """The memory of one CUDA device, for bodies; `trusted`: see `colkern.ipc.device_codecs`."""

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
        """Start to bring buffers of a body here; without memory, nothing of the message is kept."""
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
                # Without its traceback, whose frames would keep the block.
                outcomes[each] = copy(error)
                continue
            parts.append(part)
        upload = self._send(body, parts, device_codec, outcomes) if parts else None
        return Arrival(outcomes, upload, self.device)

    def _is_read_as_it_comes(self, wanted: Sequence[Wanted], codec: Codec | None) -> bool:
        """Whether a body that has not come yet goes straight to the block that is allocated for it."""
        if not self._trusted and _claimed(wanted) > _MOST_CLAIMED:
            return False
        return _read_in_order(wanted, codec)

    def finish(self) -> None:
        """Wait for the work of the current stream, and the arrivals that it waits for."""
        memory.finish(self.device)

    def _send(
        self,
        body: Body,
        parts: list[Part],
        codec: DeviceCodec | None,
        outcomes: _Outcomes,
    ) -> Upload:
        # Bytes that stay as they are come first, and are sent in one go.
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
        """Send the bytes that stay as they are in the body, in the best way that there is."""
        source = body.source
        if isinstance(source, OpenFile) and direct_storage.is_available():
            if self._direct is None:
                # Not by its path, which another file may have by now.
                self._direct = DirectFile(source.descriptor_path)
            upload.receive(
                self._direct,
                [(run.at, run.size, source.start + body.start + run.start) for run in runs],
            )
            return
        pieces = [Piece(run.at, run.size, _reader(body, run.start)) for run in runs]
        upload.send_pieces(pieces, in_order=body.passing is not None)

    def _quicker(self, codec: Codec, wanted: Sequence[Wanted]) -> DeviceCodec | None:
        """The codec of the device, if the threads of the host are estimated to take longer."""
        device_codec = device_codec_of(codec, self.device, trusted=self._trusted)
        sizes = [each.length for each in wanted]
        if device_codec is None or not sizes:
            return None
        on_host = sum(sizes) / (num_threads() * memory.library().core_decompresses)
        return device_codec if device_codec.seconds(max(sizes)) < on_host else None


def _read_at_once(body: Body, wanted: Sequence[Wanted]) -> Body:
    """A body with its wanted bytes in memory, if they are half of what they span in a file."""
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
    """The bytes that buffers claim to have in a body."""
    return sum(each.length for each in wanted if each.length > 0)


def _read_in_order(wanted: Sequence[Wanted], codec: Codec | None) -> bool:
    """Whether buffers can be read one after the other, each byte once, as they stand in the body."""
    if codec is not None or any(each.swapped is not None for each in wanted):
        return False
    ordered = sorted(wanted)
    return all(a.offset + a.length <= b.offset for a, b in pairwise(ordered))


def _runs(placed_parts: Sequence[Placed]) -> list[Run]:
    """The runs of bytes that are sent as they are, in the order of the body."""
    # Neighbours that are as far from each other in the body as in the block are read as one, but for what
    # has a length in front of it.
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
    """The bytes of a part, decompressed or swapped on their way; `outcomes` gets its error."""

    def __init__(self, part: Part, outcomes: _Outcomes) -> None:
        self._part = part
        self._outcomes = outcomes
        self._source: Source | None = None

    def at(self, place: int) -> Piece:
        """The part as a piece of a block."""
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
