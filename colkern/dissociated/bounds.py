"""Limits on messages and bytes under way, and counts of transferred bytes."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits on the messages and bytes under way in a stream; at a limit, the other side waits.

    The protocol leaves backpressure to transports, which have it (a socket that is not read accepts no
    more); these bounds say when to stop reading, or sending.

    Args:
        pending_messages: The most messages that a client keeps which are incomplete, or not due yet.
        pending_bytes: The most bytes of these messages; one message may exceed it. A server of two
            services also keeps messages: those that only one of a client's two streams has sent so far.
            It keeps `pending_messages` for each client, and `pending_bytes` for all clients together.
        outstanding_bytes: The most bytes that a server keeps for one client until it frees them. Memory
            of mapped files, which costs nothing to keep, does not count.
        frame_bytes: The most bytes of a tagged message.
        metadata_bytes: The most bytes of an untagged message.
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
    """Counts of bytes of bodies by the way they took; for one client, or all clients of a server.

    Args:
        packed_bytes: Bytes in packed bodies, which went through the transport.
        announced_bytes: Bytes in bodies that are sent as locations.
        placed_bytes: Those of them that had to be copied to memory that the client can reach.
    """

    packed_bytes: int = 0
    announced_bytes: int = 0
    placed_bytes: int = 0

    @property
    def copied_bytes(self) -> int:
        """The bytes that were copied on this side, or went through the transport."""
        return self.packed_bytes + self.placed_bytes

    def add(self, other: Traffic) -> None:
        """Add the counts of another one."""
        self.packed_bytes += other.packed_bytes
        self.announced_bytes += other.announced_bytes
        self.placed_bytes += other.placed_bytes
