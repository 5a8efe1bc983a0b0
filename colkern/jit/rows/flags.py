"""What a loop finds in its slots: bits that are collected over all of them, and handled once a call."""

from __future__ import annotations

MADE_NULL = 1
OUT_OF_RANGE = 2
NEEDS_WRITING = 4
CUT_CHARACTER = 8
CHANGED = 16
TOO_WIDE = 32
