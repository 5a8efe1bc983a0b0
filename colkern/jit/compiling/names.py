"""Names in functions: of globals, of helpers, and of each other."""

from __future__ import annotations

import builtins
import dis
import sys
import types
from collections.abc import Callable, Iterator
from typing import Protocol

from colkern.rows.front import plain_function


class Named(Protocol):
    """A function or a class, as `pickle` writes it."""

    __module__: str
    __qualname__: str


def global_names(code: types.CodeType) -> Iterator[str]:
    """The global names that a code object and those nested in it load."""
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            yield instruction.argval
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from global_names(constant)


def has_all_names(function: Callable[..., object]) -> bool:
    """Whether all names in a plain function, and in the plain functions that it calls, are defined.

    They need not be when the function is defined: a module may define its helpers further down.
    """
    seen: set[types.FunctionType] = set()
    assert isinstance(function, types.FunctionType)
    waiting = [function]
    while waiting:
        current = waiting.pop()
        if current in seen:
            continue
        seen.add(current)
        for name in global_names(current.__code__):
            if name not in current.__globals__:
                if not hasattr(builtins, name):
                    return False
                continue
            value = plain_function(current.__globals__[name])
            if isinstance(value, types.FunctionType):
                waiting.append(value)
        # A function in a function that calls itself is not there before it is made.
        if any(is_empty(cell) for cell in current.__closure__ or ()):
            return False
    return True


def is_empty(cell: types.CellType) -> bool:
    """Whether nothing has been put into a cell yet."""
    try:
        _ = cell.cell_contents
    except ValueError:
        return True
    return False


def is_found_by_name(value: Named) -> bool:
    """Whether its module and qualified name lead back to a function, so that these pickle it."""
    return named_object(value.__module__, value.__qualname__) is value


def named_object(module: str, qualname: str) -> object:
    """The object with a qualified name in a module; None if there is none."""
    value: object = sys.modules.get(module)
    for part in qualname.split("."):
        value = getattr(value, part, None)
    return value
