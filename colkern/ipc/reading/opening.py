"""From a source to its reader: `open`, `open_file`, `open_stream`.

Columnar format 1.5: "IPC streaming format", "IPC file format".
"""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, BinaryIO, Self, TypeAlias, cast

from colkern.ipc.enums import MAGIC
from colkern.ipc.limits import DEFAULT_LIMITS, Limits
from colkern.ipc.reading.messages import (
    FIRST_BYTES,
    MessageStream,
    foreign_format,
    not_a_file,
    not_a_stream,
)
from colkern.ipc.reading.readers import FileReader, StreamReader
from colkern.ipc.reading.remote import Remote
from colkern.ipc.reading.sources import (
    ByteStream,
    Memory,
    MemoryStream,
    RandomAccess,
    Source,
    opened_source,
    random_access,
)
from colkern.memory import HOST, Device, device_named
from colkern.schema import Schema

if TYPE_CHECKING:
    from colkern.ipc.reading.destination import Destination

Devices: TypeAlias = str | Device | Sequence[str | Device]
"""A device, or several that take turns."""


def open(
    source: Source,
    *,
    columns: Sequence[int | str] | None = None,
    device: Devices | None = None,
    memory_map: bool = True,
    trusted: bool = False,
    limits: Limits = DEFAULT_LIMITS,
) -> StreamReader | FileReader:
    """A reader for an Arrow IPC file or stream; the first bytes tell which of the two it is.

    Args:
        source: A path (`str` or path-like; mapped into memory, not read), a bytes-like object or
            `Buffer` (not copied), or a binary file object, pipe or socket (read from its current
            position; not closed). The file format is read into memory as a whole if the source cannot
            seek. Or a URL that fsspec knows (`s3://`, `https://`, `memory://`): the footer of a file is
            fetched, and then metadata of batches and columns when they are asked for.
        columns: Names or positions of the columns to read, in that order; None for all. Other columns
            are ignored.
        device: The memory for the bodies of messages: "cuda", "cuda:1" or a `Device`; None, or "cpu",
            for host memory. Devices in a list get batches in turn.
        memory_map: Whether to map a file at a path. Otherwise its bytes are read when they are needed:
            in the file format with each column, in the stream format with each batch.
        trusted: Whether the source is known to be undamaged. Then nvCOMP, which may crash on damaged
            frames, may decompress Zstandard on the device, and device memory is allocated for as many
            bytes as a stream announces. All other checks are made in any case.
        limits: The limits on untrusted input.

    Bytes that are not copied must not change while batches over them are in use. A mapped file may be
    unlinked, or replaced by renaming, but not overwritten, nor truncated, which ends the process
    (SIGBUS). Read a file that others may write to with `memory_map=False`: truncation then raises an
    `InvalidArrowError`.

    Threads may share a reader: each batch of a stream goes to one of them.

    With a `device`, metadata is read on the host, and each batch gets one block of device memory (from
    CuPy's pool, or whatever CuPy allocates from), in which the buffers of the wanted columns begin at
    multiples of 64 bytes. Their bytes are copied once, through page-locked memory, beside the work of
    the stream that is current in CuPy, which waits for them before what it gets next. Of a file, the
    next batch of each device is on its way while one is in use. A path is read, not mapped. Compressed
    buffers are decompressed on their way, by threads of the host; those of large batches on the device,
    if that is estimated to be quicker, and their frames allow it: LZ4 with independent blocks, as colkern
    writes it. Dictionaries are brought when a column first needs them, to its device.

    Raises:
        InvalidArrowError: If the source is in neither format, or its schema or footer is malformed.
        UnsupportedError: If it is valid, but of a kind that colkern does not read, or a URL that fsspec
            does not open here: the message says what to install.
        LimitExceededError: If it is over the limits.
        DeviceUnavailableError: If there is no such device, and why.
        OSError: If the source cannot be opened or read.
        TypeError: If `source` is none of these.
        KeyError, IndexError: If there is no such column.
    """
    with _Opened(source, columns, device, memory_map, trusted, limits) as opened:
        return opened.file_reader() if opened.is_file else opened.stream_reader()


