"""Bodies of outgoing messages that keep their buffers.

Columnar format 1.5: "Encapsulated message format".
"""

from __future__ import annotations

from collections.abc import Sequence

from colkern.ipc.writing.fetching import Chunk
from colkern.ipc.writing.messages import Body
from colkern.memory import Buffer


class SeparateBuffers(Body):
    """A body that also keeps its buffers as they are, on whatever device, each in its place.

    Args:
        alignment: 8 or 64 bytes.
    """

    def __init__(self, alignment: int) -> None:
        super().__init__(alignment)
        self.buffers: list[Buffer] = []

    def add(self, chunks: Sequence[Chunk]) -> tuple[int, int]:
        """Append a compressed buffer; refused, as the places of compressed ones are not sent."""
        raise ValueError("compression: bodies of locations are the buffers themselves")

    def add_buffer(self, buffer: Buffer) -> tuple[int, int]:
        """Append a buffer; see `Body.add_buffer`."""
        self.buffers.append(buffer)
        return super().add_buffer(buffer)
