"""Sequence numbers: from 0 on, and after UINT32_MAX from 0 again.

Dissociated IPC protocol: "Definitions", "Sequence Number".
"""

from __future__ import annotations

SEQUENCE_MASK = 0xFFFF_FFFF
"""The bits of a sequence number; those of a tag that say which message its body belongs to."""

_HALF = 1 << 31


def after(sequence: int, steps: int = 1) -> int:
    """The number so many steps behind another one."""
    return (sequence + steps) & SEQUENCE_MASK


def distance(start: int, sequence: int) -> int:
    """The steps from `start` to `sequence`; negative if `sequence` comes before it.

    Numbers wrap around, so of both ways the shorter one counts.
    """
    steps = (sequence - start) & SEQUENCE_MASK
    return steps - (1 << 32) if steps >= _HALF else steps
