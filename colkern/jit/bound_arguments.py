"""Partial objects and bound methods as plain functions: the compiler reads the text of functions."""

from __future__ import annotations

import inspect
from functools import partial
from types import FunctionType, MethodType
from typing import Any

from colkern.generated import function_of_text
from colkern.rows import front


def plain_function(function: object) -> object:
    """The plain function of a decorated one, or one that stands for a partial object or a bound method.

    The latter has the parameters that are left, and calls the original with them and what is bound. So has
    one for a decorator's function of `*args`, which has those of the function that it is wrapped around.
    Anything else stays.
    """
    plain: Any = front.plain_function(function)
    original: object = plain
    positional: tuple[object, ...] = ()
    named: dict[str, object] = {}
    if isinstance(plain, MethodType):
        original, positional = plain.__func__, (plain.__self__,)
    elif isinstance(plain, partial):
        original, positional, named = plain_function(plain.func), plain.args, plain.keywords
    elif hasattr(plain, "evalType") or not (hasattr(plain, "__wrapped__") and _takes_any(plain)):
        # Also what PySpark's `udf` gives, a function of columns.
        return plain
    if not isinstance(original, FunctionType):
        return plain
    return _with_bound(original, positional, named)


def _with_bound(
    original: FunctionType, positional: tuple[object, ...], named: dict[str, object]
) -> FunctionType:
    """A function of the parameters of another that have no argument yet."""
    # Partial's own signature makes parameters behind a bound one keyword-only.
    parameters = list(inspect.signature(original).parameters.values())[len(positional) :]
    left = [each for each in parameters if each.name not in named and not _may_be_empty(each)]
    values: dict[str, Any] = {"_original": original}
    values |= {f"_bound_{k}": value for k, value in enumerate(positional)}
    values |= {f"_bound_{name}": value for name, value in named.items()}
    arguments = [f"_bound_{k}" for k in range(len(positional))]
    declared = []
    for each in left:
        default = each.default is not inspect.Parameter.empty
        values |= {f"_default_{each.name}": each.default} if default else {}
        declared.append(f"{each.name}=_default_{each.name}" if default else each.name)
        by_position = each.kind is inspect.Parameter.POSITIONAL_ONLY or (
            not named and each.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
        )
        arguments.append(each.name if by_position else f"{each.name}={each.name}")
    arguments += [f"{name}=_bound_{name}" for name in named]
    name = original.__name__ if original.__name__.isidentifier() else "function"
    text = f"def {name}({', '.join(declared)}):\n    return _original({', '.join(arguments)})\n"
    function = function_of_text(name, text, {**original.__globals__, **values}, "bound arguments")
    hinted = {"return", *(each.name for each in left)}
    hints = original.__annotations__.items()
    function.__annotations__ = {name: hint for name, hint in hints if name in hinted}
    function.__doc__ = original.__doc__
    return function


def _takes_any(function: FunctionType) -> bool:
    """Whether a function has `*args` or `**kwargs` of its own, and not what it is wrapped around."""
    own = inspect.signature(function, follow_wrapped=False)
    return any(each.kind in _OPEN for each in own.parameters.values()) and not any(
        each.kind in _OPEN for each in inspect.signature(function).parameters.values()
    )


_OPEN = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def _may_be_empty(parameter: inspect.Parameter) -> bool:
    """Whether a parameter stands for no column: it takes any number of arguments, or by name alone."""
    if parameter.kind is inspect.Parameter.KEYWORD_ONLY:
        return parameter.default is not inspect.Parameter.empty
    return parameter.kind in _OPEN
