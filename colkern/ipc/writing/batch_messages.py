"""The messages of a stream or file: its schema's, and those of each batch, dictionaries first.

Columnar format 1.5: "IPC streaming format", "Dictionary messages".
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from colkern.arrays import RecordBatch
from colkern.ipc.fields import WireSchema
from colkern.ipc.flatbuf.MessageHeader import MessageHeader
from colkern.ipc.flatbuffer import encode_table
from colkern.ipc.wire import SCHEMA
from colkern.ipc.writing.batches import batch_to_wire
from colkern.ipc.writing.data import check_schema
from colkern.ipc.writing.dictionaries import DictionaryBatch, WrittenDictionaries
from colkern.ipc.writing.messages import Body, Message
from colkern.ipc.writing.options import WriteOptions
from colkern.ipc.writing.schemas import pairs, schema_to_wire, wire_schema_of
from colkern.schema import Schema


class BatchMessages:
    """Makes the messages of one stream or file, and knows which dictionaries its reader has by then.

    Args:
        schema: The schema of every batch.
        options: How they are written.
        deltas: Whether a dictionary that has grown is written as a delta, if the options leave it open.
        may_replace: Whether a dictionary may take the place of an earlier one.
        new_body: Makes the bodies; None for `Body`.

    Raises:
        UnsupportedError: If IPC has no form for a type.
    """

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
        self._wire: WireSchema = wire_schema_of(schema, options.dictionary_ids)
        self._schema_message = Message(
            MessageHeader.Schema, encode_table(SCHEMA, schema_to_wire(self._wire))
        )
        if options.dictionary_deltas is not None:
            deltas = options.dictionary_deltas
        self._dictionaries = WrittenDictionaries(deltas=deltas, may_replace=may_replace)

    def of_schema(self) -> Message:
        """The schema's message."""
        return self._schema_message

    def of_batch(self, batch: RecordBatch) -> list[Message]:
        """What has to be written for a batch: dictionary batches that are due, then the record batch.

        All that can be refused is found here; what is returned counts as written.

        Raises:
            ValueError: If the batch has another schema, one of its columns has bytes in several
                memories, or a dictionary would have to be replaced where that is not allowed.
            InvalidArrowError: If an array points outside its own memory.
            LimitExceededError: If a device is out of memory.
            TypeError: If its metadata is not of bytes.
        """
        check_schema(batch.schema, self.schema)
        columns, fields = batch.columns, self._wire.fields
        due = self._dictionaries.due(columns, fields)
        messages = [self._of_dictionary(dictionary) for dictionary in due]
        body = self._new_body()
        header = batch_to_wire(columns, fields, batch.num_rows, self._codec, body)
        metadata = pairs(batch.metadata, "data.metadata")
        messages.append(Message(MessageHeader.RecordBatch, header, body, metadata))
        for dictionary in due:
            self._dictionaries.wrote(dictionary)
        return messages

    def _of_dictionary(self, batch: DictionaryBatch) -> Message:
        body = self._new_body()
        fields = [batch.values_field()]
        data = batch_to_wire([batch.values], fields, batch.values.length, self._codec, body)
        header = {"id": batch.id, "data": data, "isDelta": batch.is_delta}
        return Message(MessageHeader.DictionaryBatch, header, body)
