"""Arrow IPC: reading streams and files.

>>> import colkern.ipc
>>> with colkern.ipc.open("table.arrow") as reader:  # doctest: +SKIP
...     for batch in reader:
...         print(batch.column("price"))

Columnar format 1.5: "Serialization and Interprocess Communication (IPC)".
"""

from colkern.ipc.limits import DEFAULT_LIMITS, Limits
from colkern.ipc.reading.readers import (
    FileReader,
    StreamReader,
    open,
    open_file,
    open_stream,
    read_schema,
)

__all__ = [
    "DEFAULT_LIMITS",
    "FileReader",
    "Limits",
    "StreamReader",
    "open",
    "open_file",
    "open_stream",
    "read_schema",
]
