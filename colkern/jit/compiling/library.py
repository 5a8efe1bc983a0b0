"""What colkern itself puts into users' compiled functions, as part of their cache keys."""

from __future__ import annotations

from colkern.cpu.sources import module_key, source_key
from colkern.jit.environment import is_checked

_COMPILED_IN = ("colkern.kernels", "colkern.cpu", "colkern.jit")

# Where in memory the parts of a column are, and of what types, is told by these.
_DESCRIBED_BY = ("colkern.layouts", "colkern.schema", "colkern.arrays.values")


def library_key() -> str:
    """A hash of what colkern puts into compiled functions: its code, and whether it is checked."""
    files = *map(source_key, _COMPILED_IN), *map(module_key, _DESCRIBED_BY)
    return " ".join([*files, str(is_checked())])
