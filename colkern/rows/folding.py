"""Constants of row functions, and the results of operators for them."""

from __future__ import annotations

import ast
import calendar
import operator
from collections import OrderedDict
from collections.abc import Callable
from types import MappingProxyType
from typing import Any

from colkern.rows.calls import constant_kind
from colkern.rows.emitter import Emitter
from colkern.rows.values import NONE, Value

OPERATORS: dict[type[ast.AST], tuple[str, Callable[..., Any]]] = {
    ast.Add: ("+", operator.add),
    ast.Sub: ("-", operator.sub),
    ast.Mult: ("*", operator.mul),
    ast.Div: ("/", operator.truediv),
    ast.FloorDiv: ("//", operator.floordiv),
    ast.Mod: ("%", operator.mod),
    ast.Pow: ("**", operator.pow),
    ast.MatMult: ("@", operator.matmul),
    ast.LShift: ("<<", operator.lshift),
    ast.RShift: (">>", operator.rshift),
    ast.BitAnd: ("&", operator.and_),
    ast.BitOr: ("|", operator.or_),
    ast.BitXor: ("^", operator.xor),
    ast.Eq: ("==", operator.eq),
    ast.NotEq: ("!=", operator.ne),
    ast.Lt: ("<", operator.lt),
    ast.LtE: ("<=", operator.le),
    ast.Gt: (">", operator.gt),
    ast.GtE: (">=", operator.ge),
    ast.USub: ("neg", operator.neg),
    ast.UAdd: ("pos", operator.pos),
    ast.Invert: ("~", operator.invert),
}
"""The operators: their names in the table of methods, and their functions in Python."""

LARGEST_CONSTANT = 1 << 16
"""The largest number of items of a folded constant."""


def constant(value: Any) -> Value:
    """Returns a Python object as a value that is known when the function is compiled."""
    if type(value) in _NAMES:
        value = list(value)
    if isinstance(value, MappingProxyType | OrderedDict):
        value = dict(value)
    if isinstance(value, tuple):
        items = tuple(constant(item) for item in value)
        return Value(constant_kind(value), items=items, constant=value)
    return NONE if value is None else Value(constant_kind(value), constant=value)


_NAMES = (type(calendar.day_name), type(calendar.month_name))
"""The types of `calendar`'s lists of names."""


def evaluated(emitter: Emitter, function: Callable[..., Any], *constants: Any) -> Value:
    """Returns the result of a Python function for constants; if it raises, the row function is refused."""
    try:
        return constant(function(*constants))
    except Exception as error:  # noqa: BLE001
        emitter.refuse(f"{type(error).__name__} in every row that gets here: {error}")


def folded(function: Callable[..., Any], *sides: Value) -> Value | None:
    """Returns the result of an operation on constants; None if it is not computed when compiling."""
    if not all(side.is_constant for side in sides):
        return None
    try:
        value = function(*(side.constant for side in sides))
    except Exception:  # noqa: BLE001  # raised in the row, if the row comes here
        return None
    if isinstance(value, str | bytes | tuple | list) and len(value) > LARGEST_CONSTANT:
        return None
    return constant(value)
