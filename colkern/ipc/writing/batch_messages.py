"""The messages of a stream or file: the schema's message, and those of batches and their dictionaries.

Columnar format 1.5: "IPC streaming format", "Dictionary messages", "Dictionary replacement".
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial

import numpy as np

from colkern.arrays import Array, RecordBatch
from colkern.cpu.threads import map_items
from colkern.dispatch import Dispatch, by_layout
from colkern.forks import cached_property
from colkern.ipc.compression import Codec
from colkern.ipc.enums import BodyCompressionMethod, MessageHeader
from colkern.ipc.fields import WireField
from colkern.ipc.flatbuffer.encoding import encode_table
from colkern.ipc.flatbuffer.tables import Record
from colkern.ipc.limits import Limits, refused_by_readers
from colkern.ipc.wire import BUFFER, FIELD_NODE, SCHEMA
from colkern.ipc.writing.data import WriteOptions, check_schema
from colkern.ipc.writing.fetching import Chunk, fetched_buffers, is_on_device
from colkern.ipc.writing.messages import Body, Message
from colkern.ipc.writing.schemas import pairs, schema_to_wire, wire_schema_of
from colkern.layouts import LayoutKind
from colkern.memory import ALIGNMENT, EMPTY, HOST, Buffer, Device
from colkern.operations import take, trim, views_to_offsets
from colkern.schema import Schema, int64
from colkern.targets import target_of


def devices_of(array: Array) -> set[Device]:
    """The devices that have bytes of an array, without dictionaries."""
    devices = {each.device for each in array.buffers if each is not None and each.size}
    return devices.union(*map(devices_of, array.children))


def trimmed(array: Array, what: str) -> Array:
    """The array as it is written: trimmed on its device, see `colkern.operations.trim`."""
    devices = devices_of(array)
    if len(devices) > 1:
        places = " and ".join(sorted(map(str, devices)))
        raise ValueError(
            f"{what}: its bytes live on {places}; copy them to one place with colkern.to_host or "
            f"colkern.to_device"
        )
    return trim(array)


@dataclass(frozen=True, slots=True)
class DictionaryBatch:
    """Values of a dictionary that must be written."""

    id: int
    field: WireField  #: A field that has it; its children are those of the values.
    values: Array  #: The values, or those that come behind the ones before.
    is_delta: bool  #: Whether they do.
    whole: Array  #: All values that a reader has then.
    replaces: bool = False  #: Whether values that were written before changed their positions.

    def values_field(self) -> WireField:
        """The field of the values."""
        return self.field._replace(dictionary=None)


class WrittenDictionaries:
    """The dictionaries that a reader has. `nested_deltas` allows deltas that Arrow C++ refuses."""

    def __init__(self, *, deltas: bool, nested_deltas: bool, may_replace: bool) -> None:
        self._deltas = deltas
        self._nested_deltas = nested_deltas
        self._may_replace = may_replace
        self._written: dict[int, Array] = {}

    def due(self, columns: Sequence[Array], fields: Sequence[WireField]) -> list[DictionaryBatch]:
        """The dictionary batches to write before a batch, inner ones first; `wrote` remembers them."""
        now: dict[int, tuple[WireField, Array]] = {}
        for column, field in zip(columns, fields, strict=True):
            for owner, values in _dictionaries(column, field):
                assert owner.dictionary is not None
                _, known = now.setdefault(owner.dictionary, (owner, values))
                if not _same(known, values):
                    raise ValueError(
                        f"dictionary {owner.dictionary}: columns that share it have different "
                        f"dictionaries in one batch; unify them, or give the columns ids of their own"
                    )
        batches: list[DictionaryBatch] = []
        for owner, values in now.values():
            batch = self._batch(owner, values, batches)
            if batch is not None:
                batches.append(batch)
        return batches

    def _batch(
        self, owner: WireField, values: Array, before: list[DictionaryBatch]
    ) -> DictionaryBatch | None:
        id_ = owner.dictionary
        assert id_ is not None
        written = self._written.get(id_)
        if written is None:
            return DictionaryBatch(id_, owner, values, is_delta=False, whole=values)
        inner = set(ids_of(owner.children))
        # If an inner dictionary was replaced, and so reordered, the values that point into it must
        # be written again.
        if inner.isdisjoint(batch.id for batch in before if batch.replaces):
            if _same(written, values):
                return None
            if self._deltas and _is_start_of(written, values):
                if inner and not self._nested_deltas:
                    return DictionaryBatch(id_, owner, values, is_delta=False, whole=values)
                rest = values.slice(written.length)
                return DictionaryBatch(id_, owner, rest, is_delta=True, whole=values)
        if not self._may_replace:
            raise ValueError(
                f"dictionary {id_} of {owner.field.name!r}: a file can only add to a dictionary, not "
                f"replace it; unify the dictionaries of the batches, or write a stream"
            )
        return DictionaryBatch(id_, owner, values, is_delta=False, whole=values, replaces=True)

    def wrote(self, batch: DictionaryBatch) -> None:
        """Remember that a dictionary was written."""
        self._written[batch.id] = batch.whole


def _is_start_of(start: Array, values: Array) -> bool:
    return start.length <= values.length and _same(start, values.slice(0, start.length))


def _same(a: Array, b: Array) -> bool:
    """Whether two arrays of one type have the same bytes, if their values are equal: -0.0 is not 0.0."""
    # Arrays on one device are compared there, others in host memory. Nested dictionaries are not
    # compared, since they have ids of their own.
    if a is b:
        return True
    if a.length != b.length:
        return False
    a, b = trimmed(a, "dictionary"), trimmed(b, "dictionary")
    if len(devices_of(a) | devices_of(b)) > 1:
        from colkern.cuda import to_host

        a, b = to_host(a), to_host(b)
    return _same_bytes(a, b)


def _same_bytes(a: Array, b: Array) -> bool:
    if _same_parts(a, b):
        return True
    one_way = _one_way.get(a.layout.kind)
    return one_way is not None and a.length == b.length and _same_parts(one_way(a), one_way(b))


def _same_parts(a: Array, b: Array) -> bool:
    if len(a.buffers) != len(b.buffers) or a.length != b.length:
        return False
    pairs = zip(a.buffers, b.buffers, strict=True)
    if not all(_are_equal(x or EMPTY, y or EMPTY) for x, y in pairs):
        return False
    return all(_same_bytes(x, y) for x, y in zip(a.children, b.children, strict=True))


def _are_equal(a: Buffer, b: Buffer) -> bool:
    """Whether two buffers on one device have the same bytes."""
    if a.size != b.size or not a.size:
        return a.size == b.size
    if a.device == HOST:
        return np.array_equal(a.array, b.array)
    from colkern.cuda import memory

    with memory.current(a.device):
        return bool(memory.on_host((a.array == b.array).all()))


_one_way: Dispatch[LayoutKind, Callable[[Array], Array]] = by_layout(
    "one way of holding the values of trimmed arrays",
    # In these layouts, trimmed arrays of equal values have the same bytes.
    LayoutKind.NULL,
    LayoutKind.FIXED_SIZE,
    LayoutKind.BINARY,
    LayoutKind.LIST,
    LayoutKind.LIST_VIEW,
    LayoutKind.FIXED_SIZE_LIST,
    LayoutKind.STRUCT,
    LayoutKind.SPARSE_UNION,
    LayoutKind.DICTIONARY,
    LayoutKind.RUN_END_ENCODED,
)


_one_way.of(LayoutKind.BINARY_VIEW)(lambda array: views_to_offsets(array, large=True))


@_one_way.of(LayoutKind.DENSE_UNION)
def _all_slots(array: Array) -> Array:
    """A copy of all slots; the children of a dense union then have nothing else."""
    target = target_of(array.device)
    slots = target.buffer(target.positions(array.length))
    return take(array, Array(int64(), array.length, [None, slots]))


def _dictionaries(array: Array, field: WireField) -> Iterator[tuple[WireField, Array]]:
    """The dictionaries in an array, with their fields; inner before outer."""
    if field.dictionary is None:
        for child, below in zip(array.children, field.children, strict=True):
            yield from _dictionaries(child, below)
        return
    assert array.dictionary is not None
    for child, below in zip(array.dictionary.children, field.children, strict=True):
        yield from _dictionaries(child, below)
    yield field, array.dictionary


def ids_of(fields: Sequence[WireField]) -> Iterator[int]:
    """The ids of all dictionaries in some fields."""
    for field in fields:
        if field.dictionary is not None:
            yield field.dictionary
        yield from ids_of(field.children)


class _Parts:
    """The nodes, buffers and variadic counts of a message's columns."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self.unbacked_length = 0
        self.nodes: list[tuple[int, int]] = []
        self.buffers: list[Buffer] = []
        self.counts: list[int] = []

    def add(self, array: Array, field: WireField) -> None:
        """Add a trimmed array and its children; a dictionary has messages of its own."""
        self.nodes.append((array.length, array.null_count))
        is_backed = array.layout.is_backed or (array.layout.has_validity and array.null_count > 0)
        if array.length > self._limits.unbacked_length and not is_backed:
            self.unbacked_length = max(self.unbacked_length, array.length)
        self.buffers += [EMPTY if buffer is None else buffer for buffer in array.buffers]
        if array.layout.variadic:
            self.counts.append(len(array.data_buffers))
        if field.dictionary is None:
            for child, below in zip(array.children, field.children, strict=True):
                self.add(child, below)


