"""Copies bytes between host and device through page-locked slots of host memory.

A device copies from and to page-locked memory by itself, while the host goes on. Locking pages is slow,
so a few slots are locked once and used in turn: while one is copied, the next ones are filled or
emptied. A slot is reused when its copy has ended.
"""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from itertools import cycle
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from colkern.cpu.threads import map_items, num_threads
from colkern.cuda import memory
from colkern.cuda.device_library import CopyEvent, CopyStream, DeviceLibrary, Event
from colkern.cuda.direct_storage import DirectFile
from colkern.cuda.memory import count_to_device, count_to_host, padded
from colkern.errors import LimitExceededError
from colkern.memory import ALIGNMENT, Device

if TYPE_CHECKING:
    from colkern.targets import Items

_LEAST_PART = 2 << 20
"""The fewest bytes that a thread fills: for fewer, Python takes longer than the bus."""

_IN_FLIGHT = 2
"""The slots of a download under way: one is emptied while the device fills the other."""


class Piece(NamedTuple):
    """Bytes for a place in a block of device memory."""

    at: int  #: Where they begin in the block.
    size: int
    #: `(offset, view)`: reads bytes from `offset` in the piece on into all of a uint8 array; in any
    #: thread.
    read_into: Callable[[int, NDArray[np.uint8]], None]

    @classmethod
    def of(cls, at: int, array: NDArray[np.uint8]) -> Piece:
        """The bytes of an array in host memory."""

        def read_into(offset: int, view: NDArray[np.uint8]) -> None:
            view[:] = array[offset : offset + view.size]

        return cls(at, array.size, read_into)


class _Run(NamedTuple):
    """Device arrays that are adjacent in memory, and so are copied together."""

    bytes: Items  #: From the begin of the first to the end of the last one.
    #: The number of each array, and its start and end in `bytes`.
    places: list[tuple[int, int, int]]


_Load = list[tuple[_Run, int, int]]
"""The parts of runs in a slot: the run, where the part begins, and where it ends."""


class _Slot:
    __slots__ = ("bytes", "copied")

    def __init__(self, bytes_: NDArray[np.uint8]) -> None:
        self.bytes = bytes_
        self.copied: CopyEvent | None = None


class Staging:
    """The slots of a library, each used by one thread; copies of a device share one stream each way."""

    def __init__(self, library: DeviceLibrary) -> None:
        self._library = library
        self._free: deque[_Slot] = deque()
        self._count = 0
        self._turns = threading.Semaphore(library.most_slots)
        self._lock = threading.Lock()
        self._streams: dict[int, CopyStream] = {}

    def stream(self, ordinal: int) -> CopyStream:
        """The stream for the copies of a device."""
        with self._lock:
            if ordinal not in self._streams:
                self._streams[ordinal] = self._library.copy_stream(ordinal)
            return self._streams[ordinal]

    @contextmanager
    def slot(self, *, at_once: bool = False) -> Iterator[_Slot]:
        """A slot to fill; `at_once` waits for no other thread, so that a slow peer delays nobody else."""
        with nullcontext() if at_once else self._turns:
            slot = self.take()
            try:
                yield slot
            finally:
                self.give_back(slot)

    def take(self) -> _Slot:
        """A slot whose last copy has ended; a new one if all others are in use."""
        with self._lock:
            # The slot that was given back first has had the most time for its copy.
            is_over = bool(self._free) and _is_over(self._free[0])
            if is_over or (self._free and self._count >= self._library.most_slots):
                slot = self._free.popleft()
            else:
                slot = self._further()
        return _ready(slot)

    def _further(self) -> _Slot:
        try:
            slot = _Slot(self._library.page_locked(self._library.slot_bytes))
        except MemoryError as error:
            raise LimitExceededError(f"page-locked host memory: {error}") from error
        self._count += 1
        return slot

    def give_back(self, slot: _Slot) -> None:
        """Return a slot, which others may use once its last copy has ended."""
        with self._lock:
            self._free.append(slot)
            # Slots that were added while all others were in use.
            while self._free and self._count > self._library.most_slots and _is_over(self._free[0]):
                self._free.popleft()
                self._count -= 1


def _is_over(slot: _Slot) -> bool:
    return slot.copied is None or slot.copied.is_over()


def _ready(slot: _Slot) -> _Slot:
    if slot.copied is not None and not slot.copied.is_over():
        slot.copied.wait()
    return slot


_lock = threading.Lock()


def _staging_of(library: DeviceLibrary) -> Staging:
    with _lock:
        if library.staging is None:
            library.staging = Staging(library)
        return library.staging


