"""Dependencies of compiled code besides users' functions: colkern's own code, and the environment."""

from __future__ import annotations

import os

from colkern.cpu.sources import module_key, source_key


def is_checked() -> bool:
    """Whether all compiled code is to check positions (`CK_CHECKED=1`)."""
    return os.environ.get("CK_CHECKED") == "1"


_COMPILED_IN = ("colkern.kernels", "colkern.cpu", "colkern.jit")

# These say where in memory the parts of a column are, and of which types.
_DESCRIBED_BY = ("colkern.layouts", "colkern.schema", "colkern.arrays.values")


def library_key() -> str:
    """A text for cache keys: hashes of colkern's code, and whether positions are checked."""
    files = *map(source_key, _COMPILED_IN), *map(module_key, _DESCRIBED_BY)
    return " ".join([*files, str(is_checked())])
