"""Columns to and from other libraries of this process, not copied.

The Arrow PyCapsule interface: anything with `__arrow_c_schema__`, `__arrow_c_array__` or
`__arrow_c_stream__`, or the device forms of these, is imported (pyarrow, polars, nanoarrow, DuckDB,
cuDF …); colkern's types, fields, schemas, arrays, batches and streams have these methods and are
exported. Arrays of numbers are also exchanged as tensors, by DLPack and the CUDA array interface.

PyCapsule interface; C Data interface; C Stream interface; C Device data interface.
"""

from colkern.names import late_names

__getattr__, __dir__, __all__ = late_names(__name__)
