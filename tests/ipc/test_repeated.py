"""Messages that repeat the one before but for numbers: what is found is what `decode` finds."""

from __future__ import annotations

import random
import struct

import numpy as np
import pytest
from fuzz.corpus import corpus
from fuzz.recording import BATCH
from fuzz.sites import sites

from colkern.ipc.flatbuffer import decode
from colkern.ipc.reading.repeated import RepeatedBatch
from colkern.ipc.wire import MESSAGE

BATCHES = [
    pytest.param(part.metadata, id=f"{name} {number}")
    for name, parts in corpus().items()
    for number, part in enumerate(parts)
    if part.kind == BATCH
]
DEPTH = 100


def plain(value: object) -> object:
    if isinstance(value, dict):
        return {name: plain(member) for name, member in value.items()}
    if isinstance(value, list):
        return [plain(member) for member in value]
    return value.tolist() if isinstance(value, np.ndarray) else value


def with_other_numbers(rng: random.Random, metadata: bytes) -> bytes:
    """The message with bytes changed among its length, nodes and buffers."""
    data = bytearray(metadata)
    numbers = [s for s in sites(MESSAGE, metadata) if is_number(s.path)]
    for site in rng.sample(numbers, min(len(numbers), 3)):
        data[site.position + rng.randrange(site.width)] = rng.randrange(256)
    return bytes(data)


def is_number(path: str) -> bool:
    return path in ("Message.bodyLength", "Message.header.length") or path.endswith(
        ("].length", "].offset", "].null_count")
    )


@pytest.mark.parametrize("metadata", BATCHES)
def test_a_repeated_message_is_decoded_by_its_numbers(metadata: bytes) -> None:
    rng = random.Random(0)
    record = decode(MESSAGE, metadata, DEPTH)
    repeated = RepeatedBatch.of(metadata, record)
    if repeated is None:
        # A number that is zero is left out, and has no place.
        assert 0 in (record["bodyLength"], record["header"]["length"])
        return
    for _ in range(20):
        other = with_other_numbers(rng, metadata)
        assert plain(repeated.decode(other)) == plain(decode(MESSAGE, other, DEPTH))


@pytest.mark.parametrize("place", range(4, 57))
def test_numbers_that_are_something_else_too_are_not_taken_for_numbers(place: int) -> None:
    # The number of rows is said to stand where an offset, or the count of a vector, does.
    metadata = corpus()["int8"][1].metadata
    by_path = {site.path: site.position for site in sites(MESSAGE, metadata)}
    data = bytearray(metadata)
    struct.pack_into("<H", data, by_path["Message.header vtable[2]"], place)
    table_bytes = by_path["Message.header vtable[1]"]
    struct.pack_into("<H", data, table_bytes, 64)
    record = decode(MESSAGE, bytes(data), DEPTH)
    repeated = RepeatedBatch.of(bytes(data), record)
    for at in range(len(data)):
        other = bytearray(data)
        other[at] ^= 0x11
        short = repeated.decode(bytes(other)) if repeated is not None else None
        if short is not None:
            assert plain(short) == plain(decode(MESSAGE, bytes(other), DEPTH))
