"""`Column`: the base of arrays and of chunked arrays, to which operations and operators are bound.

`column.pyi` beside it is written by `tests/operation_stubs.py` from the operations themselves. Type
checkers read it, and `colkern.methods` takes the names of the methods from it.
"""

from colkern.names import PublicNames


class Column(PublicNames):
    """Values of one type that operations take. Methods are functions of `colkern.operations`."""

    __slots__ = ()

    # So that NumPy's arrays and scalars leave operators to columns.
    __array_priority__ = 1000
    # `==` is slot by slot.
    __hash__ = None  # type: ignore[assignment]
