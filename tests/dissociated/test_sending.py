"""One stream of a server, over a connection that notes what is sent."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterable, Sequence
from typing import Any

from colkern import record_batch
from colkern.arrays import RecordBatchStream
from colkern.dissociated.bounds import Traffic
from colkern.dissociated.messages import BodyLocations, BodyType, Location
from colkern.dissociated.protocol import ServerStream
from colkern.dissociated.sending import Sending, StreamOptions, messages_of
from colkern.dissociated.transports.connection import Announcement, FrameKind
from colkern.ipc import WriteOptions
from colkern.memory import Buffer

WANT, FREE = 10, 11


class Noting:
    """A connection."""

    def __init__(self) -> None:
        self.kinds: list[FrameKind] = []

    def send(
        self,
        kind: FrameKind,
        size: int,
        chunks: Iterable[Any],
        tag: int = 0,
        descriptor: Any = None,
    ) -> None:
        self.kinds.append(kind)

    def finish(self) -> None:
        pass

    def close(self) -> None:
        pass


class Memory:
    """The announced bodies."""


class LeftMeanwhile:
    """Announces memory of its own; while it makes the second body, the client's connection ends."""

    def __init__(self) -> None:
        self.sending: Sending
        self.first: weakref.ref[Memory] | None = None
        self.was_kept = False

    def announce(self, buffers: Sequence[Buffer]) -> Announcement:
        locations = BodyLocations.of([Location(64, buffer.size) for buffer in buffers])
        count = len(locations.addresses())
        if self.first is None:
            memory = Memory()
            self.first = weakref.ref(memory)
            return Announcement(locations, [memory] * count, 0, 0)
        other = threading.Thread(target=self.sending.disconnected)
        other.start()
        other.join()
        # What was free could be written to now, and the client may still look at it.
        self.was_kept = self.first() is not None
        return Announcement(locations, [Memory()] * count, 0, 0)


def test_memory_is_not_free_for_a_body_that_is_made_while_the_client_goes() -> None:
    connection, announcer = Noting(), LeftMeanwhile()
    stream = ServerStream(WANT, FREE)
    stream.receive(WANT, b"")
    options = StreamOptions(BodyType.LOCATIONS, WriteOptions())
    sending = Sending(connection, "both", announcer, stream, options, Traffic())  # type: ignore[arg-type]
    announcer.sending = sending
    batch = record_batch({"n": [1, 2, 3]})
    source = RecordBatchStream(batch.schema, [batch, batch])
    sending.run(lambda: messages_of(source, options))
    assert announcer.was_kept
    assert announcer.first is not None
    assert announcer.first() is None
    assert connection.kinds.count(FrameKind.TAGGED) == 1
