"""Exceptions of users' functions: the text of each, and where one of arithmetic's stands."""

from __future__ import annotations

import ast

from colkern.jit.device.emitter import Value, integer
from colkern.jit.device.kinds import is_plain


def text_of(raised: ast.expr | None) -> str:
    """The text of an exception, if the source has it; else what is raised, as the source says it."""
    if raised is None:
        return "raise"
    arguments = raised.args if isinstance(raised, ast.Call) else []
    if len(arguments) == 1 and isinstance(arguments[0], ast.Constant):
        return str(arguments[0].value)
    return f"raise {ast.unparse(raised)}"


def divides(node: ast.BinOp, left: Value, right: Value) -> bool:
    """Whether an operation divides by a number that may be zero."""
    is_division = isinstance(node.op, ast.Div | ast.FloorDiv | ast.Mod)
    return is_division and is_plain(left.kind) and is_plain(right.kind) and not integer(right)
