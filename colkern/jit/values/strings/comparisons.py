"""Comparisons of byte strings, with one another and with what else is a string, or None."""

from __future__ import annotations

import operator
from typing import Any

from numba import types
from numba.extending import overload, register_jitable

from colkern.jit.values.optionals import unwrapped
from colkern.jit.values.strings.operands import are_operands, hold, keep
from colkern.jit.values.strings.searching import equal, order


def _are_optional_operands(a: Any, b: Any) -> bool:
    """Whether both are operands, but for one or both being optional."""
    kinds = [kind.type if isinstance(kind, types.Optional) else kind for kind in (a, b)]
    return kinds != [a, b] and are_operands(*kinds)


def _optional_comparison(operation: Any, left: bool) -> Any:
    """A comparison where one side or both may be None: equal to nothing but None, and in no order."""
    if operation not in (operator.eq, operator.ne):
        if left:
            return lambda a, b: operation(_present(a), b)
        return lambda a, b: operation(a, _present(b))
    differs = operation is operator.ne
    if left:

        def compare_left(a, b):
            if a is None:
                return (b is None) != differs
            return operation(unwrapped(a), b)

        return compare_left

    def compare_right(a, b):
        if b is None:
            return differs
        return operation(a, unwrapped(b))

    return compare_right


@register_jitable
def _present(value):
    if value is None:
        raise TypeError("None is in no order with byte strings")
    return unwrapped(value)


def _define_comparison(operation: Any, decide: Any) -> None:
    @overload(operation, prefer_literal=True)
    def _ol_comparison(a, b):
        if _are_optional_operands(a, b):
            return _optional_comparison(operation, isinstance(a, types.Optional))
        if not are_operands(a, b):
            return None

        def compare(a, b):
            left_owner, left = hold(a)
            right_owner, right = hold(b)
            result = decide(left, right)
            keep(left_owner)
            keep(right_owner)
            return result

        return compare


_define_comparison(operator.eq, register_jitable(lambda a, b: equal(a, b)))
_define_comparison(operator.ne, register_jitable(lambda a, b: not equal(a, b)))
_define_comparison(operator.lt, register_jitable(lambda a, b: order(a, b) < 0))
_define_comparison(operator.le, register_jitable(lambda a, b: order(a, b) <= 0))
_define_comparison(operator.gt, register_jitable(lambda a, b: order(a, b) > 0))
_define_comparison(operator.ge, register_jitable(lambda a, b: order(a, b) >= 0))
