"""What casts have in common: how their results are made, and what they say of a value that has none."""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike

from colkern import schema as s
from colkern.arrays import Array
from colkern.kernels import Kernel
from colkern.memory import Buffer
from colkern.operations.operands import validity_of
from colkern.operations.validity import compact_validity
from colkern.targets import NOWHERE, Argument, Items, target_of

_WORDS = {size: np.dtype(f"u{size}") for size in (1, 2, 4, 8)}


def words_view(items: Items) -> Items:
    """Numbers as words without a sign; not copied."""
    return items.view(_WORDS[items.dtype.itemsize])


def fixed_result(array: Array, type: s.DataType, data: Items) -> Array:
    """The array of that type whose values are `data` and whose nulls are the array's."""
    buffer = target_of(array.device).buffer(data)
    return with_nulls_of(array, type, [buffer])


def with_nulls_of(array: Array, type: s.DataType, buffers: list[Buffer]) -> Array:
    """An array over buffers that begin at slot 0, null where `array` is; of a type without children."""
    nulls = array.null_count
    validity = compact_validity(array) if nulls else None
    return Array.of_valid(type, array.length, (validity, *buffers), nulls)


def retyped(array: Array, type: s.DataType) -> Array:
    """The same buffers under another type of the same layout."""
    return array.over(type, array.buffers, array.children, array.dictionary)


def mapped(
    array: Array, type: s.DataType, dtype: DTypeLike, kernel: Kernel, items: Items, *args: Argument
) -> Array:
    """What a kernel makes of each value; it takes `items`, `args` and the output, of that dtype."""
    target = target_of(array.device)
    out = target.output(array.length, dtype)
    target.map(kernel, array.length, items, *args, out)
    return fixed_result(array, type, out)


def checked(
    array: Array, type: s.DataType, dtype: DTypeLike, kernel: Kernel, items: Items, *args: Argument
) -> tuple[Array, int | None]:
    """As `mapped`, and the first valid slot that the kernel objects to, or None.

    The kernel takes the validity after `items`.
    """
    target = target_of(array.device)
    out = target.output(array.length, dtype)
    validity = validity_of(array, target)
    slot = target.reduce(kernel, array.length, items, *validity, *args, out)
    return fixed_result(array, type, out), None if slot == NOWHERE else slot


def no_value(array: Array, type: s.DataType, slot: int, value: object, why: str) -> ValueError:
    """The error for a value that the type does not have."""
    return ValueError(
        f"slot {slot}: {value} is no {type}: {why}; cast with safe=False to let it pass"
    )
