"""Rows for `decimal.Decimal`."""

from __future__ import annotations

import decimal

from colkern.kernels import row_decimals
from colkern.rows.methods import COMPARISONS, Body, Bound, Method, in_order, raised_by

_ROUNDED: dict[str | None, Body] = {
    name: Bound(row_decimals.rounded, "value", "to", exponent="to.exponent", way=way)
    for name, way in {
        None: row_decimals.EVEN,
        decimal.ROUND_HALF_EVEN: row_decimals.EVEN,
        decimal.ROUND_HALF_UP: row_decimals.UP,
        decimal.ROUND_HALF_DOWN: row_decimals.DOWN,
        decimal.ROUND_UP: row_decimals.AWAY,
        decimal.ROUND_DOWN: row_decimals.TRUNCATE,
        decimal.ROUND_FLOOR: row_decimals.FLOOR,
        decimal.ROUND_CEILING: row_decimals.CEILING,
    }.items()
}


def _to_integer(way: int) -> Body:
    return Bound(row_decimals.integer_of, way=way)


_OPERATORS: dict[str, Body] = {
    "+": row_decimals.add,
    "-": Bound(row_decimals.add, "left", "right", right="negate(right)"),
    "*": row_decimals.multiply,
    "/": row_decimals.divide,
    "//": row_decimals.floor_divide,
    "%": row_decimals.modulo,
}

METHODS: list[Method] = [
    *(Method(name, "(Decimal, Decimal) -> Decimal", body) for name, body in _OPERATORS.items()),
    *in_order("Decimal", row_decimals.difference, COMPARISONS),
    Method("neg", "(Decimal) -> Decimal", row_decimals.negate),
    Method("pos", "(Decimal) -> Decimal", row_decimals.same),
    Method("abs", "(Decimal) -> Decimal", row_decimals.absolute),
    Method("bool", "(Decimal) -> bool", "{0}.coefficient != 0"),
    Method("int", "(Decimal) -> int", _to_integer(row_decimals.TRUNCATE)),
    Method("float", "(Decimal) -> float", row_decimals.to_float),
    Method("str", "(Decimal) -> str", row_decimals.str_decimal),
    Method("round", "(Decimal) -> int", _to_integer(row_decimals.EVEN)),
    Method("round", "(Decimal, ndigits: int) -> Decimal", row_decimals.round_to_places),
    Method("math.floor", "(Decimal) -> int", _to_integer(row_decimals.FLOOR)),
    Method("math.ceil", "(Decimal) -> int", _to_integer(row_decimals.CEILING)),
    Method("math.trunc", "(Decimal) -> int", _to_integer(row_decimals.TRUNCATE)),
    Method("decimal.Decimal", "(Decimal) -> Decimal", row_decimals.same),
    Method("decimal.Decimal", "(int) -> Decimal", Bound(row_decimals.decimal, exponent=0)),
    Method(
        "decimal.Decimal",
        "(str) -> Decimal",
        row_decimals.of_text,
        message=raised_by(decimal.Decimal, "?"),
    ),
    Method(
        "Decimal.quantize",
        "(Decimal, exp: Decimal, rounding: const = None) -> Decimal",
        lambda rounding: _ROUNDED.get(rounding, row_decimals.leave_rounded),
        maker=True,
    ),
    Method("Decimal.normalize", "(Decimal) -> Decimal", row_decimals.normalize),
    Method("Decimal.copy_abs", "(Decimal) -> Decimal", row_decimals.absolute),
    Method("Decimal.is_zero", "(Decimal) -> bool", "{0}.coefficient == 0"),
    Method("Decimal.is_signed", "(Decimal) -> bool", "{0}.coefficient < 0"),
    # All decimals of compiled code are finite.
    Method("Decimal.is_finite", "(Decimal) -> bool", "True"),
    Method("Decimal.is_infinite", "(Decimal) -> bool", "False"),
    Method("Decimal.is_nan", "(Decimal) -> bool", "False"),
]
