"""Elements of columns in compiled code: text, byte strings, dates and times, with Python's methods.

The methods are rows of the table of row functions (`colkern.rows.table`). For each method that is
called, an adapter (`colkern.jit.elements.adapters`) calls the row's body. Unlike in row functions,
integers wrap, and where a body would leave a row to Python, `UnsupportedError` is raised.

A text or byte string of a column is an address and a size; it owns nothing. A value that a method
creates is in memory that Numba counts: the value holds a reference, and so do its parts.
"""

# Imported for what they teach Numba.
from colkern.jit.elements import operations  # noqa: F401