def open_file(
    source: Source,
    *,
    columns: Sequence[int | str] | None = None,
    device: Devices | None = None,
    memory_map: bool = True,
    trusted: bool = False,
    limits: Limits = DEFAULT_LIMITS,
) -> FileReader:
    """A reader for an Arrow IPC file; see `open`."""
    with _Opened(source, columns, device, memory_map, trusted, limits) as opened:
        return opened.file_reader()


def open_stream(
    source: Source,
    *,
    columns: Sequence[int | str] | None = None,
    device: Devices | None = None,
    memory_map: bool = True,
    trusted: bool = False,
    limits: Limits = DEFAULT_LIMITS,
) -> StreamReader:
    """A reader for an Arrow IPC stream; see `open`."""
    with _Opened(source, columns, device, memory_map, trusted, limits) as opened:
        return opened.stream_reader()


def read_schema(source: Source, *, limits: Limits = DEFAULT_LIMITS) -> Schema:
    """The schema of an Arrow IPC file or stream; see `open`. No more bytes of a stream are taken."""
    with open(source, memory_map=False, limits=limits) as reader:
        return reader.schema


def destinations_of(device: Devices | None, trusted: bool) -> Sequence[Destination]:
    """The devices to which bodies are copied in turn; empty for host memory. See `open`."""
    if device is None:
        return ()
    several = isinstance(device, Sequence) and not isinstance(device, str | Device)
    devices = list(map(device_named, cast("Sequence[str]", device if several else [device])))
    if devices == [HOST]:
        return ()
    if not devices:
        raise ValueError("device: expected one device at least")
    from colkern.ipc.reading.destination import Destination

    return [Destination(each, trusted=trusted) for each in devices]


class _Opened:
    """A source whose format is not known yet; its file is closed if no reader takes it over."""

    def __init__(
        self,
        source: Source,
        columns: Sequence[int | str] | None,
        device: Devices | None,
        memory_map: bool,
        trusted: bool,
        limits: Limits,
    ) -> None:
        destinations = destinations_of(device, trusted)
        self._options = limits, columns, destinations
        # A file for device memory is read, not mapped into host memory first.
        opened = opened_source(source, mapped=memory_map and not destinations)
        self._random: RandomAccess | None = None
        self._own: io.FileIO | None = None
        self._file = source
        if opened is not None and not isinstance(opened, io.FileIO):
            self._random = opened
            self._start = opened.read(0, min(FIRST_BYTES, opened.size)).tobytes()
            return
        if opened is not None:
            self._file = self._own = opened
        self._bytes = ByteStream(self._file)
        self._start = self._bytes.peek(FIRST_BYTES)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        if kind is not None:
            self.close()

    @property
    def is_file(self) -> bool:
        return self._start.startswith(MAGIC)

    def file_reader(self) -> FileReader:
        if not self.is_file:
            raise not_a_file(self._start)
        return FileReader(self._random or self._any_order(), *self._options)

    def _any_order(self) -> RandomAccess:
        """The bytes of a file object in any order; if it cannot seek, all are read into memory."""
        seekable = getattr(self._file, "seekable", None)
        if seekable is not None and seekable():
            file = cast("BinaryIO", self._file)
            file.seek(-len(self._start), os.SEEK_CUR)
            return random_access(file)
        whole = self._bytes.take_all()
        self.close()
        return Memory(whole)

    def stream_reader(self) -> StreamReader:
        if self.is_file:
            raise not_a_stream(self._start)
        foreign = foreign_format(self._start)
        if foreign is not None:
            raise foreign
        source = self._bytes if self._random is None else MemoryStream(self._random)
        limits, columns, destinations = self._options
        # Bodies of a remote file, or for devices, are fetched when they are asked for.
        late = bool(destinations) or isinstance(self._random, Remote)
        messages = MessageStream(source, limits, late=late)
        reader = StreamReader(messages, limits, columns, destinations)
        if self._own is not None:
            reader._closing.append(self._own.close)
        return reader

    def close(self) -> None:
        if self._own is not None:
            self._own.close()
