"""The readers of the stream and the file format.

Columnar format 1.5: "IPC streaming format", "IPC file format".
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from functools import partial, reduce
from threading import RLock
from typing import TYPE_CHECKING, NoReturn, TypeVar, overload

from colkern.arrays import Array, RecordBatch, RecordBatchStream, cannot_be_pickled, no_numpy_array
from colkern.closing import Closing
from colkern.errors import ColkernError, InvalidArrowError, LimitExceededError, StreamError, placed
from colkern.forks import Lock, cached_property
from colkern.integers import integer
from colkern.ipc.enums import FRONT_BYTES, MAGIC, MessageHeader, MetadataVersion
from colkern.ipc.fields import WireSchema, dictionary_ids
from colkern.ipc.flatbuffer.decoding import decode
from colkern.ipc.flatbuffer.tables import Record
from colkern.ipc.limits import DEFAULT_LIMITS, Limits
from colkern.ipc.reading.batches import BatchSummary, OpenedBatch, opened_batch, summary_of
from colkern.ipc.reading.dictionaries import Dictionaries
from colkern.ipc.reading.messages import (
    FIRST_BYTES,
    HEADER_NAMES,
    Message,
    Messages,
    MessageStream,
    check_version,
    key_values,
    max_table_depth,
    not_a_file,
    read_message_at,
)
from colkern.ipc.reading.plans import DictionaryPlan, Projection, SchemaPlan
from colkern.ipc.reading.schemas import schema_from_wire
from colkern.ipc.reading.sources import MemoryStream, RandomAccess
from colkern.ipc.wire import FOOTER
from colkern.memory import HOST
from colkern.schema import Schema
from colkern.targets import Items

if TYPE_CHECKING:
    from colkern.ipc.reading.destination import Destination

Taken = TypeVar("Taken")

# The footer's length and the magic are at the end of the file.
_BACK = struct.Struct("<i6s")


class _Plans:
    """The plans of a schema, by the version of the metadata."""

    def __init__(self, wire: WireSchema) -> None:
        self.wire = wire
        self._by_version: dict[int, SchemaPlan] = {}

    def __getitem__(self, version: int) -> SchemaPlan:
        plan = self._by_version.get(version)
        if plan is None:
            plan = self._by_version[version] = SchemaPlan(self.wire, version)
        return plan


class StreamReader(Closing, RecordBatchStream):
    """Reads the batches of a stream, one after the other.

    A context manager, which closes files that the reader has opened itself. Threads may share a reader:
    each batch goes to one of them.

    Args:
        messages: The messages of the stream.
        limits: The limits on untrusted input.
        columns: Names or positions of the columns to read; None for all.
        destinations: The devices to which bodies are copied in turn; empty for host memory.

    Raises:
        InvalidArrowError: If the source is no stream, or its schema is malformed.
        UnsupportedError: If the schema has something that colkern does not read.
        LimitExceededError: If the schema is over the limits.
    """

    def __init__(
        self,
        messages: Messages,
        limits: Limits = DEFAULT_LIMITS,
        columns: Sequence[int | str] | None = None,
        destinations: Sequence[Destination] = (),
    ) -> None:
        self._messages = messages
        self._limits = limits
        self._destinations: Sequence[Destination | None] = destinations or (None,)
        self._opened_batches = 0
        self._closing: list[Callable[[], None]] = []
        self._failure: ColkernError | None = None
        self._ended = False
        self._closed = False
        self._lock = Lock(RLock)
        self._taker: int | None = None
        first = self._messages.next()
        if first is None:
            is_empty = self._messages.position == 0
            state = "is empty" if is_empty else "starts with the mark of a stream's end"
            raise InvalidArrowError(f"the source {state}: there is no schema")
        self.message_metadata: Mapping[bytes, bytes] | None = first.metadata
        """Custom metadata of the schema's message; the schema's own is `schema.metadata`."""
        self.dictionary_metadata: dict[int, Mapping[bytes, bytes]] = {}
        """Dictionary id → custom metadata of its last batch that was read and has any."""
        self._plans = _Plans(_schema_of(first, limits))
        self._dictionaries = [Dictionaries() for _ in self._destinations]
        self._projection = Projection(self._plans.wire.schema, columns)
        device = destinations[0].device if destinations else HOST
        # The reader is its own iterator, but does not store itself: a cycle would keep memory until
        # collected.
        super().__init__(self._projection.schema, (), device)

    def __repr__(self) -> str:
        return f"<colkern.ipc.StreamReader: {len(self.schema)} columns>\n{self.schema}"

    def __iter__(self) -> Iterator[RecordBatch]:
        return self

    def __next__(self) -> RecordBatch:
        """The next batch; its columns are decoded when they are asked for.

        Raises:
            InvalidArrowError: If the stream ends within a message, or a message is malformed. Further
                calls raise the same error, since the start of the next message is unknown.
            ValueError: If the reader was closed before the stream's end.
        """
        with self._taking():
            message = self._guarded(self._next_record_batch)
            if message is None:
                raise StopIteration
            # A device that has no room for this batch may have room for the next one.
            minor = () if self._destinations[0] is None else (LimitExceededError,)
            opened = self._guarded(lambda: self._opened(message), minor)
        assert opened is not None
        return opened.handed_out()

    def summaries(self) -> Iterator[BatchSummary]:
        """Summaries of the remaining batches, including dictionary batches, in their order.

        Batches are consumed, as by iterating; no column is decoded.

        Raises:
            InvalidArrowError: As for iterating, and if a null count or the place of a buffer is
                impossible.
        """
        while (summary := self._take_summary()) is not None:
            yield summary

    def _take_summary(self) -> BatchSummary | None:
        with self._taking():
            return self._guarded(self._next_summary)

    @contextmanager
    def _taking(self) -> Iterator[None]:
        """The context in which this thread takes a message. A child forked meanwhile is within one."""
        with self._lock:
            process = os.getpid()
            if self._taker not in (None, process) and self._failure is None:
                self._failure = StreamError(
                    "this process was forked while another thread took a batch; open the source again"
                )
            before, self._taker = self._taker, process
            try:
                yield
            finally:
                self._taker = before

    def _guarded(
        self, take: Callable[[], Taken | None], minor: tuple[type[ColkernError], ...] = ()
    ) -> Taken | None:
        """The result of `take`, or None. An error is raised again each time, unless it is a `minor` one."""
        if self._failure is not None:
            raise copy(self._failure)
        if self._ended:
            return None
        if self._closed:
            raise _closed_error()
        try:
            taken = take()
        except minor:
            raise
        except ColkernError as error:
            # Without its traceback, whose frames would keep the data that they have read.
            self._failure = copy(error)
            raise
        except BaseException as error:
            self._failure = StreamError(
                f"the source failed before, perhaps within a message: {type(error).__name__}: {error}"
            )
            raise
        self._ended = taken is None
        return taken

    def _next_record_batch(self) -> Message | None:
        while (message := self._next_message()) is not None:
            if message.kind == MessageHeader.RecordBatch:
                return message
        return None

    def _opened(self, message: Message) -> OpenedBatch:
        turn = self._opened_batches % len(self._destinations)
        self._opened_batches += 1
        resolve, plan = self._dictionaries[turn].values, self._plans[message.version]
        opened = opened_batch(
            message, plan, self._projection, resolve, self._limits, self._destinations[turn]
        )
        self._messages.finish_last()
        return opened

    def _next_summary(self) -> BatchSummary | None:
        message = self._next_message()
        if message is None:
            return None
        return summary_of(message, self._plans[message.version], self._projection, self._limits)

    def _next_message(self) -> Message | None:
        """The next record batch or dictionary batch; it counts as taken."""
        message = self._messages.next()
        if message is None or message.kind == MessageHeader.RecordBatch:
            return message
        if message.kind != MessageHeader.DictionaryBatch:
            raise _unexpected(message, "record batch or a dictionary batch")
        plan = self._plans[message.version]
        if message.header["id"] in self._projection.dictionary_ids(plan.columns):
            self._messages.settle_last()
        self._dictionaries = [
            known.after(message, plan, self._limits, destination, may_replace=True)
            for known, destination in zip(self._dictionaries, self._destinations, strict=True)
        ]
        if message.metadata is not None:
            self.dictionary_metadata[message.header["id"]] = message.metadata
        return message

    @property
    def position(self) -> int:
        """The number of bytes taken from the source so far."""
        return self._messages.position

    @property
    def dictionary_ids(self) -> dict[str, int]:
        """Path of a field → id of its dictionary, in the form of `WriteOptions.dictionary_ids`."""
        return dictionary_ids(self._projection.fields_of(self._plans.wire))

    def read_all(self) -> list[RecordBatch]:
        """All remaining batches."""
        return list(self)

    def close(self) -> None:
        """Close files that the reader has opened; batches that were read stay valid.

        Reading a further batch then raises `ValueError`, unless the stream has ended before.
        """
        self._closed = True
        while self._closing:
            self._closing.pop()()


class FileReader(Closing):
    """Reads the batches of a file in any order: `reader[i]`, `len(reader)`, `for batch in reader`.

    Threads may share a reader. It is a context manager, like the reader of a stream; a mapped file
    stays open until the last array that uses it is gone. Other libraries see one table, not a sequence
    of batches.

    Args:
        source: The bytes of the file.
        limits, columns, destinations: As for `StreamReader`; so are errors, which the footer may have, too.
    """

    def __init__(
        self,
        source: RandomAccess,
        limits: Limits = DEFAULT_LIMITS,
        columns: Sequence[int | str] | None = None,
        destinations: Sequence[Destination] = (),
    ) -> None:
        self._source = source
        self._limits = limits
        self._destinations = destinations
        self._end, footer = _read_footer(source, limits)
        self.metadata: Mapping[bytes, bytes] | None = key_values(footer["custom_metadata"])
        """The footer's custom metadata; the schema's is `schema.metadata`."""
        try:
            if footer["schema"] is None:
                raise InvalidArrowError("no schema")
            self._plans = _Plans(schema_from_wire(footer["schema"], limits))
        except InvalidArrowError as error:
            raise error.at("footer") from None
        self._projection = Projection(self._plans.wire.schema, columns)
        self._batches = _blocks(footer["recordBatches"])
        self._dictionary_blocks = _blocks(footer["dictionaries"])
        self._dictionaries: dict[Destination | None, Dictionaries] = {}
        self._reading_dictionaries = Lock(RLock)
        self._closed = False

    @property
    def schema(self) -> Schema:
        """The schema of every batch."""
        return self._projection.schema

    @cached_property
    def message_metadata(self) -> Mapping[bytes, bytes] | None:
        """Custom metadata of the schema's message, which precedes the batches.

        Raises:
            InvalidArrowError: If the message is malformed.
        """
        stream = MemoryStream(self._source)
        stream.position = FRONT_BYTES
        message = MessageStream(stream, self._limits).next()
        return None if message is None else message.metadata

    @cached_property
    def dictionary_metadata(self) -> dict[int, Mapping[bytes, bytes]]:
        """Dictionary id → custom metadata of the last of its batches that has any.

        Raises:
            InvalidArrowError: If a message is malformed.
        """
        return {
            message.header["id"]: message.metadata
            for message in self._dictionary_messages()
            if message.metadata is not None
        }

    @property
    def num_record_batches(self) -> int:
        """The number of batches."""
        return len(self._batches)

    def __len__(self) -> int:
        return len(self._batches)

    def __repr__(self) -> str:
        counts = f"{len(self)} batches, {len(self.schema)} columns"
        return f"<colkern.ipc.FileReader: {counts}>\n{self.schema}"

    def get_batch(self, position: int) -> RecordBatch:
        """The batch at a position; its columns are decoded when they are asked for.

        If bodies go to a device, copies are under way when this returns, and later work on the current
        stream waits for them.

        Args:
            position: From 0 on; negative counts from the end.

        Raises:
            TypeError: If the position is no integer.
            IndexError: If there is no such batch.
            InvalidArrowError: If its message is malformed or contradicts the footer.
            LimitExceededError: If the device is out of memory.
            ValueError: If the reader is closed.
        """
        position = integer(position, "position")
        if not -len(self) <= position < len(self):
            raise IndexError(f"batch {position} of {len(self)}")
        return self._opened(position % len(self)).handed_out()

    def _opened(self, position: int) -> OpenedBatch:
        message = self._batch_message(position)
        plan, destination = self._plans[message.version], None
        if self._destinations:
            destination = self._destinations[position % len(self._destinations)]
        resolve = partial(self._resolve, destination)
        return opened_batch(message, plan, self._projection, resolve, self._limits, destination)

    def __iter__(self) -> Iterator[RecordBatch]:
        """All batches. If bodies go to devices, the next one of each is copied meanwhile."""
        if not self._destinations:
            yield from map(self.get_batch, range(len(self)))
            return
        from colkern.ipc.reading.ahead import one_ahead

        devices = [destination.device for destination in self._destinations]
        ahead = one_ahead(self._opened, len(self), devices)
        # Nothing here refers to a batch that was handed out: the next one may need its memory.
        yield from map(OpenedBatch.handed_out, ahead)

    @overload
    def __getitem__(self, position: int) -> RecordBatch: ...

    @overload
    def __getitem__(self, position: slice) -> list[RecordBatch]: ...

    def __getitem__(self, position: int | slice) -> RecordBatch | list[RecordBatch]:
        """A batch by position, or a list of batches by a slice."""
        if isinstance(position, slice):
            return [self.get_batch(i) for i in range(*position.indices(len(self)))]
        return self.get_batch(position)

    def read_all(self) -> list[RecordBatch]:
        """All batches."""
        return list(self)

    def summaries(self) -> Iterator[BatchSummary]:
        """Summaries of all batches: dictionary batches first, then record batches.

        Only the sizes in front of compressed buffers are read from bodies.

        Raises:
            InvalidArrowError: If a message is malformed, contradicts the footer, or has impossible null
                counts or places of buffers.
        """
        if self._closed:
            raise _closed_error()
        dictionaries = Dictionaries()
        for message in self._dictionary_messages():
            dictionaries = self._after(None, dictionaries, message)
            yield self._summary(message)
        for position in range(len(self)):
            yield self._summary(self._batch_message(position))

    def _summary(self, message: Message) -> BatchSummary:
        return summary_of(message, self._plans[message.version], self._projection, self._limits)

    @property
    def dictionary_ids(self) -> dict[str, int]:
        """Path of a field → id of its dictionary, in the form of `WriteOptions.dictionary_ids`."""
        return dictionary_ids(self._projection.fields_of(self._plans.wire))

    def _message(self, block: tuple[int, int, int], kind: int, place: str) -> Message:
        message = read_message_at(self._source, self._end, block, place, self._limits)
        if message.kind != kind:
            raise _unexpected(message, HEADER_NAMES[kind])
        return message

    def _batch_message(self, position: int) -> Message:
        if self._closed:
            raise _closed_error()
        block, place = self._batches[position], f"record batch {position}"
        return self._message(block, MessageHeader.RecordBatch, place)

    def _dictionary_messages(self) -> Iterator[Message]:
        for number, block in enumerate(self._dictionary_blocks):
            place = f"dictionary batch {number}"
            yield self._message(block, MessageHeader.DictionaryBatch, place)

    def _resolve(
        self, destination: Destination | None, plan: DictionaryPlan, unneeded: bool
    ) -> Array:
        # All dictionary batches apply to all batches, wherever they are in the file.
        with self._reading_dictionaries:
            known = self._dictionaries.get(destination)
            if known is None:
                after = partial(self._after, destination)
                known = reduce(after, self._dictionary_messages(), Dictionaries())
                self._dictionaries[destination] = known
        return known.values(plan, unneeded)

    def _after(
        self, destination: Destination | None, dictionaries: Dictionaries, message: Message
    ) -> Dictionaries:
        plan = self._plans[message.version]
        return dictionaries.after(message, plan, self._limits, destination, may_replace=False)

    def close(self) -> None:
        """Refuse to read more batches; those that were read stay valid."""
        self._closed = True

    def __reduce__(self) -> NoReturn:
        raise cannot_be_pickled(self)

    def __array__(self, dtype: object = None, copy: bool | None = None) -> NoReturn:
        """Raise `TypeError`: NumPy and pandas would make an array of batches."""
        raise no_numpy_array(self)

    def __arrow_c_schema__(self) -> object:
        """The schema as an `arrow_schema` capsule (Arrow PyCapsule interface)."""
        return RecordBatchStream(self.schema, ()).__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The batches as an `arrow_array_stream` capsule; nothing is copied."""
        return RecordBatchStream(self.schema, self).__arrow_c_stream__(requested_schema)

    def __arrow_c_device_stream__(
        self, requested_schema: object = None, **kwargs: object
    ) -> object:
        """The batches as an `arrow_device_array_stream` capsule; nothing is copied."""
        device = self._destinations[0].device if self._destinations else HOST
        stream = RecordBatchStream(self.schema, self, device)
        return stream.__arrow_c_device_stream__(requested_schema, **kwargs)


