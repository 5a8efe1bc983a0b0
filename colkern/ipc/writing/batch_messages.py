"""The messages of a stream or file: its schema's, and those of each batch, dictionaries first.

Columnar format 1.5: "IPC streaming format", "Dictionary messages".
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from colkern.arrays import RecordBatch
from colkern.forks import cached_property
from colkern.ipc.enums import MessageHeader
from colkern.ipc.flatbuffer.encoding import encode_table
from colkern.ipc.limits import refused_by_readers
from colkern.ipc.wire import SCHEMA
from colkern.ipc.writing.batches import batch_to_wire
from colkern.ipc.writing.data import check_schema
from colkern.ipc.writing.dictionaries import DictionaryBatch, WrittenDictionaries, ids_of
from colkern.ipc.writing.messages import Body, Message
from colkern.ipc.writing.options import WriteOptions
from colkern.ipc.writing.schemas import pairs, schema_to_wire, wire_schema_of
from colkern.memory import ALIGNMENT
from colkern.schema import Schema


class BatchMessages:
    """Makes one stream's or file's messages, and knows which dictionaries its reader has."""

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
        # Of each dictionary, the decompressed size and the size of its bodies.
        self._grown: dict[int, tuple[int, int]] = {}
        asked = options.dictionary_deltas
        self._dictionaries = WrittenDictionaries(
            deltas=deltas if asked is None else asked,
            nested_deltas=bool(asked),
            may_replace=may_replace,
        )

    def of_schema(self) -> Message:
        """The schema's message."""
        return self._schema_message

    @cached_property
    def dictionaries(self) -> int:
        """The number of dictionaries that the schema has."""
        return len(set(ids_of(self._wire.fields)))

    def of_batch(self, batch: RecordBatch) -> list[Message]:
        """The messages of a batch: dictionary batches that are due, then the record batch."""
        # Whatever can be refused is refused here; the messages returned count as written.
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
        """The decompressed size of a dictionary after a batch of it, and the size of its bodies."""
        assert body is not None
        grown, stored = self._grown.get(batch.id, (0, 0)) if batch.is_delta else (0, 0)
        return grown + body.decompressed_bytes, stored + body.size

    def _checked(self, message: Message) -> Message:
        with refused_by_readers():
            self._limits.require_metadata(len(message.encode()) + ALIGNMENT)
        return message
