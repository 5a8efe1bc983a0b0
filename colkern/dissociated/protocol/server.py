"""The server's role: requests, sequence numbers, and memory that is kept until its client frees it.

Dissociated IPC protocol: "Server Sequence", "Data Stream Sequence".
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colkern.dissociated.bounds import DEFAULT_BOUNDS, Bounds
from colkern.dissociated.messages import BodyLocations, after, end_of_stream, parse_addresses
from colkern.errors import InvalidArrowError

_REMEMBERED_FREES = 1024


class _Hold(NamedTuple):
    """Memory that is kept for a client: its owner, and the number of bytes to count."""

    owner: object
    size: int


class ServerStream:
    """One stream, as its server sees it. `free_data` is None if locations are never sent."""

    def __init__(
        self,
        want_data: int,
        free_data: int | None = None,
        bounds: Bounds = DEFAULT_BOUNDS,
        *,
        first_sequence: int = 0,
    ) -> None:
        self._want_data = want_data
        self._free_data = free_data
        self._bounds = bounds
        self._next = first_sequence
        self._was_asked = False
        self.has_ended = False
        """Whether the metadata stream has been ended."""
        self._held: dict[int, deque[_Hold]] = {}
        self._freed: deque[int] = deque(maxlen=_REMEMBERED_FREES)
        self.outstanding_bytes = 0

    def receive(self, tag: int, data: bytes | NDArray[np.uint8]) -> bytes | None:
        """Handle a tagged message; returns the identifier of a request, or None if it frees memory."""
        if tag == self._want_data:
            if self._was_asked:
                raise InvalidArrowError("a second want_data message for one stream")
            self._was_asked = True
            return bytes(data)
        if tag != self._free_data:
            raise InvalidArrowError(f"a message with tag {tag:#x}; expected want_data or free_data")
        if not self._was_asked:
            raise InvalidArrowError("a free_data message before the request")
        for address in parse_addresses(data):
            self._free(address)
        return None

    def take_sequence(self) -> int:
        """The sequence number for the next message to send."""
        sequence, self._next = self._next, after(self._next)
        return sequence

    def may_announce(self, size: int) -> bool:
        """Whether `size` bytes may be announced now; a single body may exceed the bound."""
        outstanding = self.outstanding_bytes
        return not outstanding or outstanding + size <= self._bounds.outstanding_bytes

    def announce(self, locations: BodyLocations, owners: list[object], size: int) -> None:
        """Keep memory, by location and owner, until the client has freed it as often as announced."""
        addresses = locations.addresses()
        for number, (address, owner) in enumerate(zip(addresses, owners, strict=True)):
            # The bytes are given back with the last of them.
            counted = size if number == len(addresses) - 1 else 0
            self._held.setdefault(address, deque()).append(_Hold(owner, counted))
            self.outstanding_bytes += counted

    def end(self) -> bytes:
        """The message that ends the metadata stream."""
        self.has_ended = True
        return end_of_stream(self._next)

    @property
    def is_holding(self) -> bool:
        """Whether memory is kept that the client has not freed yet."""
        return bool(self._held)

    def disconnected(self) -> None:
        """Note that the client has gone: nothing is kept for it."""
        self._held.clear()
        self.outstanding_bytes = 0

    def _free(self, address: int) -> None:
        holds = self._held.get(address)
        if holds is None:
            why = (
                "it was freed before"
                if address in self._freed
                else "it was not announced to this client"
            )
            raise InvalidArrowError(f"free_data: address {address:#x}: {why}")
        self.outstanding_bytes -= holds.popleft().size
        if not holds:
            del self._held[address]
            self._freed.append(address)
