"""What functions of rows raise: noted with its line, for the launch to raise on the host.

A GPU's threads raise nothing. Where an exception is noted the function ends, and so does whatever
called it.
"""

from __future__ import annotations

import ast

from colkern.jit.device.emitter import Value, integer
from colkern.jit.device.expressions import Expressions
from colkern.jit.device.kinds import PLAIN, Literal, is_plain


def note_raised(e: Expressions, node: ast.Raise) -> None:
    """`raise ValueError("…")`."""
    call = node.exc
    made = e.meaning(call.func if isinstance(call, ast.Call) else call) if call else None
    if not (isinstance(made, type) and issubclass(made, Exception)):
        raise e.failure("what is raised must be a class of exceptions, or a call of one")
    arguments = call.args if isinstance(call, ast.Call) else []
    if len(arguments) > 1:
        raise e.failure("an exception takes one text in a kernel")
    note_unless(e, "False", made, arguments[0] if arguments else None)


def note_unless(
    e: Expressions, right: str, exception: type[Exception], message: ast.expr | None
) -> None:
    """Note an exception where a condition is false."""
    text = ""
    if message is not None:
        kind = e.value(message).kind
        if not isinstance(kind, Literal) or not isinstance(kind.value, str):
            raise e.failure("the text of an exception must be known when compiling: a literal")
        text = kind.value
    e.note_unless(right, exception, text)


def divides(node: ast.BinOp, left: Value, right: Value) -> bool:
    """Whether an operation divides by a number that may be zero."""
    is_division = isinstance(node.op, ast.Div | ast.FloorDiv | ast.Mod)
    return is_division and is_plain(left.kind) and is_plain(right.kind) and not integer(right)


def require_divisor(e: Expressions, divisor: Value) -> Value:
    """The divisor, computed before what it divides; ZeroDivisionError is noted for zero."""
    number = e.bind(divisor.parts[0])
    e.note_unless(f"{number} != 0", ZeroDivisionError, "division by zero")
    return Value(PLAIN if integer(divisor) is not None else divisor.kind, (number,))
