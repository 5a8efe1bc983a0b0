"""Arrays and record batches from Python values, from NumPy, and from other Arrow libraries."""

from colkern.builders.entry import array, record_batch
from colkern.builders.nested import UnionValue

__all__ = ["UnionValue", "array", "record_batch"]


def __dir__() -> list[str]:
    """The public names."""
    return __all__
