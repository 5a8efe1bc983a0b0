"""Decimals in row functions: the number of fraction digits of their results."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from colkern.rows import kinds as k
from colkern.rows.emitter import Emitter
from colkern.rows.kinds import Kind
from colkern.rows.methods import COMPARISONS
from colkern.rows.values import Value


def result_kind(emitter: Emitter, name: str, result: Kind, arguments: Sequence[Value]) -> Kind:
    """Returns the kind of a method's result; a decimal gets the most fraction digits that it may have."""
    decimals = [value.kind for value in arguments if isinstance(value.kind, k.Decimal)]
    others = [value for value in arguments if not isinstance(value.kind, k.Decimal)]
    loose = any(kind.loose for kind in decimals) and all(
        value.kind.loose or value.kind.name in ("int", "bool") for value in arguments
    )
    if loose and name not in _OF_NUMBERS:
        emitter.refuse(f"{name} of a value that may be a Decimal or an int")
    if not isinstance(result, k.Decimal):
        return result
    scales = [k.scale_of(value.kind) for value in arguments]
    if name == "round" and others:
        return k.decimal_of(others[0].constant if others[0].is_constant else None)
    if name == "Decimal.quantize":
        return k.decimal_of(scales[1])
    known = [scale for scale in scales if scale is not None]
    if len(known) < len(scales) or name not in _SCALES:
        return result
    return k.decimal_of(_SCALES[name](known), loose)


_SCALES: dict[str, Callable[[list[int]], int]] = {
    **dict.fromkeys(("+", "-", "%", "neg", "pos", "abs", "decimal.Decimal"), max),
    **dict.fromkeys(("Decimal.normalize", "Decimal.copy_abs"), max),
    "*": sum,
    "//": lambda scales: 0,
}
"""The largest number of fraction digits of a result, from those of the operands."""

_OF_NUMBERS = ("+", "-", "*", *COMPARISONS, "neg", "abs", "bool", "int", "float")
"""Operations that give equal results for an int and for an equal Decimal."""
