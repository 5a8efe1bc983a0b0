"""The fixed bytes around messages and files, and the enumerations of the format's FlatBuffers schemas.

Enumerations have their names in the schemas. Their members are plain numbers: metadata holds them as
bytes, and readers compare many.

Columnar format 1.5: "Encapsulated message format", "IPC file format", "Message.fbs", "Schema.fbs",
"SparseTensor.fbs", "File.fbs".
"""

CONTINUATION = b"\xff\xff\xff\xff"
"""The bytes before each message since Arrow 0.15."""

MAGIC = b"ARROW1"

FRONT_BYTES = 8
"""The size of the magic and two bytes of padding, before a file's first message."""


class MessageHeader:
    """The kinds of message headers."""

    NONE = 0
    Schema = 1
    DictionaryBatch = 2
    RecordBatch = 3
    Tensor = 4
    SparseTensor = 5


class MetadataVersion:
    """The version of the metadata."""

    V1 = 0
    V2 = 1
    V3 = 2
    V4 = 3
    V5 = 4


class Endianness:
    """The byte order of the buffers."""

    Little = 0
    Big = 1


class Type:
    """The kind of a data type."""

    NONE = 0
    Null = 1
    Int = 2
    FloatingPoint = 3
    Binary = 4
    Utf8 = 5
    Bool = 6
    Decimal = 7
    Date = 8
    Time = 9
    Timestamp = 10
    Interval = 11
    List = 12
    Struct_ = 13
    Union = 14
    FixedSizeBinary = 15
    FixedSizeList = 16
    Map = 17
    Duration = 18
    LargeBinary = 19
    LargeUtf8 = 20
    LargeList = 21
    RunEndEncoded = 22
    BinaryView = 23
    Utf8View = 24
    ListView = 25
    LargeListView = 26


class DictionaryKind:
    """The storage of a dictionary."""

    DenseArray = 0


class CompressionType:
    """The codec of compressed buffers."""

    LZ4_FRAME = 0
    ZSTD = 1


class BodyCompressionMethod:
    """The unit of compression: each buffer on its own."""

    BUFFER = 0


class SparseTensorIndex:
    """The kind of a sparse tensor's index."""

    NONE = 0
    SparseTensorIndexCOO = 1
    SparseMatrixIndexCSX = 2
    SparseTensorIndexCSF = 3


class SparseMatrixCompressedAxis:
    """The axis that the index of a sparse matrix compresses."""

    Row = 0
    Column = 1
