"""Partial objects, methods, callable instances and built-in functions as plain functions.

The compiler reads the text of functions.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from types import BuiltinFunctionType, FunctionType, MethodDescriptorType, MethodType
from typing import Any

from colkern.generated import function_of_text
from colkern.rows import front


class Omitted:
    """The default of a parameter whose argument is left out of the call of the original."""


def plain_function(function: object) -> object:
    """The plain function of a decorated one, or one that stands for a partial object, a bound method, an
    instance with `__call__` or a function written in C.

    The latter has the remaining parameters, and calls the original with them and the bound arguments. A
    decorator's function of `*args` gets one with the parameters of the function that it wraps. Other
    objects are returned unchanged.
    """
    plain: Any = front.plain_function(function)
    original = plain
    if isinstance(original, _WITHOUT_TEXT):
        return _calling(original)
    positional: tuple[object, ...] = ()
    named: dict[str, object] = {}
    while isinstance(original, MethodType | partial) or _is_called(original):
        if _is_called(original):
            original = original.__call__
        elif isinstance(original, MethodType):
            positional = (original.__self__, *positional)
            original = front.plain_function(original.__func__)
        else:
            positional = (*original.args, *positional)
            named = original.keywords | named
            original = front.plain_function(original.func)
    # Also what PySpark's `udf` gives, a function of columns, stays.
    if not isinstance(original, FunctionType) or hasattr(original, "evalType"):
        return plain
    is_wrapper = hasattr(original, "__wrapped__") and _takes_any(original)
    return (
        _with_bound(original, positional, named) if is_wrapper or original is not plain else plain
    )


def _is_called(value: Any) -> bool:
    """Whether a value is an instance with a method `__call__`, and no function of Spark's columns."""
    method = inspect.getattr_static(type(value), "__call__", None)
    return isinstance(method, FunctionType) and not hasattr(value, "evalType")


def _calling(original: Callable[..., object]) -> FunctionType:
    """A function of the parameters that a class, or a function written in C, requires."""
    try:
        own = list(inspect.signature(original).parameters.values())
    except ValueError:
        own = []
    required = [
        each.name
        for each in own
        if each.default is each.empty and each.kind not in (*_OPEN, _BY_NAME)
    ]
    arguments = ", ".join(required or ["value"])
    text = f"def function({arguments}):\n    return _original({arguments})\n"
    function = function_of_text("function", text, {"_original": original}, "call")
    function.__name__ = function.__qualname__ = original.__name__
    function.__doc__ = original.__doc__
    return function


def _with_bound(
    original: FunctionType, positional: tuple[object, ...], named: dict[str, object]
) -> FunctionType:
    """A function of the parameters of another that have no argument yet."""
    values: dict[str, Any] = {"_original": original, "_Omitted": Omitted}
    values |= {f"_bound_{k}": value for k, value in enumerate(positional)}
    values |= {f"_bound_{name}": value for name, value in named.items()}
    arguments = [f"_bound_{k}" for k in range(len(positional))]
    by_name = [f"{name}=_bound_{name}" for name in named]
    declared, lines = [], []
    # A function of `*args` may give what is required by name.
    unasked = (*_OPEN, _BY_NAME) if _takes_any(original) else _OPEN
    is_behind = False
    for each in _parameters(original)[len(positional) :]:
        # Those behind a bound one are keyword-only.
        is_behind |= each.name in named
        is_optional = each.default is not inspect.Parameter.empty
        if each.name in named or each.kind in unasked or (is_optional and each.kind is _BY_NAME):
            continue
        if is_optional:
            call = f"_original({', '.join(arguments + by_name)})"
            lines.append(f"    if {each.name} is _Omitted:\n        return {call}\n")
        declared.append(f"{each.name}=_Omitted" if lines else each.name)
        by_position = not is_behind and each.kind is not _BY_NAME
        arguments.append(each.name if by_position else f"{each.name}={each.name}")
    lines.append(f"    return _original({', '.join(arguments + by_name)})\n")
    name = original.__name__ if original.__name__.isidentifier() else "function"
    text = f"def {name}({', '.join(declared)}):\n{''.join(lines)}"
    function = function_of_text(name, text, {**original.__globals__, **values}, "bound arguments")
    hinted = {"return", *function.__code__.co_varnames}
    hints = original.__annotations__.items()
    function.__annotations__ = {name: hint for name, hint in hints if name in hinted}
    function.__doc__ = original.__doc__
    return function


def sees_names(function: Any) -> bool:
    """Whether a plain function stands for a decorator's of `*args`, which knows what is given by name."""
    original = getattr(function, "__globals__", {}).get("_original", function)
    return hasattr(original, "__wrapped__") and _takes_any(original)


def _parameters(function: Any) -> list[inspect.Parameter]:
    """The parameters of a function, or those of the one that a function of `*args` is wrapped around."""
    function = front.plain_function(function)
    if isinstance(function, MethodType):
        return _parameters(function.__func__)[1:]
    if _takes_any(function) and hasattr(function, "__wrapped__"):
        return _parameters(function.__wrapped__)
    return list(inspect.signature(function, follow_wrapped=False).parameters.values())


def _takes_any(function: FunctionType) -> bool:
    """Whether a function has `*args` or `**kwargs` of its own."""
    own = inspect.signature(function, follow_wrapped=False).parameters.values()
    return any(each.kind in _OPEN for each in own)


_WITHOUT_TEXT = (type, BuiltinFunctionType, MethodDescriptorType)
_OPEN = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
_BY_NAME = inspect.Parameter.KEYWORD_ONLY
