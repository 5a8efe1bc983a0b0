"""The tables of Arrow's metadata, described for `colkern.ipc.flatbuffer`.

They correspond to `format/*.fbs`: same names, same order. A test compares both.
"""

from __future__ import annotations

import numpy as np

from colkern import schema as s
from colkern.ipc.enums import MessageHeader, SparseTensorIndex
from colkern.ipc.flatbuffer.tables import (
    Bytes,
    Choice,
    Inline,
    LateRefs,
    Ref,
    Refs,
    Scalar,
    Table,
    Vector,
)
from colkern.ipc.types import BOOL, INT16, ROWS, TEXT

INT8 = Scalar("b")
UINT8 = Scalar("B")
INT64 = Scalar("q")
BYTES = Bytes()
INT64S = Vector("<i8")

# Structs, as used in vectors and (by their codes) in tables.
FIELD_NODE = np.dtype([("length", "<i8"), ("null_count", "<i8")])
BUFFER = np.dtype([("offset", "<i8"), ("length", "<i8")])
BUFFER_CODES = "qq"
BLOCK = np.dtype(
    {
        "names": ["offset", "metadata_length", "body_length"],
        "formats": ["<i8", "<i4", "<i8"],
        "offsets": [0, 8, 16],
        "itemsize": 24,
    }
)

INT = ROWS[s.Int].table
TYPES = {row.number: row.table for row in ROWS.values()}

KEY_VALUE = Table("KeyValue", {"key": BYTES, "value": BYTES})

DICTIONARY_ENCODING = Table(
    "DictionaryEncoding",
    {"id": INT64, "indexType": Ref(INT), "isOrdered": BOOL, "dictionaryKind": INT16},
)

FIELD = Table("Field")
FIELD.define(
    {
        "name": TEXT,
        "nullable": BOOL,
        "type_type": UINT8,
        "type": Choice("type_type", TYPES),
        "dictionary": Ref(DICTIONARY_ENCODING),
        "children": Refs(FIELD),
        "custom_metadata": Refs(KEY_VALUE),
    }
)

SCHEMA = Table(
    "Schema",
    {
        "endianness": INT16,
        "fields": LateRefs(FIELD),
        "custom_metadata": Refs(KEY_VALUE),
        "features": INT64S,
    },
)

BODY_COMPRESSION = Table("BodyCompression", {"codec": INT8, "method": INT8})

RECORD_BATCH = Table(
    "RecordBatch",
    {
        "length": INT64,
        "nodes": Vector(FIELD_NODE),
        "buffers": Vector(BUFFER),
        "compression": Ref(BODY_COMPRESSION),
        "variadicBufferCounts": INT64S,
    },
)

DICTIONARY_BATCH = Table(
    "DictionaryBatch", {"id": INT64, "data": Ref(RECORD_BATCH), "isDelta": BOOL}
)

TENSOR_DIM = Table("TensorDim", {"size": INT64, "name": TEXT})

TENSOR = Table(
    "Tensor",
    {
        "type_type": UINT8,
        "type": Choice("type_type", TYPES),
        "shape": Refs(TENSOR_DIM),
        "strides": INT64S,
        "data": Inline(BUFFER_CODES),
    },
    required=("type", "shape", "data"),
)

SPARSE_INDEXES = {
    SparseTensorIndex.SparseTensorIndexCOO: Table(
        "SparseTensorIndexCOO",
        {
            "indicesType": Ref(INT),
            "indicesStrides": INT64S,
            "indicesBuffer": Inline(BUFFER_CODES),
            "isCanonical": BOOL,
        },
        required=("indicesType", "indicesBuffer"),
    ),
    SparseTensorIndex.SparseMatrixIndexCSX: Table(
        "SparseMatrixIndexCSX",
        {
            "compressedAxis": INT16,
            "indptrType": Ref(INT),
            "indptrBuffer": Inline(BUFFER_CODES),
            "indicesType": Ref(INT),
            "indicesBuffer": Inline(BUFFER_CODES),
        },
        required=("indptrType", "indptrBuffer", "indicesType", "indicesBuffer"),
    ),
    SparseTensorIndex.SparseTensorIndexCSF: Table(
        "SparseTensorIndexCSF",
        {
            "indptrType": Ref(INT),
            "indptrBuffers": Vector(BUFFER),
            "indicesType": Ref(INT),
            "indicesBuffers": Vector(BUFFER),
            "axisOrder": Vector("<i4"),
        },
        required=("indptrType", "indptrBuffers", "indicesType", "indicesBuffers", "axisOrder"),
    ),
}

SPARSE_TENSOR = Table(
    "SparseTensor",
    {
        "type_type": UINT8,
        "type": Choice("type_type", TYPES),
        "shape": Refs(TENSOR_DIM),
        "non_zero_length": INT64,
        "sparseIndex_type": UINT8,
        "sparseIndex": Choice("sparseIndex_type", SPARSE_INDEXES),
        "data": Inline(BUFFER_CODES),
    },
    required=("type", "shape", "sparseIndex", "data"),
)

MESSAGE = Table(
    "Message",
    {
        "version": INT16,
        "header_type": UINT8,
        "header": Choice(
            "header_type",
            {
                MessageHeader.Schema: SCHEMA,
                MessageHeader.DictionaryBatch: DICTIONARY_BATCH,
                MessageHeader.RecordBatch: RECORD_BATCH,
                MessageHeader.Tensor: TENSOR,
                MessageHeader.SparseTensor: SPARSE_TENSOR,
            },
        ),
        "bodyLength": INT64,
        "custom_metadata": Refs(KEY_VALUE),
    },
)

FOOTER = Table(
    "Footer",
    {
        "version": INT16,
        "schema": Ref(SCHEMA),
        "dictionaries": Vector(BLOCK),
        "recordBatches": Vector(BLOCK),
        "custom_metadata": Refs(KEY_VALUE),
    },
)
