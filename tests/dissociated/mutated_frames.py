"""Streams of frames with bytes changed, and what a client makes of them.

`python -m dissociated.mutated_frames 100000`, in the folder of the tests, runs so many.
"""

from __future__ import annotations

import random
import struct
import sys
from collections.abc import Callable, Iterator
from functools import cache

import numpy as np
from dissociated.split_streams import end_message, example_stream, split

from colkern.dissociated.connecting import ReceivedMessages
from colkern.dissociated.leases import Frees
from colkern.dissociated.protocol import ClientStream
from colkern.dissociated.transports.connection import Frame, FrameKind
from colkern.dissociated.transports.framing import HEADER_BYTES, FrameLimits, parse_header
from colkern.errors import ColkernError, InvalidArrowError
from colkern.ipc.reading.readers import StreamReader

_LIMITS = FrameLimits(tagged=1 << 24, message=1 << 24)


def _frame(kind: int, tag: int, data: bytes) -> bytes:
    return struct.pack("<QQB7x", len(data), tag, kind) + data


@cache
def valid_frames() -> list[bytes]:
    """The frames of a whole stream, metadata first."""
    messages = split(example_stream())
    frames = []
    for number, message in enumerate(messages):
        frames.append(_frame(0, 0, message.untagged(number)))
        if message.body is not None:
            frames.append(_frame(1, number, message.body))
    return [*frames, _frame(0, 0, end_message(len(messages)))]


def mutated(data: bytes, rng: random.Random) -> bytes:
    """Flipped, cut, doubled, exchanged and inserted bytes."""
    changed = bytearray(data)
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(changed))
        size = rng.choice([1, 2, 4, 8, 24, 64])
        other = rng.randrange(len(changed))
        match rng.randrange(6):
            case 0:
                changed[at] ^= 1 << rng.randrange(8)
            case 1:
                changed[at : at + size] = rng.randbytes(size)
            case 2:
                del changed[at : at + size]
            case 3:
                changed[at:at] = changed[other : other + size]
            case 4:
                number = rng.choice([0, 1, 1 << 31, 1 << 63, (1 << 64) - 1])
                changed[at : at + 8] = number.to_bytes(8, "little")
            case 5:
                del changed[at:]
        changed = changed or bytearray(1)
    return bytes(changed)


class Played:
    """A connection that receives the frames in given bytes."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._position = 0

    def receive(self, timeout: float | None) -> Frame | None:
        header = self._take(HEADER_BYTES)
        if not header:
            return None
        if len(header) < HEADER_BYTES:
            raise InvalidArrowError("the connection has ended within a frame's header")
        kind, tag, length = parse_header(header, _LIMITS)
        data = self._take(length)
        if len(data) < length:
            raise InvalidArrowError("the connection has ended within a frame")
        return Frame(kind, tag, np.frombuffer(data, np.uint8))

    def _take(self, size: int) -> bytes:
        part = self._data[self._position : self._position + size]
        self._position += len(part)
        return part

    def stop_receiving(self) -> None:
        pass

    def close(self) -> None:
        pass


def read_stream(data: bytes) -> None:
    """Read and validate all batches of a stream; raises `ColkernError` if it breaks a rule."""
    connection = Played(data)
    messages = ReceivedMessages(
        connection,  # type: ignore[arg-type]
        connection,  # type: ignore[arg-type]
        lambda connections, timeout: connections,
        None,
        Frees(lambda _: True, connection.close),
        ClientStream(in_order=True),
        1.0,
    )
    for batch in StreamReader(messages):
        for column in batch.columns:
            column.validate(full=True)


def take_frame(data: bytes) -> None:
    """Take one frame of any message as a client that waits for that message does."""
    frame = Played(data).receive(None)
    if frame is None:
        return
    stream = ClientStream(in_order=True)
    if frame.kind is FrameKind.MESSAGE:
        stream.receive_message(frame.data.tobytes())
    elif frame.kind is FrameKind.TAGGED:
        stream.receive_body(frame.tag, frame.data)
    stream.next()


def fuzz_streams(count: int, seed: int) -> tuple[int, int]:
    """The numbers of mutated streams, of so many, that were read and refused; other errors go on."""
    rng = random.Random(seed)
    return _outcomes(read_stream, (mutated(b"".join(valid_frames()), rng) for _ in range(count)))


def fuzz_frames(count: int, seed: int) -> tuple[int, int]:
    """As `fuzz_streams`, of frames one by one."""
    rng = random.Random(seed)
    frames = valid_frames()
    return _outcomes(take_frame, (mutated(rng.choice(frames), rng) for _ in range(count)))


def _outcomes(take: Callable[[bytes], None], inputs: Iterator[bytes]) -> tuple[int, int]:
    taken = refused = 0
    for data in inputs:
        try:
            take(data)
            taken += 1
        except ColkernError:
            refused += 1
    return taken, refused


if __name__ == "__main__":
    print("taken, refused:", fuzz_frames(int(sys.argv[1]), seed=int((sys.argv[2:] or ["0"])[0])))
