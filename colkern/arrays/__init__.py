"""Arrays, record batches and streams of batches: buffers with a type.

Beside the classes: their values as Python objects, equality and printing.
"""

from colkern.arrays.array import UNKNOWN, Array
from colkern.arrays.batch import RecordBatch, no_numpy_array
from colkern.arrays.stream import RecordBatchStream, cannot_be_pickled

__all__ = [
    "UNKNOWN",
    "Array",
    "RecordBatch",
    "RecordBatchStream",
    "cannot_be_pickled",
    "no_numpy_array",
]


def __dir__() -> list[str]:
    """The public names."""
    return __all__
