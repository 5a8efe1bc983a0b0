"""The bounds of messages and bytes under way, and counts of bytes that went."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Bounds:
    """The messages and bytes that one stream may have under way; at a bound, the other side waits.

    The protocol leaves backpressure to transports. Here it is theirs (a socket that is not read from
    takes no more), and these bounds say when to stop reading, or sending.

    Args:
        pending_messages: How many messages a client keeps that are not complete, or not due yet.
        pending_bytes: How many bytes they may have; one more than fits is kept. A server of two services
            also keeps messages: those that only one of a client's two streams has sent so far. It keeps
            `pending_messages` for each client, and `pending_bytes` for all clients together.
        outstanding_bytes: How many bytes a server keeps for one client that has not freed them. Memory of
            mapped files, which costs nothing to keep, does not count.
        frame_bytes: How large a tagged message may be.
        metadata_bytes: How large an untagged message may be.
    """

    pending_messages: int = 1 << 16
    pending_bytes: int = 1 << 28
    outstanding_bytes: int = 1 << 32
    frame_bytes: int = 1 << 34
    metadata_bytes: int = 1 << 28

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if value < 1:
                raise ValueError(f"{field.name}: expected at least 1, got {value}")


DEFAULT_BOUNDS = Bounds()


@dataclass(slots=True)
class Traffic:
    """Bytes of bodies by how they went; of one client, or of all clients of a server.

    Args:
        packed_bytes: In packed bodies: all of them went through the transport.
        announced_bytes: In bodies of locations.
        placed_bytes: Of these, those that had to be copied to where the client reaches them.
    """

    packed_bytes: int = 0
    announced_bytes: int = 0
    placed_bytes: int = 0

    @property
    def copied_bytes(self) -> int:
        """The bytes that were copied on this side, or went through the transport."""
        return self.packed_bytes + self.placed_bytes

    def add(self, other: Traffic) -> None:
        """Count another one's bytes, too."""
        self.packed_bytes += other.packed_bytes
        self.announced_bytes += other.announced_bytes
        self.placed_bytes += other.placed_bytes
