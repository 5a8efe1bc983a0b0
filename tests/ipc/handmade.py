"""Messages made by hand: what pyarrow does not write, and what nobody should.

Built with the FlatBuffers builder and the generated accessors, which the reader does not use.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import flatbuffers
from flatbuf import (
    BodyCompression,
    Buffer,
    DictionaryBatch,
    DictionaryEncoding,
    Field,
    FieldNode,
    Int,
    Message,
    RecordBatch,
    Schema,
)
from flatbuf.MessageHeader import MessageHeader
from flatbuf.MetadataVersion import MetadataVersion
from present import present

EOS = b"\xff\xff\xff\xff\0\0\0\0"

MakeType = Callable[[flatbuffers.Builder], int]


@dataclass
class WireField:
    """A field: `type` makes its type's table, `type_number` is the `Type` value."""

    name: str
    type_number: int
    type: MakeType
    children: Sequence[WireField] = ()
    dictionary: int | None = None

    def build(self, builder: flatbuffers.Builder) -> int:
        children = [child.build(builder) for child in self.children]
        child_vector = offsets(builder, children)
        name = builder.CreateString(self.name)
        type_ = self.type(builder)
        if self.dictionary is not None:
            index = int_type(32, True)(builder)
            DictionaryEncoding.DictionaryEncodingStart(builder)
            DictionaryEncoding.DictionaryEncodingAddId(builder, self.dictionary)
            DictionaryEncoding.DictionaryEncodingAddIndexType(builder, index)
            encoding = DictionaryEncoding.DictionaryEncodingEnd(builder)
        Field.FieldStart(builder)
        Field.FieldAddName(builder, name)
        Field.FieldAddNullable(builder, True)
        Field.FieldAddTypeType(builder, self.type_number)
        Field.FieldAddType(builder, type_)
        Field.FieldAddChildren(builder, child_vector)
        if self.dictionary is not None:
            Field.FieldAddDictionary(builder, encoding)
        result: int = Field.FieldEnd(builder)
        return result


def int_type(bits: int, signed: bool) -> MakeType:
    def make(builder: flatbuffers.Builder) -> int:
        Int.IntStart(builder)
        Int.IntAddBitWidth(builder, bits)
        Int.IntAddIsSigned(builder, signed)
        result: int = Int.IntEnd(builder)
        return result

    return make


def plain_type(module: Any, **slots: int) -> MakeType:
    """A type's table with those scalar slots, from its generated module."""
    name = module.__name__.rpartition(".")[2]

    def make(builder: flatbuffers.Builder) -> int:
        getattr(module, f"{name}Start")(builder)
        for slot, value in slots.items():
            getattr(module, f"{name}Add{slot}")(builder, value)
        result: int = getattr(module, f"{name}End")(builder)
        return result

    return make


def offsets(builder: flatbuffers.Builder, items: Sequence[int]) -> int:
    builder.StartVector(4, len(items), 4)
    for item in reversed(items):
        builder.PrependUOffsetTRelative(item)
    result: int = builder.EndVector()
    return result


def message(
    kind: int,
    header: Callable[[flatbuffers.Builder], int],
    body: bytes = b"",
    version: int = MetadataVersion.V5,
    body_length: int | None = None,
) -> bytes:
    """An encapsulated message."""
    builder = flatbuffers.Builder(1024)
    head = header(builder)
    Message.MessageStart(builder)
    Message.MessageAddVersion(builder, version)
    Message.MessageAddHeaderType(builder, kind)
    Message.MessageAddHeader(builder, head)
    Message.MessageAddBodyLength(builder, len(body) if body_length is None else body_length)
    builder.Finish(Message.MessageEnd(builder))
    return framed(bytes(builder.Output())) + body


def framed(metadata: bytes) -> bytes:
    metadata += bytes(-len(metadata) % 8)
    return struct.pack("<ii", -1, len(metadata)) + metadata


def schema_message(
    fields: Sequence[WireField], *, big_endian: bool = False, version: int = MetadataVersion.V5
) -> bytes:
    def header(builder: flatbuffers.Builder) -> int:
        vector = offsets(builder, [field.build(builder) for field in fields])
        Schema.SchemaStart(builder)
        Schema.SchemaAddEndianness(builder, int(big_endian))
        Schema.SchemaAddFields(builder, vector)
        result: int = Schema.SchemaEnd(builder)
        return result

    return message(MessageHeader.Schema, header, version=version)


@dataclass
class Batch:
    """A RecordBatch message: `nodes` are (length, null count), `buffers` are bytes.

    `places` overrides where the buffers are said to be: (offset, length) pairs.
    """

    length: int
    nodes: Sequence[tuple[int, int]]
    buffers: Sequence[bytes] = ()
    variadic_counts: Sequence[int] | None = None
    codec: int | None = None
    places: Sequence[tuple[int, int]] | None = None
    body_length: int | None = None
    version: int = MetadataVersion.V5
    body: bytes = field(init=False, default=b"")

    def __post_init__(self) -> None:
        places = []
        for buffer in self.buffers:
            places.append((len(self.body), len(buffer)))
            self.body += buffer + bytes(-len(buffer) % 8)
        if self.places is None:
            self.places = places

    def build(self, builder: flatbuffers.Builder) -> int:
        counts = None
        if self.variadic_counts is not None:
            RecordBatch.RecordBatchStartVariadicBufferCountsVector(
                builder, len(self.variadic_counts)
            )
            for count in reversed(self.variadic_counts):
                builder.PrependInt64(count)
            counts = builder.EndVector()
        places = present(self.places)
        RecordBatch.RecordBatchStartBuffersVector(builder, len(places))
        for place in reversed(places):
            Buffer.CreateBuffer(builder, *place)
        buffers = builder.EndVector()
        RecordBatch.RecordBatchStartNodesVector(builder, len(self.nodes))
        for node in reversed(self.nodes):
            FieldNode.CreateFieldNode(builder, *node)
        nodes = builder.EndVector()
        if self.codec is not None:
            BodyCompression.BodyCompressionStart(builder)
            BodyCompression.BodyCompressionAddCodec(builder, self.codec)
            compression = BodyCompression.BodyCompressionEnd(builder)
        RecordBatch.RecordBatchStart(builder)
        RecordBatch.RecordBatchAddLength(builder, self.length)
        RecordBatch.RecordBatchAddNodes(builder, nodes)
        RecordBatch.RecordBatchAddBuffers(builder, buffers)
        if counts is not None:
            RecordBatch.RecordBatchAddVariadicBufferCounts(builder, counts)
        if self.codec is not None:
            RecordBatch.RecordBatchAddCompression(builder, compression)
        result: int = RecordBatch.RecordBatchEnd(builder)
        return result

    def message(self) -> bytes:
        return message(
            MessageHeader.RecordBatch, self.build, self.body, self.version, self.body_length
        )

    def dictionary_message(self, id_: int, *, delta: bool = False) -> bytes:
        def header(builder: flatbuffers.Builder) -> int:
            data = self.build(builder)
            DictionaryBatch.DictionaryBatchStart(builder)
            DictionaryBatch.DictionaryBatchAddId(builder, id_)
            DictionaryBatch.DictionaryBatchAddData(builder, data)
            DictionaryBatch.DictionaryBatchAddIsDelta(builder, delta)
            result: int = DictionaryBatch.DictionaryBatchEnd(builder)
            return result

        return message(
            MessageHeader.DictionaryBatch, header, self.body, self.version, self.body_length
        )
