"""The introduction of a client over a socket: version of the framing, client and token."""

from __future__ import annotations

import hmac
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colkern.errors import InvalidArrowError

_MAGIC = b"colkern1"
_CLIENT_BYTES = 16


class Hello(NamedTuple):
    """A client."""

    client: bytes  #: 16 random bytes; the same on its connections for metadata and for bodies.
    token: bytes

    def encode(self) -> bytes:
        """The bytes of the frame."""
        return _MAGIC + self.client + self.token

    def is_admitted(self, token: bytes) -> bool:
        """Whether it has the server's token; how long that takes says nothing of where they differ."""
        return hmac.compare_digest(self.token, token)


UNKNOWN = Hello(b"", b"")
"""A client that has not said hello."""


def parse_hello(frame: bytes | NDArray[np.uint8]) -> Hello:
    """The client of a frame; raises `InvalidArrowError` if it is none."""
    data = bytes(frame)
    start = len(_MAGIC) + _CLIENT_BYTES
    if len(data) < start or not data.startswith(_MAGIC):
        raise InvalidArrowError("a client that does not say hello as colkern's do")
    return Hello(data[len(_MAGIC) : start], data[start:])
