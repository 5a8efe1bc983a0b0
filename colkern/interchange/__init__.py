"""Columns to and from other libraries of this process, not copied.

The Arrow PyCapsule interface: anything with `__arrow_c_schema__`, `__arrow_c_array__` or
`__arrow_c_stream__`, or the device forms of these, is imported (pyarrow, polars, nanoarrow, DuckDB,
cuDF …); colkern's types, fields, schemas, arrays, batches and streams have these methods and are
exported. Arrays of numbers are also exchanged as tensors, by DLPack and the CUDA array interface.

PyCapsule interface; C Data interface; C Stream interface; C Device data interface.
"""

from colkern.interchange.arrays import export_array, export_batch
from colkern.interchange.cuda_arrays import cuda_array_interface, from_cuda_array
from colkern.interchange.device_arrays import export_device_array, export_device_batch
from colkern.interchange.device_streams import export_device_stream
from colkern.interchange.dlpack import export_tensor, from_dlpack
from colkern.interchange.importing import import_array, import_batch, import_stream
from colkern.interchange.schemas import export_schema, import_field, import_schema, import_type
from colkern.interchange.streams import export_stream

__all__ = [
    "cuda_array_interface",
    "export_array",
    "export_batch",
    "export_device_array",
    "export_device_batch",
    "export_device_stream",
    "export_schema",
    "export_stream",
    "export_tensor",
    "from_cuda_array",
    "from_dlpack",
    "import_array",
    "import_batch",
    "import_field",
    "import_schema",
    "import_stream",
    "import_type",
]


def __dir__() -> list[str]:
    """The public names."""
    return __all__
