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

_WRITTEN = dict(vars(logging.Logger))
_LEVELS = ("debug", "info", "warning", "error", "exception", "critical")
_NAMES = (*_LEVELS, "log", "isEnabledFor")


def report(emitter: Emitter, node: ast.Call, function: Any) -> Value | None:
    """Compiles a call that reports nothing now, or one of `isEnabledFor`; None for other calls."""
    name = getattr(function, "__name__", "")
    logger = _logger_of(function, name)
    if not node.args or (logger is None and function is not warnings.warn):
        return None
    before = emitter.state()
    arguments, named = arguments_of(emitter, node)
    if logger is None:
        is_silent = _is_ignored(emitter, arguments, named)
    else:
        level = arguments[0].constant
        if name in _LEVELS:
            level = logging.ERROR if name == "exception" else getattr(logging, name.upper())
        known = type(level) is int
        is_silent = known and emitter.program.assumed(_is_silent, logger, name, level)
        if name == "isEnabledFor" and is_silent:
            return constant(False)
    if not is_silent:
        emitter.restore(before)
    return NONE if is_silent else None


def _logger_of(function: Any, name: str) -> logging.Logger | None:
    """Returns the logger of a method that reports, or of a function of `logging`; None for others."""
    if name not in _NAMES:
        return None
    if isinstance(function, types.FunctionType) and function is vars(logging).get(name):
        return logging.root
    logger = getattr(function, "__self__", None)
    is_logger = isinstance(logger, logging.Logger) and function.__func__ is _WRITTEN.get(name)
    return logger if is_logger else None


def _is_silent(logger: logging.Logger, name: str, level: int) -> bool:
    """Whether a method of a logger does nothing at a level."""
    if logger is logging.root and not logger.handlers:
        # The functions of `logging` give it a handler.
        return False
    for each in (name, "isEnabledFor"):
        if each in vars(logger) or getattr(type(logger), each, None) is not _WRITTEN[each]:
            return False
    return not logger.isEnabledFor(level)


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
