"""The Arrow PyCapsule interface: columns to and from other libraries of this process, not copied.

Anything with `__arrow_c_schema__`, `__arrow_c_array__` or `__arrow_c_stream__` is imported
(pyarrow, polars, nanoarrow, DuckDB, …); colkern's types, fields, schemas, arrays, batches and streams
have these methods and are exported.

PyCapsule interface; C Data interface; C Stream interface.
"""

from colkern.interchange.arrays import export_array, export_batch, import_array, import_batch
from colkern.interchange.schemas import export_schema, import_field, import_schema, import_type
from colkern.interchange.streams import export_stream, import_stream

__all__ = [
    "export_array",
    "export_batch",
    "export_schema",
    "export_stream",
    "import_array",
    "import_batch",
    "import_field",
    "import_schema",
    "import_stream",
    "import_type",
]
