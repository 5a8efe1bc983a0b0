"""`max_element_wise` and `min_element_wise`: the greatest and the least of several values in each slot.

Columnar format 1.5: "Validity bitmaps".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from colkern import schema as s
from colkern.arrays import Array
from colkern.dispatch import ENCODED
from colkern.operations.arguments import Kind, operation
from colkern.operations.booleans import or_
from colkern.operations.comparison import greater, less, not_equal
from colkern.operations.creation import nulls
from colkern.operations.null_filling import coalesce
from colkern.operations.operands import value_type_of
from colkern.operations.promotion import cast_alike
from colkern.operations.selection.choosing import if_else


@operation(kind=Kind.ELEMENT_WISE)
def max_element_wise(*values: object, skip_nulls: bool = True) -> Array:
    """The greatest of several values, slot by slot; NaN only if all are NaN. Copied.

    As `pyarrow.compute.max_element_wise`, also for text, decimals, dates and times. Numbers of two
    types are cast to a common one, as by `if_else`.

    Args:
        values: Arrays of one type and length on one device, and Python values of that type, which are
            used in every slot; at least one array.
        skip_nulls: Whether to ignore nulls. Else the result is null if one value is.

    Raises:
        TypeError: If there is no array, or the types differ.
        ValueError: If lengths or devices differ.
        UnsupportedError: If the values have no order.
    """
    return _extreme(greater, values, skip_nulls)


@operation(kind=Kind.ELEMENT_WISE)
def min_element_wise(*values: object, skip_nulls: bool = True) -> Array:
    """The least of several values, slot by slot; see `max_element_wise`."""
    return _extreme(less, values, skip_nulls)


def _extreme(better: Callable[..., Array], values: tuple[object, ...], skip_nulls: bool) -> Array:
    arrays = [value for value in values if isinstance(value, Array)]
    if not arrays:
        raise TypeError("values: expected an Array; make one with colkern.array(...)")
    known = [value for value in values if value is not None and not isinstance(value, Array)]
    if len(arrays) + len(known) < len(values) and not skip_nulls:
        return nulls(arrays[0].length, arrays[0].type, arrays[0].device)
    sides: list[Any] = [*arrays, *known]
    first, *others = cast_alike(sides)
    result: Array = first
    for other in others:
        wins = better(result, other)
        if isinstance(value_type_of(result).storage, s.FloatingPoint):
            # Comparisons with NaN are false.
            if isinstance(other, Array):
                wins = or_(wins, not_equal(other, other))
            elif other != other:
                result = coalesce(result, other) if skip_nulls else result
                continue
        chosen = if_else(wins, result, other)
        # Encoded nulls are not in a bitmap.
        has_nulls = chosen._null_count or isinstance(chosen.type.storage, ENCODED)
        result = coalesce(chosen, result, other) if skip_nulls and has_nulls else chosen
    return result
