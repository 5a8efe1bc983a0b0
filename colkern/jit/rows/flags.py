"""What a loop finds in its slots: bits that are collected over all of them, and handled once a call."""

from __future__ import annotations

OUT_OF_RANGE = 1
NEEDS_WRITING = 2
CHANGED = 8
TOO_WIDE = 16
"""A decimal has more digits than its type says."""
NARROWED = 32
"""A decimal has more digits than the type has that was declared for its column."""

NARROWED_MESSAGE = "a decimal does not fit the digits that were declared; declare as many as it has"
