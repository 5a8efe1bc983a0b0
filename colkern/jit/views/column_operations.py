"""What compiled code does with columns, batches, rows and streams: the spelling of `colkern.Array`.

`len(column)`, `column[i]`, `column[a:b]`, iteration, `is_valid(i)`, `value(i)`, `null_count`; fields of
structs and batches by name; what unions, maps, dictionaries and runs have besides. CPU target only.
"""

# Imported for what they teach Numba.
from colkern.jit.views import fields, items, iteration, methods  # noqa: F401