def _closed_error() -> ValueError:
    return ValueError("the reader is closed: open the source again to read further batches")


def _unexpected(message: Message, expected: str) -> InvalidArrowError:
    return InvalidArrowError(
        f"found a {HEADER_NAMES[message.kind]}, expected a {expected}", place=message.place
    )


def _schema_of(message: Message, limits: Limits) -> WireSchema:
    if message.kind != MessageHeader.Schema:
        raise _unexpected(message, "schema")
    with placed(message.place):
        return schema_from_wire(message.header, limits)


def _read_footer(source: RandomAccess, limits: Limits) -> tuple[int, Record]:
    """The end of the messages in a file, and its footer."""
    start = source.read(0, min(FIRST_BYTES, source.size)).tobytes()
    if not start.startswith(MAGIC):
        raise not_a_file(start)
    back = source.size - _BACK.size
    if back < FRONT_BYTES:
        raise InvalidArrowError(f"an Arrow file of {source.size} bytes: it has been cut short")
    size, magic = _BACK.unpack(source.read(back, _BACK.size).tobytes())
    if magic != MAGIC:
        raise InvalidArrowError(
            f"the file does not end with {MAGIC!r}: it has been cut short or was not finished",
            place=f"byte {source.size - len(MAGIC)}",
        )
    if not 0 < size <= back - FRONT_BYTES:
        raise InvalidArrowError(f"footer of {size} bytes", place=f"byte {back}")
    limits.require_metadata(size, "footer")
    start = back - size
    try:
        footer = decode(FOOTER, source.read(start, size).tobytes(), max_table_depth(limits))
    except InvalidArrowError as error:
        raise error.at(f"footer at byte {start}") from None
    # Some writers leave the footer's version at its default; the versions of messages count.
    check_version(footer["version"], MetadataVersion.V1)
    return start, footer


def _blocks(blocks: Items | None) -> list[tuple[int, int, int]]:
    return [] if blocks is None else blocks.tolist()
