"""What colkern itself puts into users' compiled functions, as part of their cache keys."""

from __future__ import annotations

from colkern.cpu.sources import source_key
from colkern.jit.environment import is_checked

_COMPILED_IN = ("colkern.kernels", "colkern.cpu", "colkern.jit")


def library_key() -> str:
    """A hash of what colkern puts into compiled functions: its code, and whether it is checked."""
    return " ".join([*map(source_key, _COMPILED_IN), str(is_checked())])
