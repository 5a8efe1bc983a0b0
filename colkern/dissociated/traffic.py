"""Counts of the bytes of bodies."""

from __future__ import annotations

from dataclasses import dataclass


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