def batch_to_wire(
    columns: Sequence[Array],
    fields: Sequence[WireField],
    length: int,
    codec: Codec | None,
    body: Body,
    limits: Limits,
) -> Record:
    """The `RecordBatch` table for some columns, whose bytes are added to `body`."""
    # Slices are trimmed on their device, see `colkern.operations.trim`. Data that needs no trimming
    # and no compression is not copied; in device memory it stays there until the body is written.
    parts = _Parts(limits)
    for column, field in zip(columns, fields, strict=True):
        parts.add(trimmed(column, f"column {field.field.name!r}"), field)
    if codec is None:
        places = [body.add_buffer(buffer) for buffer in parts.buffers]
    else:
        compressed = _compressed(parts.buffers, codec)
        places = [body.add(chunks) for chunks in compressed]
        for chunks, (_, stored) in zip(compressed, places, strict=True):
            if chunks and not codec.is_plain(chunks[0], stored):
                body.decompressed_bytes += codec.uncompressed_size(chunks[0], stored)
    with refused_by_readers():
        limits.require_variadic_buffers(sum(parts.counts))
        limits.require_unbacked(parts.unbacked_length if columns else length, body.size)
    return {
        "length": length,
        "nodes": np.array(parts.nodes, FIELD_NODE),
        "buffers": np.array(places, BUFFER),
        "compression": codec and {"codec": codec.number, "method": BodyCompressionMethod.BUFFER},
        "variadicBufferCounts": np.array(parts.counts, np.int64) if parts.counts else None,
    }


