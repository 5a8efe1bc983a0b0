"""The client's state machine, fed with bytes: no transport, any order of arrival."""

from __future__ import annotations

import itertools
import struct
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from dissociated.split_streams import SplitMessage, end_message, example_stream, split
from hypothesis import given
from hypothesis import strategies as st

from colkern.dissociated import Bounds
from colkern.dissociated.messages import BodyLocations
from colkern.dissociated.protocol import ClientStream, Complete
from colkern.errors import (
    ColkernError,
    InvalidArrowError,
    LimitExceededError,
    StreamError,
    UnsupportedError,
)
from colkern.ipc.limits import Limits

UINT32_MAX = 2**32 - 1


@cache
def messages() -> list[SplitMessage]:
    return split(example_stream())


def batch_number() -> int:
    """The first message with a body that has bytes."""
    return next(k for k, message in enumerate(messages()) if message.body)


def taken(stream: ClientStream) -> list[Complete]:
    return list(iter(stream.next, None))


def feed(stream: ClientStream, part: tuple[str, int], start: int = 0) -> None:
    kind, number = part
    sequence = (start + number) & UINT32_MAX
    if kind == "end":
        stream.receive_message(end_message(sequence))
    elif kind == "metadata":
        stream.receive_message(messages()[number].untagged(sequence))
    else:
        stream.receive_body(sequence, messages()[number].array())


def all_parts() -> list[tuple[str, int]]:
    result = [("metadata", number) for number in range(len(messages()))]
    result += [("body", k) for k, message in enumerate(messages()) if message.body is not None]
    return [*result, ("end", len(messages()))]


@given(st.permutations(all_parts()), st.sampled_from([0, 1, UINT32_MAX - 1, UINT32_MAX]))
def test_any_order_of_arrival_gives_the_messages_in_order(
    parts: list[tuple[str, int]], start: int
) -> None:
    stream = ClientStream(first_sequence=start)
    results = []
    for part in parts:
        feed(stream, part, start)
        results += taken(stream)
    assert stream.has_ended
    assert stream.pending_bytes == 0
    assert [each.sequence for each in results] == [
        (start + number) & UINT32_MAX for number in range(len(messages()))
    ]
    for message, complete in zip(messages(), results, strict=True):
        assert not isinstance(complete.body, BodyLocations)
        body = None if complete.body is None else complete.body.tobytes()
        assert body == message.body


def test_nothing_is_complete_before_its_body_has_come() -> None:
    stream = ClientStream()
    number = batch_number()
    for part in itertools.takewhile(lambda part: part != ("body", number), all_parts()):
        feed(stream, part)
    for k in range(1, number):
        feed(stream, ("body", k))
    assert len(taken(stream)) == number
    assert stream.missing() == f"the body of message {number}"
    feed(stream, ("body", number))
    assert len(taken(stream)) == 1


def test_metadata_twice() -> None:
    stream = ClientStream()
    feed(stream, ("metadata", 1))
    with pytest.raises(InvalidArrowError, match="message 1: its metadata came twice"):
        feed(stream, ("metadata", 1))


def test_body_twice() -> None:
    stream = ClientStream()
    feed(stream, ("body", 1))
    with pytest.raises(InvalidArrowError, match="body of message 1: it came twice"):
        feed(stream, ("body", 1))


def test_message_that_has_been_taken_comes_again() -> None:
    stream = ClientStream()
    feed(stream, ("metadata", 0))
    taken(stream)
    with pytest.raises(InvalidArrowError, match="message 0: it came before"):
        feed(stream, ("metadata", 0))


@pytest.mark.parametrize("body_first", [True, False])
def test_body_for_a_message_without_one(body_first: bool) -> None:
    stream = ClientStream()
    steps: list[Callable[[], object]] = [
        lambda: feed(stream, ("metadata", 0)),
        lambda: stream.receive_body(0, np.zeros(0, np.uint8)),
    ]
    first, second = reversed(steps) if body_first else steps
    first()
    with pytest.raises(InvalidArrowError, match="a body for a message that has none"):
        second()


@pytest.mark.parametrize("change", [-8, 8])
def test_packed_body_of_another_size(change: int) -> None:
    number = batch_number()
    stream = ClientStream()
    feed(stream, ("metadata", number))
    size = len(messages()[number].array())
    with pytest.raises(InvalidArrowError, match=f"a body of {size + change} bytes"):
        stream.receive_body(number, np.zeros(size + change, np.uint8))


def test_a_body_belongs_to_the_message_of_the_low_bits_of_its_tag() -> None:
    stream = ClientStream()
    number = batch_number()
    for sequence, message in enumerate(messages()[: number + 1]):
        stream.receive_message(message.untagged(sequence))
        if message.body is not None:
            stream.receive_body(sequence | 1 << 40, message.array())
    actual = [complete.sequence for complete in iter(stream.next, None)]
    assert actual == list(range(number + 1))


def test_unknown_types_of_tags() -> None:
    with pytest.raises(UnsupportedError, match="type 7"):
        ClientStream().receive_body(7 << 56, np.zeros(0, np.uint8))


# The end of the stream


def test_gap_at_the_end_is_found_at_once_where_order_is_kept() -> None:
    stream = ClientStream(in_order=True)
    feed(stream, ("metadata", 0))
    with pytest.raises(InvalidArrowError, match="end of stream, message 2: a gap: message 1"):
        stream.receive_message(end_message(2))


def test_gap_at_the_end_may_be_filled_where_order_is_not_kept() -> None:
    stream = ClientStream()
    feed(stream, ("end", len(messages())))
    assert not stream.has_ended