class Upload:
    """A block of device memory, and the bytes on their way to it.

    The block is allocated for the caller's current stream. Copies run beside that stream. After
    `hold_current`, the bytes sent may be used on the stream that is then current.
    """

    def __init__(self, device: Device, size: int) -> None:
        self._device = device
        self._library = memory.library()
        self._staging = _staging_of(self._library)
        self._stream = self._staging.stream(device.ordinal)
        self._is_under_way = False
        self._sent: Event | None = None
        with memory.current(device):
            self.block: Items = memory.allocate_for_overwrite(size, np.uint8)
            # The memory may have belonged to an array that the current stream still uses.
            self._stream.wait_for_current()

    def send_pieces(self, pieces: Sequence[Piece], *, in_order: bool = False) -> None:
        """Send pieces, at multiples of 64 with zeros between; `in_order`: in sequence, by this thread."""
        room, total = self._library.slot_bytes, _extent(pieces)
        if in_order:
            self._send(pieces, room, at_once=True)
        else:
            self._send(pieces, min(room, _share(total)), total)

    def send_whole(self, pieces: Sequence[Piece]) -> None:
        """As `send_pieces`, keeping the bytes between pieces; each piece is read by one thread."""
        total = _extent(pieces)
        # Several for each thread, since some take longer than others.
        size = max(_share(total) // 4, _LEAST_PART)
        shares: list[list[Piece]] = []
        end = -1
        for piece in pieces:
            if piece.at == end and piece.at // size == shares[-1][0].at // size:
                shares[-1].append(piece)
            else:
                shares.append([piece])
            end = padded(piece.at + piece.size)
        map_items(lambda share: self._send(share, self._library.slot_bytes), shares, total)

    def _send(
        self, pieces: Sequence[Piece], room: int, total: int = 0, *, at_once: bool = False
    ) -> None:
        """Send pieces in parts of `room` bytes; `total` bytes are shared by several threads."""
        if not pieces:
            return
        starts = [piece.at for piece in pieces]
        end = starts[0] + _extent(pieces)

        def send(start: int) -> None:
            with self._staging.slot(at_once=at_once) as slot:
                part = slot.bytes[: min(room, end - start)]
                _fill(part, start, pieces, starts)
                count_to_device(part.size)
                self._is_under_way = True
                self._stream.to_device(part, self.block[start : start + part.size])
                slot.copied = self._stream.record(slot.copied)

        map_items(send, range(starts[0], end, room), total)

    def receive(self, file: DirectFile, ranges: Sequence[tuple[int, int, int]]) -> None:
        """Fill parts (place in block, size, place in file) from a file, bypassing host memory; waits."""
        with memory.current(self._device):
            # These reads are not in the order of any stream.
            self._library.finish()
            # All of them must end before an error frees the block.
            with ExitStack() as under_way:
                for at, size, offset in ranges:
                    count_to_device(size)
                    read = file.begin(offset, self.block[at : at + size])
                    under_way.callback(file.end, read, size, offset)

    def end(self) -> None:
        """Note that everything has been sent."""
        self._sent = self._stream.record()

    def hold_current(self) -> None:
        """Make the current stream wait for the bytes that were sent; call `end` first."""
        sent, self._sent = self._sent, None
        if sent is not None:
            sent.hold_current()
            self._is_under_way = False

    def abandon(self) -> None:
        """Wait for the bytes that were sent, so that the block may be freed."""
        self._stream.record().wait()
        self._is_under_way = False

    def __del__(self) -> None:
        # If nothing waited for it, the block could be given to others while it is still written.
        if getattr(self, "_is_under_way", False):
            self.abandon()


def _extent(pieces: Sequence[Piece]) -> int:
    """The size of the block's part from the first piece to the end of the last one."""
    return padded(pieces[-1].at + pieces[-1].size) - pieces[0].at if pieces else 0


def _share(size: int) -> int:
    """The bytes that a thread fills at a time: all threads work, even if one slot has room for all."""
    return max(padded(-(-size // num_threads())), _LEAST_PART)


def _fill(
    part: NDArray[np.uint8], start: int, pieces: Sequence[Piece], starts: Sequence[int]
) -> None:
    """Fill `part`, which begins at `start` in the block, with the pieces that are in it."""
    filled = 0
    number = max(bisect_right(starts, start) - 1, 0)
    while number < len(pieces) and pieces[number].at < start + part.size:
        at, size, read_into = pieces[number]
        begin, end = max(at, start), min(at + size, start + part.size)
        if begin < end:
            part[filled : begin - start] = 0
            read_into(begin - at, part[begin - start : end - start])
            filled = end - start
        number += 1
    part[filled:] = 0


def downloaded(
    sources: Sequence[Items], device: Device
) -> Generator[tuple[int, NDArray[np.uint8]]]:
    """Uint8 arrays of a device, in parts that are valid until the next; the device copies ahead."""
    download = _Download(device)
    slots: list[_Slot] = []
    under_way: deque[tuple[_Slot, _Load]] = deque()
    try:
        for _ in range(_IN_FLIGHT):
            slots.append(download.staging.take())
        loads = _loads(_runs(sources, device), download.room)
        for slot, load in zip(cycle(slots), loads, strict=False):
            if len(under_way) == _IN_FLIGHT:
                yield from ((number, part) for number, _, part in _arrived(*under_way.popleft()))
            under_way.append((slot, load))
            download.start(slot, load)
        while under_way:
            yield from ((number, part) for number, _, part in _arrived(*under_way.popleft()))
    finally:
        if under_way:
            # If the caller stopped early: wait before arrays and slots are given to others.
            download.stream.record().wait()
        for slot in slots:
            download.staging.give_back(slot)


def download(
    sources: Sequence[Items], outputs: Sequence[NDArray[np.uint8]], device: Device
) -> None:
    """Copy device arrays to host arrays, which several threads fill.

    Args:
        sources: uint8 arrays of one device; the current stream may still be writing them.
        outputs: For each of them, a uint8 array of its size.
    """
    download = _Download(device)
    runs = _runs(sources, device)
    total = sum(run.bytes.size for run in runs)

    def fetch(load: _Load) -> None:
        with download.staging.slot() as slot:
            download.start(slot, load)
            for number, begin, part in _arrived(slot, load):
                outputs[number][begin : begin + part.size] = part

    map_items(fetch, list(_loads(runs, min(download.room, _share(total)))), total)


class _Download:
    """A stream and slots for copies to the host; it waits for the present work of the current stream."""

    def __init__(self, device: Device) -> None:
        library = memory.library()
        self.room = library.slot_bytes
        self.staging = _staging_of(library)
        self.stream = self.staging.stream(device.ordinal)
        with memory.current(device):
            self.stream.wait_for_current()

    def start(self, slot: _Slot, load: _Load) -> None:
        """Start to copy a load into a slot."""
        place = 0
        try:
            for run, begin, end in load:
                count_to_host(end - begin)
                self.stream.to_host(run.bytes[begin:end], slot.bytes[place : place + end - begin])
                place += end - begin
        finally:
            # If one copy raises an error, those before it still write to the slot.
            slot.copied = self.stream.record(slot.copied)


def _runs(sources: Sequence[Items], device: Device) -> list[_Run]:
    """The runs of arrays of a device, in order: parts of one allocation with few bytes between them.

    Starting a copy takes as long as copying half a megabyte.
    """
    library = memory.library()
    begin = end = owner = -ALIGNMENT
    runs: list[_Run] = []
    groups: list[tuple[int, list[tuple[int, int, int]]]] = []
    for number, source in enumerate(sources):
        if not source.size:
            continue
        of, address = library.place_of(source)
        if of != owner or not 0 <= address - end < ALIGNMENT:
            owner, begin = of, address
            groups.append((begin, []))
        end = address + source.size
        groups[-1][1].append((number, address - begin, end - begin))
    for begin, places in groups:
        if len(places) == 1:
            bytes_ = sources[places[0][0]]
        else:
            bytes_ = library.array_at(begin, places[-1][2], device.ordinal, sources)
        runs.append(_Run(bytes_, places))
    return runs


def _loads(runs: Sequence[_Run], room: int) -> Iterator[_Load]:
    """The loads for one slot after the other."""
    load: _Load = []
    left = room
    for run in runs:
        begin = 0
        while begin < run.bytes.size:
            end = min(begin + left, run.bytes.size)
            load.append((run, begin, end))
            left -= end - begin
            begin = end
            if not left:
                yield load
                load, left = [], room
    if load:
        yield load


def _arrived(slot: _Slot, load: _Load) -> Iterator[tuple[int, int, NDArray[np.uint8]]]:
    """The parts of arrays in a slot: the array's number, the part's place in it, and its bytes."""
    bytes_ = _ready(slot).bytes
    for run, begin, end in load:
        first = bisect_right(run.places, begin, key=itemgetter(2))
        for number, start, stop in run.places[first:]:
            if start >= end:
                break
            part = bytes_[max(start - begin, 0) : min(stop, end) - begin]
            yield number, max(begin - start, 0), part
        bytes_ = bytes_[end - begin :]