def _compressed(buffers: Sequence[Buffer], codec: Codec) -> list[list[Chunk]]:
    """For each buffer, the chunks to write for it."""
    total = sum(buffer.size for buffer in buffers)
    if not any(map(is_on_device, buffers)):
        return map_items(codec.compress, buffers, total)
    return _compressed_from_devices(buffers, codec, total)


def _compressed_from_devices(
    buffers: Sequence[Buffer], codec: Codec, total: int
) -> list[list[Chunk]]:
    """As `_compressed`, but one buffer is fetched from a device while others are compressed."""
    from colkern.cuda import memory

    for device in {buffer.device for buffer in buffers}:
        # Threads that fetch do not know the current stream of this thread.
        memory.finish(device)
    lock = threading.Lock()
    with closing(fetched_buffers(buffers)) as arriving:

        def compress_next(_: Buffer) -> tuple[int, list[Chunk]] | None:
            with lock:
                fetched = next(arriving, None)
            # None if another thread has failed to fetch a buffer; that thread raises the error.
            return fetched and (fetched[0], codec.compress(fetched[1]))

        done = dict(filter(None, map_items(compress_next, buffers, total)))
    return [done[position] for position in range(len(buffers))]


class BatchMessages:
    """Makes the messages of one stream or file, and tracks which dictionaries its reader has."""

    def __init__(
        self,
        schema: Schema,
        options: WriteOptions,
        *,
        deltas: bool,
        may_replace: bool,
        new_body: Callable[[], Body] | None = None,
    ) -> None:
        self.schema = schema
        self._codec = options.codec()
        self._new_body = new_body or partial(Body, options.alignment)
        self._limits = options.reader_limits
        with refused_by_readers():
            self._wire = wire_schema_of(schema, options.dictionary_ids, self._limits)
        metadata = pairs(options.message_metadata, "message_metadata")
        self._dictionary_metadata = options.dictionary_metadata
        table = encode_table(SCHEMA, schema_to_wire(self._wire))
        self._schema_message = self._checked(Message(MessageHeader.Schema, table, None, metadata))
        # For each dictionary: its decompressed size, and the size of its bodies.
        self._grown: dict[int, tuple[int, int]] = {}
        asked = options.dictionary_deltas
        self._dictionaries = WrittenDictionaries(
            deltas=deltas if asked is None else asked,
            nested_deltas=bool(asked),
            may_replace=may_replace,
        )

    def of_schema(self) -> Message:
        """The message of the schema."""
        return self._schema_message

    @cached_property
    def dictionaries(self) -> int:
        """The number of dictionaries that the schema has."""
        return len(set(ids_of(self._wire.fields)))

    def of_batch(self, batch: RecordBatch) -> list[Message]:
        """The messages for a batch: new dictionary batches first, then the record batch."""
        # Everything that can be refused is refused here; the messages returned count as written.
        check_schema(batch.schema, self.schema)
        columns, fields = batch.columns, self._wire.fields
        due = self._dictionaries.due(columns, fields)
        messages = [self._of_dictionary(dictionary) for dictionary in due]
        body = self._new_body()
        header = batch_to_wire(columns, fields, batch.num_rows, self._codec, body, self._limits)
        with refused_by_readers():
            self._limits.require_decompressed(body.decompressed_bytes, body.size)
        metadata = pairs(batch.metadata, "data.metadata")
        messages.append(self._checked(Message(MessageHeader.RecordBatch, header, body, metadata)))
        for dictionary, message in zip(due, messages, strict=False):
            self._dictionaries.wrote(dictionary)
            self._grown[dictionary.id] = self._grown_to(dictionary, message.body)
        return messages

    def _of_dictionary(self, batch: DictionaryBatch) -> Message:
        body = self._new_body()
        fields = [batch.values_field()]
        data = batch_to_wire(
            [batch.values], fields, batch.values.length, self._codec, body, self._limits
        )
        with refused_by_readers():
            self._limits.require_decompressed(*self._grown_to(batch, body))
        header = {"id": batch.id, "data": data, "isDelta": batch.is_delta}
        metadata = pairs(self._dictionary_metadata.get(batch.id), "dictionary_metadata")
        return self._checked(Message(MessageHeader.DictionaryBatch, header, body, metadata))

    def _grown_to(self, batch: DictionaryBatch, body: Body | None) -> tuple[int, int]:
        """The decompressed size of a dictionary after one more batch, and the size of its bodies."""
        assert body is not None
        grown, stored = self._grown.get(batch.id, (0, 0)) if batch.is_delta else (0, 0)
        return grown + body.decompressed_bytes, stored + body.size

    def _checked(self, message: Message) -> Message:
        with refused_by_readers():
            self._limits.require_metadata(len(message.encode()) + ALIGNMENT)
        return message
