"""Operators in helpers and generated source have the types that Numba finds for them."""

from __future__ import annotations

import itertools
import operator
from typing import Any

import numba
import pytest
from numba.core.errors import TypingError
from numba.core.registry import cpu_target

from colkern.cpu import primitives
from colkern.cpu.embedded import OperatorTypes

TYPES = (
    *(numba.boolean, numba.int8, numba.int64, numba.uint64, numba.float32, numba.float64),
    *map(numba.types.literal, (3, 1 << 40)),
)

OPERATORS = (
    *(operator.add, operator.iadd, operator.floordiv, operator.truediv, operator.pow),
    *(operator.lshift, operator.and_, operator.lt, operator.eq, min, operator.neg),
    *(primitives.get_word, primitives.sum_overflows),
)

ONE = (operator.neg, primitives.get_word)


def typed(context: Any, function: Any, operands: tuple[Any, ...]) -> Any:
    """The signature of a call, and what Numba lowers it by; None if there is none."""
    kind = context.resolve_value_type(function)
    try:
        signature = context.resolve_function_type(kind, operands, {})
    except TypingError:
        return None
    return signature and (signature, kind.get_impl_key(signature))


@pytest.mark.parametrize("function", OPERATORS, ids=lambda each: each.__name__)
def test_an_operator_has_the_types_that_numba_finds_at_each_place(function: Any) -> None:
    numbas = cpu_target.typing_context
    numbas.refresh()
    for operands in itertools.product(TYPES, repeat=1 if function in ONE else 2):
        first, again = (typed(OperatorTypes(numbas), function, operands) for _ in range(2))
        wanted = typed(numbas, function, operands)
        assert str(first) == str(again) == str(wanted), operands
