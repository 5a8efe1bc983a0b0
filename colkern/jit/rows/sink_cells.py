"""The cells of a sink: where each number of it stands; see `colkern.jit.rows.sinks`."""

from __future__ import annotations

PLACE = 0
"""The place of the next item; what counts items starts at 0."""
END = 1
"""The place behind the row's last item."""
BYTE = 2
"""Where the bytes of the next item begin; what measures them starts at 0."""
LIMIT = 3
"""Where the bytes of the row's last item end."""
FLAGS = 4
"""What was found: see `colkern.jit.rows.flags`."""
NULLS = 5
"""The address of a byte for each item, 1 for a null."""
OUT = 6
"""The address of the items, or of the offsets of byte strings."""
DATA = 7
"""The address of their bytes."""
GIVEN_ADDRESS, GIVEN_SIZE, GIVEN_NULL = 8, 9, 10
"""What is known of the item between its measure and its place."""
CELLS = 11
"""How many cells there are."""
