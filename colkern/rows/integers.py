"""Operators of integers of more than 63 bits: of unsigned ones, and where the lowest bits suffice."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial
from typing import Any

from colkern import rows
from colkern.errors import CompileError
from colkern.kernels import row_values
from colkern.rows import kinds as k
from colkern.rows.calls import call, wrapped_call
from colkern.rows.constants import wrapped
from colkern.rows.emitter import Emitter, derived
from colkern.rows.folding import OPERATORS, constant
from colkern.rows.library import remainder, remainder_of_bytes
from colkern.rows.low_bits import CLOSED, is_mask, value_of
from colkern.rows.program import Again, Unsettled
from colkern.rows.values import LOWEST, NONE, Value


def keeps_low_bits(emitter: Emitter, node: ast.BinOp) -> bool:
    """Whether an operator needs only the low bits of an integer, as in hashes: `… & 0xFFFFFFFF`."""
    if not isinstance(node.op, ast.BitAnd | ast.Mod):
        return False
    known = emitter.env.get(getattr(node.left, "id", ""), NONE)
    if node in emitter.low_bits or k.present(known.kind) == k.WORD:
        return True
    if not isinstance(node.left, ast.BinOp | ast.UnaryOp):
        return False
    with emitter.looking():
        return is_mask(node.op, rows.expressions.expression(emitter, node.right).constant)


def operand_after(left: Value, operation: ast.operator) -> Callable[[Emitter, ast.expr], Value]:
    """Returns the function that compiles the right operand: of `h & (h - 1)`, its low bits suffice."""
    is_unsigned = left.kind == k.UNSIGNED and isinstance(operation, ast.BitAnd)
    return low_bits if is_unsigned else rows.expressions.needed


def low_bits(emitter: Emitter, node: ast.expr) -> Value:
    """Compiles an integer of which the 64 lowest bits suffice: sums and products may wrap around."""
    value = _low_bits(emitter, node)
    return Value(k.INT, value.code) if value.kind == k.WORD else value


def _low_bits(emitter: Emitter, node: ast.expr) -> Value:
    before, was_dead = emitter.state(), emitter.dead
    match node:
        case ast.BinOp(left, operation, right) if isinstance(operation, CLOSED):
            is_shift = isinstance(operation, ast.LShift)
            sides = [
                _low_bits(emitter, left),
                (rows.expressions.needed if is_shift else _low_bits)(emitter, right),
            ]
        case ast.UnaryOp(ast.USub() | ast.Invert() as operation, operand):
            is_shift, sides = False, [_low_bits(emitter, operand)]
        case _:
            return rows.expressions.needed(emitter, node)
    if all(side.is_constant for side in sides):
        return rows.expressions.operated_by(emitter, operation, *sides)
    if not all(map(_is_integer, sides)):
        if any(side.kind == k.WORD for side in sides):
            raise Again(has_words=False)
        # All bits of an integer beside a float count.
        emitter.restore(before)
        emitter.dead = was_dead
        return rows.expressions.needed(emitter, node)
    if is_shift:
        count = sides[1] = emitter.signed(emitter.numbers(sides[1]))
        test, reason = f"{count.code} < 0", "a negative count of a shift"
        if emitter.attempts:
            emitter.fail_if(test, row_values.VALUE_ERROR, reason)
        else:
            emitter.leave_if(test, reason)
    return wrapped_call(emitter, OPERATORS[type(operation)][0], [_word(emitter, s) for s in sides])


def _is_integer(value: Value) -> bool:
    return value.kind.name in ("bool", "int", "unsigned", k.WORD.name)


def is_of_integers(emitter: Emitter, first: ast.stmt, both: ast.Assign) -> bool:
    """Whether an assignment and the next one, which masks it, may be one.

    They are if they are of integers, and no handler sees the variable between them.
    """
    if emitter.attempts or not isinstance(both.value, ast.BinOp):
        return False
    value = derived(first, "value", partial(value_of, first))
    try:
        with emitter.looking():
            number = rows.expressions.expression(emitter, both.value.right).constant
            return is_mask(both.value.op, number) and _is_integer(low_bits(emitter, value))
    except (CompileError, Unsettled):
        return False


def mask_first(emitter: Emitter, node: ast.BinOp) -> ast.BinOp:
    """Returns `0xFF & x` as `x & 0xFF` if that is an operator of integers; other nodes unchanged."""
    if not isinstance(node.op, ast.BitAnd) or not isinstance(node.left, ast.Constant):
        return node
    with emitter.looking():
        is_integer = _is_integer(low_bits(emitter, node.right))
    turned = partial(ast.BinOp, node.right, node.op, node.left)
    return derived(node, "turned", turned) if is_integer else node


def _word(emitter: Emitter, value: Value) -> Value:
    """Returns the 64 lowest bits of an integer as a signed integer."""
    if isinstance(value.constant, int):
        value = emitter.numbers(constant(wrapped(value.constant)))
    return Value(k.INT, f"int({value.code})" if value.kind.name == "bool" else value.code)


def as_word(emitter: Emitter, node: ast.expr) -> Value:
    """Compiles the value of a variable of which only the 64 lowest bits are read."""
    value = _low_bits(emitter, node)
    is_wrapped = isinstance(node, ast.BinOp | ast.UnaryOp) and not value.is_constant
    return Value(k.WORD, value.code) if is_wrapped and value.kind == k.INT else value


_MOST_DIVISOR = 10**10


def remainder_of_text(
    emitter: Emitter, call_node: ast.Call, divisor_node: ast.expr
) -> Value | None:
    """Compiles `int(text) % constant` for texts of many digits, such as an IBAN or a digest; None for other
    expressions."""
    function = rows.iteration.known_object(emitter, call_node.func)
    if function not in (int, int.from_bytes) or len(call_node.args) not in (1, 2):
        return None
    divisor = rows.iteration.known_object(emitter, divisor_node)
    if isinstance(divisor_node, ast.Constant):
        divisor = divisor_node.value
    is_known = type(divisor) is int and 0 < divisor < _MOST_DIVISOR
    if not is_known or call_node.keywords:
        return None
    kind, forms = (k.TEXT, (10, 16)) if function is int else (k.BYTES, ("big", "little"))
    before = emitter.state()
    of, *rest = (rows.expressions.needed(emitter, part) for part in call_node.args)
    form = rest[0].constant if rest else forms[0]
    if of.kind != kind or of.is_constant or form not in forms:
        emitter.restore(before)
        return None
    body = remainder if function is int else remainder_of_bytes
    return rows.functions.users_function(emitter, body, [of, constant(divisor), constant(form)])


def by_power_of_two(emitter: Emitter, name: str, value: Value, number: Any) -> Value | None:
    """Compiles an operator of an integer and 2**64, or 2**63; None for others."""
    if type(number) is not int or value.kind not in (k.INT, k.UNSIGNED):
        return None
    if number not in (1 << 63, 1 << 64):
        return None
    if name == "/" and number == 1 << 64:
        return call(emitter, "*", [call(emitter, "float", [value]), constant(2.0**-64)])
    if name == "%" and number == 1 << 64:
        return call(emitter, "&", [value, constant(number - 1)])
    if name == "-" and value.kind == k.UNSIGNED:
        code = emitter.bind(emitter.numbers(value).code)
        if number == 1 << 63:
            return Value(k.INT, emitter.bind(f"{code} ^ {LOWEST}"))
        # The signed integer with the same bits.
        emitter.leave_if(f"{code} >= 0", "- of more than 64 bits")
        return Value(k.INT, code)
    return None


def is_signed(name: str, left: Any, right: Any) -> bool:
    """Whether results of an operator with a constant are below 2**63."""
    if name == "&":
        return any(isinstance(side, int) and 0 <= side < 1 << 63 for side in (left, right))
    return name == ">>" and isinstance(right, int) and right > 0
