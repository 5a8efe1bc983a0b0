"""Arrow IPC: streams, files and tensors, read and written.

>>> import colkern.ipc
>>> with colkern.ipc.open("table.arrow") as reader:  # doctest: +SKIP
...     for batch in reader:
...         print(batch.column("price"))
>>> colkern.ipc.write_file("sorted.arrow", batches, compression="zstd")  # doctest: +SKIP

What is written may live in host or device memory, see `StreamWriter.write`; tensors are NumPy's.

Columnar format 1.5: "Serialization and Interprocess Communication (IPC)".
"""

from colkern.ipc.limits import DEFAULT_LIMITS, Limits
from colkern.ipc.reading.opening import open, open_file, open_stream, read_schema
from colkern.ipc.reading.readers import FileReader, StreamReader
from colkern.ipc.reading.summaries import BatchSummary
from colkern.ipc.tensors import (
    SparseCOOTensor,
    SparseCSCMatrix,
    SparseCSFTensor,
    SparseCSRMatrix,
    Tensor,
    read_tensor,
    read_tensors,
    write_tensor,
)
from colkern.ipc.writing.options import WriteOptions
from colkern.ipc.writing.writers import (
    FileWriter,
    StreamWriter,
    new_file,
    new_stream,
    write_file,
    write_stream,
)

__all__ = [
    "DEFAULT_LIMITS",
    "BatchSummary",
    "FileReader",
    "FileWriter",
    "Limits",
    "SparseCOOTensor",
    "SparseCSCMatrix",
    "SparseCSFTensor",
    "SparseCSRMatrix",
    "StreamReader",
    "StreamWriter",
    "Tensor",
    "WriteOptions",
    "new_file",
    "new_stream",
    "open",
    "open_file",
    "open_stream",
    "read_schema",
    "read_tensor",
    "read_tensors",
    "write_file",
    "write_stream",
    "write_tensor",
]


def __dir__() -> list[str]:
    """The public names."""
    return __all__
