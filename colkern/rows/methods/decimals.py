"""Decimals: the rows of `decimal.Decimal`."""

from __future__ import annotations

import decimal
from collections.abc import Callable
from typing import Any

from colkern.kernels import row_decimals
from colkern.rows.methods import Method

Body = Callable[..., Any]

_ROUNDED: dict[str | None, Body] = {
    None: row_decimals.round_even,
    decimal.ROUND_HALF_EVEN: row_decimals.round_even,
    decimal.ROUND_HALF_UP: row_decimals.round_half_up,
    decimal.ROUND_HALF_DOWN: row_decimals.round_half_down,
    decimal.ROUND_UP: row_decimals.round_away,
    decimal.ROUND_DOWN: row_decimals.round_truncated,
    decimal.ROUND_FLOOR: row_decimals.round_floor,
    decimal.ROUND_CEILING: row_decimals.round_ceiling,
}


_OPERATORS: dict[str, tuple[Body, str]] = {
    "+": (row_decimals.add, "Decimal"),
    "-": (row_decimals.subtract, "Decimal"),
    "*": (row_decimals.multiply, "Decimal"),
    "/": (row_decimals.divide, "Decimal"),
    "//": (row_decimals.floor_divide, "Decimal"),
    "%": (row_decimals.modulo, "Decimal"),
    "==": (row_decimals.is_equal, "bool"),
    "!=": (row_decimals.is_unequal, "bool"),
    "<": (row_decimals.is_less, "bool"),
    "<=": (row_decimals.is_at_most, "bool"),
    ">": (row_decimals.is_greater, "bool"),
    ">=": (row_decimals.is_at_least, "bool"),
}

METHODS: list[Method] = [
    *(
        Method(name, f"(Decimal, Decimal) -> {result}", body)
        for name, (body, result) in _OPERATORS.items()
    ),
    Method("neg", "(Decimal) -> Decimal", row_decimals.negate),
    Method("pos", "(Decimal) -> Decimal", row_decimals.same),
    Method("abs", "(Decimal) -> Decimal", row_decimals.absolute),
    Method("bool", "(Decimal) -> bool", row_decimals.is_true),
    Method("int", "(Decimal) -> int", row_decimals.to_integer),
    Method("float", "(Decimal) -> float", row_decimals.to_float),
    Method("str", "(Decimal) -> str", row_decimals.str_decimal),
    Method("round", "(Decimal) -> int", row_decimals.to_nearest),
    Method("round", "(Decimal, ndigits: int) -> Decimal", row_decimals.round_to_places),
    Method("math.floor", "(Decimal) -> int", row_decimals.to_floor),
    Method("math.ceil", "(Decimal) -> int", row_decimals.to_ceiling),
    Method("math.trunc", "(Decimal) -> int", row_decimals.to_integer),
    Method("decimal.Decimal", "(Decimal) -> Decimal", row_decimals.same),
    Method("decimal.Decimal", "(int) -> Decimal", row_decimals.of_integer),
    Method("decimal.Decimal", "(str) -> Decimal", row_decimals.of_text),
    Method(
        "Decimal.quantize",
        "(Decimal, exp: Decimal, rounding: const = None) -> Decimal",
        lambda rounding: _ROUNDED.get(rounding, row_decimals.leave_rounded),
        maker=True,
    ),
    Method("Decimal.normalize", "(Decimal) -> Decimal", row_decimals.normalize),
    Method("Decimal.copy_abs", "(Decimal) -> Decimal", row_decimals.absolute),
    Method("Decimal.is_zero", "(Decimal) -> bool", row_decimals.is_zero),
    Method("Decimal.is_signed", "(Decimal) -> bool", row_decimals.is_signed),
]
