"""The transports, one for each scheme of URIs."""

from __future__ import annotations

from colkern.dissociated.transports.connection import Transport
from colkern.dissociated.transports.in_process import InProcess
from colkern.dissociated.transports.local import Cuda, SharedMemoryTransport, Unix
from colkern.dissociated.transports.tcp import Tcp
from colkern.dissociated.transports.ucx import Ucx

TRANSPORTS: dict[str, Transport] = {
    "inproc": InProcess(),
    "tcp": Tcp(),
    "unix": Unix(),
    "shm": SharedMemoryTransport(),
    "cuda": Cuda(),
    "ucx": Ucx(),
}
"""Scheme → transport."""


def transport_of(scheme: str) -> Transport:
    """The transport of a scheme; raises `ValueError` if there is none."""
    transport = TRANSPORTS.get(scheme)
    if transport is None:
        raise ValueError(f"uri: scheme {scheme!r}; colkern has {', '.join(sorted(TRANSPORTS))}")
    return transport
