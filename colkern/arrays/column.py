"""`Column`: the base of arrays and chunked arrays. Operations and operators are bound to it.

`tests/operation_stubs.py` writes `column.pyi` beside it from the operations themselves. Type checkers
read it, and `colkern.methods` takes the names of the methods from it.
"""

from colkern.names import PublicNames


class Column(PublicNames):
    """Values of one type that operations take. Its methods are functions of `colkern.operations`."""

    __slots__ = ()

    # `==` compares slot by slot, so columns cannot be hashed.
    __hash__ = None  # type: ignore[assignment]
