"""The Dissociated IPC protocol: record batches whose metadata and bodies come separately.

>>> import colkern.dissociated as dissociated
>>> server = dissociated.serve("table.arrow", "shm:")  # doctest: +SKIP
>>> with dissociated.connect(server.uri) as reader:  # doctest: +SKIP
...     batches = reader.read_all()

Bodies stay in shared or device memory, or are sent packed; arrow.apache.org/docs/format/DissociatedIPC.
"""

from colkern.dissociated.asynchronous import AsyncReader, AsyncServer, connect_async, serve_async
from colkern.dissociated.bounds import DEFAULT_BOUNDS, Bounds
from colkern.dissociated.connecting import ServiceReader, connect
from colkern.dissociated.server import Server
from colkern.dissociated.serving import serve
from colkern.dissociated.shared.arena import SharedMemory
from colkern.dissociated.traffic import Traffic
from colkern.dissociated.uri import ServiceUri, parse_uri

__all__ = [
    "DEFAULT_BOUNDS",
    "AsyncReader",
    "AsyncServer",
    "Bounds",
    "Server",
    "ServiceReader",
    "ServiceUri",
    "SharedMemory",
    "Traffic",
    "connect",
    "connect_async",
    "parse_uri",
    "serve",
    "serve_async",
]


def __dir__() -> list[str]:
    """The public names."""
    return __all__
