# The public names, for type checkers and for `late_names`, which imports each when it is first used.

from colkern.ipc.limits import (
    DEFAULT_LIMITS as DEFAULT_LIMITS,
    Limits as Limits,
)
from colkern.ipc.reading.opening import (
    open as open,
    open_file as open_file,
    open_stream as open_stream,
    read_schema as read_schema,
)
from colkern.ipc.reading.readers import (
    FileReader as FileReader,
    StreamReader as StreamReader,
)
from colkern.ipc.reading.batches import (
    BatchSummary as BatchSummary,
)
from colkern.ipc.reading.tables import (
    read_table as read_table,
)
from colkern.ipc.tensors.dense import (
    Tensor as Tensor,
)
from colkern.ipc.tensors.reading import (
    read_tensor as read_tensor,
    read_tensors as read_tensors,
)
from colkern.ipc.tensors.sparse import (
    SparseCOOTensor as SparseCOOTensor,
    SparseCSCMatrix as SparseCSCMatrix,
    SparseCSFTensor as SparseCSFTensor,
    SparseCSRMatrix as SparseCSRMatrix,
)
from colkern.ipc.tensors.writing import (
    write_tensor as write_tensor,
)
from colkern.ipc.writing.data import (
    WriteOptions as WriteOptions,
)
from colkern.ipc.writing.writers import (
    FileWriter as FileWriter,
    StreamWriter as StreamWriter,
    new_file as new_file,
    new_stream as new_stream,
    write_file as write_file,
    write_stream as write_stream,
)
