"""Messages made by hand: what pyarrow does not write, and what nobody should.

Built with FlatBuffers' own library, which the reader does not use.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import flatbuffers
from flatbuf import MessageHeader, MetadataVersion, add_numbers, add_offsets, add_table
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
        encoding = None
        if self.dictionary is not None:
            index = int_type(32, True)(builder)
            encoding = add_table(builder, "DictionaryEncoding", id=self.dictionary, indexType=index)
        return add_table(
            builder,
            "Field",
            name=builder.CreateString(self.name),
            nullable=True,
            type_type=self.type_number,
            type=self.type(builder),
            dictionary=encoding,
            children=add_offsets(builder, [child.build(builder) for child in self.children]),
        )


def plain_type(name: str, **slots: int) -> MakeType:
    """A type's table with those numbers."""
    return lambda builder: add_table(builder, name, **slots)


def int_type(bits: int, signed: bool) -> MakeType:
    return plain_type("Int", bitWidth=bits, is_signed=signed)


def message(
    kind: int,
    header: Callable[[flatbuffers.Builder], int],
    body: bytes = b"",
    version: int = MetadataVersion.V5,
    body_length: int | None = None,
) -> bytes:
    """An encapsulated message."""
    builder = flatbuffers.Builder(1024)
    root = add_table(
        builder,
        "Message",
        version=version,
        header_type=kind,
        header=header(builder),
        bodyLength=len(body) if body_length is None else body_length,
    )
    builder.Finish(root)
    return framed(bytes(builder.Output())) + body


def framed(metadata: bytes) -> bytes:
    metadata += bytes(-len(metadata) % 8)
    return struct.pack("<ii", -1, len(metadata)) + metadata


def schema_message(
    fields: Sequence[WireField], *, big_endian: bool = False, version: int = MetadataVersion.V5
) -> bytes:
    def header(builder: flatbuffers.Builder) -> int:
        vector = add_offsets(builder, [field.build(builder) for field in fields])
        return add_table(builder, "Schema", endianness=big_endian, fields=vector)

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
        counts = compression = None
        if self.variadic_counts is not None:
            counts = add_numbers(builder, [(count,) for count in self.variadic_counts], 1)
        if self.codec is not None:
            compression = add_table(builder, "BodyCompression", codec=self.codec)
        return add_table(
            builder,
            "RecordBatch",
            length=self.length,
            nodes=add_numbers(builder, self.nodes, 2),
            buffers=add_numbers(builder, present(self.places), 2),
            compression=compression,
            variadicBufferCounts=counts,
        )

    def message(self) -> bytes:
        return message(
            MessageHeader.RecordBatch, self.build, self.body, self.version, self.body_length
        )

    def dictionary_message(self, id_: int, *, delta: bool = False) -> bytes:
        def header(builder: flatbuffers.Builder) -> int:
            data = self.build(builder)
            return add_table(builder, "DictionaryBatch", id=id_, data=data, isDelta=delta)

        return message(
            MessageHeader.DictionaryBatch, header, self.body, self.version, self.body_length
        )
