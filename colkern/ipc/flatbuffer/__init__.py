"""FlatBuffers by description: tables are described once, and read and written by that."""

from colkern.ipc.flatbuffer.decoding import decode as decode
from colkern.ipc.flatbuffer.encoding import (
    Columns as Columns,
)
from colkern.ipc.flatbuffer.encoding import (
    Encoded as Encoded,
)
from colkern.ipc.flatbuffer.encoding import (
    encode as encode,
)
from colkern.ipc.flatbuffer.encoding import (
    encode_table as encode_table,
)
from colkern.ipc.flatbuffer.tables import (
    Bytes as Bytes,
)
from colkern.ipc.flatbuffer.tables import (
    Choice as Choice,
)
from colkern.ipc.flatbuffer.tables import (
    Inline as Inline,
)
from colkern.ipc.flatbuffer.tables import (
    LateRefs as LateRefs,
)
from colkern.ipc.flatbuffer.tables import (
    Record as Record,
)
from colkern.ipc.flatbuffer.tables import (
    Ref as Ref,
)
from colkern.ipc.flatbuffer.tables import (
    Refs as Refs,
)
from colkern.ipc.flatbuffer.tables import (
    Scalar as Scalar,
)
from colkern.ipc.flatbuffer.tables import (
    Table as Table,
)
from colkern.ipc.flatbuffer.tables import (
    Tables as Tables,
)
from colkern.ipc.flatbuffer.tables import (
    Text as Text,
)
from colkern.ipc.flatbuffer.tables import (
    Vector as Vector,
)
