"""Calls that report something, in row functions: of loggers, and of `warnings.warn`.

Compiled code reports nothing. If a level is not enabled, or a warning is ignored, neither does Python: such
a call compiles to its arguments. Whether that is still so is looked up before each batch. Otherwise Python
computes the rows that come to the call.
"""

from __future__ import annotations

import ast
import logging
import types
import warnings
from typing import Any

from colkern.rows import kinds as k
from colkern.rows.emitter import Emitter
from colkern.rows.expressions import arguments_of
from colkern.rows.folding import constant
from colkern.rows.values import NONE, Value


def report(emitter: Emitter, node: ast.Call, function: Any) -> Value | None:
    """Compiles a call that reports nothing now, or one of `isEnabledFor`; None for other calls."""
    test = _test_of(function)
    if not node.args or (test is None and function is not warnings.warn):
        return None
    before = emitter.state()
    arguments, named = arguments_of(emitter, node)
    name, is_silent = function.__name__, False
    level = (
        arguments[0].constant
        if name in ("log", "isEnabledFor")
        else getattr(logging, name.upper(), None)
    )
    if test is None:
        is_silent = _is_ignored(emitter, arguments, named)
    elif type(level) is int:
        is_silent = not emitter.program.assumed(test, level)
        if name == "isEnabledFor":
            return constant(not is_silent)
    if not is_silent:
        emitter.restore(before)
    return NONE if is_silent else None


def _test_of(function: Any) -> Any:
    """Returns what tells whether a logger, or a function of `logging`, reports a level; None for others."""
    logger, name = getattr(function, "__self__", None), getattr(function, "__name__", "")
    if isinstance(function, types.FunctionType) and function is vars(logging).get(name):
        # It gives the root logger a handler if that has none.
        return lambda level: not logging.root.handlers or logging.root.isEnabledFor(level)
    written = vars(logging.Logger)
    is_logger = isinstance(logger, logging.Logger) and function.__func__ is written.get(name)
    is_usual = is_logger and getattr(type(logger), "isEnabledFor", 0) is written["isEnabledFor"]
    return getattr(logger, "isEnabledFor", None) if is_usual else None


def _is_ignored(emitter: Emitter, arguments: list[Value], named: dict[str, Value]) -> bool:
    """Whether a call of `warnings.warn` with a text warns of what the present filters ignore."""
    given = dict(zip(("message", "category", "stacklevel"), arguments, strict=False)) | named
    category = given.pop("category", constant(UserWarning)).constant
    kinds = {name: value.kind for name, value in given.items()}
    is_plain = isinstance(category, type) and category.__module__ == "builtins"
    takes = {"message": k.TEXT, "stacklevel": k.INT}
    return is_plain and takes | kinds == takes and emitter.program.assumed(_ignores, category)


def _ignores(category: type[Warning]) -> bool:
    """Whether filters ignore all warnings of a category, whatever their texts and modules."""
    for action, text, base, module, line in warnings.filters:
        if issubclass(category, base) and action != "ignore":
            return False
        if issubclass(category, base) and text is None and module is None and not line:
            return True
    return False
