"""Tags, metadata messages, lists of locations and addresses, byte by byte.

Dissociated IPC protocol: "Metadata Stream Sequence", "Data Stream Sequence".
"""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from colkern.dissociated.messages import (
    BodyLocations,
    BodyType,
    Location,
    after,
    body_tag,
    distance,
    encode_addresses,
    end_of_stream,
    metadata_prefix,
    parse_addresses,
    parse_body_tag,
    parse_locations,
    parse_metadata_message,
)
from colkern.errors import ColkernError, InvalidArrowError, UnsupportedError

UINT32_MAX = 2**32 - 1


# Tags


def test_tag_has_the_sequence_number_in_its_lowest_bytes_and_the_type_in_its_highest() -> None:
    assert struct.pack("<Q", body_tag(0x01020304, BodyType.PACKED)) == bytes(
        [4, 3, 2, 1, 0, 0, 0, 0]
    )
    assert struct.pack("<Q", body_tag(5, BodyType.LOCATIONS)) == bytes([5, 0, 0, 0, 0, 0, 0, 1])


@given(st.integers(0, UINT32_MAX), st.sampled_from(BodyType), st.integers(0, 2**24 - 1))
def test_reserved_bits_are_passed_over(sequence: int, body_type: BodyType, reserved: int) -> None:
    """ "Client Sequence", 3: tags should be matched by 0x00000000FFFFFFFF alone."""
    if body_type is BodyType.PACKED and reserved == 1 << 23:
        reserved = 0
    tag = body_tag(sequence, body_type) | reserved << 32
    assert parse_body_tag(tag) == (sequence, body_type)


def test_a_type_that_is_shifted_by_55_is_refused() -> None:
    """As in the specification's diagrams; its text says bits 56 to 63."""
    with pytest.raises(InvalidArrowError, match=r"body of message 9: .*shifted by 55 bits"):
        parse_body_tag(9 | 1 << 55)


@pytest.mark.parametrize("number", [2, 3, 128, 255])
def test_unknown_body_types(number: int) -> None:
    with pytest.raises(UnsupportedError, match=f"type {number}"):
        parse_body_tag(number << 56)


@given(st.integers(0, UINT32_MAX), st.sampled_from(BodyType))
def test_tags_are_read_as_written(sequence: int, body_type: BodyType) -> None:
    assert parse_body_tag(body_tag(sequence, body_type)) == (sequence, body_type)


# Sequence numbers


def test_after_uint32_max_comes_zero() -> None:
    assert after(UINT32_MAX) == 0
    assert distance(UINT32_MAX, 0) == 1
    assert distance(0, UINT32_MAX) == -1
    assert distance(7, 7) == 0


# Metadata messages


def test_metadata_message_is_type_sequence_number_and_flatbuffers_bytes() -> None:
    assert metadata_prefix(0x01020304) + b"fb" == b"\x01\x04\x03\x02\x01fb"
    assert parse_metadata_message(b"\x01\x04\x03\x02\x01fb") == (0x01020304, b"fb")


def test_end_of_stream_is_five_bytes() -> None:
    assert end_of_stream(3) == b"\x00\x03\x00\x00\x00"
    assert parse_metadata_message(b"\x00\x03\x00\x00\x00") == (3, None)
    with pytest.raises(InvalidArrowError, match="end of stream of 6 bytes"):
        parse_metadata_message(b"\x00\x03\x00\x00\x00\x00")


@pytest.mark.parametrize("size", range(5))
def test_truncated_metadata_messages(size: int) -> None:
    with pytest.raises(InvalidArrowError, match=f"of {size} bytes"):
        parse_metadata_message(b"\x01\x00\x00\x00\x00"[:size])


def test_metadata_message_without_metadata() -> None:
    with pytest.raises(InvalidArrowError, match="without metadata"):
        parse_metadata_message(b"\x01\x00\x00\x00\x00")


def test_unknown_message_types() -> None:
    with pytest.raises(UnsupportedError, match="message 1: type 2"):
        parse_metadata_message(b"\x02\x01\x00\x00\x00x")


# Locations


def pairs(*numbers: int) -> bytes:
    return struct.pack(f"<{len(numbers)}Q", *numbers)


def test_locations_are_total_and_count_then_address_and_length_of_each() -> None:
    data = pairs(30, 2, 0x1000, 10, 0x2000, 20)
    body = BodyLocations(30, (Location(0x1000, 10), Location(0x2000, 20)))
    assert body.encode() == data
    assert parse_locations(data) == body
    assert BodyLocations.of(body.buffers) == body


def test_total_may_have_room_for_padding() -> None:
    assert parse_locations(pairs(64, 1, 0x1000, 10)).total == 64


def test_buffers_without_bytes_are_nowhere_and_not_freed() -> None:
    body = parse_locations(pairs(10, 2, 0, 0, 0x1000, 10))
    assert body.addresses() == [0x1000]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "locations of 0 bytes"),
        (pairs(0, 0)[:-1], "locations of 15 bytes"),
        (pairs(8, 1, 0), "locations of 24 bytes"),
        (pairs(8, 2, 0, 8), "1 locations where 2 are announced"),
        (pairs(8, 0, 0, 8), "1 locations where 0 are announced"),
        (pairs(8, 2**64 - 1), "0 locations where"),
        (pairs(7, 1, 0, 8), "locations of 8 bytes where the total is 7"),
        (pairs(2**64 - 1, 1, 0, 8), "the total is"),
        (pairs(8, 1, 2**64 - 8, 8), "past the end"),
        (pairs(8, 1, 0, 2**63), "past the end"),
        # Their sum modulo 2**64 would be 8.
        (pairs(8, 3, 0, 2**63 - 1, 0, 2**63 - 1, 0, 10), "where the total is 8"),
    ],
)
def test_hostile_locations(data: bytes, message: str) -> None:
    with pytest.raises(InvalidArrowError, match=message):
        parse_locations(data)


@given(st.binary(max_size=64))
def test_any_bytes_are_locations_or_a_clean_error(data: bytes) -> None:
    try:
        body = parse_locations(data)
    except ColkernError:
        return
    numbers = struct.unpack(f"<{len(data) // 8}Q", data)
    assert numbers[:2] == (body.total, len(body.buffers))
    assert sum(numbers[3::2]) <= body.total


# Addresses to be freed


def test_free_data_is_one_or_more_addresses() -> None:
    assert encode_addresses([1, 2**64 - 1]) == pairs(1, 2**64 - 1)
    assert parse_addresses(pairs(1, 2**64 - 1)) == [1, 2**64 - 1]


@pytest.mark.parametrize("size", [0, 7, 9])
def test_malformed_free_data(size: int) -> None:
    with pytest.raises(InvalidArrowError, match=f"free_data message of {size} bytes"):
        parse_addresses(bytes(size))
