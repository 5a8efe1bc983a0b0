"""Operations of compiled code on columns, batches, rows and streams, spelt as those of `colkern.Array`.

`len(column)`, `column[i]`, `column[a:b]`, iteration, `is_valid(i)`, `value(i)`, `null_count`; fields of
structs and batches by name; the parts of unions, maps, dictionaries and runs. CPU target only.

Whoever gives Numba a type of these takes it from here, so that Numba knows the operations too.
"""

# Imported for what they teach Numba.
import colkern.jit.elements  # noqa: F401
from colkern.jit.views import attributes, items  # noqa: F401
from colkern.jit.views.column_types import batch_type as batch_type
from colkern.jit.views.column_types import column_type as column_type
from colkern.jit.views.column_types import stream_type as stream_type
