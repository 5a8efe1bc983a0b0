"""Python's operators on columns: each is an operation, by the types of what stands on its sides."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from colkern import schema as s
from colkern.arrays import Array, ChunkedArray, Column
from colkern.operations.arguments import OPERATIONS
from colkern.operations.casting import cast
from colkern.operations.chunks import as_columns


def applied(operator: str, *operands: object) -> Any:
    """The operator of that name (`"add"` for `+`) on its operands, of which one is a column.

    `/` is division of floating-point numbers: integers are cast to float64 first. `&`, `|`, `^` and `~`
    are logical on booleans, as far as is known where one is null, and bit-wise on integers.

    Raises:
        TypeError: As the operation does.
    """
    columns = [as_columns(operand) for operand in operands]
    name = operator
    if operator == "divide":
        columns = [_as_float(column) for column in columns]
    elif operator in _ON_BOOLEANS:
        booleans = all(_has(column, s.Bool) for column in columns if isinstance(column, Column))
        name = _ON_BOOLEANS[operator] if booleans else operator
    return _operation(name)(*columns)


_ON_BOOLEANS = {
    "bit_wise_and": "and_kleene",
    "bit_wise_or": "or_kleene",
    "bit_wise_xor": "xor",
    "bit_wise_not": "invert",
}


def _operation(name: str) -> Callable[..., Any]:
    """An operation of whatever module has been imported by the package."""
    import colkern.operations as package

    return OPERATIONS[name].called if name in OPERATIONS else getattr(package, name)


def _has(column: object, kind: type[s.DataType]) -> bool:
    """Whether the values of a column are of that kind, whatever encodes them."""
    assert isinstance(column, Array | ChunkedArray)
    type_ = column.type.storage
    while isinstance(type_, s.RunEndEncoded | s.Dictionary):
        type_ = type_.value_type.storage
    return isinstance(type_, kind)


def _as_float(value: Any) -> Any:
    is_integers = isinstance(value, Column) and _has(value, s.Int)
    return cast(value, s.float64()) if is_integers else value
