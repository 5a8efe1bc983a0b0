"""Arrays, record batches, tables and streams of batches: buffers with a type.

Besides the classes, the package has their values as Python objects, equality and printing.
"""

from colkern.arrays.array import UNKNOWN, Array
from colkern.arrays.batch import RecordBatch, RecordBatchStream, cannot_be_pickled
from colkern.arrays.chunked import ChunkedArray
from colkern.arrays.column import Column
from colkern.arrays.table import Table
from colkern.arrays.tabular import Tabular, no_numpy_array

__all__ = [
    "UNKNOWN",
    "Array",
    "ChunkedArray",
    "Column",
    "RecordBatch",
    "RecordBatchStream",
    "Table",
    "Tabular",
    "cannot_be_pickled",
    "no_numpy_array",
]


def __dir__() -> list[str]:
    """The public names."""
    return __all__
