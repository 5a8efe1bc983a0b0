"""Sequence numbers, from 0 to UINT32_MAX and from 0 again, and tags of bodies, which hold one and a type.

Dissociated IPC protocol: "Definitions", "Sequence Number", "Data Stream Sequence".
"""

from __future__ import annotations

from enum import IntEnum

from colkern.errors import InvalidArrowError, UnsupportedError

SEQUENCE_MASK = 0xFFFF_FFFF
"""The bits of a sequence number; those of a tag that say which message its body belongs to."""

_HALF = 1 << 31


def after(sequence: int, steps: int = 1) -> int:
    """The number so many steps behind another one."""
    return (sequence + steps) & SEQUENCE_MASK


def distance(start: int, sequence: int) -> int:
    """The steps from `start` to `sequence`; negative if `sequence` comes before it."""
    # Numbers wrap around, so of both ways the shorter one counts.
    steps = (sequence - start) & SEQUENCE_MASK
    return steps - (1 << 32) if steps >= _HALF else steps


_TYPE_SHIFT = 56
_LOCATIONS_SHIFTED_BY_55 = 1 << 55


class BodyType(IntEnum):
    """The type of a body in a tagged message."""

    PACKED = 0
    """The bytes of the body, as in IPC streams."""
    LOCATIONS = 1
    """The places of its buffers in shared or remote memory."""


def body_tag(sequence: int, body_type: BodyType) -> int:
    """The tag of a message's body: bits 0 to 31 the sequence number, bits 56 to 63 the type."""
    return body_type << _TYPE_SHIFT | sequence


def parse_body_tag(tag: int) -> tuple[int, BodyType]:
    """The sequence number and the type of the body; reserved bits (32 to 55) are passed over."""
    # A type shifted by 55, as in the specification's diagrams, is refused: locations would be taken for a
    # packed body.
    sequence = tag & SEQUENCE_MASK
    if tag & ~SEQUENCE_MASK == _LOCATIONS_SHIFTED_BY_55:
        raise InvalidArrowError(
            f"tag {tag:#018x} has a type that is shifted by 55 bits; it belongs in bits 56 to 63",
            place=f"body of message {sequence}",
        )
    number = tag >> _TYPE_SHIFT
    try:
        return sequence, BodyType(number)
    except ValueError:
        raise UnsupportedError(
            f"body of message {sequence}: type {number}; colkern knows 0 (packed) and 1 (locations)"
        ) from None
