"""The server's state machine: requests, sequence numbers, memory that clients free."""

from __future__ import annotations

import gc
import struct
import weakref

import pytest

from colkern.dissociated import Bounds
from colkern.dissociated.messages import BodyLocations, Location
from colkern.dissociated.protocol import ServerStream
from colkern.errors import InvalidArrowError

WANT, FREE = 10, 11


class Memory:
    """Something that owns memory."""


def free(*addresses: int) -> bytes:
    return struct.pack(f"<{len(addresses)}Q", *addresses)


def asked(bounds: Bounds | None = None) -> ServerStream:
    stream = ServerStream(WANT, FREE, bounds or Bounds())
    assert stream.receive(WANT, b"which") == b"which"
    return stream


def announce(stream: ServerStream, *addresses: int, size: int = 0) -> list[weakref.ref[Memory]]:
    owners = [Memory() for _ in addresses]
    body = BodyLocations.of([Location(address, 1) for address in addresses])
    stream.announce(body, list(owners), size)
    return [weakref.ref(owner) for owner in owners]


def test_request_has_the_tag_of_the_uri_and_any_identifier() -> None:
    assert ServerStream(WANT).receive(WANT, b"") == b""
    with pytest.raises(InvalidArrowError, match="tag 0xc; expected want_data"):
        ServerStream(WANT, FREE).receive(12, b"")


def test_one_request_a_stream() -> None:
    with pytest.raises(InvalidArrowError, match="a second want_data"):
        asked().receive(WANT, b"")


def test_sequence_numbers_start_at_zero_and_wrap_around() -> None:
    stream = asked()
    assert [stream.take_sequence() for _ in range(3)] == [0, 1, 2]
    assert stream.end() == b"\x00\x03\x00\x00\x00"
    late = ServerStream(WANT, first_sequence=2**32 - 1)
    assert [late.take_sequence(), late.take_sequence()] == [2**32 - 1, 0]


def test_memory_is_kept_until_it_is_freed() -> None:
    stream = asked()
    a, b, c = announce(stream, 100, 200, 300)
    gc.collect()
    assert None not in (a(), b(), c())
    assert stream.receive(FREE, free(100, 300)) is None
    assert a() is None
    assert b() is not None
    assert c() is None
    assert stream.is_holding
    stream.receive(FREE, free(200))
    assert not stream.is_holding


def test_memory_announced_twice_is_freed_twice() -> None:
    stream = asked()
    announce(stream, 100)
    announce(stream, 100)
    stream.receive(FREE, free(100))
    assert stream.is_holding
    stream.receive(FREE, free(100))
    assert not stream.is_holding


def test_unknown_and_double_frees() -> None:
    stream = asked()
    announce(stream, 100)
    with pytest.raises(InvalidArrowError, match="address 0x65: it was not announced"):
        stream.receive(FREE, free(101))
    stream.receive(FREE, free(100))
    with pytest.raises(InvalidArrowError, match="address 0x64: it was freed before"):
        stream.receive(FREE, free(100))


def test_free_before_the_request() -> None:
    with pytest.raises(InvalidArrowError, match="before the request"):
        ServerStream(WANT, FREE).receive(FREE, free(1))


def test_disconnection_frees_all() -> None:
    stream = asked()
    (owner,) = announce(stream, 100, size=50)
    stream.disconnected()
    assert owner() is None
    assert not stream.is_holding
    assert stream.outstanding_bytes == 0


def test_outstanding_bytes_are_bounded() -> None:
    stream = asked(Bounds(outstanding_bytes=100))
    assert stream.may_announce(1000)  # Alone, what is larger than the bound goes, too.
    announce(stream, 1, size=60)
    assert stream.may_announce(40)
    assert not stream.may_announce(41)
    stream.receive(FREE, free(1))
    assert stream.outstanding_bytes == 0
    assert stream.may_announce(41)
