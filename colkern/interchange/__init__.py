"""Exchange of columns with other libraries in the same process, without copies.

By the Arrow PyCapsule interface, colkern imports anything with `__arrow_c_schema__`,
`__arrow_c_array__` or `__arrow_c_stream__`, or the device forms of these (pyarrow, polars, nanoarrow,
DuckDB, cuDF …). Colkern's types, fields, schemas, arrays, batches and streams have these methods
themselves. Arrays of numbers are also exchanged as tensors, by DLPack and the CUDA array interface.

PyCapsule interface; C Data interface; C Stream interface; C Device data interface.
"""

from colkern.names import late_names

__getattr__, __dir__, __all__ = late_names(__name__)
