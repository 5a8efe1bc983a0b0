"""The key of colkern's own code, which goes into users' compiled functions."""

from __future__ import annotations

from colkern.cpu.sources import module_key, source_key
from colkern.jit.environment import is_checked

_COMPILED_IN = ("colkern.kernels", "colkern.cpu", "colkern.jit")

# These say where in memory the parts of a column are, and of which types.
_DESCRIBED_BY = ("colkern.layouts", "colkern.schema", "colkern.arrays.values")


def library_key() -> str:
    """A hash of colkern's code in compiled functions, and of whether it checks positions."""
    files = *map(source_key, _COMPILED_IN), *map(module_key, _DESCRIBED_BY)
    return " ".join([*files, str(is_checked())])
