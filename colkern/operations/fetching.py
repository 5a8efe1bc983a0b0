"""A few slots of a column in host memory, wherever it is."""

from __future__ import annotations

from colkern.arrays import Array
from colkern.memory import HOST
from colkern.operations.encodings import decoded
from colkern.operations.moving import to_host


def few_on_host(array: Array) -> Array:
    """A few slots in host memory, decoded if they are on a device: nothing else of its column is copied."""
    if array.device == HOST:
        return array
    # Imported late: only columns on devices are trimmed.
    from colkern.operations.selection.trimming import trim

    return to_host(trim(decoded(array)))