def test_gap_that_will_not_be_filled() -> None:
    stream = ClientStream()
    stream.receive_message(end_message(1))
    stream.end_of_metadata()
    with pytest.raises(StreamError, match="before the metadata of message 0"):
        stream.next()


def test_connection_ends_before_a_body() -> None:
    stream = ClientStream()
    for part in all_parts():
        if part[0] != "body":
            feed(stream, part)
    assert len(taken(stream)) == 1
    stream.end_of_metadata()
    assert stream.next() is None
    stream.end_of_bodies()
    with pytest.raises(StreamError, match="before the body of message 1"):
        stream.next()


def test_end_before_a_message_that_has_come() -> None:
    stream = ClientStream()
    feed(stream, ("metadata", 1))
    with pytest.raises(InvalidArrowError, match="message 1 came before it"):
        stream.receive_message(end_message(1))


def test_message_behind_the_end() -> None:
    stream = ClientStream()
    stream.receive_message(end_message(1))
    with pytest.raises(InvalidArrowError, match="the stream ends with message 1"):
        feed(stream, ("metadata", 1))


def test_second_end() -> None:
    stream = ClientStream()
    stream.receive_message(end_message(1))
    with pytest.raises(InvalidArrowError, match="the stream has ended with message 1"):
        stream.receive_message(end_message(1))


# Bounds


def test_messages_far_ahead() -> None:
    stream = ClientStream(Bounds(pending_messages=4))
    with pytest.raises(LimitExceededError, match=r"4 ahead of message 0.*pending_messages"):
        stream.receive_body(4, np.zeros(0, np.uint8))


def test_bodies_that_wait() -> None:
    stream = ClientStream(Bounds(pending_bytes=100))
    assert stream.wants_bodies
    stream.receive_body(1, np.zeros(100, np.uint8))
    assert not stream.wants_bodies
    assert stream.wants_metadata
    with pytest.raises(LimitExceededError, match="100 bytes wait for the metadata of message 0"):
        stream.receive_body(2, np.zeros(1, np.uint8))


def test_what_is_due_is_taken_however_much_waits() -> None:
    stream = ClientStream(Bounds(pending_bytes=1))
    feed(stream, ("body", 1))
    feed(stream, ("metadata", 0))
    feed(stream, ("metadata", 1)) if taken(stream) else pytest.fail("message 0 is complete")
    assert [each.sequence for each in taken(stream)] == [1]


def test_more_locations_than_metadata_has_room_for() -> None:
    # A buffer takes 16 bytes of the metadata, too.
    stream = ClientStream(limits=Limits(metadata_bytes=32))
    pairs = [16, 2, 1 << 20, 8, 2 << 20, 8]
    stream.receive_body(1 << 56, np.array(pairs, np.uint64).view(np.uint8))
    with pytest.raises(LimitExceededError, match=r"48 bytes of locations.*Limits.metadata_bytes"):
        stream.receive_body(1 << 56 | 1, np.zeros(64, np.uint8))


# Locations


def located(number: int, **changes: int) -> bytes:
    """Locations for the buffers of a message, as pyarrow's metadata has them, with changes."""
    stream = ClientStream(first_sequence=number)
    feed(stream, ("metadata", number))
    feed(stream, ("body", number))
    (complete,) = taken(stream)
    header = complete.record["header"]
    lengths = (header if "buffers" in header else header["data"])["buffers"]["length"].tolist()
    if "length" in changes:
        lengths[-1] += changes["length"]
    pairs = [(4096 * (k + 1), length) for k, length in enumerate(lengths)]
    if "missing" in changes:
        pairs.pop()
    total = sum(length for _, length in pairs) + changes.get("total", 0)
    numbers = [total, len(pairs), *itertools.chain.from_iterable(pairs)]
    return struct.pack(f"<{len(numbers)}Q", *numbers)


def receive_located(data: bytes) -> Complete:
    number = batch_number()
    stream = ClientStream(first_sequence=number)
    feed(stream, ("metadata", number))
    stream.receive_body(1 << 56 | number, np.frombuffer(data, np.uint8))
    complete = stream.next()
    assert complete is not None
    return complete


def test_locations_of_the_buffers() -> None:
    data = located(batch_number())
    body = receive_located(data).body
    assert isinstance(body, BodyLocations)
    assert body.encode() == data
    with_bytes = [location for location in body.buffers if location.length]
    assert body.addresses() == [location.address for location in with_bytes]


def test_total_with_padding_is_that_of_the_packed_body() -> None:
    number = batch_number()
    plain = struct.unpack("<Q", located(number)[:8])[0]
    packed = len(messages()[number].array())
    assert receive_located(located(number, total=packed - plain)).body is not None


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"missing": 1}, "locations for"),
        ({"length": 1}, "its buffer"),
        ({"total": 1}, "a total of"),
    ],
)
def test_locations_that_do_not_fit(changes: dict[str, int], message: str) -> None:
    with pytest.raises(InvalidArrowError, match=message):
        receive_located(located(batch_number(), **changes))


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 2**64 - 1), st.binary(max_size=80))))
def test_any_bytes_are_messages_or_a_clean_error(parts: list[tuple[bool, int, bytes]]) -> None:
    stream = ClientStream()
    try:
        for tagged, tag, data in parts:
            if tagged:
                stream.receive_body(tag & 0xFF000000000000FF, np.frombuffer(data, np.uint8))
            else:
                stream.receive_message(data)
            taken(stream)
    except ColkernError:
        pass
