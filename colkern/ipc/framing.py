"""The fixed bytes around messages and files.

Columnar format 1.5: "Encapsulated message format", "IPC file format".
"""

from __future__ import annotations

CONTINUATION = b"\xff\xff\xff\xff"
"""Stands before each message since 0.15."""

MAGIC = b"ARROW1"

FRONT_BYTES = 8
"""The magic and two bytes of padding stand in front of a file's first message."""
