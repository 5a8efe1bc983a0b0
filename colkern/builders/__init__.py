"""Arrays, record batches and tables from Python values, from NumPy, and from other Arrow libraries."""

from colkern.builders.entry import array, chunked_array, record_batch, table
from colkern.builders.nested import UnionValue

__all__ = ["UnionValue", "array", "chunked_array", "record_batch", "table"]


def __dir__() -> list[str]:
    """The public names."""
    return __all__
