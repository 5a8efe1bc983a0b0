"""FlatBuffers by description: tables are described once, and read and written by that."""

from colkern.ipc.flatbuffer.decoding import decode
from colkern.ipc.flatbuffer.encoding import Columns, Encoded, encode, encode_table
from colkern.ipc.flatbuffer.tables import (
    Bytes,
    Choice,
    Inline,
    LateRefs,
    Record,
    Ref,
    Refs,
    Scalar,
    Table,
    Tables,
    Text,
    Vector,
)

__all__ = [
    "Bytes",
    "Choice",
    "Columns",
    "Encoded",
    "Inline",
    "LateRefs",
    "Record",
    "Ref",
    "Refs",
    "Scalar",
    "Table",
    "Tables",
    "Text",
    "Vector",
    "decode",
    "encode",
    "encode_table",
]
